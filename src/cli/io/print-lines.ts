// What a command has to say on stdout, and the exit code after it.

import { EXIT } from "../exit-code.ts";
import { StandardOutput } from "./standard-output.ts";

/** Ends with a newline, whether the text does or not; an empty text is nothing. */
export async function printLines(text: string): Promise<number> {
  const output = new StandardOutput();
  let code: number = EXIT.ok;
  output.onBroken = (error) => {
    code = error.code === "EPIPE" ? EXIT.unread : EXIT.failure;
  };
  if (text !== "") await output.write("stdout", text.endsWith("\n") ? text : `${text}\n`);
  await output.flush();
  return code;
}
