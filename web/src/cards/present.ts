/** Shows one question and waits for its answer: card, clock, keys and focus together. Studies use it unchanged. */

import type { Announcer } from "../kit/announcer";
import { h, showTop } from "../kit/dom";
import { DraftBox } from "../kit/draft";
import { type Binding, type Keyboard, type KeyHelp, keycap } from "../kit/keyboard";
import { afterPaint, type ClockRecord, imagesDecoded, QuestionClock } from "../kit/timing";
import type { Answer, Kind, Question, Timing, Wording } from "../kit/wire";
import { kit } from "./kit";
import { type Screen, screenOf } from "./registry";
import { zoomAtHand } from "./zoom";

/** So soon after a question has come, the second click of a double click was meant for the question before. */
const DOUBLE_CLICK_MS = 400;

export interface Presentation {
  question: Question;
  /** The kind of the question and its card, as the registry found them. */
  screen: Screen;
  words: Wording;
  keyboard: Keyboard;
  announcer: Announcer;
  /** Round trip of the request that brought the question, whole milliseconds. */
  latencyMs: number;
  /** Whether the question takes the focus, and the page scrolls to its top; by default it does. */
  focus?: boolean;
  /** Whether "skip" and "can't tell" are offered. */
  skippable: boolean;
  /** Opens the dialog for comments on the items; absent if comments are not offered. */
  onNote?: () => void;
  /** The answer that was undone, if the question is shown again after an undo. */
  previous?: Answer | null;
  /** Clocks of unanswered questions that an undo removed from the screen; such a question is not new when it comes back. */
  aside?: Map<string, ClockRecord>;
}

export interface Given {
  answer: Answer;
  timing: Timing;
}

const SKIPS = [
  { reason: "skip", label: "Skip", key: " ", cap: "Space" },
  { reason: "cant_tell", label: "Can’t tell", key: "c", cap: "C" },
] as const;

function skipButtons(submit: (answer: Answer) => void): HTMLButtonElement[] {
  return SKIPS.map(({ reason, label, cap }) => {
    const button = h("button", { type: "button", class: "button quiet", "aria-keyshortcuts": cap }, h("span", {}, label), keycap(cap));
    button.addEventListener("click", () => submit({ type: "skip", reason }));
    return button;
  });
}

function noteButton(open: () => void): HTMLButtonElement {
  const button = h("button", { type: "button", class: "button quiet", "aria-keyshortcuts": "M" }, h("span", {}, "Comment"), keycap("M"));
  button.addEventListener("click", open);
  return button;
}

function skipBindings(submit: (answer: Answer) => void): Binding[] {
  return SKIPS.map(({ reason, key }) => ({ keys: [key], run: () => submit({ type: "skip", reason }) }));
}

/** A card for previews: it can be tried, but sends no answer. */
export async function previewCard(question: Question, words: Wording): Promise<HTMLElement> {
  const { kind, make } = await screenOf(question.kind, words.kinds);
  const card = make({ question, kind, words, kit, moved: () => {}, announce: () => {}, submit: () => {} });
  return h("div", { class: "card", tabindex: -1 }, ...heading(kind, words, 3), card.element);
}

function heading(kind: Kind, words: Wording, level: 1 | 3): HTMLElement[] {
  const title = h(level === 1 ? "h1" : "h3", { class: "headline", id: level === 1 ? "headline" : null }, kind.ask);
  return words.instruction ? [title, h("p", { class: "instruction" }, words.instruction)] : [title];
}

/** A question on screen. */
export interface Presented {
  kind: Kind;
  /** The keys of its card. */
  keys: KeyHelp[];
  /** Resolves with the first answer; the card then stays, locked, until it is replaced. */
  given: Promise<Given>;
  /** Removes the question without an answer; `given` then never resolves. */
  withdraw(): void;
}

