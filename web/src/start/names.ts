/** Reads what somebody types as a start. */

/** One entry per line; the server splits at commas those that are not items. Commas at the ends are dropped: more may be typed there. */
export function typedNames(text: string): string[] {
  return text.split("\n").map((line) => line.replace(/^[\s,]+|[\s,]+$/g, "")).filter(Boolean);
}
