import { readFileSync } from "node:fs";
import { expect, test, vi } from "vitest";
import type { RunResult } from "../../../src/protocol/runs.ts";
import { Folder } from "../../config/folder.ts";
import { makeDataFolder } from "../../make-data-folder.ts";
import { countProcesses, uniqueSleep } from "../processes.ts";
import { start, type Ended, type Program } from "../program.ts";

interface Rule {
  readonly match?: string;
  readonly reply: string | { readonly text?: string; readonly delayMs?: number };
  readonly times?: number;
}

const fenced = (code: string): string => `\`\`\`repl\n${code}\n\`\`\``;

interface RunOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly stdin?: string;
  readonly unread?: true;
}

/** Without keys, configuration or data of the user. */
function run(folder: Folder, args: readonly string[], { env = {}, stdin = "", ...rest }: RunOptions = {}): Program {
  const own = {
    HOME: folder.path,
    RLM_DATA: makeDataFolder(folder.at("data")),
    OPENAI_API_KEY: "",
    ANTHROPIC_API_KEY: "",
  };
  return start(["run", ...args], { cwd: folder.path, env: { ...own, ...env }, stdin, ...rest });
}

/** With a scripted model. */
function ask(folder: Folder, rules: readonly Rule[], args: readonly string[], stdin = ""): Program {
  folder.write("script.json", JSON.stringify({ rules }));
  const scripted = ["--backend", "scripted", "--model", folder.at("script.json"), "--mode", "rlm"];
  return run(folder, ["What is it?", ...scripted, ...args], { stdin });
}

const DESCRIBE = [{ reply: fenced("FINAL(repr(context))") }];

test("--demo answers without any configuration; stdout has only the answer", async () => {
  using folder = new Folder();
  const { code, stdout, stderr } = await run(folder, ["--demo"]).ended;
  expect({ code, stdout }).toEqual({ code: 0, stdout: "Brigid: 40 lanterns; Corvus: 75 lanterns\n" });
  expect(stderr).toMatch(/^context: the log of a harbour, [\d.]+ KiB\nn0 starts: Which ships/);
  expect(stderr).toMatch(/\nn0 0 of \d answered\n/);
  expect(stderr).toMatch(/\n {2}n1 starts: Add up/);
  expect(stderr).toMatch(
    /\nfinal · 2 nodes · \d+ calls · [\d.,k]+ tokens · \$0\.\d+ · root \$0\.\d+ · nodes below \$0\.\d+ · llm_query \$0\.\d+ · [\d.]+ s · run \S+\n$/,
  );
});

test("--json prints the result as one object and nothing else; --quiet says nothing on stderr", async () => {
  using folder = new Folder();
  const { code, stdout, stderr } = await run(folder, ["--demo", "--json", "--quiet"]).ended;
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  const result = JSON.parse(stdout) as RunResult;
  expect(result).toMatchObject({
    status: "final",
    stopReason: "answered",
    answer: "Brigid: 40 lanterns; Corvus: 75 lanterns",
  });
  expect(Object.keys(result.usage.byNode)).toEqual(["n0", "n1"]);
});

test("contexts are variables as documented", async () => {
  using folder = new Folder({ "a.txt": "A\r\n", "b.json": '{"n": [1, 2]}', "c/d.md": "D", "c/.git/x": "x" });
  const answer = (args: readonly string[], stdin?: string): Promise<Ended> => ask(folder, DESCRIBE, args, stdin).ended;
  expect((await answer(["--context", "a.txt"])).stdout).toBe("'A\\r\\n'\n");
  expect((await answer(["--context", "b.json"])).stdout).toBe("{'n': [1, 2]}\n");
  const several = await answer(["--context", "a.txt", "c"]);
  expect(several.stdout).toBe("{'a.txt': 'A\\r\\n', 'c/d.md': 'D'}\n");
  expect(several.stderr).toContain("rlm: not in the context: .git folders (1)\n");
  expect((await answer(["--context", "*.txt"])).stdout).toBe("{'a.txt': 'A\\r\\n'}\n");
  expect((await answer(["--context", "-"], "in\n")).stdout).toBe("'in\\n'\n");
});

test("at a limit the best answer is printed with exit code 3", async () => {
  using folder = new Folder();
  const rules = [{ match: "The work has to end", reply: "about 40" }, { reply: fenced("print(1)") }];
  const { code, stdout, stderr } = await ask(folder, rules, ["--max-iterations", "2"]).ended;
  expect({ code, stdout }).toEqual({ code: 3, stdout: "about 40\n" });
  expect(stderr).toMatch(/\nrlm: the answer is not complete: /);
});

