/** The JSON of /api/study. */

import type { Question, Wording } from "../kit/wire";

export type StudyStep = "eligibility" | "consent" | "demographics" | "instructions" | "comprehension" | "practice" | "question" | "debrief" | "done";

export interface Choice {
  question: string;
  options: string[];
}

export interface PersonField {
  name: string;
  question: string;
  type: "number" | "text" | "choice";
  options: string[];
}

export interface StudyState {
  step: StudyStep;
  words: Wording;
  progress: { done: number; total: number };
  text: string | null;
  fields: PersonField[] | null;
  choices: Choice[] | null;
  attempts_left: number | null;
  failed_before: boolean;
  question: Question | null;
  block: number | null;
  first_of_block: boolean;
  outcome: "complete" | "no_consent" | "failed_comprehension" | null;
  code: string | null;
  url: string | null;
}

export interface StudySaved {
  saved: boolean;
  next: StudyState;
}

export type StepValue = boolean | number[] | Record<string, string | number> | string | null;
