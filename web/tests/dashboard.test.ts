import { describe, expect, it } from "vitest";
import { facts } from "../src/annotate/progress";
import { answerText, decimal, duration, percent, questionName } from "../src/dashboard/format";
import { askedNow } from "../src/dashboard/overview";
import { changes, lines } from "../src/dashboard/settings";
import type { Rate } from "../src/dashboard/wire";
import { question, WORDS } from "./fixtures";

const { items } = question("rank", "calm", "grim", "safe");

describe("answers in one line", () => {
  it.each([
    [{ type: "label" as const, positive: false }, "calm: negative"],
    [{ type: "select" as const, chosen: "safe", positive: true }, "safe: positive"],
    [{ type: "rank" as const, order: ["safe", "calm", "grim"], n_positive: 2 }, "safe › calm | grim"],
    [{ type: "rank" as const, order: ["safe", "calm", "grim"], n_positive: 0 }, "none | safe › calm › grim"],
    [{ type: "rank" as const, order: ["safe", "calm", "grim"], n_positive: 1, ties: [1] }, "safe | calm = grim"],
    [{ type: "rank" as const, order: ["safe", "calm", "grim"], n_positive: 3, ties: [0] }, "safe = calm › grim | none"],
    [{ type: "skip" as const, reason: "cant_tell" as const }, "can’t tell"],
    [null, "erased"],
  ])("%j", (answer, text) => {
    expect(answerText(answer, answer?.type === "label" ? items.slice(0, 1) : items, WORDS)).toBe(text);
  });
});

describe("numbers", () => {
  it("are printed with their units", () => {
    expect(percent(0.914)).toBe("91 %");
    expect([decimal(-1.234), decimal(-0.001)]).toEqual(["−1.23", "0.00"]);
    expect([0.5, 12.4, 180].map(duration)).toEqual(["30 s", "12 min", "3.0 h"]);
    expect([questionName("label", 1), questionName("rank", 4)]).toEqual(["Label", "Rank 4"]);
  });
});

describe("rates", () => {
  it("finds the row of what is asked now, whichever end is selected", () => {
    const row = (kind: string, size: number): Rate => ({ kind, size, bits: 1, bits_se: 0, seconds: 1, bits_per_second: 1, best: false });
    expect(askedNow("rank 4", row("rank", 4))).toBe(true);
    expect(askedNow("select_low 3", row("select", 3))).toBe(true);
    expect(askedNow("select_low 3", row("select", 2))).toBe(false);
    expect(askedNow("rank 4", row("label", 1))).toBe(false);
  });
});

describe("progress", () => {
  it("shows accuracy and time left only where the server sends them", () => {
    expect(facts({ answers: 1, minutes: 0.2 })).toEqual(["1 answer", "under a minute"]);
    const accuracy = { estimate: 0.9, low: 0.8, high: 0.95, n: 20 };
    expect(facts({ answers: 12, minutes: 3.4, accuracy, minutes_left: 4 })).toEqual(["12 answers", "3 minutes", "accuracy 90 % (80–95)", "about 4 minutes left"]);
    expect([0, 0.4].map((left) => facts({ answers: 2, minutes: 3, minutes_left: left }).at(-1))).toEqual(["target reached", "under a minute left"]);
  });
});

describe("settings", () => {
  it("send only what differs", () => {
    const before = { name: "A", attribute: "x", positive: "p", negative: "n", instruction: "", question: "auto", kinds: [], sizes: [2], set_size: 4, target_accuracy: 0.95, check_share: 0.1, ties: false, seeds_positive: ["a"], seeds_negative: [] };
    expect(changes(before, { name: "A", positive: "warm", sizes: [2, 4] })).toEqual({ positive: "warm", sizes: [2, 4] });
    expect(changes(before, { ties: true, seeds_positive: ["a"], seeds_negative: ["b"] })).toEqual({ ties: true, seeds_negative: ["b"] });
  });

  it("take seed examples one a line", () => {
    expect(lines(" calm \r\n\n grim day\n")).toEqual(["calm", "grim day"]);
  });
});
