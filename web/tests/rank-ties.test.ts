import { describe, expect, it } from "vitest";
import { initialOrder, moved, toAnswer } from "../src/cards/rank-order";
import { holding, NO_TIES, partner, places, restLevel, restoredTies, toggled, withTies } from "../src/cards/rank-ties";
import type { Item } from "../src/kit/wire";
import { question } from "./fixtures";

const { items } = question("rank", "a", "b", "c", "d");
const [a, b, c, d] = items as [Item, Item, Item, Item];
const start = initialOrder(items); // a b | c d

describe("level items", () => {
  it("have a partner only directly below, on the same side of the divider", () => {
    expect(start.map((entry) => partner(start, entry))).toEqual([b, null, null, d, null]);
  });

  it("are joined and parted by the same toggle", () => {
    const joined = toggled(NO_TIES, start, a);
    expect(places(joined, start)).toEqual([0]);
    expect(toggled(joined, start, a).size).toBe(0);
    expect(toggled(NO_TIES, start, b).size).toBe(0);
  });

  it("hold while they stand together, in the same order", () => {
    const joined = toggled(NO_TIES, start, c);
    expect(places(holding(joined, moved(start, 0, 1)), start)).toEqual([2]);
    expect(holding(joined, moved(start, 2, 3)).size).toBe(0);
    expect(holding(joined, moved(start, 4, 3)).size).toBe(0);
  });

  it("never run through the divider, even when the rest are tied", () => {
    expect(places(restLevel(NO_TIES, start, a), start)).toEqual([0, 2]);
    const none = moved(start, 2, 0);
    expect(places(restLevel(NO_TIES, none, b), none)).toEqual([1, 2]);
  });

  it("are named in the answer only if there are any, and restored from it", () => {
    const answer = withTies(toAnswer(start), toggled(NO_TIES, start, c), start);
    expect(answer).toEqual({ type: "rank", order: ["a", "b", "c", "d"], n_positive: 2, ties: [2] });
    expect(withTies(toAnswer(start), NO_TIES, start)).not.toHaveProperty("ties");
    expect([...restoredTies(start, answer)]).toEqual([[c, d]]);
    expect(restoredTies(start, { type: "label", positive: true }).size).toBe(0);
  });
});
