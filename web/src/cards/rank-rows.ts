/** The rows of a ranking: what each shows, and its controls. They hold no state. */

import { h, hiddenText } from "../kit/dom";
import { icon } from "../kit/icons";
import { keycap } from "../kit/keyboard";
import type { Item, Wording } from "../kit/wire";
import { itemName, itemView } from "./item";
import { zoomButton } from "./zoom";

/** The position of the divider in words: "3 of 6 positive". */
export function share(nPositive: number, size: number, words: Wording): string {
  return `${nPositive} of ${size} ${words.positive}`;
}

export interface RowActions {
  pick(byKeyboard: boolean): void;
  step(by: number): void;
  /** Ties the item with the next one, or removes the tie; absent if the project has no ties. */
  level?(): void;
}

export interface Row {
  element: HTMLLIElement;
  /** What takes the focus when the row is moved by keyboard. */
  main: HTMLElement;
}

function stepButton(direction: "up" | "down", name: string, step: (by: number) => void): HTMLButtonElement {
  const button = h("button", { type: "button", class: `step step-${direction}` }, icon(direction), hiddenText(`Move ${name} ${direction}`));
  button.addEventListener("click", () => step(direction === "up" ? -1 : 1));
  return button;
}

function handle(): HTMLElement {
  return h("span", { class: "handle", title: "Drag", "aria-hidden": "true" }, icon("grip"));
}

/** Clicks by Enter, Space or assistive technology have no pointer; their detail is 0. */
function byKeyboard(event: Event): boolean {
  return (event as MouseEvent).detail === 0;
}

/** `number`: its position in the question, from 1. */
export function itemRow(item: Item, number: number, actions: RowActions): Row {
  const main = h("button", { type: "button", class: "pick", "aria-pressed": "false" });
  main.append(h("kbd", { "aria-hidden": "true", class: "position" }), itemView(item), h("span", { class: "visually-hidden where" }));
  main.addEventListener("click", (event) => actions.pick(byKeyboard(event)));
  const element = h("li", { class: "row", "data-id": item.id });
  const zoom = zoomButton(item, number, main);
  element.append(handle(), main, ...(zoom ? [zoom] : []), stepButton("up", itemName(item), actions.step), stepButton("down", itemName(item), actions.step));
  if (actions.level) element.append(levelButton(actions.level));
  return { element, main };
}

/** The button on the border to the next row. */
function levelButton(level: () => void): HTMLButtonElement {
  const button = h("button", { type: "button", class: "level", title: "Tie with the next", "aria-pressed": "false", "aria-keyshortcuts": "L" });
  button.append(h("span", { class: "link" }, icon("level"), keycap("L")), h("span", { class: "visually-hidden with" }));
  button.addEventListener("click", level);
  return button;
}

/** Updates the border to the next row: whether the two are `joined` (tied), and which item is `below`. */
export function paintLevel(row: Row, item: Item, below: Item | null, joined: boolean): void {
  row.element.classList.toggle("joined", joined);
  const button = row.element.querySelector<HTMLButtonElement>(".level");
  if (!button) return;
  button.hidden = below === null;
  button.setAttribute("aria-pressed", String(joined));
  button.querySelector(".with")!.textContent = below ? `${itemName(item)} tied with ${itemName(below)}` : "";
  row.main.querySelector(".where")!.textContent += joined ? ", tied with the next" : "";
}

export function dividerRow(size: number, actions: RowActions): Row {
  const main = h("div", { class: "slider", role: "slider", tabindex: 0, "aria-label": "Divider", "aria-orientation": "vertical", "aria-valuemin": 0, "aria-valuemax": size });
  main.append(keycap("0"), h("span", { class: "share" }));
  main.addEventListener("click", (event) => actions.pick(byKeyboard(event)));
  main.addEventListener("keydown", (event) => slide(event, size, actions));
  const element = h("li", { class: "row divider", "data-id": "" });
  element.append(handle(), main, stepButton("up", "the divider", actions.step), stepButton("down", "the divider", actions.step));
  return { element, main };
}

function slide(event: KeyboardEvent, size: number, actions: RowActions): void {
  const steps: Record<string, number> = { ArrowUp: -1, ArrowRight: -1, ArrowDown: 1, ArrowLeft: 1, PageUp: -2, PageDown: 2, Home: size, End: -size };
  const by = steps[event.key];
  if (by === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  actions.step(by);
}

/** The number of the row; up to 9 it is a key as well. */
function paintPlace({ main }: Row, position: number): void {
  const isKey = position <= 9;
  const place = main.querySelector(".position")!;
  place.textContent = String(position);
  place.classList.toggle("keyless", !isKey);
  if (isKey) main.setAttribute("aria-keyshortcuts", String(position));
  else main.removeAttribute("aria-keyshortcuts");
}

/** Updates an item's row to its rank `position` (from 1) and its side of the divider. */
export function paintItem(row: Row, position: number, size: number, positive: boolean, picked: boolean, words: Wording): void {
  const side = positive ? words.positive : words.negative;
  row.element.classList.toggle("below", !positive);
  row.element.classList.toggle("picked", picked);
  row.main.setAttribute("aria-pressed", String(picked));
  paintPlace(row, position);
  row.main.querySelector(".where")!.textContent = `, ${position} of ${size}, ${side}`;
}

/** Moving up increases the slider's value, so the value counts the items below; the text counts those above, as people do. */
export function paintDivider(row: Row, nPositive: number, size: number, picked: boolean, words: Wording): void {
  row.element.classList.toggle("picked", picked);
  row.main.setAttribute("aria-valuenow", String(size - nPositive));
  row.main.setAttribute("aria-valuetext", share(nPositive, size, words));
  row.main.querySelector(".share")!.textContent = share(nPositive, size, words);
}

/** Disables the arrows that lead beyond the ends of the list. */
export function paintEnds(row: Row, first: boolean, last: boolean): void {
  const [up, down] = row.element.querySelectorAll<HTMLButtonElement>(".step");
  if (up) up.ariaDisabled = String(first);
  if (down) down.ariaDisabled = String(last);
}
