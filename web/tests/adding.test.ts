import { describe, expect, it } from "vitest";

import { decoded, refused } from "../src/dashboard/adding";
import { withError } from "../src/dashboard/overview";
import type { Rate } from "../src/kit/wire";

describe("a file to add", () => {
  it("is refused before it is sent if it is too large", () => {
    expect(refused({ size: 8 << 20 }, 8 << 20)).toBeNull();
    expect(refused({ size: (8 << 20) + 1 }, 8 << 20)).toBe("This file is larger than 8 MB. Divide it into smaller files.");
  });

  it("is read as UTF-8, and as nothing else", () => {
    expect(decoded(new TextEncoder().encode("id,text\n1,Größe\n").buffer as ArrayBuffer)).toBe("id,text\n1,Größe\n");
    expect(() => decoded(new Uint8Array([0x47, 0x72, 0xf6, 0xdf, 0x65]).buffer)).toThrow(TypeError);
  });
});

describe("bits of a question", () => {
  const rate = (bits: number, bits_se: number): Rate => ({ bits, bits_se }) as Rate;

  it("have an error only if it shows", () => {
    expect(withError(rate(0.17, 0.001))).toBe("0.17");
    expect(withError(rate(0.91, 0.02))).toBe("0.91 ± 0.02");
  });
});
