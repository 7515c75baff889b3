/** Two equal buttons, positive and negative, neither of them the default. */

import { h } from "../kit/dom";
import { type Binding, keycap } from "../kit/keyboard";
import type { Wording } from "../kit/wire";
import { capitalised } from "./wording";

const SIGNS = [
  { positive: true, sign: "+", keys: ["+", "="] },
  { positive: false, sign: "−", keys: ["-", "_", "−"] },
] as const;

export interface Verdict {
  buttons: HTMLButtonElement[];
  bindings: Binding[];
}

/** `digits`: also answer to 1 and 2, where digits are not taken by items. */
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
  return { buttons, bindings: [...bindings, ...arrowsBetween(buttons)] };
}

function arrowsBetween(buttons: HTMLButtonElement[]): Binding[] {
  return [
    { keys: ["ArrowLeft"], run: () => buttons[0]?.focus() },
    { keys: ["ArrowRight"], run: () => buttons[1]?.focus() },
  ];
}
