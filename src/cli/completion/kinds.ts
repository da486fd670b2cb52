// What `rlm completion` knows: shells, and things that have ids.

export const SHELLS = ["bash", "zsh", "fish"] as const;
export type Shell = (typeof SHELLS)[number];

export const ID_KINDS = ["sessions", "tasks", "runs"] as const;
export type IdKind = (typeof ID_KINDS)[number];
