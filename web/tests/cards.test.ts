import { beforeEach, describe, expect, it, vi } from "vitest";
import type { Card, CardContext } from "../src/cards/card";
import { labelCard } from "../src/cards/label";
import { rankCard } from "../src/cards/rank";
import { selectCard } from "../src/cards/select";
import { headline } from "../src/cards/wording";
import type { Kind } from "../src/kit/wire";
import { question, WORDS } from "./fixtures";

interface Shown {
  card: Card;
  context: CardContext;
  key: (name: string) => void;
  button: (text: string) => HTMLButtonElement;
}

function show(make: (context: CardContext) => Card, kind: Kind, ids: string[], previous: CardContext["previous"] = null): Shown {
  const context = { question: question(kind, ...ids), words: WORDS, previous, moved: vi.fn(), announce: vi.fn(), submit: vi.fn() };
  const card = make(context);
  document.body.replaceChildren(card.element);
  return {
    card,
    context,
    key: (name) => card.bindings.find(({ keys }) => keys.includes(name))!.run(),
    button: (text) => [...card.element.querySelectorAll("button")].find((candidate) => candidate.textContent?.includes(text))!,
  };
}

const order = (card: Card): string[] => [...card.element.querySelectorAll<HTMLElement>(".row")].map((row) => row.dataset.id || "|");

beforeEach(() => vi.stubGlobal("matchMedia", () => ({ matches: true, addEventListener: () => {} })));

describe("label card", () => {
  it("shows item text as text", () => {
    const { card } = show(labelCard, "label", ["<b>bold</b>"]);
    expect(card.element.querySelector(".item")!.textContent).toBe("<b>bold</b>");
    expect(card.element.querySelector("b")).toBeNull();
  });

  it.each([["1", true], ["2", false], ["+", true], ["-", false]] as const)("answers %s with %s", (name, positive) => {
    const { context, key } = show(labelCard, "label", ["a"]);
    key(name);
    expect(context.submit).toHaveBeenCalledWith({ type: "label", positive });
  });
});

describe("select card", () => {
  it("labels only what was chosen", () => {
    const { context, key, button } = show(selectCard, "select_high", ["a", "b"]);
    expect(button("Positive").disabled).toBe(true);
    key("+");
    expect(context.submit).not.toHaveBeenCalled();
    key("2");
    expect(button("Positive").disabled).toBe(false);
    button("Negative").click();
    expect(context.submit).toHaveBeenCalledWith({ type: "select", chosen: "b", positive: false });
  });

  it("counts each change of mind as a move", () => {
    const { context, key } = show(selectCard, "select_low", ["a", "b"]);
    for (const name of ["1", "1", "2"]) key(name);
    expect(context.moved).toHaveBeenCalledTimes(2);
  });

  it("walks with the arrows", () => {
    const { card, key } = show(selectCard, "select_high", ["a", "b", "c"]);
    for (const name of ["ArrowDown", "ArrowDown", "ArrowUp"]) key(name);
    expect([...card.element.querySelectorAll(".option")].map((option) => option.getAttribute("aria-pressed"))).toEqual(["true", "false", "false"]);
  });

  it("starts with the choice that was taken back", () => {
    const { button } = show(selectCard, "select_high", ["a", "b"], { type: "select", chosen: "b", positive: true });
    expect(button("b").getAttribute("aria-pressed")).toBe("true");
  });
});

describe("rank card", () => {
  it("does not submit an untouched list on Enter, only when told that it is right", () => {
    const { context, key, button } = show(rankCard, "rank", ["a", "b"]);
    key("Enter");
    expect(context.submit).not.toHaveBeenCalled();
    expect(button("This order is right")).toBeTruthy();
    key("r");
    expect(context.submit).toHaveBeenCalledWith({ type: "rank", order: ["a", "b"], n_positive: 1 });
  });

  it("still asks for the order when only the divider was moved", () => {
    const { context, key } = show(rankCard, "rank", ["a", "b"]);
    key("0");
    key("ArrowDown");
    key("Enter");
    expect(context.submit).not.toHaveBeenCalled();
    key("r");
    expect(context.submit).toHaveBeenCalledWith({ type: "rank", order: ["a", "b"], n_positive: 2 });
  });

  it("moves what a digit picked up, and announces where it stands", () => {
    const { card, context, key } = show(rankCard, "rank", ["a", "b", "c"]);
    key("3");
    key("ArrowUp");
    expect(order(card)).toEqual(["a", "b", "c", "|"]);
    expect(context.announce).toHaveBeenLastCalledWith("c: 3 of 3, positive.");
    key("ArrowUp");
    key("Enter");
    expect(context.submit).toHaveBeenCalledWith({ type: "rank", order: ["a", "c", "b"], n_positive: 3 });
    expect(context.moved).toHaveBeenCalledTimes(2);
  });

  it("places a clicked item where the next click points", () => {
    const { card, button } = show(rankCard, "rank", ["a", "b", "c"]);
    button("c").click();
    button("a").click();
    expect(order(card)).toEqual(["c", "a", "b", "|"]);
  });

  it("has buttons that move one step and stop at the ends", () => {
    const { card, button } = show(rankCard, "rank", ["a", "b"]);
    button("Move b up").click();
    button("Move b up").click();
    button("Move b up").click();
    expect(order(card)).toEqual(["b", "a", "|"]);
    expect(button("Move b up").ariaDisabled).toBe("true");
  });

  it("offers the divider as a slider in words", () => {
    const { card } = show(rankCard, "rank", ["a", "b", "c"]);
    const slider = card.element.querySelector("[role=slider]")!;
    expect(slider.getAttribute("aria-valuetext")).toBe("2 of 3 positive");
    for (const [name, words] of [["ArrowUp", "1 of 3 positive"], ["Home", "3 of 3 positive"], ["End", "0 of 3 positive"]] as const) {
      slider.dispatchEvent(new KeyboardEvent("keydown", { key: name, bubbles: true, cancelable: true }));
      expect(slider.getAttribute("aria-valuetext")).toBe(words);
    }
  });
});

describe("headline", () => {
  it("prefers the project's own sentence", () => {
    expect(headline("rank", WORDS)).toBe("Put the most positive first");
    expect(headline("rank", { ...WORDS, ask: { rank: "Order by warmth" } })).toBe("Order by warmth");
    expect(headline("select_low", { ...WORDS, attribute: "warm" })).toBe("Choose the least warm");
  });
});
