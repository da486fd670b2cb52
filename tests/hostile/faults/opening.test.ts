// Each system call that builds a wall of a new sandbox is made to fail, and to do nothing although it reports success.

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { FaultStage } from "./fault-stage.ts";
import { whyNoStrace, type Call } from "./strace.ts";

/** A call of the init, by its name and its arguments as strace shows them, and the step that it belongs to. */
const WALLS: readonly (readonly [name: string, text: RegExp, step: string])[] = [
  ["sethostname", /./, "set the host name"],
  ["mount", /MS_PRIVATE/, "build the root"],
  ["open_tree", /"\/usr"/, "build the root"],
  ["mount_setattr", /RDONLY/, "build the root"],
  ["mount", /^"tmpfs", "\/tmp"/, "build the root"],
  ["mount", /^"proc"/, "build the root"],
  ["mount", /^"tmpfs", "store"/, "build the root"],
  ["mount", /^"store\/work"/, "build the root"],
  ["umount2", /^"store"/, "build the root"],
  ["move_mount", /"usr"/, "build the root"],
  ["pivot_root", /./, "build the root"],
  ["umount2", /^"\."/, "build the root"],
  ["mount", /MS_RDONLY/, "build the root"],
  ["unshare", /CLONE_NEWCGROUP/, "join a cgroup"],
  ["prctl", /CAP_SYS_ADMIN/, "drop privileges"],
  ["capset", /./, "drop privileges"],
  ["prctl", /PR_SET_NO_NEW_PRIVS/, "drop privileges"],
  ["landlock_create_ruleset", /./, "restrict with Landlock"],
  ["landlock_add_rule", /./, "restrict with Landlock"],
  ["landlock_restrict_self", /./, "restrict with Landlock"],
  ["prctl", /PR_SET_SECCOMP/, "install the system call filter"],
  ["prctl", /SUID_DUMP_DISABLE/, "keep other processes from looking into it"],
];
/** Where there are cgroups of version 1. Other files get a zero, too, before that. */
const CGROUP_WALL = ["write", /^\d+, "0", 1/, "join a cgroup"] as const;
const why = whyNoStrace();

describe.skipIf(why !== undefined)(`a wall that cannot be built${why === undefined ? "" : ` (${why})`}`, () => {
  let stage: FaultStage;
  let calls: readonly Call[];
  let walls = WALLS;
  beforeAll(async () => {
    stage = await FaultStage.open();
    calls = await stage.callsOfInit();
    if (stage.runtime.report().cgroup === 1) walls = [...WALLS, CGROUP_WALL];
  });
  afterAll(() => stage?.[Symbol.asyncDispose]());

  test("each step that fails refuses the session, by its name", async () => {
    for (const [name, text, step] of walls) {
      const { refusal } = await stage.openWith({ call: name, when: whenOf(name, text), how: "error=ENOMEM" });
      expect(refusal, `${name} ${text}`).toContain(`failed to ${step}: [Errno 12] Cannot allocate memory`);
    }
  });

  test("each step that does nothing, and reports success, refuses the session", async () => {
    for (const [name, text] of walls) {
      const { refusal, gaps } = await stage.openWith({ call: name, when: whenOf(name, text), how: "retval=0" });
      expect(gaps, `${name} ${text}`).toEqual([]);
      // The mounts of this machine may be private as they are.
      if (text.source !== "MS_PRIVATE") expect(refusal, `${name} ${text}`).toContain("failed to");
    }
  });

  test("nothing is left of all that, and the next session is confined like any other", async () => {
    expect(await stage.leftovers()).toEqual([]);
    await using session = await stage.runtime.openSession();
    expect(await stage.gapsOf(session)).toEqual([]);
  });

  function whenOf(name: string, text: RegExp): number {
    const isWanted = (call: Call): boolean => call.name === name && text.test(call.text);
    const call = text === CGROUP_WALL[1] ? calls.findLast(isWanted) : calls.find(isWanted);
    return call?.when ?? expect.fail(`the init made no call ${name}(${text})`);
  }
});
