// The formula in a text of LaTeX, without what marks it as one.

export interface Formula {
  readonly formula: string;
  /** In a line of its own, larger than in a text. */
  readonly isDisplay: boolean;
}

const MARKS = [
  { left: "$$", right: "$$", isDisplay: true },
  { left: String.raw`\[`, right: String.raw`\]`, isDisplay: true },
  { left: String.raw`\(`, right: String.raw`\)`, isDisplay: false },
  { left: "$", right: "$", isDisplay: false },
] as const;

/** As libraries send it: `$\displaystyle x$`, `$$x$$`, or an environment by itself. */
export function readFormula(text: string): Formula {
  const trimmed = text.trim();
  const marks = MARKS.find(
    ({ left, right }) =>
      trimmed.length > left.length + right.length && trimmed.startsWith(left) && trimmed.endsWith(right),
  );
  if (marks === undefined) return { formula: trimmed, isDisplay: true };
  const { left, right, isDisplay } = marks;
  return { formula: trimmed.slice(left.length, -right.length), isDisplay };
}

const DEFINES = /\\(?:[gex]?def|global|long|let|futurelet|(?:re)?newcommand|providecommand)(?![A-Za-z])/;

/** A few characters can define what fills the memory of a browser, and libraries define nothing. */
export function definesMacros(formula: string): boolean {
  return DEFINES.test(formula);
}
