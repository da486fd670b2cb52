// What people are told where the sandbox cannot be built: each situation is made in nested namespaces, and doctor is asked.

import { execFile } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { adviseOn, isInContainer } from "../../src/environments/linux-advice.ts";
import { python } from "../hostile/machine.ts";

const isRoot = process.getuid?.() === 0;
const emulator = join(import.meta.dirname, "../fixtures/old-kernel.py");
const DOCTOR = `'${process.execPath}' '${join(import.meta.dirname, "../../dist/cli.js")}' doctor --json`;
const emulated = (rules: string): string => `'${python}' '${emulator}' ${rules} ${DOCTOR}`;
const IN_CONTAINER = /docker run --security-opt seccomp=unconfined .*apparmor=unconfined .*systempaths=unconfined/;

interface Finding {
  readonly check: string;
  readonly status: string;
  readonly found: string;
  readonly fix?: string;
}

let data: string;
beforeAll(() => {
  data = mkdtempSync(join(tmpdir(), "advice-"));
});
afterAll(() => rmSync(data, { recursive: true }));

async function sandboxAfter(command: string): Promise<Finding | undefined> {
  const env = { PATH: process.env["PATH"], HOME: data, RLM_DATA: data, RLM_PYTHON: python };
  const output = await new Promise<string>((resolve) =>
    execFile("sh", ["-c", command], { env, cwd: "/" }, (_, stdout) => resolve(stdout)),
  );
  const { findings } = JSON.parse(output) as { readonly findings: readonly Finding[] };
  return findings.find(({ check }) => check === "sandbox");
}

// The last column is the fix outside of a container; those of a container are the same everywhere.
describe.skipIf(!isRoot).concurrent("doctor", { timeout: 60_000 }, () => {
  test.each([
    [
      "user.max_user_namespaces=0",
      `unshare -Ur sh -c "echo 0 > /proc/sys/user/max_user_namespaces; exec ${DOCTOR}"`,
      /failed to fork/,
      /sysctl user.max_user_namespaces=15000/,
    ],
    ["no /proc", `unshare -m sh -c "mount -t tmpfs none /proc; exec ${DOCTOR}"`, /not mounted/, /mount -t proc/],
    [
      "/proc with subset=pid",
      `unshare -mpf sh -c "mount -t proc -o subset=pid none /proc; exec ${DOCTOR}"`,
      /subset=pid/,
      /mount -t proc/,
    ],
    [
      "root that may not become another user",
      `setpriv --bounding-set=-all --inh-caps=-all ${DOCTOR}`,
      /it may not become another user/,
      isInContainer() ? IN_CONTAINER : /ordinary user/,
    ],
    [
      "a filter that denies user namespaces, as that of Docker does",
      emulated("clone+userns=EPERM,unshare+userns=EPERM"),
      /failed to fork/,
      isInContainer() ? IN_CONTAINER : /system call filter/,
    ],
    [
      "/proc that is covered in part, as in a container",
      `unshare -mpf sh -c "mount -t proc none /proc; mount -t tmpfs none /proc/tty; exec ${DOCTOR}"`,
      /failed to build the root.*'proc'/,
      isInContainer() ? IN_CONTAINER : /covered by other mounts/,
    ],
    [
      "privileges that are taken away in user namespaces, as Ubuntu does",
      emulated("mount=EPERM,sethostname=EPERM"),
      /failed to set the host name/,
      isInContainer() ? IN_CONTAINER : /apparmor_restrict_unprivileged_userns=0/,
    ],
  ])("says what to do: %s", async (_, command, found, fix) => {
    expect(await sandboxAfter(command)).toMatchObject({
      status: "fail",
      found: expect.stringMatching(found) as string,
      fix: expect.stringMatching(fix) as string,
    });
  });

  test("says what to do: a chroot", async () => {
    const shown = [
      "/usr",
      "/bin",
      "/lib",
      "/lib64",
      "/etc",
      "/dev",
      "/proc",
      join(import.meta.dirname, "../.."),
      dirname(process.execPath),
    ];
    const binds = shown.map((path) => `mkdir -p '${data}/root${path}'; mount --rbind '${path}' '${data}/root${path}';`);
    const command = `unshare -m sh -c "${binds.join(" ")} exec chroot '${data}/root' env RLM_DATA=/ ${DOCTOR}"`;
    expect(await sandboxAfter(command)).toMatchObject({
      status: "fail",
      found: expect.stringMatching(/failed to fork/) as string,
      fix: expect.stringMatching(/systemd-nspawn|docker run/) as string,
    });
  });

  test("takes fake root for an ordinary user", async () => {
    expect(await sandboxAfter(`unshare -Ur ${DOCTOR}`)).toMatchObject({ status: "ok" });
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
