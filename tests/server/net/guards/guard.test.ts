import { describe, expect, test } from "vitest";
import { checkNames, checkToken, digest } from "../../../../src/server/net/guards/guard.ts";

describe("checkNames()", () => {
  test.each(["localhost", "LOCALHOST:80", "127.0.0.1:8000", "127.8.9.1", "[::1]:8000", "box.example"])(
    "answers to %s",
    (host) => {
      expect(checkNames(host, undefined, ["box.example"])).toBeUndefined();
    },
  );

  test.each([
    "",
    "evil.example",
    "localhost.evil.example",
    "127.0.0.1.evil.example",
    "127.0.0.1@evil.example",
    "evil.example/127.0.0.1",
    "0.0.0.0:8000",
    "localhost:8000:1",
    "[::1",
    "[::2]",
    "box.example.evil",
  ])("refuses %s", (host) => {
    expect(checkNames(host, undefined, ["box.example"])).toMatchObject({ status: 403, code: "HOST_NOT_ALLOWED" });
  });

  test("a request without a Host is malformed", () => {
    expect(checkNames(undefined, undefined, [])).toMatchObject({ status: 400, code: "MALFORMED" });
  });

  test("accepts the origin of its own pages", () => {
    expect(checkNames("127.0.0.1:8000", "http://127.0.0.1:8000", [])).toBeUndefined();
  });

  test.each([
    "null",
    "http://evil.example",
    "http://127.0.0.1:8001",
    "http://localhost:8000",
    "http://127.0.0.1:8000.evil",
  ])("refuses scripts from %s", (origin) => {
    expect(checkNames("127.0.0.1:8000", origin, [])).toMatchObject({ status: 403, code: "ORIGIN_NOT_ALLOWED" });
  });
});

describe("checkToken()", () => {
  test.each(["Bearer secret", "bearer secret", "Bearer  secret "])("accepts %j", (header) => {
    expect(checkToken(header, digest("secret"))).toBeUndefined();
  });

  test.each([
    undefined,
    "",
    "Bearer",
    "Bearer secre",
    "Bearer secrets",
    "Bearer Secret",
    "Basic secret",
    "secret",
    "Bearer secret x",
  ])("refuses %j", (header) => {
    expect(checkToken(header, digest("secret"))).toMatchObject({
      status: 401,
      headers: { "www-authenticate": 'Bearer realm="rlm"' },
    });
  });
});
