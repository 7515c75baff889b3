/** The first screen of a project: what its owner is looking for, in words or examples, before the first question. */

import { itemName, itemView } from "../cards/item";
import { get, request } from "../kit/api";
import { h, hiddenText, root } from "../kit/dom";
import { header } from "../kit/frame";
import { kept } from "../kit/storage";
import type { Item, ItemPage, Me, Settings, StartPreview, StartState } from "../kit/wire";
import { sentence } from "../kit/words";
import { StartDraft } from "./draft";
import { Examples, type Side, SIDES } from "./examples";
import { StartLook } from "./look";
import { Picks } from "./picks";

const LABELS: Record<Side, string> = { like: "Like what you are looking for", unlike: "Unlike it" };
const SEARCH_DELAY_MS = 200;
const OFFERED = 12;

function skippedKey(project: string): string {
  return `tellmore.start.skipped.${project}`;
}

/** Asks the owner of a new project for a start; resolves when there is one or it is skipped. */
export async function askForStart(me: Me): Promise<void> {
  if (me.role !== "owner") return;
  const state = await get<StartState>("/api/start");
  if (!state.fresh || kept.getItem(skippedKey(state.project)) !== null) return;
  await new StartScreen(me, state, await offered("")).done;
}

/** Some items whose text (or id, if there is no text) contains `search`; always the same ones. */
async function offered(search: string): Promise<Item[]> {
  const query = new URLSearchParams({ sort: "random", limit: String(OFFERED), search }).toString();
  // Probabilities are left out: nothing is known before the start.
  return (await get<ItemPage>(`/api/items?${query}`)).rows.map(({ id, text = null, image = null }) => ({ id, text, image }));
}

export class StartScreen {
  readonly done: Promise<void>;
  private finish: () => void = () => {};
  private readonly draft: StartDraft;
  private readonly examples: Examples;
  private readonly picking = { sideOf: (item: Item) => this.sideOf(item), pick: (item: Item) => this.pick(item) };
  private readonly look = new StartLook({ picking: this.picking, onLook: (preview) => this.looked(preview) });
  private readonly offer = new Picks("Items to choose from", this.picking, "No items match.");
  private readonly chips: Record<Side, HTMLElement> = { like: h("ul", { class: "chips" }), unlike: h("ul", { class: "chips" }) };
  private readonly found: Record<Side, HTMLElement> = { like: h("p", { class: "hint" }), unlike: h("p", { class: "hint" }) };
  private side: Side = "like";
  /** Whether words or texts can be typed; pictures without a model for words are only clicked. */
  private readonly typing: boolean;
  private searchTimer: ReturnType<typeof setTimeout> | undefined;

