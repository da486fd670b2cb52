// A session has a user of the machine for itself where that is possible, and a small share of its user elsewhere.

import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openRuntime, type Runtime, type Session } from "../../internals.ts";
import { makeDataFolder } from "../../make-data-folder.ts";
import { python } from "../machine.ts";
import { copyForAll, type ForAll } from "../ordinary-user.ts";
import { failureOf } from "../stage.ts";
import { initOf, kernelUser, lockAllBut, RANGE, TAKE_ALL, TAKE_ONE, take, takeOutside, type Taken } from "../users.ts";
import { skipInTierC, TIER, skipForSharedUser } from "../../tier.ts";

const isRoot = process.getuid?.() === 0;
const fixture = join(import.meta.dirname, "../../fixtures/user-host.mjs");
const options = { python, preload: [], poolSize: 0 };

describe("a session that takes all it can get of what is counted for a user", () => {
  let runtime: Runtime;
  beforeAll(async () => {
    runtime = await openRuntime(options);
  });
  afterAll(() => runtime?.close());

  test("leaves enough to the host, and to its sibling", async (context) => {
    skipInTierC(context, "inotify is not allowed there");
    await using greedy = await runtime.openSession();
    await using sibling = await runtime.openSession();
    const taken = await take<Taken>(greedy, TAKE_ALL);
    expect(taken.inotify).toBeLessThanOrEqual(12);
    expect(taken.timers).toBeLessThanOrEqual(1024);
    expect(taken.flying).toBeLessThanOrEqual(7);
    const isSeparate = "first" in (runtime.report().users ?? {});
    const enough = { inotify: true, timers: true, ...(isSeparate && { pipes: true, flying: true }) };
    expect(takeOutside()).toMatchObject(enough);
    expect(await take(sibling, TAKE_ONE)).toMatchObject(enough);
  });

  test("leaves as much to the next session once it is closed", async (context) => {
    skipForSharedUser(context, "others of the user take their share meanwhile");
    const greedy = await runtime.openSession();
    const first = await take<Taken>(greedy, TAKE_ALL);
    await greedy.close();
    await using next = await runtime.openSession();
    expect(await take<Taken>(next, TAKE_ALL)).toEqual(first);
  });

  test("finds the usual limits in its user namespace and cannot change them", async (context) => {
    skipInTierC(context, "it has no user namespace");
    await using session = await runtime.openSession();
    const code = `
def attempt(name):
    path = f"/proc/sys/user/{name}"
    before = open(path).read()
    try: open(path, "w").write("100000")
    except OSError: return int(before)
[attempt(n) for n in ("max_user_namespaces", "max_fanotify_groups", "max_inotify_instances")]`;
    expect((await session.execute(code).result).value).toEqual({ "text/plain": "[0, 0, 12]" });
  });
});

