// POST /process/interpreter/execute: runs code in a session that lives as long as the request.

import { randomId } from "../../../util/make-id.ts";
import { withArguments } from "../../net/problem.ts";
import { json, routesTagged } from "../route.ts";
import { interpreterBody } from "../../../protocol/api/executions.ts";
import { executionResult } from "../../../protocol/execution.ts";
import { withDefaults } from "./sessions.ts";

const route = routesTagged("Executions");

/** The code is interrupted when the client disconnects. */
const interpret = route("POST", "/process/interpreter/execute", {
  summary: "Execute code in a temporary session",
  body: interpreterBody,
  responses: { 200: { description: "The result", schema: executionResult } },
  handle: async ({ request, requestId, body: { code, timeout, envs } }, context) => {
    const sessionOptions = withDefaults({ id: randomId("x"), env: envs }, context);
    const session = await withArguments(() => context.runtime.openSession(sessionOptions));
    try {
      const options = { signal: request.signal, ...(timeout !== undefined && { timeoutMs: timeout * 1000 }) };
      const execution = context.executions.start(session, code, options, { isKept: false });
      context.activity.track({ execution }, { requestId });
      return json(await execution.result);
    } finally {
      void session.discard();
    }
  },
});

export const interpreterRoutes = [interpret];
