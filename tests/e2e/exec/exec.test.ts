import { createHash } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Folder } from "../../config/folder.ts";
import { PYTHON } from "../../open.ts";
import { COMMAND, Program, rlm, shell, start } from "../program.ts";
import { TIER } from "../../tier.ts";

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "rlm-exec-"));
});
afterAll(() => rmSync(folder, { recursive: true }));

function write(name: string, content: string | Buffer): string {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
}

describe("exit codes", () => {
  test.each([
    ["ok", "x = 1", 0],
    ["an exception", "1/0", 1],
    ["a syntax error", "def f(", 1],
    ["exit(n)", "exit(7)", 7],
    ["sys.exit()", "import sys; sys.exit()", 0],
    ["os._exit(n)", "import os; os._exit(9)", 9],
    ["the worker's death", "import os; os.kill(os.getpid(), 9)", 70],
  ])("%s", async (_, code, expected) => {
    const [plain, json] = [await rlm(["exec", "-c", code]), await rlm(["exec", "--json", "-c", code])];
    expect([plain.code, json.code]).toEqual([expected, expected]);
  });

  test("a time limit is 124, and says so", async () => {
    const { code, stderr } = await rlm(["exec", "-c", "while True: pass", "--timeout", "0.3"]);
    expect(code).toBe(124);
    expect(stderr).toMatch(/KeyboardInterrupt\nrlm: stopped at the time limit, after 0\.\d s\n$/);
  });

  test.each([
    ["an unknown command", ["exce"], "rlm: unknown command 'exce'. Did you mean 'exec'? Run 'rlm --help'"],
    [
      "an unknown option",
      ["serve", "--prot"],
      "rlm: unknown option '--prot'. Did you mean '--port'? Run 'rlm serve --help'",
    ],
    [
      "nothing to run",
      ["exec"],
      "rlm: nothing to run: give -c CODE, a FILE, or - for standard input. Run 'rlm exec --help'",
    ],
    ["a missing file", ["exec", "no.py"], "rlm: cannot run 'no.py': there is no such file"],
    ["a folder", ["exec", "/usr"], "rlm: cannot run '/usr': it is a folder"],
    ["a strange environment", ["exec", "--env", "x", "-c", "1"], /^rlm: option '--env <name>' argument 'x' is invalid/],
    ["a wrong variable", ["exec", "-e", "x", "-c", "1"], /It must be KEY=VALUE\. Run 'rlm exec --help'$/],
    ["a wrong time", ["exec", "--timeout", "soon", "-c", "1"], /It must be seconds/],
    ["a wrong size", ["exec", "--memory", "much", "-c", "1"], /It must be a size/],
    ["a refused mount", ["exec", "--mount", "/nowhere", "-c", "1"], "rlm: cannot mount '/nowhere': it does not exist"],
    [
      "an interpreter for docker",
      ["exec", "--env", "docker", "--python", "/x", "-c", "1"],
      "rlm: cannot use python '/x' in the 'docker' environment: sessions there use that of their image. Choose the image " +
        "with [docker] image in rlm.toml, or docker.image in the SDK",
    ],
    [
      "network",
      ["exec", "--allow-net", "x", "-c", "1"],
      "rlm: --allow-net is not available in this version: sessions have no network",
    ],
  ])("%s is 2, with one line", async (_, args, line) => {
    const { code, stdout, stderr } = await rlm(args);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr.trimEnd().split("\n")).toEqual([typeof line === "string" ? line : expect.stringMatching(line)]);
  });

  test("--allow-net names the network that sessions in docker have anyway", async () => {
    using own = new Folder({ "own.toml": '[docker]\nnetwork = "web"\n' });
    const args = ["exec", "--config", own.at("own.toml"), "--env", "docker", "--allow-net", "x", "-c", "1"];
    const { code, stderr } = await rlm(args);
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr:
        "rlm: --allow-net is not available in this version: sessions in docker have the network 'web' of [docker] network, " +
        "without a filter\n",
    });
  });

  test("an unknown option of exec says where options of the program go", async () => {
    const { stderr } = await rlm(["exec", "-c", "1", "--verbose"]);
    expect(stderr).toContain("The program's own options go after '--'");
  });

  test.each(["docker", "wasm"])("--env %s is 70 where it cannot be had", async (name) => {
    using own = new Folder();
    const env = { DOCKER_HOST: "unix:///nowhere/docker.sock", RLM_DATA: own.at("data") };
    const { code, stderr } = await rlm(["exec", "--env", name, "-c", "1"], { env });
    expect({ code, lines: stderr.split("\n").length }).toEqual({ code: 70, lines: 2 });
    expect(stderr).toContain(`environment '${name}'`);
  });

  test("a missing Python is 70, with the fix", async () => {
    const { code, stderr } = await rlm(["exec", "--python", "/nowhere", "-c", "1"]);
    expect(code).toBe(70);
    expect(stderr).toMatch(/^rlm: cannot use environment.*Install Python 3\.9.*\n$/);
  });
});

