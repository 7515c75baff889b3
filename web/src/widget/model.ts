/** The messages between the kernel and the widget. */

import type { Answer, Progress, Question, Timing, Wording } from "../kit/wire";

/** What is shown; the kernel sends a new one after every message of the widget. */
export interface Show {
  /** Null if nothing can be asked; `said` is the reason. */
  question: Question | null;
  /** The answer that was undone, if the question is shown again after an undo. */
  previous: Answer | null;
  progress: Progress;
  /** Why the last answer was refused, or what else went wrong; otherwise empty. */
  said: string;
}

export type Message = { do: "answer"; question_id: string; answer: Answer; timing: Timing } | { do: "undo" } | { do: "ask" };

interface Traits {
  show: Show;
  words: Wording;
}

/** The part of anywidget's model that is used here. */
export interface Model {
  get<Name extends keyof Traits>(name: Name): Traits[Name];
  on(event: "change:show", heard: () => void): void;
  off(event: "change:show", heard: () => void): void;
  send(message: Message): void;
}
