import { expect, test } from "vitest";
import { rlm } from "./program.ts";

interface Report {
  readonly usable: boolean;
  readonly findings: readonly { readonly check: string; readonly status: string; readonly fix?: string }[];
}

test("doctor tries the sandbox and finds this machine usable", async () => {
  const { code, stdout, stderr } = await rlm(["doctor"]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(stdout).toMatch(/^ok {4}sandbox {6}tier A, first session in \d+ ms/m);
  expect(stdout).toMatch(/\nSessions can be used here\.\n$/);
});

test("doctor --json prints one object and nothing else", async () => {
  const { code, stdout, stderr } = await rlm(["doctor", "--json"]);
  const { usable, findings } = JSON.parse(stdout) as Report;
  expect({ code, stderr, usable }).toEqual({ code: 0, stderr: "", usable: true });
  expect(findings.map(({ check }) => check)).toEqual(
    expect.arrayContaining([
      "node",
      "python",
      "sandbox",
      "landlock",
      "memory",
      "data folder",
      "disk",
      "port",
      "docker",
      "limits",
    ]),
  );
  expect(findings.filter(({ status, fix }) => (status === "ok") !== (fix === undefined))).toEqual([]);
});

test("doctor says what is broken, how to fix it, and ends with 1", async () => {
  const { code, stdout } = await rlm(["doctor"], { env: { RLM_PYTHON: "/nowhere/python" } });
  expect(code).toBe(1);
  expect(stdout).toMatch(/^fail {2}python .*\n +fix: Install Python 3\.9/m);
  expect(stdout).toMatch(/\nSessions cannot be used here yet\.\n$/);
});