describe("what to run", () => {
  test("code from standard input", async () => {
    expect(await rlm(["exec", "-"], { stdin: "print(6*7)" })).toEqual({ code: 0, stdout: "42\n", stderr: "" });
  });

  test("a file, with arguments and as the main module", async () => {
    const path = write("program.py", "import sys\nif __name__ == '__main__': print(sys.argv[1:])\n");
    const { stdout } = await rlm(["exec", path, "a", "b c", "--", "--json", "é\"'\\"]);
    expect(stdout).toBe(`['a', 'b c', '--json', 'é"\\'\\\\']\n`);
  });

  test("arguments after -c CODE", async () => {
    expect((await rlm(["exec", "-c", "import sys; print(sys.argv)", "a"])).stdout).toBe("['-c', 'a']\n");
  });

  test("our options are also recognised after FILE", async () => {
    const path = write("value.py", "print(1)");
    expect(JSON.parse((await rlm(["exec", path, "--json"])).stdout)).toMatchObject({ status: "ok", stdout: "1\n" });
  });

  test("a file that is not UTF-8 is refused", async () => {
    const path = write("latin.py", Buffer.from("print('\xe9')", "latin1"));
    expect(await rlm(["exec", path])).toEqual({
      code: 2,
      stdout: "",
      stderr: `rlm: cannot run '${path}': it is not UTF-8 text\n`,
    });
  });

  test("line numbers in a traceback are those of the file", async () => {
    const path = write("fails.py", "\n\nraise ValueError('here')\n");
    expect((await rlm(["exec", path])).stderr).toMatch(
      /line 3, in <module>\n {4}raise ValueError\('here'\)\nValueError: here\n$/,
    );
  });

  test("the program reads standard input, text and bytes, to its end", async () => {
    const lines = await rlm(["exec", "-c", "print(input('? '), input(), len(input()))"], { stdin: "a\nb\nlast" });
    expect(lines).toEqual({ code: 0, stdout: "? a b 4\n", stderr: "" });
    const bytes = Buffer.from(Array.from({ length: 1_000_000 }, (_, index) => (index * 7) % 256));
    const code = "import sys, hashlib; print(hashlib.sha256(sys.stdin.buffer.read()).hexdigest())";
    const digest = createHash("sha256").update(bytes).digest("hex");
    expect((await rlm(["exec", "-c", code], { stdin: bytes })).stdout).toBe(`${digest}\n`);
    expect((await rlm(["exec", "-c", "input()"], { stdin: "" })).stderr).toContain("EOFError: EOF when reading a line");
  });

  test("code from standard input has no more input to read", async () => {
    expect((await rlm(["exec", "-"], { stdin: "input()\nwords\n" })).stderr).toContain("EOFError");
  });
});

