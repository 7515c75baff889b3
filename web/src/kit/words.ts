/** Words of the server as people read them. */

/** Begun with a capital and ended with a full stop. */
export function sentence(words: string): string {
  return `${words[0]?.toUpperCase() ?? ""}${words.slice(1)}${/[.!?]$/.test(words) ? "" : "."}`;
}
