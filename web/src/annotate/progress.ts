/** The line under the card: answers given and minutes spent; for the owner also the classifier's progress, in the server's words. */

import { h } from "../kit/dom";
import type { Progress } from "../kit/wire";

export function minutes(value: number): string {
  if (value < 1) return "under a minute";
  return value < 1.5 ? "1 minute" : `${Math.round(value)} minutes`;
}

function answers({ answers: done, quota }: Progress): string {
  if (typeof quota === "number") return `${done} of ${quota} answers`;
  return done === 1 ? "1 answer" : `${done} answers`;
}

/** The parts of the line in reading order; what the server does not send is left out. */
export function facts(progress: Progress): string[] {
  return [answers(progress), minutes(progress.minutes), ...(progress.standing ?? [])];
}

export function progressLine(progress: Progress): HTMLElement {
  const items = facts(progress).map((fact) => h("li", {}, fact));
  const bar = typeof progress.quota === "number" && h("progress", { class: "quota", max: progress.quota, value: Math.min(progress.answers, progress.quota), "aria-label": "Answers given" });
  return h("div", { class: "progress-line" }, bar, h("ul", { class: "progress", "aria-label": "Progress" }, ...items));
}
