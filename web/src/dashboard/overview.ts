/** Overview: the progress, a few figures, mistakes, people and extreme items; plots and rates under Details. */

import { h } from "../kit/dom";
import { kindTitle, questionTitle } from "../kit/kinds";
import { percent, percentRange } from "../kit/numbers";
import { at } from "../kit/place";
import type { Dashboard, Kind, Rate, ScoredItem, Share } from "../kit/wire";
import { sentence } from "../kit/words";
import { StartLine } from "../start/agreement";
import { accuracyChart, type Axis, bitsChart, type Chart, histogramChart, reliabilityChart, uncertaintyChart } from "./charts";
import { decimal, duration } from "./format";
import { somethingKnown } from "./known";
import { mistakesPanel, peoplePanel, summary } from "./summary";
import { panel, shortItem, table, type Tile, tileView } from "./table";

/** The figures at the top of the page. */
export function tiles(data: Dashboard): Tile[] {
  return [
    { label: "Answers", value: String(data.answers), note: `${data.skips} skipped` },
    { label: "Time spent", value: duration(spent(data)), note: data.answers ? `${((60 * data.minutes) / data.answers).toFixed(1)} s per answer` : "nothing answered yet" },
    calledTile(data),
    askingTile(data),
  ];
}

/** Everybody's minutes, as the tables of people list them: also on questions that were skipped. */
function spent({ annotators }: Pick<Dashboard, "annotators">): number {
  return annotators.reduce((sum, { minutes }) => sum + minutes, 0);
}

/** Before the first question of an automatic choice, `now` is only "auto". */
function askingTile({ now, over, asked, project: { kinds } }: Dashboard): Tile {
  const label = "Asking now";
  if (over) return { label, value: "Nothing", note: askedNote(asked) };
  if (now === "auto") return { label, value: "\u2013", note: "no question yet" };
  const [kind = "", items] = now.split(" ");
  const size = items && `${items} ${items === "1" ? "item" : "items"}`;
  return { label, value: kindTitle(kind, kinds), note: [size, askedNote(asked)].filter(Boolean).join("; ") };
}

/** How many items are called positive. */
function calledTile(data: Dashboard): Tile {
  const { positive_share, pool_size, project } = data;
  const label = `Called ${project.positive}`;
  return somethingKnown(data) ? { label, value: percent(positive_share), note: `of ${pool_size.toLocaleString("en")} items` } : { label, value: "\u2013", note: "nothing is known yet" };
}

/** From this share on, questions that are random or asked again cost something; with fewer questions, a share says little. The server
 * uses the same numbers for its warning. */
const TOO_MANY = 0.05;
const FEWEST = 20;

/** The shares of the last questions that were random or had been asked before; empty if these were few. */
export function askedNote({ questions, random, repeated }: Pick<Dashboard["asked"], "questions" | "random" | "repeated">): string {
  const many = (share: number): boolean => questions >= FEWEST && share > TOO_MANY;
  const parts = [many(random) && `${percent(random)} were random, as no better one was ready`, many(repeated) && `${percent(repeated)} had been asked before`].filter(Boolean);
  return parts.length ? `of the last ${questions} questions, ${parts.join(", ")}` : "";
}

/** Whether `now` ("select_low 3", "label") is the question of this row; a row may be for a whole family of kinds. */
export function askedNow(now: string, { kind, size }: Rate, kinds: readonly Kind[]): boolean {
  const [asked = "", items] = now.split(" ");
  const family = kinds.find(({ name }) => name === asked)?.family;
  return (asked === kind || family === kind) && (items === undefined || Number(items) === size);
}

/** Below this share of positives, accuracy says little: calling everything negative would do well. */
const RARE = 1 / 3;
/** With fewer random checks it is too early to tell; the server uses the same number for the accuracy. */
const ENOUGH_CHECKS = 20;

interface Measure {
  name: string;
  share: Share;
  meaning: string;
}

/** How well rare positives are found; empty if they are not rare or none is known. */
export function measures({ quality, project: { positive } }: Pick<Dashboard, "quality" | "project">): Measure[] {
  if (!quality || quality.checks < ENOUGH_CHECKS || quality.prevalence.estimate >= RARE) return [];
  const all: [string, Share | null, string][] = [
    ["Precision", quality.precision, `of items predicted ${positive}, those labelled ${positive}`],
    ["Recall", quality.recall, `of items labelled ${positive}, those predicted ${positive}`],
    ["F1", quality.f1, "harmonic mean of precision and recall"],
    ["Average precision", quality.average_precision, `mean precision at each ${positive} item, likeliest first`],
    ["Prevalence", quality.prevalence, `labelled ${positive}`],
  ];
  return all.flatMap(([name, share, meaning]) => (share ? [{ name, share, meaning }] : []));
}

function rarePanel(data: Dashboard): HTMLElement | null {
  const rows = measures(data);
  if (!rows.length) return null;
  const title = `How well ${data.project.positive} items are found`;
  const view = table<Measure>({
    caption: title,
    rows,
    empty: "",
    blocks: true,
    columns: [
      { title: "Measure", cell: ({ name }) => name },
      { title: "Value", numeric: true, cell: ({ share }) => percent(share.estimate) },
      { title: "95\u00a0% interval", numeric: true, cell: ({ share }) => percentRange(share) },
      { title: "Meaning", cell: ({ meaning }) => meaning },
    ],
  });
  const { checks, prevalence } = data.quality!;
  return panel(title, `Of the newest ${checks} random items, ${percent(prevalence.estimate)} were ${data.project.positive}: so few that accuracy alone says little.`, view);
}

