import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { present, previewCard } from "../src/cards/present";
import { screenOf } from "../src/cards/registry";
import { Announcer } from "../src/kit/announcer";
import { Keyboard } from "../src/kit/keyboard";
import type { Kind } from "../src/kit/wire";
import { kind, KINDS, press, question, WORDS } from "./fixtures";

const CANNOT = "This page cannot show “odd” questions; reload it, or ask the owner to update tellmore";

/** A kind whose card is this module. */
function scripted(source: string): Kind[] {
  return [...KINDS, kind("odd", { title: "Odd one", script: `data:text/javascript,${encodeURIComponent(source)}` })];
}

/** A card as another package might write it: each item has a key that chooses it, and Enter submits. */
const ODD = `export default ({ question, kind, kit, sketch, previous, moved, submit }) => {
  let chosen = (sketch ?? previous)?.odd ?? null;
  const shown = kit.h("p", { class: "chosen" }, String(chosen));
  const choose = (id) => { chosen = id; shown.textContent = id; moved(); };
  const element = kit.h("div", { class: "card-body" }, shown, ...question.items.map(kit.itemView), kit.keycap("1"));
  const keys = question.items.map((item, index) => ({ keys: [String(index + 1)], run: () => choose(item.id) }));
  const bindings = [...keys, { keys: ["Enter"], run: () => submit({ type: "odd", odd: chosen }) }];
  return { element, bindings, keys: [[["1"], kit.capitalised(kind.title)]], sketch: () => ({ type: "odd", odd: chosen }), dispose: () => {} };
};`;

const keyboard = new Keyboard();
let leave = (): void => {};

beforeEach(() => {
  sessionStorage.clear();
  vi.stubGlobal("matchMedia", () => ({ matches: true, addEventListener: () => {} }));
});
afterEach(() => leave());

describe("registry", () => {
  it.each(["label", "select_high", "select_low", "most_sure", "least_sure", "rank", "tick"])("has a card for %s", async (name) => {
    const { kind: found, make } = await screenOf(name, [...KINDS, kind("most_sure")]);
    expect(found.name).toBe(name);
    expect(make).toBeTypeOf("function");
  });

  it.each([
    ["of which the server says nothing", KINDS],
    ["without a card and without a script", [...KINDS, kind("odd")]],
  ])("refuses a kind %s, and shows no other in its place", async (_, kinds) => {
    await expect(screenOf("odd", kinds)).rejects.toThrow(CANNOT);
    await expect(previewCard(question("odd", "a", "b"), { ...WORDS, kinds })).rejects.toThrow(CANNOT);
  });

  it("does not take a name for a card that is only a word of the language", async () => {
    await expect(screenOf("constructor", [kind("constructor")])).rejects.toThrow("cannot show “constructor” questions");
  });

  it("says so if a script cannot be loaded", async () => {
    await expect(screenOf("odd", scripted("export default (;"))).rejects.toThrow("“Odd one” questions cannot be shown");
  });

  it("says so if a script draws nothing", async () => {
    await expect(screenOf("odd", scripted("export default 7;"))).rejects.toThrow("cannot show “Odd one” questions");
  });
});

describe("a card from a script", () => {
  async function open(aside: { previous?: { type: string; odd: string } } = {}): Promise<{ host: HTMLElement; given: ReturnType<typeof present>["given"] }> {
    leave();
    const host = document.createElement("main");
    document.body.replaceChildren(host);
    const words = { ...WORDS, kinds: scripted(ODD) };
    const screen = await screenOf("odd", words.kinds);
    const shown = present(host, { question: question("odd", "a", "b"), screen, words, keyboard, announcer: new Announcer(), latencyMs: 5, skippable: true, ...aside });
    leave = shown.withdraw;
    await vi.waitFor(() => expect(host.querySelector("[data-shown]")).not.toBeNull());
    await Promise.resolve();
    expect(shown.keys).toEqual([[["1"], "Odd one"]]);
    return { host, given: shown.given };
  }

  it("has the headline, the focus, its keys and the clock", async () => {
    const { host, given } = await open();
    expect(host.querySelector("h1")!.textContent).toBe("Ask odd");
    expect(document.activeElement).toBe(host.querySelector("section"));
    for (const key of ["1", "2", "Enter"]) press(key);
    expect(await given).toMatchObject({ answer: { type: "odd", odd: "b" }, timing: { moves: 2, device: "keyboard" } });
  });

  it("can be skipped", async () => {
    const { given } = await open();
    press(" ");
    expect((await given).answer).toEqual({ type: "skip", reason: "skip" });
  });

  it("stands after a reload as it was left", async () => {
    await open();
    press("2");
    const { host, given } = await open();
    expect(host.querySelector(".chosen")!.textContent).toBe("b");
    press("Enter");
    expect((await given).timing).toMatchObject({ moves: 1, away: [expect.anything()] });
  });

  it("starts from the answer that was taken back", async () => {
    const { host } = await open({ previous: { type: "odd", odd: "a" } });
    expect(host.querySelector(".chosen")!.textContent).toBe("a");
  });
});
