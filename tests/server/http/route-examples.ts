// One request that works for each route, by the route's method and path. A route that is not here fails `openapi.test.ts`.

import { setImmediate } from "node:timers/promises";
import type { Question, Answered } from "./asking.ts";

/** What examples may use; everything is made anew when it is asked for. */
export interface Stage {
  ask(method: string, path: string, question?: Question): Promise<Answered>;
  /** The id of a new session. */
  session(): Promise<string>;
  /** The id of an execution of this code, in a session of its own. */
  execution(code: string, more?: object): Promise<string>;
}

export type Example = (stage: Stage) => Promise<Answered>;

export const EXAMPLES: Readonly<Record<string, Example>> = {
  "GET /v1/health": ({ ask }) => ask("GET", "/v1/health"),
  "GET /v1/health/ready": ({ ask }) => ask("GET", "/v1/health/ready"),
  "GET /v1/version": ({ ask }) => ask("GET", "/v1/version"),
  "GET /v1/openapi.json": ({ ask }) => ask("GET", "/v1/openapi.json"),
  "GET /v1/docs": ({ ask }) => ask("GET", "/v1/docs"),

  "POST /v1/sessions": ({ ask }) => ask("POST", "/v1/sessions", { json: { env: { A: "b" }, idleTimeoutMs: null } }),
  "GET /v1/sessions": async ({ ask, session }) => {
    await session();
    return ask("GET", "/v1/sessions");
  },
  "GET /v1/sessions/{id}": async ({ ask, session }) => ask("GET", `/v1/sessions/${await session()}`),
  "DELETE /v1/sessions/{id}": async ({ ask, session }) => ask("DELETE", `/v1/sessions/${await session()}`),
  "POST /v1/sessions/{id}/interrupt": async ({ ask, session }) =>
    ask("POST", `/v1/sessions/${await session()}/interrupt`),
  "POST /v1/sessions/{id}/reset": async ({ ask, session }) => ask("POST", `/v1/sessions/${await session()}/reset`),

  "POST /v1/sessions/{id}/execute": async ({ ask, session }) =>
    ask("POST", `/v1/sessions/${await session()}/execute`, {
      json: { code: "import math\nprint('x' * 3)\n1 / 0", variables: true },
    }),
  "GET /v1/sessions/{id}/executions": async ({ ask, session }) => {
    const id = await session();
    await ask("POST", `/v1/sessions/${id}/execute`, { json: { code: "1" } });
    return ask("GET", `/v1/sessions/${id}/executions`);
  },
  "GET /v1/executions/{id}": async ({ ask, execution }) =>
    ask("GET", `/v1/executions/${await execution("print('a' * 3_000_000); 6 * 7")}?waitMs=20000`),
  "GET /v1/executions/{id}/output": async ({ ask, execution }) =>
    ask("GET", `/v1/executions/${await execution("print(1)")}/output?stream=stdout`),
  "GET /v1/executions/{id}/events": async ({ ask, execution }) =>
    ask("GET", `/v1/executions/${await execution("print(1)")}/events`),
  "POST /v1/executions/{id}/cancel": async ({ ask, execution }) =>
    ask("POST", `/v1/executions/${await execution("import time; time.sleep(100)")}/cancel`),
  "POST /v1/executions/{id}/stdin": async ({ ask, execution }) => {
    const path = `/v1/executions/${await execution("input()", { input: "ask" })}/stdin`;
    const answer = () => ask("POST", path, { json: { text: "a line" } });
    let answered = await answer();
    while (answered.status === 409) {
      await setImmediate(); // it has not come to that line yet
      answered = await answer();
    }
    return answered;
  },
  "POST /process/interpreter/execute": ({ ask }) =>
    ask("POST", "/process/interpreter/execute", { json: { code: "6 * 7", timeout: 5, envs: { A: "b" } } }),
};
