// Gives the reader a file to keep.

import { toFileName } from "../parts/safe-text.ts";

const KEPT_MS = 60_000;

/** `name`: of a session, which may have chosen it to look like another. */
export function saveBlob(blob: Blob, name: string): void {
  const url = URL.createObjectURL(blob);
  const link = document.createElement("a");
  link.href = url;
  link.download = toFileName(name);
  link.click();
  // The browser reads it after the click.
  setTimeout(() => URL.revokeObjectURL(url), KEPT_MS);
}