/** Bits with their standard error, if that is visible with two digits. */
export function withError({ bits, bits_se: error }: Rate): string {
  return error < 0.005 ? decimal(bits) : `${decimal(bits)} ± ${decimal(error)}`;
}

function ratesPanel({ rates, now, over, project: { kinds } }: Dashboard): HTMLElement {
  const flags = (rate: Rate): HTMLElement[] =>
    [rate.best && "best", !over && askedNow(now, rate, kinds) && "asked now"].filter((flag) => flag !== false).map((flag) => h("span", { class: "tag" }, flag));
  const view = table<Rate>({
    caption: "Bits per second by question kind and size",
    rows: rates,
    empty: "Measuring…",
    mark: (rate) => (rate.best ? "best" : ""),
    columns: [
      { title: "Question", cell: (rate) => h("span", { class: "tagged" }, questionTitle(rate.kind, rate.size, kinds), ...flags(rate)) },
      { title: "Bits per second", numeric: true, cell: (rate) => decimal(rate.bits_per_second, 3) },
      { title: "Bits", numeric: true, cell: (rate) => withError(rate) },
      { title: "Seconds", numeric: true, cell: (rate) => decimal(rate.seconds, 1) },
    ],
  });
  return panel("Most efficient question", "How much information an answer gives per second.", view);
}

function itemsPanel(title: string, items: ScoredItem[]): HTMLElement {
  const view = table<ScoredItem>({
    caption: title,
    rows: items,
    empty: "None so far.",
    columns: [
      { title: "Item", cell: shortItem },
      { title: "Probability", numeric: true, cell: (item) => percent(item.probability) },
    ],
  });
  return panel(title, null, view);
}

/** The items at both ends and in the middle; before anything is known, how to change that. */
export function extremes(data: Dashboard): HTMLElement[] {
  const { positive, negative } = data.project;
  if (!somethingKnown(data)) return [nothingKnown(positive, negative)];
  return [
    itemsPanel(`Most likely ${positive}`, data.most_positive),
    itemsPanel(`Most likely ${negative}`, data.most_negative),
    itemsPanel("Least certain", data.most_uncertain),
  ];
}

function nothingKnown(positive: string, negative: string): HTMLElement {
  const answer = h("a", { class: "button primary", href: at("/") }, "Answer questions");
  const start = h("a", { class: "button", href: "#settings" }, "Give words or examples");
  const hint = `The items that are most likely ${positive}, most likely ${negative} and least certain are listed here after the first answer, or as soon as you give words or examples of what you are looking for.`;
  return panel("Nothing is known of the items yet", hint, h("div", { class: "buttons" }, answer, start));
}

function axisSwitch(choose: (axis: Axis) => void): HTMLElement {
  const option = (axis: Axis, label: string): HTMLElement => {
    const input = h("input", { type: "radio", name: "axis", value: axis, checked: axis === "answers" });
    input.addEventListener("change", () => choose(axis));
    return h("label", {}, input, h("span", {}, label));
  };
  return h("fieldset", { class: "segments" }, h("legend", { class: "visually-hidden" }, "Plots over"), option("answers", "Over answers"), option("minutes", "Over minutes"));
}

/** Statistics, folded away: nothing is drawn until they are opened. */
class Details {
  readonly element = h("details", { class: "details" }, h("summary", {}, "Details"));
  private readonly rates = h("div", { class: "grid wide" });
  private readonly charts: Chart[] = [uncertaintyChart(), accuracyChart(), reliabilityChart(), bitsChart(), histogramChart()];
  private data: Dashboard | null = null;
  private axis: Axis = "answers";

  constructor() {
    const pick = axisSwitch((axis) => {
      this.axis = axis;
      this.draw();
    });
    this.element.append(h("div", { class: "view" }, pick, h("div", { class: "grid charts" }, ...this.charts.map((chart) => chart.element)), this.rates));
    this.element.addEventListener("toggle", () => this.draw());
  }

  show(data: Dashboard): void {
    this.data = data;
    this.rates.replaceChildren(ratesPanel(data));
    this.draw();
  }

  private draw(): void {
    if (this.data && this.element.open) for (const chart of this.charts) chart.draw(this.data, this.axis);
  }
}

/** What the owner should look at: questions that are not as good as they could be, and signs that the classifier cannot work. */
export function warningsOf({ asked, warnings }: Pick<Dashboard, "asked" | "warnings">): string[] {
  return [asked.warning, ...warnings].filter((each) => each !== null).map(sentence);
}

export class Overview {
  readonly element = h("div", { class: "view" });
  private readonly words = h("div");
  private readonly warnings = h("div", { class: "warnings", role: "status" });
  private readonly figures = h("dl", { class: "tiles" });
  private readonly start = new StartLine();
  private readonly rare = h("div", { class: "rare" });
  private readonly tables = h("div", { class: "grid wide" });
  private readonly extremes = h("div", { class: "grid" });
  private readonly details = new Details();

  constructor(private readonly report: (error: unknown) => void) {
    this.element.append(this.words, this.warnings, this.figures, this.start.element, this.rare, this.tables, this.extremes, this.details.element);
  }

  show(data: Dashboard): void {
    this.words.replaceChildren(summary(data, this.report));
    this.warnings.replaceChildren(...warningsOf(data).map((each) => h("p", { class: "warning", dir: "auto" }, each)));
    this.figures.replaceChildren(...tiles(data).map(tileView));
    this.start.show(data.start_verdict);
    this.rare.replaceChildren(...[rarePanel(data)].filter((one) => one !== null));
    this.tables.replaceChildren(mistakesPanel(data), peoplePanel(data));
    this.extremes.replaceChildren(...extremes(data));
    this.details.show(data);
  }
}
