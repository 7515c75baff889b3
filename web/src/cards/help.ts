/** Help: what the three questions ask, and every key. */

import { openDialog } from "../kit/dialog";
import { h } from "../kit/dom";
import { type Keyboard, keyFace } from "../kit/keyboard";
import type { Wording } from "../kit/wire";

export interface HelpOptions {
  words: Wording;
  keyboard: Keyboard;
  /** Whether a question may be skipped and an answer taken back; a study allows neither. */
  free: boolean;
}

function kinds({ words, free }: HelpOptions): HTMLElement {
  const entries: [string, string][] = [
    ["Label", `Say whether the item is ${words.positive} or ${words.negative}.`],
    ["Select", "Choose the item asked for, then label the chosen one."],
    ["Rank", `Put the items in order, then set the divider: above it ${words.positive}, below it ${words.negative}. All of them may be on one side.`],
  ];
  if (words.ties) entries.push(["Level items", "Where two neighbours are equal, join them. To rank only the best, pick up the first of the others and say that the rest are level."]);
  if (free) entries.push(["Skip and can’t tell", "Skip passes over a question. “Can’t tell” says that you looked and cannot decide. Neither counts as a label."]);
  return h("dl", { class: "help-kinds" }, ...entries.flatMap(([term, text]) => [h("dt", {}, term), h("dd", {}, text)]));
}

const TIE_KEYS: [string[], string][] = [
  [["L"], "level with the next: what is picked up or in focus"],
  [["T"], "the rest are level, from what is picked up on"],
];

const FREE_KEYS: [string[], string][] = [
  [["Space"], "skip"],
  [["C"], "can’t tell"],
  [["⌫", "Ctrl Z"], "undo the last answer"],
];

function keys({ words, free }: HelpOptions): HTMLElement {
  const rows: [string[], string][] = [
    [["1", "…", "9"], "choose an item, or pick it up to move it"],
    [["0"], "pick up the divider"],
    [["↑", "↓"], "move what is picked up; otherwise walk through the items"],
    [["Esc"], "put down what is picked up"],
    [["+", "−"], `${words.positive}, ${words.negative}; where there is one item, also 1 and 2`],
    [["←", "→"], "go to one of the two"],
    [["↵"], "submit a ranking"],
    [["R"], "this order is right (nothing moved)"],
    ...(words.ties ? TIE_KEYS : []),
    ...(free ? FREE_KEYS : []),
    [["?"], "this help"],
  ];
  const cells = rows.map(([caps, text]) => h("tr", {}, h("td", {}, ...caps.map((cap) => h("kbd", {}, ...keyFace(cap)))), h("td", {}, text)));
  return h("table", { class: "help-keys" }, h("caption", { class: "visually-hidden" }, "Keys"), h("tbody", {}, ...cells));
}

export async function openHelp(options: HelpOptions): Promise<void> {
  const { words, keyboard } = options;
  const toggle = h("input", { type: "checkbox", id: "shortcuts", checked: keyboard.enabled });
  toggle.addEventListener("change", () => keyboard.enable(toggle.checked));
  const intro = words.instruction || `You are teaching what counts as ${words.positive} and ${words.negative}.`;
  const switcher = h("label", { class: "check" }, toggle, h("span", {}, "Use single-key shortcuts"));
  const columns = h("div", { class: "help-columns" }, h("div", {}, h("h3", {}, "Questions"), kinds(options)), h("div", {}, h("h3", {}, "Keys"), keys(options), switcher));
  await openDialog("How this works", [h("p", {}, intro), columns], [{ label: "Close", value: "" }]);
}
