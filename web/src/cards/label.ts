/** Label: one item, two equal buttons. */

import { h } from "../kit/dom";
import type { Card, CardContext } from "./card";
import { itemView } from "./item";
import { verdict } from "./verdict";
import { zoomButton } from "./zoom";

export function labelCard({ question, kind, words, submit }: CardContext): Card {
  const [item] = question.items;
  if (!item) throw new Error("a label question shows one item");
  const { buttons, bindings, keys } = verdict(words, true, (positive) => submit({ type: "label", positive }));
  const element = h("div", { class: "card-body label-card" });
  element.append(
    h("div", { class: "subject" }, itemView(item), zoomButton(item, 1)),
    h("div", { class: "verdicts", role: "group", "aria-label": kind.ask }, ...buttons),
  );
  return { element, bindings, keys, sketch: () => null, dispose: () => {} };
}
