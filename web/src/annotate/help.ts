/** Help: what the three questions ask, and every key. */

import { openDialog } from "../kit/dialog";
import { h } from "../kit/dom";
import type { Keyboard } from "../kit/keyboard";
import type { Wording } from "../kit/wire";

function kinds(words: Wording): HTMLElement {
  const entries: [string, string][] = [
    ["Label", `Say whether the item is ${words.positive} or ${words.negative}.`],
    ["Select", "Choose the item asked for, then label the chosen one."],
    ["Rank", `Put the items in order, then set the divider: above it ${words.positive}, below it ${words.negative}. All of them may be on one side.`],
    ["Skip and can’t tell", "Skip passes over a question. “Can’t tell” says that you looked and cannot decide. Neither counts as a label."],
  ];
  if (words.ties) entries.splice(3, 0, ["Level items", "Where two neighbours are equal, join them. To rank only the best, pick up the first of the others and say that the rest are level."]);
  return h("dl", { class: "help-kinds" }, ...entries.flatMap(([term, text]) => [h("dt", {}, term), h("dd", {}, text)]));
}

const TIE_KEYS: [string[], string][] = [
  [["L"], "level with the next: what is picked up or in focus"],
  [["T"], "the rest are level, from what is picked up on"],
];

function keys(ties: boolean): HTMLElement {
  const rows: [string[], string][] = [
    [["1", "…", "9"], "choose an item, or pick it up to move it"],
    [["0"], "pick up the divider"],
    [["↑", "↓"], "move what is picked up; otherwise walk through the items"],
    [["+", "−"], "positive, negative"],
    [["↵"], "submit a ranking"],
    [["R"], "this order is right (nothing moved)"],
    ...(ties ? TIE_KEYS : []),
    [["Space"], "skip"],
    [["C"], "can’t tell"],
    [["⌫", "Ctrl Z"], "undo the last answer"],
    [["?"], "this help"],
  ];
  const cells = rows.map(([caps, text]) => h("tr", {}, h("td", {}, ...caps.map((cap) => h("kbd", {}, cap))), h("td", {}, text)));
  return h("table", { class: "help-keys" }, h("caption", { class: "visually-hidden" }, "Keys"), h("tbody", {}, ...cells));
}

export async function openHelp(words: Wording, keyboard: Keyboard): Promise<void> {
  const toggle = h("input", { type: "checkbox", id: "shortcuts", checked: keyboard.enabled });
  toggle.addEventListener("change", () => keyboard.enable(toggle.checked));
  const intro = words.instruction || `You are teaching what counts as ${words.positive} and ${words.negative}.`;
  await openDialog(
    "How this works",
    [h("p", {}, intro), kinds(words), h("h3", {}, "Keys"), keys(words.ties ?? false), h("label", { class: "check" }, toggle, h("span", {}, "Use single-key shortcuts"))],
    [{ label: "Close", value: "" }],
  );
}
