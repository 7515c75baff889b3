/** The unfinished answer, kept in this tab so that a reload does not lose it; for one question at a time. */

import { isRecord, keptInTab, readJson, type Store } from "./storage";
import type { ClockRecord } from "./timing";
import type { Answer } from "./wire";

export interface Draft {
  question: string;
  /** What the card needs to be restored as the person left it; null if there is nothing to keep. */
  sketch: Answer | null;
  clock: ClockRecord;
}

const KEY = "tellmore.draft";

function isClock(value: unknown): value is ClockRecord {
  if (!isRecord(value)) return false;
  const numbers = [value.onset, value.left, value.left_utc, value.moves];
  return numbers.every(Number.isFinite) && [value.devices, value.hidden, value.blurred, value.away].every(Array.isArray);
}

export class DraftBox {
  constructor(private readonly store: Store = keptInTab) {}

  keep(draft: Draft): void {
    this.store.setItem(KEY, JSON.stringify(draft));
  }

  /** The draft for this question; a draft for another question is deleted. */
  find(question: string): Draft | null {
    const found = readJson(this.store, KEY);
    if (isRecord(found) && found.question === question && isClock(found.clock)) return found as unknown as Draft;
    this.drop();
    return null;
  }

  drop(): void {
    this.store.removeItem(KEY);
  }
}