test("each role has its own model, and code may ask those of rlm.toml by name", async () => {
  const script = (...rules: readonly Rule[]): string => JSON.stringify({ rules });
  using folder = new Folder({
    "root.json": script({
      reply: fenced("FINAL([llm_query('?'), llm_query('?', model='careful'), rlm_query('part')])"),
    }),
    "sub.json": script({ reply: "of the sub-model" }),
    "child.json": script({ reply: fenced("FINAL('of a child')") }),
    "careful.json": script({ reply: "of a careful one" }),
    "rlm.toml":
      '[rlm]\nsub_model = "files/sub.json"\n[models.careful]\nbackend = "files"\nmodel = "careful.json"\n[backends.files]\ntype = "scripted"\n',
  });
  const models = ["--model", "scripted/root.json", "--child-model", "files/child.json"];
  const { code, stdout, stderr } = await run(folder, ["?", ...models, "--mode", "rlm", "--json"]).ended;
  expect({ code, stderr: stderr.includes("rlm:") }).toEqual({ code: 0, stderr: false });
  const { data, usage } = JSON.parse(stdout) as RunResult;
  expect(data).toEqual(["of the sub-model", "of a careful one", "of a child"]);
  expect(Object.keys(usage.byModel)).toEqual(["scripted/root.json", "files/sub.json", "careful", "files/child.json"]);
});

test("a run that fails exits with 1 and says why; with --json the result says it", async () => {
  using folder = new Folder();
  const plain = await ask(folder, [], []).ended;
  expect(plain).toMatchObject({ code: 1, stdout: "" });
  expect(plain.stderr).toMatch(/rlm: the run failed: .*no rule of the script matches/);
  const json = await ask(folder, [], ["--json"]).ended;
  expect(json.code).toBe(1);
  expect(JSON.parse(json.stdout)).toMatchObject({ status: "failed", answer: null });
});

test("a context that does not fit into --memory is refused with what to set, before a model is asked", async () => {
  using folder = new Folder();
  folder.write("large.txt", Buffer.alloc(70 * 2 ** 20, "a"));
  const { code, stderr } = await ask(folder, DESCRIBE, ["--context", "large.txt", "--memory", "64m"]).ended;
  expect(code).toBe(1);
  expect(stderr).toMatch(/\nfailed · 1 node · 0 calls · /);
  expect(stderr).toContain(
    'Cannot load the context: it takes 86.0 MiB of memory and a session has 64.0 MiB. Set more: memory = "192m"',
  );
});

test("an answer follows the schema, and a wrong schema is refused", async () => {
  using folder = new Folder({
    "schema.json": '{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}',
    "no.json": "[]",
  });
  const rules = [{ match: "was not accepted", reply: fenced("SUBMIT(n=2)") }, { reply: fenced("SUBMIT(n='two')") }];
  const { code, stdout } = await ask(folder, rules, ["--schema", "schema.json", "--json"]).ended;
  expect(code).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({ status: "final", data: { n: 2 } });
  expect(await ask(folder, rules, ["--schema", "no.json"]).ended).toMatchObject({
    code: 2,
    stderr: "rlm: cannot use the schema 'no.json': a JSON Schema is an object\n",
  });
});

test.each([
  ["no question", [], /nothing to answer: the question comes first/],
  ["no model", ["Why?"], /no model is chosen: give --model, set RLM_MODEL, or write it into rlm\.toml/],
  ["no key", ["Why?", "--model", "gpt-5-mini"], /there is no key\. Set OPENAI_API_KEY/],
  ["an unknown backend", ["Why?", "--model", "m", "--backend", "opnai"], /there is no backend 'opnai'/],
  [
    "no such context",
    ["Why?", "--model", "m", "--context", "gone.txt"],
    /cannot take 'gone\.txt' as context: there is no such file/,
  ],
  [
    "a glob of nothing",
    ["Why?", "--model", "m", "--context", "*.log"],
    /cannot take '\*\.log' as context: it matches no text files/,
  ],
  ["a wrong number", ["Why?", "--max-depth", "few"], /It must be a whole number of at least 0/],
  ["a question for the demo", ["Why?", "--demo"], /--demo brings its own question/],
  ["two questions", ["Why?", "How?"], /too many arguments/],
])("%s: exit code 2, one line that says what to do", async (_, args, message) => {
  using folder = new Folder();
  const { code, stdout, stderr } = await run(folder, args).ended;
  expect({ code, stdout, lines: stderr.split("\n").length }).toEqual({ code: 2, stdout: "", lines: 2 });
  expect(stderr).toMatch(message);
});

