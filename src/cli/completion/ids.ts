// The ids that a shell offers at Tab: of recorded runs, and of sessions and tasks of the running server.
//
// The scripts hand them to a shell, so only ids of harmless characters are printed. What fails prints nothing: there is no place for an
// error while somebody types.

import { listRuns } from "../../store/runs/recorded-runs.ts";
import { withTimeout } from "../../util/async/with-timeout.ts";
import { EXIT } from "../exit-code.ts";
import { printLines } from "../io/print-lines.ts";
import type { IdKind } from "./kinds.ts";

/** Without a hyphen at the start: it would be an option. */
const HARMLESS = /^[\w.][\w.-]{0,63}$/;
const MAX_IDS = 200;
/** For a server: somebody waits at a prompt. */
const LIMIT_SECONDS = 2;

export interface IdsArguments {
  /** In seconds. */
  readonly limit?: number;
}

export async function printIds(kind: IdKind, { limit = LIMIT_SECONDS }: IdsArguments): Promise<number> {
  const read = kind === "runs" ? readRuns() : withTimeout(limit * 1000, readServer(kind));
  const ids = (await read.catch(() => undefined)) ?? [];
  await printLines(toHarmless(ids).join("\n"));
  return EXIT.ok;
}

/** The ids that a shell may insert. A server may claim any. */
export function toHarmless(ids: readonly string[]): readonly string[] {
  return ids.filter((id) => HARMLESS.test(id)).slice(0, MAX_IDS);
}

async function readRuns(): Promise<readonly string[]> {
  return ["last", ...(await listRuns()).map(({ id }) => id)];
}

async function readServer(kind: Exclude<IdKind, "runs">): Promise<readonly string[]> {
  const { withServer } = await import("../remote/with-server.ts");
  return withServer(
    async (runtime) => {
      const page = await (kind === "sessions" ? runtime.sessions.list() : runtime.tasks.list());
      return page.items.map(({ id }) => id);
    },
    { retryMs: 1 },
  );
}
