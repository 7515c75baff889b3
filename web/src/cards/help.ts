/** The help dialog: what the questions ask, and the keys of the question on screen. */

import { openDialog } from "../kit/dialog";
import { h } from "../kit/dom";
import { type Keyboard, type KeyHelp, keyFace } from "../kit/keyboard";
import type { Kind, Wording } from "../kit/wire";
import type { Presented } from "./present";

export interface HelpOptions {
  words: Wording;
  keyboard: Keyboard;
  /** Whether a question may be skipped and an answer taken back; a study allows neither. */
  free: boolean;
  /** Whether a person can comment on items. */
  notes?: boolean;
  /** Where the dialog is put; the page itself by default. */
  layer?: Node;
  /** The question on screen; null if there is none. */
  shown: Pick<Presented, "kind" | "keys"> | null;
}

/** The kind on screen first, then the usual ones; a study explains its other kinds when their turn comes. */
function kindsAtHand({ words, shown, free }: HelpOptions): Kind[] {
  if (shown && !free) return [shown.kind];
  const usual = words.kinds.filter((kind) => kind.standard && kind.name !== shown?.kind.name);
  return shown ? [shown.kind, ...usual] : usual;
}

function questions(options: HelpOptions): HTMLElement {
  const entries = kindsAtHand(options).map(({ title, help }) => [title, help]);
  if (options.free) entries.push(["Skip and can’t tell", "Skip passes over a question. “Can’t tell” says that you looked and cannot decide. Neither counts as a label."]);
  return h("dl", { class: "help-kinds" }, ...entries.flatMap(([term, text]) => [h("dt", {}, term), h("dd", {}, text)]));
}

const FREE_KEYS: KeyHelp[] = [
  [["Space"], "skip"],
  [["C"], "can’t tell"],
  [["⌫", "Ctrl Z"], "undo the last answer"],
];
const NOTE_KEY: KeyHelp = [["M"], "comment on an item, or flag it"];

function keys({ shown, free, notes }: HelpOptions): HTMLElement {
  const rows: KeyHelp[] = [...(shown?.keys ?? []), ...(free ? FREE_KEYS : []), ...(notes ? [NOTE_KEY] : []), [["?"], "show this help"]];
  const cells = rows.map(([caps, text]) => h("tr", {}, h("td", {}, ...caps.map((cap) => h("kbd", {}, ...keyFace(cap)))), h("td", {}, text)));
  return h("table", { class: "help-keys" }, h("caption", { class: "visually-hidden" }, "Keys"), h("tbody", {}, ...cells));
}

export async function openHelp(options: HelpOptions): Promise<void> {
  const { words, keyboard } = options;
  const toggle = h("input", { type: "checkbox", id: "shortcuts", checked: keyboard.enabled });
  toggle.addEventListener("change", () => keyboard.enable(toggle.checked));
  const intro = words.instruction || `You are teaching what counts as ${words.positive} and ${words.negative}.`;
  const switcher = h("label", { class: "check" }, toggle, h("span", {}, "Use single-key shortcuts"));
  const columns = h("div", { class: "help-columns" }, h("div", {}, h("h3", {}, "Questions"), questions(options)), h("div", {}, h("h3", {}, "Keys"), keys(options), switcher));
  await openDialog("How this works", [h("p", {}, intro), columns], [{ label: "Close", value: "" }], options.layer);
}
