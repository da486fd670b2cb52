// Prints the result of a command on stdout.

import { EXIT, fromWriteError } from "../exit-code.ts";
import { StandardOutput } from "./standard-output.ts";

/** Adds a final newline if it is missing; prints nothing for an empty text. Resolves with the exit code. */
export async function printLines(text: string): Promise<number> {
  const output = new StandardOutput();
  let code: number = EXIT.ok;
  output.onBroken = (error) => {
    code = fromWriteError(error);
  };
  if (text !== "") await output.write("stdout", text.endsWith("\n") ? text : `${text}\n`);
  await output.flush();
  return code;
}
