import { beforeEach, describe, expect, it } from "vitest";
import { openHelp } from "../src/cards/help";
import { Keyboard } from "../src/kit/keyboard";
import { WORDS } from "./fixtures";

function help(free: boolean, ties = false): string {
  void openHelp({ words: { ...WORDS, positive: "warm", negative: "cold", ties }, keyboard: new Keyboard(), free });
  return document.querySelector("dialog")!.textContent ?? "";
}

beforeEach(() => document.body.replaceChildren());

describe("help", () => {
  it("names every key, in the project's words", () => {
    const text = help(true);
    for (const part of ["choose an item", "pick up the divider", "put down", "warm, cold", "submit a ranking", "this order is right", "skip", "can’t tell", "Backspace", "undo the last answer"]) {
      expect(text).toContain(part);
    }
    expect(text).not.toContain("level");
  });

  it("names the keys for level items where there are any", () => {
    expect(help(true, true)).toContain("level with the next");
  });

  it("offers a study neither skip nor undo, but the switch for single keys", () => {
    const text = help(false);
    expect(text).not.toMatch(/skip|undo/i);
    expect(text).toContain("Use single-key shortcuts");
  });
});
