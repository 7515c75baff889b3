/** One polite live region for everything that changes without moving focus. */

import { h } from "./dom";

/** Long enough to be read out; an old message left standing would be met by whoever walks through the page. */
const KEPT_MS = 10_000;

export class Announcer {
  private clearing: ReturnType<typeof setTimeout> | undefined;
  readonly element = h("div", { class: "visually-hidden", role: "status", "aria-live": "polite", "aria-atomic": "true" });

  say(message: string): void {
    // A trailing no-break space makes a repeated message a new one, so that it is read again.
    this.element.textContent = this.element.textContent === message ? `${message}\u00a0` : message;
    clearTimeout(this.clearing);
    this.clearing = setTimeout(() => (this.element.textContent = ""), KEPT_MS);
  }
}
