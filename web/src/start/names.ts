/** What somebody types as a start. */

/** One entry a line; the server splits those at commas that are no items. A comma that waits for the next word is no part of one. */
export function typedNames(text: string): string[] {
  return text.split("\n").map((line) => line.replace(/^[\s,]+|[\s,]+$/g, "")).filter(Boolean);
}
