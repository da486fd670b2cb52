/** The current folder. The root where it was removed. */
export function currentFolder(): string {
  try {
    return process.cwd();
  } catch {
    return "/";
  }
}
