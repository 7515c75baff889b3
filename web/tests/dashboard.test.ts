import { describe, expect, it, vi } from "vitest";
import { endScreen } from "../src/annotate/end";
import { facts, progressLine } from "../src/annotate/progress";
import { ExportView } from "../src/dashboard/export";
import { decimal, duration } from "../src/dashboard/format";
import { counted, predicted } from "../src/dashboard/items";
import { notes } from "../src/dashboard/log";
import { linkView } from "../src/dashboard/people";
import { askedNote, askedNow, extremes, tiles, warningsOf } from "../src/dashboard/overview";
import { changes, questions } from "../src/dashboard/settings";
import { mistakesPanel, peoplePanel } from "../src/dashboard/summary";
import { copyButton } from "../src/kit/copy";
import { h } from "../src/kit/dom";
import { kindTitle, offeredKinds, questionTitle } from "../src/kit/kinds";
import { percent, percentRange } from "../src/kit/numbers";
import type { Dashboard, Invitation, Rate } from "../src/kit/wire";
import { kind, KINDS } from "./fixtures";

describe("names of questions", () => {
  it("come from the server", () => {
    expect(["label", "rank", "select", "select_low"].map((name) => kindTitle(name, KINDS))).toEqual(["Label", "Rank", "Select", "Select least"]);
    expect(kindTitle("gone", KINDS)).toBe("gone");
  });

  it("have the size if it may vary", () => {
    expect([questionTitle("label", 1, KINDS), questionTitle("rank", 4, KINDS), questionTitle("select", 3, KINDS)]).toEqual(["Label", "Rank 4", "Select 3"]);
  });
});

describe("numbers", () => {
  it("are printed with their units", () => {
    expect([0, 0.0004, 0.003, 0.01, 0.914, 0.99, 0.997, 0.9996, 1].map((share) => percent(share))).toEqual(
      ["0\u00a0%", "under 0.1\u00a0%", "0.3\u00a0%", "1\u00a0%", "91\u00a0%", "99\u00a0%", "99.7\u00a0%", "over 99.9\u00a0%", "100\u00a0%"]);
    expect([percent(0.402, 1), percent(0.0004, 1)]).toEqual(["40.2\u00a0%", "under 0.1\u00a0%"]);
    expect([percentRange({ low: 0.9, high: 1 }), percentRange({ low: 0.301, high: 0.5 }, 1)]).toEqual(["90 to 100\u00a0%", "30.1 to 50.0\u00a0%"]);
    expect([decimal(-1.234), decimal(-0.001)]).toEqual(["−1.23", "0.00"]);
    expect([0.5, 12.4, 180].map(duration)).toEqual(["30 s", "12 min", "3.0 h"]);
  });
});

describe("the figures at the top", () => {
  const board = (over: boolean) => ({ answers: 4, skips: 0, minutes: 1, annotators: [{ minutes: 1 }, { minutes: 2.2 }], positive_share: 0.4, pool_size: 3021, now: "rank 4", over, most_positive: [], most_negative: [], asked: { questions: 4, random: 0, repeated: 0 }, project: { positive: "warm", kinds: KINDS } }) as unknown as Dashboard;

  it("say what is asked now, and nothing once the questions have ended", () => {
    expect(tiles(board(false)).at(-1)).toEqual({ label: "Asking now", value: "Rank", note: "4 items" });
    expect(tiles(board(true)).at(-1)).toEqual({ label: "Asking now", value: "Nothing", note: "" });
  });

  it("say before the first question that there is none yet", () => {
    expect(tiles({ ...board(false), now: "auto" })[3]).toEqual({ label: "Asking now", value: "\u2013", note: "no question yet" });
  });

  it("call nothing positive before the first answer, unless there is a start", () => {
    const before = (high: number[], low: number[]): string => {
      const [most_positive, most_negative] = [high, low].map((side) => side.map((probability) => ({ probability })));
      return tiles({ ...board(false), answers: 0, positive_share: 0.95, most_positive, most_negative } as unknown as Dashboard)[2]!.value;
    };
    expect([before([0.5000001], [0.4999]), before([0.8], []), before([], [0.3])]).toEqual(["\u2013", "95\u00a0%", "95\u00a0%"]);
  });

  it("count everybody's time, as the table of people does, and the time of an answer without skips", () => {
    expect(tiles(board(false))[1]).toEqual({ label: "Time spent", value: "3 min", note: "15.0 s per answer" });
  });

  it("separate thousands", () => {
    expect(tiles(board(false))[2]!.note).toBe("of 3,021 items");
  });
});

