/** The annotator's page: asks one question after another and never loses an answer. */

import { openHelp } from "../cards/help";
import { type Given, present, type Presented } from "../cards/present";
import { type Screen, screenOf } from "../cards/registry";
import { Announcer } from "../kit/announcer";
import { ApiError, get, OfflineError, post, type Reply, request, untilReached } from "../kit/api";
import { h, root, showTop } from "../kit/dom";
import { header, notice } from "../kit/frame";
import { sentence } from "../kit/words";
import { icon } from "../kit/icons";
import { Keyboard, keycap } from "../kit/keyboard";
import { Outbox } from "../kit/outbox";
import { StatusChip } from "../kit/status";
import { applyTheme } from "../kit/theme";
import type { ClockRecord } from "../kit/timing";
import type { Answer, End, Me, Question, Saved, Submission, Turn, Undone } from "../kit/wire";
import { askForStart } from "../start/screen";
import { endScreen } from "./end";
import { glanceView } from "./glance";
import { askForNote } from "./note";
import { pauseView } from "./pause";
import { progressLine } from "./progress";
import { welcome } from "./welcome";

/** How long to wait before asking again while all questions are with other people. */
const ASK_AGAIN_MS = 5_000;
/** How long a confirmation stays: long enough to be read twice. */
const CONFIRMED_MS = 5_000;

class Annotator {
  private readonly host = h("main", { class: "stage" });
  private readonly footer = h("footer", { class: "foot" });
  private readonly status = new StatusChip();
  private readonly announcer = new Announcer();
  private readonly keyboard: Keyboard;
  private readonly outbox: Outbox<Submission, Saved>;
  private readonly undoButton = h("button", { type: "button", class: "button quiet", "aria-keyshortcuts": "Backspace Control+Z" });
  /** What went wrong, until the next question; it is announced to screen readers too. */
  private readonly warning = h("aside", { class: "warning", "aria-label": "Notice" });
  /** The introduction before the first answer; later, now and then, a few predictions. */
  private readonly glance = h("div", { class: "glance-host" });
  private presented: Presented | null = null;
  private askAgain: ReturnType<typeof setTimeout> | undefined;
  private forget: ReturnType<typeof setTimeout> | undefined;
  private busy = false;
  private undoable = 0;
  /** Questions answered since the page was opened, newest last; naming one makes an undo safe to repeat. */
  private readonly answered: string[] = [];
  private readonly aside = new Map<string, ClockRecord>();

  constructor(private readonly me: Me) {
    this.keyboard = new Keyboard(me.shortcuts ?? true);
    this.outbox = new Outbox("/api/answers", { name: me.participant, onState: (state) => this.status.show(state) });
    this.undoButton.append(icon("undo"), h("span", {}, "Undo"), keycap("⌫"));
    this.undoButton.addEventListener("click", () => void this.undo());
    this.keyboard.use([
      { keys: ["Backspace", "Mod+z"], run: () => void this.undo() },
      { keys: ["?"], run: () => this.help() },
    ]);
    const link = me.role === "owner" ? { link: { href: "/dashboard", label: "Dashboard", icon: "chart" as const } } : {};
    const bar = header({ project: me.project.name, name: me.name, status: this.status.element, onHelp: () => this.help(), ...link, guidelines: me.project.guidelines !== "" });
    root().replaceChildren(bar, this.host, this.glance, this.warning, this.footer, this.announcer.element);
  }

  /** Sends answers left from an earlier visit, then shows the open question. */
  async start(): Promise<void> {
    const { refused } = await this.outbox.flush();
    await this.fetchTurn();
    if (refused) this.warn("An answer from an earlier visit could not be saved.");
  }

  private async fetchTurn(): Promise<void> {
    const reply = await this.reach(() => request<Turn>("GET", "/api/question"));
    await this.show(reply.data, reply.latencyMs);
  }

  private async reach<T>(attempt: () => Promise<T>): Promise<T> {
    let wasOffline = false;
    const result = await untilReached(attempt, () => {
      wasOffline = true;
      this.status.show("offline");
    });
    if (wasOffline) this.status.show("idle");
    return result;
  }

  private async show(turn: Turn, latencyMs: number, previous: Answer | null = null): Promise<void> {
    clearTimeout(this.askAgain);
    const screen = turn.question && (await screenOf(turn.question.kind, this.me.project.kinds));
    this.clearWarning();
    const aside = turn.glance ? glanceView(turn.glance, this.me.project, () => this.glance.replaceChildren()) : turn.question && (pauseView(this.me, turn.pause) ?? welcome(this.me, turn.progress.answers));
    this.glance.replaceChildren(...(aside ? [aside] : []));
    this.presented?.withdraw();
    this.presented = null;
    this.footer.replaceChildren(progressLine(turn.progress), this.undoButton);
    this.undoable = turn.progress.can_undo ?? 0;
    this.setBusy(false);
    if (turn.question && screen) this.ask(turn.question, screen, latencyMs, previous);
    else if (turn.end) this.showEnd(turn.end);
    else this.showNothing(turn.reason ?? "There is nothing to ask at the moment.");
  }

