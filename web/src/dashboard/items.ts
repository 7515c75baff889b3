/** Items: every item with its prediction; search, sort, filter, look at one, and label it. */

import { itemView } from "../cards/item";
import { get, post, request } from "../kit/api";
import { type Child, h, hiddenText, once, showTop } from "../kit/dom";
import { icon } from "../kit/icons";
import { percent } from "../kit/numbers";
import type { Dashboard, ItemPage, ItemRow, Settings, Why } from "../kit/wire";
import { AddingView } from "./adding";
import { clockTime } from "./format";
import { brief, panel, shortItem, table } from "./table";

type Side = "like" | "unlike";

const PAGE = 50;
const SEARCH_DELAY_MS = 200;

const SORTS = (positive: string, negative: string): [string, string][] => [
  ["likely", `Most likely ${positive}`],
  ["unlikely", `Most likely ${negative}`],
  ["unsure", "Least certain"],
  ["pool", "As imported"],
];
const SHOWS: [string, string][] = [
  ["all", "All items"],
  ["unanswered", "Without an answer"],
  ["answered", "Answered"],
  ["disagreeing", "Prediction disagrees"],
  ["noted", "Commented or flagged"],
];
const RANGES: [string, string][] = [
  ["0 1", "Any probability"],
  ["0.9 1", "90 to 100 %"],
  ["0.5 1", "50 to 100 %"],
  ["0.4 0.6", "40 to 60 %"],
  ["0 0.5", "0 to 50 %"],
  ["0 0.1", "0 to 10 %"],
];

interface Words {
  positive: string;
  negative: string;
}

function select(label: string, name: string, options: [string, string][]): HTMLElement {
  return h("label", { class: "field" }, h("span", {}, label), h("select", { name }, ...options.map(([value, words]) => h("option", { value }, words))));
}

/** The query for the server, from the form and the page. */
export function query(form: HTMLFormElement, offset: number): string {
  const data = new FormData(form);
  const [low = "0", high = "1"] = String(data.get("range") ?? "0 1").split(" ");
  const text = (name: string): string => String(data.get(name) ?? "");
  return new URLSearchParams({ search: text("search"), sort: text("sort"), show: text("show"), low, high, limit: String(PAGE), offset: String(offset) }).toString();
}

/** Which of the items found are shown. */
export function counted(offset: number, { rows, total }: Pick<ItemPage, "rows" | "total">): string {
  const [first, last, all] = [offset + 1, Math.min(offset + rows.length, total), total].map((number) => number.toLocaleString("en"));
  if (rows.length === total) return total === 0 ? "" : total === 1 ? "1 item" : `${all} items`;
  return `${first} to ${last} of ${all} items`;
}

/** The prediction in words; there is none at one half, as for all items before the first answer. */
export function predicted(probability: number, { positive, negative }: Words): string {
  const sure = Math.max(probability, 1 - probability);
  return sure < 0.505 ? "Not predicted yet." : `Predicted: ${probability >= 0.5 ? positive : negative}, ${percent(sure)} sure.`;
}

function answered(item: ItemRow, words: Words): string {
  return item.label === null ? "Not answered yet." : `Answered: ${told(item, words)}.`;
}

function told({ label }: ItemRow, words: Words): string {
  return label === null ? "–" : label ? words.positive : words.negative;
}

/** A sign that people have commented on the item, or flagged it. */
function commented({ notes, flagged }: ItemRow): Child {
  const count = notes === 1 ? "1 comment" : `${notes} comments`;
  return notes > 0 && h("span", { title: flagged ? `flagged; ${count}` : count, class: "noted" }, icon(flagged ? "flag" : "comment"), hiddenText(flagged ? `flagged, ${count}` : count));
}

function noteView({ name, t_utc, text, flag }: Why["notes"][number]): HTMLElement {
  return h("blockquote", { class: "note" }, flag && icon("flag"), flag && hiddenText("Flagged."), h("p", { dir: "auto" }, text || "Flagged."), h("footer", {}, `${name}, ${clockTime(t_utc)}`));
}

export class ItemsView {
  readonly element = h("div", { class: "view" });
  private readonly form = h("form", { class: "inline-form items-form", role: "search" });
  private readonly found = h("p", { class: "hint", role: "status" });
  private readonly body = h("div");
  private readonly pager = h("div", { class: "buttons" });
  private readonly detail = h("div", { class: "detail-host" });
  private readonly adding: AddingView;
  private words: Words = { positive: "positive", negative: "negative" };
  private offset = 0;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private asked = 0;

  constructor(private readonly report: (error: unknown) => void) {
    this.form.addEventListener("input", () => this.later());
    this.form.addEventListener("submit", (event) => event.preventDefault());
    this.adding = new AddingView(report);
    const list = panel("Items", "The prediction for every item. Choose one to see why, or to answer it yourself.", this.adding.element, this.form, this.found, this.body, this.pager);
    this.element.append(h("div", { class: "items-grid" }, list, this.detail));
  }

