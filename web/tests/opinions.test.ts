import { describe, expect, it } from "vitest";
import { seenBy, sideView, verdict } from "../src/dashboard/agreement";
import type { Opinions } from "../src/kit/wire";

const ALIKE: Opinions = { people: ["Ann", "Bob", "Cy", "Dee"], few: [], enough: 5, own: 0, camps: null, disputed: [] };
const CAMPS = { first: ["Ann", "Cy"], second: ["Bob", "Dee"], gain_nats: 0.3, gain_se: 0.1, answers: 40, first_more: [], second_more: [] };

describe("whether people mean the same", () => {
  it("is said in words", () => {
    expect(verdict(ALIKE)).toEqual(["As far as their answers show, people mean the same thing."]);
    expect(verdict({ ...ALIKE, own: 0.2 })[0]).toContain("about 20\u00a0% of a view is a person’s own");
    expect(verdict({ ...ALIKE, people: ["Ann"] })[0]).toContain("Two people");
  });

  it("names two camps, with the evidence", () => {
    const [who, why] = verdict({ ...ALIKE, camps: CAMPS });
    expect(who).toBe("Two camps: Ann and Cy; and Bob and Dee.");
    expect(why).toContain("0.30 ± 0.10 nats per answer, on 40 answers");
  });

  it("says what one camp finds more so, in the project's words", () => {
    expect(sideView("More friendly", ["Ann", "Cy"], []).querySelector("h3")?.textContent).toBe("More friendly to Ann and Cy");
  });

  it("says who answered too little", () => {
    expect(verdict({ ...ALIKE, few: ["Eve"] }).at(-1)).toBe("Eve: fewer than 5 answers, so the shared classifier is used.");
  });

  it("lists an item by person, the most positive first", () => {
    expect(seenBy({ views: [{ name: "Ann", probability: 0.1 }, { name: "Bob", probability: 0.9 }] })).toBe("Bob 90\u00a0%, Ann 10\u00a0%");
  });
});
