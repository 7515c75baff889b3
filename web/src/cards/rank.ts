/** Rank: one list and a movable divider. Four equal ways to move: drag, buttons, click item then place, keyboard. */

import { focusedNear, h } from "../kit/dom";
import { icon } from "../kit/icons";
import { type Binding, type KeyHelp, keycap } from "../kit/keyboard";
import type { Item } from "../kit/wire";
import type { Card, CardContext } from "./card";
import { itemName } from "./item";
import { makeDraggable } from "./rank-drag";
import { DIVIDER, type Entry, initialOrder, isRanking, itemsOf, moved, nPositive, type RankAnswer, restoredOrder, sameOrder, toAnswer } from "./rank-order";
import { dividerRow, itemRow, paintDivider, paintEnds, paintItem, paintLevel, type Row, share } from "./rank-rows";
import { holding, NO_TIES, partner, places, restLevel, restoredTies, type Ties, toggled, withTies } from "./rank-ties";

class RankCard implements Card {
  readonly element = h("div", { class: "card-body rank-card" });
  private readonly list: HTMLOListElement;
  private readonly rows = new Map<Entry, Row>();
  private readonly send = h("button", { type: "button", class: "button primary" });
  private readonly hint = h("p", { class: "prompt" });
  private readonly size: number;
  private readonly undrag: () => void;
  /** Ties the picked item with everything below it; only if the project allows ties. */
  private readonly rest = h("button", { type: "button", class: "button quiet rest", "aria-keyshortcuts": "T" });
  private readonly allowsTies: boolean;
  private entries: Entry[];
  private ties: Ties = NO_TIES;
  private picked: Entry | null = null;
  /** Whether the person has moved an item; until then the order is random. */
  private ordered: boolean;

  constructor(private readonly context: CardContext) {
    const { question, kind, words } = context;
    this.size = question.items.length;
    const start = context.sketch ?? context.previous;
    const restored = restoredOrder(question.items, start);
    this.entries = restored ?? initialOrder(question.items);
    this.ordered = restored !== null && isRanking(context.sketch) && context.sketch.ordered === true;
    this.allowsTies = words.ties ?? false;
    if (this.allowsTies) this.ties = restoredTies(this.entries, start);
    this.list = h("ol", { class: "ranking", "aria-label": kind.ask });
    this.list.style.setProperty("--rows", String(this.size));
    this.list.append(...this.entries.map((entry) => this.makeRow(entry).element));
    this.undrag = makeDraggable(this.list, (from, to) => this.move(this.entries[from]!, to));
    this.send.addEventListener("click", () => this.submit());
    this.rest.append(icon("level"), h("span", {}, "The rest are tied"), keycap("T"));
    this.rest.addEventListener("click", () => this.levelRest());
    this.element.append(
      h("p", { class: "pole pole-positive" }, `Most ${words.attribute}`),
      this.list,
      h("div", { class: "list-end" }, h("p", { class: "pole pole-negative" }, `Least ${words.attribute}`), this.allowsTies && this.rest),
      h("div", { class: "sending" }, this.hint, this.send),
    );
    this.paint();
  }

  get bindings(): Binding[] {
    const digits = Array.from({ length: Math.min(this.size, 9) }, (_, index) => ({
      keys: [String(index + 1)],
      run: () => this.pick(itemsOf(this.entries)[index]!, false),
    }));
    return [
      ...digits,
      { keys: ["0"], run: () => this.pick(DIVIDER, false) },
      { keys: ["ArrowUp", "ArrowLeft"], run: () => this.arrow(-1) },
      { keys: ["ArrowDown", "ArrowRight"], run: () => this.arrow(1) },
      { keys: ["Escape"], run: () => this.pick(null, false) },
      { keys: ["Enter"], run: () => this.enter() },
      { keys: ["r"], run: () => this.confirmOrder() },
      ...(this.allowsTies ? this.tieBindings : []),
    ];
  }

