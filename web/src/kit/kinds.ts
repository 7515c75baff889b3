/** Kinds of question by name. What is said of them comes from the server. */

import type { Kind } from "./wire";

/** This page is older than the server, or a kind has no screen: nothing else is shown in its place. */
export class UnknownKindError extends Error {
  override readonly name = "UnknownKindError";
  constructor(kind: string) {
    super(`This page cannot show “${kind}” questions; reload it, or ask the owner to update tellmore`);
  }
}

export function kindOf(name: string, kinds: readonly Kind[]): Kind {
  const found = kinds.find((kind) => kind.name === name);
  if (!found) throw new UnknownKindError(name);
  return found;
}

/** What a project may ask; kinds for experiments are left out unless they are `used` already. */
export function offeredKinds(kinds: readonly Kind[], used: readonly string[]): Kind[] {
  return kinds.filter(({ name, laboratory }) => !laboratory || used.includes(name));
}

export function capitalised(word: string): string {
  return word.charAt(0).toLocaleUpperCase() + word.slice(1);
}

/** The short name of a kind, or of a family of several kinds; a kind of which the server says nothing goes by its own name. */
export function kindTitle(name: string, kinds: readonly Kind[]): string {
  const family = kinds.filter((kind) => kind.family === name);
  if (family.length > 1) return capitalised(name);
  return (family[0] ?? kinds.find((kind) => kind.name === name))?.title ?? name;
}

/** Title and size; a kind that always shows the same number of items goes without it. */
export function questionTitle(name: string, size: number, kinds: readonly Kind[]): string {
  const asked = kinds.filter((kind) => kind.name === name || kind.family === name);
  const fixed = asked.length > 0 && asked.every(({ sizes: [fewest, most] }) => fewest === most);
  return fixed ? kindTitle(name, kinds) : `${kindTitle(name, kinds)} ${size}`;
}
