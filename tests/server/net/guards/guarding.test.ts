import { describe, expect, test } from "vitest";
import { parseOrigin } from "../../../../src/server/net/guards/cors.ts";
import {
  createGuardedApp,
  type AnsweredRequest,
  type GuardOptions,
} from "../../../../src/server/net/guards/guarded-app.ts";

const TOKEN = "secret";

function openApp(options: Partial<GuardOptions> = {}) {
  const answered: AnsweredRequest[] = [];
  let release: () => void = () => {};
  const held = new Promise<void>((resolve) => void (release = resolve));
  const app = createGuardedApp(
    [
      { method: "GET", path: "/open", isOpen: true, handle: () => new Response("open") },
      { method: "GET", path: "/light", isLight: true, handle: () => new Response("light") },
      { method: "GET", path: "/things/:id", name: "/things/{id}", handle: () => new Response("thing") },
      {
        method: "GET",
        path: "/held",
        handle: async () => {
          await held;
          return new Response("held");
        },
      },
    ],
    { token: TOKEN, onAnswered: (one) => void answered.push(one), ...options },
  );
  const ask = async (path: string, headers: Record<string, string> = {}, remote = "10.0.0.1", method = "GET") =>
    app.request(
      path,
      { method, headers: { host: "localhost", authorization: `Bearer ${TOKEN}`, ...headers } },
      { incoming: { socket: { remoteAddress: remote } } },
    );
  return { ask, answered, release: () => release() };
}

describe("request ids", () => {
  test("every response has one, and so has its problem", async () => {
    const { ask } = openApp();
    const [first, second] = [await ask("/things/1"), await ask("/nowhere")];
    expect(first.headers.get("x-request-id")).toMatch(/^req-[\da-f]{16}$/);
    expect(second.headers.get("x-request-id")).not.toBe(first.headers.get("x-request-id"));
    expect(await second.json()).toMatchObject({ requestId: second.headers.get("x-request-id") });
  });

  test.each([
    ["abc-123:def/9", true],
    ["x".repeat(100), true],
    ["x".repeat(101), false],
    ["two words", false],
    ['"quoted"', false],
    ["", false],
  ])("the client's own %j is kept: %s", async (given, isKept) => {
    const { ask } = openApp();
    const { headers } = await ask("/things/1", { "x-request-id": given });
    expect(headers.get("x-request-id") === given).toBe(isKept);
  });
});

test("every response is reported, by its route and without the query", async () => {
  const { ask, answered } = openApp();
  await ask("/things/7?ticket=hush");
  await ask("/nowhere/else");
  await ask("/things/7", { authorization: "Bearer wrong" });
  expect(answered.map(({ method, route, status, code, remote }) => [method, route, status, code, remote])).toEqual([
    ["GET", "/things/{id}", 200, undefined, "10.0.0.1"],
    ["GET", "other", 404, "NOT_FOUND", "10.0.0.1"],
    ["GET", "other", 401, "UNAUTHORIZED", "10.0.0.1"],
  ]);
  expect(JSON.stringify(answered)).not.toMatch(/hush|wrong|secret/);
});

