/** Select: choose the item asked for and label it, in two steps or at once; or just submit the choice, if no label is asked for. */

import { h, hiddenText } from "../kit/dom";
import { type Binding, type KeyHelp, keycap } from "../kit/keyboard";
import { capitalised } from "../kit/kinds";
import type { Item } from "../kit/wire";
import type { Card, CardContext } from "./card";
import { itemView, shownName } from "./item";
import { SIGNS, type Verdict, verdict } from "./verdict";
import { zoomButton } from "./zoom";

/** Keys that choose and label at once, one keyboard row per label; none of them has another use here. */
const AT_ONCE = { positive: [..."qwertyuio"], negative: [..."asdfghjkl"] };

/** How the answer is completed once an item is chosen: by one of two labels, or one button. */
interface Ending extends Verdict {
  title: string;
  /** The question about the chosen item, before and after its name. */
  prompt: [before: string, after: string];
  /** Whether an option can be chosen and labelled at once. */
  atOnce: boolean;
}

/** Choose, then label the chosen one. */
export function selectCard(context: CardContext): Card {
  const { words } = context;
  return choosing(context, (end) => ({
    ...verdict(words, false, end),
    title: "Label of the chosen item",
    prompt: ["Is ", ` ${words.positive} or ${words.negative}?`],
    atOnce: context.quick ?? false,
  }));
}

/** Choose only. */
export function choiceCard(context: CardContext): Card {
  return choosing(context, (end) => {
    const button = h("button", { type: "button", class: "button primary", "aria-keyshortcuts": "Enter" }, h("span", {}, "Submit"), keycap("↵"));
    button.addEventListener("click", () => end(null));
    const bindings = [{ keys: ["Enter"], run: () => end(null) }];
    return { buttons: [button], bindings, keys: [[["↵"], "submit"]], title: "Submit the chosen item", prompt: ["", " is chosen."], atOnce: false };
  });
}

function choosing(context: CardContext, ending: (end: (positive: boolean | null) => void) => Ending): Card {
  const { items } = context.question;
  const start = context.sketch ?? context.previous;
  let chosen: Item | null = items.find((item) => start?.type === "select" && item.id === start.chosen) ?? null;

  const end = (positive: boolean | null): void => {
    if (chosen) context.submit({ type: "select", chosen: chosen.id, positive });
    else context.announce("First choose an item.");
  };
  const { buttons, bindings, keys, title, prompt, atOnce } = ending(end);
  const asked = h("p", { class: "prompt" });
  const options = items.map((item, index) => option(item, index, () => choose(index)));
  const nameOf = (item: Item): string => shownName(item, items.indexOf(item) + 1);

  const show = (): void => {
    options.forEach((button, index) => button.setAttribute("aria-pressed", String(items[index] === chosen)));
    for (const button of buttons) button.disabled = chosen === null;
    const [before, after] = prompt;
    asked.replaceChildren(...(chosen ? [before, h("strong", { dir: "auto" }, nameOf(chosen)), after] : [atOnce ? "Choose one and label it here, or press its + or − to do both at once." : "Choose one first."]));
  };
  const choose = (index: number): void => {
    const item = items[index];
    if (!item || item === chosen) return;
    chosen = item;
    context.moved();
    show();
    context.announce(`Chosen: ${nameOf(item)}. ${asked.textContent}`);
  };
  const answer = (index: number, positive: boolean): void => {
    choose(index);
    end(positive);
  };
  const step = (by: number): void => {
    const now = chosen ? items.indexOf(chosen) : by > 0 ? -1 : items.length;
    const next = Math.min(Math.max(now + by, 0), items.length - 1);
    choose(next);
    options[next]?.focus();
  };

  show();
  const element = h("div", { class: "card-body select-card" });
  const list = h("ul", { class: "options", "aria-label": context.kind.ask, "data-images": items.some((item) => item.image) && items.length });
  const labels = (index: number): HTMLElement | false => atOnce && labelButtons(nameOf(items[index]!), index, context, answer);
  list.append(...options.map((button, index) => h("li", {}, button, zoomButton(items[index]!, index + 1, button), labels(index))));
  element.append(list, h("div", { class: "labelling" }, asked, h("div", { class: "verdicts", role: "group", "aria-label": title }, ...buttons)));
  return {
    element,
    bindings: [...bindings, ...choices(items.length, choose, step), ...(atOnce ? answers(items.length, answer) : [])],
    keys: [[["1", "…", String(Math.min(items.length, 9))], "choose an item"], [["↑", "↓"], "choose the one before or after"], ...keys, ...(atOnce ? atOnceKeys(items.length, context) : [])],
    sketch: () => chosen && { type: "select", chosen: chosen.id },
    dispose: () => {},
  };
}

function option(item: Item, index: number, choose: () => void): HTMLButtonElement {
  const isKey = index < 9;
  const button = h("button", { type: "button", class: "option", "aria-pressed": "false", "aria-keyshortcuts": isKey && index + 1 });
  const cap = keycap(String(index + 1));
  cap.classList.toggle("keyless", !isKey);
  button.append(cap, itemView(item));
  button.addEventListener("click", choose);
  return button;
}

function choices(size: number, choose: (index: number) => void, step: (by: number) => void): Binding[] {
  const digits = Array.from({ length: Math.min(size, 9) }, (_, index) => ({ keys: [String(index + 1)], run: () => choose(index) }));
  return [...digits, { keys: ["ArrowUp"], run: () => step(-1) }, { keys: ["ArrowDown"], run: () => step(1) }];
}

/** Two small buttons next to an option, which choose and label it at once. The style sheet shows their words where there is room. */
function labelButtons(name: string, index: number, { words }: CardContext, answer: (index: number, positive: boolean) => void): HTMLElement {
  const buttons = SIGNS.map(({ positive, sign }) => {
    const key = AT_ONCE[positive ? "positive" : "negative"][index]?.toUpperCase();
    const label = positive ? words.positive : words.negative;
    const button = h("button", { type: "button", class: "at-once", title: `Choose, ${label}`, "aria-keyshortcuts": key });
    const word = h("span", { class: "at-once-word", "aria-hidden": "true" }, capitalised(label));
    button.append(h("span", { "aria-hidden": "true" }, sign), word, hiddenText(`Choose ${name}, ${label}`), ...(key ? [keycap(key)] : []));
    button.addEventListener("click", () => answer(index, positive));
    return button;
  });
  return h("span", { class: "at-onces" }, ...buttons);
}

function answers(size: number, answer: (index: number, positive: boolean) => void): Binding[] {
  return SIGNS.flatMap(({ positive }) => AT_ONCE[positive ? "positive" : "negative"].slice(0, size).map((key, index) => ({ keys: [key], run: () => answer(index, positive) })));
}

function atOnceKeys(size: number, { words }: CardContext): KeyHelp[] {
  return SIGNS.map(({ positive }) => {
    const keys = AT_ONCE[positive ? "positive" : "negative"].slice(0, size).map((key) => key.toUpperCase());
    return [[keys[0]!, "…", keys.at(-1)!], `choose an item and label it ${positive ? words.positive : words.negative}`];
  });
}
