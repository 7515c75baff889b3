/** Unsent answers: kept in the browser until the server acknowledges them, sent in order, repeatedly if necessary. */

import { ApiError, type Reply, request, untilReached } from "./api";
import { kept, readJson, type Store } from "./storage";

export type OutboxState = "idle" | "saving" | "saved" | "offline";

export interface Entry {
  question_id: string;
}

export interface OutboxOptions<E extends Entry, R> {
  /** Where unsent entries are kept; one name per person. */
  name: string;
  send?: (entry: E) => Promise<Reply<R>>;
  storage?: Store;
  onState?: (state: OutboxState) => void;
}

/** A queue that survives a reload. Sending twice is harmless, because the server identifies an answer by its question id. */
export class Outbox<E extends Entry, R> {
  private readonly key: string;
  private readonly send: (entry: E) => Promise<Reply<R>>;
  private readonly storage: Store;
  private readonly onState: (state: OutboxState) => void;
  private sending: Promise<unknown> = Promise.resolve();

  constructor(path: string, options: OutboxOptions<E, R>) {
    this.key = `tellmore.outbox.${options.name}`;
    this.send = options.send ?? ((entry) => request<R>("POST", path, entry));
    this.storage = options.storage ?? kept;
    this.onState = options.onState ?? (() => {});
  }

  /** Entries not yet acknowledged, oldest first. */
  pending(): E[] {
    const stored = readJson(this.storage, this.key);
    return Array.isArray(stored) ? (stored as E[]) : [];
  }

  /** Stores `entry`, sends it after those before it, and resolves with the server's acknowledgement. */
  put(entry: E): Promise<Reply<R>> {
    this.store([...this.pending().filter((other) => other.question_id !== entry.question_id), entry]);
    return this.enqueue(() => this.deliver(entry));
  }

  /** Sends entries left from an earlier visit; those that the server refuses are dropped and counted. */
  async flush(): Promise<{ sent: number; refused: number }> {
    const counts = { sent: 0, refused: 0 };
    for (const entry of this.pending()) {
      try {
        await this.enqueue(() => this.deliver(entry));
        counts.sent += 1;
      } catch (error) {
        if (!(error instanceof ApiError) || error.status === 401) throw error;
        counts.refused += 1;
      }
    }
    return counts;
  }

  private enqueue<T>(work: () => Promise<T>): Promise<T> {
    const next = this.sending.then(work, work);
    this.sending = next.catch(() => {});
    return next;
  }

  private async deliver(entry: E): Promise<Reply<R>> {
    this.onState("saving");
    try {
      const reply = await untilReached(
        () => this.send(entry),
        () => this.onState("offline"),
      );
      this.forget(entry);
      this.onState("saved");
      return reply;
    } catch (error) {
      // If the session is lost, the answer is kept for the next sign-in; any other refusal is final.
      if (!(error instanceof ApiError && error.status === 401)) this.forget(entry);
      this.onState("idle");
      throw error;
    }
  }

  private forget(entry: E): void {
    this.store(this.pending().filter((other) => other.question_id !== entry.question_id));
  }

  private store(entries: E[]): void {
    if (entries.length) this.storage.setItem(this.key, JSON.stringify(entries));
    else this.storage.removeItem(this.key);
  }
}