describe.skipIf(!isRoot)("where the host is root, each session has a user of its own", () => {
  test("it is in the range of the report, and another for each session, but the same for its forks, tasks and new workers", async (context) => {
    skipInTierC(context, "it has no user namespace");
    await using runtime = await openRuntime(options);
    const sessions: Session[] = [];
    for (let index = 0; index < 3; index += 1) sessions.push(await runtime.openSession());
    const users: number[] = [];
    for (const session of sessions) users.push(await kernelUser(session));
    expect(new Set(users).size).toBe(3);
    expect(runtime.report().users).toEqual({ first: 2_100_000_000, last: 2_100_065_535 });
    for (const user of users) expect(user - 2_100_000_000).toSatisfy((at: number) => at >= 0 && at < 65_536);
    const [session] = sessions;
    if (session === undefined) return;
    await using fork = await session.fork();
    expect(await kernelUser(fork)).toBe(users[0]);
    const { stdout } = await runtime.shell("cat /proc/self/uid_map; echo to-stdout > /dev/stdout", { session }).result;
    expect(stdout.trim().split(/\s+/)).toEqual(["1000", String(users[0]), "1", "to-stdout"]);
    await session.execute("import os; os._exit(3)").result;
    expect(await kernelUser(session)).toBe(users[0]);
  });

  test("no two runtimes have the same; where none is left, the error says what to do", async (context) => {
    skipInTierC(context, "a folder of root gives its session the user of root");
    await using others = await lockAllBut(4);
    await using one = await openRuntime({ ...options, users: others.range });
    await using two = await openRuntime({ ...options, users: others.range });
    const sessions = [
      await one.openSession(),
      await two.openSession(),
      await one.openSession(),
      await two.openSession(),
    ];
    const users: number[] = [];
    for (const session of sessions) users.push(await kernelUser(session));
    expect(users.sort((a, b) => a - b)).toEqual(others.free);
    const folder = mkdtempSync(join(tmpdir(), "hostile-users-"));
    for (const mounts of [[], [{ path: folder, mode: "ro" as const }]]) {
      const failure = await failureOf(one.openSession({ mounts }));
      expect(String(failure)).toMatch(/all 128 users for sandboxes are taken.*RLM_SANDBOX_USERS/);
    }
    rmSync(folder, { recursive: true });
  });

  test("it is free again when the session is closed, when its init is killed, and when the host is", async () => {
    await using others = await lockAllBut(1);
    const folder = mkdtempSync(join(tmpdir(), "hostile-users-"));
    chmodSync(folder, 0o755); // else a session that mounts it on overlayfs has the ids of its owner
    const data = makeDataFolder(join(folder, "data"));
    await using runtime = await openRuntime({ ...options, users: others.range });
    const first = await runtime.openSession();
    expect(await kernelUser(first)).toBe(others.free[0]);
    const reset = new Promise((resolve) => first.subscribe(({ type }) => type === "session-reset" && resolve(type)));
    process.kill(await initOf(first), "SIGKILL");
    await reset;
    expect(await kernelUser(first)).toBe(others.free[0]);
    await first.close();
    const second = await runtime.openSession({ mounts: [{ path: folder, mode: "ro" }] });
    expect(await kernelUser(second)).toBe(others.free[0]);
    await second.close();

    const dist = join(import.meta.dirname, "../../../dist");
    const env = {
      PATH: process.env["PATH"] ?? "",
      TEST_PYTHON: python,
      RLM_DATA: data,
      RLM_SANDBOX_USERS: others.range,
    };
    const host = spawn(process.execPath, [fixture, dist, "hold"], { env, stdio: ["pipe", "pipe", "inherit"] });
    await once(host.stdout, "data");
    expect(String(await failureOf(runtime.openSession()))).toMatch(/are taken/);
    host.kill("SIGKILL");
    await expect.poll(() => failureOf(runtime.openSession())).toBe("it worked");
    rmSync(folder, { recursive: true });
  });

  const refused: [range: string, why: RegExp][] = [
    ["1-1000", /an account has the id 1\b.*RLM_SANDBOX_USERS/],
    [`${RANGE.first}-${RANGE.first + 9}`, /it has 10 ids, and at least 128 are needed/],
  ];
  // The fork server of tier C has no user of its own.
  if (TIER !== "C") refused.push(["63990-64200", /an account has the id 64001/]);
  test.each(refused)("the range %s is refused", async (users, why) => {
    await using runtime = await openRuntime({ ...options, users });
    expect(String(await failureOf(runtime.openSession()))).toMatch(why);
  });
});

