import { beforeEach, describe, expect, it } from "vitest";
import type { Card, CardContext } from "../src/cards/card";
import { tickCard } from "../src/cards/tick";
import { contextOf, question } from "./fixtures";

const LETTERS = [..."abcdefghijklmnopqrstuvwx"];

interface Shown {
  card: Card;
  context: CardContext;
  boxes: HTMLInputElement[];
  key: (...names: string[]) => void;
  button: (text: string) => HTMLButtonElement;
  ticked: () => string;
}

function show(size: number, changes: Partial<CardContext> = {}): Shown {
  const context = contextOf(question("tick", ...LETTERS.slice(0, size)), changes);
  const card = tickCard(context);
  const section = document.createElement("section");
  section.tabIndex = -1;
  section.append(card.element);
  document.body.replaceChildren(section);
  const boxes = [...card.element.querySelectorAll("input")];
  return {
    card,
    context,
    boxes,
    key: (...names) => names.forEach((name) => card.bindings.find(({ keys }) => keys.includes(name))!.run()),
    button: (text) => [...card.element.querySelectorAll("button")].find((candidate) => candidate.textContent?.includes(text))!,
    ticked: () => boxes.filter((box) => box.checked).map((box) => box.dataset.id).join(""),
  };
}

/** Simulates a layout with this many columns, because the test page has no layout. */
function layOut(boxes: HTMLInputElement[], columns: number): void {
  boxes.forEach((box, index) => Object.defineProperty(box.parentElement, "offsetTop", { value: 50 * Math.floor(index / columns) }));
}

beforeEach(() => document.body.replaceChildren());

describe("tick card", () => {
  it("starts with nothing ticked, and says what that means", () => {
    const { context, button, ticked } = show(12);
    expect(ticked()).toBe("");
    button("None of these").click();
    expect(context.submit).toHaveBeenCalledWith({ type: "tick", positive: [] });
  });

  it("is ticked by a click, and answers in the order shown", () => {
    const { context, boxes, button } = show(12);
    for (const index of [7, 2, 4, 4]) boxes[index]!.click();
    expect(context.moved).toHaveBeenCalledTimes(4);
    button("Submit 2 of 12").click();
    expect(context.submit).toHaveBeenCalledWith({ type: "tick", positive: ["c", "h"] });
  });

  it("shows items as real checkboxes that are named by what they show", () => {
    const { card, boxes } = show(3);
    expect(boxes.map((box) => box.labels?.[0]?.querySelector(".item")?.textContent)).toEqual(["a", "b", "c"]);
    expect(card.element.querySelector("[role=group]")!.getAttribute("aria-label")).toBe("Ask tick");
  });

  it("has one key for each of 24 items, printed on it, and none with another use", () => {
    const { card, boxes, key, ticked } = show(24);
    const printed = boxes.map((box) => box.parentElement!.querySelector("kbd")!.textContent!.toLowerCase());
    expect(new Set(printed).size).toBe(24);
    expect(printed.filter((name) => [" ", "c", "a", "i", "n", "?", "+", "-", "0"].includes(name))).toEqual([]);
    const bound = card.bindings.flatMap(({ keys }) => keys);
    expect(new Set(bound).size).toBe(bound.length);
    key(...printed);
    expect(ticked()).toBe(LETTERS.join(""));
  });

  it("ticks all, and inverts, each as one move", () => {
    const { context, key, button, ticked } = show(4);
    key("2", "i");
    expect(ticked()).toBe("acd");
    button("Tick all").click();
    key("a");
    expect(ticked()).toBe("abcd");
    expect(context.moved).toHaveBeenCalledTimes(3);
    button("Invert").click();
    key("Enter");
    expect(context.submit).toHaveBeenCalledWith({ type: "tick", positive: [] });
  });

  it("submits none by N only if nothing is ticked", () => {
    const { card, context, key } = show(4);
    key("1", "n");
    expect(context.submit).not.toHaveBeenCalled();
    expect(card.element.textContent).toContain("Untick all for “none of these”.");
    key("1", "n");
    expect(context.submit).toHaveBeenCalledWith({ type: "tick", positive: [] });
  });

  it("says each change aloud", () => {
    const { context, key } = show(3);
    key("2");
    expect(context.announce).toHaveBeenLastCalledWith("b: ticked. 1 of 3 ticked.");
    key("2");
    expect(context.announce).toHaveBeenLastCalledWith("b: not ticked. 0 of 3 ticked.");
    key("a");
    expect(context.announce).toHaveBeenLastCalledWith("3 of 3 ticked.");
  });

  it("names a picture without words by its number", () => {
    const items = ["a", "b"].map((id) => ({ id, image: `/api/items/${id}/image` }));
    const { context, key } = show(2, { question: { id: "q1", kind: "tick", items } });
    key("2");
    expect(context.announce).toHaveBeenLastCalledWith("picture 2: ticked. 1 of 2 ticked.");
  });

  it("is walked by the arrows in two dimensions, as far as its edges", () => {
    const { boxes, key } = show(10);
    layOut(boxes, 4);
    const at = (): number => boxes.indexOf(document.activeElement as HTMLInputElement);
    const path = ["ArrowRight", "ArrowRight", "ArrowDown", "ArrowDown", "ArrowDown", "ArrowUp", "ArrowLeft", "ArrowUp", "ArrowUp"].map((name) => (key(name), at()));
    expect(path).toEqual([0, 1, 5, 9, 9, 5, 4, 0, 0]);
    boxes[7]!.focus();
    key("ArrowDown");
    expect(at()).toBe(9);
  });

  it("gives the focus back to the card after a click, but not after a key", () => {
    const { card, boxes } = show(3);
    boxes[1]!.focus();
    boxes[1]!.dispatchEvent(new MouseEvent("click", { bubbles: true, detail: 0 }));
    expect(document.activeElement).toBe(boxes[1]);
    boxes[1]!.dispatchEvent(new MouseEvent("click", { bubbles: true, detail: 1 }));
    expect(document.activeElement).toBe(card.element.parentElement);
  });

  it("starts with what was ticked before a reload, or else with what was taken back", () => {
    const previous = { type: "tick", positive: ["a"] };
    expect(show(3, { previous }).ticked()).toBe("a");
    const { card, ticked } = show(3, { previous, sketch: { type: "tick", positive: ["b", "c", "gone"] } });
    expect(ticked()).toBe("bc");
    expect(card.sketch()).toEqual({ type: "tick", positive: ["b", "c"] });
    expect(show(3, { previous: { type: "label", positive: true } }).ticked()).toBe("");
  });

  it("lays texts out by the longest of them", () => {
    const layout = (...texts: string[]): string | null => {
      const items = texts.map((text, index) => ({ id: String(index), text }));
      return show(2, { question: { id: "q1", kind: "tick", items } }).card.element.querySelector(".ticks")!.getAttribute("data-length");
    };
    expect([layout("a", "b"), layout("a", "b ".repeat(30)), layout("b ".repeat(30), "c ".repeat(200))]).toEqual(["short", "long", "very-long"]);
  });
});
