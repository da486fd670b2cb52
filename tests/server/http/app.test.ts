import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Runtime } from "../../internals.ts";
import { createServerContext } from "../../../src/server/create-context.ts";
import { createApp } from "../../../src/server/http/app.ts";
import { LOCAL_CAPABILITIES } from "../../environments/open-local.ts";
import { openTestRuntime } from "../../open.ts";
import { TIER } from "../../tier.ts";

const token = "secret";
const execute = "/process/interpreter/execute";
const sent = { host: "localhost", authorization: `Bearer ${token}` };

let runtime: Runtime;
beforeAll(async () => {
  runtime = await openTestRuntime();
  await runtime.warm();
});
afterAll(() => runtime.close());

async function post(body: unknown, to: Runtime = runtime, signal?: AbortSignal) {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  const app = createApp(createServerContext(to), { token });
  const response = await app.request(execute, { method: "POST", headers: sent, body: text, ...(signal && { signal }) });
  const type = response.headers.get("content-type");
  return {
    status: response.status,
    type,
    headers: response.headers,
    body: (await response.json()) as Record<string, unknown>,
  };
}

describe(`POST ${execute}`, () => {
  test("responds with the whole result", async () => {
    const { status, body } = await post({ code: "print('out'); 6*7" });
    expect({ status, ...body }).toMatchObject({
      status: "ok",
      stdout: "out\n",
      stderr: "",
      value: { "text/plain": "42" },
      sessionId: expect.stringMatching(/^x-[\da-f]{16}$/),
      executionCount: 1,
    });
  });

  test("an exception in the code is a result, not an error", async () => {
    const { status, body } = await post({ code: "1/0" });
    expect(status).toBe(200);
    expect(body).toMatchObject({ status: "error", error: { name: "ZeroDivisionError", value: "division by zero" } });
  });

  test("every call has a temporary session", async () => {
    await post({ code: "x = 1" });
    expect((await post({ code: "x" })).body).toMatchObject({ status: "error", error: { name: "NameError" } });
    await expect.poll(() => runtime.sessions.list().length).toBe(0);
  });

  test("sets environment variables", async () => {
    const { body } = await post({ code: "import os; print(os.environ['A'])", envs: { A: "b=c" } });
    expect(body).toMatchObject({ stdout: "b=c\n" });
  });

  test("stops at the time limit", async () => {
    const { body } = await post({ code: "import time; time.sleep(60)", timeout: 0.2 });
    expect(body).toMatchObject({ status: "interrupted", reason: "timeout" });
  });

  test.each([{}, { timeout: 0 }, { timeout: null, envs: null }])("%j is the time that is configured", async (rest) => {
    await using quick = await openTestRuntime({ timeoutMs: 200 });
    const { body } = await post({ code: "import time; time.sleep(60)", ...rest }, quick);
    expect(body).toMatchObject({ status: "interrupted", reason: "timeout" });
  });

  test("the code is interrupted when the client disconnects", async () => {
    const client = new AbortController();
    const answer = post({ code: "import time; time.sleep(600)", timeout: 600 }, runtime, client.signal);
    await expect.poll(async () => (await runtime.sessions.list()[0]?.info())?.state).toBe("running");
    client.abort();
    expect((await answer).body).toMatchObject({ status: "interrupted", reason: "cancelled" });
    await expect.poll(() => runtime.sessions.list().length).toBe(0);
  });

  test.each([
    ["nothing", "", "Field 'code' is missing"],
    ["half of it", "{", "The body is not JSON in UTF-8"],
    ["a list", [], "The body is wrong: expected object, received array"],
    ["no code", {}, "Field 'code' is missing"],
    ["code of another type", { code: 5 }, "Field 'code' is wrong: expected string, received number"],
    ["a wrong time", { code: "1", timeout: "5" }, "Field 'timeout' is wrong: expected number, received string"],
    ["a negative time", { code: "1", timeout: -1 }, "Field 'timeout' is wrong: Too small: expected number to be >=0"],
    [
      "a time beyond a day",
      { code: "1", timeout: 86_401 },
      "Field 'timeout' is wrong: Too big: expected number to be <=86400",
    ],
    ["a wrong variable", { code: "1", envs: { A: 1 } }, "Field 'envs.A' is wrong: expected string, received number"],
    ["a wrong name", { code: "1", envs: { "A=": "" } }, "Field 'envs.A=' is wrong: must be a name without '=' and NUL"],
    ["a field too many", { code: "1", timeoutMs: 5 }, "There is no field 'timeoutMs'. Did you mean 'timeout'?"],
  ])("refuses %s", async (_, body, detail) => {
    const { status, type, body: problem } = await post(body);
    expect({ status, type }).toEqual({ status: 422, type: "application/problem+json" });
    expect(problem).toEqual({
      type: "about:blank",
      title: "Unprocessable content",
      status: 422,
      detail,
      code: "INVALID_BODY",
      requestId: expect.stringMatching(/^req-[\da-f]{16}$/),
    });
  });
});

