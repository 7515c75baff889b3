/** Settings: the project's words, what may be asked, and the target, next to a preview of the card. */

import { previewCard } from "../cards/present";
import { get, post, request } from "../kit/api";
import { openDialog } from "../kit/dialog";
import { h } from "../kit/dom";
import { kindTitle, offeredKinds } from "../kit/kinds";
import type { Dashboard, Kind, Preview, Settings, StartPreview } from "../kit/wire";
import { StartLook } from "../start/look";
import { textsOf, typedNames } from "../start/names";
import { StartLine } from "../start/agreement";
import { sentence } from "../kit/words";
import { panel } from "./table";

const TEXTS = [
  ["name", "Project"],
  ["attribute", "Attribute"],
  ["positive", "Word for positive"],
  ["negative", "Word for negative"],
] as const;
const TEAM = [
  ["overlap", "Questions given to a second person, %"],
  ["known_share", "Questions on known items, %"],
] as const;
const SIZES = [2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24];
const PREVIEW_DELAY_MS = 250;

const START = [
  ["like", "Like what you are looking for"],
  ["unlike", "Unlike it"],
] as const;

function checks(name: string, legend: string, options: [string, string][], chosen: string[]): HTMLElement {
  const boxes = options.map(([value, label]) => h("label", { class: "check" }, h("input", { type: "checkbox", name, value, checked: chosen.includes(value) }), h("span", {}, label)));
  return h("fieldset", { class: "checks" }, h("legend", {}, legend), ...boxes);
}

function textField(name: string, label: string, value: string): HTMLElement {
  return h("label", { class: "field" }, h("span", {}, label), h("input", { name, value, required: true, maxlength: 200, autocomplete: "off" }));
}

function startField(name: string, label: string, names: string[]): HTMLElement {
  const area = h("textarea", { name, rows: 3, spellcheck: "false", "aria-describedby": "start-hint" }, names.join("\n"));
  return h("label", { class: "field" }, h("span", {}, label), area);
}

/** The settings as the form now has them. */
export function readForm(form: HTMLFormElement): Partial<Settings> {
  const data = new FormData(form);
  const text = (name: string): string => String(data.get(name) ?? "").trim();
  return {
    ...Object.fromEntries(TEXTS.map(([name]) => [name, text(name)])),
    instruction: text("instruction"),
    guidelines: text("guidelines"),
    quota: text("quota") ? Number(text("quota")) : null,
    question: text("question"),
    kinds: data.getAll("kinds").map(String),
    sizes: data.getAll("sizes").map(Number),
    set_size: text("set_size") ? Number(text("set_size")) : null,
    target_accuracy: Number(text("target_accuracy")) / 100,
    ties: data.has("ties"),
    ...Object.fromEntries(TEAM.map(([name]) => [name, Number(text(name)) / 100])),
    ...Object.fromEntries(START.map(([name]) => [name, typedNames(text(name))])),
  };
}

/** The choices for "Ask", as (value, label): automatic, a kind, or a whole family of kinds. */
export function questions(kinds: readonly Kind[]): [string, string][] {
  const alone = (family: string): boolean => kinds.filter((kind) => kind.family === family).length === 1;
  const names = new Set(kinds.flatMap(({ name, family }) => (alone(family) ? [name] : [family, name])));
  return [["auto", "Auto (fastest learning)"], ...[...names].map((name): [string, string] => [name, kindTitle(name, kinds)])];
}

/** The settings that differ from `before`; only these are sent. */
export function changes(before: Settings, after: Partial<Settings>): Partial<Settings> {
  const entries = Object.entries(after).filter(([key, value]) => JSON.stringify(value) !== JSON.stringify(before[key as keyof Settings]));
  return Object.fromEntries(entries);
}

