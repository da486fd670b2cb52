// Prints output that may take long, until it ends, a signal arrives or the reader goes away.

import { EXIT, fromWriteError } from "../exit-code.ts";
import { StandardOutput } from "./standard-output.ts";

/** `print` must stop when the signal is aborted; what it throws after that is ignored. Resolves with the exit code. */
export async function printUntilStopped(
  print: (output: StandardOutput, signal: AbortSignal) => Promise<void>,
): Promise<number> {
  const output = new StandardOutput();
  const stop = new AbortController();
  let code: number = EXIT.ok;
  const end = (reason: number): void => {
    code = reason;
    stop.abort();
  };
  output.onBroken = (error) => end(fromWriteError(error));
  process.once("SIGINT", () => end(EXIT.cancelled)).once("SIGTERM", () => end(EXIT.ended));
  try {
    await print(output, stop.signal);
  } catch (error) {
    if (!stop.signal.aborted) throw error;
  }
  if (code === EXIT.ok) await output.flush();
  return code;
}
