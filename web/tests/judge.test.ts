import { afterEach, describe, expect, it, vi } from "vitest";
import { basis, figures, JudgeView, query } from "../src/dashboard/judge";
import { cameTrue } from "../src/dashboard/charts";
import { measures } from "../src/dashboard/overview";
import type { Dashboard, Judged, Verdict } from "../src/kit/wire";

const share = (correct: number, n: number): Verdict["agreement"] => ({ estimate: correct / n, low: 0.1, high: 0.9, n, correct });

const VERDICT: Verdict = {
  rule: "probabilities, positive from 0.5 on",
  scored: 50,
  checks: 40,
  earlier: 0,
  without_score: 2,
  skipped: 1,
  enough: true,
  agreement: share(36, 40),
  commoner: 0.6,
  both_positive: 14,
  judge_only: 3,
  people_only: 1,
  both_negative: 22,
  precision: share(14, 17),
  recall: null,
  calibration: [{ scores: "0 to 0.2", n: 20, mean_score: 0.1, positive: share(1, 20) }],
  wrong_most: [{ item: "a", score: "0.9", judge_positive: true, wrong: 2, answers: 3, distance: 0.4 }],
  share: { judge: 0.5, people: share(15, 40), estimate: 0.4, low: 0.301, high: 0.5, weight: 0.8, more_to_halve: 132 },
};
const JUDGED: Judged = { columns: ["llm", "gpt"], column: "llm", pool_size: 60, problem: null, verdict: VERDICT, wrong_items: 14, items: { a: { id: "a", text: "<b>calm</b>", image: null } } };
const WORDS = { positive: "warm", negative: "cold" };

function serve(...replies: Judged[]): string[] {
  const asked: string[] = [];
  vi.stubGlobal("fetch", async (path: string) => {
    asked.push(path);
    return new Response(JSON.stringify(replies[Math.min(asked.length, replies.length) - 1]), { status: 200 });
  });
  return asked;
}

afterEach(() => vi.unstubAllGlobals());

describe("figures of a judge", () => {
  it("come with their intervals", () => {
    expect(figures(VERDICT, WORDS).map(({ value, note }) => [value, note])).toEqual([
      ["90\u00a0%", "10 to 90\u00a0%, 36 of 40"],
      ["60\u00a0%", "how often that would agree"],
      ["82\u00a0%", "10 to 90\u00a0%, 14 of 17"],
      ["–", "none of the 40 random answers is warm"],
      ["40.0\u00a0%", "30.1 to 50.0\u00a0%, all scored items"],
      ["132", "more random answers"],
    ]);
  });

  it("say of what a judge that found nothing positive found nothing", () => {
    expect(figures({ ...VERDICT, precision: null }, WORDS)[2]).toEqual({ label: "Precision", value: "–", note: "it calls none of the 40 random items warm" });
  });

  it("say what they rest on", () => {
    expect(basis(VERDICT, 60)).toBe("Scores: probabilities, positive from 0.5 on. 50 of 60 items have one. 40 random answers (2 on items without a score, 1 skipped, left out).");
    expect(basis({ ...VERDICT, earlier: 12 }, 60)).toContain("12 of them were drawn before texts were added, from the earlier items only.");
    expect(basis({ ...VERDICT, enough: false }, 60)).toContain("too few to judge by");
  });
});

