import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Runtime } from "../../../internals.ts";
import { Tickets } from "../../../../src/server/net/guards/tickets.ts";
import { openTestRuntime } from "../../../open.ts";
import { openTestServer, type Ask } from "../../http/request.ts";

let runtime: Runtime;
let ask: Ask;
let take: (ticket: string, sessionId: string) => boolean;
beforeAll(async () => {
  runtime = await openTestRuntime();
  const { ask: ask_, context } = openTestServer(runtime);
  ask = ask_;
  take = (ticket, sessionId) => context.tickets.take(ticket, sessionId);
});
afterAll(() => runtime.close());

describe("tickets", () => {
  test("are issued to clients with the token, for any session or for an existing one", async () => {
    const { status, body } = await ask("POST", "/v1/tickets");
    expect(status).toBe(201);
    expect(Buffer.from(body["ticket"] as string, "base64url")).toHaveLength(32);
    expect(Date.parse(body["expiresAt"] as string)).toBeGreaterThan(Date.now());
    expect(take(body["ticket"] as string, "any")).toBe(true);
    expect(await ask("POST", "/v1/tickets", { headers: { authorization: "" } })).toMatchObject({ status: 401 });
    expect(await ask("POST", "/v1/tickets", { json: { sessionId: "none" } })).toMatchObject({ status: 404 });
    await using session = await runtime.openSession();
    const bound = await ask("POST", "/v1/tickets", { json: { sessionId: session.id } });
    expect(take(bound.body["ticket"] as string, session.id)).toBe(true);
  });

  test("are valid once, for their session, for half a minute", () => {
    let now = 0;
    const tickets = new Tickets(() => now);
    const once = tickets.issue();
    expect([tickets.take(once.ticket, "a"), tickets.take(once.ticket, "a")]).toEqual([true, false]);
    const bound = tickets.issue("a");
    expect([tickets.take(bound.ticket, "b"), tickets.take(bound.ticket, "a")]).toEqual([false, false]);
    const [old, fresh] = [tickets.issue(), tickets.issue()];
    now = 29_999;
    expect(tickets.take(fresh.ticket, "a")).toBe(true);
    now = 30_000;
    expect(tickets.take(old.ticket, "a")).toBe(false);
    expect(tickets.take("", "a")).toBe(false);
  });

  test("are limited in number while unused, and expire", () => {
    let now = 0;
    const tickets = new Tickets(() => now);
    for (let count = 0; count < 1000; count += 1) tickets.issue();
    expect(() => tickets.issue()).toThrow("Cannot give another ticket");
    now = 30_000;
    expect(tickets.issue().expiresAt).toBe(60_000);
  });
});

test("the WebSocket route requires an upgrade", async () => {
  await using session = await runtime.openSession();
  const { status, body, headers } = await ask("GET", `/v1/sessions/${session.id}/ws`);
  expect([status, body["code"], headers.get("upgrade")]).toEqual([426, "UPGRADE_REQUIRED", "websocket"]);
  expect(await ask("GET", "/v1/sessions/none/ws")).toMatchObject({ status: 404 });
  expect(await ask("GET", `/v1/sessions/${session.id}/ws?token=x`)).toMatchObject({
    status: 422,
    body: { detail: "There is no parameter 'token'" },
  });
});
