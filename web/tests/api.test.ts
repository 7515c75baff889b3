import { describe, expect, it, vi } from "vitest";
import { ApiError, OfflineError, request, untilReached } from "../src/kit/api";

function answering(status: number, body: unknown): void {
  vi.stubGlobal("fetch", vi.fn(async () => new Response(JSON.stringify(body), { status })));
}

describe("request", () => {
  it("gives the reply with its latency in whole milliseconds", async () => {
    answering(200, { a: 1 });
    const reply = await request<{ a: number }>("GET", "/api/me");
    expect(reply.data).toEqual({ a: 1 });
    expect(Number.isInteger(reply.latencyMs)).toBe(true);
  });

  it("turns a refusal into the server's one line", async () => {
    answering(409, { error: "already answered" });
    await expect(request("POST", "/api/answers", {})).rejects.toEqual(new ApiError(409, "already answered"));
  });

  it.each([429, 500, 503])("treats %d as worth trying again", async (status) => {
    answering(status, { error: "later" });
    await expect(request("GET", "/api/me")).rejects.toBeInstanceOf(OfflineError);
  });

  it("treats a failed fetch as offline", async () => {
    vi.stubGlobal("fetch", vi.fn().mockRejectedValue(new TypeError("network")));
    await expect(request("GET", "/api/me")).rejects.toBeInstanceOf(OfflineError);
  });

  it("sends JSON, also when there is nothing to say", async () => {
    answering(200, {});
    await request("POST", "/api/undo");
    const [, init] = vi.mocked(fetch).mock.calls[0]!;
    expect(init?.body).toBe("{}");
    expect(init?.headers).toMatchObject({ "Content-Type": "application/json" });
  });
});

describe("untilReached", () => {
  it("passes refusals through without a second attempt", async () => {
    const attempt = vi.fn().mockRejectedValue(new ApiError(403, "no"));
    await expect(untilReached(attempt)).rejects.toThrow("no");
    expect(attempt).toHaveBeenCalledOnce();
  });

  it("waits longer between later attempts", async () => {
    vi.useFakeTimers();
    const attempt = vi.fn().mockRejectedValueOnce(new OfflineError("1")).mockRejectedValueOnce(new OfflineError("2")).mockResolvedValue("done");
    const result = untilReached(attempt);
    await vi.advanceTimersByTimeAsync(500);
    expect(attempt).toHaveBeenCalledTimes(2);
    await vi.advanceTimersByTimeAsync(999);
    expect(attempt).toHaveBeenCalledTimes(2);
    await vi.advanceTimersByTimeAsync(1);
    expect(await result).toBe("done");
    vi.useRealTimers();
  });
});
