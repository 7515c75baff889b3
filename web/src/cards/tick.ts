/** Tick: a grid of items; tick every one that is positive, then submit. */

import { focusedNear, h } from "../kit/dom";
import { type Binding, type KeyHelp, keycap } from "../kit/keyboard";
import type { Answer, Item } from "../kit/wire";
import type { Card, CardContext } from "./card";
import { itemText, itemView, shownName, textLength } from "./item";
import { zoomButton } from "./zoom";

/** One key for each item; none of these letters has another use on the question page. */
const KEYS = [..."123456789qwertyuopsdfghj"];

/** The number of rows for photographs, so that all are visible at once: [up to this many items, this many rows]. */
const ROWS = [
  [4, 1],
  [8, 2],
  [15, 3],
  [Number.POSITIVE_INFINITY, 4],
] as const;

export function tickCard(context: CardContext): Card {
  return new TickCard(context);
}

class TickCard implements Card {
  readonly element = h("div", { class: "card-body tick-card" });
  private readonly items: Item[];
  private readonly boxes: HTMLInputElement[];
  private readonly send = h("button", { type: "button", class: "button primary tick-send" });
  private readonly hint = h("p", { class: "prompt" });

  constructor(private readonly context: CardContext) {
    this.items = context.question.items;
    const before = ticked(context.sketch ?? context.previous);
    this.boxes = this.items.map((item, index) => this.box(item, index, before.includes(item.id)));
    const grid = h("div", { class: "ticks", role: "group", "aria-label": context.kind.ask, ...layout(this.items) });
    grid.style.setProperty("--rows", String(rows(this.items.length)));
    grid.style.setProperty("--columns", String(Math.ceil(this.items.length / rows(this.items.length))));
    grid.append(...this.boxes.map((box, index) => cell(this.items[index]!, index, box)));
    this.send.addEventListener("click", () => this.submit());
    const all = tool("Tick all", "A", () => this.set(() => true));
    const invert = tool("Invert", "I", () => this.set((box) => !box.checked));
    this.element.append(grid, h("div", { class: "tick-bar" }, all, invert, this.hint, this.send));
    this.paint();
  }

  get bindings(): Binding[] {
    const one = this.boxes.map((_, index) => ({ keys: KEYS[index] ? [KEYS[index]] : [], run: () => this.toggle(index) }));
    return [
      ...one,
      { keys: ["a"], run: () => this.set(() => true) },
      { keys: ["i"], run: () => this.set((box) => !box.checked) },
      { keys: ["n"], run: () => this.none() },
      { keys: ["Enter"], run: () => this.submit() },
      { keys: ["ArrowLeft"], run: () => this.walk(-1, 0) },
      { keys: ["ArrowRight"], run: () => this.walk(1, 0) },
      { keys: ["ArrowUp"], run: () => this.walk(0, -1) },
      { keys: ["ArrowDown"], run: () => this.walk(0, 1) },
    ];
  }

  get keys(): KeyHelp[] {
    const last = KEYS[Math.min(this.items.length, KEYS.length) - 1]!.toUpperCase();
    return [
      [["1", "…", last], "tick or untick the item that shows the key"],
      [["←", "↑", "↓", "→"], "move between items; Space then ticks or unticks"],
      [["A"], "tick all"],
      [["I"], "invert: untick what is ticked, tick the others"],
      [["N"], "none of these (nothing ticked)"],
      [["↵"], "submit"],
    ];
  }

  sketch(): Answer {
    return { type: "tick", positive: this.positive() };
  }

  dispose(): void {}

  private box(item: Item, index: number, checked: boolean): HTMLInputElement {
    const box = h("input", { type: "checkbox", class: "tick-box", "data-id": item.id, "aria-keyshortcuts": KEYS[index]?.toUpperCase() });
    box.checked = checked;
    box.addEventListener("change", () => this.changed(index));
    // After a click the card takes the focus, so that Enter submits and Space skips; keyboard users keep it in the grid.
    box.addEventListener("click", (event) => event.detail > 0 && this.element.closest<HTMLElement>("[tabindex]")?.focus({ preventScroll: true }));
    return box;
  }

