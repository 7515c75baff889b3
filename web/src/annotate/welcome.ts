/** The introduction before the first answer: what this is for, how long it may take, why questions differ. Once dismissed, it stays away. */

import { h } from "../kit/dom";
import { kept } from "../kit/storage";
import type { Me } from "../kit/wire";

const KEY = "tellmore:welcomed:";

/** Null for somebody who has answered, or has dismissed it in this browser. */
export function welcome(me: Pick<Me, "participant" | "project" | "introduction">, answers: number): HTMLElement | null {
  if (answers > 0 || !me.introduction.length || kept.getItem(KEY + me.participant + me.project.name)) return null;
  const element = h("aside", { class: "glance welcome", "aria-label": "About this project" });
  const away = (): void => {
    kept.setItem(KEY + me.participant + me.project.name, "yes");
    element.remove();
  };
  element.append(h("ul", {}, ...me.introduction.map((line) => h("li", {}, line))), h("button", { type: "button", class: "button small", onclick: away }, "Got it"));
  return element;
}
