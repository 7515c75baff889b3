/** A closer look at an item: a button on it, or Z, shows a photograph or a whole text on the full screen. */

import { h, hiddenText, layerOf } from "../kit/dom";
import { icon } from "../kit/icons";
import { at } from "../kit/place";
import type { Item } from "../kit/wire";
import { itemText, shownName, textLength } from "./item";

/** A button that shows the item as large as the screen allows; null for a short text. `number` is its position, from 1.
 *
 * For a text, the button is there only while the text in `view` is cut off.
 */
export function zoomButton(item: Item, number: number, view?: HTMLElement): HTMLButtonElement | null {
  const { image } = item;
  if (image) {
    const name = shownName(item, number);
    return opener("Look closer", `Look closer at ${name}`, name, () => h("img", { src: at(image), alt: name }));
  }
  const text = view?.querySelector<HTMLElement>(".item-text");
  if (!text || textLength(itemText(item)) === "short") return null;
  const button = opener("Read the whole text", `Read all of text ${number}`, `Text ${number}`, () => h("p", { class: "item-text", dir: "auto" }, itemText(item)));
  showWhileCut(button, text);
  return button;
}

/** `title` and `action` say what the button does; `name` is the name of the dialog. */
function opener(title: string, action: string, name: string, content: () => HTMLElement): HTMLButtonElement {
  const button = h("button", { type: "button", class: "zoom", title: `${title} (Z)`, "aria-keyshortcuts": "Z" }, icon("zoom"), hiddenText(action));
  button.addEventListener("click", (event) => {
    event.stopPropagation();
    // The card takes the focus back afterwards, so that Enter submits; keyboard users stay on the button.
    if (event.detail > 0) button.closest<HTMLElement>("[tabindex]")?.focus({ preventScroll: true });
    enlarge(name, content(), layerOf(button));
  });
  return button;
}

/** Shows `button` as long as the style sheet cuts `text` off. */
function showWhileCut(button: HTMLElement, text: HTMLElement): void {
  button.hidden = true;
  new ResizeObserver(() => {
    button.hidden = text.scrollHeight <= text.clientHeight + 1; // both are rounded
  }).observe(text);
}

/** Any click closes it, and so does Escape. */
function enlarge(name: string, content: HTMLElement, layer: Node): void {
  const close = h("button", { type: "button", class: "icon-button", autofocus: true }, icon("close"), hiddenText("Close"));
  const dialog = h("dialog", { class: "enlarged", "aria-label": name }, content, close);
  dialog.addEventListener("click", () => dialog.close());
  dialog.addEventListener("keydown", (event) => {
    if (event.key.toLowerCase() !== "z") return;
    event.preventDefault(); // otherwise the card, which hears of it next, would open it again
    dialog.close();
  });
  dialog.addEventListener("close", () => dialog.remove());
  layer.appendChild(dialog);
  dialog.showModal();
}

/** Z enlarges the item in focus or under the pointer, else the first. */
export function zoomAtHand(card: HTMLElement): void {
  const buttons = [...card.querySelectorAll<HTMLButtonElement>(".zoom:not([hidden])")];
  const near = (selector: string): HTMLButtonElement | undefined => buttons.find((button) => button.parentElement!.matches(selector));
  (near(":focus-within") ?? near(":hover") ?? buttons[0])?.click();
}
