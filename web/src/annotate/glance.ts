/** A few predictions, shown under the card until they are hidden or the next question comes. */

import { itemText, itemView, textLength } from "../cards/item";
import { h } from "../kit/dom";
import type { Glance, Item, Wording } from "../kit/wire";

/** Of long texts only the first few are shown, so that the card and the line below stay on the screen. */
const LONG_TEXTS = 2;

function group(title: string, items: readonly Item[]): HTMLElement {
  const long = items.some((item) => !item.image && textLength(itemText(item)) !== "short");
  const shown = items.slice(0, long ? LONG_TEXTS : items.length).map((item) => h("span", { class: "glance-item", dir: "auto", title: long && itemText(item) }, itemView(item)));
  return h("div", { class: "glance-group" }, h("dt", {}, title), h("dd", {}, ...(shown.length ? shown : ["None of these"])));
}

export function glanceView(glance: Glance, words: Pick<Wording, "positive" | "negative">, putAway: () => void): HTMLElement {
  const close = h("button", { type: "button", class: "button quiet small", onclick: putAway }, "Hide");
  return h(
    "aside",
    { class: "glance", "aria-labelledby": "glance-title" },
    h("div", { class: "glance-head" }, h("h2", { id: "glance-title" }, "Learnt so far, on items nobody was asked about"), close),
    h("dl", {}, group(`Probably ${words.positive}`, glance.most), group(`Probably ${words.negative}`, glance.least), group("Not sure", [glance.unsure])),
  );
}