/** Puts the question into `host`, focuses it and makes its top visible. */
export function present(host: HTMLElement, options: Presentation): Presented {
  const { question, words, keyboard, announcer } = options;
  const { kind, make } = options.screen;
  const drafts = new DraftBox();
  const draft = drafts.find(question.id);
  const clock = new QuestionClock(options.latencyMs, draft?.clock ?? options.aside?.get(question.id));
  const leaving = new AbortController();
  let closed = false;
  let resolve: (given: Given) => void = () => {};
  const given = new Promise<Given>((settle) => {
    resolve = settle;
  });

  const close = (): void => {
    if (closed) return;
    closed = true;
    leaving.abort();
    release();
    card.dispose();
    for (const part of [card.element, skips]) part.inert = true;
  };
  const submit = (answer: Answer): void => {
    if (closed) return;
    const timing = clock.stop();
    close();
    drafts.drop();
    section.dataset.answered = "true";
    resolve({ answer, timing });
  };

  const keep = (): void => {
    const record = clock.record();
    if (record) drafts.keep({ question: question.id, sketch: card.sketch(), clock: record });
  };
  const moved = (): void => {
    clock.moved();
    keep();
  };

  const pictures = question.items.some((item) => item.image);
  const announce = (message: string): void => announcer.say(message);
  const card = make({ question, kind, words, kit, quick: options.skippable, previous: options.previous ?? null, sketch: draft?.sketch ?? null, moved, announce, submit });
  const section = h("section", { class: `card card-${question.kind}`, "data-pictures": pictures, tabindex: -1, "aria-labelledby": "headline", "data-question": question.id });
  const skips = h("div", { class: "skips" }, ...(options.skippable ? skipButtons(submit) : []));
  if (options.onNote) skips.append(noteButton(options.onNote));
  section.append(...heading(kind, words, 1), card.element, skips);
  const came = performance.now();
  const stray = (event: PointerEvent): void => {
    if (event.detail < 2 || event.pointerType === "touch" || performance.now() - came > DOUBLE_CLICK_MS) return;
    event.stopPropagation();
    event.preventDefault();
  };
  section.addEventListener("click", (event) => stray(event as PointerEvent), { capture: true });
  // Enter submits and Space skips, whatever was clicked last. Keyboard users keep the focus where it is.
  section.addEventListener("click", (event) => {
    if (event.detail > 0 && !closed) section.focus({ preventScroll: true });
  });
  const extra: Binding[] = [{ keys: ["z"], run: () => zoomAtHand(section) }, ...(options.onNote ? [{ keys: ["m"], run: options.onNote }] : [])];
  const release = keyboard.use([...extra, ...card.bindings, ...(options.skippable ? skipBindings(submit) : [])]);
  host.replaceChildren(section);
  if (options.focus ?? true) {
    section.focus({ preventScroll: true });
    showTop(section); // the question before may have been taller, and answered at its end
  }
  void startWhenSeen(section, clock, () => closed).then((shown) => {
    if (!shown) return;
    keep();
    // These are the last events a page is sure to get: a phone may discard a hidden page without further notice.
    window.addEventListener("pagehide", keep, { signal: leaving.signal });
    document.addEventListener("visibilitychange", keep, { signal: leaving.signal });
  });
  const withdraw = (): void => {
    const record = clock.record();
    if (!closed && record) options.aside?.set(question.id, record);
    close();
  };
  const keys: KeyHelp[] = [...(card.keys ?? []), ...zoomKeys(section, pictures)];
  return { kind, keys, given, withdraw };
}

/** What Z does on this card, if anything. */
function zoomKeys(section: HTMLElement, pictures: boolean): KeyHelp[] {
  if (!section.querySelector(".zoom")) return [];
  return [[["Z"], pictures ? "look closer at a picture" : "read the whole of a text that is cut off"]];
}

/** Starts the clock once the images are decoded and the card is painted; false if the question was gone by then. */
async function startWhenSeen(section: HTMLElement, clock: QuestionClock, closed: () => boolean): Promise<boolean> {
  await imagesDecoded(section);
  await afterPaint();
  if (closed() || !section.isConnected) return false;
  clock.start();
  section.dataset.shown = "true";
  return true;
}
