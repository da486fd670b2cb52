import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { rlm, type Ended } from "../program.ts";

let cwd: string;
beforeAll(() => {
  cwd = realpathSync(mkdtempSync(join(tmpdir(), "rlm-cwd-")));
  for (const name of ["data/2024", "other/data", "alone"]) mkdirSync(join(cwd, name), { recursive: true });
  writeFileSync(join(cwd, "data", "2024", "sales.csv"), "1,2\n");
});
afterAll(() => rmSync(cwd, { recursive: true, force: true }));

const LIST = "import os; print(sorted(os.listdir()))";
const exec = (...args: string[]): Promise<Ended> => rlm(["exec", ...args, "-c", LIST], { cwd });

test("a mounted folder is at its name in the working directory", async () => {
  const read = "print(open('data/2024/sales.csv').read())";
  expect(await rlm(["exec", "--mount", "./data", "-c", read], { cwd })).toEqual({
    code: 0,
    stdout: "1,2\n\n",
    stderr: "",
  });
});

test("--cwd is a folder in a mount, by its path here or in the session", async () => {
  for (const path of ["data/2024", "./data/2024", join(cwd, "data/2024")]) {
    expect(await exec("--mount", "data", "--cwd", path)).toEqual({ code: 0, stdout: "['sales.csv']\n", stderr: "" });
  }
  const elsewhere = ["exec", "--mount", join(cwd, "data"), "--cwd", "data/2024", "-c", LIST];
  expect(await rlm(elsewhere, { cwd: join(cwd, "alone") })).toMatchObject({ code: 0, stdout: "['sales.csv']\n" });
});

test("--cwd may be a folder of the session itself", async () => {
  expect(await exec("--cwd", "/tmp")).toEqual({ code: 0, stdout: "[]\n", stderr: "" });
});

test.each(["alone", "."])("--cwd %s, which is not mounted, says how to mount it", async (path) => {
  expect(await exec("--cwd", path)).toEqual({
    code: 2,
    stdout: "",
    stderr: `rlm: cannot start in '${path}': code does not see this folder of the machine. Add --mount ${path}, or --mount ${path}:rw to write to it\n`,
  });
});

test("--cwd with the absolute path of a folder that is not mounted says the same", async () => {
  const path = join(cwd, "alone");
  expect(await exec("--cwd", path)).toMatchObject({ code: 2, stderr: expect.stringContaining(`Add --mount ${path}`) });
});

test("--cwd that is nowhere is wrong usage", async () => {
  expect(await exec("--cwd", "nowhere")).toEqual({
    code: 2,
    stdout: "",
    stderr:
      "rlm: cannot open session 'exec': there is no folder 'nowhere' in it. A folder of the host must be mounted\n",
  });
  expect(await exec("--cwd", "")).toMatchObject({ code: 2, stderr: "rlm: --cwd needs a path\n" });
});

test("of two mounts with one name the first has it, and stderr says so", async () => {
  const [first, second] = [join(cwd, "data"), join(cwd, "other", "data")];
  expect(await exec("--mount", "data", "--mount", "other/data")).toEqual({
    code: 0,
    stdout: "['data']\n",
    stderr: `rlm: 'data' in the working directory is ${first}, so ${second} is only at its own path\n`,
  });
});

test("rlm repl takes --cwd", async () => {
  const stdin = "import os; sorted(os.listdir())\n";
  const args = ["repl", "--mount", "data", "--cwd", "data/2024"];
  expect(await rlm(args, { cwd, stdin })).toEqual({ code: 0, stdout: "['sales.csv']\n", stderr: "" });
  expect(await rlm(["repl", "--cwd", "alone"], { cwd })).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("Add --mount alone"),
  });
});
