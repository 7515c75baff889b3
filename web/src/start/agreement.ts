/** One line on how far the answers agree with the start; hidden without a start and before the first answer. */

import { h } from "../kit/dom";
import { sentence } from "../kit/words";

export class StartLine {
  readonly element = h("p", { class: "start-line", hidden: true });

  show(verdict: string | null | undefined): void {
    this.element.textContent = verdict ? sentence(verdict) : "";
    this.element.hidden = !verdict;
  }
}
