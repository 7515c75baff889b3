/** A longer text as people write it: paragraphs, # headings, - lists, **bold**. Whatever else it holds is shown as typed. */

import { type Child, h } from "./dom";

function inline(text: string): Child[] {
  return text.split(/\*\*(.+?)\*\*/).map((part, index) => (index % 2 ? h("strong", {}, part) : part));
}

function block(lines: string[]): HTMLElement {
  const [first = ""] = lines;
  const heading = /^#+\s+(.*)$/.exec(first);
  if (heading && lines.length === 1) return h("h3", {}, ...inline(heading[1] ?? ""));
  if (lines.every((line) => /^[-*]\s/.test(line))) return h("ul", {}, ...lines.map((line) => h("li", {}, ...inline(line.slice(2)))));
  return h("p", {}, ...inline(lines.join(" ")));
}

/** Whether two neighbouring lines belong to one block. */
function together(line: string, next: string): boolean {
  const sort = (text: string): string => (/^#+\s/.test(text) ? "heading" : /^[-*]\s/.test(text) ? "list" : "paragraph");
  return sort(line) === sort(next) && sort(line) !== "heading";
}

export function prose(text: string): HTMLElement {
  const blocks: string[][] = [];
  let before = "";
  for (const line of text.split("\n").map((each) => each.trim())) {
    if (line && before && together(before, line)) blocks.at(-1)?.push(line);
    else if (line) blocks.push([line]);
    before = line;
  }
  return h("div", { class: "prose", dir: "auto" }, ...blocks.map(block));
}
