/** The last screen: the questions are over, what was reached, and what to do next. */

import { h } from "../kit/dom";
import { notice } from "../kit/frame";
import { at } from "../kit/place";
import type { End } from "../kit/wire";

/** `owner`: whether to offer the classifier; `goOn` asks for more. */
export function endScreen(end: End, owner: boolean, goOn: () => void): HTMLElement {
  if (!owner) return notice(end.title, end.text);
  const take = h("a", { class: "button primary", href: at("/dashboard#export") }, "Get the classifier");
  const look = h("a", { class: "button", href: at("/dashboard#items") }, "Look at the items");
  const more = end.go_on && h("button", { type: "button", class: "button quiet", onclick: goOn }, "Keep answering");
  return notice(end.title, end.text, take, look, more);
}
