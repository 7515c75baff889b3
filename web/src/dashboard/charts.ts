/** The live plots. Colours come from the style sheet, so a change of theme only needs a redraw. */

import uPlot from "uplot";
import { h } from "../kit/dom";
import { percent, percentRange } from "../kit/numbers";
import type { AccuracyPoint, Calibration, CurvePoint, Dashboard } from "../kit/wire";
import { decimal } from "./format";

export type Axis = "answers" | "minutes";

export interface Chart {
  element: HTMLElement;
  draw(data: Dashboard, axis: Axis): void;
}

const HEIGHT_PX = 220;
const AXIS_FONT = "12px system-ui, sans-serif";

function colour(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

function axisOf(label: string, size: number): uPlot.Axis {
  const ink = colour("--ink-soft");
  return { label, size, stroke: ink, font: AXIS_FONT, labelFont: AXIS_FONT, labelSize: 18, gap: 4, grid: { stroke: colour("--line"), width: 1 }, ticks: { show: false } };
}

function range(limits: uPlot.Range.MinMax | undefined): uPlot.Scale {
  return limits ? { range: limits } : {};
}

/** Texts contain the project's word for positive. */
interface Spec {
  title: string;
  hint: (positive: string) => string;
  x: (axis: Axis, positive: string) => string;
  y: (positive: string) => string;
  xRange?: uPlot.Range.MinMax;
  yRange?: uPlot.Range.MinMax;
  series: (accent: string) => uPlot.Series[];
  bands?: (accent: string) => uPlot.Band[];
  columns: (data: Dashboard, axis: Axis) => uPlot.AlignedData;
  /** What the plot shows, in words. */
  summary: (data: Dashboard) => string;
}

/** A plot that is created again at every draw: with a few hundred points this is simpler than updating scales, themes and sizes. */
class Plot implements Chart {
  readonly element: HTMLElement;
  private readonly canvas = h("div", { class: "plot", role: "img" });
  private readonly words = h("p", { class: "summary" });
  private readonly hint = h("p", { class: "hint" });
  private plot: uPlot | null = null;
  private last: [Dashboard, Axis] | null = null;

  constructor(private readonly spec: Spec) {
    this.element = h("section", { class: "panel" }, h("h2", {}, spec.title), this.hint, this.canvas, this.words);
    new ResizeObserver(() => this.resize()).observe(this.canvas);
    document.addEventListener("tellmore:theme", () => this.redraw());
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.redraw());
  }

  draw(data: Dashboard, axis: Axis): void {
    this.last = [data, axis];
    this.redraw();
  }

  private redraw(): void {
    if (!this.last || !this.canvas.clientWidth) return;
    const [data, axis] = this.last;
    const { positive } = data.project;
    this.hint.textContent = this.spec.hint(positive);
    this.words.textContent = this.spec.summary(data);
    this.canvas.setAttribute("aria-label", `${this.spec.title}. ${this.words.textContent}`);
    this.plot?.destroy();
    const columns = this.spec.columns(data, axis);
    this.plot = columns[0].length ? new uPlot(this.options(axis, positive), columns, this.canvas) : null;
  }

  private options(axis: Axis, positive: string): uPlot.Options {
    const { spec } = this;
    const accent = colour("--accent");
    return {
      width: this.canvas.clientWidth,
      height: HEIGHT_PX,
      scales: { x: { time: false, ...range(spec.xRange) }, y: range(spec.yRange) },
      axes: [axisOf(spec.x(axis, positive), 40), axisOf(spec.y(positive), 48)],
      series: [{}, ...spec.series(accent)],
      ...(spec.bands ? { bands: spec.bands(accent) } : {}),
      legend: { show: false },
      cursor: { drag: { x: false, y: false } },
    };
  }

  private resize(): void {
    const width = this.canvas.clientWidth;
    if (!this.plot) this.redraw();
    else if (width && width !== this.plot.width) this.plot.setSize({ width, height: HEIGHT_PX });
  }
}

function xOf(points: (CurvePoint | AccuracyPoint)[], axis: Axis): number[] {
  return points.map((point) => point[axis]);
}

const overTime = (axis: Axis): string => (axis === "answers" ? "answers" : "minutes of answering");
const wash = (accent: string): string => `color-mix(in srgb, ${accent} 18%, transparent)`;

export function uncertaintyChart(): Chart {
  return new Plot({
    title: "Uncertainty",
    hint: () => "Log-determinant of the belief per dimension, against the start. Lower is more certain.",
    x: overTime,
    y: () => "nats per dimension",
    series: (accent) => [{ stroke: accent, width: 2, points: { show: false } }],
    columns: ({ curve }, axis) => [xOf(curve, axis), curve.map((point) => point.logdet_per_dim)],
    summary: ({ curve }) => (curve.length ? `Now ${decimal(curve.at(-1)!.logdet_per_dim, 3)} after ${curve.length} answers.` : "No answers yet."),
  });
}

