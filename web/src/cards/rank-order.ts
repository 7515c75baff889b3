/** The state of a ranking in the making, without any display: one sequence of k items and one divider. */

import type { Answer, Item } from "../kit/wire";

export const DIVIDER = Symbol("divider");

export type Entry = Item | typeof DIVIDER;

/** `ties`: places, from 0, whose item is level with the next one. `ordered`, in a sketch: the order is the person's, not chance's. */
export type RankAnswer = { type: "rank"; order: string[]; n_positive: number; ties?: number[]; ordered?: boolean };

export function isRanking(told: Answer | null | undefined): told is RankAnswer {
  return told?.type === "rank" && Array.isArray(told.order) && typeof told.n_positive === "number";
}

/** Entries from most positive to most negative; the divider starts in the middle. */
export function initialOrder(items: Item[]): Entry[] {
  const middle = Math.ceil(items.length / 2);
  return [...items.slice(0, middle), DIVIDER, ...items.slice(middle)];
}

/** Entries as `previous` left them; null where it is no ranking of these items. */
export function restoredOrder(items: Item[], previous: Answer | null | undefined): Entry[] | null {
  if (!isRanking(previous) || previous.order.length !== items.length) return null;
  const ranked = previous.order.map((id) => items.find((item) => item.id === id));
  if (!ranked.every((item) => item !== undefined) || new Set(ranked).size < items.length) return null;
  return [...ranked.slice(0, previous.n_positive), DIVIDER, ...ranked.slice(previous.n_positive)];
}

/** `entries` with the one at `from` now standing at `to`; both are clipped to the list. */
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

/** How many items stand above the divider. */
export function nPositive(entries: readonly Entry[]): number {
  return entries.indexOf(DIVIDER);
}

export function sameOrder(a: readonly Entry[], b: readonly Entry[]): boolean {
  return a.length === b.length && a.every((entry, index) => entry === b[index]);
}

export function toAnswer(entries: readonly Entry[]): RankAnswer {
  return { type: "rank", order: itemsOf(entries).map((item) => item.id), n_positive: nPositive(entries) };
}
