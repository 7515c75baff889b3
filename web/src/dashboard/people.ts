/** People: who answers, how fast and how reliably; invitations; deleting one person's data. */

import { get, post, request } from "../kit/api";
import { confirmed } from "../kit/dialog";
import { h } from "../kit/dom";
import type { Dashboard, Invitation, Person } from "../kit/wire";
import { clockTime, duration, percent, seconds } from "./format";
import { panel, table } from "./table";

type Report = (error: unknown) => void;

function action(label: string, name: string, run: () => Promise<void>): HTMLElement {
  return h("button", { type: "button", class: "button small danger", "aria-label": `${label} ${name}`, onclick: () => void run() }, label);
}

async function copy(text: string, button: HTMLButtonElement): Promise<void> {
  await navigator.clipboard.writeText(text);
  button.textContent = "Copied";
}

function linkView(invitation: Invitation): HTMLElement {
  const address = invitation.url ?? "";
  const field = h("input", { readonly: true, value: address, "aria-label": `Link for ${invitation.name}`, class: "mono" });
  field.addEventListener("focus", () => field.select());
  const button = h("button", { type: "button", class: "button" }, "Copy");
  button.addEventListener("click", () => void copy(address, button).catch(() => field.select()));
  const note = h("p", { class: "hint" }, `Send this to ${invitation.name}. It is shown only now, and works until it is revoked.`);
  return h("div", { class: "fresh-link", role: "status" }, note, h("div", { class: "inline-form" }, field, button));
}

export class People {
  readonly element = h("div", { class: "view" });
  private readonly persons = h("div");
  private readonly invited = h("div");
  private readonly fresh = h("div");

  constructor(private readonly report: Report) {
    this.element.append(
      panel("Annotators", "Agreement: how often the classifier now says the same as the person did.", this.persons),
      panel("Invitations", "One link for one person. Annotators see questions only.", this.form(), this.fresh, this.invited),
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
        { title: "Name", cell: (person) => h("span", { dir: "auto" }, person.name) },
        { title: "Answers", numeric: true, cell: ({ answers }) => String(answers) },
        { title: "Skipped", numeric: true, cell: ({ skips }) => String(skips) },
        { title: "Undone", numeric: true, cell: ({ undone }) => String(undone) },
        { title: "Median time", numeric: true, cell: (person) => seconds(person.median_s) },
        { title: "Time spent", numeric: true, cell: ({ minutes }) => duration(minutes) },
        { title: "Agreement", numeric: true, cell: ({ agreement }) => (agreement === null ? "–" : percent(agreement)) },
        { title: "Last answer", cell: (person) => [person.last_utc && clockTime(person.last_utc), person.open && "has a question open"].filter(Boolean).join(", ") || "–" },
        { title: "Data", cell: (person) => action("Delete", `the data of ${person.name}`, () => this.erase(person)) },
      ],
    });
  }

  private async erase(person: Person): Promise<void> {
    const text = `All answers of ${person.name} are erased from the log and forgotten by the classifier. This cannot be taken back.`;
    if (await confirmed(`Delete the data of ${person.name}?`, text, "Delete")) {
      await this.attempt(() => request("DELETE", `/api/participants/${encodeURIComponent(person.participant)}`));
    }
  }

  private form(): HTMLElement {
    const name = h("input", { name: "name", required: true, maxlength: 200, autocomplete: "off" });
    const role = h("select", { name: "role" }, h("option", { value: "annotator" }, "Annotator"), h("option", { value: "owner" }, "Owner"));
    const form = h("form", { class: "inline-form" });
    form.append(
      h("label", { class: "field" }, h("span", {}, "Name"), name),
      h("label", { class: "field" }, h("span", {}, "Role"), role),
      h("button", { type: "submit", class: "button primary" }, "Make a link"),
    );
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      void this.attempt(async () => {
        const invitation = await post<Invitation>("/api/invitations", { name: name.value, role: role.value });
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
      mark: ({ revoked }) => (revoked ? "undone" : ""),
      columns: [
        { title: "Name", cell: (row) => h("span", { dir: "auto" }, row.name) },
        { title: "Role", cell: ({ role }) => role },
        { title: "Made", cell: (row) => clockTime(row.created_utc) },
        { title: "State", cell: ({ revoked }) => (revoked ? "revoked" : "valid") },
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
