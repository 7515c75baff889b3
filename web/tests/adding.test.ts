import { describe, expect, it } from "vitest";

import { base64, choices, refused } from "../src/dashboard/adding";
import { withError } from "../src/dashboard/overview";
import type { Rate } from "../src/kit/wire";

describe("a file to add", () => {
  it("is refused before it is sent if it is too large", () => {
    expect(refused({ size: 8 << 20 }, 8 << 20)).toBeNull();
    expect(refused({ size: (8 << 20) + 1 }, 8 << 20)).toBe("This file is larger than 8 MB. Divide it into smaller files.");
  });

  it("is sent byte by byte, whatever its encoding", () => {
    const bytes = new Uint8Array(70_000).map((_, at) => at % 256);
    const sent = atob(base64(bytes.buffer));
    expect(bytes.every((byte, at) => sent.charCodeAt(at) === byte) && sent.length === bytes.length).toBe(true);
  });

  it("is read in the encoding that the person chooses, the likely ones first", () => {
    const guesses = [{ encoding: "cp1251", reading: "Привет" }, { encoding: "koi8-r", reading: "оПХБЕР" }];
    const offered = choices({ guesses, encodings: ["utf-8", "cp1251", "koi8-r"] });
    expect(offered).toEqual([["cp1251", "cp1251: Привет"], ["koi8-r", "koi8-r: оПХБЕР"], ["utf-8", "utf-8"]]);
  });
});

describe("bits of a question", () => {
  const rate = (bits: number, bits_se: number): Rate => ({ bits, bits_se }) as Rate;

  it("have an error only if it shows", () => {
    expect(withError(rate(0.17, 0.001))).toBe("0.17");
    expect(withError(rate(0.91, 0.02))).toBe("0.91 ± 0.02");
  });
});
