// The roles of models, as people read them.

import type { ModelRole } from "../../protocol/runs.ts";

/** In the order of the output. */
export const ROLES: readonly ModelRole[] = ["root", "child", "sub", "extract"];

export const ROLE_NAMES: Readonly<Record<ModelRole, string>> = {
  root: "root",
  child: "nodes below",
  sub: "llm_query",
  extract: "last answer",
};
