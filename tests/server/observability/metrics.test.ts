import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Runtime } from "../../internals.ts";
import { createServerContext } from "../../../src/server/create-context.ts";
import { createApp } from "../../../src/server/http/app.ts";
import { connectObservers } from "../../../src/server/observability/observer.ts";
import { openTestRuntime } from "../../open.ts";

const TOKEN = "secret";
const sent = { host: "localhost", authorization: `Bearer ${TOKEN}` };

let runtime: Runtime;
beforeAll(async () => {
  runtime = await openTestRuntime({ ids: "random" });
  await runtime.warm();
});
afterAll(() => runtime.close());

function openCounted() {
  const context = createServerContext(runtime);
  const app = createApp(context, { token: TOKEN, ...connectObservers(context, [context.metrics]) });
  const ask = async (method: string, path: string, body?: object, headers: Record<string, string> = {}) =>
    app.request(path, { method, headers: { ...sent, ...headers }, ...(body && { body: JSON.stringify(body) }) });
  const read = async () => parseExposition(await (await ask("GET", "/metrics")).text());
  return { ask, read };
}

test("needs the token", async () => {
  const { ask } = openCounted();
  expect((await ask("GET", "/metrics", undefined, { authorization: "" })).status).toBe(401);
});

test("counts events, with labels that clients cannot choose", async () => {
  const { ask, read } = openCounted();
  const { id } = (await (await ask("POST", "/v1/sessions", {})).json()) as { id: string };
  await ask("POST", `/v1/sessions/${id}/execute`, { code: "1+1" });
  await ask("POST", `/v1/sessions/${id}/execute`, { code: "1/0" });
  await ask("GET", "/v1/sessions/nope");
  for (let number = 0; number < 50; number += 1) await ask("GET", `/made/up/${number}`);
  await ask("GET", "/v1/version", undefined, { authorization: "Bearer wrong" });
  const samples = await read();
  expect(samples).toMatchObject({
    rlm_sessions: 1,
    rlm_sessions_opened_total: 1,
    'rlm_executions_total{status="ok"}': 1,
    'rlm_executions_total{status="error"}': 1,
    rlm_executions_running: 0,
    rlm_execution_seconds_count: 2,
    'rlm_execution_seconds_bucket{le="+Inf"}': 2,
    'rlm_http_requests_total{method="POST",route="/v1/sessions/{id}/execute",status="200"}': 2,
    'rlm_http_requests_total{method="GET",route="/v1/sessions/{id}",status="404"}': 1,
    'rlm_http_requests_total{method="other",route="other",status="404"}': 50,
    'rlm_http_request_seconds_count{route="/v1/sessions/{id}/execute"}': 2,
    'rlm_refusals_total{code="UNAUTHORIZED"}': 1,
    'rlm_refusals_total{code="SESSION_NOT_FOUND"}': 1,
    rlm_tasks_running: 0,
    rlm_runs_running: 0,
    rlm_websockets: 0,
  });
  expect(samples['rlm_memory_bytes{of="server"}']).toBeGreaterThan(1e6);
  expect(samples['rlm_memory_bytes{of="sessions"}']).toBeGreaterThan(1e6);
  expect(samples["rlm_pool_waiting"]).toBeGreaterThanOrEqual(0);
  expect(samples["nodejs_eventloop_lag_seconds"]).toBeDefined();
  expect(samples["process_cpu_seconds_total"]).toBeGreaterThan(0);
  expect(Object.keys(samples).filter((name) => name.includes("made/up") || name.includes(id))).toEqual([]);
  await ask("DELETE", `/v1/sessions/${id}`);
  expect(await read()).toMatchObject({ rlm_sessions: 0, rlm_sessions_opened_total: 1 });
});

describe("the exposition", () => {
  test("every histogram is consistent", async () => {
    const { ask, read } = openCounted();
    await ask("GET", "/v1/version");
    const samples = await read();
    const buckets = Object.entries(samples).filter(([name]) => name.startsWith('rlm_http_request_seconds_bucket{le="'));
    const counts = buckets.filter(([name]) => name.includes('route="/v1/version"')).map(([, value]) => value);
    expect(counts).toEqual(counts.toSorted((a, b) => a - b));
    expect(counts.at(-1)).toBe(1);
  });
});

const SAMPLE = /^(?<name>[a-zA-Z_:][\w:]*)(?<labels>\{(?:[a-zA-Z_]\w*="(?:[^"\\\n]|\\[\\"n])*",?)*\})? (?<value>\S+)$/;

/** By name and labels. Throws for what the text format of Prometheus does not have. */
function parseExposition(text: string): Record<string, number> {
  expect(text.endsWith("\n")).toBe(true);
  const samples: Record<string, number> = {};
  const types = new Map<string, string>();
  for (const line of text.split("\n").filter((one) => one !== "")) {
    const type = /^# TYPE (\S+) (counter|gauge|histogram|summary|untyped)$/.exec(line);
    if (type !== null) {
      expect(types.has(type[1] ?? ""), `${line} comes once`).toBe(false);
      types.set(type[1] ?? "", type[2] ?? "");
      continue;
    }
    if (/^# HELP [a-zA-Z_:][\w:]* .+$/.test(line)) continue;
    const { name = "", labels = "", value = "" } = SAMPLE.exec(line)?.groups ?? {};
    const base = name.replace(/_(?:bucket|sum|count)$/, "");
    expect(types.has(name) || types.has(base), `${line} has a type`).toBe(true);
    if (types.get(name) === "counter") expect(name, "a counter").toMatch(/_total$/);
    expect(Number.isFinite(Number(value)) || /^nan$|^[+-]Inf$/i.test(value), line).toBe(true);
    expect(samples[name + labels], `${line} comes once`).toBeUndefined();
    samples[name + labels] = Number(value);
  }
  return samples;
}
