/** Looking closer at a photograph: a button on it, or Z, fills the screen with it. */

import { h, hiddenText, layerOf } from "../kit/dom";
import { icon } from "../kit/icons";
import { at } from "../kit/place";
import type { Item } from "../kit/wire";
import { shownName } from "./item";

/** A button that shows the picture as large as the screen allows; nothing for an item without one. `number` is its place, from 1. */
export function zoomButton(item: Item, number: number): HTMLButtonElement | null {
  const { image } = item;
  if (!image) return null;
  const name = shownName(item, number);
  const button = h("button", { type: "button", class: "zoom", title: "Look closer (Z)", "aria-keyshortcuts": "Z" }, icon("zoom"), hiddenText(`Look closer at ${name}`));
  button.addEventListener("click", (event) => {
    event.stopPropagation();
    enlarge(image, name, layerOf(button));
  });
  return button;
}

/** Any click closes it again, as Escape does. */
function enlarge(image: string, name: string, layer: Node): void {
  const close = h("button", { type: "button", class: "icon-button", autofocus: true }, icon("close"), hiddenText("Close"));
  const dialog = h("dialog", { class: "enlarged", "aria-label": name }, h("img", { src: at(image), alt: name }), close);
  dialog.addEventListener("click", () => dialog.close());
  dialog.addEventListener("keydown", (event) => event.key.toLowerCase() === "z" && dialog.close());
  dialog.addEventListener("close", () => dialog.remove());
  layer.appendChild(dialog);
  dialog.showModal();
}

/** Z: the picture that is pointed at or in focus, else the first. */
export function zoomAtHand(card: HTMLElement): void {
  const buttons = [...card.querySelectorAll<HTMLButtonElement>(".zoom")];
  const near = (selector: string): HTMLButtonElement | undefined => buttons.find((button) => button.parentElement!.matches(selector));
  (near(":focus-within") ?? near(":hover") ?? buttons[0])?.click();
}
