/** A list of items; with `picking`, each can be clicked to make it an example. */

import { itemText, itemView } from "../cards/item";
import { h } from "../kit/dom";
import { percent } from "../kit/numbers";
import type { Item } from "../kit/wire";
import type { Side } from "./examples";

/** An item and, if known, its probability of being what is looked for. */
export type Shown = Item & { probability?: number };

export interface Picking {
  /** The side of which the item is currently an example. */
  sideOf(item: Item): Side | null;
  pick(item: Item): void;
}

export class Picks {
  readonly element: HTMLElement;
  private readonly list = h("ul", { class: "picks" });
  private readonly none = h("p", { class: "hint", role: "status" });

  /** `empty`: what to say if there are no items. */
  constructor(title: string, private readonly picking?: Picking, private readonly empty = "") {
    this.element = h("section", { class: "picks-part", "aria-label": title }, h("h2", {}, title), this.list, this.none);
  }

  show(items: readonly Shown[]): void {
    const focused = this.list.contains(document.activeElement) ? document.activeElement?.closest("li")?.dataset.id : undefined;
    this.list.dataset.media = items.some(({ image }) => image) ? "image" : "text";
    this.none.textContent = items.length ? "" : this.empty;
    this.list.replaceChildren(...items.map((item) => h("li", { "data-id": item.id }, this.view(item))));
    if (focused === undefined) return;
    // Somebody who uses the keyboard stays in this list, at the same item if it is still there.
    const buttons = [...this.list.querySelectorAll("button")];
    (buttons.find((button) => button.closest("li")?.dataset.id === focused) ?? buttons[0])?.focus();
  }

  private view(item: Shown): HTMLElement {
    const side = this.picking?.sideOf(item) ?? null;
    const share = item.probability === undefined ? null : h("span", { class: "share" }, percent(item.probability));
    const parts = [itemView(item), side && h("span", { class: "tag" }, side), share];
    if (!this.picking) return h("span", { class: "sample" }, ...parts);
    const { picking } = this;
    return h("button", { type: "button", class: "sample", title: itemText(item), "aria-pressed": String(side !== null), onclick: () => picking.pick(item) }, ...parts);
  }
}