  private get tieBindings(): Binding[] {
    return [
      { keys: ["l"], run: () => this.levelAtHand() },
      { keys: ["t"], run: () => this.levelRest() },
    ];
  }

  get keys(): KeyHelp[] {
    const ties: KeyHelp[] = [
      [["L"], "tie the item picked up or in focus with the next"],
      [["T"], "tie the item picked up with all below it"],
    ];
    return [
      [["1", "…", String(Math.min(this.size, 9))], "pick up an item to move it"],
      [["0"], "pick up the divider"],
      [["↑", "↓"], "move what is picked up; otherwise move between items"],
      [["Esc"], "put down what is picked up"],
      [["↵"], "submit"],
      [["R"], "this order is right (nothing moved)"],
      ...(this.allowsTies ? ties : []),
    ];
  }

  sketch(): RankAnswer {
    const order = itemsOf(this.entries).map((item) => item.id);
    return { type: "rank", order, n_positive: nPositive(this.entries), ties: places(this.ties, this.entries), ordered: this.ordered };
  }

  dispose(): void {
    this.undrag();
  }

  private makeRow(entry: Entry): Row {
    const actions = {
      pick: (byKeyboard: boolean) => this.clicked(entry, byKeyboard),
      step: (by: number) => this.step(entry, by),
      ...(this.allowsTies && entry !== DIVIDER ? { level: () => this.level(entry) } : {}),
    };
    const row = entry === DIVIDER ? dividerRow(this.size, actions) : itemRow(entry, this.context.question.items.indexOf(entry) + 1, actions);
    this.rows.set(entry, row);
    return row;
  }

  /** A click picks a row up; the next click, on another row, puts it there. */
  private clicked(entry: Entry, byKeyboard: boolean): void {
    if (this.picked !== null && this.picked !== entry) {
      this.move(this.picked, this.entries.indexOf(entry));
      this.pick(null, byKeyboard);
    } else this.pick(this.picked === entry ? null : entry, byKeyboard);
  }

  /** `byKeyboard`: the row keeps the focus; otherwise the card takes it, so that Enter submits. */
  private pick(entry: Entry | null, byKeyboard: boolean): void {
    this.picked = entry;
    this.paint();
    if (!byKeyboard) this.element.closest<HTMLElement>("[tabindex]")?.focus({ preventScroll: true });
    if (entry !== null) this.context.announce(`${this.describe(entry)} Picked up: arrows move it, or choose its place.`);
  }

  private step(entry: Entry, by: number): void {
    const focused = focusedNear(this.element);
    this.move(entry, this.entries.indexOf(entry) + by);
    // A row loses the focus when it is moved in the document.
    if (focused instanceof HTMLElement && this.element.contains(focused)) focused.focus({ preventScroll: true });
  }

  /** Arrows move the picked row; if none is picked up, they move the focus. */
  private arrow(by: number): void {
    if (this.picked !== null) return this.step(this.picked, by);
    const focused = this.focused();
    const next = focused < 0 ? (by > 0 ? 0 : this.size) : focused + by;
    const entry = this.entries[next];
    if (entry !== undefined) this.rows.get(entry)!.main.focus();
  }

  /** Index of the entry whose row has the focus; -1 if there is none. */
  private focused(): number {
    return this.entries.findIndex((entry) => this.rows.get(entry)!.element.contains(focusedNear(this.element)));
  }

  /** L ties the picked row, or else the row in focus, with the next. */
  private levelAtHand(): void {
    const entry = this.picked ?? this.entries[this.focused()];
    if (entry === undefined || entry === DIVIDER) this.say("First pick up an item; L ties it with the next.");
    else this.level(entry);
  }

  private level(item: Item): void {
    const below = partner(this.entries, item);
    if (below === null) return this.say(`${itemName(item)} has no next item on its side of the divider.`);
    this.tie(toggled(this.ties, this.entries, item));
    this.context.announce(`${itemName(item)} and ${itemName(below)} are ${this.ties.has(item) ? "tied" : "no longer tied"}.`);
  }

