/** The progress of the project, in the server's words, and what can be done now. */

import { post } from "../kit/api";
import { h } from "../kit/dom";
import { percent } from "../kit/numbers";
import { sentence } from "../kit/words";
import type { Dashboard, Mistake, Person } from "../kit/wire";
import { duration } from "./format";
import { brief, panel, shortItem, table } from "./table";

function button(label: string, path: string, report: (error: unknown) => void): HTMLElement {
  return h("button", { type: "button", class: "button", onclick: () => void post(path).catch(report) }, label);
}

/** After every change the server sends an event, which updates the page. */
export function summary(data: Dashboard, report: (error: unknown) => void): HTMLElement {
  const { standing, over } = data;
  const [title, text] = standing.end ?? [null, null];
  const lines = [standing.accuracy, standing.target, ...(standing.left ? [standing.left] : [])];
  const asking = over ? data.may_go_on && button("Continue asking", "/api/go-on", report) : button("End the questions", "/api/end", report);
  return h(
    "section",
    { class: "panel standing", "data-over": String(over) },
    h("h2", {}, title ?? sentence(standing.accuracy)),
    ...(title ? [h("p", {}, text), h("p", { class: "hint" }, sentence(standing.target))] : lines.slice(1).map((line) => h("p", {}, sentence(line)))),
    h("div", { class: "buttons" }, h("a", { class: title ? "button primary" : "button", href: "#export" }, "Get the classifier"), h("a", { class: "button", href: "#items" }, "Look at the items"), asking),
  );
}

export function mistakesPanel({ mistakes, accuracy, project: { positive, negative } }: Dashboard): HTMLElement {
  const called = (yes: boolean): string => (yes ? positive : negative);
  const view = table<Mistake>({
    caption: "Mistakes on random checks",
    rows: mistakes,
    empty: accuracy ? "No mistakes on random checks so far." : "No random checks so far.",
    columns: [
      { title: "Item", cell: shortItem },
      { title: "Predicted", cell: ({ probability: p }) => brief(`${called(p >= 0.5)} (${percent(Math.max(p, 1 - p))} sure)`) },
      { title: "Answered", cell: ({ told }) => brief(called(told)) },
    ],
  });
  return panel("What it got wrong", "Random items whose answer differed from the prediction, the most confident predictions first.", view);
}

export function peoplePanel({ annotators }: Dashboard): HTMLElement {
  const view = table<Person>({
    caption: "Who did what",
    rows: annotators.filter(({ answers, skips }) => answers + skips > 0),
    empty: "Nobody has answered yet.",
    columns: [
      { title: "Name", cell: ({ name, manner }) => h("span", { dir: "auto" }, name, manner.left_out && " (left out)") },
      { title: "Answers", numeric: true, cell: ({ answers }) => String(answers) },
      { title: "Time spent", numeric: true, cell: ({ minutes }) => duration(minutes) },
      { title: "Agrees with the classifier", numeric: true, cell: ({ agreement }) => (agreement === null ? "–" : percent(agreement)) },
    ],
  });
  return panel("Who did what", null, view);
}
