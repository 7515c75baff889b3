import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { StartDraft } from "../src/start/draft";
import { Examples } from "../src/start/examples";
import { StartLook } from "../src/start/look";
import { sentence } from "../src/kit/words";
import { textsOf, typedNames } from "../src/start/names";
import { Picks } from "../src/start/picks";
import { explanation, foundAs, subject } from "../src/start/screen";
import { StartLine } from "../src/start/agreement";

const item = (id: string): { id: string; text: string } => ({ id, text: `text of ${id}` });

describe("what is typed", () => {
  it("is one name a line, and a comma that waits for a word is none", () => {
    expect(typedNames(" calm \r\n\n grim day, \n,\n")).toEqual(["calm", "grim day"]);
    expect(typedNames("calm, kind")).toEqual(["calm, kind"]);
  });
});

describe("examples", () => {
  it("are what was typed and then what was clicked, on each side", () => {
    const examples = new Examples();
    expect(examples.empty).toBe(true);
    examples.type("like", "warm, kind");
    examples.click(item("a"), "like");
    examples.click(item("b"), "unlike");
    expect(examples.names()).toEqual({ like: ["warm, kind", "a"], unlike: ["b"] });
    expect(examples.empty).toBe(false);
  });

  it("change sides by a click, and go by another", () => {
    const examples = new Examples();
    examples.click(item("a"), "like");
    examples.click(item("a"), "unlike");
    expect([examples.sideOf(item("a")), examples.items("like").length]).toEqual(["unlike", 0]);
    examples.click(item("a"), "unlike");
    expect(examples.empty).toBe(true);
  });
});

describe("examples that are not saved yet", () => {
  const store = new Map<string, string>();
  const inMemory = { getItem: (key: string) => store.get(key) ?? null, setItem: (key: string, value: string) => void store.set(key, value), removeItem: (key: string) => void store.delete(key) };

  beforeEach(() => store.clear());

  it("are kept for their project, as they were", () => {
    const before = new Examples();
    before.type("like", "warm, ");
    before.click(item("a"), "unlike");
    new StartDraft("p1", inMemory).keep(before.sketch);
    const after = new Examples(new StartDraft("p1", inMemory).find());
    expect([after.typed("like"), after.typed("unlike"), after.sideOf(item("a"))]).toEqual(["warm, ", "", "unlike"]);
    expect(new StartDraft("p2", inMemory).find()).toBeUndefined();
    new StartDraft("p1", inMemory).drop();
    expect(store.size).toBe(0);
  });

  it("are ignored if they cannot be read", () => {
    const text = { like: "a", unlike: "" };
    for (const broken of [null, 3, {}, { text }, { text: { like: 1, unlike: "" }, clicked: [] }, { text, clicked: [{ side: "up", item: item("a") }] }, { text, clicked: [{ side: "like" }] }]) {
      inMemory.setItem("tellmore.start.draft.p1", JSON.stringify(broken));
      expect(new StartDraft("p1", inMemory).find()).toBeUndefined();
    }
  });
});

describe("lists of items", () => {
  it("mark examples and keep the focus where it was", () => {
    const pick = vi.fn();
    const picks = new Picks("Items", { sideOf: ({ id }) => (id === "b" ? "like" : null), pick });
    document.body.replaceChildren(picks.element);
    picks.show([{ ...item("a"), probability: 0.934 }, item("b")]);
    const [first, second] = picks.element.querySelectorAll("button");
    expect([first!.textContent, first!.ariaPressed ?? first!.getAttribute("aria-pressed")]).toEqual(["text of a93\u00a0%", "false"]);
    expect(second!.querySelector(".tag")!.textContent).toBe("like");
    second!.focus();
    second!.click();
    expect(pick).toHaveBeenCalledWith(item("b"));
    picks.show([item("c"), item("b")]);
    expect(document.activeElement!.closest("li")!.dataset.id).toBe("b");
  });

  it("say so if they are empty", () => {
    const picks = new Picks("Items", undefined, "No items match.");
    picks.show([]);
    expect(picks.element.querySelector("[role=status]")!.textContent).toBe("No items match.");
    picks.show([item("a")]);
    expect(picks.element.querySelector("[role=status]")!.textContent).toBe("");
  });

  it("are only read if nobody listens", () => {
    const picks = new Picks("Items");
    picks.show([item("a")]);
    expect(picks.element.querySelector("button")).toBeNull();
  });
});

