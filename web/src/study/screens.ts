/** The pages of a study around its questions: texts, consent, questions about the person, comprehension check, the end. */

import { type Child, h } from "../kit/dom";
import { kindTitle } from "../kit/kinds";
import type { Choice, Kind, PersonField, StepValue, StudyState } from "../kit/wire";

/** Paragraphs of plain text; an empty line separates them. */
export function paragraphs(text: string): HTMLElement[] {
  return text
    .split(/\n\s*\n/)
    .map((part) => part.trim())
    .filter(Boolean)
    .map((part) => h("p", { dir: "auto" }, part));
}

export function page(title: string, ...children: Child[]): HTMLElement {
  return h("section", { class: "card study-page", tabindex: -1, "aria-labelledby": "headline" }, h("h1", { class: "headline", id: "headline" }, title), ...children);
}

function button(label: string, primary: boolean, run: () => void): HTMLButtonElement {
  return h("button", { type: "button", class: primary ? "button primary" : "button", onclick: run }, label);
}

function actions(...children: Child[]): HTMLElement {
  return h("div", { class: "study-actions" }, ...children);
}

type Leave = (value: StepValue) => void;

/** A text that one can agree to or not. */
function decision(title: string, text: string, yes: string, no: string, leave: Leave): HTMLElement {
  return page(title, ...paragraphs(text), actions(
    button(yes, true, () => leave(true)),
    button(no, false, () => leave(false)),
  ));
}

function fieldId(name: string): string {
  return `person-${name}`;
}

function personInput(field: PersonField): HTMLElement {
  const id = fieldId(field.name);
  if (field.type !== "choice") {
    const kind = field.type === "number" ? { type: "number", min: 0, max: 150, inputmode: "numeric" } : { type: "text", maxlength: 200 };
    return h("input", { id, name: field.name, autocomplete: "off", ...kind });
  }
  const options = field.options.map((option) => h("option", { value: option }, option));
  return h("select", { id, name: field.name }, h("option", { value: "" }, "No answer"), ...options);
}

/** The values of a completed form; empty answers are left out, numbers are converted. */
export function personValues(fields: PersonField[], form: FormData): Record<string, string | number> {
  const values: Record<string, string | number> = {};
  for (const field of fields) {
    const given = String(form.get(field.name) ?? "").trim();
    if (!given) continue;
    values[field.name] = field.type === "number" ? Number(given) : given;
  }
  return values;
}

function demographics(fields: PersonField[], leave: Leave): HTMLElement {
  const rows = fields.map((field) => h("div", { class: "field" }, h("label", { for: fieldId(field.name) }, field.question), personInput(field)));
  const form = h("form", { class: "study-form" }, ...rows, actions(h("button", { type: "submit", class: "button primary" }, "Continue")));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    leave(personValues(fields, new FormData(form)));
  });
  return page("About you", h("p", {}, "All of these are optional. Leave blank anything you would rather not say."), form);
}

function choiceGroup(choice: Choice, index: number): HTMLElement {
  const options = choice.options.map((option, number) => {
    const id = `choice-${index}-${number}`;
    return h("div", { class: "check" }, h("input", { type: "radio", id, name: `choice-${index}`, value: number, required: true }), h("label", { for: id }, option));
  });
  return h("fieldset", { class: "study-choice" }, h("legend", {}, choice.question), ...options);
}

function comprehension(state: StudyState, leave: Leave): HTMLElement {
  const choices = state.choices ?? [];
  const form = h("form", { class: "study-form" }, ...choices.map(choiceGroup), actions(h("button", { type: "submit", class: "button primary" }, "Check my answers")));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const given = new FormData(form);
    leave(choices.map((_, index) => Number(given.get(`choice-${index}`))));
  });
  const left = state.attempts_left ?? 1;
  const again = state.failed_before && h("p", { class: "study-warning", role: "alert" }, `Not all answers were right. Please read the instructions again; you have ${left} more ${left === 1 ? "try" : "tries"}.`);
  const reminder = h("details", { class: "study-reminder", open: state.failed_before }, h("summary", {}, "Instructions"), ...paragraphs(state.text ?? ""));
  return page("Before you start: a short check", again, reminder, form);
}

function debrief(state: StudyState, leave: Leave): HTMLElement {
  const comment = h("textarea", { id: "comment", rows: 3, maxlength: 5000 });
  const field = h("div", { class: "field" }, h("label", { for: "comment" }, "Is there anything you would like to tell us? (optional)"), comment);
  return page("All questions are answered", ...paragraphs(state.text ?? ""), field, actions(button("Finish", true, () => leave(comment.value))));
}

const ENDINGS = {
  complete: ["Thank you", "All your answers are saved."],
  no_consent: ["You are not taking part", "There is nothing more for you to do."],
  failed_comprehension: ["The check was not passed", "Thank you for your time. The study continues only for those who pass the check."],
} as const;

function ending(state: StudyState): HTMLElement {
  const [title, text] = ENDINGS[state.outcome ?? "complete"];
  const code = state.code && h("p", {}, "Your completion code: ", h("strong", { class: "study-code" }, state.code));
  const back = state.url && h("a", { class: "button primary", href: state.url, rel: "noreferrer" }, "Return with this code");
  return page(title, h("p", {}, text), code, back && actions(back));
}

/** The page before the first question of each kind, so that nobody is surprised by a new kind while its clock runs. */
export function blockIntroduction(kind: Kind, { block, words }: StudyState, start: () => void): HTMLElement {
  return page(`Part ${block}: ${kindTitle(kind.family, words.kinds)}`, h("p", {}, kind.help), actions(button("Start this part", true, start)));
}

/** The page of a step that is not a question. `leave` is called once, with what was entered. */
export function stepPage(state: StudyState, leave: Leave): HTMLElement {
  const text = state.text ?? "";
  switch (state.step) {
    case "eligibility":
      return decision("Who can take part", text, "Yes, this applies to me", "No, this does not apply to me", leave);
    case "consent":
      return decision("Consent", text, "I agree to take part", "I do not agree", leave);
    case "demographics":
      return demographics(state.fields ?? [], leave);
    case "instructions":
      return page("Instructions", ...paragraphs(text), actions(button("I have read this", true, () => leave(true))));
    case "comprehension":
      return comprehension(state, leave);
    case "debrief":
      return debrief(state, leave);
    default:
      return ending(state);
  }
}
