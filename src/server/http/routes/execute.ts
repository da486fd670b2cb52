// POST /process/interpreter/execute: code in, result out, in a session that lives for this request.

import type { Runtime } from "../../../runtime.ts";
import { randomId } from "../../../util/make-id.ts";
import { parseBody } from "../body.ts";
import { toResponse } from "../problem.ts";
import { executeBody } from "../schemas.ts";

/** A client that goes away takes its code with it: the request's signal interrupts it. */
export async function execute(runtime: Runtime, request: Request): Promise<Response> {
  const body = await parseBody(request, executeBody);
  if ("problem" in body) return toResponse(body.problem);
  const { code, timeout, envs } = body.value;
  const result = await runtime.execute(code, {
    id: randomId("x"),
    timeoutMs: timeout * 1000,
    env: envs,
    signal: request.signal,
  });
  return Response.json(result);
}
