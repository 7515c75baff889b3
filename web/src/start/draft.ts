/** The examples on the first screen, kept in this tab until they are saved or skipped, so that a reload does not lose them. */

import { isRecord, keptInTab, readJson, type Store } from "../kit/storage";
import type { Clicked, Side, Sketch } from "./examples";

function isSide(value: unknown): value is Side {
  return value === "like" || value === "unlike";
}

function isClicked(value: unknown): value is Clicked {
  return isRecord(value) && isSide(value.side) && isRecord(value.item) && typeof value.item.id === "string";
}

function isSketch(value: unknown): value is Sketch {
  if (!isRecord(value) || !isRecord(value.text) || !Array.isArray(value.clicked)) return false;
  return typeof value.text.like === "string" && typeof value.text.unlike === "string" && value.clicked.every(isClicked);
}

/** The examples of one project. */
export class StartDraft {
  private readonly key: string;

  constructor(
    project: string,
    private readonly store: Store = keptInTab,
  ) {
    this.key = `tellmore.start.draft.${project}`;
  }

  keep(sketch: Sketch): void {
    this.store.setItem(this.key, JSON.stringify(sketch));
  }

  find(): Sketch | undefined {
    const found = readJson(this.store, this.key);
    return isSketch(found) ? found : undefined;
  }

  drop(): void {
    this.store.removeItem(this.key);
  }
}
