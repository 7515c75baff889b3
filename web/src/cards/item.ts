/** One item as people see it: its text as text, or its image with a description. */

import { h } from "../kit/dom";
import { at } from "../kit/place";
import type { Item } from "../kit/wire";

const LONG_TEXT = 40;
const VERY_LONG_TEXT = 160;

const LONGEST_NAME = 60;

/** All of the item's text, or its id if it has none. */
export function itemText(item: Item): string {
  return item.text || item.id;
}

/** What the item is called in sentences, announcements and labels: the first words of a long text. */
export function itemName(item: Item): string {
  const text = itemText(item);
  if (text.length <= LONGEST_NAME) return text;
  const start = text.slice(0, LONGEST_NAME);
  return `${start.replace(/\s+\S*$/, "")} …`;
}

/** The same, except that a picture without text is named by its number on screen, from 1. */
export function shownName(item: Item, number: number): string {
  return item.image && !item.text ? `picture ${number}` : itemName(item);
}

/** The length class of a text, for the style sheet. */
export function textLength(text: string): "short" | "long" | "very-long" {
  if (text.length > VERY_LONG_TEXT) return "very-long";
  return text.length > LONG_TEXT ? "long" : "short";
}

export function itemView(item: Item): HTMLElement {
  if (!item.image) return h("span", { class: "item item-text", dir: "auto", "data-length": textLength(itemText(item)) }, itemText(item));
  const picture = h("img", { src: at(item.image), alt: itemName(item), draggable: "false", decoding: "async" });
  return h("span", { class: "item item-image" }, picture, item.text && h("span", { class: "caption", dir: "auto" }, item.text));
}
