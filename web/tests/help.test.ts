import { beforeEach, describe, expect, it, vi } from "vitest";
import { openHelp } from "../src/cards/help";
import { labelCard } from "../src/cards/label";
import { rankCard } from "../src/cards/rank";
import type { CardFactory } from "../src/cards/card";
import { Keyboard } from "../src/kit/keyboard";
import { contextOf, question, WORDS } from "./fixtures";

/** The help dialog for a question of this kind, whose card `make` builds. */
function help(free: boolean, name: string, make: CardFactory, ties = false): string {
  const words = { ...WORDS, positive: "warm", negative: "cold", ties };
  const context = contextOf(question(name, "a", "b"), { words });
  void openHelp({ words, keyboard: new Keyboard(), free, shown: { kind: context.kind, keys: make(context).keys ?? [] } });
  return document.querySelector("dialog")!.textContent ?? "";
}

beforeEach(() => {
  document.body.replaceChildren();
  vi.stubGlobal("matchMedia", () => ({ matches: true, addEventListener: () => {} }));
});

describe("help", () => {
  it("names every key of the question on screen, and no other", () => {
    const text = help(true, "rank", rankCard);
    for (const part of ["pick up an item", "pick up the divider", "put down", "submit", "this order is right", "skip", "can’t tell", "Backspace", "undo the last answer"]) {
      expect(text).toContain(part);
    }
    expect(text).not.toContain("level");
  });

  it("says the keys in the project's words", () => {
    const text = help(true, "label", labelCard);
    expect(text).toContain("1+warm2−cold");
    expect(text).not.toContain("divider");
  });

  it("tells of the kind on screen first, then of the usual ones, in the server's words", () => {
    help(true, "rank", rankCard);
    const terms = [...document.querySelectorAll("dt")].map((term) => term.textContent);
    expect(terms).toEqual(["Rank", "Label", "Select most", "Select least", "Tick", "Skip and can’t tell"]);
    expect(document.querySelector("dd")!.textContent).toBe("Help on rank.");
  });

  it("names the keys for tied items if there are any", () => {
    expect(help(true, "rank", rankCard, true)).toContain("in focus with the next");
  });

  it("tells a study of the kind on screen only, offers neither skip nor undo, but the switch for single keys", () => {
    const text = help(false, "rank", rankCard);
    expect(text).not.toMatch(/skip|undo/i);
    expect(text).not.toContain("Help on label.");
    expect(text).toContain("Use single-key shortcuts");
  });
});
