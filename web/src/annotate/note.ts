/** Commenting on an item, or flagging it, for the owner to read. */

import { shownName } from "../cards/item";
import { post } from "../kit/api";
import { openDialog } from "../kit/dialog";
import { h } from "../kit/dom";
import type { Item } from "../kit/wire";

/** Asks for a comment on one of `items` and sends it; false if that was cancelled. */
export async function askForNote(items: Item[]): Promise<boolean> {
  const which = h("select", { name: "item" }, ...items.map((item, index) => h("option", { value: item.id }, shownName(item, index + 1))));
  const text = h("textarea", { name: "text", rows: 3, maxlength: 2000, autofocus: true });
  const flag = h("input", { type: "checkbox", name: "flag" });
  const check = (): void => text.setCustomValidity(text.value.trim() || flag.checked ? "" : "Write a comment or tick the box below.");
  for (const field of [text, flag]) field.addEventListener("input", check);
  check();
  const body = [
    h("p", { class: "hint" }, "The project’s owner will read this. It does not count as an answer."),
    items.length > 1 && h("label", { class: "field" }, h("span", {}, "About"), which),
    h("label", { class: "field" }, h("span", {}, "Comment"), text),
    h("label", { class: "check" }, flag, h("span", {}, "Something is wrong with this item")),
  ];
  const choice = await openDialog("Comment on an item", body, [
    { label: "Cancel", value: "" },
    { label: "Send", value: "send" },
  ]);
  if (choice !== "send") return false;
  await post("/api/notes", { item: which.value, text: text.value, flag: flag.checked });
  return true;
}
