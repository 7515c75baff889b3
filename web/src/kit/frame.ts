/** The frame around every screen: name, status, help, theme, and links to the other screens. */

import { h, hiddenText, type Child } from "./dom";
import { icon } from "./icons";
import { at } from "./place";
import { themeButton } from "./theme";

export interface FrameOptions {
  project: string;
  status?: HTMLElement;
  onHelp?: () => void;
  /** Whether there are guidelines to read; they open in a new tab, so that the question stays. */
  guidelines?: boolean;
  /** Who is signed in. */
  name?: string;
  link?: { href: string; label: string; icon: "chart" | "card" };
}

function helpButton(open: () => void): HTMLButtonElement {
  const button = h("button", { type: "button", class: "icon-button", title: "Help (?)", "aria-keyshortcuts": "?" }, icon("help"), hiddenText("Help"));
  button.addEventListener("click", open);
  return button;
}

export function header(options: FrameOptions): HTMLElement {
  const { link } = options;
  return h(
    "header",
    { class: "bar" },
    h("p", { class: "brand" }, h("strong", {}, "tellmore"), h("span", { class: "project", dir: "auto" }, options.project)),
    h(
      "div",
      { class: "tools" },
      options.status,
      options.name && h("span", { class: "person", dir: "auto", title: `Signed in as ${options.name}` }, options.name),
      link && h("a", { class: "tool-link", href: at(link.href), title: link.label }, icon(link.icon), h("span", { class: "tool-label" }, link.label)),
      options.guidelines && h("a", { class: "tool-link", href: at("/guidelines"), target: "_blank", title: "Guidelines" }, icon("book"), h("span", { class: "tool-label" }, "Guidelines")),
      options.onHelp && helpButton(options.onHelp),
      themeButton(),
    ),
  );
}

/** A screen with one message and the actions that can follow. */
export function notice(title: string, text: string, ...actions: Child[]): HTMLElement {
  const element = h("section", { class: "card notice", tabindex: -1, "aria-labelledby": "headline" });
  element.append(h("h1", { class: "headline", id: "headline" }, title), h("p", { class: "instruction" }, text), h("div", { class: "notice-actions" }, ...actions.filter(Boolean)));
  return element;
}
