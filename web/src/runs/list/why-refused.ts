// Why a run was not started, and what to do about it.

import { messageOf } from "../message-of.ts";
import { isNoModel } from "../../state/runs/start-run.ts";

export function whyRefused(error: unknown): string {
  if (isNoModel(error)) {
    return (
      'This server has no model to ask. Set one in rlm.toml, such as [rlm] model = "…" with the key in the environment, and start the ' +
      "server again; docs/configuration.md has the details. `rlm run --demo` in a terminal makes a run without a model."
    );
  }
  return messageOf(error);
}
