// POST /process/interpreter/execute: code in, result out, in a session that lives for this request.

import { randomId } from "../../../util/make-id.ts";
import { withArguments } from "../../net/problem.ts";
import { json, route } from "../route.ts";
import { interpreterBody } from "../../../protocol/api/executions.ts";
import { executionResult } from "../../../protocol/execution.ts";
import { withDefaults } from "./sessions.ts";

/** A client that goes away takes its code with it: the request's signal interrupts it. */
const interpret = route({
  method: "POST",
  path: "/process/interpreter/execute",
  tag: "Executions",
  summary: "Execute code once, in a session of its own that is gone afterwards",
  body: interpreterBody,
  answers: { 200: { description: "The result", schema: executionResult } },
  handle: async ({ request, requestId, body: { code, timeout, envs } }, door) => {
    const asked = withDefaults({ id: randomId("x"), env: envs }, door);
    const session = await withArguments(() => door.runtime.openSession(asked));
    try {
      const options = { signal: request.signal, ...(timeout !== undefined && { timeoutMs: timeout * 1000 }) };
      const execution = door.executions.start(session, code, options, { isKept: false });
      door.begun.note({ execution }, { requestId });
      return json(await execution.result);
    } finally {
      void session.discard();
    }
  },
});

export const interpreterRoutes = [interpret];
