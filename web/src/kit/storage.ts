/** The browser's storage, as far as it can be had: refused, full or cleared, it forgets, and nothing else is lost by that. */

import { PLACE } from "./place";

export type Store = Pick<Storage, "getItem" | "setItem" | "removeItem">;

function attempt<T>(work: () => T): T | null {
  try {
    return work();
  } catch {
    return null;
  }
}

/** `open`: asking for the storage may itself be refused. Projects of one server share it, each under keys of its own. */
export function forgiving(open: () => Store): Store {
  return {
    getItem: (key) => attempt(() => open().getItem(PLACE + key)),
    setItem: (key, value) => void attempt(() => open().setItem(PLACE + key, value)),
    removeItem: (key) => void attempt(() => open().removeItem(PLACE + key)),
  };
}

/** What was stored as JSON; null where there is nothing or it cannot be read. */
export function readJson(store: Store, key: string): unknown {
  return attempt((): unknown => JSON.parse(store.getItem(key) ?? "null"));
}

/** Kept in this browser. */
export const kept: Store = forgiving(() => localStorage);

/** Kept in this tab. */
export const keptInTab: Store = forgiving(() => sessionStorage);
