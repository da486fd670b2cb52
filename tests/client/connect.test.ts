import { inspect } from "node:util";
import { describe, expect, test } from "vitest";
import { connectRuntime } from "../../src/client/index.ts";
import { ServerConnectionError } from "../../src/errors.ts";
import { failureOf, openFake, sendJSON, sendProblem, SESSION, TOKEN, VERSION } from "./fakes/fake-server.ts";

describe("connectRuntime", () => {
  test("checks the server, and keeps the path of the address", async () => {
    await using fake = await openFake((_, response) => sendJSON(response, VERSION), { isRaw: true });
    await fake.connect({ url: new URL(`${fake.url}/under/here/`) });
    expect(fake.requests.map(({ method, path }) => `${method} ${path}`)).toEqual(["GET /under/here/v1/version"]);
    expect(fake.requests[0]?.headers).toMatchObject({ authorization: `Bearer ${TOKEN}`, "rlm-protocol": "1" });
  });

  test.each([
    ["a page", 200, { "content-type": "text/html" }, "<html>"],
    ["other JSON", 200, { "content-type": "application/json" }, '{"a":1}'],
    ["an error of something else", 404, { "content-type": "text/html" }, "none"],
    ["a problem that is none", 404, { "content-type": "application/problem+json" }, "{}"],
    ["a redirect", 307, { location: "http://127.0.0.1:9/" }, ""],
  ])("rejects %s as a foreign server", async (_, status, headers, body) => {
    await using fake = await openFake((__, response) => response.writeHead(status, headers).end(body), { isRaw: true });
    const error = await failureOf(fake.connect());
    expect(error).toBeInstanceOf(ServerConnectionError);
    expect(error).toMatchObject({ fault: "configuration", url: fake.url });
    expect(error.message).toMatch(/^Cannot use http.* as a server of rlm: it (answered|redirects)/);
  });

  test("does not follow redirects, so that the token goes nowhere else", async () => {
    await using other = await openFake((_, response) => sendJSON(response, VERSION), { isRaw: true });
    const location = `${other.url}/v1/version`;
    await using fake = await openFake((_, response) => response.writeHead(302, { location }).end(), { isRaw: true });
    expect((await failureOf(fake.connect())).message).toContain("redirects");
    expect(other.requests).toEqual([]);
  });

  test("says that the token was rejected, and never shows it", async () => {
    await using fake = await openFake((_, response) => sendProblem(response, 401, "UNAUTHORIZED"), { isRaw: true });
    const error = await failureOf(fake.connect());
    expect(error).toMatchObject({ fault: "configuration", message: `The server at ${fake.url} rejected the token` });
    expect(inspect(error, { depth: 10, showHidden: true })).not.toContain(TOKEN);
  });

  test("says which side to update where the versions of the protocol differ", async () => {
    const answers: [object, Record<string, string>, RegExp][] = [
      [{ ...VERSION, protocol: 2 }, {}, /speaks version 2 .* client version 1. Update rlm-runtime here$/],
      [{ ...VERSION, protocol: undefined }, {}, /speaks version 0 .* Update the server$/],
      [VERSION, { "rlm-protocol": "3" }, /speaks version 3 .* Update rlm-runtime here$/],
      [VERSION, { "rlm-protocol": "abc" }, /it names no version of the protocol/],
      [{ ...VERSION, protocol: {} }, {}, /it names no version of the protocol/],
    ];
    for (const [version, headers, message] of answers) {
      await using fake = await openFake(
        (_, response) =>
          response.writeHead(200, { "content-type": "application/json", ...headers }).end(JSON.stringify(version)),
        { isRaw: true },
      );
      const error = await failureOf(fake.connect());
      expect(error).toMatchObject({ name: "ServerConnectionError", fault: "configuration" });
      expect(error.message).toMatch(message);
    }
    await using old = await openFake((_, response) => sendProblem(response, 400, "PROTOCOL_VERSION"), { isRaw: true });
    expect(await failureOf(old.connect())).toMatchObject({ fault: "configuration", message: "As it is" });
  });

  test("says what to do where nothing listens", async () => {
    const fake = await openFake(() => {});
    await fake[Symbol.asyncDispose]();
    const error = await failureOf(fake.connect());
    expect(error).toMatchObject({ fault: "connection" });
    expect(error.message).toMatch(/nothing listens there. Start a server with 'rlm serve', or check the address$/);
  });

  test("waits for a server that is starting", async () => {
    let count = 0;
    await using fake = await openFake(
      (_, response) => {
        count += 1;
        if (count < 3) response.writeHead(503, { "retry-after": "1" }).end("starting");
        else sendJSON(response, VERSION);
      },
      { isRaw: true },
    );
    await fake.connect();
    expect(fake.clock.pauses).toEqual([1000, 1000]);
  });

  test.each([
    [{ url: "ftp://x", token: "t" }, "the url must be an address"],
    [{ url: "http://user:word@x", token: "t" }, "must not have a user or a password"],
    [{ url: "nonsense", token: "t" }, "the url must be an address"],
    [{ url: "http://x" }, "the token must be a string"],
    [{ url: "http://x", token: "t", ulr: 1 }, "Did you mean 'url'?"],
    [{ url: "http://x", token: "t", retry: { maxElapsed: 1 } }, "Did you mean 'maxElapsedMs'?"],
    [undefined, "Cannot use null as the options of connectRuntime"],
    [[], "Cannot use an array as the options of connectRuntime"],
  ])("throws at once for %j", (options, message) => {
    expect(() => connectRuntime(options as never)).toThrow(TypeError);
    expect(() => connectRuntime(options as never)).toThrow(message);
  });

  test("a token that cannot be a header is not shown", async () => {
    const error = await failureOf(connectRuntime({ url: "http://127.0.0.1:9", token: "sec\nret" }));
    expect(error).toMatchObject({ name: "ServerConnectionError", fault: "configuration" });
    expect(inspect(error)).not.toContain("ret\n");
    expect(error.message).not.toContain("sec");
  });
});