describe("options", () => {
  test("--json prints the result and nothing else", async () => {
    const code = "import sys; print('out'); print('err', file=sys.stderr); 6*7";
    const { stdout, stderr } = await rlm(["exec", "--json", "-c", code]);
    expect(stderr).toBe("");
    expect(stdout.trimEnd()).not.toContain("\n");
    expect(JSON.parse(stdout)).toMatchObject({
      status: "ok",
      stdout: "out\n",
      stderr: "err\n",
      value: { "text/plain": "42" },
      state: "kept",
      truncated: null,
      durationMs: expect.any(Number),
    });
  });

  test("--json has the reason why it was stopped", async () => {
    const { stdout } = await rlm(["exec", "--json", "--timeout", "0.2", "-c", "import time; time.sleep(60)"]);
    expect(JSON.parse(stdout)).toMatchObject({ status: "interrupted", reason: "timeout" });
  });

  test("-e sets environment variables, and those of the host are not passed on", async () => {
    const code = "import os; print(os.environ['A'], os.environ['B'], 'NO_COLOR' in os.environ)";
    expect((await rlm(["exec", "-e", "A=1", "-e", "B=x=y", "-c", code])).stdout).toBe("1 x=y False\n");
  });

  test("--mount shows a folder, read-only unless :rw", async () => {
    const path = write("data.txt", "before");
    const code = `p = ${JSON.stringify(path)}\nprint(open(p).read())\nopen(p, "w").write("after")`;
    const readOnly = await rlm(["exec", "--mount", folder, "-c", code]);
    expect(readOnly).toMatchObject({
      code: 1,
      stdout: "before\n",
      stderr: expect.stringMatching(/Read-only file system|Permission denied/),
    });
    const hidden = await rlm(["exec", "-c", code]);
    const stderr: unknown = expect.stringMatching(TIER === "C" ? "PermissionError" : "FileNotFoundError");
    expect(hidden).toMatchObject({ code: 1, stdout: "", stderr });
  });

  test("--mount PATH:rw lets the program write", async () => {
    const shared = mkdtempSync(join(tmpdir(), "rlm-shared-"));
    try {
      writeFileSync(join(shared, "data.txt"), "before", { mode: 0o666 });
      if (process.getuid?.() === 0) await shell(`chmod -R a+rwX ${shared}`).ended;
      const code = `open(${JSON.stringify(join(shared, "data.txt"))}, "w").write("after")`;
      expect(await rlm(["exec", "--mount", `${shared}:rw`, "-c", code])).toMatchObject({ code: 0 });
      expect(readFileSync(join(shared, "data.txt"), "utf8")).toBe("after");
    } finally {
      rmSync(shared, { recursive: true });
    }
  });

  test("--memory limits the program", async () => {
    const { code, stderr } = await rlm(["exec", "--memory", "128m", "-c", "x = bytearray(500_000_000)"]);
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining("MemoryError") });
  });

  test("--version prints only the version", async () => {
    const { version } = JSON.parse(readFileSync("package.json", "utf8")) as { version: string };
    expect(await rlm(["--version"])).toEqual({ code: 0, stdout: `${version}\n`, stderr: "" });
  });

  test.each([[["--help"]], [["exec", "--help"]], [["serve", "-h"]], [["doctor", "--help"]]])(
    "%s helps",
    async (args) => {
      expect(await rlm(args)).toEqual({ code: 0, stdout: expect.stringMatching(/^Usage: rlm/), stderr: "" });
    },
  );
});

