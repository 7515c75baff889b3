/** The question in words, from the project's own words for the attribute, its positive and its negative. */

import type { Kind, Wording } from "../kit/wire";

export function headline(kind: Kind, words: Wording): string {
  return words.ask?.[kind] || standard(kind, words);
}

function standard(kind: Kind, words: Wording): string {
  switch (kind) {
    case "label":
      return `Is this ${words.positive} or ${words.negative}?`;
    case "select_high":
      return `Choose the most ${words.attribute}`;
    case "select_low":
      return `Choose the least ${words.attribute}`;
    case "rank":
      return `Put the most ${words.attribute} first`;
  }
}

export function capitalised(word: string): string {
  return word.charAt(0).toLocaleUpperCase() + word.slice(1);
}

/** Where the divider stands: "3 of 6 positive". */
export function share(nPositive: number, size: number, words: Wording): string {
  return `${nPositive} of ${size} ${words.positive}`;
}
