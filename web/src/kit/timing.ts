/** The clock of one question: raw times of what the person saw and did, on the page's monotonic clock. */

import type { Device, Interval, Timing } from "./wire";

const LONE_MODIFIERS = new Set(["Shift", "Control", "Alt", "Meta", "CapsLock", "Tab"]);

/** Resolves once the next frame has been painted: a message posted inside a frame is handled after that frame. */
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

/** Resolves once every image under `element` is decoded; one that cannot be loaded does not hold up the question. */
export async function imagesDecoded(element: HTMLElement): Promise<void> {
  const images = [...element.querySelectorAll("img")];
  await Promise.allSettled(images.map((image) => image.decode()));
}

function deviceOf(event: Event): Device {
  if (event instanceof KeyboardEvent) return "keyboard";
  const kind = (event as PointerEvent).pointerType;
  return kind === "mouse" || kind === "touch" || kind === "pen" ? kind : "unknown";
}

/** The server takes no more intervals than this; the totals count all of them. */
const MAX_INTERVALS = 200;

/** Intervals during which something was the case, still open while it is. */
class Spells {
  private closed: Interval[] = [];
  private since: number | null = null;

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
}

function total(intervals: Interval[]): number {
  return intervals.reduce((sum, [from, to]) => sum + to - from, 0);
}

export class QuestionClock {
  private onset: number | null = null;
  private firstAction: number | null = null;
  private readonly devices = new Set<Device>();
  private moves = 0;
  private readonly hidden = new Spells();
  private readonly blurred = new Spells();
  private readonly listening = new AbortController();

  /** `latencyMs`: round trip of the request that brought the question. */
  constructor(
    private readonly latencyMs: number,
    private readonly now: () => number = () => performance.now(),
  ) {}

  /** The question is on screen. */
  start(): void {
    this.onset = this.now();
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

  /** The person changed the answer in the making. */
  moved(): void {
    this.moves += 1;
  }

  /** The answer is given: ends the clock and reads it off. */
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
