import { PassThrough } from "node:stream";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Runtime } from "../../../src/index.ts";
import { createApp, openDoor } from "../../../src/server/http/app.ts";
import { ServerLog } from "../../../src/server/http/telling/server-log.ts";
import { tellWitnesses } from "../../../src/server/http/telling/witness.ts";
import { openLog, type LogLevel } from "../../../src/server/log.ts";
import { openTestRuntime } from "../../open.ts";

const TOKEN = "planted-token";

let runtime: Runtime;
beforeAll(async () => {
  runtime = await openTestRuntime({ ids: "random" });
  await runtime.warm();
});
afterAll(() => runtime.close());

/** A busy minute of a server, and what it logged. */
async function logOf(level: LogLevel): Promise<string> {
  const sink = new PassThrough();
  const logged = text(sink);
  const log = openLog({ level, format: "json", sink });
  const door = openDoor(runtime);
  const app = createApp(door, { token: TOKEN, ...tellWitnesses(door, [new ServerLog(log)]) });
  const ask = async (method: string, path: string, body?: object, token = TOKEN) => {
    const headers = { host: "localhost", authorization: `Bearer ${token}` };
    const response = await app.request(path, { method, headers, ...(body && { body: JSON.stringify(body) }) });
    return (await response.json()) as { id: string };
  };
  const { id } = await ask("POST", "/v1/sessions", { env: { KEY: "planted-env" } });
  const path = `/v1/sessions/${id}/execute`;
  await ask("POST", path, { code: "print('planted-' + 'output'); 'planted-code'", env: { KEY: "planted-value" } });
  await ask("POST", path, { code: "raise ValueError('planted-' + 'error')" });
  await ask("POST", path, { code: 5, "planted-field": 1 });
  await ask("GET", "/v1/version?ticket=planted-ticket&token=planted-query");
  await ask("GET", "/v1/version", undefined, "planted-wrong-token");
  await ask("DELETE", `/v1/sessions/${id}`);
  await log.end();
  sink.end();
  return logged;
}

describe("the log of a busy session", () => {
  test("has a line for each thing that happened", async () => {
    const lines = (await logOf("info")).trimEnd().split("\n");
    const events = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(events.filter(({ event }) => event === "request").map(({ route, status }) => [route, status])).toEqual([
      ["/v1/sessions", 201],
      ["/v1/sessions/{id}/execute", 200],
      ["/v1/sessions/{id}/execute", 200],
      ["/v1/sessions/{id}/execute", 422],
      ["/v1/version", 200],
      ["other", 401],
      ["/v1/sessions/{id}", 200],
    ]);
    const others = events.filter(({ event }) => event !== "request");
    expect(others.map(({ event, status }) => [event, status])).toEqual([
      ["session-open", undefined],
      ["execution-end", "ok"],
      ["execution-end", "error"],
      ["session-close", undefined],
    ]);
    for (const one of events.filter(({ event }) => event === "request")) {
      expect(one["requestId"]).toMatch(/^req-[\da-f]{16}$/);
    }
  });

  test.each(["error", "warn", "info"] as const)("at level %s has nothing that was planted", async (level) => {
    expect(await logOf(level)).not.toContain("planted");
  });

  test("at level debug has code, but no token, ticket, output, or value of a variable", async () => {
    const logged = await logOf("debug");
    expect(logged).toContain("planted-code");
    expect(logged).not.toMatch(/planted-(?:token|wrong-token|ticket|query|env|value|output|error)/);
  });
});
