/** What the answers say about the start, in one line: nothing without a start, or before the first answer. */

import { h } from "../kit/dom";
import { sentence } from "../kit/words";

export class StartLine {
  readonly element = h("p", { class: "start-line", hidden: true });

  show(verdict: string | null | undefined): void {
    this.element.textContent = verdict ? sentence(verdict) : "";
    this.element.hidden = !verdict;
  }
}
