import { beforeEach, describe, expect, it, vi } from "vitest";
import type { Card, CardContext } from "../src/cards/card";
import { labelCard } from "../src/cards/label";
import { rankCard } from "../src/cards/rank";
import { choiceCard, selectCard } from "../src/cards/select";
import { itemName, itemText, shownName } from "../src/cards/item";
import { contextOf, question, WORDS } from "./fixtures";

describe("names of items", () => {
  it("are their texts, and the first words of long ones", () => {
    const long = { id: "a", text: "They were welcomed warmly, waited for an hour, and then left again." };
    expect(itemName(long)).toBe("They were welcomed warmly, waited for an hour, and then …");
    expect(shownName(long, 2)).toBe(itemName(long));
    expect(itemText(long)).toBe(long.text);
    expect([itemName({ id: "a", text: "short" }), itemName({ id: "a" })]).toEqual(["short", "a"]);
  });

  it("are cut anywhere if there is no space", () => {
    expect(itemName({ id: "x".repeat(80) })).toBe(`${"x".repeat(60)} …`);
  });
});

interface Shown {
  card: Card;
  context: CardContext;
  key: (name: string) => void;
  button: (text: string) => HTMLButtonElement;
}

function show(make: (context: CardContext) => Card, kind: string, ids: string[], previous: CardContext["previous"] = null, words = WORDS): Shown {
  const context = contextOf(question(kind, ...ids), { words, previous });
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

  it("chooses and labels at once, by button or key, outside studies only", () => {
    const quick = contextOf(question("select_high", "a", "b"), { quick: true });
    const card = selectCard(quick);
    card.element.querySelectorAll<HTMLButtonElement>(".at-once")[3]!.click();
    expect(quick.submit).toHaveBeenLastCalledWith({ type: "select", chosen: "b", positive: false });
    card.bindings.find(({ keys }) => keys.includes("q"))!.run();
    expect(quick.submit).toHaveBeenLastCalledWith({ type: "select", chosen: "a", positive: true });
    expect(show(selectCard, "select_high", ["a", "b"]).card.element.querySelector(".at-once")).toBeNull();
  });

  it("has the project's words on the buttons that do both at once", () => {
    const words = { ...WORDS, positive: "urgent", negative: "not urgent" };
    const { element } = selectCard(contextOf(question("select_high", "a", "b"), { quick: true, words }));
    expect([...element.querySelectorAll(".at-once-word")].map((word) => word.textContent)).toEqual(["Urgent", "Not urgent", "Urgent", "Not urgent"]);
  });

  it("starts with the choice that was taken back", () => {
    const { button } = show(selectCard, "select_high", ["a", "b"], { type: "select", chosen: "b", positive: true });
    expect(button("b").getAttribute("aria-pressed")).toBe("true");
  });
});

