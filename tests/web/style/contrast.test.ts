// Text can be read in both themes: every pair of colours that meet has a contrast of 4.5 or more (WCAG 2, level AA).

import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";

const css = readFileSync("web/src/style/tokens.css", "utf8");
const light = colorsOf(css.slice(0, css.indexOf('[data-theme="light"]')));
const dark = colorsOf(css.slice(css.lastIndexOf(':root[data-theme="dark"]')));
const darkOfSystem = colorsOf(css.slice(css.indexOf("@media"), css.lastIndexOf(':root[data-theme="dark"]')));

const TEXTS = ["ink", "quiet", "accent", "model", "code", "child", "wait", "error"];
const PAPERS = ["paper", "raised", "sunken"];
const MEANINGS = ["accent", "model", "code", "child", "wait", "error"];

test("the dark theme is the same, whether the system or the reader chose it", () => {
  expect(darkOfSystem).toEqual(dark);
});

describe.each([
  ["light", light],
  ["dark", { ...light, ...dark }],
])("%s", (_, colors) => {
  const contrast = (front: string, back: string): number => contrastOf(colors[front] ?? "", colors[back] ?? "");

  test.each(TEXTS.flatMap((text) => PAPERS.map((paper) => [text, paper] as const)))("%s on %s", (text, paper) => {
    expect(contrast(text, paper)).toBeGreaterThanOrEqual(4.5);
  });

  test.each(MEANINGS.flatMap((name) => [name, "ink", "quiet"].map((text) => [text, `${name}-wash`] as const)))(
    "%s on %s",
    (text, wash) => {
      expect(contrast(text, wash)).toBeGreaterThanOrEqual(4.5);
    },
  );

  test("what is written on the accent", () => {
    expect(contrast("on-accent", "accent")).toBeGreaterThanOrEqual(4.5);
  });

  test("edges of fields, which need 3", () => {
    expect(contrast("line-strong", "paper")).toBeGreaterThanOrEqual(3);
    expect(contrast("line-strong", "raised")).toBeGreaterThanOrEqual(3);
  });
});

const barCss = readFileSync("web/src/runs/timeline/bar.module.css", "utf8");
const MIX = /color-mix\(in srgb, var\(--([\w-]+)\) (\d+)%, (?:var\(--([\w-]+)\)|transparent)\)/g;
/** What a bar consists of, with its declarations. What lies behind bars, as the ground of a batch, need not be seen. */
const BARS = [...barCss.matchAll(/^\.((?:span|lane-|segment)[\w.-]*) \{\n([^}]*)\}/gm)]
  .map(([, name = "", declarations = ""]) => ({ name, declarations }))
  .filter(({ name, declarations }) => declarations.includes("var(--") && name !== "span.batch");

describe.each([
  ["light", light],
  ["dark", { ...light, ...dark }],
])("bars of a run, %s", (_, colors) => {
  // Of a fill and its edge, one has to be seen.
  test.each(BARS)("$name", ({ declarations }) => {
    for (const ground of ["paper", "raised"]) {
      const seen = colorsIn(declarations, { ...colors, transparent: colors[ground] ?? "" });
      expect(Math.max(...seen.map((color) => contrastOf(color, colors[ground] ?? "")))).toBeGreaterThanOrEqual(3);
    }
  });
});

test("there are bars to look at", () => {
  expect(BARS.map(({ name }) => name)).toEqual(
    expect.arrayContaining(["span", "span.node", "lane-model", "segment.held", "segment.tool"]),
  );
});

/** Those that declarations name, mixed ones too. */
function colorsIn(declarations: string, colors: Readonly<Record<string, string>>): readonly string[] {
  const plain = declarations.replaceAll(MIX, (_, a: string, percent: string, b: string | undefined) =>
    mixed(colors[a] ?? "", colors[b ?? "transparent"] ?? "", Number(percent) / 100),
  );
  return [...plain.matchAll(/var\(--([\w-]+)\)|(#[\da-f]{6})/g)].map(
    ([, name = "", color]) => color ?? colors[name] ?? "",
  );
}

function mixed(a: string, b: string, share: number): string {
  const part = (color: string, at: number): number => Number.parseInt(color.slice(at, at + 2), 16);
  const channels = [1, 3, 5].map((at) => Math.round(part(a, at) * share + part(b, at) * (1 - share)));
  return `#${channels.map((channel) => channel.toString(16).padStart(2, "0")).join("")}`;
}

function colorsOf(text: string): Record<string, string> {
  return Object.fromEntries(
    [...text.matchAll(/--([\w-]+):\s*(#[\da-f]{6});/g)].map(([, name = "", color = ""]) => [name, color]),
  );
}

function contrastOf(a: string, b: string): number {
  const [dim = 0, bright = 0] = [luminance(a), luminance(b)].toSorted((x, y) => x - y);
  return (bright + 0.05) / (dim + 0.05);
}

function luminance(color: string): number {
  const [red = Number.NaN, green = Number.NaN, blue = Number.NaN] = [1, 3, 5].map((at) => {
    const part = Number.parseInt(color.slice(at, at + 2), 16) / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}
