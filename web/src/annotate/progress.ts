/** The line under the card: answers done and minutes spent; for the owner also how good the classifier is. */

import { h } from "../kit/dom";
import type { Progress } from "../kit/wire";

export function percent(share: number): string {
  return `${Math.round(100 * share)} %`;
}

export function minutes(value: number): string {
  if (value < 1) return "under a minute";
  return value < 1.5 ? "1 minute" : `${Math.round(value)} minutes`;
}

function accuracy({ accuracy: share }: Progress): string | null {
  return share ? `accuracy ${percent(share.estimate)} (${Math.round(100 * share.low)}–${Math.round(100 * share.high)})` : null;
}

function left({ minutes_left: value }: Progress): string | null {
  if (typeof value !== "number") return null;
  if (value <= 0) return "target reached";
  return value < 1 ? "under a minute left" : `about ${minutes(value)} left`;
}

/** The facts in reading order; what the server does not send is left out. */
export function facts(progress: Progress): string[] {
  const answers = progress.answers === 1 ? "1 answer" : `${progress.answers} answers`;
  return [answers, minutes(progress.minutes), accuracy(progress), left(progress)].filter((fact): fact is string => fact !== null);
}

export function progressLine(progress: Progress): HTMLElement {
  const items = facts(progress).map((fact) => h("li", {}, fact));
  return h("ul", { class: "progress", "aria-label": "Progress" }, ...items);
}
