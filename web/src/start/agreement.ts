/** What the answers say about the start, in one line. */

import { h } from "../kit/dom";

const HOLDS = 0.7;

/** Nothing without a start, or before the first answer. */
export function startVerdict(agreement: number | null | undefined): string {
  if (typeof agreement !== "number") return "";
  const share = `${Math.round(100 * agreement)} %`;
  return agreement >= HOLDS
    ? `Your answers agree with the start: ${share} of the items are still called as it called them.`
    : `Your answers disagree with the start: only ${share} of the items are still called as it called them.`;
}

export class StartLine {
  readonly element = h("p", { class: "start-line", hidden: true });

  show(agreement: number | null | undefined): void {
    const verdict = startVerdict(agreement);
    this.element.textContent = verdict;
    this.element.hidden = !verdict;
  }
}
