// Loads the page that shows exported runs, and gives the reader a file to keep.

declare const __RLM_VERSION__: string;

const VIEWER = "assets/run-viewer.html";

export function download(file: Blob, name: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(file);
  link.download = name;
  link.click();
  // The browser reads it after this turn.
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

/** The page of exported runs. */
export async function loadViewer(signal: AbortSignal): Promise<string> {
  const address = new URL(`${VIEWER}?v=${encodeURIComponent(__RLM_VERSION__)}`, document.baseURI);
  const response = await fetch(address, { signal, credentials: "omit" });
  if (!response.ok) throw new Error(`the viewer for exported runs cannot be loaded (${response.status})`);
  return response.text();
}
