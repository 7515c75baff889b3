/** What every question card offers to the screen around it, and what it is given. A script of another package follows the same terms. */

import type { Binding, KeyHelp } from "../kit/keyboard";
import type { Answer, Kind, Question, Wording } from "../kit/wire";
import type { Kit } from "./kit";

export interface Card {
  element: HTMLElement;
  /** Shortcuts that belong to this card. */
  bindings: Binding[];
  /** The same keys in words, for the help dialog. */
  keys?: KeyHelp[];
  /** The answer in the making, to be kept over a reload; null where there is nothing to keep. */
  sketch(): Answer | null;
  /** Frees what the card holds outside its own element. */
  dispose(): void;
}

export interface CardContext {
  question: Question;
  /** The kind of the question: its sentence, its help, its sizes. */
  kind: Kind;
  words: Wording;
  /** Whether quicker ways of answering than the paper’s are offered; studies measure the paper’s. */
  quick?: boolean;
  /** What cards are built from, for those that cannot import it. */
  kit: Kit;
  /** The answer that the person took back, as a start for the new one. */
  previous?: Answer | null;
  /** The answer in the making as it was before a reload; it comes before `previous`. */
  sketch?: Answer | null;
  /** The person changed the answer in the making. */
  moved(): void;
  announce(message: string): void;
  /** The answer is complete. */
  submit(answer: Answer): void;
}

export type CardFactory = (context: CardContext) => Card;
