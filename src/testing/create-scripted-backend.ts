// The scripted backend as users make one.

import type { Script, ScriptedBackend, ScriptedReply } from "../backends/scripted/script.ts";
import { ScriptedBackend as Implementation } from "../backends/scripted/scripted.ts";

/**
 * A backend that answers from a script. A list is answered in order, and a call past its end fails with the fault `configuration`. `name` is
 * its name in errors and recordings; default: `scripted`.
 */
export function createScriptedBackend(
  script: Script | readonly ScriptedReply[],
  options: { readonly name?: string } = {},
): ScriptedBackend {
  return new Implementation(script, options);
}
