/** Answers: the log, newest first, with undo. */

import { get, post } from "../kit/api";
import { confirmed } from "../kit/dialog";
import { h } from "../kit/dom";
import { questionTitle } from "../kit/kinds";
import type { Kind, Log, LogRow } from "../kit/wire";
import { clockTime, seconds } from "./format";
import { panel, table } from "./table";

const PAGE = 50;

function notes(row: LogRow): string {
  return [row.check && "random", row.stale && "one answer stale", row.late && "late", row.undone && "undone"].filter(Boolean).join(", ");
}

export class AnswerLog {
  readonly element = h("div", { class: "view" });
  private readonly body = h("div");
  private readonly pager = h("div", { class: "buttons" });
  private kinds: readonly Kind[] = [];
  private names = new Map<string, string>();
  private offset = 0;

  /** `report` says what went wrong. */
  constructor(private readonly report: (error: unknown) => void) {
    this.element.append(panel("Answers", "Newest first. An undone answer stays in the log, marked.", this.body, this.pager));
  }

  async show(kinds: readonly Kind[], names: Map<string, string>): Promise<void> {
    this.kinds = kinds;
    this.names = names;
    const log = await get<Log>(`/api/answers?limit=${PAGE}&offset=${this.offset}`);
    this.body.replaceChildren(this.view(log.rows));
    this.pager.replaceChildren(...this.pages(log));
  }

  private view(rows: LogRow[]): HTMLElement {
    return table<LogRow>({
      caption: "Answer log",
      rows,
      empty: "No answers yet.",
      blocks: true,
      mark: (row) => (row.undone ? "undone" : ""),
      columns: [
        { title: "Time", cell: (row) => h("time", { datetime: row.t_utc }, clockTime(row.t_utc)) },
        { title: "Who", cell: (row) => this.names.get(row.participant) ?? row.participant },
        { title: "Question", cell: (row) => questionTitle(row.kind, row.items.length, this.kinds) },
        { title: "Answer", cell: (row) => h("span", { dir: "auto", class: "answer" }, row.told ?? "erased") },
        { title: "Took", numeric: true, cell: (row) => seconds(row.rt_ms === null ? null : row.rt_ms / 1000) },
        { title: "Notes", cell: notes },
        { title: "Undo", cell: (row) => !row.undone && row.told !== null && this.undoButton(row) },
      ],
    });
  }

  private undoButton(row: LogRow): HTMLElement {
    const button = h("button", { type: "button", class: "button small", "aria-label": `Undo the answer of ${clockTime(row.t_utc)}` }, "Undo");
    button.addEventListener("click", () => void this.undo(row));
    return button;
  }

  private async undo(row: LogRow): Promise<void> {
    if (!(await confirmed("Undo this answer?", `${row.told}. The original stays in the log, marked as undone.`, "Undo"))) return;
    try {
      await post("/api/undo", { question_id: row.question_id });
      await this.refresh();
    } catch (error) {
      this.report(error);
    }
  }

  private pages({ total, rows }: Log): HTMLElement[] {
    if (total <= PAGE) return [];
    const turn = (by: number, label: string, possible: boolean): HTMLElement =>
      h("button", { type: "button", class: "button small", disabled: !possible, onclick: () => void this.turn(by) }, label);
    const where = h("span", { class: "hint" }, `${this.offset + 1} to ${this.offset + rows.length} of ${total}`);
    return [turn(-PAGE, "Newer", this.offset > 0), turn(PAGE, "Older", this.offset + PAGE < total), where];
  }

  private async turn(by: number): Promise<void> {
    this.offset = Math.max(0, this.offset + by);
    await this.refresh();
  }

  private async refresh(): Promise<void> {
    await this.show(this.kinds, this.names);
  }
}
