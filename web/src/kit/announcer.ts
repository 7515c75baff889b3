/** One polite live region that announces every change which does not move the focus. */

import { h } from "./dom";

/** Long enough to be read out. Older messages are removed, or screen readers would find them later on the page. */
const KEPT_MS = 10_000;

export class Announcer {
  private clearing: ReturnType<typeof setTimeout> | undefined;
  readonly element = h("div", { class: "visually-hidden", role: "status", "aria-live": "polite", "aria-atomic": "true" });

  say(message: string): void {
    // With a trailing no-break space, a repeated message counts as new and is read again.
    this.element.textContent = this.element.textContent === message ? `${message}\u00a0` : message;
    clearTimeout(this.clearing);
    this.clearing = setTimeout(() => (this.element.textContent = ""), KEPT_MS);
  }
}
