// Options of one shell command.

export interface ShellOptions {
  /** The same id with the same command and options is the same task. Default: generated. */
  readonly id?: string;
  /** Where it starts, relative to the session's working directory. Default: there. */
  readonly cwd?: string;
  /** Environment variables for this command only. */
  readonly env?: Readonly<Record<string, string>>;
  /** Running time without pauses. Null or Infinity: no limit, which is the default. */
  readonly timeoutMs?: number | null;
  /** Standard input: none, `write()` while it runs (`"open"`), or fixed content. Default: `"none"`. */
  readonly stdin?: "none" | "open" | { readonly text: string } | { readonly bytes: Uint8Array };
  /** Aborting cancels it. */
  readonly signal?: AbortSignal;
}

/** The session of commands that do not name one. */
export const DEFAULT_SESSION = "default";
