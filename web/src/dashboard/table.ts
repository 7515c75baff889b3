/** Tables and panels, one way for all of them. */

import { h, type Child } from "../kit/dom";

export interface Column<Row> {
  title: string;
  cell: (row: Row) => Child;
  /** Numbers stand right-aligned, so that their digits line up. */
  numeric?: boolean;
}

export interface TableOptions<Row> {
  caption: string;
  columns: Column<Row>[];
  rows: Row[];
  empty: string;
  mark?: (row: Row) => string;
}

export function table<Row>({ caption, columns, rows, empty, mark }: TableOptions<Row>): HTMLElement {
  if (!rows.length) return h("p", { class: "empty" }, empty);
  const head = columns.map(({ title, numeric }) => h("th", { scope: "col", class: numeric && "numeric" }, title));
  const body = rows.map((row) =>
    h("tr", { class: mark?.(row) || null }, ...columns.map(({ cell, numeric }) => h("td", { class: numeric && "numeric" }, cell(row)))),
  );
  const element = h("table", {}, h("caption", { class: "visually-hidden" }, caption), h("thead", {}, h("tr", {}, ...head)), h("tbody", {}, ...body));
  // A table wider than its panel scrolls by itself; with the tab stop also by keyboard.
  return h("div", { class: "scroller", tabindex: 0, role: "region", "aria-label": caption }, element);
}

export function panel(title: string, hint: string | null, ...children: Child[]): HTMLElement {
  return h("section", { class: "panel" }, h("h2", {}, title), hint && h("p", { class: "hint" }, hint), ...children);
}