describe("limits", () => {
  test("an address that exceeds its rate is refused; other addresses and open routes are not", async () => {
    const { ask } = openApp({ limits: { rate: { perSecond: 0.01, burst: 2 } } });
    const statuses = [await ask("/things/1"), await ask("/things/1"), await ask("/things/1")];
    expect(statuses.map(({ status }) => status)).toEqual([200, 200, 429]);
    expect(Number(statuses[2]?.headers.get("retry-after"))).toBeGreaterThan(90);
    expect((await ask("/things/1", {}, "10.0.0.2")).status).toBe(200);
    expect((await ask("/open")).status).toBe(200);
  });

  test("wrong tokens get 429 after a while, and the right one is accepted from the same address", async () => {
    const { ask } = openApp({ limits: { failures: { perSecond: 0.01, burst: 3 } } });
    const guess = () => ask("/things/1", { authorization: "Bearer guess" });
    for (let time = 0; time < 3; time += 1) expect((await guess()).status).toBe(401);
    const refused = await guess();
    expect([refused.status, Number(refused.headers.get("retry-after")) > 90]).toEqual([429, true]);
    expect(await refused.json()).toMatchObject({ code: "TOO_MANY_WRONG_TOKENS" });
    expect((await ask("/things/1")).status).toBe(200);
    expect((await guess()).status).toBe(429);
  });

  test.each([
    ["without a token", {}],
    ["with a wrong one", { authorization: "Bearer wrong" }],
  ])("a flood %s does not use up the limits of the right token", async (_, headers) => {
    const { ask } = openApp({ limits: { rate: { perSecond: 0.01, burst: 2 } } });
    const strange = { authorization: "", ...headers };
    const statuses = [
      await ask("/things/1", strange),
      await ask("/things/1", strange),
      await ask("/things/1", strange),
    ];
    expect(statuses.map(({ status }) => status)).toEqual([401, 401, 429]);
    expect([(await ask("/things/1")).status, (await ask("/things/1")).status]).toEqual([200, 200]);
  });

  test("requests beyond the limit are refused, and the others answered", async () => {
    const { ask, release } = openApp({ limits: { requests: 2 } });
    const held = [ask("/held"), ask("/held")];
    const refused = await ask("/things/1");
    expect([refused.status, refused.headers.get("retry-after")]).toEqual([503, "1"]);
    expect((await ask("/open")).status).toBe(200);
    expect((await ask("/light")).status).toBe(200);
    release();
    expect((await Promise.all(held)).map(({ status }) => status)).toEqual([200, 200]);
    expect((await ask("/things/1")).status).toBe(200);
  });

  test("a request that is refused or fails is no longer counted", async () => {
    const { ask } = openApp({ limits: { requests: 1, failures: { perSecond: 1, burst: 1000 } } });
    for (let time = 0; time < 5; time += 1) await ask("/things/1", { authorization: "Bearer wrong" });
    await ask("/nowhere");
    expect((await ask("/things/1")).status).toBe(200);
  });
});

describe("pages of other origins", () => {
  const ORIGIN = "https://app.example";
  const allowed = { allowedOrigins: [ORIGIN] };

  test("are refused unless they are configured", async () => {
    const { ask } = openApp();
    expect((await ask("/things/1", { origin: ORIGIN })).status).toBe(403);
    expect((await ask("/things/1", { origin: ORIGIN }, "10.0.0.1", "OPTIONS")).status).toBe(403);
  });

  test("can send requests and read responses, problems included, when configured", async () => {
    const { ask } = openApp(allowed);
    for (const path of ["/things/1", "/nowhere"]) {
      const { headers } = await ask(path, { origin: ORIGIN });
      expect(headers.get("access-control-allow-origin")).toBe(ORIGIN);
      expect(headers.get("vary")).toBe("Origin");
      expect(headers.get("access-control-expose-headers")).toContain("x-request-id");
      expect(headers.has("access-control-allow-credentials")).toBe(false);
    }
    const { headers } = await ask("/things/1");
    expect(headers.has("access-control-allow-origin")).toBe(false);
  });

  test("need no token for a preflight", async () => {
    const { ask } = openApp(allowed);
    const preflight = { origin: ORIGIN, authorization: "", "access-control-request-method": "PUT" };
    const { status, headers } = await ask("/things/1", preflight, "10.0.0.1", "OPTIONS");
    expect(status).toBe(204);
    expect(Object.fromEntries(headers)).toMatchObject({
      "access-control-allow-origin": ORIGIN,
      "access-control-allow-methods": "GET, POST, PUT, DELETE",
      "access-control-allow-headers": expect.stringContaining("authorization"),
      "access-control-max-age": "600",
    });
    expect((await ask("/things/1", { origin: ORIGIN, authorization: "" })).status).toBe(401);
  });

  test.each([
    "null",
    "https://app.example.evil.example",
    "https://evil-app.example",
    "https://sub.app.example",
    "http://app.example",
    "https://app.example:8443",
    "https://app.example/",
    "*",
  ])("%s is not the configured one", async (origin) => {
    const { ask } = openApp(allowed);
    for (const method of ["GET", "OPTIONS"]) {
      const { status, headers } = await ask("/things/1", { origin }, "10.0.0.1", method);
      expect([status, headers.has("access-control-allow-origin")]).toEqual([403, false]);
    }
  });

  test.each([
    ["https://App.Example", "https://app.example"],
    ["http://localhost:3000/", "http://localhost:3000"],
  ])("%s becomes %s", (text, origin) => {
    expect(parseOrigin(text)).toBe(origin);
  });

  test.each(["*", "null", "app.example", "https://app.example/path", "ftp://app.example", "https://a@app.example"])(
    "%s names no page",
    (text) => {
      expect(() => parseOrigin(text)).toThrow(/is not an origin/);
    },
  );
});
