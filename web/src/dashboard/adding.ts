/** Adding texts from a CSV file: the server embeds them in the background and reports its progress. */

import { get, request } from "../kit/api";
import { h } from "../kit/dom";
import type { Adding } from "../kit/wire";
import { sentence } from "../kit/words";

const LOOK_EVERY_MS = 400;
const NOT_UTF8 = "This file is not UTF-8 text. Save it as “CSV UTF-8” and choose it again.";

/** Why a file cannot be sent; null if it can. */
export function refused(file: Pick<File, "size">, mostBytes: number): string | null {
  return file.size > mostBytes ? `This file is larger than ${mostBytes >> 20} MB. Divide it into smaller files.` : null;
}

/** The text of a file; throws a TypeError if it is not UTF-8. */
export function decoded(bytes: ArrayBuffer): string {
  return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
}

function running({ state }: Adding): boolean {
  return state === "embedding" || state === "learning";
}

export class AddingView {
  readonly element = h("details", { class: "snippet adding" }, h("summary", {}, "Add texts from a CSV file"));
  private readonly message = h("p", { class: "hint", role: "status" });
  private readonly bar = h("progress", { "aria-label": "Texts embedded", hidden: true });
  private readonly input = h("input", { type: "file", accept: ".csv,text/csv", name: "texts" });
  private readonly button = h("button", { type: "submit", class: "button" }, "Add texts");
  private drawn = false;
  private looking = false;

  constructor(private readonly report: (error: unknown) => void) {}

  async show(): Promise<void> {
    const state = await get<Adding>("/api/items/adding");
    if (!this.drawn) this.draw(state);
    this.drawn = true;
    // The message about an earlier file stays until the next one is sent.
    if (running(state) && !this.looking) await this.follow(state);
  }

  private draw({ refusal, max_bytes: most }: Adding): void {
    if (refusal) {
      this.element.append(h("p", { class: "hint" }, refusal));
      return;
    }
    const hint = `The file must have the columns id and text, be in UTF-8, and have at most ${most >> 20} MB. Other columns are ignored. All answers so far are kept.`;
    const form = h("form", { class: "inline-form" }, h("label", { class: "field" }, h("span", {}, "File"), this.input), this.button);
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      void this.send(most);
    });
    this.element.append(h("p", { class: "hint" }, hint), form, this.bar, this.message);
  }

  private async send(most: number): Promise<void> {
    const file = this.input.files?.[0];
    const problem = file ? refused(file, most) : "Choose a file first.";
    if (!file || problem) {
      this.message.textContent = problem;
      return;
    }
    let content: string;
    try {
      content = decoded(await file.arrayBuffer());
    } catch {
      this.message.textContent = NOT_UTF8;
      return;
    }
    this.busy(true);
    this.message.textContent = "Sending…";
    try {
      await this.follow((await request<Adding>("POST", "/api/items", { name: file.name, content }, null)).data);
      this.input.value = "";
    } catch (error) {
      this.busy(false);
      this.message.textContent = error instanceof Error ? sentence(error.message) : String(error);
    }
  }

  /** Shows the progress until it is done. */
  private async follow(first: Adding): Promise<void> {
    this.looking = true;
    try {
      for (let state = first; ; state = await get<Adding>("/api/items/adding")) {
        this.tell(state);
        if (!running(state)) return;
        await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
      }
    } catch (error) {
      this.report(error);
    } finally {
      this.looking = false;
    }
  }

  private tell(now: Adding): void {
    const { state, done, total, message } = now;
    const busy = running(now);
    this.busy(busy);
    this.bar.hidden = !busy;
    this.bar.max = Math.max(total, 1);
    if (state === "embedding") this.bar.value = done;
    else this.bar.removeAttribute("value");
    const words = { none: "", embedding: `${done.toLocaleString("en")} of ${total.toLocaleString("en")} texts embedded`, learning: "Learning all answers again with the new items…", done: message, failed: sentence(message) };
    this.message.textContent = words[state];
  }

  private busy(busy: boolean): void {
    this.input.disabled = this.button.disabled = busy;
  }
}
