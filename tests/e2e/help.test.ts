import { expect, test } from "vitest";
import { VERSION } from "../../src/util/version.ts";
import { rlm } from "./program.ts";

test("help prints what --help prints, for every command", async () => {
  for (const names of [[], ["exec"], ["sessions"], ["sessions", "open"], ["logs", "ls"]]) {
    const { stdout } = await rlm([...names, "--help"]);
    expect(stdout).toContain("Usage: rlm");
    expect(await rlm(["help", ...names])).toEqual({ code: 0, stdout, stderr: "" });
  }
});

test("help of a command that does not exist suggests one", async () => {
  expect(await rlm(["help", "sesions"])).toEqual({
    code: 2,
    stdout: "",
    stderr: "rlm: there is no help for 'sesions'. Did you mean 'sessions'?\n",
  });
  expect(await rlm(["help", "sessions", "frobnicate"])).toEqual({
    code: 2,
    stdout: "",
    stderr: "rlm: there is no help for 'frobnicate'. Run 'rlm help' to see the commands\n",
  });
});

test("version prints the version and nothing else", async () => {
  expect(await rlm(["version"])).toEqual({ code: 0, stdout: `${VERSION}\n`, stderr: "" });
  expect(await rlm(["version", "--help"])).toMatchObject({ code: 0, stdout: expect.stringContaining("Usage") });
  expect(await rlm(["version", "extra"])).toMatchObject({ code: 2, stdout: "" });
});

test("help says the options of the log once", async () => {
  for (const args of [["help"], ["help", "exec"]]) {
    const { stdout } = await rlm(args);
    expect(stdout.split("--log-level ")).toHaveLength(2);
  }
});
