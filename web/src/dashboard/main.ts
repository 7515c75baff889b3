/** The owner's dashboard: several views of one state, updated by server-sent events. */

import { Announcer } from "../kit/announcer";
import { ApiError, get, OfflineError, untilReached } from "../kit/api";
import { h, root } from "../kit/dom";
import { header, notice } from "../kit/frame";
import { icon } from "../kit/icons";
import { at, PLACE } from "../kit/place";
import { applyTheme } from "../kit/theme";
import type { Dashboard, Me } from "../kit/wire";
import { sentence } from "../kit/words";
import { AgreementView } from "./agreement";
import { ExportView } from "./export";
import { ItemsView } from "./items";
import { JudgeView } from "./judge";
import { AnswerLog } from "./log";
import { Overview } from "./overview";
import { People } from "./people";
import { SettingsView } from "./settings";

const VIEWS = { overview: "Overview", items: "Items", answers: "Answers", judge: "Judge", people: "People", agreement: "Agreement", export: "Export", settings: "Settings" } as const;
type View = keyof typeof VIEWS;

const LISTEN_AGAIN_MS = 3_000;

/** Changes within this time of each other are shown together. */
const GATHER_MS = 250;

class DashboardPage {
  private readonly announcer = new Announcer();
  private readonly live = h("div", { class: "status", role: "status" });
  private readonly alert = h("div", { class: "alert", role: "alert" });
  private readonly host = h("main", { class: "dashboard", id: "view", tabindex: -1 });
  private readonly nav = h("nav", { class: "tabs", "aria-label": "Dashboard" });
  private readonly overview = new Overview((error) => this.report(error));
  private readonly items = new ItemsView((error) => this.report(error));
  private readonly exports = new ExportView();
  private readonly log = new AnswerLog((error) => this.report(error));
  private readonly judge = new JudgeView((error) => this.report(error));
  private readonly agreement = new AgreementView((error) => this.report(error));
  private readonly people = new People((error) => this.report(error));
  private readonly settings = new SettingsView((error) => this.report(error), () => this.alert.replaceChildren());
  private refreshing = false;
  private outdated = false;
  /** Whether the server could not be reached. */
  private away = false;

  constructor(private data: Dashboard, name: string) {
    const bar = header({ project: data.project.name, name, status: this.live, link: { href: "/", label: "Answer questions", icon: "card" } });
    root().replaceChildren(bar, this.nav, this.alert, this.host, this.announcer.element);
    this.nav.append(...Object.entries(VIEWS).map(([view, label]) => h("a", { href: `#${view}` }, label)), PLACE && h("a", { href: "/" }, "All projects"));
    window.addEventListener("hashchange", () => this.open());
    this.open();
    this.listen();
  }

  private get view(): View {
    const name = location.hash.slice(1);
    return name in VIEWS ? (name as View) : "overview";
  }

  private open(): void {
    const elements: Record<View, HTMLElement> = {
      overview: this.overview.element,
      items: this.items.element,
      answers: this.log.element,
      judge: this.judge.element,
      export: this.exports.element,
      people: this.people.element,
      agreement: this.agreement.element,
      settings: this.settings.element,
    };
    for (const link of this.nav.querySelectorAll("a")) {
      if (link.hash !== `#${this.view}`) link.removeAttribute("aria-current");
      else {
        link.setAttribute("aria-current", "page");
        link.scrollIntoView({ block: "nearest", inline: "nearest" }); // a phone shows half of the tabs
      }
    }
    this.alert.replaceChildren();
    document.title = `${VIEWS[this.view]} · ${this.data.project.name} · tellmore`;
    this.host.replaceChildren(h("h1", { class: "visually-hidden" }, VIEWS[this.view]), elements[this.view]);
    void this.paint();
  }

  private async paint(): Promise<void> {
    const names = new Map(this.data.annotators.map((person) => [person.participant, person.name]));
    try {
      if (this.view === "overview") this.overview.show(this.data);
      if (this.view === "items") await this.items.show(this.data);
      if (this.view === "export") await this.exports.show(this.data);
      if (this.view === "answers") await this.log.show(this.data.project.kinds, names);
      if (this.view === "judge") await this.judge.show(this.data.project);
      if (this.view === "agreement") await this.agreement.show(this.data.project);
      if (this.view === "people") await this.people.show(this.data);
      if (this.view === "settings") await this.settings.show(this.data);
    } catch (error) {
      this.report(error);
    }
  }

  private listen(): void {
    const events = new EventSource(at("/api/events"));
    events.addEventListener("open", () => {
      this.showLive(true);
      if (this.away) this.resume();
    });
    events.addEventListener("error", () => {
      this.away = true;
      this.showLive(false);
      // After a refusal, such as a proxy's while the server restarts, browsers do not try again by themselves.
      if (events.readyState === EventSource.CLOSED) setTimeout(() => this.listen(), LISTEN_AGAIN_MS);
    });
    events.addEventListener("changed", () => void this.follow());
  }

  /** The server is back: what failed without it is shown anew. */
  private resume(): void {
    this.away = false;
    this.alert.replaceChildren();
    void this.follow();
  }

  /** Refreshes once at a time, however fast changes come, and once more after the last one. */
  private async follow(): Promise<void> {
    this.outdated = true;
    if (this.refreshing) return;
    this.refreshing = true;
    while (this.outdated) {
      await new Promise((resolve) => setTimeout(resolve, GATHER_MS));
      this.outdated = false;
      await this.refresh();
    }
    this.refreshing = false;
  }

  private async refresh(): Promise<void> {
    try {
      this.data = await get<Dashboard>("/api/dashboard");
      await this.paint();
    } catch (error) {
      // The status shows that the server is away; when it is back, the next change is shown.
      if (!(error instanceof OfflineError)) this.report(error);
    }
  }

  private showLive(connected: boolean): void {
    this.live.dataset.state = connected ? "saved" : "offline";
    this.live.replaceChildren(icon(connected ? "check" : "cloud"), h("span", {}, connected ? "Live" : "Offline, retrying"));
  }

  private report(error: unknown): void {
    const text = sentence(error instanceof Error ? error.message : String(error));
    this.alert.replaceChildren(h("p", {}, icon("alert"), text));
  }
}

async function main(): Promise<void> {
  applyTheme();
  root().replaceChildren(h("main", { class: "stage" }, h("p", { class: "loading", role: "status" }, "Loading…")));
  try {
    const [data, me] = await untilReached(() => Promise.all([get<Dashboard>("/api/dashboard"), get<Me>("/api/me")]));
    new DashboardPage(data, me.name);
  } catch (error) {
    const status = error instanceof ApiError ? error.status : 0;
    const refused = status === 401 || status === 403;
    const text = refused ? "The dashboard is for the project’s owner. Open the link that was printed when the server started." : sentence(error instanceof Error ? error.message : String(error));
    const questions = status === 403 && h("a", { class: "button", href: at("/") }, "Go to the questions");
    root().replaceChildren(h("main", { class: "stage" }, notice(refused ? "No access to the dashboard" : "Something went wrong", text, questions)));
  }
}

void main();
