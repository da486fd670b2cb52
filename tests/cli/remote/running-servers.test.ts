import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { usersListeningOn } from "../../../src/cli/remote/port-owner.ts";
import { noteServer, runningServers } from "../../../src/cli/remote/running-servers.ts";
import { startOfProcess } from "../../../src/util/start-of-process.ts";

let data: string;
let folder: string;
beforeEach(() => {
  data = mkdtempSync(join(tmpdir(), "rlm-running-"));
  folder = join(data, "server", "running");
  vi.stubEnv("RLM_DATA", data);
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(data, { recursive: true, force: true });
});

/** A note as another server would leave it. */
function leave(name: string, process: object, more: object = {}): string {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const path = join(folder, name);
  const note = { url: "http://127.0.0.1:1", process, startedAt: 1, hasStoredToken: true, ...more };
  writeFileSync(path, JSON.stringify(note));
  return path;
}

const self = { pid: process.pid, host: hostname(), since: startOfProcess(process.pid) };

test("a server is noted, readable for its user alone, until it is disposed", () => {
  expect(runningServers()).toEqual([]);
  expect(existsSync(folder)).toBe(false);
  const noted = noteServer({ url: "http://127.0.0.1:4321", hasStoredToken: true });
  expect(runningServers()).toMatchObject([{ url: "http://127.0.0.1:4321", hasStoredToken: true }]);
  const [name = ""] = readdirSync(folder);
  expect(statSync(join(folder, name)).mode & 0o777).toBe(0o600);
  noted[Symbol.dispose]();
  expect(runningServers()).toEqual([]);
  expect(readdirSync(folder)).toEqual([]);
});

test("a server on every address is found at that of loopback", () => {
  using _ = noteServer({ url: "http://0.0.0.0:4321", hasStoredToken: true });
  expect(runningServers()).toMatchObject([{ url: "http://127.0.0.1:4321" }]);
});

test("the newest is the first", () => {
  leave("1.json", self, { startedAt: 5, url: "http://127.0.0.1:5" });
  leave("2.json", self, { startedAt: 7, url: "http://127.0.0.1:7" });
  leave("3.json", self, { startedAt: 6, url: "http://127.0.0.1:6" });
  expect(runningServers().map(({ url }) => url.slice(-1))).toEqual(["7", "6", "5"]);
});

test("a note of a process that is gone, or whose id another process has, is removed", () => {
  const gone = leave("1.json", { ...self, pid: 2 ** 22 + 1 });
  const reused = leave("2.json", { ...self, since: "1" });
  expect(runningServers()).toEqual([]);
  expect([existsSync(gone), existsSync(reused)]).toEqual([false, false]);
});

test("a note of another machine is ignored, and stays", () => {
  const path = leave("1.json", { ...self, host: `not-${hostname()}` });
  expect(runningServers()).toEqual([]);
  expect(existsSync(path)).toBe(true);
});

test.each([
  ["not JSON", "{"],
  ["no address", JSON.stringify({ url: "file:///etc/passwd", process: self, startedAt: 1, hasStoredToken: true })],
  ["too large", JSON.stringify({ url: "http://a.example", process: self, startedAt: 1, x: "x".repeat(5000) })],
])("a note with %s is ignored", (_, text) => {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  writeFileSync(join(folder, `${process.pid}.json`), text);
  expect(runningServers()).toEqual([]);
});

test("nothing is read from a folder that others can write to", () => {
  leave("1.json", self);
  expect(runningServers()).toHaveLength(1);
  chmodSync(folder, 0o777);
  expect(runningServers()).toEqual([]);
});

test.skipIf(process.platform !== "linux")("the kernel knows who listens on a port", async () => {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as { port: number };
  expect(usersListeningOn(port)).toEqual([process.getuid?.()]);
  await new Promise((resolve) => server.close(resolve));
  expect(usersListeningOn(port)).toEqual([]);
});
