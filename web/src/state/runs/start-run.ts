// Starts a run: a question, files as its context, a model, limits.

import { ServerRefusedError, type RLMLimits, type RunRequest, type Runtime } from "rlm-runtime/client";

export interface NewRun {
  readonly query: string;
  readonly files: readonly NamedFile[];
  /** Empty: the server's. */
  readonly model: string;
  readonly mode: "auto" | "rlm" | "direct";
  /** Empty fields are no limits. */
  readonly limits: LimitFields;
}

export interface NamedFile {
  readonly name: string;
  readonly file: Blob;
}

export interface LimitFields {
  readonly tokens: string;
  readonly costUsd: string;
  readonly maxDepth: string;
  readonly minutes: string;
}

const MINUTE_MS = 60_000;

/** Resolves to its id, once the server has it. */
export async function startRun(runtime: Runtime, { query, files, model, mode, limits }: NewRun): Promise<string> {
  const [only] = files;
  const context: RunRequest["context"] =
    only === undefined
      ? undefined
      : files.length === 1
        ? { text: only.file }
        : { files: files.map(({ name, file }) => ({ name, content: file })) };
  const run = runtime.rlm().run({
    query,
    mode,
    ...(context !== undefined && { context }),
    ...(model.trim() !== "" && { model: model.trim() }),
    limits: toLimits(limits),
  });
  // What comes of it is seen in the run.
  run.catch(() => {});
  await run.info();
  return run.id;
}

/** Whether a run was refused because the server has no model. */
export function isNoModel(error: unknown): boolean {
  return error instanceof ServerRefusedError && error.problem === "NO_MODEL";
}

/** Throws a RangeError that says which field is no number. */
function toLimits({ tokens, costUsd, maxDepth, minutes }: LimitFields): RLMLimits {
  const [wallMs, all] = [toNumber("time", minutes), toNumber("tokens", tokens)];
  const [cost, depth] = [toNumber("cost", costUsd), toNumber("depth", maxDepth)];
  return {
    ...(all !== undefined && { tokens: Math.round(all) }),
    ...(cost !== undefined && { costUsd: cost }),
    ...(depth !== undefined && { maxDepth: Math.round(depth) }),
    ...(wallMs !== undefined && { wallMs: Math.round(wallMs * MINUTE_MS) }),
  };
}

function toNumber(name: string, text: string): number | undefined {
  const digits = text.trim().replaceAll(/[,_ ]/g, "");
  if (digits === "") return undefined;
  const value = Number(digits);
  if (!Number.isFinite(value) || value < 0) throw new RangeError(`The limit on ${name} is not a number: ${text}`);
  return value;
}
