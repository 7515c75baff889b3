import { KINDS, WORDS } from "./fixtures";
import { describe, expect, it } from "vitest";
import { arrival } from "../src/study/arrival";
import { blockIntroduction, paragraphs, personValues, stepPage } from "../src/study/screens";
import type { StepValue, StudyState } from "../src/kit/wire";

const words = WORDS;

function state(changes: Partial<StudyState>): StudyState {
  return {
    step: "consent",
    words,
    progress: { done: 0, total: 50 },
    text: "One.\n\nTwo <b>.",
    fields: null,
    choices: null,
    attempts_left: null,
    failed_before: false,
    question: null,
    block: null,
    first_of_block: false,
    outcome: null,
    code: null,
    url: null,
    ...changes,
  };
}

function shown(given: StudyState): { page: HTMLElement; left: StepValue[] } {
  const left: StepValue[] = [];
  const page = stepPage(given, (value) => left.push(value));
  document.body.replaceChildren(page);
  return { page, left };
}

function submit(page: HTMLElement): void {
  page.querySelector("form")?.dispatchEvent(new Event("submit", { cancelable: true }));
}

describe("arrival", () => {
  it("takes Prolific's parameters", () => {
    expect(arrival("?PROLIFIC_PID=p1&STUDY_ID=s&SESSION_ID=t")).toEqual({ prolific_pid: "p1", study_id: "s", session_id: "t" });
  });

  it("takes a generic id", () => {
    expect(arrival("?participant=me")).toEqual({ participant: "me" });
  });

  it("says nothing if the link does not name anybody", () => {
    expect(arrival("?STUDY_ID=s")).toBeNull();
    expect(arrival("")).toBeNull();
  });
});

describe("pages of a study", () => {
  it("shows text as text, a paragraph each", () => {
    const parts = paragraphs("One.\n\nTwo <b>.");
    expect(parts.map((part) => part.textContent)).toEqual(["One.", "Two <b>."]);
  });

  it("asks for consent with two buttons", () => {
    const { page, left } = shown(state({ step: "consent" }));
    for (const button of page.querySelectorAll("button")) button.click();
    expect(left).toEqual([true, false]);
  });

  it("leaves out what was not answered about the person", () => {
    const fields = [
      { name: "age", question: "Age?", type: "number" as const, options: [] },
      { name: "sex", question: "Sex?", type: "choice" as const, options: ["Female", "Male"] },
    ];
    const form = new FormData();
    form.set("age", "44");
    form.set("sex", "");
    expect(personValues(fields, form)).toEqual({ age: 44 });
  });

  it("sends the options chosen in the check", () => {
    const choices = [
      { question: "A?", options: ["x", "y"] },
      { question: "B?", options: ["x", "y", "z"] },
    ];
    const { page, left } = shown(state({ step: "comprehension", choices, attempts_left: 2 }));
    page.querySelector<HTMLInputElement>("#choice-0-1")?.click();
    page.querySelector<HTMLInputElement>("#choice-1-2")?.click();
    submit(page);
    expect(left).toEqual([[1, 2]]);
    expect(page.querySelector("[role=alert]")).toBeNull();
  });

  it("says how many tries are left after a failed check", () => {
    const { page } = shown(state({ step: "comprehension", choices: [], attempts_left: 1, failed_before: true }));
    expect(page.querySelector("[role=alert]")?.textContent).toContain("1 more try");
  });

  it("shows the code and the way back at the end", () => {
    const { page } = shown(state({ step: "done", outcome: "complete", code: "C0DE", url: "https://example.org/?cc=C0DE" }));
    expect(page.querySelector(".study-code")?.textContent).toBe("C0DE");
    expect(page.querySelector("a")?.getAttribute("href")).toBe("https://example.org/?cc=C0DE");
  });

  it("introduces each kind before its first question", () => {
    let started = 0;
    const [high] = KINDS.filter(({ name }) => name === "select_high");
    const page = blockIntroduction(high!, state({ step: "question", block: 2, first_of_block: true }), () => (started += 1));
    expect(page.textContent).toContain("Part 2: SelectHelp on select_high.");
    page.querySelector("button")?.click();
    expect(started).toBe(1);
  });
});
