// Kernels without Landlock and without the newer calls for mounts, emulated by a system call filter that answers ENOSYS.
//
// They are not tried where no namespaces can be made. One of them is tried everywhere else. All, with every probe of the corpus, take some minutes and are run by hand:
//   RLM_KERNELS=all npx vitest run tests/hostile/walls/old-kernels.test.ts

/** @module-tag stress */

import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { TIER } from "../../tier.ts";
import { python } from "../machine.ts";
import { copyForAll, type ForAll } from "../ordinary-user.ts";
import { expand } from "../probe.ts";
import { openStage, readCorpus, type OpenStage } from "../stage.ts";

const LANDLOCK = ["landlock_create_ruleset", "landlock_add_rule", "landlock_restrict_self"];
const NEW_MOUNTS = ["open_tree", "move_mount", "fsopen", "fsconfig", "fsmount", "fspick", "openat2", "mount_setattr"];
const LACKING = {
  "without Landlock": LANDLOCK,
  "without Landlock and mount_setattr": [...LANDLOCK, "mount_setattr"],
  "like Linux 4.18": [
    ...LANDLOCK,
    ...NEW_MOUNTS,
    "pidfd_open",
    "pidfd_send_signal",
    "close_range",
    "clone3",
    "faccessat2",
    "epoll_pwait2",
  ],
} as const;
type Kernel = keyof typeof LACKING;

/** Probes that do not hold on such a kernel, with the reason. */
const NOT_HELD: Readonly<Record<string, string>> = {};

const isRoot = process.getuid?.() === 0;
const ORDINARY = 64123;
const users = isRoot ? (["root", "an ordinary user"] as const) : (["an ordinary user"] as const);
const emulator = join(import.meta.dirname, "../../fixtures/old-kernel.py");
const corpus = readCorpus("sandbox-probes.json");
const isFull = process.env["RLM_KERNELS"] === "all";

interface Answer {
  readonly id: string;
  readonly value?: Record<string, string>;
  readonly after?: Record<string, string>;
  readonly error?: { readonly traceback: string };
}

interface Report {
  readonly user: number;
  readonly tier: string;
  readonly notStopped: readonly string[];
  readonly results: readonly Answer[];
}

let stage: OpenStage;
let place: ForAll;
beforeAll(async () => {
  [stage, place] = await Promise.all([openStage(), copyForAll()]);
});
afterAll(async () => {
  await stage?.[Symbol.asyncDispose]();
  place?.remove();
});

function emulate(kernel: Kernel): string[] {
  return [emulator, LACKING[kernel].map((call) => `${call}=ENOSYS`).join(",")];
}

/** Runs code in sessions of a host on such a kernel, each in a session of its own. */
async function run(kernel: Kernel, user: string, probes: readonly object[]): Promise<Report> {
  const host = join(import.meta.dirname, "../../fixtures/hostile-host.mjs");
  const args = [...emulate(kernel), place.node, place.add(host), join(place.folder, "dist"), "probe"];
  const env = { PATH: process.env["PATH"] ?? "", HOME: place.folder, TEST_PYTHON: python };
  const own =
    isRoot && user !== "root"
      ? { env: { ...env, RLM_DATA: place.data }, uid: ORDINARY, gid: ORDINARY }
      : { env: { ...env, RLM_DATA: join(place.folder, "data-of-root") } };
  const child = spawn(python, args, { cwd: "/", stdio: ["pipe", "pipe", "pipe"], ...own });
  child.stdin.end(JSON.stringify(probes.map((probe) => ({ prelude: corpus.prelude_python, ...probe }))));
  const [output, errors] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "exit")]);
  if (output === "") throw new Error(errors);
  return JSON.parse(output) as Report;
}

