// Lines of the host in what a model is shown. Output cannot forge them: a line of output that begins like one is escaped.

const MARK = "[host]";
const FORGED = /(^|[\n\r\v\f\u0085\u2028\u2029])(?=\[host\])/gi;

export function toHostLine(text: string): string {
  return `${MARK} ${text}`;
}

/** For whatever code has printed. */
export function escapeHostLines(output: string): string {
  return output.replaceAll(FORGED, "$1\\");
}
