import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { checkOwner, findServer, refuseOtherUser } from "../../../src/cli/remote/address.ts";
import { noteServer } from "../../../src/cli/remote/running-servers.ts";

let data: string;
beforeEach(() => {
  data = mkdtempSync(join(tmpdir(), "rlm-address-"));
  vi.stubEnv("RLM_DATA", data);
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(data, { recursive: true, force: true });
});

function keepToken(token: string): string {
  mkdirSync(join(data, "server"), { recursive: true });
  const path = join(data, "server", "token");
  writeFileSync(path, `${token}\n`);
  return path;
}

test("by default it is the server that runs on this machine, with the stored token", () => {
  const path = keepToken("kept");
  using _ = noteServer({ url: "http://127.0.0.1:4321", hasStoredToken: true });
  expect(findServer({})).toEqual({
    url: "http://127.0.0.1:4321",
    token: "kept",
    urlFrom: "the server that runs on this machine",
    tokenFrom: `'${path}'`,
    isExposed: false,
    mustBeOwn: true,
    others: [],
  });
});

test("where no server runs, that is said", () => {
  keepToken("kept");
  expect(() => findServer({})).toThrow("no server runs on this machine. Start one with 'rlm serve'");
});

test("a server with a token of its own needs RLM_TOKEN", () => {
  keepToken("kept");
  using _ = noteServer({ url: "http://127.0.0.1:4321", hasStoredToken: false });
  expect(() => findServer({})).toThrow("the server at http://127.0.0.1:4321 was started with RLM_TOKEN");
  expect(findServer({ RLM_TOKEN: "t" })).toMatchObject({ url: "http://127.0.0.1:4321", token: "t", mustBeOwn: true });
});

test("a token goes to a port only if this user listens there", () => {
  keepToken("kept");
  const found = findServer({ RLM_URL: "http://127.0.0.1:4321" });
  const [own, other] = [process.getuid?.() ?? 0, 54_321];
  expect(() => checkOwner(found, () => [own])).not.toThrow();
  expect(() => checkOwner(found, () => undefined)).not.toThrow();
  expect(() => checkOwner(found, () => [])).toThrow("no server listens at http://127.0.0.1:4321");
  expect(() => checkOwner(found, () => [other])).toThrow("is used by another user (id 54321)");
  expect(() => checkOwner(found, () => [own, other])).toThrow("is used by another user");
  expect(() => refuseOtherUser(found, () => [])).not.toThrow(); // while a server restarts
  expect(() => refuseOtherUser(found, () => [other])).toThrow("is used by another user");
  const chosen = findServer({ RLM_URL: "http://127.0.0.1:4321", RLM_TOKEN: "t" });
  expect(() => checkOwner(chosen, () => [other])).not.toThrow(); // the user has chosen both
});

test("RLM_URL and RLM_TOKEN select another server", () => {
  expect(findServer({ RLM_URL: "https://box.example/rlm/", RLM_TOKEN: "t" })).toEqual({
    url: "https://box.example/rlm",
    token: "t",
    urlFrom: "RLM_URL",
    tokenFrom: "RLM_TOKEN",
    isExposed: false,
    mustBeOwn: false,
    others: [],
  });
});

test("the stored token is never used for another host", () => {
  keepToken("kept");
  for (const host of ["box.example", "127.0.0.1.example", "localhost.example", "10.0.0.1"]) {
    expect(() => findServer({ RLM_URL: `https://${host}` })).toThrow(`set RLM_TOKEN to the token of ${host}`);
  }
  for (const host of ["localhost", "127.0.0.2", "[::1]"]) {
    expect(findServer({ RLM_URL: `http://${host}:1` })).toMatchObject({ token: "kept", isExposed: false });
  }
});

test("another host without encryption is marked as exposed", () => {
  expect(findServer({ RLM_URL: "http://box.example:8000", RLM_TOKEN: "t" }).isExposed).toBe(true);
});

test.each([
  ["nonsense", "RLM_URL must be an address such as http://127.0.0.1:8000, and is 'nonsense'"],
  ["file:///etc/passwd", "RLM_URL must be an address"],
  ["http://127.0.0.1/?token=x", "RLM_URL must be an address"],
  ["http://me:secret@127.0.0.1", "RLM_URL must not hold a password"],
])("RLM_URL=%s is refused", (url, message) => {
  expect(() => findServer({ RLM_URL: url, RLM_TOKEN: "t" })).toThrow(message);
});

test("a password in a refused address is not repeated", () => {
  expect(() => findServer({ RLM_URL: "ftp://me:secret@host" })).toThrow("ftp://…@host");
});

test("a missing token is reported with where it comes from", () => {
  expect(() => findServer({ RLM_URL: "http://127.0.0.1:1" })).toThrow("'rlm serve' makes one in");
  expect(() => findServer({ RLM_URL: "http://127.0.0.1:1", RLM_TOKEN: "two words" })).toThrow(
    "RLM_TOKEN must be visible",
  );
});

test("an address of the command line takes precedence, and is named in messages", () => {
  const env = { RLM_URL: "https://box.example", RLM_TOKEN: "t" };
  expect(findServer(env, "http://127.0.0.1:9000/")).toMatchObject({
    url: "http://127.0.0.1:9000",
    urlFrom: "--server",
  });
  expect(() => findServer(env, "127.0.0.1:9000")).toThrow("--server must be an address such as http://127.0.0.1:8000");
});