describe.skipIf(TIER === "C").each(users)("a kernel like Linux 4.18, as %s", (user) => {
  test(
    "what must be denied is denied, in the tier without Landlock",
    { tags: "stress", timeout: 120_000 },
    async () => {
      // As root only some, unless all are asked for.
      const step = user === "root" && !isFull ? 8 : 1;
      const candidates = corpus.probes.filter(
        ({ language, category, expected, id, sibling_setup: setup }) =>
          language === "python" &&
          category !== "protocol" &&
          expected === "denied" &&
          setup === undefined &&
          !(id in NOT_HELD),
      );
      const denied = candidates.filter((_, index) => index % step === 0);
      const values = { ...stage.values, SID: "s", EID: "s.2", SLEEPMARK: "1" };
      const probes = denied.map(({ id, code }) => ({ id, code: expand(code, values), timeoutMs: 20_000 }));
      const { tier, notStopped, results, user: uid } = await run("like Linux 4.18", user, probes);
      expect({ tier, hasGaps: notStopped.length > 0, results: results.length }).toEqual({
        tier: "A-no-landlock",
        hasGaps: true,
        results: probes.length,
      });
      expect(candidates.length).toBeGreaterThan(50);
      if (isRoot) expect(uid).toBe(user === "root" ? 64001 : ORDINARY);
      const bad = results.filter(
        ({ value, after }) => !/^.DENIED/.test(value?.["text/plain"] ?? "") || after?.["text/plain"] !== "2",
      );
      expect(bad).toEqual([]);
    },
  );
});

const kernels = Object.keys(LACKING) as Kernel[];

describe.skipIf(TIER === "C").each(isFull ? kernels : kernels.slice(-1))("a kernel %s", (kernel) => {
  let folder: string;
  let read: string;
  let write: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "old-kernel-"));
    read = join(folder, "read");
    write = join(folder, "write");
    mkdirSync(read);
    mkdirSync(write);
    for (const name of [folder, read, write]) chmodSync(name, 0o777);
    writeFileSync(join(read, "plain"), "plain");
    writeFileSync(join(read, ".env"), "SECRET");
    for (const name of ["plain", ".env"]) chmodSync(join(read, name), 0o666);
    execFileSync("mkfifo", ["-m", "666", join(read, "pipe")]);
    if (isRoot) for (const name of [read, write, join(read, "pipe")]) execFileSync("chown", [String(ORDINARY), name]);
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  const TRY = `
def attempt(function):
    try: return function()
    except OSError as error: return error.strerror
`;

  test("walls that Landlock holds elsewhere stand by mounts, and the gaps are those that are declared", async () => {
    const code = `${TRY}
def writable():
    for top in ("/proc/self", "/proc/1", "/proc/sys", "/proc/self/task/self"):
        for parent, folders, names in os.walk(top):
            folders[:] = [name for name in folders if name not in ("fd", "fdinfo", "task", "cwd", "root", "map_files", "net", "ns")]
            for name in names:
                path = os.path.join(parent, name)
                if os.path.isfile(path) and not os.path.islink(path):
                    try: os.close(os.open(path, os.O_WRONLY | os.O_NONBLOCK)); yield path
                    except OSError: pass
def read(path):
    with open(path) as file: return file.read()
[sorted(writable()), attempt(lambda: os.open("/dev/zero", os.O_RDWR)), open("/dev/zero", "rb").read(3),
 attempt(lambda: open("${read}/new", "w")), attempt(lambda: os.truncate("${read}/plain", 0)), read("${read}/plain"),
 attempt(lambda: open("${read}/.env").read()), attempt(lambda: os.chmod("${read}/.env", 0o644)),
 type(attempt(lambda: os.open("${read}/pipe", os.O_RDWR))).__name__]`;
    const mounts = [{ path: read, mode: "ro", hideSecrets: true }];
    const { tier, results } = await run(kernel, "an ordinary user", [{ id: "walls", code, timeoutMs: 60_000, mounts }]);
    expect(tier).toBe("A-no-landlock");
    const readOnly = "'Read-only file system'";
    expect(results[0]?.error?.traceback).toBeUndefined();
    expect(results[0]?.value?.["text/plain"]).toBe(
      `[[], ${readOnly}, b'\\x00\\x00\\x00', ${readOnly}, ${readOnly}, 'plain', 'Permission denied', ${readOnly}, 'int']`,
    );
  });

  test("a folder mounted for writing can be written by its owner", async () => {
    const code = `open("${write}/new", "w").write("made inside")`;
    const mounts = [{ path: write, mode: "rw" }];
    const { results } = await run(kernel, "an ordinary user", [{ id: "write", code, timeoutMs: 60_000, mounts }]);
    expect(results[0]?.value).toEqual({ "text/plain": "11" });
    expect(readFileSync(join(write, "new"), "utf8")).toBe("made inside");
  });

  test.skipIf(!isRoot)(
    "a session of root writes to a mounted folder as its owner, and reads a private one",
    async () => {
      const own = join(folder, "own");
      mkdirSync(own, { mode: 0o700 });
      writeFileSync(join(own, "file"), "private", { mode: 0o600 });
      for (const name of [own, join(own, "file")]) execFileSync("chown", [`${ORDINARY}:${ORDINARY}`, name]);
      const probe = (path: string, mode: string, code: string): object => ({
        id: code,
        code,
        timeoutMs: 60_000,
        mounts: [{ path, mode }],
      });
      const { results } = await run(kernel, "root", [
        probe(own, "rw", `open("${own}/new", "w").write("made inside")`),
        probe(own, "ro", `open("${own}/file").read()`),
      ]);
      expect(results.map(({ value }) => value)).toEqual([{ "text/plain": "11" }, { "text/plain": "'private'" }]);
      expect(statSync(join(own, "new")).uid).toBe(ORDINARY);
    },
  );

  test.skipIf(!isRoot || kernel === "without Landlock")(
    "root is refused what others may not reach, by reason",
    async () => {
      const closed = join(folder, "closed");
      mkdirSync(join(closed, "inner"), { recursive: true });
      execFileSync("chown", [`${ORDINARY}:${ORDINARY}`, join(closed, "inner")]);
      chmodSync(closed, 0o700);
      const mounts = [{ path: join(closed, "inner"), mode: "rw" }];
      const failure = run(kernel, "root", [{ id: "write", code: "1", timeoutMs: 60_000, mounts }]);
      await expect(failure).rejects.toThrow(
        /before Linux 5.12 root cannot mount what others may not reach.* not as root/,
      );
    },
  );
});

