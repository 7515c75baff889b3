/** Two equal buttons, positive and negative; neither is the default. */

import { h } from "../kit/dom";
import { type Binding, type KeyHelp, keycap } from "../kit/keyboard";
import { capitalised } from "../kit/kinds";
import type { Wording } from "../kit/wire";

export const SIGNS = [
  { positive: true, sign: "+", keys: ["+", "="] },
  { positive: false, sign: "−", keys: ["-", "_", "−"] },
] as const;

export interface Verdict {
  buttons: HTMLButtonElement[];
  bindings: Binding[];
  keys: KeyHelp[];
}

/** `digits`: the keys 1 and 2 work too, if items do not use digits. */
export function verdict(words: Wording, digits: boolean, choose: (positive: boolean) => void): Verdict {
  const buttons = SIGNS.map(({ positive, sign }, index) => {
    const label = capitalised(positive ? words.positive : words.negative);
    const shortcuts = digits ? `${index + 1} ${sign}` : sign;
    const button = h("button", { type: "button", class: "button verdict", "aria-keyshortcuts": shortcuts }, h("span", {}, label));
    button.append(h("span", { class: "keys" }, digits && keycap(String(index + 1)), keycap(sign)));
    button.addEventListener("click", () => choose(positive));
    return button;
  });
  const bindings = SIGNS.map(({ positive, keys }, index) => ({
    keys: digits ? [...keys, String(index + 1)] : [...keys],
    run: () => choose(positive),
  }));
  const keys = SIGNS.map(({ positive, sign }, index): KeyHelp => [digits ? [String(index + 1), sign] : [sign], positive ? words.positive : words.negative]);
  keys.push([["←", "→"], "move between the two"]);
  return { buttons, bindings: [...bindings, ...arrowsBetween(buttons)], keys };
}

function arrowsBetween(buttons: HTMLButtonElement[]): Binding[] {
  return [
    { keys: ["ArrowLeft"], run: () => buttons[0]?.focus() },
    { keys: ["ArrowRight"], run: () => buttons[1]?.focus() },
  ];
}