export class SettingsView {
  readonly element = h("div", { class: "view" });
  private readonly form = h("form", { class: "settings-form" });
  private readonly preview = h("div", { class: "preview" });
  private readonly message = h("p", { class: "hint", role: "status" });
  /** Said next to the button that starts again. */
  private readonly done = h("p", { class: "hint", role: "status" });
  private readonly startLine = new StartLine();
  private readonly named = { like: h("p", { class: "hint" }), unlike: h("p", { class: "hint" }) };
  private readonly startLook = new StartLook({ onLook: (preview) => this.name(preview) });
  private before: Settings | null = null;
  private kinds: readonly Kind[] = [];
  private timer: ReturnType<typeof setTimeout> | undefined;

  /** `report` shows an error until the next `clear`. */
  constructor(
    private readonly report: (error: unknown) => void,
    private readonly clear: () => void,
  ) {
    const shown = panel("Preview", "Try it; nothing is saved.", this.preview);
    const columns = h("div", { class: "grid wide settings-grid" }, panel("Settings", null, this.form, this.message, this.startLook.element), shown);
    this.element.append(columns, this.danger());
    this.form.addEventListener("input", () => this.later());
    this.form.addEventListener("submit", (event) => {
      event.preventDefault();
      void this.save();
    });
  }

  /** Shows what has been changed elsewhere, but never overwrites what is being edited. */
  async show({ project, start_verdict }: Dashboard): Promise<void> {
    this.startLine.show(start_verdict);
    const now = this.editing ? this.before : await get<Settings>("/api/settings");
    if (!now || this.editing || JSON.stringify(now) === JSON.stringify(this.before)) return;
    this.kinds = project.kinds;
    this.fill(now);
    this.lookAtStart();
    await this.refreshPreview();
  }

  private get editing(): boolean {
    return this.form.contains(document.activeElement) || Object.keys(this.changed()).length > 0;
  }

  private fill(settings: Settings): void {
    this.before = settings;
    const kinds = offeredKinds(this.kinds, [settings.question, ...settings.kinds]);
    const most = Math.max(...kinds.map((kind) => kind.sizes[1]));
    const sizes = [...new Set([...SIZES.filter((size) => size <= most), ...settings.sizes])].sort((a, b) => a - b);
    const target = h("input", { name: "target_accuracy", type: "number", min: 51, max: 99.9, step: 0.1, required: true, value: Math.round(1000 * settings.target_accuracy) / 10 });
    const size = h("input", { name: "set_size", type: "number", min: 2, max: most, step: 1, placeholder: "usual for the kind", value: settings.set_size });
    const quota = h("input", { name: "quota", type: "number", min: 1, step: 1, placeholder: "no limit", value: settings.quota });
    const options = questions(kinds).map(([value, words]) => h("option", { value, selected: value === settings.question }, words));
    this.form.replaceChildren(
      ...TEXTS.map(([name, label]) => textField(name, label, settings[name])),
      h("p", { class: "hint wide" }, "The attribute is an adjective, as in “most friendly”, or a phrase such as “about sports” or “a spam message”."),
      h("label", { class: "field wide" }, h("span", {}, "Instruction"), h("textarea", { name: "instruction", rows: 2, maxlength: 2000 }, settings.instruction)),
      h("label", { class: "field wide" }, h("span", {}, "Guidelines"), h("textarea", { name: "guidelines", rows: 5, maxlength: 20000, "aria-describedby": "guidelines-hint" }, settings.guidelines)),
      h("p", { class: "hint wide", id: "guidelines-hint" }, "A longer text that people can open. In Markdown: # starts a heading, - a list entry, and **bold** is shown in bold."),
      h("label", { class: "field" }, h("span", {}, "Ask"), h("select", { name: "question" }, ...options)),
      h("label", { class: "field" }, h("span", {}, "Target accuracy, %"), target),
      h("label", { class: "field" }, h("span", {}, "Items per question (fixed kind)"), size),
      h("label", { class: "field" }, h("span", {}, "Answers per annotator"), quota),
      checks("kinds", "Question kinds Auto may use", kinds.map(({ name, title }) => [name, title]), settings.kinds),
      checks("sizes", "Numbers of items Auto may use", sizes.map((size) => [String(size), String(size)]), settings.sizes.map(String)),
      checks("ties", "Rankings", [["yes", "Allow ties and partial rankings"]], settings.ties ? ["yes"] : []),
      ...TEAM.map(([name, label]) => h("label", { class: "field" }, h("span", {}, label), h("input", { name, type: "number", min: 0, max: 50, step: 1, required: true, "aria-describedby": "team-hint", value: Math.round(100 * settings[name]) }))),
      h("p", { class: "hint wide", id: "team-hint" }, "For teams. Questions given to a second person show how far people agree (see the Agreement page). Known items are those you labelled yourself; they score each person, and nothing is learnt from them."),
      ...this.startFields(settings),
      h("div", { class: "buttons wide" }, h("button", { type: "submit", class: "button primary" }, "Save")),
    );
  }