  constructor(
    me: Me,
    private readonly state: StartState,
    private offered: Item[],
  ) {
    this.done = new Promise((resolve) => {
      this.finish = resolve;
    });
    this.draft = new StartDraft(state.project);
    this.examples = new Examples(this.draft.find());
    const pictures = me.project.media === "image";
    this.typing = !(pictures && state.no_words);
    const form = h("form", { class: "card start", "aria-labelledby": "headline" });
    const parts = [
      h("h1", { class: "headline", id: "headline", tabindex: -1 }, "What are you looking for?"),
      subject(state.attribute),
      h("p", { class: "instruction" }, explanation(pictures, state.no_words)),
      state.no_words ? h("p", { class: "hint" }, `${this.typing ? "Other words" : "Words"} cannot be used: ${state.no_words}.`) : null,
      h("div", { class: "start-sides" }, ...SIDES.map((side) => this.sideView(side))),
      this.look.problem,
      this.sideChoice(),
      this.look.element,
      this.offer.element,
      this.actions(),
    ];
    form.append(...parts.filter((part) => part !== null));
    if (!pictures) this.offer.element.firstElementChild?.after(this.search());
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      void this.begin();
    });
    form.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) form.requestSubmit();
    });
    this.drawExamples();
    const link = { href: "/dashboard", label: "Dashboard", icon: "chart" as const };
    root().replaceChildren(header({ project: me.project.name, link }), h("main", { class: "stage" }, form));
    (form.querySelector("textarea") ?? form.querySelector("h1"))?.focus({ preventScroll: true });
  }

  private sideView(side: Side): HTMLElement {
    const area = h("textarea", { name: side, rows: 2, maxlength: 20_000, spellcheck: "false", placeholder: side === "unlike" ? "optional" : this.state.no_words ? "texts of items" : "words or texts" }, this.examples.typed(side));
    area.addEventListener("input", () => {
      this.examples.type(side, area.value);
      this.changed();
    });
    const field = this.typing ? h("label", { class: "field" }, h("span", {}, LABELS[side]), area) : h("p", { class: "side-title" }, LABELS[side]);
    return h("div", { class: "start-side" }, field, this.found[side], this.chips[side]);
  }

  private sideChoice(): HTMLElement {
    const option = (side: Side): HTMLElement => {
      const input = h("input", { type: "radio", name: "side", value: side, checked: side === this.side });
      input.addEventListener("change", () => {
        this.side = side;
      });
      return h("label", {}, input, h("span", {}, side === "like" ? "Like it" : "Unlike it"));
    };
    return h("fieldset", { class: "start-choice" }, h("legend", {}, "Items that you click are"), h("div", { class: "segments" }, ...SIDES.map(option)));
  }

  private search(): HTMLElement {
    const input = h("input", { type: "search", "aria-label": "Search the items", placeholder: "Search", autocomplete: "off", maxlength: 200 });
    input.addEventListener("input", () => {
      clearTimeout(this.searchTimer);
      this.searchTimer = setTimeout(() => void this.find(input), SEARCH_DELAY_MS);
    });
    // Enter searches, as in any search field; it must not submit the form.
    input.addEventListener("keydown", (event) => {
      if (event.key === "Enter") event.preventDefault();
    });
    return input;
  }

  private async find(input: HTMLInputElement): Promise<void> {
    const wanted = input.value;
    try {
      const found = await offered(wanted);
      if (wanted !== input.value) return;
      this.offered = found;
      this.offer.show(found);
    } catch (error) {
      this.say(error);
    }
  }

  private actions(): HTMLElement {
    const begin = h("button", { type: "submit", class: "button primary" }, "Begin");
    const skip = h("button", { type: "button", class: "button quiet", onclick: () => this.skip() }, "Skip");
    return h("div", { class: "start-actions" }, begin, skip, h("p", { class: "hint" }, "You can also do this later, in the settings."));
  }

  /** Only clicked items count here: a click cannot remove what was typed. */
  private sideOf(item: Item): Side | null {
    return this.examples.sideOf(item);
  }

  private pick(item: Item): void {
    this.examples.click(item, this.side);
    this.drawExamples();
  }

  private drawExamples(): void {
    for (const side of SIDES) {
      const chosen = this.examples.items(side).map((item) => this.chip(item, side));
      const none = this.typing ? [] : [h("li", { class: "hint" }, "None yet")];
      this.chips[side].replaceChildren(...(chosen.length ? chosen : none));
    }
    this.look.redraw();
    this.offer.show(this.offered);
    this.changed();
  }

  private changed(): void {
    this.draft.keep(this.examples.sketch);
    this.look.later(this.examples.names());
  }

  private chip(item: Item, side: Side): HTMLElement {
    const remove = (): void => {
      this.examples.click(item, side);
      this.drawExamples();
      const next = this.chips[side].querySelector("button") ?? document.querySelector<HTMLElement>(`textarea[name=${side}], #headline`);
      next?.focus({ preventScroll: true });
    };
    const button = h("button", { type: "button", class: "icon-button chip-remove", onclick: remove }, h("span", { "aria-hidden": "true" }, "×"), hiddenText(`Remove ${itemName(item)}`));
    return h("li", { class: "chip" }, itemView(item), button);
  }

  private looked(preview: StartPreview | null): void {
    for (const side of SIDES) {
      const named = preview && !this.state.no_words ? preview[side].filter(({ item }) => !item || !this.examples.sideOf(item)) : [];
      this.found[side].textContent = foundAs(named);
    }
  }

  private async begin(): Promise<void> {
    if (this.examples.empty) {
      this.look.tell(`${this.state.no_words ? "Click items" : "Type words or click items"} first, or skip this step.`);
      return;
    }
    try {
      await request<Settings>("PUT", "/api/settings", this.examples.names());
      this.leave();
    } catch (error) {
      this.say(error);
    }
  }

  private skip(): void {
    kept.setItem(skippedKey(this.state.project), "yes");
    this.leave();
  }

  private leave(): void {
    this.draft.drop();
    this.finish();
  }

  private say(error: unknown): void {
    this.look.tell(error instanceof Error ? sentence(error.message) : String(error));
  }
}

/** What the questions will ask about. The sentence is right for an adjective and for a phrase such as "a spam message". */
export function subject(attribute: string): HTMLElement {
  const named = h("strong", { dir: "auto" }, attribute);
  return h("p", { class: "start-subject" }, "The questions will ask whether an item is ", named, ". Say here what that means to you.");
}

/** What to do on this screen. Words that are not items need an embedder for words; without one, people click examples. */
export function explanation(pictures: boolean, noWords: string | null): string {
  return `${whatToDo(pictures, noWords !== null)} This is only a start: your answers will correct it.`;
}

function whatToDo(pictures: boolean, noWords: boolean): string {
  if (!noWords) return "Type words or texts, separated by commas or one per line, or click items below as examples.";
  return pictures ? "Click pictures as examples." : "Click examples below, or type items exactly as they are written there.";
}

/** Says which names of one side are items and which are words: "happy: an item; warm, kind: words". */
export function foundAs(named: StartPreview["like"]): string {
  const words = named.filter(({ item }) => !item).map(({ name }) => name);
  const items = named.filter(({ item }) => item).map(({ name }) => name);
  const part = (names: string[], one: string, many: string): string[] => (names.length ? [`${names.join(", ")}: ${names.length === 1 ? one : many}`] : []);
  return [...part(items, "an item", "items"), ...part(words, "a word", "words")].join("; ");
}
