/** The browser's storage. If it is blocked, full or cleared, nothing is stored, and everything else still works. */

import { PLACE } from "./place";

export type Store = Pick<Storage, "getItem" | "setItem" | "removeItem">;

function attempt<T>(work: () => T): T | null {
  try {
    return work();
  } catch {
    return null;
  }
}

/** `open` may itself throw, if storage is blocked. Projects on one server share the storage, each with its own keys. */
export function forgiving(open: () => Store): Store {
  return {
    getItem: (key) => attempt(() => open().getItem(PLACE + key)),
    setItem: (key, value) => void attempt(() => open().setItem(PLACE + key, value)),
    removeItem: (key) => void attempt(() => open().removeItem(PLACE + key)),
  };
}

/** The value stored as JSON; null if there is none or it cannot be read. */
export function readJson(store: Store, key: string): unknown {
  return attempt((): unknown => JSON.parse(store.getItem(key) ?? "null"));
}

/** Whether a value read as JSON has named parts. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}

/** Kept in this browser. */
export const kept: Store = forgiving(() => localStorage);

/** Kept in this tab. */
export const keptInTab: Store = forgiving(() => sessionStorage);
