/** The clock of one question: raw times of what the person saw and did, by the page's monotonic clock. */

import type { Device, Interval, Timing } from "./wire";

const LONE_MODIFIERS = new Set(["Shift", "Control", "Alt", "Meta", "CapsLock", "Tab"]);

/** Resolves once the next frame has been painted: a message posted in a frame is handled after it. */
export function afterPaint(): Promise<void> {
  return new Promise((resolve) => {
    requestAnimationFrame(() => {
      const channel = new MessageChannel();
      channel.port1.onmessage = () => {
        channel.port1.close();
        resolve();
      };
      channel.port2.postMessage(null);
    });
  });
}

/** Resolves once every image in `element` is decoded; one that cannot be loaded does not delay the question. */
export async function imagesDecoded(element: HTMLElement): Promise<void> {
  const images = [...element.querySelectorAll("img")];
  await Promise.allSettled(images.map((image) => image.decode()));
}

function deviceOf(event: Event): Device {
  if (event instanceof KeyboardEvent) return "keyboard";
  const kind = (event as PointerEvent).pointerType;
  return kind === "mouse" || kind === "touch" || kind === "pen" ? kind : "unknown";
}

/** The server accepts at most this many intervals; the totals count all of them. */
const MAX_INTERVALS = 200;

/** The state of a clock when the page was left; after a reload, the clock continues from it. */
export interface ClockRecord {
  onset: number;
  firstAction: number | null;
  devices: Device[];
  moves: number;
  hidden: Interval[];
  blurred: Interval[];
  away: Interval[];
  /** The same moment by the page's clock and in UTC, which still counts after the page is gone. */
  left: number;
  left_utc: number;
}

/** Intervals during which a condition was true; the last one stays open while it is. */
class Spells {
  private since: number | null = null;

  constructor(private readonly closed: Interval[] = []) {}

  set(active: boolean, now: number): void {
    if (active && this.since === null) this.since = now;
    else if (!active && this.since !== null) {
      this.closed.push([this.since, now]);
      this.since = null;
    }
  }

  until(now: number): Interval[] {
    const all: Interval[] = this.since === null ? this.closed : [...this.closed, [this.since, now]];
    return all.map(([from, to]) => [Math.round(from), Math.round(to)]);
  }

  add(from: number, to: number): void {
    this.closed.push([from, to]);
  }
}

function total(intervals: Interval[]): number {
  return intervals.reduce((sum, [from, to]) => sum + to - from, 0);
}

export class QuestionClock {
  private onset: number | null;
  private firstAction: number | null;
  private readonly devices: Set<Device>;
  private moves: number;
  private readonly hidden: Spells;
  private readonly blurred: Spells;
  private readonly away: Spells;
  private readonly listening = new AbortController();
  /** What to add to this page's clock to get that of the page on which the question was first seen. */
  private readonly shift: number;

  /**
   * `latencyMs`: round trip of the request that brought the question. `before`: if the question was already on screen, the
   * clock continues from there and never starts again as if the question were new.
   */
  constructor(
    private readonly latencyMs: number,
    private readonly before: ClockRecord | null = null,
    private readonly pageNow: () => number = () => performance.now(),
    private readonly utcNow: () => number = () => Date.now(),
  ) {
    this.onset = before?.onset ?? null;
    this.firstAction = before?.firstAction ?? null;
    this.devices = new Set(before?.devices);
    this.moves = before?.moves ?? 0;
    this.hidden = new Spells(before?.hidden);
    this.blurred = new Spells(before?.blurred);
    this.away = new Spells(before?.away);
    // The system clock may be set back in between; this clock never runs backwards.
    this.shift = before ? before.left + Math.max(0, utcNow() - before.left_utc) - pageNow() : 0;
  }

  private now(): number {
    return this.pageNow() + this.shift;
  }

  /** To be called when the question is on screen, or on screen again. */
  start(): void {
    const now = this.now();
    this.onset ??= now;
    if (this.before) for (const spells of [this.hidden, this.away]) spells.add(this.before.left, now);
    const { signal } = this.listening;
    this.watchAttention();
    for (const type of ["visibilitychange", "blur", "focus"]) {
      const target = type === "visibilitychange" ? document : window;
      target.addEventListener(type, () => this.watchAttention(), { signal });
    }
    for (const type of ["pointerdown", "keydown"]) {
      document.addEventListener(type, (event) => this.saw(event), { signal, capture: true });
    }
  }

  /** Counts a change of the unfinished answer. */
  moved(): void {
    this.moves += 1;
  }

  /** The state of the clock, from which it can continue after a reload; null before the question is on screen. */
  record(): ClockRecord | null {
    if (this.onset === null) return null;
    const left = this.now();
    const spells = { hidden: this.hidden.until(left), blurred: this.blurred.until(left), away: this.away.until(left) };
    const { onset, firstAction, moves } = this;
    return { onset, firstAction, devices: [...this.devices], moves, ...spells, left, left_utc: this.utcNow() };
  }

  /** Stops the clock when the answer is given, and returns its times. */
  stop(): Timing {
    const submit = this.now();
    this.listening.abort();
    const hidden = this.hidden.until(submit);
    const blurred = this.blurred.until(submit);
    return {
      onset_ms: Math.round(this.onset ?? submit),
      first_action_ms: this.firstAction === null ? null : Math.round(this.firstAction),
      submit_ms: Math.round(submit),
      moves: this.moves,
      device: this.device(),
      hidden_ms: total(hidden),
      blurred_ms: total(blurred),
      latency_ms: this.latencyMs,
      hidden: hidden.slice(-MAX_INTERVALS),
      blurred: blurred.slice(-MAX_INTERVALS),
      away: this.away.until(submit).slice(-MAX_INTERVALS),
    };
  }

  private device(): Device {
    const [only] = this.devices;
    return this.devices.size > 1 ? "mixed" : (only ?? "unknown");
  }

  private watchAttention(): void {
    const now = this.now();
    this.hidden.set(document.visibilityState === "hidden", now);
    this.blurred.set(!document.hasFocus(), now);
  }

  private saw(event: Event): void {
    if (event instanceof KeyboardEvent && LONE_MODIFIERS.has(event.key)) return;
    this.firstAction ??= this.now();
    this.devices.add(deviceOf(event));
  }
}
