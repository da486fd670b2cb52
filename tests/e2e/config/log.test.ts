// --log-level and --log-file: options of every command.

import { readFileSync, statSync } from "node:fs";
import { expect, test } from "vitest";
import { Folder } from "../../config/folder.ts";
import { rlm, start } from "../program.ts";

type Line = Readonly<Record<string, unknown>>;

function parse(text: string): Line[] {
  return text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Line);
}

const CODE = "planted_name = 1; print('planted' + '-output')";

test("the log of exec has the session, the execution and its processes, but neither code nor output", async () => {
  const { code, stdout, stderr } = await rlm(["exec", "--log-level", "info", "-e", "A=planted-value", "-c", CODE]);
  expect([code, stdout]).toEqual([0, "planted-output\n"]);
  expect(stderr).not.toContain("planted");
  const lines = parse(stderr);
  expect(lines.map(({ event }) => event)).toEqual(
    expect.arrayContaining([
      "command-start",
      "process-start",
      "session-open",
      "execution-start",
      "execution-end",
      "session-close",
      "process-end",
    ]),
  );
  expect(lines.at(0)).toMatchObject({ event: "command-start", command: "exec", level: "info" });
  expect(lines.find(({ event }) => event === "execution-end")).toMatchObject({
    sessionId: "exec",
    status: "ok",
    durationMs: expect.any(Number),
  });
  const servers = lines.filter(({ kind }) => kind === "fork-server");
  expect(servers.map(({ event, id }) => [event, id])).toEqual([
    ["process-start", servers[0]?.["id"]],
    ["process-end", servers[0]?.["id"]],
  ]);
  expect(lines.filter(({ kind }) => kind === "worker")).toEqual([]);
  expect(lines.at(-1)).toMatchObject({ event: "command-end", exitCode: 0, durationMs: expect.any(Number) });
});

test("at level debug it has the code and the processes of the sandbox, but no output", async () => {
  const { stderr } = await rlm(["--log-level", "debug", "exec", "-c", CODE]);
  expect(parse(stderr)).toContainEqual(expect.objectContaining({ event: "execution-start", code: CODE }));
  expect(parse(stderr)).toContainEqual(expect.objectContaining({ event: "process-start", kind: "worker" }));
  expect(stderr).not.toContain("planted-output");
});

test("a file gets the log instead, readable by its user only; an error is in it", async () => {
  using folder = new Folder();
  const path = folder.at("rlm.log");
  await rlm(["exec", "-c", "1"], { env: { RLM_LOG_FILE: path } });
  const failed = await rlm(["exec", "--log-file", path, "--python", "/nowhere", "-c", "1"]);
  expect([failed.code, failed.stderr.trimEnd().split("\n").length]).toEqual([70, 1]);
  const lines = parse(readFileSync(path, "utf8"));
  expect(lines.filter(({ event }) => event === "command-end")).toEqual([
    expect.objectContaining({ level: "info", exitCode: 0 }),
    expect.objectContaining({ level: "error", exitCode: 70, error: expect.stringContaining("'/nowhere'") }),
  ]);
  expect(statSync(path).mode & 0o777).toBe(0o600);
});

test("the log of a run has its start, its end and what it cost, but no question", async () => {
  const { stderr } = await rlm(["run", "--demo", "--quiet", "--log-level", "info"]);
  const lines = parse(stderr);
  expect(lines).toContainEqual(expect.objectContaining({ event: "run-start", model: "demo" }));
  expect(lines).toContainEqual(
    expect.objectContaining({ event: "run-end", status: "final", tokens: expect.any(Number) }),
  );
  expect(stderr).not.toContain("lantern");
});

test.each([["init"], ["logs"], ["config path"], ["config show"], ["doctor"], ["help"], ["mcp install cursor --print"]])(
  "rlm %s writes a log when asked, and nothing of it on stdout",
  async (words) => {
    using folder = new Folder();
    const env = { HOME: folder.path, RLM_LOG_LEVEL: "info" };
    const { stdout, stderr } = await rlm(words.split(" "), { cwd: folder.path, env });
    expect(stdout).not.toContain("command-start");
    const name = words.replace(/ cursor.*/, "");
    expect(stderr).toContain(`"command":"${name}"`);
    expect(stderr).toContain('"event":"command-end"');
  },
);

test.each([["exec"], ["run"], ["serve"], ["sessions"], ["config", "show"]])(
  "the help of %s has them",
  async (...names) => {
    const { stdout } = await rlm([...names, "--help"]);
    for (const option of ["--log-level", "--log-format", "--log-file"]) expect(stdout).toContain(`  ${option} <`);
  },
);

test.each([
  [["exec", "--log-level", "loud", "-c", "1"], {}, /argument 'loud' is invalid/],
  [["exec", "-c", "1"], { RLM_LOG_LEVEL: "loud" }, /^rlm: RLM_LOG_LEVEL must be one of error, warn, info, debug\n$/],
  [["exec", "--log-file", "/nowhere/x", "-c", "1"], {}, /^rlm: cannot write the log to '\/nowhere\/x': /],
])("%j with %j is wrong usage", async (args, env, line) => {
  expect(await rlm(args, { env })).toEqual({
    code: 2,
    stdout: "",
    stderr: expect.stringMatching(line),
  });
});

test("mcp-serve logs to standard error, and stdout stays for messages", async () => {
  await using program = start(["mcp-serve", "--log-level", "info"]);
  const { code, stdout, stderr } = await program.ended;
  expect([code, stdout]).toEqual([0, ""]);
  expect(parse(stderr).map(({ event }) => event)).toEqual(["command-start", "command-end"]);
});
