import { beforeEach, describe, expect, it, vi } from "vitest";
import { type Given, present } from "../src/cards/present";
import { screenOf } from "../src/cards/registry";
import { Announcer } from "../src/kit/announcer";
import { type Draft, DraftBox } from "../src/kit/draft";
import { Keyboard } from "../src/kit/keyboard";
import { forgiving } from "../src/kit/storage";
import type { ClockRecord } from "../src/kit/timing";
import type { Question, Wording } from "../src/kit/wire";
import { press, question, WORDS } from "./fixtures";

const CLOCK: Draft["clock"] = { onset: 1, firstAction: null, devices: [], moves: 0, hidden: [], blurred: [], away: [], left: 2, left_utc: 3 };
const DRAFT: Draft = { question: "q1", sketch: { type: "select", chosen: "b" }, clock: CLOCK };

interface Shown {
  host: HTMLElement;
  given: Promise<Given>;
}

const keyboard = new Keyboard();
let leave = (): void => {};

/** Simulates a reload: no listener of the page before is left. */
async function open(asked: Question, words: Wording = WORDS, aside?: Map<string, ClockRecord>): Promise<Shown> {
  const host = document.createElement("main");
  document.body.replaceChildren(host);
  leave();
  const { given, withdraw } = present(host, { question: asked, screen: await screenOf(asked.kind, words.kinds), words, keyboard, announcer: new Announcer(), latencyMs: 5, skippable: true, ...(aside && { aside }) });
  leave = withdraw;
  await vi.waitFor(() => expect(host.querySelector("[data-shown]")).not.toBeNull());
  await Promise.resolve();
  return { host, given };
}

const ask = (kind: string, id = "q1"): Question => ({ ...question(kind, "a", "b", "c", "d"), id });
const order = (host: HTMLElement): string => [...host.querySelectorAll<HTMLElement>(".row")].map((row) => row.dataset.id || "|").join("");

beforeEach(() => {
  sessionStorage.clear();
  vi.stubGlobal("matchMedia", () => ({ matches: true, addEventListener: () => {} }));
});

describe("draft box", () => {
  it("finds the draft of the question and drops one of another", () => {
    const box = new DraftBox();
    box.keep(DRAFT);
    expect(box.find("q1")).toEqual(DRAFT);
    expect(box.find("q2")).toBeNull();
    expect(sessionStorage.length).toBe(0);
  });

  it.each(["", "{", "null", "[]", "7", '{"question":"q1"}', '{"question":"q1","clock":{"onset":null}}'])("takes %s for no draft", (stored) => {
    sessionStorage.setItem("tellmore.draft", stored);
    expect(new DraftBox().find("q1")).toBeNull();
  });

  it("does without a storage that cannot be used", () => {
    const denied = forgiving(() => {
      throw new DOMException("denied", "SecurityError");
    });
    const box = new DraftBox(denied);
    box.keep(DRAFT);
    expect(box.find("q1")).toBeNull();
    box.drop();
  });
});

describe("a question after a reload", () => {
  it("has the order, the divider and the moves of before, and counts as touched", async () => {
    const { host } = await open(ask("rank"));
    expect(order(host)).toBe("ab|cd");
    for (const key of ["1", "ArrowDown", "0", "ArrowDown"]) press(key);
    expect(order(host)).toBe("bac|d");
    const { host: again, given } = await open(ask("rank"));
    expect(order(again)).toBe("bac|d");
    press("Enter");
    const { answer, timing } = await given;
    expect(answer).toEqual({ type: "rank", order: ["b", "a", "c", "d"], n_positive: 3 });
    expect(timing.moves).toBe(2);
    expect(timing.away).toHaveLength(1);
    expect(sessionStorage.length).toBe(0);
  });

  it("is still untouched if only the divider was moved", async () => {
    await open(ask("rank"));
    for (const key of ["0", "ArrowUp"]) press(key);
    const { host } = await open(ask("rank"));
    expect(order(host)).toBe("a|bcd");
    expect(host.textContent).toContain("This order is right");
  });

  it("has its ties", async () => {
    const words = { ...WORDS, ties: true };
    await open(ask("rank"), words);
    for (const key of ["1", "l"]) press(key);
    const { given } = await open(ask("rank"), words);
    press("r");
    expect((await given).answer).toMatchObject({ ties: [0] });
  });

  it("has its choice, not yet labelled", async () => {
    await open(ask("select_high"));
    press("2");
    const { given } = await open(ask("select_high"));
    press("+");
    expect(await given).toMatchObject({ answer: { type: "select", chosen: "b", positive: true }, timing: { moves: 1 } });
  });

  it("says of a label question too that the page was gone", async () => {
    await open(ask("label"));
    const { given } = await open(ask("label"));
    press("1");
    expect((await given).timing.away).toHaveLength(1);
  });

  it("starts again if the draft was of another question", async () => {
    await open(ask("rank"));
    for (const key of ["1", "ArrowDown"]) press(key);
    const { host, given } = await open(ask("rank", "q2"));
    expect(order(host)).toBe("ab|cd");
    press("r");
    expect((await given).timing).toMatchObject({ moves: 0, away: [] });
  });

  it("starts in its first order if the draft is of other items", async () => {
    const sketch = { type: "rank" as const, order: ["a", "a", "c", "d"], n_positive: 1, ordered: true };
    new DraftBox().keep({ question: "q1", sketch, clock: CLOCK });
    const { host } = await open(ask("rank"));
    expect(order(host)).toBe("ab|cd");
    expect(host.textContent).toContain("This order is right");
  });

  it("has its clock again if an undo had put it aside, but not its draft", async () => {
    const aside = new Map<string, ClockRecord>();
    await open(ask("rank"), WORDS, aside);
    for (const key of ["1", "ArrowDown"]) press(key);
    const between = await open(ask("label", "q0"), WORDS, aside);
    press("1");
    await between.given;
    const { host, given } = await open(ask("rank"), WORDS, aside);
    expect(order(host)).toBe("ab|cd");
    press("r");
    const { timing } = await given;
    expect(timing).toMatchObject({ moves: 1 });
    expect(timing.away).toHaveLength(1);
  });

  it("is not answered by the second click of a double click on the question before", async () => {
    const { host, given } = await open(ask("label"));
    const answer = vi.fn();
    void given.then(answer);
    const click = (detail: number): boolean => host.querySelector(".verdict")!.dispatchEvent(new MouseEvent("click", { detail, bubbles: true, cancelable: true }));
    expect(click(2)).toBe(false);
    await Promise.resolve();
    expect(answer).not.toHaveBeenCalled();
    click(1);
    expect((await given).answer).toEqual({ type: "label", positive: true });
  });

  it("is answered by a second click that comes later", async () => {
    const { host, given } = await open(ask("label"));
    const now = performance.now();
    vi.spyOn(performance, "now").mockReturnValue(now + 500);
    host.querySelector(".verdict")!.dispatchEvent(new MouseEvent("click", { detail: 2, bubbles: true, cancelable: true }));
    expect((await given).answer).toMatchObject({ positive: true });
    vi.restoreAllMocks();
  });

  it("keeps nothing of a skipped question", async () => {
    const { given } = await open(ask("rank"));
    press(" ");
    await given;
    expect(sessionStorage.length).toBe(0);
  });
});
