/** What the kernel and the widget tell each other. */

import type { Answer, Progress, Question, Timing, Wording } from "../kit/wire";

/** What is on show; a new one follows every message of the widget. */
export interface Show {
  /** Null where nothing can be asked; `said` tells why. */
  question: Question | null;
  /** The answer that was taken back, where the question is shown again after an undo. */
  previous: Answer | null;
  progress: Progress;
  /** Why the last answer was refused, or whatever else went wrong; empty where all is well. */
  said: string;
}

export type Message = { do: "answer"; question_id: string; answer: Answer; timing: Timing } | { do: "undo" } | { do: "ask" };

interface Traits {
  show: Show;
  words: Wording;
}

/** As much as is used of what anywidget hands over. */
export interface Model {
  get<Name extends keyof Traits>(name: Name): Traits[Name];
  on(event: "change:show", heard: () => void): void;
  off(event: "change:show", heard: () => void): void;
  send(message: Message): void;
}
