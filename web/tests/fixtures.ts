/** Small pools and words for the tests. */

import type { Kind, Question, Wording } from "../src/kit/wire";

export const WORDS: Wording = { name: "Demo", attribute: "positive", positive: "positive", negative: "negative", instruction: "" };

export function question(kind: Kind, ...ids: string[]): Question {
  return { id: "q1", kind, items: ids.map((id) => ({ id, text: id })) };
}

export function press(key: string, options: KeyboardEventInit = {}): KeyboardEvent {
  const event = new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true, ...options });
  (document.activeElement ?? document.body).dispatchEvent(event);
  return event;
}
