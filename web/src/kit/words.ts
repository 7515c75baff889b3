/** Turns messages of the server into sentences. */

/** The words with a capital at the beginning and a full stop at the end; no line ends between a number and its percent sign. */
export function sentence(words: string): string {
  const ended = `${words[0]?.toUpperCase() ?? ""}${words.slice(1)}${/[.!?]$/.test(words) ? "" : "."}`;
  return ended.replace(/(\d) %/g, "$1\u00a0%");
}