test("a changed script is not answered from the cache", async () => {
  using folder = new Folder();
  for (const answer of ["one", "two"]) {
    const { stdout } = await ask(folder, [{ reply: answer }], ["--mode", "direct"]).ended;
    expect(stdout).toBe(`${answer}\n`);
  }
});

test("a mistake in rlm.toml is named with its line before anything starts", async () => {
  using folder = new Folder({ "rlm.toml": "[rlm]\nmodel = 'm'\nmax_dept = 2\n" });
  const { code, stderr } = await run(folder, ["Why?"]).ended;
  expect(code).toBe(2);
  expect(stderr).toBe(
    `rlm: cannot use ${folder.at("rlm.toml")}:3: there is no 'rlm.max_dept'; did you mean max_depth?\n`,
  );
});

test("rlm.toml and .env are used, and a key in .env is never printed", async () => {
  using folder = new Folder({
    "rlm.toml":
      "[rlm]\nmodel = 'm'\nbackend = 'mine'\n[backends.mine]\ntype = 'openai-compatible'\nbase_url = 'http://127.0.0.1:1/v1?tag=of-mine'\napi_key_env = 'MINE'",
    ".env": "MINE=sk-secret-of-mine",
  });
  const { code, stdout, stderr } = await run(folder, ["Why?", "--timeout", "1"]).ended;
  expect(code).toBe(1);
  expect(stderr).toContain(`rlm: asking m at http://127.0.0.1:1/v1?(not shown), as ${folder.at("rlm.toml")} says\n`);
  expect(stdout + stderr).not.toContain("of-mine");
});

test(
  "a cost budget for a model without a price is an error that says so, and a price in rlm.toml helps",
  { tags: "stress" },
  async () => {
    using folder = new Folder();
    const without = await ask(folder, DESCRIBE, ["--cost-budget", "1"]).ended;
    expect(without.code).not.toBe(0);
    expect(without.stderr).toMatch(/price/);
    folder.write("rlm.toml", `[prices."${folder.at("script.json")}"]\ninput = 1\noutput = 1\n`);
    folder.write("a.txt", "A");
    expect(await ask(folder, DESCRIBE, ["--cost-budget", "1", "--context", "a.txt"]).ended).toMatchObject({
      code: 0,
      stdout: "'A'\n",
    });
  },
);

test("Ctrl-C cancels the run even if the code ignores it: exit code 130, and no process is left", async () => {
  using folder = new Folder();
  const marker = uniqueSleep();
  const code = `import subprocess
child = subprocess.Popen(["sleep", "${marker}"], start_new_session=True)
while True:
    try:
        child.wait()
    except KeyboardInterrupt:
        pass`;
  await using program = ask(folder, [{ reply: fenced(code) }], []);
  await vi.waitFor(() => expect(countProcesses(marker)).toBe(1), { timeout: 20_000 });
  program.signal("SIGINT");
  expect(await program.ended).toMatchObject({ code: 130, stdout: "" });
  expect(countProcesses(marker)).toBe(0);
});

test("a second Ctrl-C ends the command at once with 130, even if the answer is not read", async () => {
  using folder = new Folder();
  folder.write("script.json", JSON.stringify({ rules: [{ reply: fenced("FINAL('x' * 3_000_000)") }] }));
  const scripted = ["--backend", "scripted", "--model", folder.at("script.json"), "--mode", "rlm"];
  await using program = run(folder, ["Why?", ...scripted], { unread: true });
  await program.until(/final · 1 node/, "stderr");
  program.signal("SIGINT");
  // Wait until the first one is handled, or both would count as one.
  const status = (): string => readFileSync(`/proc/${program.pid}/status`, "utf8");
  await vi.waitFor(() => expect(status()).toMatch(/^ShdPnd:\s+0+$/m));
  program.signal("SIGINT");
  expect(await program.exit).toEqual({ code: 130 });
});

test("Ctrl-C during a model call cancels, too", async () => {
  using folder = new Folder();
  await using program = ask(folder, [{ reply: { text: "late", delayMs: 600_000 } }], ["--json"]);
  await program.until(/n0 starts/, "stderr");
  program.signal("SIGINT");
  const { code, stdout } = await program.ended;
  expect(code).toBe(130);
  expect(JSON.parse(stdout)).toMatchObject({ status: "cancelled", answer: null });
});