describe("a look at the start", () => {
  const reply = (most: string): Response => new Response(JSON.stringify({ like: [], unlike: [], most: [{ ...item(most), probability: 0.9 }], least: [] }));
  const settle = (): Promise<void> => vi.advanceTimersByTimeAsync(1000).then(() => {});

  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => {
    vi.useRealTimers();
    vi.unstubAllGlobals();
  });

  it("is asked for once typing pauses, and only the newest is shown", async () => {
    const slow: ((response: Response) => void)[] = [];
    const fetched = vi.fn((..._request: [string, RequestInit]) => new Promise<Response>((resolve) => slow.push(resolve)));
    vi.stubGlobal("fetch", fetched);
    const look = new StartLook();
    look.later({ like: ["h"], unlike: [] });
    look.later({ like: ["ha"], unlike: [] });
    await settle();
    expect(look.problem.textContent).toBe("Looking…");
    expect(fetched.mock.calls.map(([, { body }]) => JSON.parse(String(body)).like)).toEqual([["ha"]]);
    look.later({ like: ["happy"], unlike: [] });
    await settle();
    slow[1]!(reply("new"));
    slow[0]!(reply("old"));
    await settle();
    expect(look.element.querySelector("li")!.dataset.id).toBe("new");
    expect([look.element.hidden, look.problem.textContent]).toEqual([false, ""]);
  });

  it("stays while a name is wrong, and goes with the last one", async () => {
    const replies = [reply("a"), new Response(JSON.stringify({ error: "no item is called 'x'" }), { status: 422 })];
    vi.stubGlobal("fetch", vi.fn(async () => replies.shift()!));
    const look = new StartLook();
    look.later({ like: ["a"], unlike: [] });
    await settle();
    look.later({ like: ["x"], unlike: [] });
    await settle();
    expect([look.problem.textContent, look.element.hidden, look.element.dataset.old]).toEqual(["No item is called 'x'.", false, "true"]);
    look.later({ like: [], unlike: [] });
    expect([look.problem.textContent, look.element.hidden]).toEqual(["", true]);
  });
});

describe("words", () => {
  it("say what the answers think of the start", () => {
    const line = new StartLine();
    line.show("your answers agree with the start");
    expect([line.element.textContent, line.element.hidden]).toEqual(["Your answers agree with the start.", false]);
    line.show(null);
    expect([line.element.textContent, line.element.hidden]).toEqual(["", true]);
  });

  it("say what names were found as", () => {
    expect(foundAs([{ name: "happy", item: item("a") }, { name: "warm", item: null }, { name: "kind", item: null }])).toBe("happy: an item; warm, kind: words");
    expect(foundAs([])).toBe("");
  });

  it("show the texts of items that are named by their ids", () => {
    const named = [{ name: "a", item: item("a") }, { name: "TEXT OF B", item: item("b") }, { name: "warm", item: null }, { name: "d", item: { id: "d", image: "/d" } }, { name: "c", item: item("c") }];
    expect(textsOf(named)).toBe("a: text of a; c: text of c");
  });

  it("ask for what the project can use", () => {
    expect(explanation(false, null)).toMatch(/^Type words or texts,/);
    expect(explanation(false, "why")).toMatch(/^Click examples below, or type items exactly as they are written there\./);
    expect(explanation(true, "why")).toMatch(/^Click pictures as examples\./);
    expect(explanation(true, null)).toMatch(/^Type words or texts,/);
  });

  it("name what the questions will ask about", () => {
    expect(subject("friendly").textContent).toBe("The questions will ask whether an item is friendly. Say here what that means to you.");
    expect(subject("a <b>spam</b> message").querySelector("strong")!.textContent).toBe("a <b>spam</b> message");
  });

  it("make a sentence of the server’s line", () => {
    expect([sentence("no such item"), sentence("Why?"), sentence("only 5 % are")]).toEqual(["No such item.", "Why?", "Only 5\u00a0% are."]);
  });
});