export function accuracyChart(): Chart {
  const hidden: uPlot.Series = { points: { show: false }, width: 0 };
  return new Plot({
    title: "Accuracy on random checks",
    hint: () => "On random items, predicted before they were labelled, with a 95\u00a0% interval.",
    x: overTime,
    y: () => "share correct",
    yRange: [0, 1],
    series: (accent) => [{ ...hidden, stroke: accent }, { ...hidden, stroke: accent }, { stroke: accent, width: 2 }],
    bands: (accent) => [{ series: [1, 2], fill: wash(accent) }],
    columns: ({ accuracy_curve: curve }, axis) => [xOf(curve, axis), curve.map(({ high }) => high), curve.map(({ low }) => low), curve.map(({ estimate }) => estimate)],
    summary: ({ accuracy }) =>
      accuracy ? `${percent(accuracy.estimate)} on ${accuracy.n} random items (${percentRange(accuracy)}).` : "No random item answered yet.",
  });
}

/** In which direction the checks correct the probabilities, if that is beyond chance. */
function correction({ low, high, checks }: Calibration): string {
  if (!checks) return "They are not corrected by them.";
  if (low > 1) return "Probabilities were too close to one half; they are corrected now.";
  if (high < 1) return "Probabilities were too far from one half; they are corrected now.";
  return "As far as these checks show, they are neither too extreme nor too close to one half.";
}

/** What was predicted and what came true, in words, for the bin with the most checks. */
export function cameTrue({ quality, project: { positive } }: Pick<Dashboard, "quality" | "project">): string {
  if (!quality) return "No random item answered yet, so the probabilities have not been checked.";
  const { low, high, checks, positive: share } = quality.reliability.reduce((most, bin) => (bin.checks > most.checks ? bin : most));
  const right = Math.round(share.estimate * checks);
  return `Of ${checks} items given ${percentRange({ low, high })}, ${right} ${right === 1 ? "was" : "were"} ${positive}; ${quality.checks} random checks in all. ${correction(quality.calibration)}`;
}

export function reliabilityChart(): Chart {
  const hidden: uPlot.Series = { points: { show: false }, width: 0 };
  const ends = <T>(first: T, values: T[], last: T): T[] => [first, ...values, last];
  return new Plot({
    title: "Do probabilities come true?",
    hint: (positive) => `The share of random items that were ${positive}, against the probability stated before, with a 95\u00a0% interval. On the dashed line, probabilities come true.`,
    x: () => "probability stated",
    xRange: [0, 1],
    y: (positive) => `share ${positive}`,
    yRange: [0, 1],
    series: (accent) => [
      { stroke: colour("--ink-soft"), width: 1, dash: [4, 4], points: { show: false } },
      { ...hidden, stroke: accent },
      { ...hidden, stroke: accent },
      { stroke: accent, width: 2, points: { show: true, size: 7, fill: accent } },
    ],
    bands: (accent) => [{ series: [2, 3], fill: wash(accent) }],
    columns: ({ quality }) => {
      if (!quality) return [[]];
      const bins = quality.reliability;
      const line = ends(0, bins.map(({ mean }) => mean), 1);
      const shares = (part: "estimate" | "low" | "high"): (number | null)[] => ends<number | null>(null, bins.map((bin) => bin.positive[part]), null);
      return [line, line, shares("high"), shares("low"), shares("estimate")];
    },
    summary: cameTrue,
  });
}

export function bitsChart(): Chart {
  return new Plot({
    title: "Bits per answer",
    hint: () => "The information that each answer was expected to give.",
    x: overTime,
    y: () => "bits",
    series: (accent) => [{ stroke: accent, paths: () => null, points: { show: true, size: 5, fill: accent } }],
    columns: ({ curve }, axis) => [xOf(curve, axis), curve.map((point) => point.bits)],
    summary: ({ curve }) => (curve.length ? `The last answer was expected to give ${curve.at(-1)!.bits.toFixed(2)} bits.` : "No answers yet."),
  });
}

export function histogramChart(): Chart {
  const bars = uPlot.paths.bars!({ size: [0.9] });
  return new Plot({
    title: "Scores",
    hint: (positive) => `How many items have each probability of being ${positive}.`,
    x: (_, positive) => `probability of ${positive}`,
    xRange: [0, 1],
    y: () => "items",
    series: (accent) => [{ stroke: accent, fill: wash(accent), width: 1, paths: bars, points: { show: false } }],
    columns: ({ histogram: { edges, counts } }) => [counts.map((_, index) => (edges[index]! + edges[index + 1]!) / 2), counts],
    summary: ({ positive_share: share, threshold, pool_size: size }) =>
      `${percent(share)} of ${size.toLocaleString("en")} items are at or above the decision threshold of ${threshold.toFixed(2)}.`,
  });
}
