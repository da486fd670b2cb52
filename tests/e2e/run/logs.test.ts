import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { RunEvent } from "../../../src/protocol/run-events.ts";
import { RunLogWriter } from "../../../src/store/runs/run-log.ts";
import {
  callEnd,
  callStart,
  codeEnd,
  nodeEnd,
  nodeStart,
  numberer,
  openRuns,
  record,
  recorded,
  runEnd,
  runStart,
  smallRun,
  toRunId,
  type Bare,
} from "../../store/runs/recorded-run.ts";
import { COMMAND, rlm, shell, start } from "../program.ts";
import { TestTerminal } from "../terminal.ts";

const ID = toRunId("r-0123456789abcdef");

/** A data folder with its folder of runs. */
function openData(): Disposable & { readonly folder: string; readonly env: Record<string, string> } {
  const data = openRuns();
  const folder = join(data.folder, "runs");
  mkdirSync(folder);
  return { folder, env: { RLM_DATA: data.folder, TZ: "UTC" }, [Symbol.dispose]: () => data[Symbol.dispose]() };
}

test("logs lists the runs, the latest first, and says how many it omits", async () => {
  using data = openData();
  for (const [at, name] of ["r-aaaa", "r-bbbb", "r-cccc"].entries()) {
    const id = toRunId(name);
    const ends = [{ status: "final" }, { status: "failed", stopReason: "error", answer: null }, {}] as const;
    const query = `Question ${at}\n\u001B]0;title\u0007 over ${"several ".repeat(20)}lines`;
    const events = [runStart(query), runEnd(id, ends[at])].map(numberer(id));
    await record(at === 2 ? events.slice(0, 1) : events, id, data);
  }
  expect(await rlm(["logs", "-n", "2"], data)).toEqual({
    code: 0,
    stdout: expect.stringMatching(
      new RegExp(
        String.raw`^ID      WHEN              STATUS  MODEL  TOKENS  COST     QUESTION
r-cccc  2026-01-02 03:04  broken  big    -       -        Question 2 over several several several several several sev…
r-bbbb  2026-01-02 03:04  failed  big    360     \$0\.0036  Question 1 .*
1 more: rlm logs -n 3
$`,
      ),
    ) as unknown,
    stderr: "",
  });
});

test("logs --json prints one object and nothing else", async () => {
  using data = openData();
  expect(JSON.parse((await rlm(["logs", "--json"], data)).stdout)).toEqual({ runs: [], total: 0 });
  await record(smallRun(ID), ID, data);
  const { code, stdout, stderr } = await rlm(["logs", "--json"], data);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(JSON.parse(stdout)).toMatchObject({ runs: [{ id: ID, status: "final", usage: { tokens: 360 } }], total: 1 });
});

test("logs without runs says so", async () => {
  using data = openData();
  expect(await rlm(["logs"], data)).toEqual({ code: 0, stdout: "no runs are recorded yet\n", stderr: "" });
});

test("logs show prints a tree, with the child where it started", async () => {
  using data = openData();
  await record(smallRun(ID), ID, data);
  const { code, stdout, stderr } = await rlm(["logs", "show", "r-01"], data);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(stdout.split("\n").slice(1).join("\n")).toBe(`n0  big
  How many?
  n0 context  context: text, 1.9 MiB
  n0 step 1  big  100 in, 20 out, $0.0012, 1.4 s
    I look.
  n0 code
    print(len(context))
    n1  big
      Count the first half
      n1 context  context: text, 1.9 MiB
      n1 step 1  big  100 in, 20 out, $0.0012, 1.4 s, failed: Cannot get an answer from scripted: 500
      n1 final  100 in, 20 out, $0.0012
        21
  n0 query  small  100 in, 20 out, cost unknown, 400 ms
    prompt  How many are in the first half?
    answer  A hundred.
  n0 tool file_read  {"path":"notes.txt"}  ok, 2 ms
    {"text":"seven"}
  n0 output  ok, 3 ms
    2000000
  n0 limit  tokens: 8,000 of 10,000 used
  n0 final  100 in, 20 out, $0.0012
final  3 calls, 100 in, 20 out, $0.0036, 8.2 s
  42
`);
});

