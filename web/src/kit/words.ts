/** Turns messages of the server into sentences. */

/** The words with a capital at the beginning and a full stop at the end. */
export function sentence(words: string): string {
  return `${words[0]?.toUpperCase() ?? ""}${words.slice(1)}${/[.!?]$/.test(words) ? "" : "."}`;
}
