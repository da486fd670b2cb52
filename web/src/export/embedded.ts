// Where the data of a run is in an exported file. `state/runs/export/export-file.ts` writes it, `embedded-run.ts` reads it.

export const EMBEDDED = {
  outline: "run-outline",
  /** One element for each piece, in order. */
  events: "run-events",
  /** One element for each text that is stored apart. */
  blobs: "run-blobs",
  omitted: "run-omitted",
} as const;
