/** Select: choose the most (or least) positive of k items, then label the chosen one. */

import { h } from "../kit/dom";
import { type Binding, keycap } from "../kit/keyboard";
import type { Item } from "../kit/wire";
import type { Card, CardContext } from "./card";
import { itemName, itemView } from "./item";
import { verdict } from "./verdict";
import { headline } from "./wording";

export function selectCard(context: CardContext): Card {
  const { question, words } = context;
  const start = context.sketch ?? context.previous;
  const before = start?.type === "select" ? start.chosen : null;
  let chosen: Item | null = question.items.find((item) => item.id === before) ?? null;

  const label = (positive: boolean): void => {
    if (chosen) context.submit({ type: "select", chosen: chosen.id, positive });
    else context.announce("First choose an item.");
  };
  const { buttons, bindings } = verdict(words, false, label);
  const prompt = h("p", { class: "prompt" });

  const options = question.items.map((item, index) => {
    const button = h("button", { type: "button", class: "option", "aria-pressed": "false", "aria-keyshortcuts": index + 1 });
    button.append(keycap(String(index + 1)), itemView(item));
    button.addEventListener("click", () => choose(index));
    return h("li", {}, button);
  });

  /** In words where there are any; a picture goes by its number on screen. */
  const nameOf = (item: Item): string => (item.image && !item.text ? `picture ${question.items.indexOf(item) + 1}` : itemName(item));

  const show = (): void => {
    options.forEach((option, index) => {
      option.firstElementChild?.setAttribute("aria-pressed", String(question.items[index] === chosen));
    });
    for (const button of buttons) button.disabled = chosen === null;
    const choice = chosen && h("strong", { dir: "auto" }, nameOf(chosen));
    prompt.replaceChildren(...(choice ? ["Is ", choice, ` ${words.positive} or ${words.negative}?`] : ["Choose one first."]));
  };

  const choose = (index: number): void => {
    const item = question.items[index];
    if (!item || item === chosen) return;
    chosen = item;
    context.moved();
    show();
    context.announce(`${nameOf(item)} chosen. Is it ${words.positive} or ${words.negative}?`);
  };

  const step = (by: number): void => {
    const now = chosen ? question.items.indexOf(chosen) : by > 0 ? -1 : question.items.length;
    const next = Math.min(Math.max(now + by, 0), question.items.length - 1);
    choose(next);
    options[next]?.querySelector("button")?.focus();
  };

  show();
  const element = h("div", { class: "card-body select-card" });
  element.append(
    h("ul", { class: "options", "aria-label": headline(question.kind, words), "data-images": question.items.some((item) => item.image) && question.items.length }, ...options),
    h("div", { class: "labelling" }, prompt, h("div", { class: "verdicts", role: "group", "aria-label": "Label of the chosen item" }, ...buttons)),
  );
  return { element, bindings: [...bindings, ...choosing(question.items.length, choose, step)], sketch: () => chosen && { type: "select", chosen: chosen.id }, dispose: () => {} };
}

function choosing(size: number, choose: (index: number) => void, step: (by: number) => void): Binding[] {
  const digits = Array.from({ length: Math.min(size, 9) }, (_, index) => ({ keys: [String(index + 1)], run: () => choose(index) }));
  return [...digits, { keys: ["ArrowUp"], run: () => step(-1) }, { keys: ["ArrowDown"], run: () => step(1) }];
}
