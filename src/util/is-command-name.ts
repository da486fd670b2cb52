/** Whether a text names a program on the PATH. Otherwise it is a path: it has a slash, or begins with a dot as `.venv` does. */
export function isCommandName(text: string): boolean {
  return !text.includes("/") && !text.startsWith(".");
}