  /** The fields for the start, and how far the answers agree with it. The items that fit it are listed below the form. */
  private startFields(settings: Settings): HTMLElement[] {
    const hint = "Words, texts or item ids, separated by commas or one per line. Learning starts from these; changing them retrains on all answers.";
    const fields = START.map(([name, label]) => h("div", { class: "start-side" }, startField(name, label, settings[name]), this.named[name]));
    return [...fields, h("p", { class: "hint wide", id: "start-hint" }, hint), h("div", { class: "wide" }, this.startLine.element)];
  }

  /** Shows the texts of examples that are named by their ids. */
  private name(preview: StartPreview | null): void {
    for (const [side] of START) this.named[side].textContent = preview ? textsOf(preview[side]) : "";
  }

  private lookAtStart(): void {
    const { like = [], unlike = [] } = readForm(this.form);
    this.startLook.later({ like, unlike });
  }

  private later(): void {
    clearTimeout(this.timer);
    this.message.textContent = "Not saved yet.";
    this.timer = setTimeout(() => void this.refreshPreview(), PREVIEW_DELAY_MS);
    this.lookAtStart();
  }

  private changed(): Partial<Settings> {
    return this.before ? changes(this.before, readForm(this.form)) : {};
  }

  private async refreshPreview(): Promise<void> {
    if (!this.form.checkValidity()) return;
    try {
      const { question, project } = await post<Preview>("/api/settings/preview", this.changed());
      this.preview.replaceChildren(await previewCard(question, project));
    } catch (error) {
      this.tell(error);
    }
  }

  private async save(): Promise<void> {
    try {
      const { data } = await request<Settings>("PUT", "/api/settings", this.changed());
      this.fill(data);
      this.message.textContent = "Saved.";
    } catch (error) {
      this.tell(error);
    }
  }

  /** Shows the error once, next to the button. */
  private tell(error: unknown): void {
    this.message.textContent = sentence(`Not saved: ${error instanceof Error ? error.message : String(error)}`);
  }

  private danger(): HTMLElement {
    const button = h("button", { type: "button", class: "button danger", onclick: () => void this.reset() }, "Reset the project…");
    return panel("Start again", "Discards every answer and starts again from the beginning. The log keeps the old answers, marked as void.", h("div", { class: "buttons" }, button), this.done);
  }

  private async reset(): Promise<void> {
    const name = this.before?.name ?? "";
    const typed = h("input", { name: "confirm", autocomplete: "off" });
    const body = [h("p", {}, "Every answer is discarded."), h("label", { class: "field" }, h("span", {}, `Type the project’s name to confirm: ${name}`), typed)];
    const choice = await openDialog("Reset the project?", body, [{ label: "Cancel", value: "" }, { label: "Reset", value: "yes", danger: true }]);
    if (choice !== "yes") return;
    this.clear();
    this.done.textContent = "";
    try {
      await post("/api/reset", { confirm: typed.value });
      this.done.textContent = "The project has been reset.";
    } catch (error) {
      this.report(error);
    }
  }
}
