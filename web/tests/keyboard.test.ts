import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { h } from "../src/kit/dom";
import { type Binding, Keyboard } from "../src/kit/keyboard";
import { press } from "./fixtures";

const releases: (() => void)[] = [];

/** A keyboard with these bindings; they must not remain for the next test. */
function keyboard(bindings: Binding[] = []): Keyboard {
  const keys = new Keyboard();
  releases.push(keys.use(bindings));
  return keys;
}

afterEach(() => {
  for (const release of releases.splice(0)) release();
});

beforeEach(() => {
  localStorage.clear();
  document.body.replaceChildren();
});

describe("keyboard", () => {
  it("runs the newest binding of a key until it is taken away", () => {
    const [older, newer] = [vi.fn(), vi.fn()];
    const keys = keyboard();
    const first = keys.use([{ keys: ["1"], run: older }]);
    const second = keys.use([{ keys: ["1"], run: newer }]);
    press("1");
    second();
    press("1");
    first();
    press("1");
    expect(newer).toHaveBeenCalledOnce();
    expect(older).toHaveBeenCalledOnce();
  });

  it("leaves Space and Enter to a focused button", () => {
    const run = vi.fn();
    keyboard([{ keys: [" ", "Enter"], run }]);
    const button = h("button", {}, "x");
    document.body.append(button);
    button.focus();
    press(" ");
    press("Enter");
    expect(run).not.toHaveBeenCalled();
    button.blur();
    press(" ");
    expect(run).toHaveBeenCalledOnce();
  });

  it("leaves a focused checkbox its Space, and nothing else", () => {
    const run = vi.fn();
    keyboard([{ keys: [" ", "Enter", "ArrowDown"], run }]);
    const box = h("input", { type: "checkbox" });
    document.body.append(box);
    box.focus();
    press(" ");
    expect(run).not.toHaveBeenCalled();
    press("Enter");
    press("ArrowDown");
    expect(run).toHaveBeenCalledTimes(2);
  });

  it("never takes keys from somebody who is typing", () => {
    const run = vi.fn();
    keyboard([{ keys: ["1", "Mod+z"], run }]);
    const input = h("input");
    document.body.append(input);
    input.focus();
    press("1");
    press("z", { ctrlKey: true });
    expect(run).not.toHaveBeenCalled();
  });

  it("can be switched off, but Ctrl-Z stays; the choice is remembered", () => {
    const [single, undo] = [vi.fn(), vi.fn()];
    const keys = keyboard([
      { keys: ["1"], run: single },
      { keys: ["Mod+z"], run: undo },
    ]);
    keys.enable(false);
    press("1");
    press("z", { metaKey: true });
    expect(single).not.toHaveBeenCalled();
    expect(undo).toHaveBeenCalledOnce();
    expect(document.documentElement.dataset.shortcuts).toBe("off");
    expect(new Keyboard().enabled).toBe(false);
  });

  it("does not repeat an answer while a key is held down, but moving may repeat", () => {
    const [answer, move] = [vi.fn(), vi.fn()];
    keyboard([
      { keys: ["1"], run: answer },
      { keys: ["ArrowUp"], run: move },
    ]);
    press("1", { repeat: true });
    press("ArrowUp", { repeat: true });
    expect(answer).not.toHaveBeenCalled();
    expect(move).toHaveBeenCalledOnce();
  });
});
