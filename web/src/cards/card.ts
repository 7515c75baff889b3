/** What every question card offers to the screen around it. */

import type { Sketch } from "../kit/draft";
import type { Binding } from "../kit/keyboard";
import type { Answer, Question, Wording } from "../kit/wire";

export interface Card {
  element: HTMLElement;
  /** Shortcuts that belong to this card. */
  bindings: Binding[];
  /** The answer in the making, to be kept over a reload; null where there is nothing to keep. */
  sketch(): Sketch | null;
  /** Frees what the card holds outside its own element. */
  dispose(): void;
}

export interface CardContext {
  question: Question;
  words: Wording;
  /** The answer that the person took back, as a start for the new one. */
  previous?: Answer | null;
  /** The answer in the making as it was before a reload; it comes before `previous`. */
  sketch?: Sketch | null;
  /** The person changed the answer in the making. */
  moved(): void;
  announce(message: string): void;
  /** The answer is complete. */
  submit(answer: Answer): void;
}
