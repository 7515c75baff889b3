import { describe, expect, it } from "vitest";
import { DIVIDER, initialOrder, itemsOf, moved, nPositive, restoredOrder, sameOrder, toAnswer } from "../src/cards/rank-order";
import { question } from "./fixtures";

const { items } = question("rank", "a", "b", "c");
const ids = (entries: ReturnType<typeof initialOrder>): string => entries.map((entry) => (entry === DIVIDER ? "|" : entry.id)).join("");

describe("ranking in the making", () => {
  it("starts in the order shown with the divider in the middle", () => {
    expect(ids(initialOrder(items))).toBe("ab|c");
    expect(nPositive(initialOrder(items))).toBe(2);
  });

  it("moves an item across the divider and the divider across an item", () => {
    const start = initialOrder(items);
    expect(ids(moved(start, 0, 2))).toBe("b|ac");
    expect(ids(moved(start, 2, 0))).toBe("|abc");
    expect(ids(moved(start, 2, 3))).toBe("abc|");
  });

  it("reaches every one of the k + 1 positions of the divider", () => {
    const reached = [0, 1, 2, 3].map((to) => nPositive(moved(initialOrder(items), 2, to)));
    expect(reached).toEqual([0, 1, 2, 3]);
  });

  it("clips moves beyond the ends", () => {
    expect(ids(moved(initialOrder(items), 3, 99))).toBe("ab|c");
    expect(ids(moved(initialOrder(items), 1, -5))).toBe("ba|c");
  });

  it("gives the answer the server expects", () => {
    expect(toAnswer(moved(initialOrder(items), 3, 0))).toEqual({ type: "rank", order: ["c", "a", "b"], n_positive: 3 });
  });

  it("restores an answer taken back, and nothing else", () => {
    const answer = { type: "rank", order: ["c", "b", "a"], n_positive: 1 } as const;
    expect(ids(restoredOrder(items, { ...answer, order: [...answer.order] })!)).toBe("c|ba");
    expect(restoredOrder(items, { type: "label", positive: true })).toBeNull();
    expect(restoredOrder(items, { type: "rank", order: ["x", "b", "a"], n_positive: 1 })).toBeNull();
  });

  it("compares orders", () => {
    expect(sameOrder(initialOrder(items), initialOrder(items))).toBe(true);
    expect(sameOrder(itemsOf(initialOrder(items)), initialOrder(items))).toBe(false);
  });
});
