/** One polite live region for everything that changes without moving focus. */

import { h } from "./dom";

export class Announcer {
  readonly element = h("div", { class: "visually-hidden", role: "status", "aria-live": "polite", "aria-atomic": "true" });

  say(message: string): void {
    // A trailing no-break space makes a repeated message a new one, so that it is read again.
    this.element.textContent = this.element.textContent === message ? `${message}\u00a0` : message;
  }
}
