/** Agreement: how far people agree on the items that several of them labelled, and settling the others. */

import { itemView } from "../cards/item";
import { get, post } from "../kit/api";
import { type Child, h } from "../kit/dom";
import type { Agreements, Between, Conflict } from "../kit/wire";
import { decimal, percent } from "./format";
import { panel, table, type Tile, tileView } from "./table";

const NOBODY = "No item has been labelled by two people yet. To give some questions to a second person, open Settings.";
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

export class AgreementView {
  readonly element = h("div", { class: "view" });
  private readonly between = h("div");
  private readonly conflicts = h("div");
  private readonly count = h("p", { class: "hint", role: "status" });

  constructor(private readonly report: (error: unknown) => void) {
    this.element.append(
      panel("Agreement between people", MEANING, this.between),
      panel("Conflicts", "Items that people label differently. A label that settles a conflict is learnt from, and makes the item known.", this.count, this.conflicts),
    );
  }

  async show(words: Words): Promise<void> {
    const { agreement, conflicts, total, open } = await get<Agreements>("/api/agreement");
    this.between.replaceChildren(agreement ? h("dl", { class: "tiles" }, ...figures(agreement).map(tileView)) : h("p", { class: "empty" }, NOBODY));
    const shown = total > conflicts.length ? `; the first ${conflicts.length} are shown` : "";
    this.count.textContent = total ? `${open} to settle, ${total - open} settled${shown}.` : "";
    this.conflicts.replaceChildren(this.table(conflicts, words));
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
      return h("button", { type: "button", class: "button small", "aria-pressed": String(row.settled === positive), "aria-label": `${row.text ?? row.id}: ${label}`, onclick: settle }, label);
    };
    return h("span", { class: "buttons" }, button(true), button(false));
  }

  private async settle(item: string, positive: boolean, words: Words): Promise<void> {
    await post("/api/settle", { item, positive });
    await this.show(words);
  }
}
