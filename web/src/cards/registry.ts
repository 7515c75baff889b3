/** Which card shows which kind of question: one of these, or the script in the kind's package. */

import { kindOf, UnknownKindError } from "../kit/kinds";
import { at } from "../kit/place";
import type { Kind } from "../kit/wire";
import type { CardFactory } from "./card";
import { labelCard } from "./label";
import { rankCard } from "./rank";
import { choiceCard, selectCard } from "./select";
import { tickCard } from "./tick";

const BUILT_IN: ReadonlyMap<string, CardFactory> = new Map([
  ["label", labelCard],
  ["select_high", selectCard],
  ["select_low", selectCard],
  ["most_sure", selectCard],
  ["least_sure", choiceCard],
  ["rank", rankCard],
  ["tick", tickCard],
]);

export interface Screen {
  kind: Kind;
  make: CardFactory;
}

/** The kind with this name and its card; a script is fetched when it is first needed. */
export async function screenOf(name: string, kinds: readonly Kind[]): Promise<Screen> {
  const kind = kindOf(name, kinds);
  const make = kind.script === null ? BUILT_IN.get(name) : await load(kind.title, kind.script);
  if (!make) throw new UnknownKindError(name);
  return { kind, make };
}

async function load(title: string, script: string): Promise<CardFactory> {
  let module: { default?: unknown };
  try {
    module = await import(/* @vite-ignore */ at(script));
  } catch (cause) {
    throw new Error(`“${title}” questions cannot be shown, because ${script} could not be loaded; try again, or ask the owner`, { cause });
  }
  if (typeof module.default !== "function") throw new Error(`${script} cannot show “${title}” questions: its default export is not a function; ask the owner to fix it`);
  return module.default as CardFactory;
}