test("logs show has the prompt and the answer of each sub-call on one line, and --full has all of them", async () => {
  using data = openData();
  const prompts = ["Who came?", `Copy every line about lanterns.\n${"Day 1: fog.\n".repeat(1000)}The end`];
  const sub = (at: number) => ({ nodeId: "n0", callId: `c${at + 1}` });
  const starts = prompts.map((content, at) =>
    callStart({
      ...sub(at),
      purpose: "query",
      model: "small",
      messages: [
        { role: "system", content: "Be brief." },
        { role: "user", content },
      ],
      batch: { id: "b1", ordinal: at + 1, size: 2 },
    }),
  );
  const ends = ["Nobody.", `Lanterns:\n${"- a lantern\n".repeat(400)}last`].map((text, at) =>
    callEnd({ ...sub(at), text }),
  );
  const wait: Bare = {
    type: "model-call-wait",
    ...sub(1),
    fault: "rate-limit",
    delayMs: 2000,
    attempts: 1,
    error: "Cannot get an answer from openai: too many requests",
  };
  const events = [runStart(), nodeStart("n0", null), ...starts, wait, ...ends, nodeEnd("n0", "42"), runEnd(ID)];
  await record(events.map(numberer(ID)), ID, data);
  const brief = (await rlm(["logs", "show", ID], data)).stdout;
  expect(brief).toContain(`  n0 wait  rate-limited, trying again in 2 s
  n0 query 1 of 2  small  100 in, 20 out, $0.0012, 1.4 s
    prompt  Who came?
    answer  Nobody.
  n0 query 2 of 2  small  100 in, 20 out, $0.0012, 1.4 s
    prompt  Copy every line about lanterns. Day 1: fog. Day 1: fog. `);
  expect(brief).toMatch(/\n {4}answer {2}Lanterns: - a lantern - a lantern .*…\n/);
  expect(brief).not.toContain("Be brief.");
  for (const line of brief.split("\n").slice(1)) expect(line.length).toBeLessThanOrEqual(120);
  const full = (await rlm(["logs", "show", ID, "--full"], data)).stdout;
  for (const text of ["n0 user to small, 2 of 2\n", "    The end\n", "    last\n", "Be brief.", "too many requests"])
    expect(full).toContain(text);
});

test("logs show truncates long texts, and --full does not", async () => {
  using data = openData();
  const code = Array.from({ length: 1000 }, (_, n) => `line_${n} = ${n}`).join("\n");
  const messages = [{ role: "system", content: "You have a REPL." }];
  const events: Bare[] = [
    runStart(),
    nodeStart("n0", null),
    callStart({ nodeId: "n0", callId: "c1", messages }),
    callEnd({ nodeId: "n0", callId: "c1", reasoning: "Let me think.", text: `So:\n\`\`\`\n${code}\n\`\`\`` }),
    { type: "code-start", nodeId: "n0", step: 1, code },
    codeEnd("n0", 1, "x".repeat(5000)),
    { type: "step-end", nodeId: "n0", step: 1, observation: "now go on" },
    callStart({ nodeId: "n0", callId: "c2", messages: [...messages, { role: "user", content: "now go on" }] }),
    callEnd({ nodeId: "n0", callId: "c2" }),
    nodeEnd("n0", "42"),
    runEnd(ID),
  ];
  await record(events.map(numberer(ID)), ID, data);
  const brief = (await rlm(["logs", "show", ID], data)).stdout;
  expect(brief).toContain("    line_7 = 7\n    … 988 more lines …\n    line_996 = 996\n");
  expect(brief).toContain("x… 4800 more characters\n");
  expect(brief.length).toBeLessThan(2000);
  const full = (await rlm(["logs", "show", ID, "--full"], data)).stdout;
  for (const text of ["line_500 = 500", "x".repeat(5000), "(Let me think.)", "You have a REPL.", "now go on"])
    expect(full).toContain(text);
  expect(full.split("You have a REPL.")).toHaveLength(2); // earlier messages are not repeated
});

test("logs show --json prints the events, one per line, and nothing else", async () => {
  using data = openData();
  const events = recorded(smallRun(ID));
  await record(events, ID, data);
  for (const args of [
    ["show", ID, "--json"],
    ["--json", "show", ID],
    ["show", ID, "--json", "--follow"],
  ]) {
    const { code, stdout, stderr } = await rlm(["logs", ...args], data);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(
      stdout
        .trimEnd()
        .split("\n")
        .map((line) => JSON.parse(line) as RunEvent),
    ).toEqual(events);
  }
});

