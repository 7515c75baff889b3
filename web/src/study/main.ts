/** The participant's page of a study: one step after another; it can be resumed at any time. */

import { openHelp } from "../cards/help";
import { type Given, present, type Presented } from "../cards/present";
import { screenOf } from "../cards/registry";
import { Announcer } from "../kit/announcer";
import { ApiError, type Reply, request, untilReached } from "../kit/api";
import { h, root } from "../kit/dom";
import { header, notice } from "../kit/frame";
import { Keyboard } from "../kit/keyboard";
import { kindOf } from "../kit/kinds";
import { Outbox } from "../kit/outbox";
import { StatusChip } from "../kit/status";
import { applyTheme } from "../kit/theme";
import type { StepValue, StudySaved, StudyState, Submission } from "../kit/wire";
import { sentence } from "../kit/words";
import { arrival } from "./arrival";
import { blockIntroduction, stepPage } from "./screens";

class Participant {
  private readonly host = h("main", { class: "stage" });
  private readonly footer = h("footer", { class: "foot" });
  private readonly status = new StatusChip();
  private readonly announcer = new Announcer();
  private readonly keyboard = new Keyboard(true);
  private readonly outbox: Outbox<Submission, StudySaved>;
  private presented: Presented | null = null;

  constructor(state: StudyState, name: string) {
    this.outbox = new Outbox("/api/study/answers", { name: `study.${name}`, onState: (saved) => this.status.show(saved) });
    const help = (): void => void openHelp({ words: state.words, keyboard: this.keyboard, free: false, shown: this.presented });
    this.keyboard.use([{ keys: ["?"], run: help }]);
    root().replaceChildren(header({ project: state.words.name, status: this.status.element, onHelp: help }), this.host, this.footer, this.announcer.element);
  }

  /** Sends answers left from an earlier visit; if there were any, the state is requested again. */
  async start(reply: Reply<StudyState>): Promise<void> {
    const { sent } = await this.outbox.flush();
    await this.show(sent ? await this.reach(() => request<StudyState>("GET", "/api/study")) : reply);
  }

  private reach<T>(attempt: () => Promise<T>): Promise<T> {
    return untilReached(attempt, () => this.status.show("offline"));
  }

  private async show({ data: state, latencyMs }: Reply<StudyState>): Promise<void> {
    this.presented = null;
    this.footer.replaceChildren(progress(state));
    if (!state.question) return this.showPage(stepPage(state, (value) => void this.guard(() => this.leave(state, value))));
    if (state.first_of_block && state.step === "question") {
      return this.showPage(blockIntroduction(kindOf(state.question.kind, state.words.kinds), state, () => void this.guard(() => this.ask(state, latencyMs))));
    }
    await this.ask(state, latencyMs);
  }

  private showPage(page: HTMLElement): void {
    this.host.replaceChildren(page);
    page.focus({ preventScroll: true });
    window.scrollTo({ top: 0 });
  }

  private async ask(state: StudyState, latencyMs: number): Promise<void> {
    const { question, words } = state;
    if (!question) return;
    const screen = await screenOf(question.kind, words.kinds);
    this.presented = present(this.host, { question, screen, words, keyboard: this.keyboard, announcer: this.announcer, latencyMs, skippable: false });
    void this.presented.given.then((given) => this.guard(() => this.save(question.id, given)));
  }

  private async save(questionId: string, given: Given): Promise<void> {
    const reply = await this.outbox.put({ question_id: questionId, ...given });
    await this.show({ data: reply.data.next, latencyMs: reply.latencyMs });
  }

  private async leave(state: StudyState, value: StepValue): Promise<void> {
    this.host.inert = true;
    try {
      await this.show(await this.reach(() => request<StudyState>("POST", "/api/study/step", { step: state.step, value })));
    } finally {
      this.host.inert = false;
    }
  }

  /** Shows errors on the screen; the server's refusals are announced too. */
  private async guard(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      if (error instanceof ApiError && error.status !== 401) this.announcer.say(error.message);
      this.host.replaceChildren(problem(error));
    }
  }
}

function progress(state: StudyState): HTMLElement {
  const { done, total } = state.progress;
  if (state.step === "practice") return h("p", { class: "study-progress" }, "Practice question");
  if (state.step !== "question") return h("p", { class: "study-progress" });
  const bar = h("progress", { max: total, value: done, "aria-label": "Questions answered" });
  return h("p", { class: "study-progress" }, h("span", {}, `Question ${done + 1} of ${total}`), bar);
}

function problem(error: unknown): HTMLElement {
  if (error instanceof ApiError && error.status === 401) {
    return notice("Please open your link again", "This page works only with the study’s link. Answers not yet sent are kept in this browser.");
  }
  const text = sentence(error instanceof Error ? error.message : String(error));
  if (error instanceof ApiError && error.status === 403) return notice("You cannot take part with this link", text);
  return notice("Something went wrong", text, h("button", { type: "button", class: "button", onclick: () => location.reload() }, "Try again"));
}

async function main(): Promise<void> {
  applyTheme();
  const loading = h("p", { class: "loading", role: "status" }, "Loading…");
  root().replaceChildren(h("main", { class: "stage" }, loading));
  try {
    const who = arrival(location.search);
    const enter = (): Promise<Reply<StudyState>> => (who ? request("POST", "/api/study/enter", who) : request("GET", "/api/study"));
    const reply = await untilReached(enter, () => loading.replaceChildren("The server cannot be reached; trying again…"));
    const name = who?.prolific_pid ?? who?.participant ?? "cookie";
    await new Participant(reply.data, name).start(reply);
  } catch (error) {
    root().replaceChildren(h("main", { class: "stage" }, problem(error)));
  }
}

void main();