  private ask(question: Question, screen: Screen, latencyMs: number, previous: Answer | null): void {
    const { keyboard, announcer } = this;
    const words = this.me.project;
    this.presented = present(this.host, { question, screen, words, keyboard, announcer, latencyMs, previous, skippable: true, onNote: () => void this.note(question), aside: this.aside });
    void this.presented.given.then((given) => this.guard(() => this.save(question.id, given)));
  }

  private async note(question: Question): Promise<void> {
    try {
      if (await askForNote(question.items)) this.confirm("Your comment was sent.");
    } catch (error) {
      this.warn(sentence(`Your comment was not sent: ${error instanceof Error ? error.message : String(error)}`));
    }
  }

  private showEnd(end: End): void {
    const goOn = async (): Promise<void> => {
      await post("/api/go-on");
      await this.fetchTurn();
    };
    this.display(endScreen(end, this.me.role === "owner", () => void this.guard(goOn)));
    this.announcer.say(`${end.title}. ${end.text}`);
  }

  private display(card: HTMLElement): void {
    this.host.replaceChildren(card);
    card.focus({ preventScroll: true });
    showTop(card);
  }

  private showNothing(reason: string): void {
    const again = h("button", { type: "button", class: "button", onclick: () => void this.guard(() => this.fetchTurn()) }, "Check again");
    this.display(notice("No question for now", reason, again));
    this.askAgain = setTimeout(() => void this.guard(() => this.fetchTurn()), ASK_AGAIN_MS);
  }

  private async save(questionId: string, given: Given): Promise<void> {
    this.setBusy(true);
    let reply: Reply<Saved>;
    try {
      reply = await this.outbox.put({ question_id: questionId, ...given });
    } catch (error) {
      if (!(error instanceof ApiError) || error.status === 401) throw error;
      await this.fetchTurn();
      return this.warn(sentence(`Not saved: ${error.message}`));
    }
    this.answered.push(questionId);
    await this.show(reply.data.next, reply.latencyMs);
  }

  private async undo(): Promise<void> {
    if (this.busy) return;
    if (this.undoable === 0) return this.warn("There is nothing to undo.");
    this.setBusy(true);
    await this.guard(() => this.takeBack(this.answered.at(-1)));
    this.setBusy(false);
  }

  private async takeBack(questionId: string | undefined): Promise<void> {
    const attempt = (): Promise<Reply<Undone>> => request("POST", "/api/undo", questionId ? { question_id: questionId } : {});
    try {
      const { data, latencyMs } = await (questionId ? this.reach(attempt) : attempt());
      this.answered.pop();
      this.announcer.say("Undone. The last question is shown again.");
      await this.show(data.next, latencyMs, data.previous ?? null);
    } catch (error) {
      const refused = error instanceof ApiError && error.status !== 401;
      if (!refused && !(error instanceof OfflineError)) throw error;
      this.warn(error.message);
    }
  }

  private warn(message: string): void {
    clearTimeout(this.forget);
    this.warning.textContent = message;
    // The bar of a grid stays at the bottom of the screen; the notice joins it, because it would cover the buttons.
    const bar = this.host.querySelector(".tick-bar");
    if (bar) bar.prepend(this.warning);
    else this.footer.before(this.warning);
    this.announcer.say(message);
  }

  private confirm(message: string): void {
    this.warn(message);
    this.forget = setTimeout(() => this.clearWarning(), CONFIRMED_MS);
  }

  /** Empties the notice and takes it out of the question, which may be replaced. */
  private clearWarning(): void {
    clearTimeout(this.forget);
    this.warning.textContent = "";
    this.footer.before(this.warning);
  }

  private setBusy(busy: boolean): void {
    this.busy = busy;
    this.undoButton.ariaDisabled = String(busy || this.undoable === 0);
  }

  private help(): void {
    void openHelp({ words: this.me.project, keyboard: this.keyboard, free: true, notes: true, shown: this.presented });
  }

  /** Shows errors that cannot be recovered from on the screen, so that none goes unnoticed. */
  private async guard(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      this.presented?.withdraw();
      this.presented = null;
      this.glance.replaceChildren();
      this.display(problem(error));
    }
  }
}

function problem(error: unknown): HTMLElement {
  const lost = error instanceof ApiError && (error.status === 401 || error.status === 403);
  const text = error instanceof Error ? error.message : String(error);
  const reload = h("button", { type: "button", class: "button", onclick: () => location.reload() }, "Try again");
  return lost ? notice("No access", `${sentence(text)} Answers not yet sent are kept in this browser.`) : notice("Something went wrong", sentence(text), reload);
}

async function main(): Promise<void> {
  applyTheme();
  root().replaceChildren(h("main", { class: "stage" }, h("p", { class: "loading", role: "status" }, "Loading…")));
  try {
    const me = await untilReached(() => get<Me>("/api/me"));
    await untilReached(() => askForStart(me));
    await new Annotator(me).start();
  } catch (error) {
    root().replaceChildren(h("main", { class: "stage" }, problem(error)));
  }
}

void main();