test("logs show --follow shows events as they happen, and ends with the run", async () => {
  using data = openData();
  const events = recorded(smallRun(ID));
  const at = events.findIndex(({ type }) => type === "code-start");
  await using log = new RunLogWriter(ID, data);
  for (const event of events.slice(0, at)) log.write(event);
  await log.recordContext("context", { bytes: Buffer.from("x") }); // all earlier events are written by then
  await using program = start(["logs", "show", ID, "--follow"], data);
  await program.until(/n0 step 1/);
  expect(program.text("stdout")).not.toContain("n0 code");
  for (const event of events.slice(at)) log.write(event);
  await program.until(/n0 output {2}ok/);
  await log.close();
  const { code, stdout, stderr } = await program.ended;
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(stdout).toMatch(/\nfinal {2}3 calls.*\n {2}42\n$/);
});

test("Ctrl-C stops --follow with 130", async () => {
  using data = openData();
  await using log = new RunLogWriter(ID, data);
  for (const event of smallRun(ID).slice(0, 6)) log.write(event);
  await log.recordContext("context", { bytes: Buffer.from("x") });
  await using program = start(["logs", "show", ID, "--follow"], data);
  await program.until(/n0 step 1/);
  program.signal("SIGINT");
  expect(await program.ended).toMatchObject({ code: 130, stderr: "" });
});

test("running and broken runs are shown as far as they are recorded", async () => {
  using data = openData();
  await using log = new RunLogWriter(ID, data);
  for (const event of smallRun(ID).slice(0, 6)) log.write(event);
  await log.recordContext("context", { bytes: Buffer.from("x") });
  expect((await rlm(["logs", "show", ID], data)).stdout).toContain(
    `it is still running: rlm logs show ${ID} --follow\n`,
  );
  await log.close();
  expect((await rlm(["logs", "show", ID, "--follow"], data)).stdout).toMatch(/\nbroken: .*\n$/);
});

test.each([
  [["show", "r-"], "rlm: cannot find run 'r-': 2 begin so: r-"],
  [["show", "../x"], "rlm: cannot find run '../x': there is none in"],
  [["show"], "rlm: missing required argument 'id'"],
  [["-n", "many"], "It must be a whole number"],
])("logs %j is wrong usage", async (args, message) => {
  using data = openData();
  for (const name of ["r-a", "r-b"]) await record(smallRun(toRunId(name)), toRunId(name), data);
  const { code, stdout, stderr } = await rlm(["logs", ...args], data);
  expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
  expect(stderr).toContain(message);
  expect(stderr.trimEnd().split("\n")).toHaveLength(1);
});

test("the content of a log cannot control the terminal, and NO_COLOR is honoured", async () => {
  using data = openData();
  const evil = "\u001B]0;title\u0007\u001B[2J\u009B2Jplain";
  const events = [runStart(evil), nodeStart("n0", null, evil), codeEnd("n0", 1, evil), runEnd(ID, { answer: evil })];
  await record(events.map(numberer(ID)), ID, data);
  const written = async (env: Record<string, string>): Promise<string> => {
    await using terminal = new TestTerminal(["logs", "show", ID], { env: { ...data.env, ...env } });
    await terminal.ended;
    return terminal.raw;
  };
  const coloured = await written({});
  expect(coloured).toContain("plain");
  expect(coloured).toContain("\u001B[1");
  for (const command of ["title", "\u001B[2J", "\u009B"]) expect(coloured).not.toContain(command);
  expect(await written({ NO_COLOR: "1" })).not.toContain("\u001B");
  expect((await rlm(["logs", "show", ID], { env: { ...data.env, NO_COLOR: "" } })).stdout).not.toContain("\u001B");
});

test("it exits when its reader is gone", async () => {
  using data = openData();
  await record(smallRun(ID), ID, data);
  await using program = shell(`RLM_DATA=${data.env["RLM_DATA"]} ${COMMAND} logs show ${ID} | head -1`);
  expect(await program.ended).toMatchObject({ code: 0, stderr: "" });
});