test("an invalid environment variable is an error of the client", async () => {
  expect(await post({ code: "1", envs: { A: "\uD800" } })).toMatchObject({ status: 422, body: { code: "INVALID" } });
});

describe("errors", () => {
  test("too many sessions: 429 with Retry-After", async () => {
    await using small = await openTestRuntime({ limits: { sessions: 1 } });
    await using held = await small.openSession();
    const { status, body, headers } = await post({ code: "1" }, small);
    expect(held.id).toBe("s1");
    expect({ status, code: body["code"], retry: headers.get("retry-after") }).toEqual({
      status: 429,
      code: "LIMIT_EXCEEDED",
      retry: "1",
    });
  });

  test("no environment: 503, with the reason and the fix", async () => {
    await using broken = await openTestRuntime({ python: "/nowhere/python" });
    const { status, body } = await post({ code: "1" }, broken);
    expect({ status, ...body }).toMatchObject({ status: 503, code: "ENVIRONMENT_UNAVAILABLE" });
    expect(body["detail"]).toContain("Install Python");
  });

  test("an internal error: 500, without details", async () => {
    const heard: unknown[] = [];
    const failure = new Error("the secret is 42");
    const broken = { openSession: () => Promise.reject(failure) } as unknown as Runtime;
    const app = createApp(createServerContext(broken), { token, onUnexpected: (error) => void heard.push(error) });
    const response = await app.request(execute, { method: "POST", headers: sent, body: `{"code":"1"}` });
    expect(response.status).toBe(500);
    expect(await response.json()).toMatchObject({
      code: "INTERNAL",
      detail: "The server failed; its log has the reason",
    });
    expect(heard).toEqual([failure]);
  });

  test.each([
    ["GET", "/nowhere", 404],
    ["GET", execute, 405],
    ["DELETE", "/v1/version", 405],
    ["POST", "/v1/health", 405],
  ])("%s %s: %i", async (method, path, status) => {
    const response = await createApp(createServerContext(runtime), { token }).request(path, { method, headers: sent });
    expect(response.status).toBe(status);
    expect(response.headers.get("content-type")).toBe("application/problem+json");
    expect(await response.json()).toMatchObject({ status });
  });

  test("OPTIONS and a 405 list the methods of a route", async () => {
    const app = createApp(createServerContext(runtime), { token });
    const allowed = async (method: string, path: string): Promise<unknown> => {
      const { status, headers } = await app.request(path, { method, headers: sent });
      return [status, headers.get("allow")];
    };
    expect(await allowed("OPTIONS", "/v1/sessions")).toEqual([204, "POST, GET, HEAD, OPTIONS"]);
    expect(await allowed("PATCH", "/v1/sessions")).toEqual([405, "POST, GET, HEAD, OPTIONS"]);
    expect(await allowed("OPTIONS", execute)).toEqual([204, "POST, OPTIONS"]);
    expect(await allowed("HEAD", execute)).toEqual([405, "POST, OPTIONS"]);
    expect(await allowed("HEAD", "/v1/sessions")).toEqual([200, null]);
  });

  test.each(["/v1/version", execute, "/nowhere", "/index.html", "/v1/health/", "//v1/health"])(
    "%s wants the token",
    async (path) => {
      const response = await createApp(createServerContext(runtime), { token }).request(path, {
        headers: { host: "localhost" },
      });
      expect(response.status).toBe(401);
    },
  );
});

test("GET /v1/health needs no token", async () => {
  const response = await createApp(createServerContext(runtime), { token }).request("/v1/health", {
    headers: { host: "localhost" },
  });
  expect(await response.json()).toEqual({ status: "ok", live: true, ready: true });
});

test("GET /v1/version has the versions", async () => {
  const response = await createApp(createServerContext(runtime), { token }).request("/v1/version", { headers: sent });
  expect(await response.json()).toEqual({
    version: expect.stringMatching(/^\d+\.\d+\.\d+/),
    protocol: 1,
    node: process.versions.node,
    python: expect.stringMatching(/^3\./),
    environment: "local",
    tier: TIER,
    notStopped: runtime.report().notStopped,
    strongerTier: runtime.report().strongerTier,
    capabilities: LOCAL_CAPABILITIES,
  });
});
