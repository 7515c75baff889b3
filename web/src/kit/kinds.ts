/** Kinds of question by name. Their titles and texts come from the server. */

import type { Kind } from "./wire";

/** This page is older than the server, or the kind has no card. Nothing else is shown in its place. */
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

/** The kinds that a project may ask; those for experiments are left out unless they are already `used`. */
export function offeredKinds(kinds: readonly Kind[], used: readonly string[]): Kind[] {
  return kinds.filter(({ name, laboratory }) => !laboratory || used.includes(name));
}

export function capitalised(word: string): string {
  return word.charAt(0).toLocaleUpperCase() + word.slice(1);
}

/** The title of a kind, or of a family with several kinds; the bare name if the server does not know the kind. */
export function kindTitle(name: string, kinds: readonly Kind[]): string {
  const family = kinds.filter((kind) => kind.family === name);
  if (family.length > 1) return capitalised(name);
  return (family[0] ?? kinds.find((kind) => kind.name === name))?.title ?? name;
}

/** Title and size; the size is left out if the kind always shows the same number of items. */
export function questionTitle(name: string, size: number, kinds: readonly Kind[]): string {
  const asked = kinds.filter((kind) => kind.name === name || kind.family === name);
  const fixed = asked.length > 0 && asked.every(({ sizes: [fewest, most] }) => fewest === most);
  return fixed ? kindTitle(name, kinds) : `${kindTitle(name, kinds)} ${size}`;
}
