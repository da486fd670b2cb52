// One request that works for each route, by the route's method and path. A route that is not here fails `openapi.test.ts`.

import { setImmediate } from "node:timers/promises";
import type { Answered, Ask } from "./request.ts";

/** What examples may use. Everything is created on demand. */
export interface Stage {
  readonly ask: Ask;
  /** The id of a new session. */
  readonly session: () => Promise<string>;
  /** The id of a session with variables in it: a list of numbers `x` and a function `f`. */
  readonly used: () => Promise<string>;
  /** The id of an execution of this code, in a session of its own. */
  readonly execution: (code: string, more?: object) => Promise<string>;
  /** The id of a task. */
  readonly task: (command: string, more?: object) => Promise<string>;
  /** The id of a run that has ended. */
  readonly run: () => Promise<string>;
}

export type Example = (stage: Stage) => Promise<Answered>;

export const EXAMPLES: Readonly<Record<string, Example>> = {
  "GET /v1/health": ({ ask }) => ask("GET", "/v1/health"),
  "GET /v1/health/ready": ({ ask }) => ask("GET", "/v1/health/ready"),
  "GET /v1/version": ({ ask }) => ask("GET", "/v1/version"),
  "GET /v1/openapi.json": ({ ask }) => ask("GET", "/v1/openapi.json"),
  "GET /metrics": ({ ask }) => ask("GET", "/metrics"),
  "GET /": ({ ask }) => ask("GET", "/"),
  "GET /assets/{file}": ({ ask }) => ask("GET", "/assets/main-Ab12Cd34.js"),
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
  "POST /v1/execute": ({ ask }) => ask("POST", "/v1/execute", { json: { code: "print(1); 2" } }),
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
  "POST /v1/tickets": async ({ ask, session }) => ask("POST", "/v1/tickets", { json: { sessionId: await session() } }),
  "GET /v1/sessions/{id}/ws": async ({ ask, session }) => ask("GET", `/v1/sessions/${await session()}/ws`),

  "GET /v1/sessions/{id}/files": async ({ ask, session }) =>
    ask("GET", `/v1/sessions/${await session()}/files?depth=2`),
  "GET /v1/sessions/{id}/files/{path+}": async ({ ask, session }) => {
    const path = `/v1/sessions/${await session()}/files/a/b.csv`;
    await ask("PUT", path, { body: "1,2" });
    return ask("GET", `${path}?stat=true`);
  },
  "PUT /v1/sessions/{id}/files/{path+}": async ({ ask, session }) =>
    ask("PUT", `/v1/sessions/${await session()}/files/a/b.csv`, { body: "1,2" }),
  "DELETE /v1/sessions/{id}/files/{path+}": async ({ ask, session }) => {
    const path = `/v1/sessions/${await session()}/files/a`;
    await ask("PUT", path, { body: "" });
    return ask("DELETE", path);
  },

  "POST /v1/sessions/{id}/rename": async ({ ask, session }) => {
    const path = `/v1/sessions/${await session()}`;
    await ask("PUT", `${path}/files/a`, { body: "1" });
    return ask("POST", `${path}/rename`, { json: { path: "a", to: "b/c" } });
  },
  "GET /v1/sessions/{id}/watch": async ({ ask, session }) => ask("GET", `/v1/sessions/${await session()}/watch`),
  "GET /v1/sessions/{id}/variables": async ({ ask, used }) =>
    ask("GET", `/v1/sessions/${await used()}/variables?all=true`),
  "GET /v1/sessions/{id}/variables/{name}": async ({ ask, used }) =>
    ask("GET", `/v1/sessions/${await used()}/variables/x`),
  "GET /v1/sessions/{id}/variables/{name}/rows": async ({ ask, used }) =>
    ask("GET", `/v1/sessions/${await used()}/variables/x/rows?count=2&sortBy=0&descending=true`),
  "GET /v1/sessions/{id}/variables/{name}/value": async ({ ask, used }) =>
    ask("GET", `/v1/sessions/${await used()}/variables/x/value`),
  "PUT /v1/sessions/{id}/variables/{name}": async ({ ask, session }) =>
    ask("PUT", `/v1/sessions/${await session()}/variables/x`, {
      body: "[1, 2]",
      headers: { "content-type": "application/json" },
    }),
  "POST /v1/sessions/{id}/complete": async ({ ask, used }) =>
    ask("POST", `/v1/sessions/${await used()}/complete`, { json: { code: "f.", cursor: 2 } }),
  "POST /v1/sessions/{id}/signature": async ({ ask, used }) =>
    ask("POST", `/v1/sessions/${await used()}/signature`, { json: { code: "f(1, ", cursor: 5 } }),

  "POST /v1/sessions/{id}/fork": async ({ ask, used }) => ask("POST", `/v1/sessions/${await used()}/fork`),
  "POST /v1/sessions/{id}/checkpoints": async ({ ask, used }) =>
    ask("POST", `/v1/sessions/${await used()}/checkpoints`),
  "GET /v1/sessions/{id}/checkpoints": async ({ ask, used }) => {
    const path = `/v1/sessions/${await used()}/checkpoints`;
    await ask("POST", path);
    return ask("GET", path);
  },
  "DELETE /v1/sessions/{id}/checkpoints/{checkpointId}": async ({ ask, used }) => {
    const path = `/v1/sessions/${await used()}/checkpoints`;
    return ask("DELETE", `${path}/${String((await ask("POST", path)).body["id"])}`);
  },
  "POST /v1/sessions/{id}/rewind": async ({ ask, used }) => {
    const path = `/v1/sessions/${await used()}`;
    const { body } = await ask("POST", `${path}/checkpoints`);
    return ask("POST", `${path}/rewind`, { json: { checkpoint: body["id"] } });
  },
  "POST /v1/sessions/{id}/save": async ({ ask, used }) => ask("POST", `/v1/sessions/${await used()}/save`),
  "POST /v1/sessions/load": async ({ ask, used }) => {
    const saved = await ask("POST", `/v1/sessions/${await used()}/save`);
    const body = new Uint8Array(await saved.response.arrayBuffer());
    return ask("POST", "/v1/sessions/load?idleTimeoutMs=null", { body });
  },
  "GET /v1/stdlib": ({ ask }) => ask("GET", "/v1/stdlib"),
  "POST /v1/stdlib": ({ ask }) => ask("POST", "/v1/stdlib", { json: { code: "def twice(x):\n    return 2 * x" } }),

  "POST /v1/tasks": ({ ask }) => ask("POST", "/v1/tasks", { json: { command: "echo 1", cwd: ".", waitMs: 20_000 } }),
  "GET /v1/tasks": async ({ ask, task }) => {
    await task("true");
    return ask("GET", "/v1/tasks");
  },
  "GET /v1/tasks/{id}": async ({ ask, task }) => ask("GET", `/v1/tasks/${await task("echo 1; exit 3")}?waitMs=20000`),
  "GET /v1/tasks/{id}/output": async ({ ask, task }) => ask("GET", `/v1/tasks/${await task("echo 1")}/output?offset=0`),
  "GET /v1/tasks/{id}/events": async ({ ask, task }) => ask("GET", `/v1/tasks/${await task("echo 1")}/events`),
  "POST /v1/tasks/{id}/cancel": async ({ ask, task }) => ask("POST", `/v1/tasks/${await task("sleep 100")}/cancel`),
  "POST /v1/tasks/{id}/pause": async ({ ask, task }) => ask("POST", `/v1/tasks/${await task("sleep 100")}/pause`),
  "POST /v1/tasks/{id}/resume": async ({ ask, task }) => {
    const path = `/v1/tasks/${await task("sleep 100")}`;
    await ask("POST", `${path}/pause`);
    return ask("POST", `${path}/resume`);
  },
  "POST /v1/tasks/{id}/stdin": async ({ ask, task }) =>
    ask("POST", `/v1/tasks/${await task("cat", { stdin: "open" })}/stdin`, { json: { text: "a line\n", close: true } }),

  "POST /v1/runs": ({ ask }) =>
    ask("POST", "/v1/runs", { json: { query: "How many?", context: [1, 2], waitMs: 20_000 } }),
  "GET /v1/runs": async ({ ask, run }) => {
    await run();
    return ask("GET", "/v1/runs?limit=5");
  },
  "GET /v1/runs/{id}": async ({ ask, run }) => ask("GET", `/v1/runs/${await run()}`),
  "GET /v1/runs/{id}/events": async ({ ask, run }) => ask("GET", `/v1/runs/${await run()}/events?after=1`),
  "GET /v1/runs/{id}/outline": async ({ ask, run }) => ask("GET", `/v1/runs/${await run()}/outline`),
  "GET /v1/runs/{id}/events/page": async ({ ask, run }) =>
    ask("GET", `/v1/runs/${await run()}/events/page?after=1&limit=3&nodeId=n0&step=1`),
  "GET /v1/runs/{id}/search": async ({ ask, run }) => ask("GET", `/v1/runs/${await run()}/search?text=FINAL`),
  "GET /v1/runs/{id}/blobs/{hash}": async ({ ask, run }) => {
    const path = `/v1/runs/${await run()}`;
    const events = await (await ask("GET", `${path}/events?texts=references`)).response.text();
    return ask("GET", `${path}/blobs/${/"\$blob":"([0-9a-f]{64})"/.exec(events)?.[1] ?? "none"}`);
  },
  "POST /v1/runs/{id}/cancel": async ({ ask, run }) => ask("POST", `/v1/runs/${await run()}/cancel`),

  "POST /mcp": ({ ask }) =>
    ask("POST", "/mcp", {
      json: {
        jsonrpc: "2.0",
        id: 1,
        method: "initialize",
        params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "test", version: "1" } },
      },
      headers: { "content-type": "application/json", accept: "application/json, text/event-stream" },
    }),

  "POST /process/interpreter/execute": ({ ask }) =>
    ask("POST", "/process/interpreter/execute", { json: { code: "6 * 7", timeout: 5, envs: { A: "b" } } }),
};
