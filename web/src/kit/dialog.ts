/** Modal dialogs, based on the browser's <dialog>, which keeps the focus inside and closes on Escape. */

import { h, type Child } from "./dom";

let count = 0;

/** Shows a dialog in `layer`; resolves with the pressed button's value, or "" if it was dismissed. The focus goes to the element of
 * `body` with `autofocus`, else to the title. */
export function openDialog(title: string, body: Child[], actions: { label: string; value: string; danger?: boolean }[], layer: Node = document.body): Promise<string> {
  count += 1;
  const field = body.some((part) => part instanceof Element && part.querySelector("[autofocus]"));
  const heading = h("h2", { id: `dialog-${count}`, tabindex: -1, autofocus: !field }, title);
  // Enter in a field presses the first button that submits: the action, not Cancel.
  const buttons = actions.map(({ label, value, danger }) =>
    h("button", { type: value || actions.length === 1 ? "submit" : "button", value, class: danger ? "button danger" : "button", onclick: value ? null : () => dialog.close("") }, label),
  );
  const form = h("form", { method: "dialog" }, heading, ...body, h("div", { class: "dialog-actions" }, ...buttons));
  const dialog = h("dialog", { "aria-labelledby": heading.id }, form);
  layer.appendChild(dialog);
  return new Promise((resolve) => {
    dialog.addEventListener("close", () => {
      dialog.remove();
      resolve(dialog.returnValue);
    });
    dialog.showModal();
  });
}

/** Asks for confirmation of something that cannot be undone. */
export async function confirmed(title: string, explanation: string, action: string): Promise<boolean> {
  const choice = await openDialog(title, [h("p", {}, explanation)], [
    { label: "Cancel", value: "" },
    { label: action, value: "yes", danger: true },
  ]);
  return choice === "yes";
}
