/** A look at a start while it is being named: the items that it calls most and least so, asked for once typing pauses. */

import { OfflineError, post } from "../kit/api";
import { h } from "../kit/dom";
import type { StartIn, StartPreview } from "../kit/wire";
import { sentence } from "../kit/words";
import { type Picking, Picks } from "./picks";

const DELAY_MS = 250;
/** A first word may have to wait for its embedder; most looks come sooner than this and need no word. */
const PATIENCE_MS = 600;

export class StartLook {
  readonly element = h("div", { class: "start-look", hidden: true });
  /** What is wrong with what was named; empty where nothing is. */
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

  /** Looks at these names soon; a look that is no longer wanted by then is left out. */
  later(names: Required<StartIn>): void {
    clearTimeout(this.timer);
    this.asked += 1;
    if (names.like.length + names.unlike.length === 0) return this.show(null, "");
    const turn = this.asked;
    this.timer = setTimeout(() => void this.look(names, turn), DELAY_MS);
  }

  /** Draws what is known once more, after the examples have changed. */
  redraw(): void {
    if (!this.last) return;
    this.most.show(this.last.most);
    this.least.show(this.last.least);
  }

  private async look(names: Required<StartIn>, turn: number): Promise<void> {
    let found = this.last;
    let problem = "";
    const waiting = setTimeout(() => turn === this.asked && (this.problem.textContent = "Looking…"), PATIENCE_MS);
    try {
      found = await post<StartPreview>("/api/start/preview", names);
    } catch (error) {
      problem = error instanceof Error ? sentence(error.message) : String(error);
      if (error instanceof OfflineError) problem = "The server cannot be reached; type again in a moment.";
    }
    clearTimeout(waiting);
    if (turn === this.asked) this.show(found, problem);
  }

  /** What was seen last stays, set back, while the names are wrong: a word half typed is no reason to take it away. */
  private show(found: StartPreview | null, problem: string): void {
    this.last = found;
    this.problem.textContent = problem;
    this.element.hidden = !found;
    this.element.dataset.old = String(problem !== "");
    this.redraw();
    this.onLook(problem ? null : found);
  }
}
