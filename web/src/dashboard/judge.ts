/** Judge: another model's scores against people's answers to random questions. */

import { itemView } from "../cards/item";
import { get } from "../kit/api";
import { h } from "../kit/dom";
import { percent, percentRange } from "../kit/numbers";
import type { Dashboard, Judged, Measured, Verdict } from "../kit/wire";
import { decimal } from "./format";
import { panel, table, type Tile, tileView } from "./table";

type Words = Pick<Dashboard["project"], "positive" | "negative">;

/** What the scores mean, named like the options of the command line. */
const FIELDS = [
  ["threshold", "Threshold", "number"],
  ["positive_value", "Positive value", "text"],
  ["negative_value", "Negative value", "text"],
] as const;

const HINT = "Another model’s scores, kept with the items, against people’s answers to random questions. Intervals are 95\u00a0%.";
const NO_COLUMN = "This project has no scores to judge: create it with tellmore init --keep-column NAME, or judge a file with tellmore judge --scores-file FILE.";
const NO_ANSWER = "No random question about a scored item has been answered yet. Some questions are random; for more of them, raise check_share in tellmore.toml and restart the server.";

/** The query for the server: only the fields that were filled in. */
export function query(form: HTMLFormElement): string {
  const filled = [...new FormData(form)].map(([name, value]) => [name, String(value).trim()]).filter(([, value]) => value);
  return String(new URLSearchParams(filled as [string, string][]));
}

function interval(found: Measured): string {
  return `${percentRange(found)}, ${found.correct} of ${found.n}`;
}

function measured(label: string, value: Measured | null, none: string): Tile {
  return { label, value: value ? percent(value.estimate) : "–", note: value ? interval(value) : none };
}

/** The figures at the top of the page. */
export function figures(found: Verdict, { positive }: Words): Tile[] {
  const { share } = found;
  return [
    measured("Agrees with people", found.agreement, ""),
    { label: "Always the more common answer", value: percent(found.commoner), note: "how often that would agree" },
    measured("Precision", found.precision, `it calls none of the ${found.checks} random items ${positive}`),
    measured("Recall", found.recall, `none of the ${found.checks} random answers is ${positive}`),
    { label: `Share of ${positive}`, value: percent(share.estimate, 1), note: `${percentRange(share, 1)}, all scored items` },
    { label: "To halve that interval", value: String(share.more_to_halve), note: "more random answers" },
  ];
}

/** What was compared, and what was left out. */
export function basis({ rule, scored, checks, earlier, without_score, skipped, enough }: Verdict, size: number): string {
  const left = [without_score && `${without_score} on items without a score`, skipped && `${skipped} skipped`].filter(Boolean).join(", ");
  const few = enough ? "" : " That is too few to judge by: the intervals show how little is known.";
  const old = earlier ? ` ${earlier} of them were drawn before texts were added, from the earlier items only.` : "";
  return `Scores: ${rule}. ${scored} of ${size} items have one. ${checks} random answers${left ? ` (${left}, left out)` : ""}.${old}${few}`;
}

function confusion(found: Verdict, { positive, negative }: Words): HTMLElement {
  const rows: [string, number, number][] = [
    [`judge: ${positive}`, found.both_positive, found.judge_only],
    [`judge: ${negative}`, found.people_only, found.both_negative],
  ];
  const view = table({
    caption: "What it confuses",
    rows,
    empty: "",
    columns: [
      { title: "Answers", cell: ([name]) => name },
      { title: `people: ${positive}`, numeric: true, cell: ([, yes]) => String(yes) },
      { title: `people: ${negative}`, numeric: true, cell: ([, , no]) => String(no) },
    ],
  });
  return panel("What it confuses", null, view);
}

/** Null for a judge that gives words instead of numbers: nothing of it could be a probability. */
function calibration({ calibration: bins }: Verdict, { positive }: Words): HTMLElement | null {
  if (bins.every(({ mean_score: mean }) => mean === null)) return null;
  const view = table({
    caption: "Can its scores be read as probabilities?",
    rows: bins,
    empty: "",
    columns: [
      { title: "Scores", cell: ({ scores }) => scores },
      { title: "Answers", numeric: true, cell: ({ n }) => String(n) },
      { title: "Mean score", numeric: true, cell: ({ mean_score: mean }) => (mean === null ? "–" : decimal(mean)) },
      { title: `Called ${positive}`, numeric: true, cell: ({ positive: of }) => `${percent(of.estimate)} (${percentRange(of)})` },
    ],
  });
  return panel("Can its scores be read as probabilities?", `If so, the mean score is close to the share that people call ${positive}.`, view);
}

