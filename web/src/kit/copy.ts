/** A button that copies a text, also where the browser offers no clipboard: it does so only over https and on the same computer. */

import { h } from "./dom";

function select(shown: HTMLElement): void {
  shown.focus();
  if (shown instanceof HTMLInputElement) shown.select();
  else getSelection()?.selectAllChildren(shown);
}

/** Copies `text`, or else what `shown` shows; false if the browser does neither. `shown` is then selected. */
async function copied(text: string, shown: HTMLElement): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    select(shown);
    return document.execCommand("copy");
  }
}

/** A button that copies `text`, which `shown` shows. If that is not possible, it says how. */
export function copyButton(text: string, shown: HTMLElement, style = "button"): HTMLElement {
  const button = h("button", { type: "button", class: style }, "Copy");
  const copy = async (): Promise<void> => {
    const done = await copied(text, shown);
    button.textContent = done ? "Copied" : "Press Ctrl+C";
    if (done) button.focus();
  };
  button.addEventListener("click", () => void copy());
  return button;
}
