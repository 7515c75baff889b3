/** Single-key shortcuts for the whole page, or for the widget that has the focus. They can be switched off. A focused control always keeps the keys that it uses itself. */

import { type Child, h, hiddenText } from "./dom";
import { icon } from "./icons";
import { kept } from "./storage";

export interface Binding {
  /** Values of KeyboardEvent.key; "Mod+z" means Ctrl or Cmd with z, and works even if shortcuts are off. */
  keys: string[];
  run: () => void;
}

/** Keys and what they do. */
export type KeyHelp = [caps: string[], does: string];

const STORAGE_KEY = "tellmore.shortcuts";
const TYPING = "input:not([type=checkbox]):not([type=radio]):not([type=range]), textarea, select, [contenteditable=true]";
const PRESSABLE = "button, a[href], summary, input, select, textarea, [role=slider], [role=radio]";
const CHECKBOX = "input[type=checkbox]";
const ARROW_USERS = "[role=slider], input, select, textarea";

function names(event: KeyboardEvent): string | null {
  if (event.altKey) return null;
  const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
  return event.ctrlKey || event.metaKey ? `Mod+${key}` : key;
}

/** Whether the focused element uses the key itself. */
function belongsToFocus(event: KeyboardEvent, key: string): boolean {
  const target = event.target instanceof Element ? event.target : null;
  if (!target) return false;
  if (target.closest(TYPING)) return true;
  if (target.matches(CHECKBOX)) return key === " ";
  if (key === " " || key === "Enter") return target.closest(PRESSABLE) !== null;
  return key.startsWith("Arrow") && target.closest(ARROW_USERS) !== null;
}

export class Keyboard {
  private layers: Binding[][] = [];
  private on: boolean;

  /** `tree`: where to listen for keys: the page, or the shadow tree of a widget in another page. */
  constructor(
    initiallyOn = true,
    private readonly tree: Document | ShadowRoot = document,
  ) {
    const stored = kept.getItem(STORAGE_KEY);
    this.on = stored === null ? initiallyOn : stored === "on";
    this.show();
    tree.addEventListener("keydown", (event) => this.handle(event as KeyboardEvent));
  }

  get enabled(): boolean {
    return this.on;
  }

  /** Remembers the person's choice in this browser. */
  enable(on: boolean): void {
    this.on = on;
    kept.setItem(STORAGE_KEY, on ? "on" : "off");
    this.show();
  }

  /** Adds bindings, which override earlier ones; call the result to remove them. */
  use(bindings: Binding[]): () => void {
    this.layers.push(bindings);
    return () => {
      this.layers = this.layers.filter((layer) => layer !== bindings);
    };
  }

  private show(): void {
    const marked = this.tree instanceof ShadowRoot ? this.tree.host : this.tree.documentElement;
    marked.setAttribute("data-shortcuts", this.on ? "on" : "off");
  }

  private handle(event: KeyboardEvent): void {
    const key = names(event);
    if (key === null || event.defaultPrevented || event.isComposing || this.tree.querySelector("dialog[open]")) return;
    if ((!this.on && !key.startsWith("Mod+")) || belongsToFocus(event, key)) return;
    const binding = [...this.layers].reverse().flat().find((candidate) => candidate.keys.includes(key));
    if (!binding) return;
    event.preventDefault();
    // A key that is held down repeats; only arrows may act repeatedly.
    if (!event.repeat || key.startsWith("Arrow")) binding.run();
  }
}

/** The content of a key cap. The sign for Backspace is an icon, because many fonts lack it or show it too small. */
export function keyFace(label: string): Child[] {
  return label === "⌫" ? [icon("backspace"), hiddenText("Backspace")] : [label];
}

/** A key cap, to show the shortcut on a control. */
export function keycap(label: string): HTMLElement {
  return h("kbd", { "aria-hidden": "true" }, ...keyFace(label));
}