describe("the items at both ends", () => {
  const item = (id: string, probability: number) => ({ id, text: id, image: null, probability, score: 0, score_sd: 1 });
  const board = (answers: number, probability: number) =>
    ({ answers, most_positive: [item("a", probability)], most_negative: [], most_uncertain: [item("a", probability)], project: { positive: "warm", negative: "cold" } }) as unknown as Dashboard;

  it("are listed once something is known, and a side without any says so", () => {
    const shown = extremes(board(3, 0.5)).map(({ textContent }) => textContent);
    expect(shown).toEqual([expect.stringMatching(/^Most likely warm.*a50/), "Most likely coldNone so far.", expect.stringMatching(/^Least certain/)]);
    expect(extremes(board(0, 0.9))).toHaveLength(3);
  });

  it("are not listed before; the page says what to do instead", () => {
    const [only, ...others] = extremes(board(0, 0.5));
    expect(others).toEqual([]);
    expect(only!.querySelector("h2")!.textContent).toBe("Nothing is known of the items yet");
    expect([...only!.querySelectorAll("a")].map((link) => link.getAttribute("href"))).toEqual(["/", "#settings"]);
  });
});

describe("mistakes", () => {
  const board = (accuracy: object | null) => ({ mistakes: [], accuracy, project: { positive: "warm", negative: "cold" } }) as unknown as Dashboard;

  it("are not denied before there was a random check", () => {
    const said = [null, { estimate: 1 }].map((accuracy) => mistakesPanel(board(accuracy)).querySelector(".empty")!.textContent);
    expect(said).toEqual(["No random checks so far.", "No mistakes on random checks so far."]);
  });
});

describe("somebody who is left out", () => {
  it("is listed as such, and so are the answers", () => {
    const person = (name: string, left_out: boolean) => ({ name, answers: 3, skips: 0, minutes: 1, agreement: null, manner: { left_out } });
    const shown = peoplePanel({ annotators: [person("Ann", false), person("Bo", true)] } as unknown as Dashboard);
    expect([...shown.querySelectorAll("td:first-child")].map(({ textContent }) => textContent)).toEqual(["Ann", "Bo (left out)"]);
    expect(notes({ check: true, why: "check", stale: false, late: false, undone: false, left_out: true })).toBe("random, left out");
  });
});

describe("an invitation", () => {
  const link = (url: string): string => linkView({ name: "Mia", url } as unknown as Invitation).textContent;

  it("says if its link leads nobody else here, and how to change that", () => {
    for (const host of ["127.0.0.1:8000", "localhost:8000", "[::1]:8000"]) expect(link(`http://${host}/?token=a`)).toContain("on this computer only. To let others in, start the server with: tellmore serve PROJECT --host 0.0.0.0");
    for (const host of ["192.168.0.7:8000", "teach.example.org"]) expect(link(`http://${host}/?token=a`)).not.toContain("only. To");
  });
});

describe("a text to copy", () => {
  const press = async (copies: boolean): Promise<string> => {
    const field = h("input", { value: "the text" });
    const button = copyButton("the text", field);
    document.body.replaceChildren(field, button);
    vi.stubGlobal("navigator", {}); // over plain http, there is no clipboard
    const command = vi.fn(() => copies);
    document.execCommand = command;
    button.click();
    await vi.waitFor(() => expect(command).toHaveBeenCalledWith("copy"));
    await Promise.resolve();
    vi.unstubAllGlobals();
    return button.textContent;
  };

  it("is copied without a clipboard too, or else selected", async () => {
    expect(await press(true)).toBe("Copied");
    expect(await press(false)).toBe("Press Ctrl+C");
    expect(document.activeElement!.tagName).toBe("INPUT");
  });
});

describe("a prediction", () => {
  it("is said in words, and not at one half", () => {
    const words = { positive: "warm", negative: "cold" };
    expect([0.93, 0.2, 0.5, 0.4999].map((probability) => predicted(probability, words))).toEqual(["Predicted: warm, 93\u00a0% sure.", "Predicted: cold, 80\u00a0% sure.", "Not predicted yet.", "Not predicted yet."]);
  });
});