describe("choice card", () => {
  it("submits the chosen item without a label", () => {
    const { context, key, button } = show(choiceCard, "least_sure", ["a", "b"]);
    key("Enter");
    expect(context.submit).not.toHaveBeenCalled();
    expect(button("Submit").disabled).toBe(true);
    key("2");
    expect(context.announce).toHaveBeenLastCalledWith("Chosen: b. b is chosen.");
    button("Submit").click();
    expect(context.submit).toHaveBeenCalledWith({ type: "select", chosen: "b", positive: null });
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

  it("moves what a digit picked up, and announces its position", () => {
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

describe("rank card with ties", () => {
  const rank = (ids: string[], previous: CardContext["previous"] = null): Shown => show(rankCard, "rank", ids, previous, { ...WORDS, ties: true });
  const joined = (card: Card): string[] => [...card.element.querySelectorAll<HTMLElement>(".row.joined")].map((row) => row.dataset.id!);
  const levels = (card: Card): HTMLButtonElement[] => [...card.element.querySelectorAll<HTMLButtonElement>(".level")].filter((button) => !button.hidden);

  it("offers none if the project has none", () => {
    const { card } = show(rankCard, "rank", ["a", "b", "c"]);
    expect(card.element.querySelector(".level, .rest")).toBeNull();
    expect(card.bindings.some(({ keys }) => keys.includes("l") || keys.includes("t"))).toBe(false);
  });

  it("joins and parts neighbours on one side of the divider, by button", () => {
    const { card, context, key } = rank(["a", "b", "c", "d"]);
    expect(levels(card).map((button) => button.textContent)).toEqual(["La tied with b", "Lc tied with d"]);
    levels(card)[1]!.click();
    expect(joined(card)).toEqual(["c"]);
    expect(levels(card)[1]!.getAttribute("aria-pressed")).toBe("true");
    expect(context.announce).toHaveBeenLastCalledWith("c and d are tied.");
    key("r");
    expect(context.submit).toHaveBeenCalledWith({ type: "rank", order: ["a", "b", "c", "d"], n_positive: 2, ties: [2] });
    levels(card)[1]!.click();
    expect(context.announce).toHaveBeenLastCalledWith("c and d are no longer tied.");
    key("r");
    expect(context.submit).toHaveBeenLastCalledWith({ type: "rank", order: ["a", "b", "c", "d"], n_positive: 2 });
  });

  it("joins what is picked up, or in focus, by key", () => {
    const { card, context, key, button } = rank(["a", "b", "c", "d"]);
    key("l");
    expect(context.announce).toHaveBeenLastCalledWith("First pick up an item; L ties it with the next.");
    key("1");
    key("l");
    expect(joined(card)).toEqual(["a"]);
    key("Escape");
    button("c").focus();
    key("l");
    expect(joined(card)).toEqual(["a", "c"]);
    key("2");
    key("l");
    expect(context.announce).toHaveBeenLastCalledWith("b has no next item on its side of the divider.");
    expect(joined(card)).toEqual(["a", "c"]);
  });

  it("parts a pair when the divider moves between it, and says so", () => {
    const { card, context, key } = rank(["a", "b", "c", "d"]);
    key("1");
    key("l");
    key("0");
    key("ArrowUp");
    expect(context.announce).toHaveBeenLastCalledWith("Divider: 1 of 4 positive. a and b are no longer tied.");
    expect(joined(card)).toEqual([]);
  });

  it("parts a pair when one of it moves away", () => {
    const { card, context, key } = rank(["a", "b", "c", "d"]);
    key("1");
    key("l");
    key("2");
    key("ArrowUp");
    expect(context.announce).toHaveBeenLastCalledWith("b: 1 of 4, positive. a and b are no longer tied.");
    expect(joined(card)).toEqual([]);
  });

  it("ends a partial ranking: the rest are tied", () => {
    const { context, key, button } = rank(["a", "b", "c", "d", "e"]);
    button("The rest are tied").click();
    expect(context.announce).toHaveBeenLastCalledWith("First pick up the topmost item to be tied.");
    key("2");
    key("t");
    expect(context.announce).toHaveBeenLastCalledWith("b and all items below it are tied, on each side of the divider.");
    key("r");
    expect(context.submit).toHaveBeenCalledWith({ type: "rank", order: ["a", "b", "c", "d", "e"], n_positive: 3, ties: [1, 3] });
  });

  it("starts with the ties that were taken back", () => {
    const { card } = rank(["a", "b", "c"], { type: "rank", order: ["c", "b", "a"], n_positive: 1, ties: [1] });
    expect(joined(card)).toEqual(["b"]);
  });
});

describe("places above 9", () => {
  const ten = [..."abcdefghij"];

  it.each([["rank", rankCard, ".pick"], ["select_high", selectCard, ".option"]] as const)("are no keys: %s", (kind, make, row) => {
    const { card } = show(make, kind, ten);
    const rows = [...card.element.querySelectorAll(row)];
    expect(rows.map((one) => one.querySelector("kbd")!.textContent)).toEqual(["1", "2", "3", "4", "5", "6", "7", "8", "9", "10"]);
    expect(rows.map((one) => one.querySelector("kbd")!.classList.contains("keyless"))).toEqual([...Array(9).fill(false), true]);
    expect(rows.map((one) => one.getAttribute("aria-keyshortcuts"))).toEqual(["1", "2", "3", "4", "5", "6", "7", "8", "9", null]);
    expect(card.bindings.some(({ keys }) => keys.includes("10"))).toBe(false);
  });

  it("become keys as soon as the item moves up", () => {
    const { card, button } = show(rankCard, "rank", ten);
    button("Move j up").click();
    const rows = [...card.element.querySelectorAll(".pick")];
    expect(rows.at(-2)!.textContent).toContain("j");
    expect([rows.at(-2)!, rows.at(-1)!].map((one) => one.getAttribute("aria-keyshortcuts"))).toEqual(["9", null]);
  });
});
