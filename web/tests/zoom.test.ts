import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { itemView } from "../src/cards/item";
import { zoomAtHand, zoomButton } from "../src/cards/zoom";
import { h } from "../src/kit/dom";

const LONG = "They waited for an hour, and then left again. ".repeat(10).trim();

/** Stands in for the browser: the test page has no layout. */
let resized: () => void = () => {};

function shown(text: string): { card: HTMLElement; view: HTMLElement; button: HTMLButtonElement | null } {
  const item = { id: "a", text, image: null };
  const view = h("label", {}, itemView(item));
  const button = zoomButton(item, 3, view);
  const card = h("section", { tabindex: -1 }, h("div", {}, view, button));
  document.body.replaceChildren(card);
  return { card, view, button };
}

function laidOut(view: HTMLElement, whole: number, visible: number): void {
  const text = view.querySelector(".item-text");
  Object.defineProperty(text, "scrollHeight", { value: whole, configurable: true });
  Object.defineProperty(text, "clientHeight", { value: visible, configurable: true });
  resized();
}

beforeEach(() => {
  vi.stubGlobal("ResizeObserver", class {
    constructor(changed: () => void) {
      resized = changed;
    }
    observe(): void {}
  });
});
afterEach(() => vi.unstubAllGlobals());

describe("a closer look at a text", () => {
  it("is offered only while the text is cut off", () => {
    const { view, button } = shown(LONG);
    expect(button!.hidden).toBe(true);
    laidOut(view, 200, 80);
    expect(button!.hidden).toBe(false);
    laidOut(view, 81, 80);
    expect(button!.hidden).toBe(true);
    expect(shown("short").button).toBeNull();
  });

  it("shows all of it, and Z closes it for good", () => {
    const { card, view, button } = shown(LONG);
    zoomAtHand(card);
    expect(document.querySelector("dialog")).toBeNull();
    laidOut(view, 200, 80);
    zoomAtHand(card);
    const dialog = document.querySelector("dialog")!;
    expect([dialog.querySelector("p")!.textContent, dialog.getAttribute("aria-label")]).toEqual([LONG, "Text 3"]);
    expect(button!.textContent).toBe("Read all of text 3");
    const z = new KeyboardEvent("keydown", { key: "z", bubbles: true, cancelable: true });
    dialog.dispatchEvent(z);
    expect([dialog.open, z.defaultPrevented]).toEqual([false, true]);
  });

  it("leaves the focus on the card after a click, and where it was after a key", () => {
    const { card, button } = shown(LONG);
    button!.hidden = false;
    button!.focus();
    button!.dispatchEvent(new MouseEvent("click", { bubbles: true, detail: 0 }));
    document.querySelector("dialog")!.close();
    expect(document.activeElement).not.toBe(card);
    const focus = vi.spyOn(card, "focus");
    button!.dispatchEvent(new MouseEvent("click", { bubbles: true, detail: 1 }));
    expect(focus).toHaveBeenCalledOnce();
  });
});
