/** Numbers and names as the dashboard prints them. */

import { itemName } from "../cards/item";
import type { Answer, Item, Wording } from "../kit/wire";

export function percent(share: number, digits = 0): string {
  return `${(100 * share).toFixed(digits)} %`;
}

export function decimal(value: number, digits = 2): string {
  const text = value.toFixed(digits);
  return Number(text) === 0 ? text.replace("-", "") : text.replace("-", "−");
}

export function seconds(value: number | null): string {
  return value === null ? "–" : `${value.toFixed(1)} s`;
}

/** Minutes in the largest sensible unit. */
export function duration(minutes: number): string {
  if (minutes < 1) return `${Math.round(60 * minutes)} s`;
  return minutes < 120 ? `${Math.round(minutes)} min` : `${(minutes / 60).toFixed(1)} h`;
}

export function clockTime(utc: string | null): string {
  if (!utc) return "–";
  const time = new Date(utc);
  const today = time.toDateString() === new Date().toDateString();
  return time.toLocaleString([], today ? { timeStyle: "medium" } : { dateStyle: "medium", timeStyle: "short" });
}

const KINDS: Record<string, string> = { label: "Label", select: "Select", select_high: "Select most", select_low: "Select least", rank: "Rank" };

export function kindName(kind: string): string {
  return KINDS[kind] ?? kind;
}

/** Kind and size; a label always shows one item. */
export function questionName(kind: string, size: number): string {
  return kind === "label" ? kindName(kind) : `${kindName(kind)} ${size}`;
}

/** An answer in one line; a ranking shows where its divider stands and what is level. */
export function answerText(answer: Answer | null, items: Item[], words: Pick<Wording, "positive" | "negative">): string {
  const name = (id: string): string => itemName(items.find((item) => item.id === id) ?? { id });
  const side = (positive: boolean): string => (positive ? words.positive : words.negative);
  switch (answer?.type) {
    case "label":
      return `${items.map(itemName).join(", ")}: ${side(answer.positive)}`;
    case "select":
      return `${name(answer.chosen)}: ${side(answer.positive)}`;
    case "rank": {
      const level = new Set(answer.ties ?? []);
      const sign = (place: number, start: number): string => (place === start ? "" : level.has(place - 1) ? " = " : " › ");
      const part = (start: number, end: number): string => answer.order.slice(start, end).map((id, index) => sign(start + index, start) + name(id)).join("") || "none";
      return `${part(0, answer.n_positive)} | ${part(answer.n_positive, answer.order.length)}`;
    }
    case "skip":
      return answer.reason === "skip" ? "skipped" : "can’t tell";
    default:
      return "erased";
  }
}
