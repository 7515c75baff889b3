import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { Answer, Question } from "../src/kit/wire";
import type { Message, Show } from "../src/widget/model";
import { isDark } from "../src/widget/theme";
import { question, WORDS } from "./fixtures";

vi.stubGlobal("STYLES", ".card { display: flex }");
const { default: widget } = await import("../src/widget/main");

/** The kernel's side: what is shown, and what was sent. */
class Kernel {
  readonly sent: Message[] = [];
  private readonly heard = new Set<() => void>();

  constructor(private now: Show) {}

  get(name: "show" | "words"): never {
    return (name === "show" ? this.now : WORDS) as never;
  }

  on(_event: string, heard: () => void): void {
    this.heard.add(heard);
  }

  off(_event: string, heard: () => void): void {
    this.heard.delete(heard);
  }

  send(message: Message): void {
    this.sent.push(message);
  }

  put(now: Show): void {
    this.now = now;
    for (const heard of this.heard) heard();
  }
}

function show(asked: Question | null, changes: Partial<Show> = {}): Show {
  return { question: asked, previous: null, said: "", progress: { answers: 0, minutes: 0, standing: ["accuracy: too early to tell"], can_undo: 0 }, ...changes };
}

let place: HTMLElement;
let end = (): void => {};

function rendered(kernel: Kernel): ShadowRoot {
  end = widget.render({ model: kernel, el: place });
  return place.querySelector<HTMLElement>(".tellmore-widget")!.shadowRoot!;
}

async function card(tree: ShadowRoot, id: string): Promise<HTMLElement> {
  return vi.waitFor(() => {
    const found = tree.querySelector<HTMLElement>(`[data-question="${id}"]`);
    expect(found).not.toBeNull();
    return found!;
  });
}

function press(tree: ShadowRoot, key: string): void {
  tree.querySelector(".card")!.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true, composed: true }));
}

beforeEach(() => {
  place = document.body.appendChild(document.createElement("div"));
});

afterEach(() => {
  end();
  place.remove();
});

test("an answer by a key goes to the kernel once, and the next question takes its place", async () => {
  const kernel = new Kernel(show(question("label", "calm")));
  const tree = rendered(kernel);
  await card(tree, "q1");
  press(tree, "1");
  await vi.waitFor(() => expect(kernel.sent).toHaveLength(1));
  press(tree, "2");
  expect(kernel.sent).toEqual([expect.objectContaining({ do: "answer", question_id: "q1", answer: { type: "label", positive: true } })]);

  kernel.put(show({ ...question("select_high", "calm", "grim"), id: "q2" }, { progress: { answers: 1, minutes: 0, can_undo: 1 } }));
  const next = await card(tree, "q2");
  expect(tree.querySelector(".progress")!.textContent).toContain("1 answer");
  next.querySelectorAll<HTMLButtonElement>(".option")[1]!.click();
  next.querySelectorAll<HTMLButtonElement>(".verdict")[0]!.click();
  await vi.waitFor(() => expect(kernel.sent).toHaveLength(2));
  expect((kernel.sent[1] as { answer: Answer }).answer).toEqual({ type: "select", chosen: "grim", positive: true });
});

test("a question takes the focus only from somebody who is at work here", async () => {
  const elsewhere = document.body.appendChild(document.createElement("input"));
  elsewhere.focus();
  const kernel = new Kernel(show(question("label", "calm")));
  const tree = rendered(kernel);
  await card(tree, "q1");
  expect(document.activeElement).toBe(elsewhere);
  elsewhere.remove();
});

test("undo is sent to the kernel if there is something to undo", async () => {
  const kernel = new Kernel(show(question("label", "calm")));
  const tree = rendered(kernel);
  await card(tree, "q1");
  press(tree, "Backspace");
  expect(kernel.sent).toEqual([]);
  expect(tree.querySelector(".warning")!.textContent).toBe("There is nothing to undo.");
  kernel.put(show({ ...question("label", "calm"), id: "q2" }, { progress: { answers: 1, minutes: 0, can_undo: 1 } }));
  await card(tree, "q2");
  press(tree, "Backspace");
  expect(kernel.sent).toEqual([{ do: "undo" }]);
  const back = { type: "tick", positive: ["grim"] };
  kernel.put(show({ ...question("tick", "calm", "grim"), id: "q0" }, { previous: back }));
  const again = await card(tree, "q0");
  expect([...again.querySelectorAll("input")].map((box) => box.checked)).toEqual([false, true]);
});

test("what was refused is shown next to the question", async () => {
  const kernel = new Kernel(show(question("label", "calm"), { said: "that is not <b>on show</b>" }));
  const tree = rendered(kernel);
  await card(tree, "q1");
  expect(tree.querySelector(".warning")!.textContent).toBe("that is not <b>on show</b>");
  kernel.put(show(null, { said: "nothing is left" }));
  await vi.waitFor(() => expect(tree.querySelector(".notice")).not.toBeNull());
  tree.querySelector<HTMLButtonElement>(".notice button")!.click();
  expect(kernel.sent).toEqual([{ do: "ask" }]);
});

test("a view that is gone hears nothing more", async () => {
  const kernel = new Kernel(show(question("label", "calm")));
  const tree = rendered(kernel);
  await card(tree, "q1");
  end();
  kernel.put(show({ ...question("label", "grim"), id: "q2" }));
  expect(place.querySelector(".tellmore-widget")).toBeNull();
  expect(tree.querySelector('[data-question="q2"]')).toBeNull();
});

test("dark and light grounds are told apart", () => {
  expect(["rgb(17, 17, 17)", "rgb(255, 255, 255)", "color(srgb 0.1 0.1 0.1)", ""].map(isDark)).toEqual([true, false, true, null]);
});
