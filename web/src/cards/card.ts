/** The interface between a question card and the screen around it. Cards from other packages use the same interface. */

import type { Binding, KeyHelp } from "../kit/keyboard";
import type { Answer, Kind, Question, Wording } from "../kit/wire";
import type { Kit } from "./kit";

export interface Card {
  element: HTMLElement;
  /** Shortcuts that belong to this card. */
  bindings: Binding[];
  /** The same keys in words, for the help dialog. */
  keys?: KeyHelp[];
  /** The unfinished answer, to be kept over a reload; null if there is nothing to keep. */
  sketch(): Answer | null;
  /** Frees everything that the card uses outside its element. */
  dispose(): void;
}

export interface CardContext {
  question: Question;
  /** The kind of the question: its headline, its help, its sizes. */
  kind: Kind;
  words: Wording;
  /** Whether to offer quicker ways of answering than the paper’s. Studies do not, because they measure the paper’s. */
  quick?: boolean;
  /** The building blocks of cards, for cards that cannot import them. */
  kit: Kit;
  /** The answer that was undone, as a start for the new one. */
  previous?: Answer | null;
  /** The unfinished answer from before a reload; it takes precedence over `previous`. */
  sketch?: Answer | null;
  /** To be called when the person has changed the unfinished answer. */
  moved(): void;
  announce(message: string): void;
  /** Sends the complete answer. */
  submit(answer: Answer): void;
}

export type CardFactory = (context: CardContext) => Card;
