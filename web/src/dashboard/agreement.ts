/** Agreement: how far people agree on items that several of them labelled, and settling conflicts. */

import { itemView } from "../cards/item";
import { get, post } from "../kit/api";
import { type Child, h, once } from "../kit/dom";
import { percent } from "../kit/numbers";
import type { Agreements, Between, Conflict, Disputed, Opinions } from "../kit/wire";
import { decimal } from "./format";
import { panel, table, type Tile, tileView } from "./table";

const NOBODY = "No item has been labelled by two people yet. To give some questions to a second person, open Settings.";
const OPINIONS = "Compares what would be learnt from each person’s answers alone. This may take some seconds.";
const MEANING = "1: people always agree; 0: no more than by chance. Hard items are asked about more often, so people agree less here than they would on random items.";

interface Words {
  positive: string;
  negative: string;
}

/** The figures, in words. */
export function figures({ alpha, low, high, alike, pairs, items, people }: Between): Tile[] {
  const range = low === null || high === null ? "too few items for a range" : `95 % range ${decimal(low)} to ${decimal(high)}`;
  return [
    { label: "Krippendorff’s alpha", value: alpha === null ? "–" : decimal(alpha), note: alpha === null ? "every label is the same" : range },
    { label: "Labelled alike", value: percent(alike / pairs), note: `${alike} of ${pairs} pairs of labels` },
    { label: "Labelled by several", value: items.toLocaleString("en"), note: `items, by ${people} people` },
  ];
}

const listed = (names: string[]): string => (names.length > 1 ? `${names.slice(0, -1).join(", ")} and ${names.at(-1)}` : (names[0] ?? ""));

/** Whether people mean the same thing, in words. */
export function verdict({ people, few, enough, own, camps }: Opinions): string[] {
  const rest = few.length ? [`${listed(few)}: fewer than ${enough} answers, so the shared classifier is used.`] : [];
  if (people.length < 2) return ["Two people with enough answers are needed to compare views.", ...rest];
  if (camps) {
    const gain = `${decimal(camps.gain_nats)} ± ${decimal(camps.gain_se)} nats`;
    return [
      `Two camps: ${listed(camps.first)}; and ${listed(camps.second)}.`,
      `Each camp’s own classifier predicts its answers better than a shared one: by ${gain} per answer, on ${camps.answers} answers that were not used to find the camps.`,
      ...rest,
    ];
  }
  if (!own) return ["As far as their answers show, people mean the same thing.", ...rest];
  return [`People differ: about ${percent(own)} of a view is a person’s own. There are no two clear camps.`, ...rest];
}

/** Each person’s probability for an item, the highest first. */
export function seenBy({ views }: Pick<Disputed, "views">): string {
  return [...views].sort((one, other) => other.probability - one.probability).map(({ name, probability }) => `${name} ${percent(probability)}`).join(", ");
}

export class AgreementView {
  readonly element = h("div", { class: "view" });
  private readonly between = h("div");
  private readonly conflicts = h("div");
  private readonly count = h("p", { class: "hint", role: "status" });
  private readonly compared = h("div", { class: "compared", role: "status" });
  private words: Words = { positive: "positive", negative: "negative" };

  constructor(private readonly report: (error: unknown) => void) {
    const compare = h("button", { type: "button", class: "button", onclick: () => void this.compare().catch(this.report) }, "Compare people’s views");
    this.element.append(
      panel("Agreement between people", MEANING, this.between),
      panel("Do people mean the same thing?", OPINIONS, h("div", { class: "buttons" }, compare), this.compared),
      panel("Conflicts", "Items that people label differently. A label that settles a conflict is learnt from, and makes the item known.", this.count, this.conflicts),
    );
  }

  async show(words: Words): Promise<void> {
    this.words = words;
    const { agreement, conflicts, total, open } = await get<Agreements>("/api/agreement");
    this.between.replaceChildren(agreement ? h("dl", { class: "tiles" }, ...figures(agreement).map(tileView)) : h("p", { class: "empty" }, NOBODY));
    const shown = total > conflicts.length ? `; the first ${conflicts.length} are shown` : "";
    this.count.textContent = total ? `${open} to settle, ${total - open} settled${shown}.` : "";
    this.conflicts.replaceChildren(this.table(conflicts, words));
  }

  /** Only on request, because everybody's answers have to be learnt again. */
  private async compare(): Promise<void> {
    const more = `More ${this.words.positive}`;
    this.compared.replaceChildren(h("p", { class: "hint" }, "Comparing…"));
    const found = await get<Opinions>("/api/opinions");
    const { camps, disputed } = found;
    this.compared.replaceChildren(...verdict(found).map((line) => h("p", { dir: "auto" }, line)));
    if (camps) this.compared.append(h("div", { class: "grid" }, sideView(more, camps.first, camps.first_more), sideView(more, camps.second, camps.second_more)));
    if (disputed.length) this.compared.append(h("h3", {}, "Items that divide people most"), disputedView(disputed));
  }

  private table(rows: Conflict[], words: Words): HTMLElement {
    const called = (positive: boolean): string => (positive ? words.positive : words.negative);
    return table<Conflict>({
      caption: "Conflicts",
      rows,
      empty: "No conflicts.",
      blocks: true,
      columns: [
        { title: "Item", cell: itemView },
        { title: "Labels", cell: ({ votes }) => h("span", { dir: "auto" }, votes.map(({ name, positive }) => `${name}: ${called(positive)}`).join(", ")) },
        { title: "Predicted", cell: ({ probability }) => `${called(probability >= 0.5)}, ${percent(Math.max(probability, 1 - probability))}` },
        { title: "Settle", cell: (row) => this.buttons(row, words) },
      ],
    });
  }

  private buttons(row: Conflict, words: Words): Child {
    const button = (positive: boolean): HTMLElement => {
      const label = positive ? words.positive : words.negative;
      const settle = (): void => void this.settle(row.id, positive, words).catch(this.report);
      return h("button", { type: "button", class: "button small", "aria-pressed": String(row.settled === positive), "aria-label": `${row.text ?? row.id}: ${label}`, onclick: once(settle) }, label);
    };
    return h("span", { class: "buttons" }, button(true), button(false));
  }

  private async settle(item: string, positive: boolean, words: Words): Promise<void> {
    await post("/api/settle", { item, positive });
    await this.show(words);
  }
}

/** What the people of one side find more so than the others. */
export function sideView(more: string, names: string[], items: NonNullable<Opinions["camps"]>["first_more"]): HTMLElement {
  const title = `${more} to ${listed(names)}`;
  return h("div", {}, h("h3", { dir: "auto" }, title), table({ caption: title, rows: items, empty: "", columns: [{ title: "Item", cell: itemView }] }));
}

function disputedView(rows: Disputed[]): HTMLElement {
  return table<Disputed>({
    caption: "Items that divide people most",
    rows,
    empty: "",
    blocks: true,
    columns: [
      { title: "Item", cell: itemView },
      { title: "Probability by person", cell: (row) => h("span", { dir: "auto" }, seenBy(row)) },
    ],
  });
}
