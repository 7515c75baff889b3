/** What the answers say about the start, in one line: nothing without a start, or before the first answer. */

import { h } from "../kit/dom";

export class StartLine {
  readonly element = h("p", { class: "start-line", hidden: true });

  show(verdict: string | null | undefined): void {
    this.element.textContent = verdict ? `${verdict[0]?.toUpperCase()}${verdict.slice(1)}.` : "";
    this.element.hidden = !verdict;
  }
}