describe("the judge's page", () => {
  it("asks for the column and the meaning that were chosen, and for nothing else", async () => {
    const asked = serve(JUDGED);
    const view = new JudgeView(() => {});
    await view.show(WORDS);
    const form = view.element.querySelector("form")!;
    form.querySelector<HTMLSelectElement>("select")!.value = "gpt";
    form.querySelector<HTMLInputElement>("[name=positive_value]")!.value = " yes ";
    expect(query(form)).toBe("column=gpt&positive_value=yes");
    await view.show(WORDS);
    form.dispatchEvent(new Event("submit"));
    await view.show(WORDS);
    const chosen = "/api/judge?column=gpt&positive_value=yes";
    expect(asked).toEqual(["/api/judge?", "/api/judge?", chosen, chosen]);
    expect(form.querySelector<HTMLInputElement>("[name=positive_value]")!.value).toBe(" yes ");
  });

  it("shows items as text and says how many more there are", async () => {
    serve(JUDGED);
    const view = new JudgeView(() => {});
    await view.show(WORDS);
    expect(view.element.textContent).toContain("<b>calm</b>");
    expect(view.element.textContent).toContain("The first 1 of 14 items.");
  });

  it("asks whether scores are probabilities only if they are numbers", async () => {
    const title = "Can its scores be read as probabilities?";
    const words = { ...JUDGED, verdict: { ...VERDICT, calibration: VERDICT.calibration.map((bin) => ({ ...bin, mean_score: null })) } };
    serve(JUDGED, words);
    const view = new JudgeView(() => {});
    await view.show(WORDS);
    expect(view.element.textContent).toContain(title);
    await view.show(WORDS);
    expect(view.element.textContent).not.toContain(title);
    expect(view.element.textContent).toContain("What it confuses");
  });

  it("says what is missing if there is no verdict", async () => {
    const without = { ...JUDGED, verdict: null, items: {}, wrong_items: 0 };
    serve(without, { ...without, problem: "not numbers" }, { ...without, columns: [], column: null });
    const view = new JudgeView(() => {});
    for (const text of ["No random question about a scored item", "not numbers", "--keep-column"]) {
      await view.show(WORDS);
      expect(view.element.querySelector("[role=status]")!.textContent).toContain(text);
      expect(view.element.querySelectorAll("table")).toHaveLength(0);
    }
  });
});

describe("rare positives", () => {
  const part = { estimate: 0.5, low: 0.3, high: 0.7 };
  const board = (prevalence: number): Pick<Dashboard, "quality" | "project"> => ({
    quality: { checks: 40, accuracy: part, prevalence: { ...part, estimate: prevalence }, precision: null, recall: part, f1: part, average_precision: part, calibration: { slope: 1, low: 0.6, high: 1.8, checks: 40 }, reliability: [] },
    project: { ...WORDS } as Dashboard["project"],
  });

  it("have measures of their own, those that are known", () => {
    expect(measures(board(0.2)).map(({ name }) => name)).toEqual(["Recall", "F1", "Average precision", "Prevalence"]);
  });

  it("are not mentioned if they are not rare, or nothing is measured", () => {
    expect(measures(board(0.34))).toEqual([]);
    expect(measures({ ...board(0.2), quality: null })).toEqual([]);
    expect(measures({ ...board(0.2), quality: { ...board(0.2).quality!, checks: 19 } })).toEqual([]);
  });
});

describe("whether probabilities come true", () => {
  const share = { estimate: 0.9, low: 0.7, high: 0.97 };
  const quality = (low: number, high: number): Pick<Dashboard, "quality" | "project"> => ({
    quality: {
      ...({ checks: 30 } as NonNullable<Dashboard["quality"]>),
      calibration: { slope: 1, low, high, checks: 30 },
      reliability: [
        { low: 0, high: 0.2, checks: 10, mean: 0.1, positive: { ...share, estimate: 0.1 } },
        { low: 0.8, high: 1, checks: 20, mean: 0.9, positive: share },
      ],
    },
    project: { ...WORDS } as Dashboard["project"],
  });

  it("is said of the most common probabilities, with which way they are corrected", () => {
    expect(cameTrue(quality(0.8, 1.2))).toBe(
      `Of 20 items given 80 to 100\u00a0%, 18 were ${WORDS.positive}; 30 random checks in all. As far as these checks show, they are neither too extreme nor too close to one half.`,
    );
    expect(cameTrue(quality(1.1, 1.5))).toContain("too close to one half");
    expect(cameTrue(quality(0.5, 0.9))).toContain("too far from one half");
  });

  it("is not known without random checks", () => {
    expect(cameTrue({ ...quality(1, 1), quality: null })).toContain("have not been checked");
  });
});
