// What people are told where the sandbox cannot be built: each situation is made in nested namespaces, and doctor is asked.

import { execFile, spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { adviseOn } from "../../src/environments/linux-advice.ts";
import { python } from "../hostile/machine.ts";

const canNest = process.getuid?.() === 0 && spawnSync("sh", ["-c", "unshare -mU true"]).status === 0;
const ORDINARY = 64123;
const top = join(import.meta.dirname, "../..");
const fixtures = join(top, "tests/fixtures");
const DOCTOR = `'${process.execPath}' '${join(top, "dist/cli.cjs")}' doctor --json`;
const emulated = (rules: string): string => `'${python}' '${fixtures}/old-kernel.py' ${rules} ${DOCTOR}`;
const IN_CONTAINER = /docker run --security-opt seccomp=unconfined .*apparmor=unconfined .*systempaths=unconfined/;
const FOLLOW = "as root of the machine: ";

interface Finding {
  readonly check: string;
  readonly status: string;
  readonly found: string;
  readonly fix?: string;
}

let data: string;
let count = 0;
beforeAll(() => {
  data = mkdtempSync(join(tmpdir(), "advice-"));
  chmodSync(data, 0o777);
});
afterAll(() => rmSync(data, { recursive: true }));

/** An empty folder that every user can reach. */
function makeFolder(): string {
  const folder = join(data, String(++count));
  mkdirSync(folder);
  chmodSync(folder, 0o777);
  return folder;
}

async function run(
  command: readonly string[],
  folder = makeFolder(),
): Promise<{ readonly stdout: string; readonly stderr: string }> {
  const env = { PATH: process.env["PATH"], HOME: folder, RLM_DATA: folder, RLM_PYTHON: python };
  const [program = "", ...args] = command;
  return new Promise((resolve) =>
    execFile(program, args, { env, cwd: "/" }, (_, stdout, stderr) => resolve({ stdout, stderr })),
  );
}

/** The findings about the sandbox, of each report that was printed. */
function sandboxesIn({ stdout }: { readonly stdout: string }): Finding[][] {
  return stdout
    .split(/^(?=\{)/m)
    .filter((text) => text.startsWith("{"))
    .map((text) => (JSON.parse(text) as { readonly findings: readonly Finding[] }).findings)
    .map((findings) => findings.filter(({ check }) => check === "sandbox"));
}

/** Runs a script of sh in new namespaces, on a machine that has or has not the mark of a container. */
function inPlace(place: string, unshare: string, script: string): readonly string[] {
  const mark = place === "in a container" ? "export container=docker;" : "";
  const inside = ["unshare", unshare, "sh", "-c", mark + script];
  return place === "in a container"
    ? inside
    : ["unshare", "-m", "sh", `${fixtures}/outside-container.sh`, makeFolder(), ...inside];
}

/** Prints the report, does what the fix for the sandbox says, word by word, and prints the report again. */
function followed(): string {
  const file = join(makeFolder(), "report");
  const take = `JSON.parse(require("fs").readFileSync("${file}")).findings.find((one) => one.fix && one.check == "sandbox").fix.split("${FOLLOW}")[1]`;
  return `${DOCTOR} > ${file}; cat ${file}; ${process.execPath} -p '${take}' > ${file}.sh; sh -e ${file}.sh >&2 && ${DOCTOR}`;
}

const TIER_A = [expect.objectContaining({ status: "ok", found: expect.stringMatching(/^tier A,/) as string })];
const FAKE_SETTINGS = "mount -t tmpfs none /proc/sys/kernel; echo 40 > /proc/sys/kernel/cap_last_cap;";
const DENIED = "clone+userns=EPERM,unshare+userns=EPERM";

describe
  .skipIf(!canNest)
  .concurrent("what doctor says, followed word by word, gives tier A", { tags: "stress", timeout: 60_000 }, () => {
    test.each([
      [
        "user.max_user_namespaces=0",
        "-Ur",
        "echo 0 > /proc/sys/user/max_user_namespaces;",
        /^tier C/,
        /failed to fork/,
      ],
      ["no /proc", "-m", "mount -t tmpfs none /proc;", /not mounted/, undefined],
      ["/proc with subset=pid", "-mpf", "mount -t proc -o subset=pid none /proc;", /subset=pid/, undefined],
    ])("%s", async (_, unshare, situation, found, why) => {
      const [before, after] = sandboxesIn(await run(["unshare", unshare, "sh", "-c", situation + followed()]));
      expect(before?.map((finding) => finding.found)).toEqual(
        [found, why].filter((part) => part !== undefined).map((part) => expect.stringMatching(part) as string),
      );
      expect(after).toEqual(TIER_A);
    });

    test("a part of /proc that is covered, outside of a container", async () => {
      const script = `mount -t proc none /proc; mount -t tmpfs none /proc/tty; ${DOCTOR}; umount /proc/tty; ${DOCTOR}`;
      const [before, after] = sandboxesIn(await run(inPlace("elsewhere", "-mpf", script)));
      expect(before?.[1]).toMatchObject({
        found: expect.stringMatching(/failed to build the root.*'proc'/) as string,
        fix: expect.stringMatching(/^for tier A: Parts of \/proc are covered.*unmount them/) as string,
      });
      expect(after).toEqual(TIER_A);
    });

    test("root without capabilities, outside of a container", async () => {
      const asUser = `setpriv --reuid ${ORDINARY} --regid ${ORDINARY} --clear-groups`;
      const script = `setpriv --bounding-set=-all --inh-caps=-all ${DOCTOR}; RLM_DATA=${makeFolder()} ${asUser} ${DOCTOR}`;
      const [before, after] = sandboxesIn(await run(inPlace("elsewhere", "-m", script)));
      expect(before?.[1]?.fix).toBe("for tier A: Start it as an ordinary user, or as root with all capabilities");
      expect(after).toEqual(TIER_A);
    });

    test("a chroot, where a container has the same folder as its root", async () => {
      const root = makeFolder();
      const shown = ["/usr", "/bin", "/lib", "/lib64", "/etc", "/dev", "/proc", "/tmp", top, dirname(process.execPath)];
      const binds = shown
        .map((path) => `mkdir -p '${root}${path}'; mount --rbind '${path}' '${root}${path}';`)
        .join(" ");
      const script = `${binds} chroot ${root} env RLM_DATA=/ ${DOCTOR};
mkdir ${root}/.old; mount --rbind ${root} ${root}; cd ${root}; pivot_root . .old; umount -l /.old; cd /; RLM_DATA=/ ${DOCTOR}`;
      const [before, after] = sandboxesIn(await run(["unshare", "-m", "sh", "-c", script]));
      expect(before?.[0]?.found).toMatch(/^tier C/);
      expect(before?.[1]?.fix).toMatch(/systemd-nspawn/);
      expect(after).toEqual(TIER_A);
    });

    test("fake root is an ordinary user", async () => {
      expect(sandboxesIn(await run(["unshare", "-Ur", "sh", "-c", DOCTOR]))).toEqual([TIER_A]);
    });
  });

describe
  .skipIf(!canNest)
  .concurrent("doctor names the tier, what it does not stop, and the fix", { tags: "stress", timeout: 60_000 }, () => {
    test.each([
      [
        "a filter that denies user namespaces, as that of Docker does",
        "",
        DENIED,
        /failed to fork/,
        /system call filter/,
      ],
      [
        "privileges that are taken away in user namespaces, as Ubuntu does",
        "",
        "mount=EPERM,sethostname=EPERM",
        /failed to set the host name/,
        /sysctl kernel.apparmor_restrict_unprivileged_userns=0$/,
      ],
      [
        "the same with Ubuntu's setting, where the fork is denied",
        `${FAKE_SETTINGS} echo 1 > /proc/sys/kernel/apparmor_restrict_unprivileged_userns;`,
        DENIED,
        /failed to fork/,
        /sysctl kernel.apparmor_restrict_unprivileged_userns=0$/,
      ],
      [
        "Debian's setting",
        `${FAKE_SETTINGS} echo 0 > /proc/sys/kernel/unprivileged_userns_clone;`,
        DENIED,
        /failed to fork/,
        /sysctl kernel.unprivileged_userns_clone=1$/,
      ],
    ])("%s", async (_, situation, rules, why, fix) => {
      for (const [place, expected] of [
        ["in a container", IN_CONTAINER],
        ["elsewhere", fix],
      ] as const) {
        const [report] = sandboxesIn(await run(inPlace(place, "-m", situation + emulated(rules))));
        expect(report).toMatchObject([
          { status: "ok", found: expect.stringMatching(/^tier C/) as string },
          {
            status: "warn",
            found: expect.stringMatching(
              /^tier C is weaker than A: Code sees the names, command lines .* It is used because/,
            ) as string,
            fix: expect.stringMatching(expected) as string,
          },
        ]);
        expect(report?.[1]?.found).toMatch(why);
      }
    });

    test("no tier holds: without Landlock and user namespaces", async () => {
      const rules = `${DENIED},landlock_create_ruleset=ENOSYS`;
      const [report] = sandboxesIn(await run(inPlace("elsewhere", "-m", emulated(rules))));
      expect(report).toMatchObject([
        {
          status: "fail",
          found: expect.stringMatching(/tier A failed to fork.*tier C failed to restrict with Landlock/) as string,
          fix: expect.stringMatching(/system call filter.*; or: Use Linux 5.13 or newer with Landlock/) as string,
        },
      ]);
    });

    test("no Landlock alone", async () => {
      const [report] = sandboxesIn(await run(["sh", "-c", emulated("landlock_create_ruleset=ENOSYS")]));
      expect(report?.[0]?.found).toMatch(/^tier A-no-landlock/);
      expect(report?.[1]?.fix).toMatch(/^for tier A: Use Linux 5.13 or newer with Landlock/);
    });

    test("exec says the same where it is refused", async () => {
      const exec = `'${process.execPath}' '${join(top, "dist/cli.cjs")}' exec -c 1`;
      const { stderr } = await run(["unshare", "-m", "sh", "-c", `mount -t tmpfs none /proc; ${exec}`]);
      expect(stderr).toMatch(/\/proc is not mounted.*mount -t proc proc \/proc/s);
    });
  });

test.each([
  ["fork", "[Errno 28] No space left on device", /max_user_namespaces=15000/, /max_user_namespaces=15000/],
  ["fork", "[Errno 1] Operation not permitted", IN_CONTAINER, /system call filter|unprivileged_userns_clone/],
  ["map the user", "[Errno 1] Operation not permitted: '/proc/self/uid_map'", IN_CONTAINER, /apparmor_restrict/],
  ["set the host name", "[Errno 1] Operation not permitted", IN_CONTAINER, /apparmor_restrict/],
  ["build the root", "[Errno 1] Operation not permitted: 'proc'", IN_CONTAINER, /covered by other mounts/],
  ["open the pipes of a worker", "EACCES: permission denied, open '/proc/17/fd/9'", IN_CONTAINER, undefined],
  ["build the root", "[Errno 13] Permission denied: '/srv/project'", undefined, undefined],
  ["fork", "[Errno 12] Cannot allocate memory", undefined, undefined],
])("the fix for a failure to %s with %s", (stage, message, inside, outside) => {
  for (const [inContainer, expected] of [
    [true, inside],
    [false, outside],
  ] as const) {
    const advice = adviseOn(stage, message, inContainer);
    if (expected === undefined) expect(advice).toBeUndefined();
    else expect(advice).toMatch(expected);
  }
});
