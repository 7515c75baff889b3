/** The chip that shows whether the last answer is saved. */

import { h } from "./dom";
import { icon, type IconName } from "./icons";
import type { OutboxState } from "./outbox";

const WORDS: Record<Exclude<OutboxState, "idle">, [IconName, string]> = {
  saving: ["wait", "Saving…"],
  saved: ["check", "Saved"],
  offline: ["cloud", "Offline, retrying"],
};

/** Saving usually takes less time than this. A chip that flickers at every answer would only distract. */
const PATIENCE_MS = 400;

export class StatusChip {
  readonly element = h("div", { class: "status", role: "status" });
  private timer: ReturnType<typeof setTimeout> | undefined;

  show(state: OutboxState): void {
    clearTimeout(this.timer);
    if (state === "saving" && this.element.dataset.state !== "offline") {
      this.timer = setTimeout(() => this.paint(state), PATIENCE_MS);
    } else if (state !== "saving" && state !== this.element.dataset.state) this.paint(state);
  }

  private paint(state: OutboxState): void {
    this.element.dataset.state = state;
    if (state === "idle") return this.element.replaceChildren();
    const [name, words] = WORDS[state];
    this.element.replaceChildren(icon(name), h("span", {}, words));
  }
}
