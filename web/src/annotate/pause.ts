/** The suggestion to take a break, under the card until it is dismissed, and then not again for the same answers. Questions continue. */

import { h } from "../kit/dom";
import { kept } from "../kit/storage";
import type { Me, Turn } from "../kit/wire";

const KEY = "tellmore:rested:";

export function pauseView(me: Pick<Me, "participant">, pause: Turn["pause"]): HTMLElement | null {
  if (!pause || kept.getItem(KEY + me.participant) === pause.id) return null;
  const element = h("aside", { class: "glance welcome", "aria-label": "A break may help" });
  const away = (): void => {
    kept.setItem(KEY + me.participant, pause.id);
    element.remove();
  };
  element.append(h("p", {}, pause.text), h("button", { type: "button", class: "button small", onclick: away }, "Go on"));
  return element;
}
