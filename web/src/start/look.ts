/** A preview of a start: the items that fit it most and least, asked for whenever typing pauses. */

import { OfflineError, post } from "../kit/api";
import { h } from "../kit/dom";
import type { StartIn, StartPreview } from "../kit/wire";
import { sentence } from "../kit/words";
import { type Picking, Picks } from "./picks";

const DELAY_MS = 250;
/** The first word may have to wait for its embedder. Most previews arrive sooner than this and need no message. */
const PATIENCE_MS = 600;

export class StartLook {
  readonly element = h("div", { class: "start-look", hidden: true });
  /** What is wrong with the names given; empty if nothing is. */
  readonly problem = h("p", { class: "hint start-problem", role: "status" });
  private readonly most: Picks;
  private readonly least: Picks;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private asked = 0;
  private last: StartPreview | null = null;

  constructor(options: { picking?: Picking; onLook?: (preview: StartPreview | null) => void } = {}) {
    this.onLook = options.onLook ?? (() => {});
    this.most = new Picks("Most like it, before any answers", options.picking);
    this.least = new Picks("Least like it, before any answers", options.picking);
    this.element.append(this.most.element, this.least.element);
  }

  private readonly onLook: (preview: StartPreview | null) => void;

  /** Asks for a preview of these names after a short delay; a newer call replaces it. */
  later(names: Required<StartIn>): void {
    clearTimeout(this.timer);
    this.asked += 1;
    if (names.like.length + names.unlike.length === 0) return this.show(null, "");
    const turn = this.asked;
    this.timer = setTimeout(() => void this.look(names, turn), DELAY_MS);
  }

  /** Says what is wrong, or only what is being waited for. */
  tell(message: string, waiting = false): void {
    this.problem.toggleAttribute("data-waiting", waiting);
    this.problem.textContent = message;
  }

  /** Draws the last preview again, after the examples have changed. */
  redraw(): void {
    if (!this.last) return;
    this.most.show(this.last.most);
    this.least.show(this.last.least);
  }

  private async look(names: Required<StartIn>, turn: number): Promise<void> {
    let found = this.last;
    let problem = "";
    const waiting = setTimeout(() => turn === this.asked && this.tell("Looking…", true), PATIENCE_MS);
    try {
      found = await post<StartPreview>("/api/start/preview", names);
    } catch (error) {
      problem = error instanceof Error ? sentence(error.message) : String(error);
      if (error instanceof OfflineError) problem = "The server cannot be reached; type again in a moment.";
    }
    clearTimeout(waiting);
    if (turn === this.asked) this.show(found, problem);
  }

  /** While the names are wrong, the last preview stays, greyed out: a half-typed word is no reason to remove it. */
  private show(found: StartPreview | null, problem: string): void {
    this.last = found;
    this.tell(problem);
    this.element.hidden = !found;
    this.element.dataset.old = String(problem !== "");
    this.redraw();
    this.onLook(problem ? null : found);
  }
}
