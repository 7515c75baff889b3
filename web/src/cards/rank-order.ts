/** The state of an unfinished ranking, without its display: a sequence of k items and one divider. */

import type { Answer, Item } from "../kit/wire";

export const DIVIDER = Symbol("divider");

export type Entry = Item | typeof DIVIDER;

/** `ties`: positions, from 0, whose item is tied with the next one. `ordered`, in a sketch: the person has changed the random order. */
export type RankAnswer = { type: "rank"; order: string[]; n_positive: number; ties?: number[]; ordered?: boolean };

export function isRanking(told: Answer | null | undefined): told is RankAnswer {
  return told?.type === "rank" && Array.isArray(told.order) && typeof told.n_positive === "number";
}

/** Entries from most positive to most negative; the divider starts in the middle. */
export function initialOrder(items: Item[]): Entry[] {
  const middle = Math.ceil(items.length / 2);
  return [...items.slice(0, middle), DIVIDER, ...items.slice(middle)];
}

/** The entries as in `previous`; null if that is not a ranking of these items. */
export function restoredOrder(items: Item[], previous: Answer | null | undefined): Entry[] | null {
  if (!isRanking(previous) || previous.order.length !== items.length) return null;
  const ranked = previous.order.map((id) => items.find((item) => item.id === id));
  if (!ranked.every((item) => item !== undefined) || new Set(ranked).size < items.length) return null;
  return [...ranked.slice(0, previous.n_positive), DIVIDER, ...ranked.slice(previous.n_positive)];
}

/** `entries` with the one at `from` moved to `to`, which is limited to the list. */
export function moved(entries: readonly Entry[], from: number, to: number): Entry[] {
  const target = Math.min(Math.max(to, 0), entries.length - 1);
  const next = [...entries];
  const [entry] = next.splice(from, 1);
  if (entry !== undefined) next.splice(target, 0, entry);
  return next;
}

export function itemsOf(entries: readonly Entry[]): Item[] {
  return entries.filter((entry): entry is Item => entry !== DIVIDER);
}

/** How many items are above the divider. */
export function nPositive(entries: readonly Entry[]): number {
  return entries.indexOf(DIVIDER);
}

export function sameOrder(a: readonly Entry[], b: readonly Entry[]): boolean {
  return a.length === b.length && a.every((entry, index) => entry === b[index]);
}

export function toAnswer(entries: readonly Entry[]): RankAnswer {
  return { type: "rank", order: itemsOf(entries).map((item) => item.id), n_positive: nPositive(entries) };
}
