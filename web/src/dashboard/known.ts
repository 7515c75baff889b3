/** Whether anything is known of the items. */

import type { Dashboard } from "../kit/wire";

export type Known = Pick<Dashboard, "answers" | "most_positive" | "most_negative">;

/** Whether items differ in their probability: without a start and before the first answer, all have one half. */
export function somethingKnown({ answers, most_positive, most_negative }: Known): boolean {
  return answers > 0 || [...most_positive, ...most_negative].some(({ probability }) => Math.abs(probability - 0.5) > 0.005);
}
