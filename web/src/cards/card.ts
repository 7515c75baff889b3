/** What every question card offers to the screen around it. */

import type { Binding } from "../kit/keyboard";
import type { Answer, Question, Wording } from "../kit/wire";

export interface Card {
  element: HTMLElement;
  /** Shortcuts that belong to this card. */
  bindings: Binding[];
  /** Frees what the card holds outside its own element. */
  dispose(): void;
}

export interface CardContext {
  question: Question;
  words: Wording;
  /** The answer that the person took back, as a start for the new one. */
  previous?: Answer | null;
  /** The person changed the answer in the making. */
  moved(): void;
  announce(message: string): void;
  /** The answer is complete. */
  submit(answer: Answer): void;
}
