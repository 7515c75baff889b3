/** People: who answers, how fast and how reliably; invitations; deleting one person's data. */

import { get, post, request } from "../kit/api";
import { copyButton } from "../kit/copy";
import { confirmed } from "../kit/dialog";
import { h } from "../kit/dom";
import { icon } from "../kit/icons";
import { percent } from "../kit/numbers";
import type { Dashboard, Invitation, Person } from "../kit/wire";
import { clockTime, duration, seconds } from "./format";
import { panel, table } from "./table";

type Report = (error: unknown) => void;

function action(label: string, name: string, run: () => Promise<void>): HTMLElement {
  return h("button", { type: "button", class: "button small danger", "aria-label": `${label} ${name}`, onclick: () => void run() }, label);
}

function shareOf(part: number, whole: number): string {
  return whole ? `${part} of ${whole}` : "–";
}

/** The name, and warnings about this person's answers; they still get questions. */
function named({ name, reliability: { warning }, manner, lately }: Person): HTMLElement {
  const cautions = manner.left_out ? ["left out: nothing is learnt from these answers"] : [warning, manner.verdict, lately].filter((each) => each !== null);
  return h("span", { dir: "auto" }, name, ...cautions.map((each) => h("span", { class: "caution" }, icon("alert"), each)));
}

function answersOf({ answers, skips, undone }: Person): string {
  return [String(answers), skips && `${skips} skipped`, undone && `${undone} undone`].filter(Boolean).join(", ");
}

/** Hosts that lead every computer to itself. */
const LOOPBACK = ["localhost", "127.0.0.1", "[::1]"];

/** A new link, to be sent to somebody; says so if it does not lead other computers here. */
export function linkView(invitation: Invitation): HTMLElement {
  const address = invitation.url ?? "";
  const field = h("input", { readonly: true, value: address, "aria-label": `Link for ${invitation.name}`, class: "mono" });
  field.addEventListener("focus", () => field.select());
  const until = invitation.expires_utc ? `until ${dayOf(invitation.expires_utc)} or until it is revoked` : "until it is revoked";
  const note = h("p", { class: "hint" }, `Send this to ${invitation.name}. It is shown only now, and works ${until}.`);
  const here = URL.canParse(address) && LOOPBACK.includes(new URL(address).hostname);
  const caution = here && h("p", { class: "hint" }, "It works on this computer only. To let others in, start the server with: ", h("code", {}, "tellmore serve PROJECT --host 0.0.0.0"));
  return h("div", { class: "fresh-link", role: "status" }, note, caution, h("div", { class: "inline-form" }, field, copyButton(address, field)));
}

function dayOf(utc: string): string {
  return new Date(utc).toLocaleDateString(undefined, { dateStyle: "medium" });
}

function stateOf({ revoked, expired, expires_utc: until, people_left: left }: Invitation): string {
  if (revoked) return "revoked";
  if (expired) return "expired";
  const more = left === null ? "" : `, for ${left} more`;
  return until ? `valid until ${dayOf(until)}${more}` : `valid${more}`;
}

export class People {
  readonly element = h("div", { class: "view" });
  private readonly persons = h("div");
  private readonly invited = h("div");
  private readonly fresh = h("div");

  constructor(private readonly report: Report) {
    this.element.append(
      panel("Annotators", "How often each person’s labels match the classifier’s predictions, other people’s labels of the same items, and what everybody else’s answers teach (as others taught). Known items are those that you labelled on the Items page or in a conflict.", this.persons),
      panel("Invitations", "A link is for one person, or for several, who each answer separately. Annotators see questions only.", this.form(), this.fresh, this.invited),
    );
  }

  async show(data: Dashboard): Promise<void> {
    this.persons.replaceChildren(this.table(data.annotators));
    await this.refreshInvitations();
  }

  private table(people: Person[]): HTMLElement {
    return table<Person>({
      caption: "Annotators",
      rows: people,
      empty: "Nobody has answered yet.",
      blocks: true,
      columns: [
        { title: "Name", cell: named },
        { title: "Answers", numeric: true, cell: answersOf },
        { title: "Median time", numeric: true, cell: (person) => seconds(person.median_s) },
        { title: "Time spent", numeric: true, cell: ({ minutes }) => duration(minutes) },
        { title: "Match predictions", numeric: true, cell: ({ agreement }) => (agreement === null ? "–" : percent(agreement)) },
        { title: "Match others", numeric: true, cell: ({ reliability: { alike, shared } }) => shareOf(alike, shared) },
        { title: "Known items", numeric: true, cell: ({ reliability: { known_right, known } }) => shareOf(known_right, known) },
        { title: "As others taught", cell: ({ manner }) => manner.habits },
        { title: "Last answer", cell: (person) => [person.last_utc && clockTime(person.last_utc), person.open && "has a question open"].filter(Boolean).join(", ") || "–" },
        { title: "Data", cell: (person) => h("span", { class: "row-actions" }, this.leaveOut(person), action("Delete", `the data of ${person.name}`, () => this.erase(person))) },
      ],
    });
  }

