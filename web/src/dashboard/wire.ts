/** The JSON of the owner's routes. */

import type { Accuracy, Answer, Item, Kind, Question, Wording } from "../kit/wire";

export interface CurvePoint {
  answers: number;
  minutes: number;
  logdet_per_dim: number;
  bits: number;
}

export interface AccuracyPoint extends Accuracy {
  answers: number;
  minutes: number;
}

export interface Rate {
  kind: string;
  size: number;
  bits: number;
  bits_se: number;
  seconds: number;
  bits_per_second: number;
  best: boolean;
}

export interface ScoredItem extends Item {
  probability: number;
  score: number;
  score_sd: number;
}

export interface Person {
  participant: string;
  name: string;
  answers: number;
  skips: number;
  undone: number;
  median_s: number | null;
  minutes: number;
  agreement: number | null;
  last_utc: string | null;
  open: boolean;
}

export interface Dashboard {
  project: Wording;
  answers: number;
  skips: number;
  minutes: number;
  accuracy: Accuracy | null;
  target_accuracy: number;
  minutes_left: number | null;
  stop: boolean;
  stop_reason: string | null;
  curve: CurvePoint[];
  accuracy_curve: AccuracyPoint[];
  rates: Rate[];
  /** Kind and size now asked, for example "rank 4". */
  now: string;
  histogram: { edges: number[]; counts: number[] };
  most_positive: ScoredItem[];
  most_negative: ScoredItem[];
  most_uncertain: ScoredItem[];
  positive_share: number;
  threshold: number;
  pool_size: number;
  annotators: Person[];
}

export interface LogRow {
  seq: number;
  t_utc: string;
  participant: string;
  question_id: string;
  kind: Kind;
  items: Item[];
  answer: Answer | null;
  rt_ms: number | null;
  stale: boolean;
  check: boolean;
  late: boolean;
  undone: boolean;
}

export interface Log {
  rows: LogRow[];
  total: number;
}

export interface Settings {
  name: string;
  attribute: string;
  positive: string;
  negative: string;
  instruction: string;
  question: string;
  kinds: Kind[];
  sizes: number[];
  set_size: number;
  target_accuracy: number;
  check_share: number;
  ties: boolean;
  seeds_positive: string[];
  seeds_negative: string[];
}

export interface Preview {
  project: Wording;
  question: Question;
}

export interface Invitation {
  id: string;
  name: string;
  role: string;
  participant: string;
  created_utc: string;
  revoked: boolean;
  url?: string | null;
}