  /** T ends a partial ranking: the picked item and everything below it are tied, on each side of the divider. */
  private levelRest(): void {
    const first = this.picked;
    if (first === null || first === DIVIDER) return this.say("First pick up the topmost item to be tied.");
    this.tie(restLevel(this.ties, this.entries, first));
    this.pick(null, false);
    const apart = this.entries.indexOf(first) < nPositive(this.entries) && nPositive(this.entries) < this.size;
    this.context.announce(`${itemName(first)} and all items below it are tied${apart ? ", on each side of the divider" : ""}.`);
  }

  private tie(ties: Ties): void {
    this.ties = ties;
    this.context.moved();
    this.paint();
  }

  /** Shows and announces why nothing happened. */
  private say(message: string): void {
    this.hint.textContent = message;
    this.context.announce(message);
  }

  private move(entry: Entry, to: number): void {
    const next = moved(this.entries, this.entries.indexOf(entry), to);
    if (sameOrder(next, this.entries)) return;
    this.ordered ||= !sameOrder(itemsOf(next), itemsOf(this.entries));
    this.entries = next;
    const parted = this.partTies();
    this.context.moved();
    this.arrange();
    this.paint();
    this.context.announce([this.describe(entry), ...parted].join(" "));
  }

  /** Removes the ties that a move broke; returns a message for each. */
  private partTies(): string[] {
    const before = this.ties;
    this.ties = holding(before, this.entries);
    return [...before].filter(([upper]) => !this.ties.has(upper)).map(([upper, lower]) => `${itemName(upper)} and ${itemName(lower)} are no longer tied.`);
  }

  /** Puts the rows in the order of the entries; rows that are already in place are not touched. */
  private arrange(): void {
    this.entries.forEach((entry, index) => {
      const { element } = this.rows.get(entry)!;
      if (this.list.children[index] !== element) this.list.insertBefore(element, this.list.children[index] ?? null);
    });
  }

  private describe(entry: Entry): string {
    const { words } = this.context;
    const above = nPositive(this.entries);
    if (entry === DIVIDER) return `Divider: ${share(above, this.size, words)}.`;
    const position = itemsOf(this.entries).indexOf(entry);
    return `${itemName(entry)}: ${position + 1} of ${this.size}, ${position < above ? words.positive : words.negative}.`;
  }

  private enter(): void {
    if (this.ordered) this.submit();
    else this.say("Press R if this order is right, or move an item.");
  }

  private confirmOrder(): void {
    if (!this.ordered) this.submit();
  }

  private submit(): void {
    this.context.submit(withTies(toAnswer(this.entries), this.ties, this.entries));
  }

  private paint(): void {
    const { words } = this.context;
    const above = nPositive(this.entries);
    this.entries.forEach((entry, index) => {
      const row = this.rows.get(entry)!;
      const picked = this.picked === entry;
      if (entry === DIVIDER) paintDivider(row, above, this.size, picked, words);
      else {
        paintItem(row, index + (index < above ? 1 : 0), this.size, index < above, picked, words);
        paintLevel(row, entry, partner(this.entries, entry), this.ties.has(entry));
      }
      paintEnds(row, index === 0, index === this.size);
    });
    this.list.classList.toggle("placing", this.picked !== null);
    this.paintSend(share(above, this.size, words));
    this.rest.ariaDisabled = String(this.picked === null || this.picked === DIVIDER);
  }

  private paintSend(shared: string): void {
    const [label, key] = this.ordered ? ["Submit", "Enter"] : ["This order is right", "R"];
    this.hint.textContent = this.ordered ? shared : `${shared}. Not moved yet.`;
    this.send.setAttribute("aria-keyshortcuts", key);
    this.send.replaceChildren(h("span", {}, label), keycap(key === "Enter" ? "↵" : key));
  }
}

export function rankCard(context: CardContext): Card {
  return new RankCard(context);
}