describe("the token", () => {
  test("is asked for before each request", async () => {
    const tokens = ["a", "b", "c"];
    await using fake = await openFake((_, response) => sendJSON(response, SESSION));
    const runtime = await fake.connect({ token: async () => tokens.shift() ?? "" });
    const session = await runtime.openSession();
    await session.info();
    expect(fake.requests.map(({ headers }) => headers.authorization)).toEqual(["Bearer b", "Bearer c"]);
  });

  test("is in nothing that a log shows", async () => {
    await using fake = await openFake((request, response) => {
      if (request.path === "/v1/sessions") sendJSON(response, SESSION);
    });
    const runtime = await fake.connect();
    const session = await runtime.openSession();
    const things = [runtime, session, session.files, session.execute("1"), runtime.shell("x"), runtime.rlm()];
    for (const thing of things) {
      expect(inspect(thing, { depth: 20, showHidden: true })).not.toContain(TOKEN);
      expect(JSON.stringify(thing)).not.toContain(TOKEN);
    }
  });
});

describe("close()", () => {
  test("ends what is under way, and everything later", async () => {
    const { promise: arrived, resolve } = deferred();
    await using fake = await openFake((request, response) => {
      if (request.path === "/v1/sessions") sendJSON(response, SESSION);
      else resolve();
    });
    const runtime = await fake.connect();
    const session = await runtime.openSession();
    const pending = failureOf(session.info());
    await arrived;
    await runtime.close();
    await runtime.close();
    for (const error of [await pending, await failureOf(session.execute("1")), await failureOf(runtime.info())]) {
      expect(error).toMatchObject({ name: "ServerConnectionError", fault: "connection" });
      expect(error.message).toMatch(/was closed with close\(\): work that was started there may go on$/);
    }
  });
});

function deferred(): { promise: Promise<void>; resolve: () => void } {
  let resolve = (): void => {};
  const promise = new Promise<void>((done) => void (resolve = done));
  return { promise, resolve };
}
