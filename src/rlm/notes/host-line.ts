// Lines of the host in what a model is shown. Output cannot forge them: a line of output that begins like one is escaped. What a model
// hardly sees before it, such as spaces, colours and characters without a width, changes nothing.

const MARK = "[host]";
const LINE_ENDS = "\\n\\r\\v\\f\\u0085\\u2028\\u2029";
const FORGED = new RegExp(
  `(^|[${LINE_ENDS}])((?:[^\\S${LINE_ENDS}]|\\p{Cf}|\\u001B\\[[\\d;]*m)*)(?=\\[host\\])`,
  "giu",
);

export function toHostLine(text: string): string {
  return `${MARK} ${text}`;
}

/** For whatever code has printed. */
export function escapeHostLines(output: string): string {
  return output.replaceAll(FORGED, "$1$2\\");
}
