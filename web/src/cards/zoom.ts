/** A closer look at a photograph: a button on it, or Z, shows it on the full screen. */

import { h, hiddenText, layerOf } from "../kit/dom";
import { icon } from "../kit/icons";
import { at } from "../kit/place";
import type { Item } from "../kit/wire";
import { shownName } from "./item";

/** A button that shows the picture as large as the screen allows; null for an item without a picture. `number` is its position, from 1. */
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

/** Any click closes it, and so does Escape. */
function enlarge(image: string, name: string, layer: Node): void {
  const close = h("button", { type: "button", class: "icon-button", autofocus: true }, icon("close"), hiddenText("Close"));
  const dialog = h("dialog", { class: "enlarged", "aria-label": name }, h("img", { src: at(image), alt: name }), close);
  dialog.addEventListener("click", () => dialog.close());
  dialog.addEventListener("keydown", (event) => event.key.toLowerCase() === "z" && dialog.close());
  dialog.addEventListener("close", () => dialog.remove());
  layer.appendChild(dialog);
  dialog.showModal();
}

/** Z enlarges the picture in focus or under the pointer, else the first. */
export function zoomAtHand(card: HTMLElement): void {
  const buttons = [...card.querySelectorAll<HTMLButtonElement>(".zoom")];
  const near = (selector: string): HTMLButtonElement | undefined => buttons.find((button) => button.parentElement!.matches(selector));
  (near(":focus-within") ?? near(":hover") ?? buttons[0])?.click();
}