  /** Called again whenever something has been learnt. */
  async show({ project }: Dashboard): Promise<void> {
    this.words = project;
    if (!this.form.childElementCount) {
      const pictures = project.media === "image";
      this.adding.element.hidden = pictures; // only texts can be added
      const search = h("input", { type: "search", name: "search", maxlength: 200, autocomplete: "off", placeholder: pictures ? "Part of a name" : "Part of a text" });
      this.form.append(
        h("label", { class: "field" }, h("span", {}, "Search"), search),
        select("Order", "sort", SORTS(project.positive, project.negative)),
        select("Show", "show", SHOWS),
        select("Probability", "range", RANGES),
      );
    }
    await this.refresh();
    void this.adding.show().catch(this.report);
  }

  private later(): void {
    clearTimeout(this.timer);
    this.offset = 0;
    this.timer = setTimeout(() => void this.refresh().catch(this.report), SEARCH_DELAY_MS);
  }

  private async refresh(): Promise<void> {
    const number = ++this.asked;
    const page = await get<ItemPage>(`/api/items?${query(this.form, this.offset)}`);
    if (number !== this.asked) return; // a later request has overtaken this one
    this.found.textContent = counted(this.offset, page);
    this.body.replaceChildren(this.view(page.rows));
    const turn = (by: number, label: string, possible: boolean): HTMLElement =>
      h("button", { type: "button", class: "button small", disabled: !possible, onclick: () => void this.turn(by) }, label);
    this.pager.replaceChildren(...(page.total > PAGE ? [turn(-PAGE, "Previous", this.offset > 0), turn(PAGE, "Next", this.offset + page.rows.length < page.total)] : []));
  }

  private async turn(by: number): Promise<void> {
    this.offset = Math.max(0, this.offset + by);
    await this.refresh().catch(this.report);
  }

  private view(rows: ItemRow[]): HTMLElement {
    return table<ItemRow>({
      caption: "Items",
      rows,
      empty: "No items match.",
      columns: [
        { title: "Item", cell: (row) => h("button", { type: "button", class: "item-button", "data-id": row.id, onclick: () => void this.look(row.id).catch(this.report) }, itemView(row)) },
        { title: `Probability of ${this.words.positive}`, numeric: true, cell: (row) => percent(row.probability) },
        { title: "Answer", cell: (row) => h("span", { class: "noted" }, brief(told(row, this.words)), commented(row)) },
      ],
    });
  }

  private async look(id: string): Promise<void> {
    const why = await get<Why>(`/api/items/${encodeURIComponent(id)}/why`);
    const card = this.card(why);
    this.detail.replaceChildren(card);
    // The browser would show the middle of a panel that is taller than the screen.
    card.focus({ preventScroll: true });
    showTop(card);
  }

  private card({ item, nearest, notes }: Why): HTMLElement {
    const { positive, negative } = this.words;
    const alike = table<ItemRow>({
      caption: "The most similar answered items",
      rows: nearest,
      empty: "Nothing has been answered yet.",
      columns: [
        { title: "Item", cell: shortItem },
        { title: "Answer", cell: (row) => brief(told(row, this.words)) },
      ],
    });
    const button = (yes: boolean): HTMLElement =>
      h("button", { type: "button", class: "button", "aria-pressed": String(item.label === yes), onclick: once(() => void this.label(item.id, yes).catch(this.report)) }, yes ? positive : negative);
    const example = (side: Side, label: string): HTMLElement => h("button", { type: "button", class: "button", onclick: once(() => void this.example(item.id, side).catch(this.report)) }, label);
    const shown = h("section", { class: "panel detail", tabindex: -1, "aria-label": "The chosen item" });
    const parts: Child[] = [
      h("div", { class: "detail-item" }, itemView(item), h("button", { type: "button", class: "icon-button", title: "Close", onclick: () => this.close(item.id) }, h("span", { "aria-hidden": "true" }, "×"), hiddenText("Close"))),
      h("p", {}, `${predicted(item.probability, this.words)} ${answered(item, this.words)}`),
      h("div", { class: "buttons" }, h("span", {}, "Answer it:"), button(true), button(false)),
      h("div", { class: "buttons" }, h("span", {}, "Starting example:"), example("like", "Like it"), example("unlike", "Unlike it")),
      notes.length > 0 && h("h3", {}, "Comments"),
      ...notes.map(noteView),
      h("h3", {}, "Why: the most similar answered items"),
      alike,
    ];
    shown.append(...parts.filter((part) => part instanceof Node));
    return shown;
  }

  /** Returns the focus to where the item was chosen, for people who use the keyboard. */
  private close(id: string): void {
    this.detail.replaceChildren();
    this.body.querySelector<HTMLElement>(`[data-id="${CSS.escape(id)}"]`)?.focus();
  }

  /** The list is updated automatically once the answer is learnt. */
  private async label(item: string, positive: boolean): Promise<void> {
    await post("/api/labels", { item, positive });
    await this.look(item);
  }

  /** Adds the item to one side of the start and removes it from the other; all answers are then learnt again. */
  private async example(item: string, side: Side): Promise<void> {
    const settings = await get<Settings>("/api/settings");
    const others = (names: string[]): string[] => names.filter((name) => name !== item);
    const start = { like: others(settings.like), unlike: others(settings.unlike) };
    await request("PUT", "/api/settings", { ...start, [side]: [...start[side], item] });
    await this.look(item);
  }
}
