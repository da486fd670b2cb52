import { expect, test } from "vitest";
import { hintsOf, type Seen } from "../../../src/cli/bench/hints.ts";

const IDLE: Seen = {
  load: 0.1,
  cores: 2,
  kernel: "6.1.0-13-amd64 #1 SMP Debian",
  hasLockChecks: false,
  tier: "A",
  isDebugPython: false,
  pythonShim: undefined,
};

test("what is visible is named: a busy machine, a weak tier, debug builds, a script in place of Python", () => {
  expect(hintsOf({ ...IDLE, load: 12.34 })).toEqual([
    "The machine is busy: load 12.3 on 2 cores. Try again when it is idle.",
  ]);
  expect(hintsOf({ ...IDLE, tier: "C" })[0]).toMatch(/^The sandbox is tier C/);
  expect(hintsOf({ ...IDLE, tier: "A-no-landlock" })[0]).toMatch(/^No reason is visible/);
  expect(hintsOf({ ...IDLE, hasLockChecks: true })[0]).toMatch(/^The kernel is a debug build/);
  expect(hintsOf({ ...IDLE, kernel: "6.1.0 #1 SMP PREEMPT_DEBUG" })[0]).toMatch(/^The kernel is a debug build/);
  expect(hintsOf({ ...IDLE, kernel: "5.15.90-microsoft-standard" })[0]).toMatch(/^This is WSL/);
  expect(hintsOf({ ...IDLE, isDebugPython: true, pythonShim: "/shims/python3" })).toEqual([
    "Python is a debug build. Choose another with --python or RLM_PYTHON.",
    "Python starts by way of the script /shims/python3. RLM_PYTHON can name the interpreter.",
  ]);
});

test("where nothing is visible, the next step is named", () => {
  expect(hintsOf(IDLE)).toEqual(["No reason is visible from here. 'rlm doctor' checks the sandbox."]);
});
