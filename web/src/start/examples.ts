/** The examples of a start: what was typed on each side, and the items that were clicked. */

import type { Item, StartIn } from "../kit/wire";
import { typedNames } from "./names";

export type Side = "like" | "unlike";
export const SIDES: readonly Side[] = ["like", "unlike"];

/** An item that was clicked, and for which side. */
export interface Clicked {
  item: Item;
  side: Side;
}

/** Everything that is needed to show the examples again. */
export interface Sketch {
  text: Record<Side, string>;
  clicked: Clicked[];
}

export class Examples {
  private readonly text: Record<Side, string>;
  private readonly clicked: Map<string, Clicked>;

  /** `before`: the examples to go on from. */
  constructor(before: Sketch = { text: { like: "", unlike: "" }, clicked: [] }) {
    this.text = { ...before.text };
    this.clicked = new Map(before.clicked.map((one) => [one.item.id, one]));
  }

  get sketch(): Sketch {
    return { text: { ...this.text }, clicked: [...this.clicked.values()] };
  }

  type(side: Side, text: string): void {
    this.text[side] = text;
  }

  /** What was typed on this side. */
  typed(side: Side): string {
    return this.text[side];
  }

  /** Makes the item an example of this side, or removes it if it already is one. */
  click(item: Item, side: Side): void {
    if (this.sideOf(item) === side) this.clicked.delete(item.id);
    else this.clicked.set(item.id, { item, side });
  }

  sideOf(item: Item): Side | null {
    return this.clicked.get(item.id)?.side ?? null;
  }

  /** The items that were clicked for this side, in the order of the clicks. */
  items(side: Side): Item[] {
    return [...this.clicked.values()].filter((one) => one.side === side).map(({ item }) => item);
  }

  /** The examples in the form that the server expects. */
  names(): Required<StartIn> {
    const of = (side: Side): string[] => [...typedNames(this.text[side]), ...this.items(side).map(({ id }) => id)];
    return { like: of("like"), unlike: of("unlike") };
  }

  get empty(): boolean {
    const { like, unlike } = this.names();
    return like.length + unlike.length === 0;
  }
}
