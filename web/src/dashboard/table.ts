/** Tables, panels and large figures, the same on every page. */

import { itemText, itemView } from "../cards/item";
import { h, type Child } from "../kit/dom";
import type { Item } from "../kit/wire";

export interface Column<Row> {
  title: string;
  cell: (row: Row) => Child;
  /** Numbers are right-aligned, so that their digits line up. */
  numeric?: boolean;
}

export interface TableOptions<Row> {
  caption: string;
  columns: Column<Row>[];
  rows: Row[];
  empty: string;
  mark?: (row: Row) => string;
  /** For tables with many columns: if they do not fit side by side, each row becomes a block of titled values. */
  blocks?: boolean;
}

export function table<Row>({ caption, columns, rows, empty, mark, blocks }: TableOptions<Row>): HTMLElement {
  if (!rows.length) return h("p", { class: "empty" }, empty);
  // Roles are given because browsers drop them if CSS does not lay the element out as a table.
  const head = columns.map(({ title, numeric }) => h("th", { scope: "col", role: "columnheader", class: numeric && "numeric" }, title));
  const body = rows.map((row) => {
    const cells = columns.map(({ title, cell, numeric }) => h("td", { role: "cell", "data-title": title, class: numeric && "numeric" }, cell(row)));
    return h("tr", { role: "row", class: mark?.(row) || null }, ...cells);
  });
  const element = h("table", { role: "table", class: blocks && "blocks" }, h("caption", { class: "visually-hidden" }, caption));
  element.append(h("thead", { role: "rowgroup" }, h("tr", { role: "row" }, ...head)), h("tbody", { role: "rowgroup" }, ...body));
  // A table wider than its panel scrolls separately; the tab stop makes this possible by keyboard.
  return h("div", { class: "scroller", tabindex: 0, role: "region", "aria-label": caption }, element);
}

/** An item in a table: the beginning of a long text; pointing at it shows all of it, and so does the page Items. */
export function shortItem(item: Item): HTMLElement {
  return h("span", { class: "shortened", title: item.image ? null : itemText(item) }, itemView(item));
}

/** Words in a narrow column: on one line if they are short, otherwise on few. */
export function brief(words: string): HTMLElement {
  return h("span", { class: "brief", dir: "auto" }, words);
}

export function panel(title: string, hint: string | null, ...children: Child[]): HTMLElement {
  return h("section", { class: "panel" }, h("h2", {}, title), hint && h("p", { class: "hint" }, hint), ...children);
}

export interface Tile {
  label: string;
  value: string;
  note: string;
}

/** One large figure with its label and a note. */
export function tileView({ label, value, note }: Tile): HTMLElement {
  return h("div", { class: "tile" }, h("dt", {}, label), h("dd", {}, h("strong", {}, value), h("span", {}, note)));
}