function share({ share: of }: Verdict, { positive }: Words): HTMLElement {
  const rows: [string, string, string][] = [
    ["scores alone", percent(of.judge, 1), "not known"],
    ["random answers alone", percent(of.people.estimate, 1), percentRange(of.people, 1)],
    ["scores corrected by the answers", percent(of.estimate, 1), percentRange(of, 1)],
  ];
  const title = `Share of ${positive}`;
  const view = table({
    caption: title,
    rows,
    empty: "",
    mark: ([name]) => (name.startsWith("scores corrected") ? "best" : ""),
    columns: [
      { title: "By", cell: ([name]) => name },
      { title: "Share", numeric: true, cell: ([, value]) => value },
      { title: "95\u00a0% interval", numeric: true, cell: ([, , range]) => range },
    ],
  });
  return panel(title, "Among all scored items, by prediction-powered inference.", view);
}

function wrong({ wrong_items: total, items }: Judged, found: Verdict, { positive, negative }: Words): HTMLElement {
  const view = table({
    caption: "Where it is wrong most often",
    rows: found.wrong_most,
    empty: "It was wrong on none of them.",
    columns: [
      { title: "Item", cell: ({ item }) => itemView(items![item]!) },
      { title: "Score", numeric: true, cell: ({ score }) => score },
      { title: "Judge", cell: ({ judge_positive: yes }) => (yes ? positive : negative) },
      { title: "Answers against", numeric: true, cell: ({ wrong: against, answers }) => `${against} of ${answers}` },
    ],
  });
  const more = total! > found.wrong_most.length ? `The first ${found.wrong_most.length} of ${total} items.` : null;
  return panel("Where it is wrong most often", more, view);
}

export class JudgeView {
  readonly element = h("div", { class: "view" });
  private readonly form = h("form", { class: "inline-form judge-form" });
  private readonly about = h("p", { class: "hint", role: "status" });
  private readonly body = h("div", { class: "view" });
  private columns = "";
  /** The form when it was last submitted; edits since then are not used yet. */
  private asked = "";
  private words: Words = { positive: "positive", negative: "negative" };

  /** `report` shows an error. */
  constructor(private readonly report: (error: unknown) => void) {
    this.element.append(panel("Is another model right?", HINT, this.form, this.about), this.body);
    this.form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.asked = query(this.form);
      void this.refresh().catch(this.report);
    });
  }

  async show(words: Words): Promise<void> {
    this.words = words;
    await this.refresh();
  }

  private async refresh(): Promise<void> {
    const judged = await get<Judged>(`/api/judge?${this.asked}`);
    this.offer(judged);
    this.about.textContent = judged.column === null ? NO_COLUMN : (judged.problem ?? (judged.verdict ? basis(judged.verdict, judged.pool_size) : NO_ANSWER));
    this.body.replaceChildren(...(judged.verdict ? this.panels(judged, judged.verdict) : []));
  }

  /** The form is rebuilt only when the columns change: a live update must not clear what is being typed. */
  private offer({ columns, column }: Judged): void {
    const key = JSON.stringify(columns);
    if (key === this.columns) return;
    this.columns = key;
    if (!columns.length) return;
    const options = columns.map((name) => h("option", { value: name, selected: name === column }, name));
    this.form.replaceChildren(
      h("label", { class: "field" }, h("span", {}, "Scores"), h("select", { name: "column" }, ...options)),
      ...FIELDS.map(([name, label, type]) => h("label", { class: "field" }, h("span", {}, label), h("input", { name, type, step: "any", autocomplete: "off", placeholder: "automatic" }))),
      h("button", { type: "submit", class: "button" }, "Judge"),
    );
  }

  private panels(judged: Judged, found: Verdict): HTMLElement[] {
    const { words } = this;
    const tiles = h("dl", { class: "tiles" }, ...figures(found, words).map(tileView));
    const parts = [confusion(found, words), share(found, words), calibration(found, words), wrong(judged, found, words)];
    return [tiles, h("div", { class: "grid wide" }, ...parts)];
  }
}
