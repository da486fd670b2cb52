// The pictures of the documents, and the program that draws the recording.

import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { PYTHON } from "../open.ts";

interface Recording {
  readonly columns: number;
  readonly rows: number;
  readonly events: readonly (readonly [number, string])[];
}

interface Screen {
  write(text: string): void;
  readonly text: string;
  readonly textBeforeCursor: string;
  readonly top: number;
  readonly lines: readonly (readonly { readonly text: string; readonly style: object }[])[];
}

const { toSVG } = (await import(script("svg.mjs"))) as {
  readonly toSVG: (recording: Recording, about: { readonly title: string; readonly description: string }) => string;
};
const { Screen } = (await import(script("screen.mjs"))) as {
  readonly Screen: new (columns: number, rows: number) => Screen;
};

const about = { title: "a < b", description: "c & d" };

describe("a recording as SVG", () => {
  // Recorded in a terminal of 40 columns and 4 rows: `rlm exec -c 'print(6*7)'` twice.
  const recording = JSON.parse(readFileSync("tests/fixtures/recording.json", "utf8")) as Recording;
  const svg = toSVG(recording, about);

  test("is XML without scripts and without anything from elsewhere", () => {
    const { names, links } = readXML(svg);
    expect(names).not.toContain("script");
    expect(links).toEqual([]);
    expect(svg).toContain('<title id="title">a &lt; b</title>');
  });

  test("shows every character once it was typed, in the place and the colour that it had", () => {
    expect(svg).toMatch(/<text x="0" y="14" class="c2">\$<\/text>/);
    expect(svg).toMatch(/<text x="16\.8" y="14" textLength="25\.2">rlm<\/text>/);
    expect(svg).toMatch(/<text x="0" y="33" textLength="16\.8">42<\/text>/);
  });

  test("words that are replaced are hidden when that happens, the others stay until the end", () => {
    const rules = new Map(
      [...svg.matchAll(/@keyframes (k\d+)\{(.*)\}$/gm)].map(([, name, rule]) => [name, rule ?? ""]),
    );
    const rl = /style="animation-name:(k\d+)"><text [^>]*>rl<\/text>/.exec(svg)?.[1];
    expect(rules.get(rl)).toMatch(/^0%\{visibility:hidden\}[\d.]+%\{visibility:visible\}[\d.]+%\{visibility:hidden\}$/);
    const answer = /style="animation-name:(k\d+)">(?:<text [^>]*>[^<]*<\/text>)*<text [^>]*>42<\/text>/.exec(svg)?.[1];
    expect(rules.get(answer)).toMatch(/^0%\{visibility:hidden\}[\d.]+%\{visibility:visible\}$/);
  });

  test("scrolls, and shows the last frame to readers who prefer reduced motion", () => {
    const sheet = /@keyframes s\{(.*)\}$/m.exec(svg)?.[1] ?? "";
    const last = /translate\(0px,-(\d+)px\)\}$/.exec(sheet)?.[1];
    expect(Number(last)).toBeGreaterThan(0);
    expect(svg).toContain(
      `@media (prefers-reduced-motion:reduce){.w,.s,.u{animation:none}.z{visibility:visible}.s{transform:translate(0px,-${last}px)}`,
    );
    expect(svg).toMatch(/<g class="w z"/);
  });
});

describe("the screen of a recording", () => {
  test.each([
    ["text that is longer than a row", "0123456789ab", "0123456789\nab"],
    ["a line that is written again", "one\rt", "tne"],
    ["erasing to the end of a line", "one\r\u001B[K2", "2"],
    ["erasing what is below", "a\r\nb\r\nc\u001B[2A\r\u001B[Jd", "d"],
    ["moving in a row", "abc\u001B[2DX\u001B[1Gy\u001B[Cz", "yXz"],
    ["titles, queries and modes", "\u001B]0;title\u0007a\u001B[?2004h\u001B[c\u001B(Bb", "ab"],
    ["a tab and a backspace", "a\tb\bc", "a       c"],
  ])("%s", (_, written, shown) => {
    const screen = new Screen(10, 4);
    screen.write(written);
    expect(screen.text).toBe(shown);
  });

  test("a command that comes in two pieces is one", () => {
    const screen = new Screen(10, 4);
    for (const piece of ["a\u001B", "[3", "1mb"]) screen.write(piece);
    expect(screen.text).toBe("ab");
    expect(screen.lines[0]?.[1]?.style).toMatchObject({ colour: 1 });
  });

  test("scrolls at its last row", () => {
    const screen = new Screen(10, 2);
    screen.write("1\r\n2\r\n3> ");
    expect([screen.top, screen.textBeforeCursor]).toEqual([1, "3> "]);
  });
});

describe("docs/images/", () => {
  const images = readdirSync("docs/images").filter((name) => name.endsWith(".svg"));

  test("has the recording and the architecture", () => {
    expect(images.toSorted()).toEqual(["architecture.svg", "terminal.svg"]);
  });

  test.each(images)("%s is small XML with a title, without scripts and without anything from elsewhere", (name) => {
    const path = `docs/images/${name}`;
    const text = readFileSync(path, "utf8");
    const { names, links } = readXML(text);
    expect(names[0]).toBe("svg");
    expect(names).toEqual(expect.arrayContaining(["title", "desc"]));
    expect(names.filter((each) => ["script", "image", "foreignObject", "a"].includes(each))).toEqual([]);
    expect(links.filter((link) => !link.startsWith("url(#"))).toEqual([]);
    expect(text).not.toMatch(/@import|@font-face|\bon\w+=/);
    expect(statSync(path).size).toBeLessThan(100_000);
  });

  test("the recording shows no path of the machine that made it", () => {
    const text = readFileSync("docs/images/terminal.svg", "utf8");
    const words = [...text.matchAll(/<text [^>]*>([^<]*)<\/text>/g)].map(([, word = ""]) => word);
    expect(words.filter((word) => /^["'(]*\/\w/.test(word))).toEqual([]);
    expect(words, "the end of the demo").toContain("lanterns");
  });
});

function script(name: string): string {
  return new URL(`../../scripts/recording/${name}`, import.meta.url).href;
}

/** The elements, and everything that refers to something else. Throws where the text is not XML. */
function readXML(text: string): { readonly names: readonly string[]; readonly links: readonly string[] } {
  const program = `
import json, re, sys, xml.etree.ElementTree as tree
elements = list(tree.fromstring(sys.stdin.read()).iter())
values = [value for each in elements for name, value in each.attrib.items() if name.endswith("href") or name == "src"]
values += [found for each in elements for value in [each.text or "", *each.attrib.values()] for found in re.findall(r"url\\([^)]*\\)", value)]
print(json.dumps({"names": [each.tag.split("}")[-1] for each in elements], "links": values}))`;
  return JSON.parse(execFileSync(PYTHON, ["-I", "-c", program], { input: text, encoding: "utf8" })) as ReturnType<
    typeof readXML
  >;
}
