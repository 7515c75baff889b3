/** Which neighbours in a ranking are tied, without the display. A tie joins two items that directly follow each other. */

import type { Answer, Item } from "../kit/wire";
import { DIVIDER, type Entry, isRanking, itemsOf, type RankAnswer } from "./rank-order";

/** From the upper item of each tie to the item directly below it. */
export type Ties = ReadonlyMap<Item, Item>;

export const NO_TIES: Ties = new Map();

/** The item that `entry` could be tied with: the one directly below, if the divider is not between them. */
export function partner(entries: readonly Entry[], entry: Entry): Item | null {
  const next = entries[entries.indexOf(entry) + 1];
  return entry === DIVIDER || next === undefined || next === DIVIDER ? null : next;
}

/** `ties` with the tie between `item` and the next one added, or removed if there was one; unchanged if there is no next one. */
export function toggled(ties: Ties, entries: readonly Entry[], item: Item): Ties {
  const next = new Map(ties);
  const below = partner(entries, item);
  if (!next.delete(item) && below) next.set(item, below);
  return next;
}

/** `ties` with all items from `first` on tied; no tie crosses the divider. */
export function restLevel(ties: Ties, entries: readonly Entry[], first: Item): Ties {
  const next = new Map(ties);
  for (const entry of entries.slice(entries.indexOf(first))) {
    const below = partner(entries, entry);
    if (entry !== DIVIDER && below) next.set(entry, below);
  }
  return next;
}

/** The ties that still hold in `entries`: those whose items directly follow each other, in the same order. */
export function holding(ties: Ties, entries: readonly Entry[]): Ties {
  return new Map([...ties].filter(([upper, lower]) => partner(entries, upper) === lower));
}

/** Positions, from 0, whose item is tied with the next one. */
export function places(ties: Ties, entries: readonly Entry[]): number[] {
  return itemsOf(entries).flatMap((item, place) => (ties.has(item) ? [place] : []));
}

/** `answer` with its ties; a ranking without ties is returned unchanged. */
export function withTies(answer: RankAnswer, ties: Ties, entries: readonly Entry[]): RankAnswer {
  return ties.size > 0 ? { ...answer, ties: places(ties, entries) } : answer;
}

/** The ties of `previous` that hold in `entries`. */
export function restoredTies(entries: readonly Entry[], previous: Answer | null | undefined): Ties {
  if (!isRanking(previous)) return NO_TIES;
  const items = itemsOf(entries);
  const pairs = (previous.ties ?? []).flatMap((place): [Item, Item][] => {
    const [upper, lower] = [items[place], items[place + 1]];
    return upper && lower ? [[upper, lower]] : [];
  });
  return holding(new Map(pairs), entries);
}
