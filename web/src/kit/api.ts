/** JSON over fetch. There are two kinds of failure: the server refused (ApiError), or it could not be reached (OfflineError). */

import { at } from "./place";

const TIMEOUT_MS = 20_000;

/** The server responded with an error; `message` is its one line. */
export class ApiError extends Error {
  override readonly name = "ApiError";
  constructor(
    readonly status: number,
    message: string,
  ) {
    super(message);
  }
}

/** There was no response: the network or the server is down. Trying again is safe. */
export class OfflineError extends Error {
  override readonly name = "OfflineError";
}

/** A reply and how long it took, in whole milliseconds. */
export interface Reply<T> {
  data: T;
  latencyMs: number;
}

const RETRYABLE = new Set([408, 425, 429, 500, 502, 503, 504]);

async function errorLine(response: Response): Promise<string> {
  try {
    const body: unknown = await response.json();
    if (body && typeof body === "object" && "error" in body) return String(body.error);
  } catch {
    return `the server answered ${response.status}`;
  }
  return `the server answered ${response.status}`;
}

/** One request; `body` is sent as JSON. A null `timeoutMs` means no time limit, for a file on a slow connection. */
export async function request<T>(method: string, path: string, body?: unknown, timeoutMs: number | null = TIMEOUT_MS): Promise<Reply<T>> {
  const init: RequestInit = { method, credentials: "same-origin" };
  if (timeoutMs !== null) init.signal = AbortSignal.timeout(timeoutMs);
  init.headers = { Accept: "application/json" };
  if (method !== "GET") {
    init.headers = { ...init.headers, "Content-Type": "application/json" };
    init.body = JSON.stringify(body ?? {});
  }
  const sent = performance.now();
  let response: Response;
  try {
    response = await fetch(at(path), init);
  } catch (cause) {
    throw new OfflineError("the server cannot be reached", { cause });
  }
  if (RETRYABLE.has(response.status)) throw new OfflineError(await errorLine(response));
  if (!response.ok) throw new ApiError(response.status, await errorLine(response));
  const data = response.status === 204 ? (null as T) : ((await response.json()) as T);
  return { data, latencyMs: Math.round(performance.now() - sent) };
}

export async function get<T>(path: string): Promise<T> {
  return (await request<T>("GET", path)).data;
}

/** A file, and the name that the server suggests for it. Making it may take long, so there is no time limit. */
export async function getFile(path: string): Promise<{ content: Blob; name: string }> {
  let response: Response;
  try {
    response = await fetch(at(path), { credentials: "same-origin" });
  } catch (cause) {
    throw new OfflineError("the server cannot be reached", { cause });
  }
  if (!response.ok) throw new ApiError(response.status, await errorLine(response));
  const name = /filename="([^"]+)"/.exec(response.headers.get("Content-Disposition") ?? "")?.[1];
  return { content: await response.blob(), name: name ?? "tellmore" };
}

export async function post<T>(path: string, body?: unknown): Promise<T> {
  return (await request<T>("POST", path, body)).data;
}

const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 8_000;

/** Resolves after `ms`, or as soon as the browser reports that the network is back. */
function waitForNetwork(ms: number): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      window.removeEventListener("online", done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    window.addEventListener("online", done);
  });
}

/** Repeats `attempt` until the server is reached; other errors are thrown. Only for requests that may be repeated. */
export async function untilReached<T>(attempt: () => Promise<T>, onOffline: () => void = () => {}): Promise<T> {
  for (let wait = FIRST_WAIT_MS; ; wait = Math.min(2 * wait, LONGEST_WAIT_MS)) {
    try {
      return await attempt();
    } catch (error) {
      if (!(error instanceof OfflineError)) throw error;
      onOffline();
      await waitForNetwork(wait);
    }
  }
}
