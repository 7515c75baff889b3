/** Small pools and words for the tests. */

import type { CardContext } from "../src/cards/card";
import { kit } from "../src/cards/kit";
import type { Kind, Question, Wording } from "../src/kit/wire";
import { vi } from "vitest";

export function kind(name: string, changes: Partial<Kind> = {}): Kind {
  return { name, family: name, title: name, ask: `Ask ${name}`, help: `Help on ${name}.`, sizes: [2, 10], standard: true, laboratory: false, script: null, ...changes };
}

export const KINDS: Kind[] = [
  kind("label", { title: "Label", sizes: [1, 1] }),
  kind("select_high", { family: "select", title: "Select most" }),
  kind("select_low", { family: "select", title: "Select least" }),
  kind("rank", { title: "Rank" }),
  kind("tick", { title: "Tick", sizes: [2, 24] }),
  kind("least_sure", { title: "Least sure", standard: false, laboratory: true }),
];

export const WORDS: Wording = {
  name: "Demo",
  attribute: "positive",
  positive: "positive",
  negative: "negative",
  instruction: "",
  kinds: KINDS,
  ties: false,
};

export function question(name: string, ...ids: string[]): Question {
  return { id: "q1", kind: name, items: ids.map((id) => ({ id, text: id })) };
}

/** The context of a card; the calls that the card makes are recorded. */
export function contextOf(asked: Question, changes: Partial<CardContext> = {}): CardContext {
  const { kinds } = WORDS;
  const own = kinds.find(({ name }) => name === asked.kind)!;
  return { question: asked, kind: own, words: WORDS, kit, previous: null, moved: vi.fn(), announce: vi.fn(), submit: vi.fn(), ...changes };
}

export function press(key: string, options: KeyboardEventInit = {}): KeyboardEvent {
  const event = new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true, ...options });
  (document.activeElement ?? document.body).dispatchEvent(event);
  return event;
}
