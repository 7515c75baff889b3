/** Reads what somebody types as a start, and says what it names. */

import { itemName } from "../cards/item";
import type { StartPreview } from "../kit/wire";

/** One entry per line; the server splits at commas those that are not items. Commas at the ends are dropped: more may be typed there. */
export function typedNames(text: string): string[] {
  return text.split("\n").map((line) => line.replace(/^[\s,]+|[\s,]+$/g, "")).filter(Boolean);
}

/** The first words of the items that are named by their ids, which say nothing to people: "r12: A lovely room". */
export function textsOf(named: StartPreview["like"]): string {
  const byId = named.flatMap(({ name, item }) => (item?.text && item.text.toLowerCase() !== name.toLowerCase() ? [`${name}: ${itemName(item)}`] : []));
  return byId.join("; ");
}
