/** The JSON that the server and the client exchange on question screens. */

export type Kind = "label" | "select_high" | "select_low" | "rank";

export interface Item {
  id: string;
  text?: string | null;
  image?: string | null;
}

export interface Question {
  id: string;
  kind: Kind;
  items: Item[];
  /** Chosen before the latest answer had been learnt from. */
  stale?: boolean;
}

export type Answer =
  | { type: "label"; positive: boolean }
  | { type: "select"; chosen: string; positive: boolean }
  /** `ties`: places, from 0, whose item is level with the next one. */
  | { type: "rank"; order: string[]; n_positive: number; ties?: number[] }
  | { type: "skip"; reason: "skip" | "cant_tell" };

export type Device = "mouse" | "touch" | "pen" | "keyboard" | "mixed" | "unknown";

/** Start and end of an interval on the page's clock, whole milliseconds. */
export type Interval = [number, number];

/** Raw readings of the page's clock (performance.now()), whole milliseconds; nothing is filtered here. */
export interface Timing {
  onset_ms: number;
  first_action_ms: number | null;
  submit_ms: number;
  moves: number;
  device: Device;
  hidden_ms: number;
  blurred_ms: number;
  latency_ms: number;
  hidden: Interval[];
  blurred: Interval[];
  /** Intervals in which the question was off the screen, by a reload or an undo, and came back; they count as hidden too. */
  away: Interval[];
}

/** The project's own words for what is judged. */
export interface Wording {
  name: string;
  attribute: string;
  positive: string;
  negative: string;
  instruction: string;
  /** One sentence per question kind, in the project's words. */
  ask?: Partial<Record<Kind, string>>;
  /** Whether items of a ranking may be level. */
  ties?: boolean;
}

export interface Me {
  role: "owner" | "annotator" | "participant";
  participant: string;
  project: Wording;
  shortcuts?: boolean;
}

/** Share of random questions that were predicted rightly before they were learnt from, with its interval. */
export interface Accuracy {
  estimate: number;
  low: number;
  high: number;
  n: number;
}

/** How far the work is; accuracy and time left come to the owner only. */
export interface Progress {
  answers: number;
  minutes: number;
  accuracy?: Accuracy | null;
  minutes_left?: number | null;
  can_undo?: number;
}

/** What the server wants shown next; without a question, why there is none. */
export interface Turn {
  question: Question | null;
  reason?: string | null;
  progress?: Progress | null;
}

export interface Submission {
  question_id: string;
  answer: Answer;
  timing: Timing;
}

export interface Saved {
  saved: boolean;
  next: Turn;
}

export interface Undone {
  undone: string;
  previous?: Answer | null;
  next: Turn;
}