describe.skipIf(!isRoot)("where the host is an ordinary user", () => {
  let place: ForAll;
  beforeAll(async () => {
    place = await copyForAll();
  });
  afterAll(() => place?.remove());

  interface Outcome {
    readonly user: number;
    readonly users: object;
    readonly maps: readonly string[];
    readonly taken: readonly Taken[];
    readonly sibling: object;
    readonly host: object;
    readonly watches: boolean;
  }

  /** In three sessions all is taken; then a program of the host, its `fs.watch` and a fourth session want some. */
  async function attack(command: string[] = []): Promise<Outcome> {
    const args = [...command, place.node, place.add(fixture), join(place.folder, "dist"), "attack"];
    const env = { PATH: process.env["PATH"] ?? "", HOME: place.folder, RLM_DATA: place.data, TEST_PYTHON: python };
    const user = command.length === 0 ? { uid: 64123, gid: 64123 } : {};
    const host = spawn("env", args, { env, cwd: place.folder, stdio: ["pipe", "pipe", "inherit"], ...user });
    host.stdin.end(JSON.stringify({ TAKE_ALL, TAKE_ONE, folder: join(place.folder, "dist") }));
    const [output] = await Promise.all([text(host.stdout), once(host, "exit")]);
    return JSON.parse(output) as Outcome;
  }

  test("all sessions together leave it three quarters of its inotify instances, and pending signals", async (context) => {
    skipInTierC(context, "inotify is not allowed there");
    const { user, users, maps, taken, host, watches } = await attack();
    expect({ user, users }).toEqual({ user: 64123, users: { why: "this user has no account" } });
    expect(maps.every((map) => map.includes("64123"))).toBe(true);
    const allowed = Number(readFileSync("/proc/sys/fs/inotify/max_user_instances", "utf8"));
    expect(taken.reduce((sum, { inotify }) => sum + inotify, 0)).toBeLessThanOrEqual(allowed / 4);
    expect(host).toMatchObject({ inotify: true, timers: true });
    expect(watches).toBe(true);
  });

  const hasSubordinateIds = existsSync("/usr/bin/newuidmap") && existsSync("/etc/subuid") && existsSync("/etc/subgid");

  test.skipIf(!hasSubordinateIds)(
    "with subordinate ids a session without mounts has a user of its own (skipped without newuidmap)",
    async (context) => {
      skipInTierC(context, "it has no user namespace");
      const files = {
        passwd: `${readFileSync("/etc/passwd", "utf8")}ordinary:x:64123:64123::${place.folder}:/bin/sh\n`,
        subuid: "ordinary:300000:65536\n",
        subgid: "ordinary:300000:65536\n",
      };
      const lines = Object.entries(files).map(([name, content]) => {
        writeFileSync(join(place.folder, name), content);
        return `mount --bind ${join(place.folder, name)} /etc/${name}`;
      });
      const script = `${lines.join(" && ")} && exec setpriv --reuid 64123 --regid 64123 --clear-groups "$@"`;
      const { user, users, maps, taken, sibling, host } = await attack(["unshare", "-m", "sh", "-c", script, "sh"]);
      expect({ user, users }).toEqual({ user: 64123, users: { first: 332_768, last: 365_535 } });
      const kernelUsers = maps.map((map) => Number(map.trim().split(/\s+/)[1]));
      expect(kernelUsers.at(-1), "a session with a mount").toBe(64123);
      const own = kernelUsers.slice(0, -1);
      expect(new Set(own).size).toBe(own.length);
      for (const each of own) expect(each).toSatisfy((number: number) => number >= 332_768 && number <= 365_535);
      expect(taken.every(({ pipes }) => pipes > 0)).toBe(true);
      expect(host).toEqual({ inotify: true, timers: true, pipes: true, flying: true });
      expect(sibling).toMatchObject({ timers: true, pipes: true, flying: true });
    },
  );

  test("root of a user namespace that has one user is an ordinary user", async (context) => {
    skipInTierC(context, "it has no user namespace");
    const { user, users, host, watches } = await attack([
      "setpriv",
      "--reuid",
      "64123",
      "--regid",
      "64123",
      "--clear-groups",
      "unshare",
      "-r",
    ]);
    expect({ user, users }).toEqual({ user: 1000, users: { why: expect.any(String) as string } });
    expect({ host, watches }).toMatchObject({ host: { inotify: true, timers: true }, watches: true });
  });
});

describe("the range of users", () => {
  const folder = join(import.meta.dirname, "../../../python/forkserver/sandbox/privileged");
  const choose = (usable: string, configured: string, accounts: string): string => {
    const code = `import sys; sys.path.insert(0, ${JSON.stringify(folder)}); sys.dont_write_bytecode = True
import users
try: print([(r.start, r.stop - 1) for r in users.choose(${usable}, ${configured}, ${accounts})])
except users.RangeRefused as error: print(error)`;
    return spawnSync(python, ["-I", "-c", code], { encoding: "utf8" }).stdout.trim();
  };

  test.each([
    ["every id exists", "[range(0, 2**32 - 1)]", "None", "set()", "[(2100000000, 2100065535)]"],
    ["a container", "[range(0, 65536)]", "None", "{65000}", "[(64002, 64999), (65001, 65533)]"],
    ["few ids", "[range(0, 2000)]", "None", "{0, 1000}", "[(1001, 1999)]"],
    ["one id", "[range(0, 1)]", "None", "set()", "[]"],
    ["a configured range", "[range(0, 65536)]", "(3000, 3999)", "{0}", "[(3000, 3999)]"],
    [
      "one that does not exist",
      "[range(0, 65536)]",
      "(65000, 66000)",
      "set()",
      expect.stringMatching(/^not all of these ids/),
    ],
  ])("%s", (_, usable, configured, accounts, expected) => {
    expect(choose(usable, configured, accounts)).toEqual(expected);
  });
});
