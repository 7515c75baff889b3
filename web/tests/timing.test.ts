import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { type ClockRecord, QuestionClock } from "../src/kit/timing";

let now = 0;
const DAY = 1_700_000_000_000;
/** A clock on a page that was opened at `opened` ms by the system clock. */
const clock = (latencyMs = 12, before: ClockRecord | null = null, opened = 0): QuestionClock => new QuestionClock(latencyMs, before, () => now, () => DAY + opened + now);

beforeEach(() => {
  now = 100.4;
  vi.spyOn(document, "hasFocus").mockReturnValue(true);
});
afterEach(() => vi.restoreAllMocks());

function key(name: string): void {
  document.dispatchEvent(new KeyboardEvent("keydown", { key: name }));
}

function pointer(pointerType: string): void {
  document.dispatchEvent(new PointerEvent("pointerdown", { pointerType }));
}

describe("question clock", () => {
  it("reads onset, first action and submit in whole milliseconds", () => {
    const running = clock();
    running.start();
    now = 350.6;
    pointer("mouse");
    now = 900.2;
    pointer("mouse");
    running.moved();
    now = 1000.5;
    expect(running.stop()).toEqual({
      onset_ms: 100,
      first_action_ms: 351,
      submit_ms: 1001,
      moves: 1,
      device: "mouse",
      hidden_ms: 0,
      blurred_ms: 0,
      latency_ms: 12,
      hidden: [],
      blurred: [],
      away: [],
    });
  });

  it("does not take a lone modifier for an action", () => {
    const running = clock();
    running.start();
    key("Shift");
    expect(running.stop().first_action_ms).toBeNull();
  });

  it("tells devices apart, and says when several were used", () => {
    for (const [events, device] of [[["touch"], "touch"], [["touch", "key"], "mixed"], [[], "unknown"], [["key"], "keyboard"]] as const) {
      const running = clock();
      running.start();
      for (const event of events) event === "key" ? key("1") : pointer(event);
      expect(running.stop().device).toBe(device);
    }
  });

  it("keeps hidden and blurred intervals, the last one still open", () => {
    const running = clock();
    const visibility = vi.spyOn(document, "visibilityState", "get").mockReturnValue("visible");
    running.start();
    now = 200;
    visibility.mockReturnValue("hidden");
    document.dispatchEvent(new Event("visibilitychange"));
    now = 500;
    visibility.mockReturnValue("visible");
    document.dispatchEvent(new Event("visibilitychange"));
    now = 600;
    vi.mocked(document.hasFocus).mockReturnValue(false);
    window.dispatchEvent(new Event("blur"));
    now = 650;
    const timing = running.stop();
    expect(timing.hidden).toEqual([[200, 500]]);
    expect(timing.hidden_ms).toBe(300);
    expect(timing.blurred).toEqual([[600, 650]]);
    expect(timing.blurred_ms).toBe(50);
  });

  it("goes on after a reload and says when the page was gone", () => {
    const first = clock();
    first.start();
    now = 400;
    pointer("touch");
    first.moved();
    now = 1000;
    const left = first.record();
    now = 50; // the new page counts from its own opening, 1,500 ms after that of the first
    const second = clock(7, left, 1500);
    now = 80;
    second.start();
    now = 500;
    key("1");
    second.moved();
    expect(second.stop()).toEqual({
      onset_ms: 100,
      first_action_ms: 400,
      submit_ms: 2000,
      moves: 2,
      device: "mixed",
      hidden_ms: 580,
      blurred_ms: 0,
      latency_ms: 7,
      hidden: [[1000, 1580]],
      blurred: [],
      away: [[1000, 1580]],
    });
  });

  it("never runs backwards, whatever the clock of the day does", () => {
    const first = clock();
    first.start();
    now = 1000;
    const left = first.record();
    now = 10;
    const second = clock(7, left, -5000);
    second.start();
    expect(second.stop()).toMatchObject({ onset_ms: 100, submit_ms: 1000, away: [[1000, 1000]] });
  });

  it("has nothing to go on from before the question is on screen", () => {
    expect(clock().record()).toBeNull();
  });

  it("stops listening once read", () => {
    const running = clock();
    running.start();
    const first = running.stop();
    pointer("mouse");
    expect(first.device).toBe("unknown");
    expect(running.stop().device).toBe("unknown");
  });

  it("counts an answer given before the card was painted from that moment", () => {
    now = 42;
    expect(clock().stop()).toMatchObject({ onset_ms: 42, submit_ms: 42 });
  });
});
