// Colours a traceback. Removes terminal commands that user code may have put into it.

import { toTerminalText } from "../../../util/text/terminal-text.ts";
import type { Palette } from "../../io/palette.ts";

const FRAME = /^(?<indent>\s+)File "(?<file>[^"]*)", line (?<line>\d+)(?<rest>.*)$/;
const CARETS = /^\s+[~^]+\s*$/;
const HEAD = /^(?:Traceback \(most recent call last\):|During handling of|The above exception|\s*\+ Exception Group)/;
const ERROR = /^(?<name>[A-Za-z_][\w.]*)(?<rest>:.*)?$/;

export function toColouredTraceback(traceback: string, palette: Palette): string {
  return toTerminalText(traceback.trimEnd())
    .split("\n")
    .map((line) => toColouredLine(line, palette))
    .join("\n");
}

function toColouredLine(line: string, palette: Palette): string {
  const frame = FRAME.exec(line)?.groups;
  if (frame !== undefined) {
    const { indent = "", file = "", line: number = "", rest = "" } = frame;
    return `${indent}File ${palette.paint("string", `"${file}"`)}, line ${palette.paint("number", number)}${rest}`;
  }
  if (CARETS.test(line)) return palette.paint("error", line);
  if (HEAD.test(line)) return palette.paint("quiet", line);
  const error = ERROR.exec(line)?.groups;
  if (error === undefined) return line;
  return palette.paint("error", error["name"] ?? "") + (error["rest"] ?? "");
}
