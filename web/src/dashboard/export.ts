/** Export: which files can be downloaded, what each is for, and how it is used. */

import { get, getFile } from "../kit/api";
import { copyButton } from "../kit/copy";
import { h } from "../kit/dom";
import type { Export } from "../kit/wire";
import { type Known, somethingKnown } from "./known";
import { panel } from "./table";

const NOTHING_LEARNT = "Nothing has been learnt yet: a classifier from here gives every item the same probability. Answer questions first.";

async function save(path: string): Promise<void> {
  const { content, name } = await getFile(path);
  const address = URL.createObjectURL(content);
  h("a", { href: address, download: name }).click();
  // By then the browser has started to read the file.
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}

function code(text: string): HTMLElement {
  const example = h("pre", { tabindex: 0, role: "region", "aria-label": "Example code" }, h("code", {}, text.trimEnd()));
  return h("details", { class: "snippet" }, h("summary", {}, "How to use it"), example, copyButton(text, example, "button small"));
}

export class ExportView {
  readonly element = h("div", { class: "view" });
  private readonly list = h("div", { class: "exports" });
  private readonly caution = h("p", { class: "caution", role: "status" });

  constructor() {
    this.element.append(panel("Export", "The classifier, its scores and all answers are yours. New items are scored by these files, or with: tellmore score", this.caution, this.list));
  }

  async show(data: Known): Promise<void> {
    this.caution.textContent = somethingKnown(data) ? "" : NOTHING_LEARNT;
    if (this.list.childElementCount) return;
    this.list.replaceChildren(...(await get<Export[]>("/api/exports")).map((one) => this.row(one)));
  }

  private row(one: Export): HTMLElement {
    const message = h("p", { class: "hint", role: "status" });
    const button = h("button", { type: "button", class: "button", disabled: one.install !== null, "aria-label": `Download: ${one.title}` }, "Download");
    button.addEventListener("click", () => void this.download(one, button, message));
    if (one.install !== null) message.append("Not installed on the server. Add it there with: ", h("code", {}, one.install));
    return h("article", { class: "export" }, h("div", {}, h("h3", {}, one.title), h("p", { class: "hint" }, one.use)), button, message, one.snippet && code(one.snippet));
  }

  private async download(one: Export, button: HTMLButtonElement, message: HTMLElement): Promise<void> {
    button.disabled = true;
    message.textContent = "Preparing…";
    try {
      await save(one.path);
      message.textContent = "Saved to your downloads.";
    } catch (error) {
      message.textContent = `Not downloaded: ${error instanceof Error ? error.message : String(error)}`;
    }
    button.disabled = false;
  }
}
