// Whether two streams were printed in turns, other than all of stdout and then all of stderr.

/** `inOrder` returns both in the order they were printed; it is called if both have text. */
export function isInterleaved(stdout: string, stderr: string, inOrder: () => Buffer): boolean {
  return stdout !== "" && stderr.trim() !== "" && inOrder().toString("utf8") !== stdout + stderr;
}