  /** Leaves somebody's answers out, or counts them again. Nothing is lost either way, so no confirmation is needed. */
  private leaveOut({ participant, name, manner: { left_out: out } }: Person): HTMLElement {
    const label = out ? "Count again" : "Leave out";
    const run = (): void => void this.attempt(() => post("/api/leave-out", { participant, out: !out }));
    return h("button", { type: "button", class: "button small", "aria-label": `${label} the answers of ${name}`, onclick: run }, label);
  }

  private async erase(person: Person): Promise<void> {
    const text = `All answers of ${person.name} are erased from the log, and the classifier is retrained without them. This cannot be undone.`;
    if (await confirmed(`Delete the data of ${person.name}?`, text, "Delete")) {
      await this.attempt(() => request("DELETE", `/api/participants/${encodeURIComponent(person.participant)}`));
    }
  }

  private form(): HTMLElement {
    const name = h("input", { name: "name", required: true, maxlength: 200, autocomplete: "off" });
    const role = h("select", { name: "role" }, h("option", { value: "annotator" }, "Annotator"), h("option", { value: "owner" }, "Owner"));
    const option = (value: string, label: string): HTMLElement => h("option", { value }, label);
    const lasts = h("select", { name: "lasts" }, option("90", "90 days"), option("30", "30 days"), option("7", "7 days"), option("1", "1 day"), option("", "Until revoked"));
    const people = h("input", { name: "people", type: "number", min: 1, max: 1000, value: 1, required: true });
    const create = h("button", { type: "submit", class: "button primary" }, "Create a link");
    const form = h("form", { class: "inline-form" });
    form.append(
      h("label", { class: "field" }, h("span", {}, "Name"), name),
      h("label", { class: "field" }, h("span", {}, "Role"), role),
      h("label", { class: "field" }, h("span", {}, "Valid for"), lasts),
      h("label", { class: "field" }, h("span", {}, "People"), people),
      create,
    );
    // The click of the button submits the form; a second one at once would make a second link.
    create.addEventListener("click", (event) => event.detail > 1 && event.preventDefault());
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      void this.attempt(async () => {
        const invitation = await post<Invitation>("/api/invitations", {
          name: name.value,
          role: role.value,
          expires_days: lasts.value ? Number(lasts.value) : null,
          people: Number(people.value) > 1 ? Number(people.value) : null,
        });
        this.fresh.replaceChildren(linkView(invitation));
        form.reset();
        await this.refreshInvitations();
      });
    });
    return form;
  }

  private async refreshInvitations(): Promise<void> {
    const invitations = await get<Invitation[]>("/api/invitations");
    const view = table<Invitation>({
      caption: "Invitations",
      rows: invitations,
      empty: "No invitations yet.",
      blocks: true,
      mark: ({ revoked, expired }) => (revoked || expired ? "undone" : ""),
      columns: [
        { title: "Name", cell: (row) => h("span", { dir: "auto" }, row.name) },
        { title: "Role", cell: ({ role }) => role },
        { title: "Made", cell: (row) => clockTime(row.created_utc) },
        { title: "State", cell: stateOf },
        { title: "Access", cell: (row) => !row.revoked && action("Revoke", `the link of ${row.name}`, () => this.revoke(row)) },
      ],
    });
    this.invited.replaceChildren(view);
  }

  private async revoke(invitation: Invitation): Promise<void> {
    const text = `${invitation.name} can no longer open the project with this link. Answers already given stay.`;
    if (!(await confirmed("Revoke this link?", text, "Revoke"))) return;
    await this.attempt(async () => {
      await request("DELETE", `/api/invitations/${encodeURIComponent(invitation.id)}`);
      await this.refreshInvitations();
    });
  }

  private async attempt(work: () => Promise<unknown>): Promise<void> {
    try {
      await work();
    } catch (error) {
      this.report(error);
    }
  }
}
