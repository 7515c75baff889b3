/** The notebook widget: the app's cards, with questions and answers passing through the kernel. Each output that shows the widget has its own view. */

import { progressLine } from "../annotate/progress";
import { openHelp } from "../cards/help";
import { type Given, present, type Presented } from "../cards/present";
import { type Screen, screenOf } from "../cards/registry";
import { Announcer } from "../kit/announcer";
import { h, hiddenText } from "../kit/dom";
import { icon } from "../kit/icons";
import { Keyboard, keycap } from "../kit/keyboard";
import type { ClockRecord } from "../kit/timing";
import type { Question } from "../kit/wire";
import type { Message, Model, Show } from "./model";
import { followTheme } from "./theme";

/** The style sheet, inserted by the build. */
declare const STYLES: string;

/** A kernel that is not busy has learnt the answer and asked again by then. */
const PATIENCE_MS = 2_000;
const WAITING = "The kernel is busy; your input will be used as soon as it is free.";

class View {
  // Notebooks have their own shortcuts; this attribute makes JupyterLab ignore keys pressed here.
  private readonly host = h("div", { class: "tellmore-widget", "data-lm-suppress-shortcuts": "true" });
  private readonly tree = this.host.attachShadow({ mode: "open" });
  private readonly stage = h("div", { class: "stage" });
  private readonly footer = h("div", { class: "foot" });
  private readonly warning = h("p", { class: "warning" });
  /** Has the focus while an answer is being sent, so that keys are not passed to the notebook. */
  private readonly frame = h("div", { class: "widget-frame", tabindex: -1, role: "group", "aria-label": "Questions" });
  private readonly announcer = new Announcer();
  private readonly keyboard = new Keyboard(true, this.tree);
  private readonly undoButton = h("button", { type: "button", class: "button quiet", "aria-keyshortcuts": "Backspace Control+Z" });
  private readonly helpButton = h("button", { type: "button", class: "icon-button", title: "Help (?)", "aria-keyshortcuts": "?" });
  private readonly aside = new Map<string, ClockRecord>();
  private readonly heard = (): void => void this.show();
  private readonly endTheme: () => void;
  private presented: Presented | null = null;
  private patience: ReturnType<typeof setTimeout> | undefined;
  private sent = 0;
  private busy = false;

  constructor(
    private readonly model: Model,
    place: HTMLElement,
  ) {
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(STYLES);
    this.tree.adoptedStyleSheets = [sheet];
    this.undoButton.append(icon("undo"), h("span", {}, "Undo"), keycap("⌫"));
    this.undoButton.addEventListener("click", () => this.undo());
    this.helpButton.append(icon("help"), hiddenText("Help"));
    this.helpButton.addEventListener("click", () => this.help());
    this.keyboard.use([
      { keys: ["Backspace", "Mod+z"], run: () => this.undo() },
      { keys: ["?"], run: () => this.help() },
    ]);
    this.frame.append(this.stage, this.warning, this.footer, this.announcer.element);
    this.tree.append(this.frame);
    place.append(this.host);
    this.endTheme = followTheme(this.host);
    model.on("change:show", this.heard);
    void this.show();
  }

  dispose(): void {
    this.model.off("change:show", this.heard);
    clearTimeout(this.patience);
    this.presented?.withdraw();
    this.endTheme();
    this.host.remove();
  }

  private async show(): Promise<void> {
    const now = this.model.get("show");
    const latencyMs = this.busy ? Math.round(performance.now() - this.sent) : 0;
    clearTimeout(this.patience);
    this.busy = false;
    this.presented?.withdraw();
    this.presented = null;
    this.warn(now.said);
    this.footer.replaceChildren(progressLine(now.progress), this.undoButton, this.helpButton);
    this.undoButton.ariaDisabled = String(!now.progress.can_undo);
    try {
      const screen = now.question && (await screenOf(now.question.kind, this.model.get("words").kinds));
      if (now !== this.model.get("show")) return; // a newer question arrived while the card was loading
      if (now.question && screen) this.ask(now.question, screen, now, latencyMs);
      else this.showNothing();
    } catch (error) {
      this.warn(error instanceof Error ? error.message : String(error));
    }
  }

  private ask(question: Question, screen: Screen, { previous }: Show, latencyMs: number): void {
    const { keyboard, announcer, aside } = this;
    // Take the focus only if it is already in the widget: running a whole notebook must not move it.
    const focus = this.tree.activeElement !== null;
    this.presented = present(this.stage, { question, screen, words: this.model.get("words"), keyboard, announcer, latencyMs, previous, aside, focus, skippable: true });
    void this.presented.given.then((given) => this.answer(question.id, given));
  }

  private showNothing(): void {
    const again = h("button", { type: "button", class: "button", onclick: () => this.send({ do: "ask" }) }, "Ask again");
    this.stage.replaceChildren(h("section", { class: "card notice" }, h("h1", { class: "headline" }, "No question"), h("div", { class: "notice-actions" }, again)));
  }

  private answer(questionId: string, { answer, timing }: Given): void {
    this.send({ do: "answer", question_id: questionId, answer, timing });
  }

  private undo(): void {
    if (this.busy) return;
    if (!this.model.get("show").progress.can_undo) return this.warn("There is nothing to undo.");
    this.send({ do: "undo" });
  }

  private send(message: Message): void {
    this.busy = true;
    this.sent = performance.now();
    this.undoButton.ariaDisabled = "true";
    this.frame.focus({ preventScroll: true });
    this.patience = setTimeout(() => this.warn(WAITING), PATIENCE_MS);
    this.model.send(message);
  }

  private warn(message: string): void {
    this.warning.textContent = message;
    if (message) this.announcer.say(message);
  }

  private help(): void {
    void openHelp({ words: this.model.get("words"), keyboard: this.keyboard, free: true, shown: this.presented, layer: this.tree });
  }
}

/** Called by anywidget for each output that shows the widget; the returned function is called when that output is removed. */
function render({ model, el }: { model: Model; el: HTMLElement }): () => void {
  const view = new View(model, el);
  return () => view.dispose();
}

export default { render };
