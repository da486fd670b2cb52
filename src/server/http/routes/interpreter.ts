// POST /process/interpreter/execute: code in, result out, in a session that lives for this request.

import { randomId } from "../../../util/make-id.ts";
import { json, route } from "../route.ts";
import { executionResult, interpreterBody } from "../schemas/executions.ts";

/** A client that goes away takes its code with it: the request's signal interrupts it. */
const interpret = route({
  method: "POST",
  path: "/process/interpreter/execute",
  tag: "Executions",
  summary: "Execute code once, in a session of its own that is gone afterwards",
  body: interpreterBody,
  answers: { 200: { description: "The result", schema: executionResult } },
  handle: async ({ request, body: { code, timeout, envs } }, { runtime }) => {
    const options = { id: randomId("x"), timeoutMs: timeout * 1000, env: envs, signal: request.signal };
    return json(await runtime.execute(code, options));
  },
});

export const interpreterRoutes = [interpret];
