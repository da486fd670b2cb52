import { expect, test } from "vitest";
import { readFormula } from "../../../web/src/parts/rich/latex/read-formula.ts";

test.each([
  [String.raw`$\displaystyle x^{2}$`, { formula: String.raw`\displaystyle x^{2}`, isDisplay: false }],
  [" $$\nx\n$$ ", { formula: "\nx\n", isDisplay: true }],
  [String.raw`\[x\]`, { formula: "x", isDisplay: true }],
  [String.raw`\(x\)`, { formula: "x", isDisplay: false }],
  [String.raw`\begin{matrix}1\end{matrix}`, { formula: String.raw`\begin{matrix}1\end{matrix}`, isDisplay: true }],
  ["$", { formula: "$", isDisplay: true }],
  ["$$", { formula: "$$", isDisplay: true }],
  ["", { formula: "", isDisplay: true }],
])("%j", (text, formula) => {
  expect(readFormula(text)).toEqual(formula);
});