describe("output", () => {
  test("arrives while the program runs, each stream separately", async () => {
    const code = "import sys, time; print('first'); print('second', file=sys.stderr, flush=True); time.sleep(600)";
    await using program = start(["exec", "-c", code]);
    await program.until(/first\n/);
    await program.until(/second\n/, "stderr");
    program.signal("SIGINT");
    const { code: status, stdout, stderr } = await program.ended;
    expect({ status, stdout }).toEqual({ status: 130, stdout: "first\n" });
    expect(stderr).toMatch(/^second\nTraceback[\s\S]*KeyboardInterrupt\n$/);
  });

  test("is byte for byte what the program wrote", async () => {
    const code = "import sys; sys.stdout.buffer.write('é'.encode() + bytes(range(256)) * 999 + 'é'.encode()[:1])";
    await using program = start(["exec", "-c", code]);
    await program.ended;
    const all = Buffer.concat(
      Array.from({ length: 999 }, () => Buffer.from(Array.from({ length: 256 }, (_, byte) => byte))),
    );
    expect(program.bytes("stdout").equals(Buffer.concat([Buffer.from("é"), all, Buffer.from([0xc3])]))).toBe(true);
  });

  test("is complete even if it is long", async () => {
    const { stdout } = await shell(`${COMMAND} exec -c 'for i in range(10**6): print(i)' | md5sum`).ended;
    const { stdout: expected } = await shell("seq 0 999999 | md5sum").ended;
    expect(stdout).toBe(expected);
  });

  test.each(["", "2>&1 >/dev/null"])("ends quietly when its reader is gone %s", async (redirect) => {
    const code = "import sys\nwhile True: print('y'); print('y', file=sys.stderr)";
    const program = shell(`(${COMMAND} exec -c "${code}" ${redirect || "2>/dev/null"}; echo $? >&2) | head -1`);
    expect(await program.ended).toEqual({ code: 0, stdout: "y\n", stderr: "141\n" });
  });

  test("that cannot be written is reported", async () => {
    const { stderr } = await shell(`${COMMAND} exec -c 'print(1)' >/dev/full; echo $? >&2`).ended;
    expect(stderr).toMatch(/^rlm: cannot write the output: ENOSPC.*\n70\n$/);
  });

  test("that is not read does not delay the exit", async () => {
    const code = "import sys; print('ready', file=sys.stderr, flush=True)\nwhile True: print('y' * 1000)";
    await using program = start(["exec", "-c", code], { unread: true });
    await program.until(/ready/, "stderr");
    program.signal("SIGTERM");
    expect((await program.exit).code).toBe(143);
  });

  test("contains no terminal commands except colours", async () => {
    const code = String.raw`print('\x1b]0;title\x07\x1b[2J\x1b[31mred\x1b[0m\x9b5n')`;
    const pty = `import pty, sys; sys.exit(pty.spawn(sys.argv[1:]) >> 8)`;
    await using program = new Program(PYTHON, ["-c", pty, ...COMMAND.split(" "), "exec", "-c", code]);
    expect(await program.ended).toMatchObject({ code: 0, stdout: "\u001B[31mred\u001B[0m\r\n" });
  });
});

describe("signals", () => {
  const stubborn = `
import time
word = "ready"
while True:
    try:
        print(word, flush=True)
        time.sleep(600)
    except KeyboardInterrupt:
        word = "no"
`;

  test("the program can handle Ctrl-C itself", async () => {
    const code =
      "import time\ntry:\n  print('ready', flush=True); time.sleep(600)\nexcept KeyboardInterrupt:\n  print('bye'); exit(3)";
    await using program = start(["exec", "-c", code]);
    await program.until(/ready/);
    program.signal("SIGINT");
    expect(await program.ended).toEqual({ code: 130, stdout: "ready\nbye\n", stderr: "" });
  });

  test("a second Ctrl-C kills a program that does not stop", async () => {
    await using program = start(["exec", "-c", stubborn]);
    await program.until(/ready/);
    program.signal("SIGINT");
    await program.until(/no/);
    program.signal("SIGINT");
    expect(await program.ended).toEqual({ code: 130, stdout: "ready\nno\n", stderr: "" });
  });

  test("SIGTERM ends it at once", async () => {
    await using program = start(["exec", "-c", stubborn]);
    await program.until(/ready/);
    program.signal("SIGTERM");
    expect(await program.ended).toEqual({ code: 143, stdout: "ready\n", stderr: "" });
  });
});