describe("items found", () => {
  it("are counted", () => {
    const found = (offset: number, shown: number, total: number): string => counted(offset, { rows: Array<never>(shown), total });
    expect([found(0, 0, 0), found(0, 1, 1), found(0, 7, 7), found(50, 50, 3021)]).toEqual(["", "1 item", "7 items", "51 to 100 of 3,021 items"]);
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
  it("shows accuracy and time left only if the server sends them", () => {
    expect(facts({ answers: 1, minutes: 0.2 })).toEqual(["1 answer", "under a minute"]);
    const standing = ["accuracy 77 to 96 %, on 40 random checks", "6 to 17 minutes left to 95 %"];
    expect(facts({ answers: 12, minutes: 3.4, standing })).toEqual(["12 answers", "3 minutes", ...standing]);
  });

  it("shows people how much of their quota is done", () => {
    expect(facts({ answers: 12, minutes: 3.4, quota: 50 })[0]).toBe("12 of 50 answers");
    expect(progressLine({ answers: 12, minutes: 3.4, quota: 50 }).querySelector("progress")?.value).toBe(12);
    expect(progressLine({ answers: 12, minutes: 3.4 }).querySelector("progress")).toBeNull();
  });
});

describe("the end", () => {
  const end = { title: "You can stop", text: "91 % right on 40 random checks.", go_on: true };

  it("leads owners to the classifier and lets them go on", () => {
    let more = 0;
    const screen = endScreen(end, true, () => (more += 1));
    expect([...screen.querySelectorAll("a")].map((link) => link.getAttribute("href"))).toEqual(["/dashboard#export", "/dashboard#items"]);
    screen.querySelector("button")!.click();
    expect(more).toBe(1);
    expect(endScreen({ ...end, go_on: false }, true, () => {}).querySelector("button")).toBeNull();
  });

  it("thanks everybody else, without a word of the classifier", () => {
    const screen = endScreen({ title: "Done, thank you", text: "All your answers are saved.", go_on: false }, false, () => {});
    expect(screen.textContent).toBe("Done, thank youAll your answers are saved.");
    expect(screen.querySelector("a, button")).toBeNull();
  });
});

describe("settings", () => {
  it("send only what differs", () => {
    const before = { name: "A", attribute: "x", positive: "p", negative: "n", instruction: "", question: "auto", kinds: [], sizes: [2], set_size: 4, target_accuracy: 0.95, check_share: 0.1, ties: false, like: ["a"], unlike: [], quota: null, overlap: 0, known_share: 0, guidelines: "" };
    expect(changes(before, { name: "A", positive: "warm", sizes: [2, 4] })).toEqual({ positive: "warm", sizes: [2, 4] });
    expect(changes(before, { ties: true, like: ["a"], unlike: ["b"] })).toEqual({ ties: true, unlike: ["b"] });
  });

  it("offer every kind that the server knows but those for experiments, and the families of several", () => {
    const kinds = [...KINDS, kind("mine", { title: "Mine" })];
    const offered = questions(offeredKinds(kinds, []));
    expect(offered.map(([value]) => value)).toEqual(["auto", "label", "select", "select_high", "select_low", "rank", "tick", "mine"]);
    expect(offeredKinds(kinds, ["least_sure"]).map(({ name }) => name)).toContain("least_sure");
    expect(offered.at(-1)).toEqual(["mine", "Mine"]);
  });
});

describe("warnings", () => {
  const asked = { questions: 40, random: 0, repeated: 0, warning: null };

  it("say what was seen, each as a sentence", () => {
    expect(warningsOf({ asked, warnings: [] })).toEqual([]);
    expect(warningsOf({ asked: { ...asked, warning: "many were random" }, warnings: ["the items hardly differ"] })).toEqual(["Many were random.", "The items hardly differ."]);
  });
});

describe("what was asked at random", () => {
  it("says what that means, and names repeats if there are any", () => {
    expect(askedNote({ questions: 200, random: 0, repeated: 0 })).toBe("");
    expect(askedNote({ questions: 40, random: 0.1, repeated: 0.06 })).toBe("of the last 40 questions, 10\u00a0% were random, as no better one was ready, 6\u00a0% had been asked before");
  });

  it("is not mentioned while it is a question or two", () => {
    expect([askedNote({ questions: 75, random: 1 / 75, repeated: 0 }), askedNote({ questions: 3, random: 1 / 3, repeated: 0 })]).toEqual(["", ""]);
  });
});

describe("export", () => {
  const known = (answers: number) => ({ answers, most_positive: [], most_negative: [] });

  it("says before the first answer that nothing has been learnt", async () => {
    vi.stubGlobal("fetch", vi.fn(async () => new Response("[]")));
    const view = new ExportView();
    const said = (): string => view.element.querySelector(".caution")!.textContent!;
    await view.show(known(0));
    expect(said()).toMatch(/^Nothing has been learnt yet/);
    await view.show(known(1));
    expect(said()).toBe("");
    vi.unstubAllGlobals();
  });
});
