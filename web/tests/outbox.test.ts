import { beforeEach, describe, expect, it, vi } from "vitest";
import { ApiError, OfflineError, type Reply } from "../src/kit/api";
import { forgiving } from "../src/kit/storage";
import { Outbox, type OutboxState } from "../src/kit/outbox";

interface Entry {
  question_id: string;
  value?: number;
}

type Send = (entry: Entry) => Promise<Reply<string>>;

function outbox(send: Send, states: OutboxState[] = []): Outbox<Entry, string> {
  return new Outbox("/unused", { name: "me", send, onState: (state) => states.push(state) });
}

const acknowledge: Send = async (entry) => ({ data: `ok ${entry.question_id}`, latencyMs: 3 });

beforeEach(() => localStorage.clear());

describe("outbox", () => {
  it("forgets an entry only once it is acknowledged", async () => {
    let release = (): void => {};
    const box = outbox(async (entry) => {
      await new Promise<void>((resolve) => {
        release = resolve;
      });
      return acknowledge(entry);
    });
    const reply = box.put({ question_id: "q1" });
    await vi.waitFor(() => expect(box.pending()).toHaveLength(1));
    await Promise.resolve();
    release();
    expect((await reply).data).toBe("ok q1");
    expect(box.pending()).toEqual([]);
  });

  it("retries while offline, says so, and is woken by the network", async () => {
    const states: OutboxState[] = [];
    const send = vi.fn<Send>().mockRejectedValueOnce(new OfflineError("down")).mockImplementation(acknowledge);
    const reply = outbox(send, states).put({ question_id: "q1" });
    await vi.waitFor(() => expect(states).toContain("offline"));
    window.dispatchEvent(new Event("online"));
    await reply;
    expect(send).toHaveBeenCalledTimes(2);
    expect(states).toEqual(["saving", "offline", "saved"]);
  });

  it("drops what the server refuses and passes the refusal on", async () => {
    const box = outbox(async () => {
      throw new ApiError(409, "already answered");
    });
    await expect(box.put({ question_id: "q1" })).rejects.toThrow("already answered");
    expect(box.pending()).toEqual([]);
  });

  it("keeps an answer when the session is lost", async () => {
    const box = outbox(async () => {
      throw new ApiError(401, "sign in");
    });
    await expect(box.put({ question_id: "q1" })).rejects.toThrow("sign in");
    expect(box.pending()).toHaveLength(1);
  });

  it("sends what an earlier visit left behind, in order", async () => {
    localStorage.setItem("tellmore.outbox.me", JSON.stringify([{ question_id: "a" }, { question_id: "b" }]));
    const sent: string[] = [];
    const box = outbox((entry) => {
      sent.push(entry.question_id);
      return acknowledge(entry);
    });
    expect(await box.flush()).toEqual({ sent: 2, refused: 0 });
    expect(sent).toEqual(["a", "b"]);
    expect(box.pending()).toEqual([]);
  });

  it("counts leftovers that the server refuses", async () => {
    localStorage.setItem("tellmore.outbox.me", JSON.stringify([{ question_id: "a" }, { question_id: "b" }]));
    const box = outbox((entry) => (entry.question_id === "a" ? Promise.reject(new ApiError(409, "void")) : acknowledge(entry)));
    expect(await box.flush()).toEqual({ sent: 1, refused: 1 });
  });
});

describe("a storage that cannot be used", () => {
  const reply = { data: "ok", latencyMs: 1 };

  it("does not keep an answer from being sent", async () => {
    const full = forgiving(() => {
      throw new DOMException("full", "QuotaExceededError");
    });
    const send = vi.fn().mockResolvedValue(reply);
    const outbox = new Outbox<{ question_id: string }, string>("/", { name: "x", send, storage: full });
    expect(await outbox.put({ question_id: "q" })).toEqual(reply);
    expect(send).toHaveBeenCalledOnce();
  });

  it.each(["{", "7", '"x"'])("holding %s is as good as empty", async (stored) => {
    const broken = forgiving(() => ({ getItem: () => stored, setItem: () => {}, removeItem: () => {} }));
    const outbox = new Outbox<{ question_id: string }, string>("/", { name: "x", send: vi.fn(), storage: broken });
    expect(await outbox.flush()).toEqual({ sent: 0, refused: 0 });
  });
});