describe.skipIf(!isFull)(`every probe of the corpus${isFull ? "" : " (RLM_KERNELS is not 'all')"}`, () => {
  const cases = kernels.flatMap((kernel) => users.map((user) => [kernel, user] as const));

  test.each(cases)("holds on a kernel %s, as %s", { timeout: 900_000 }, async (kernel, user) => {
    const home = mkdtempSync(join(tmpdir(), "old-kernel-home-"));
    chmodSync(home, 0o777);
    const top = join(import.meta.dirname, "../../..");
    const vitest = join(top, "node_modules/vitest/vitest.mjs");
    const report = join(home, "report.json");
    const options = ["--configLoader", "runner", "--reporter", "json", "--outputFile", report];
    const probes = join(import.meta.dirname, "probes.test.ts");
    const child = spawn(python, [...emulate(kernel), place.node, vitest, "run", ...options, probes], {
      cwd: top,
      env: { PATH: process.env["PATH"] ?? "", HOME: home, RLM_DATA: join(home, "data") },
      stdio: "ignore",
      ...(isRoot && user !== "root" && { uid: ORDINARY, gid: ORDINARY }),
    });
    await once(child, "exit");
    const { numPassedTests, testResults } = JSON.parse(readFileSync(report, "utf8")) as {
      readonly numPassedTests: number;
      readonly testResults: readonly {
        readonly assertionResults: readonly { readonly status: string; readonly title: string }[];
      }[];
    };
    rmSync(home, { recursive: true });
    const failed = testResults.flatMap(({ assertionResults }) =>
      assertionResults.filter(({ status }) => status === "failed").map(({ title }) => title),
    );
    process.stderr.write(`${kernel}, ${user}: ${numPassedTests} held, ${failed.length} did not\n`);
    expect(failed.filter((title) => !((title.split(":")[0] ?? "") in NOT_HELD))).toEqual([]);
    expect(numPassedTests).toBeGreaterThan(150);
  });
});
