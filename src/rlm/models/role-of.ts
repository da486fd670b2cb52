// What a model is asked for by a call.

import type { ModelRole } from "../../protocol/runs.ts";
import { ROOT } from "../ledger/ledger.ts";
import type { ModelCall } from "../calls/model-calls.ts";

/** What is asked without a session is asked of the root. */
export function roleOf({ purpose, nodeId }: Pick<ModelCall, "purpose" | "nodeId">): ModelRole {
  if (purpose === "query") return "sub";
  if (purpose === "extract") return "extract";
  return nodeId === ROOT ? "root" : "child";
}
