/** Adding texts from a CSV file: the server embeds them in the background and reports its progress. */

import { get, request } from "../kit/api";
import { h } from "../kit/dom";
import type { Adding } from "../kit/wire";
import { sentence } from "../kit/words";

const LOOK_EVERY_MS = 400;

/** Why a file cannot be sent; null if it can. */
export function refused(file: Pick<File, "size">, mostBytes: number): string | null {
  return file.size > mostBytes ? `This file is larger than ${mostBytes >> 20} MB. Divide it into smaller files.` : null;
}

/** The bytes of a file in base64, for JSON. */
export function base64(bytes: ArrayBuffer): string {
  const every = new Uint8Array(bytes);
  let letters = "";
  for (let at = 0; at < every.length; at += 0x8000) letters += String.fromCharCode(...every.subarray(at, at + 0x8000));
  return btoa(letters);
}

/** The options of the list of encodings, as (value, label): first the guesses, with how they read the file, then all others. */
export function choices({ guesses, encodings }: Pick<Adding, "guesses" | "encodings">): [string, string][] {
  const likely = guesses.map(({ encoding, reading }): [string, string] => [encoding, `${encoding}: ${reading}`]);
  const named = new Set(likely.map(([encoding]) => encoding));
  return [...likely, ...encodings.filter((each) => !named.has(each)).map((each): [string, string] => [each, each])];
}

function running({ state }: Adding): boolean {
  return state === "embedding" || state === "learning";
}

export class AddingView {
  readonly element = h("details", { class: "snippet adding" }, h("summary", {}, "Add texts from a CSV file"));
  private readonly message = h("p", { class: "hint", role: "status" });
  private readonly bar = h("progress", { "aria-label": "Texts embedded", hidden: true });
  private readonly input = h("input", { type: "file", accept: ".csv,text/csv", name: "texts" });
  private readonly encoding = h("select", { name: "encoding" });
  private readonly asked = h("label", { class: "field", hidden: true }, h("span", {}, "Encoding"), this.encoding);
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
    const hint = `The file must have the columns id and text, and at most ${most >> 20} MB. Other columns are ignored. All answers so far are kept.`;
    const form = h("form", { class: "inline-form" }, h("label", { class: "field" }, h("span", {}, "File"), this.input), this.asked, this.button);
    this.input.addEventListener("change", () => (this.asked.hidden = true));
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
    this.busy(true);
    this.message.textContent = "Sending…";
    try {
      const encoding = this.asked.hidden ? null : this.encoding.value;
      const body = { name: file.name, content: base64(await file.arrayBuffer()), encoding };
      const { data } = await request<Adding>("POST", "/api/items", body, null);
      this.ask(data);
      await this.follow(data);
      if (this.asked.hidden) this.input.value = "";
    } catch (error) {
      this.busy(false);
      this.message.textContent = error instanceof Error ? sentence(error.message) : String(error);
    }
  }

  /** Offers the encodings that the file may have, if the person has to choose. */
  private ask(now: Adding): void {
    this.asked.hidden = now.state !== "guessed";
    this.encoding.replaceChildren(...choices(now).map(([value, words]) => h("option", { value }, words)));
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
    const words = { none: "", guessed: message, embedding: `${done.toLocaleString("en")} of ${total.toLocaleString("en")} texts embedded`, learning: "Learning all answers again with the new items…", done: message, failed: sentence(message) };
    this.message.textContent = words[state];
  }

  private busy(busy: boolean): void {
    this.input.disabled = this.encoding.disabled = this.button.disabled = busy;
  }
}
