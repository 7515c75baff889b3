import { describe, expect, it } from "vitest";
import { facts } from "../src/annotate/progress";
import { decimal, duration, percent } from "../src/dashboard/format";
import { askedNow } from "../src/dashboard/overview";
import { changes, questions } from "../src/dashboard/settings";
import { kindTitle, questionTitle } from "../src/kit/kinds";
import type { Rate } from "../src/kit/wire";
import { kind, KINDS } from "./fixtures";

describe("names of questions", () => {
  it("come from the server", () => {
    expect(["label", "rank", "select", "select_low"].map((name) => kindTitle(name, KINDS))).toEqual(["Label", "Rank", "Select", "Select least"]);
    expect(kindTitle("gone", KINDS)).toBe("gone");
  });

  it("have the size where it may vary", () => {
    expect([questionTitle("label", 1, KINDS), questionTitle("rank", 4, KINDS), questionTitle("select", 3, KINDS)]).toEqual(["Label", "Rank 4", "Select 3"]);
  });
});

describe("numbers", () => {
  it("are printed with their units", () => {
    expect(percent(0.914)).toBe("91 %");
    expect([decimal(-1.234), decimal(-0.001)]).toEqual(["−1.23", "0.00"]);
    expect([0.5, 12.4, 180].map(duration)).toEqual(["30 s", "12 min", "3.0 h"]);
  });
});

describe("rates", () => {
  it("finds the row of what is asked now, whichever end is selected", () => {
    const row = (kind: string, size: number): Rate => ({ kind, size, bits: 1, bits_se: 0, seconds: 1, bits_per_second: 1, best: false });
    expect(askedNow("rank 4", row("rank", 4), KINDS)).toBe(true);
    expect(askedNow("select_low 3", row("select", 3), KINDS)).toBe(true);
    expect(askedNow("select_low 3", row("select", 2), KINDS)).toBe(false);
    expect(askedNow("rank 4", row("label", 1), KINDS)).toBe(false);
    expect(askedNow("label", row("label", 1), KINDS)).toBe(true);
  });
});

describe("progress", () => {
  it("shows accuracy and time left only where the server sends them", () => {
    expect(facts({ answers: 1, minutes: 0.2 })).toEqual(["1 answer", "under a minute"]);
    const accuracy = { estimate: 0.9, low: 0.8, high: 0.95, n: 20, correct: 18 };
    expect(facts({ answers: 12, minutes: 3.4, accuracy, minutes_left: 4 })).toEqual(["12 answers", "3 minutes", "accuracy 90 % (80–95)", "about 4 minutes left"]);
    expect([0, 0.4].map((left) => facts({ answers: 2, minutes: 3, minutes_left: left }).at(-1))).toEqual(["target reached", "under a minute left"]);
  });
});

describe("settings", () => {
  it("send only what differs", () => {
    const before = { name: "A", attribute: "x", positive: "p", negative: "n", instruction: "", question: "auto", kinds: [], sizes: [2], set_size: 4, target_accuracy: 0.95, check_share: 0.1, ties: false, like: ["a"], unlike: [] };
    expect(changes(before, { name: "A", positive: "warm", sizes: [2, 4] })).toEqual({ positive: "warm", sizes: [2, 4] });
    expect(changes(before, { ties: true, like: ["a"], unlike: ["b"] })).toEqual({ ties: true, unlike: ["b"] });
  });

  it("offer every kind that the server knows, and the families of several", () => {
    const offered = questions([...KINDS, kind("mine", { title: "Mine" })]);
    expect(offered.map(([value]) => value)).toEqual(["auto", "label", "select", "select_high", "select_low", "rank", "tick", "least_sure", "mine"]);
    expect(offered.at(-1)).toEqual(["mine", "Mine"]);
  });
});
