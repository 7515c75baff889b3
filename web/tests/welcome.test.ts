import { beforeEach, describe, expect, it } from "vitest";
import { glanceView } from "../src/annotate/glance";
import { pauseView } from "../src/annotate/pause";
import { welcome } from "../src/annotate/welcome";
import { query } from "../src/dashboard/items";
import { leftAlone } from "../src/cards/rank-drag";
import { h } from "../src/kit/dom";
import { sentence } from "../src/kit/words";
import type { Me } from "../src/kit/wire";

const me = { participant: "owner", project: { name: "Moods" }, introduction: ["What for.", "How long."] } as unknown as Me;

describe("the welcome", () => {
  beforeEach(() => localStorage.clear());

  it("is shown before the first answer only", () => {
    expect([...welcome(me, 0)!.querySelectorAll("li")].map((line) => line.textContent)).toEqual(["What for.", "How long."]);
    expect(welcome(me, 1)).toBeNull();
    expect(welcome({ ...me, introduction: [] }, 0)).toBeNull();
  });

  it("stays away once it was put away", () => {
    const shown = welcome(me, 0)!;
    document.body.append(shown);
    shown.querySelector("button")!.click();
    expect(shown.isConnected).toBe(false);
    expect(welcome(me, 0)).toBeNull();
    expect(welcome({ ...me, participant: "p-kim" }, 0)).not.toBeNull();
  });
});

describe("a break", () => {
  beforeEach(() => localStorage.clear());

  it("is proposed until it is put away, and again for other answers", () => {
    const shown = pauseView(me, { id: "slower-80", text: "A short break may help." })!;
    document.body.append(shown);
    expect(shown.textContent).toContain("A short break may help.");
    expect(pauseView(me, { id: "slower-80", text: "Still." })).not.toBeNull();
    shown.querySelector("button")!.click();
    expect(shown.isConnected).toBe(false);
    expect(pauseView(me, { id: "slower-80", text: "Still." })).toBeNull();
    expect(pauseView(me, { id: "worse-190", text: "Again." })).not.toBeNull();
    expect(pauseView(me, null)).toBeNull();
  });
});

describe("a glance", () => {
  it("says what was learnt in the project's words, and goes away", () => {
    let gone = 0;
    const item = (text: string) => ({ id: text, text, image: null });
    const view = glanceView({ most: [item("vibrant")], least: [item("grim")], unsure: item("plain") }, { positive: "warm", negative: "cold" }, () => (gone += 1));
    expect([...view.querySelectorAll("dt")].map((term) => term.textContent)).toEqual(["Probably warm", "Probably cold", "Not sure"]);
    expect([...view.querySelectorAll("dd")].map((text) => text.textContent)).toEqual(["vibrant", "grim", "plain"]);
    view.querySelector("button")!.click();
    expect(gone).toBe(1);
  });

  it("shows only two long texts of a side, each of them whole to the mouse", () => {
    const long = Array.from({ length: 4 }, (_, index) => `${index}: ${"a long story ".repeat(5)}`);
    const item = (text: string) => ({ id: text, text, image: null });
    const view = glanceView({ most: long.map(item), least: ["a", "b", "c", "d"].map(item), unsure: item("plain") }, { positive: "warm", negative: "cold" }, () => {});
    const [most, least] = [...view.querySelectorAll("dd")].map((side) => [...side.querySelectorAll<HTMLElement>(".glance-item")].map(({ textContent, title }) => [textContent, title]));
    expect(most).toEqual(long.slice(0, 2).map((text) => [text, text]));
    expect(least).toEqual(["a", "b", "c", "d"].map((text) => [text, ""]));
  });

  it("says so if nothing was found on one side", () => {
    const item = (text: string) => ({ id: text, text, image: null });
    const view = glanceView({ most: [], least: [item("grim")], unsure: item("plain") }, { positive: "warm", negative: "cold" }, () => {});
    expect([...view.querySelectorAll("dd")].map((text) => text.textContent)).toEqual(["None of these", "grim", "plain"]);
  });
});

describe("words of the server", () => {
  it("become sentences", () => {
    expect(["too early", "Done."].map(sentence)).toEqual(["Too early.", "Done."]);
  });
});

describe("looking for items", () => {
  it("asks for what the form says", () => {
    const field = (name: string, value: string) => h("input", { name, value });
    const form = h("form", {}, field("search", "calm & kind"), field("sort", "unsure"), field("show", "all"), field("range", "0.4 0.6"));
    expect(Object.fromEntries(new URLSearchParams(query(form, 50)))).toEqual({ search: "calm & kind", sort: "unsure", show: "all", low: "0.4", high: "0.6", limit: "50", offset: "50" });
  });
});

describe("dragging a row", () => {
  const press = (selector: string, pointerType: string): boolean => {
    const row = h("li", {}, h("span", { class: "handle" }), h("button", { class: "pick" }), h("button", { class: "step" }));
    const event = new Event("pointerdown", { bubbles: true });
    Object.assign(event, { pointerType });
    row.querySelector(selector)!.dispatchEvent(event);
    return leftAlone(event);
  };

  it("starts anywhere but on its buttons with a mouse, and on the handle with a finger", () => {
    expect([".handle", ".pick", ".step"].map((part) => press(part, "mouse"))).toEqual([false, false, true]);
    expect([".handle", ".pick", ".step"].map((part) => press(part, "touch"))).toEqual([false, true, true]);
  });
});
