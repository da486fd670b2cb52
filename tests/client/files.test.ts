import { expect, test } from "vitest";
import type { Session } from "../../src/api/session.ts";
import {
  beginEvents,
  collect,
  failureOf,
  openFake,
  sendJSON,
  sendProblem,
  SESSION,
  toMessage,
  type Answer,
  type FakeServer,
} from "./fakes/fake-server.ts";

const CONTENT = Buffer.from("0123456789".repeat(20));

async function openSession(answer: Answer): Promise<FakeServer & { session: Session }> {
  const fake = await openFake((request, response) => {
    if (request.path === "/v1/sessions") sendJSON(response, SESSION);
    else answer(request, response);
  });
  const session = await (await fake.connect()).openSession();
  fake.requests.length = 0;
  return Object.assign(fake, { session });
}

/** Sends 30 bytes at a time, then cuts the connection. `tagOf` is the ETag of a request by its number. */
function sendInParts(tagOf: (request: number) => string | undefined): Answer {
  let count = 0;
  return ({ headers }, response) => {
    const tag = tagOf(count);
    count += 1;
    const isSame = headers["if-range"] === undefined || headers["if-range"] === tag;
    const from = isSame ? Number(/^bytes=(\d+)-/.exec(headers.range ?? "")?.[1] ?? 0) : 0;
    const body = CONTENT.subarray(from);
    response.writeHead(headers.range !== undefined && isSame ? 206 : 200, {
      "content-type": "application/octet-stream",
      "content-length": String(body.length),
      ...(tag !== undefined && { etag: tag }),
    });
    if (body.length <= 30) response.end(body);
    else response.write(body.subarray(0, 30), () => response.destroy());
  };
}

test("a download continues where it was cut", async () => {
  await using fake = await openSession(sendInParts(() => '"one"'));
  expect(Buffer.concat(await collect(fake.session.files.readStream("a b"))).equals(CONTENT)).toBe(true);
  expect(fake.requests.map(({ headers }) => headers.range)).toEqual([
    undefined,
    "bytes=30-",
    "bytes=60-",
    "bytes=90-",
    "bytes=120-",
    "bytes=150-",
    "bytes=180-",
  ]);
  fake.requests.length = 0;
  const part = await fake.session.files.read("a b", { offset: 5, length: 50 });
  expect(Buffer.compare(part, CONTENT.subarray(5, 55))).toBe(0);
  expect(fake.requests.map(({ headers }) => headers.range)).toEqual(["bytes=5-54", "bytes=35-54"]);
});

test.each([
  ["changed meanwhile", (request: number) => `"${request}"`],
  ["has no tag", () => undefined],
  ["has a weak tag", () => 'W/"one"'],
])("a download of a file that %s is not continued", async (_, tagOf) => {
  await using fake = await openSession(sendInParts(tagOf));
  const error = await failureOf(collect(fake.session.files.readStream("x")));
  expect(error).toMatchObject({ name: "ServerConnectionError", fault: "connection" });
  expect(error.message).toContain("the file may have changed since. Read it again");
});

test("removing a file whose response was lost is no error", async () => {
  let count = 0;
  await using fake = await openSession((_, response) => {
    count += 1;
    if (count === 1) response.destroy();
    else sendProblem(response, 404, "FILE", { facts: { path: "x", reason: "not-found" } });
  });
  await fake.session.files.remove("x");
  expect(new Set(fake.requests.map(({ headers }) => headers["idempotency-key"])).size).toBe(1);
  expect(await failureOf(fake.session.files.remove("x"))).toMatchObject({ name: "FileError", reason: "not-found" });
});

test("a watch reports changes, an overflow after a lost connection, and ends with the session", async () => {
  let count = 0;
  await using fake = await openSession((_, response) => {
    count += 1;
    const change = (path: string): string => `event: change\ndata: ${JSON.stringify({ type: "created", path })}\n\n`;
    const text = `event: watch-start\ndata: {}\n\n${change(`${count}`)}`;
    if (count === 1) beginEvents(response).write(text, () => response.destroy());
    else beginEvents(response).end(text + toMessage(undefined, { type: "watch-end" }));
  });
  const watch = await fake.session.files.watch("a b/ü", { recursive: true });
  expect(await collect(watch)).toEqual([
    { type: "created", path: "1" },
    { type: "overflow", path: "a b/ü" },
    { type: "created", path: "2" },
  ]);
  expect(fake.requests[0]?.path).toBe("/v1/sessions/s/watch?path=a%20b%2F%C3%BC&recursive=true");
});

test("a watch that is closed ends its loop", async () => {
  await using fake = await openSession((_, response) => {
    beginEvents(response).write("event: watch-start\ndata: {}\n\n");
  });
  const watch = await fake.session.files.watch();
  const all = collect(watch);
  await watch.close();
  expect(await all).toEqual([]);
});