  private positive(): string[] {
    return this.items.filter((_, index) => this.boxes[index]!.checked).map((item) => item.id);
  }

  private toggle(index: number): void {
    const box = this.boxes[index]!;
    box.checked = !box.checked;
    this.changed(index);
  }

  private set(wanted: (box: HTMLInputElement) => boolean): void {
    const changing = this.boxes.filter((box) => box.checked !== wanted(box));
    if (!changing.length) return;
    for (const box of changing) box.checked = !box.checked;
    this.context.moved();
    this.paint();
    this.context.announce(`${this.share()} ticked.`);
  }

  private changed(index: number): void {
    this.context.moved();
    this.paint();
    const state = this.boxes[index]!.checked ? "ticked" : "not ticked";
    this.context.announce(`${shownName(this.items[index]!, index + 1)}: ${state}. ${this.share()} ticked.`);
  }

  private share(): string {
    return `${this.positive().length} of ${this.items.length}`;
  }

  /** Moves the focus in the grid as currently laid out; a step past the edge does nothing. */
  private walk(right: number, down: number): void {
    const last = this.boxes.length - 1;
    const at = this.boxes.indexOf(focusedNear(this.element) as HTMLInputElement);
    if (at < 0) return this.boxes[right + down > 0 ? 0 : last]?.focus();
    const columns = this.columns();
    const next = at + right + down * columns;
    const above = Math.floor(at / columns) < Math.floor(last / columns);
    this.boxes[next > last && above ? last : next]?.focus();
  }

  private columns(): number {
    const tops = this.boxes.map((box) => box.parentElement!.offsetTop);
    const second = tops.findIndex((top) => top > tops[0]!);
    return second < 0 ? tops.length : second;
  }

  private none(): void {
    if (!this.positive().length) return this.submit();
    this.hint.textContent = "Untick all for “none of these”.";
    this.context.announce(this.hint.textContent);
  }

  private submit(): void {
    this.context.submit({ type: "tick", positive: this.positive() });
  }

  private paint(): void {
    const none = !this.positive().length;
    this.hint.textContent = "";
    this.send.setAttribute("aria-keyshortcuts", none ? "N Enter" : "Enter");
    this.send.replaceChildren(h("span", {}, none ? "None of these" : `Submit ${this.share()}`), h("span", { class: "keys" }, none && keycap("N"), keycap("↵")));
  }
}

/** Ids that an earlier or unfinished answer has ticked. */
function ticked(start: Answer | null | undefined): unknown[] {
  return start?.type === "tick" && Array.isArray(start.positive) ? start.positive : [];
}

function rows(size: number): number {
  return ROWS.find(([most]) => size <= most)![1];
}

/** The layout for photographs, or for texts by the longest of them. */
function layout(items: Item[]): Record<string, string> {
  if (items.some((item) => item.image)) return { "data-images": "" };
  const lengths = items.map((item) => textLength(itemText(item)));
  return { "data-length": (["very-long", "long"] as const).find((length) => lengths.includes(length)) ?? "short" };
}

/** The checkbox covers the whole cell, so every click reaches it, and ticking changes only colours. */
function cell(item: Item, index: number, box: HTMLInputElement): HTMLElement {
  const key = KEYS[index];
  const mark = h("span", { class: "tick-mark", "aria-hidden": "true" });
  const whole = h("label", { class: "tick" }, mark, itemView(item), key && keycap(key.toUpperCase()), box);
  return h("div", { class: "tick-cell" }, whole, zoomButton(item, index + 1, whole));
}

function tool(label: string, key: string, run: () => void): HTMLButtonElement {
  const button = h("button", { type: "button", class: "button quiet", "aria-keyshortcuts": key }, h("span", {}, label), keycap(key));
  button.addEventListener("click", run);
  return button;
}
