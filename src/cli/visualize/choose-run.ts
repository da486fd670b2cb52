// The run that a command names, among those of a server.

import { didYouMean } from "../../util/text/did-you-mean.ts";
import { UsageError } from "../options/usage-error.ts";

/** The run that started last. */
const LAST = "last";
const NAMED = 5;

/** `ids`: the latest first. Throws a UsageError, with the nearest id where one is close. */
export function chooseRun(name: string, ids: readonly string[]): string {
  if (name === LAST) {
    const [latest] = ids;
    if (latest === undefined) throw new UsageError("no runs are recorded yet: 'rlm run --demo' records one");
    return latest;
  }
  const found = ids.includes(name) ? [name] : ids.filter((id) => name !== "" && id.startsWith(name));
  const [only] = found;
  if (only !== undefined && found.length === 1) return only;
  if (only !== undefined) {
    const more = found.length > NAMED ? ", ..." : "";
    throw new UsageError(`${found.length} runs begin with '${name}': ${found.slice(0, NAMED).join(", ")}${more}`);
  }
  const meant = didYouMean(name, ids);
  const hint = meant === undefined ? "Run 'rlm logs' to see them" : `Did you mean '${meant}'?`;
  throw new UsageError(`there is no run '${name}'. ${hint}`);
}
