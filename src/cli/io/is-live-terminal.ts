/** Whether what is on stderr can be drawn again. */
export function isLiveTerminal(): boolean {
  return process.stderr.isTTY && process.env["TERM"] !== "dumb";
}
