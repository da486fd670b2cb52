// Short texts that take long to parse.

import { expect, test } from "vitest";
import { definesMacros } from "../../../web/src/parts/rich/latex/read-formula.ts";
import { markdownToHTML } from "../../../web/src/parts/rich/markdown/markdown-to-html.ts";
import { timeOf } from "../time-of.ts";

const fill = (piece: string, length: number): string => piece.repeat(Math.ceil(length / piece.length)).slice(0, length);

test.each([
  "[",
  "[a](",
  "![",
  "*a ",
  "a**b",
  "_a ",
  "__a",
  "***a",
  "~a~~",
  "`a``b```",
  "a@",
  "<a ",
  "<!--",
  "> ",
  "- ",
  "|a",
  "&a",
  "\\",
  "- - ",
])("Markdown of %j over and over is parsed quickly, or not at all", (piece) => {
  for (const length of [3_000, 50_000, 200_000]) {
    for (const gap of ["", "\n\n"]) {
      const text = gap === "" ? fill(piece, length) : fill(fill(piece, 2_900) + gap, length);
      expect(timeOf(() => void markdownToHTML(text))).toBeLessThan(15_000);
    }
  }
});

test("an address without an end, and lists in lists, are parsed quickly or not at all", () => {
  expect(timeOf(() => void markdownToHTML(`${fill("a.", 200_000)}@`))).toBeLessThan(15_000);
  const nested = Array.from({ length: 600 }, (_, level) => `${" ".repeat(level)}- a`).join("\n");
  expect(timeOf(() => void markdownToHTML(nested))).toBeLessThan(15_000);
});

test("a table is parsed if it has as many cells as people write, and not if a few lines ask for millions", () => {
  const table = (columns: number, rows: number): string =>
    `${"|a".repeat(columns)}|\n${"|-".repeat(columns)}|\n${"a|\n".repeat(rows)}`;
  expect(markdownToHTML(table(12, 500))).toContain("<td>");
  const bomb = table(2_500, 2_500);
  for (const text of [
    bomb,
    bomb.replaceAll("\n", "\r"),
    bomb.replaceAll(/^/gm, "> "),
    `- ${bomb.replaceAll("\n", "\n  ")}`,
  ])
    expect(markdownToHTML(text)).toBeUndefined();
  expect(markdownToHTML(`${table(100, 90)}\n`.repeat(4))).toBeUndefined();
});

test("Markdown as people write it is parsed", () => {
  const html = markdownToHTML(
    "# A\n\n> quoted\n> > twice\n\n- one\n  - two\n\n| a | b |\n|---|---|\n| 1 | *2* |\n\n```py\nx = 1\n```\n",
  );
  for (const part of ["<h1>", "<blockquote>", "<ul>", "<td><em>2</em></td>", '<code class="language-py">'])
    expect(html).toContain(part);
  expect(markdownToHTML("A long paragraph of words. ".repeat(100))).toContain("<p>");
  expect(markdownToHTML(`\`\`\`\n${"a_b = [c]\n".repeat(3_000)}\`\`\``)).toContain("<pre>");
  const raw = markdownToHTML("<script>alert(1)</script> <b>bold</b>");
  expect(raw).toContain("&lt;script&gt;");
  expect(raw).not.toContain("<script");
});

test.each([
  String.raw`\def\a#1{${"#1".repeat(4_000)}}\a{${"x".repeat(10_000)}}`,
  String.raw`$$\newcommand{\a}[1]{${"#1".repeat(4_000)}}\a{${"x".repeat(10_000)}}$$`,
  String.raw`\gdef\a{x}`,
  String.raw`\global\let\a=\b`,
  String.raw`\renewcommand\a{x}`,
])("a formula that defines what it repeats is not drawn", (formula) => {
  expect(definesMacros(formula)).toBe(true);
});

test("names that begin like a definition are none", () => {
  expect(definesMacros(String.raw`\leftarrow \left( \definition \longrightarrow \globally x_{def} \mathrm{let}`)).toBe(
    false,
  );
});
