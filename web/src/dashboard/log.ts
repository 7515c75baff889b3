/** Answers: the log, newest first, with filters and undo. */

import { itemView } from "../cards/item";
import { get, post } from "../kit/api";
import { confirmed } from "../kit/dialog";
import { h } from "../kit/dom";
import { offeredKinds, questionTitle } from "../kit/kinds";
import type { Item, Kind, Log, LogRow } from "../kit/wire";
import { clockTime, seconds } from "./format";
import { panel, table } from "./table";

const PAGE = 50;

const WHYS: Record<string, string> = { second: "second opinion", known: "known item", direct: "owner’s choice", settled: "conflict settled" };
const SORTS: [string, string][] = [
  ["", "All answers"],
  ["random", "Random checks"],
  ["second", "Second opinions"],
  ["known", "Known items"],
  ["direct", "Owner’s choice"],
  ["settled", "Conflicts settled"],
  ["skipped", "Skipped"],
  ["undone", "Undone"],
];

/** How a question was chosen, and why its answer does not count, if so. */
export function notes(row: Pick<LogRow, "check" | "why" | "stale" | "late" | "undone" | "left_out">): string {
  return [row.check && "random", WHYS[row.why], row.stale && "chosen before the last answer", row.late && "late", row.undone && "undone", row.left_out && "left out"].filter(Boolean).join(", ");
}

/** The pictures of a question, numbered, because the answer refers to them by number; null if there are none. */
function pictures(items: readonly Item[]): HTMLElement | null {
  if (!items.some(({ image }) => image)) return null;
  return h("ol", { class: "log-pictures" }, ...items.map((item) => h("li", { title: item.id }, itemView(item))));
}

export class AnswerLog {
  readonly element = h("div", { class: "view" });
  private readonly form = h("form", { class: "inline-form" });
  private readonly body = h("div");
  private readonly pager = h("div", { class: "buttons" });
  private kinds: readonly Kind[] = [];
  private names = new Map<string, string>();
  private offset = 0;

  /** `report` shows an error. */
  constructor(private readonly report: (error: unknown) => void) {
    this.element.append(panel("Answers", "Newest first. In rankings and grids, a bar | separates the two sides. Undone answers stay in the log, marked as such.", this.form, this.body, this.pager));
    this.form.addEventListener("submit", (event) => event.preventDefault());
    this.form.addEventListener("input", () => {
      this.offset = 0;
      void this.refresh().catch(this.report);
    });
  }

  async show(kinds: readonly Kind[], names: Map<string, string>): Promise<void> {
    this.kinds = kinds;
    this.names = names;
    this.fillForm();
    const chosen = [...new FormData(this.form)].filter(([, value]) => value !== "").map(([name, value]): [string, string] => [name, String(value)]);
    const log = await get<Log>(`/api/answers?${new URLSearchParams([...chosen, ["limit", String(PAGE)], ["offset", String(this.offset)]])}`);
    this.body.replaceChildren(this.view(log.rows));
    this.pager.replaceChildren(...this.pages(log));
  }

  /** The chosen filters stay when somebody new answers. */
  private fillForm(): void {
    const before = new FormData(this.form);
    const choose = (label: string, name: string, options: [string, string][]): HTMLElement =>
      h("label", { class: "field" }, h("span", {}, label), h("select", { name }, ...options.map(([value, words]) => h("option", { value, selected: before.get(name) === value }, words))));
    if (this.form.contains(document.activeElement)) return;
    this.form.replaceChildren(
      choose("Person", "participant", [["", "Everybody"], ...this.names]),
      choose("Question", "kind", [["", "All kinds"], ...offeredKinds(this.kinds, []).map(({ name, title }): [string, string] => [name, title])]),
      choose("Show", "only", SORTS),
    );
  }

  private view(rows: LogRow[]): HTMLElement {
    return table<LogRow>({
      caption: "Answer log",
      rows,
      empty: [...new FormData(this.form).values()].some(Boolean) ? "No answers match." : "No answers yet.",
      blocks: true,
      mark: (row) => (row.undone ? "undone" : ""),
      columns: [
        { title: "Time", cell: (row) => h("time", { datetime: row.t_utc }, clockTime(row.t_utc)) },
        { title: "Who", cell: (row) => this.names.get(row.participant) ?? row.participant },
        { title: "Question", cell: (row) => questionTitle(row.kind, row.items.length, this.kinds) },
        { title: "Answer", cell: (row) => h("span", { class: "answer" }, pictures(row.items), h("span", { dir: "auto", class: "told" }, row.told ?? "erased")) },
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
