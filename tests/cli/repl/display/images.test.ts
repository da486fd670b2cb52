import { mkdtempSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { Images } from "../../../../src/cli/repl/display/images.ts";
import type { Pixels } from "../../../../src/util/image/png.ts";
import { makePng } from "../../../make-png.ts";
import { toSixel } from "../../../../src/cli/repl/display/sixel.ts";

/** The pixels that a terminal would draw. */
function fromSixel(text: string): Pixels {
  const [, width = "0", height = "0"] = /"1;1;(\d+);(\d+)/.exec(text) ?? [];
  const rgb = new Uint8Array(Number(width) * Number(height) * 3);
  const colours = new Map<string, number[]>();
  let [row, column, colour] = [0, 0, ""];
  const body = text.slice(text.indexOf(height) + height.length, -2);
  for (const [part, index, red, green, blue, count, sign] of body.matchAll(
    /#(\d+)(?:;2;(\d+);(\d+);(\d+))?|(?:!(\d+))?([?-~])|[$-]/g,
  )) {
    if (index !== undefined) colour = index;
    if (index !== undefined && red !== undefined)
      colours.set(
        index,
        [red, green, blue].map((v) => Math.round((Number(v) * 255) / 100)),
      );
    if (part === "$") column = 0;
    if (part === "-") [row, column] = [row + 6, 0];
    if (sign === undefined) continue;
    for (let repeat = 0; repeat < Number(count ?? 1); repeat += 1, column += 1) {
      for (let bit = 0; bit < 6; bit += 1) {
        if ((sign.charCodeAt(0) - 63) & (1 << bit))
          rgb.set(colours.get(colour) ?? [], ((row + bit) * Number(width) + column) * 3);
      }
    }
  }
  return { width: Number(width), height: Number(height), rgb };
}

test("sixels preserve pixels, and approximate an image with many colours", () => {
  const colours = [0, 51, 102, 153, 204, 255];
  const few = Uint8Array.from({ length: 20 * 13 * 3 }, (_, index) => colours[(index * 7) % 6] ?? 0);
  expect(fromSixel(toSixel({ width: 20, height: 13, rgb: few }))).toEqual({ width: 20, height: 13, rgb: few });
  const many = Uint8Array.from({ length: 64 * 64 * 3 }, (_, index) => (index * 31) % 256);
  const drawn = fromSixel(toSixel({ width: 64, height: 64, rgb: many })).rgb;
  expect(Math.max(...drawn.map((value, index) => Math.abs(value - (many[index] ?? 0))))).toBeLessThanOrEqual(27);
});

describe("an image", () => {
  const png = makePng({ width: 8, height: 8 });
  const base64 = png.toString("base64");
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "rlm-images-"));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  test("is encoded for kitty, iTerm2 and sixel terminals", async () => {
    const ask = async (): Promise<string[]> => ["62", "4", "22"];
    expect(await new Images({ KITTY_WINDOW_ID: "1" }, folder, ask).toText(base64)).toBe(
      `\u001B_Ga=T,f=100,q=2,m=0;${base64}\u001B\\\n`,
    );
    expect(await new Images({ TERM_PROGRAM: "iTerm.app" }, folder, ask).toText(base64)).toBe(
      `\u001B]1337;File=inline=1;size=${png.length}:${base64}\u0007\n`,
    );
    expect(await new Images({ TERM: "foot" }, folder, ask).toText(base64)).toContain('\u001BPq"1;1;8;8#0;2;0;0;0');
    expect(readdirSync(folder)).toEqual([]);
  });

  test("is saved under a new number if the terminal cannot show it, and the oldest are removed", async () => {
    const images = new Images({ TERM: "xterm", TMUX: "x", KITTY_WINDOW_ID: "1" }, folder, async () => undefined);
    expect(await images.toText(base64)).toBe(`${join(folder, "figure-1.png")} (1 KiB)\n`);
    expect(readFileSync(join(folder, "figure-1.png"))).toEqual(png);
    for (let more = 0; more < 104; more += 1) await images.toText(base64);
    expect(readdirSync(folder)).toHaveLength(100);
    expect(readdirSync(folder)).toContain("figure-105.png");
  });

  test("that is not a PNG does not reach the terminal", async () => {
    const images = new Images({ KITTY_WINDOW_ID: "1" }, folder, async () => []);
    expect(await images.toText(Buffer.from("\u001B[2J").toString("base64"))).toBeUndefined();
  });
});
