/** What the answers say about the start, in one line. */

import { h } from "../kit/dom";

/** Nothing without a start, or before the first answer. */
export function startVerdict(weight: number | null | undefined): string {
  if (typeof weight !== "number") return "";
  const share = `${Math.round(100 * weight)} %`;
  return weight >= 0.5 ? `Your answers agree with the start (weight ${share}).` : `Your answers disagree with the start: its weight is now ${share}.`;
}

export class StartLine {
  readonly element = h("p", { class: "start-line", hidden: true });

  show(weight: number | null | undefined): void {
    const verdict = startVerdict(weight);
    this.element.textContent = verdict;
    this.element.hidden = !verdict;
  }
}
