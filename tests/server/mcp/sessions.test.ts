// Sessions and their variables over MCP.

import {
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { HostPaths } from "../../../src/server/mcp/calls/host-paths.ts";
import { hasPyodide, installWasm } from "../../environments/wasm/open-wasm.ts";
import { connect, factsOf, textOf, type Connection } from "./connect.ts";

let mcp: Connection;
/** Folders of the host: one that sessions may only read, one that they may write to, one that they do not see. */
let host: string;

beforeAll(async () => {
  host = realpathSync(mkdtempSync(join(tmpdir(), "rlm-mcp-host-")));
  for (const name of ["read", "write", "hidden"]) mkdirSync(join(host, name), { mode: 0o777 });
  writeFileSync(join(host, "read", "data.txt"), "grüße\n".repeat(1000));
  writeFileSync(join(host, "hidden", "secret.txt"), "secret");
  mcp = await connect({
    mounts: [
      { path: join(host, "read"), mode: "ro" },
      { path: join(host, "write"), mode: "rw" },
    ],
  });
});
afterAll(async () => {
  await mcp[Symbol.asyncDispose]();
  rmSync(host, { recursive: true, force: true });
});

describe("sessions", () => {
  test("an unknown session is refused with a list of those that exist, and how to create one", async () => {
    await mcp.text("execute_python", { code: "1" });
    await mcp.text("create_repl_session", { session_id: "other" });
    for (const [tool, args] of [
      ["execute_repl", { session_id: "x", code: "1" }],
      ["execute_python", { session_id: "x", code: "1" }],
      ["shell", { session_id: "x", command: "ls" }],
      ["get_session_namespace", { session_id: "x" }],
      ["destroy_repl_session", { session_id: "x" }],
      ["save_repl_session", { session_id: "x", filepath: "y" }],
      ["fork_repl_session", { session_id: "x" }],
    ] as const) {
      expect(await mcp.failure(tool, args)).toBe(
        "No session 'x'. Existing: default, other. Call create_repl_session to make one.",
      );
    }
  });

  test("are created, used, listed and ended", async () => {
    const created = await mcp.call("create_repl_session", {});
    const id = factsOf(created)["session_id"] as string;
    expect(textOf(created)).toContain(`Session '${id}' is ready. It ends after 30 minutes without use.`);
    expect(textOf(created)).toContain(`${join(host, "read")} (read-only)`);
    await mcp.text("execute_repl", { session_id: id, code: "apple, pear = 1, 2" });
    expect(await mcp.text("list_repl_sessions")).toMatch(
      new RegExp(`^id +state +executions .*\\n(.*\\n)*${id} +idle +1 .* MiB +2: apple, pear`),
    );
    expect(await mcp.text("list_repl_sessions")).toMatch(
      /\nEnvironment: local, sandbox tier [\w-]+: fork yes, .*, inspectWhileRunning yes, network none, packages none, languages python\.$/,
    );
    const ended = await mcp.call("destroy_repl_session", { session_id: id });
    expect(textOf(ended)).toMatch(
      new RegExp(`^Session '${id}' has ended: 1 execution in \\d+ s, variables: 2: apple, pear\\.$`),
    );
    expect(await mcp.failure("execute_repl", { session_id: id, code: "1" })).toContain(`No session '${id}'`);
  });

  test.skipIf(!hasPyodide)(
    "in another environment are listed with what they can do there",
    { tags: "stress" },
    async () => {
      installWasm();
      await mcp.text("create_repl_session", { session_id: "usual" });
      await using _ = await mcp.runtime.openSession({ id: "elsewhere", environment: "wasm" });
      const listed = await mcp.call("list_repl_sessions", {});
      expect(textOf(listed)).toMatch(
        /\nEnvironment: local, .*\nEnvironment of 'elsewhere': wasm, .*: fork no, .* threads no, /,
      );
      const listing = factsOf(listed)["sessions"] as readonly { readonly session_id: string }[];
      const place = (id: string): unknown => listing.find(({ session_id }) => session_id === id);
      expect(place("usual")).toMatchObject({
        environment: "local",
        capabilities: { fork: true, inspect_while_running: true },
      });
      expect(place("elsewhere")).toMatchObject({
        environment: "wasm",
        tier: expect.any(String),
        capabilities: { fork: false, inspect_while_running: false },
      });
    },
  );

  test("an id that is taken or invalid is refused with what to do", async () => {
    await mcp.text("create_repl_session", { session_id: "taken" });
    expect(await mcp.failure("create_repl_session", { session_id: "taken" })).toContain("choose another session_id");
    expect(await mcp.failure("create_repl_session", { session_id: "../x" })).toMatch(
      /^Cannot use '\.\.\/x' as a session id/,
    );
  });

  test("a fork is independent", async () => {
    await mcp.text("create_repl_session", { session_id: "trunk" });
    await mcp.text("execute_repl", { session_id: "trunk", code: "items = [1]\nopen('f', 'w').write('x')" });
    await mcp.text("fork_repl_session", { session_id: "trunk", new_session_id: "branch" });
    await mcp.text("execute_repl", { session_id: "branch", code: "items.append(2)" });
    expect(await mcp.text("execute_repl", { session_id: "branch", code: "items, open('f').read()" })).toBe(
      "→ ([1, 2], 'x')",
    );
    expect(await mcp.text("execute_repl", { session_id: "trunk", code: "items" })).toBe("→ [1]");
  });

  test("clearing removes variables and keeps files", async () => {
    await mcp.text("create_repl_session", { session_id: "full" });
    await mcp.text("execute_repl", { session_id: "full", code: "x = 1\nopen('kept', 'w').close()" });
    await mcp.text("clear_repl_session", { session_id: "full" });
    expect(await mcp.text("get_session_namespace", { session_id: "full" })).toBe("Session 'full' has no variables.");
    expect(await mcp.text("shell", { session_id: "full", command: "find -type f" })).toBe("./kept");
  });

  test("expire, and the text says that variables are gone", async () => {
    await using idle = await connect({ timings: { idleMs: 100 } });
    await idle.text("create_repl_session", { session_id: "brief" });
    await idle.text("execute_python", { code: "x = 1" });
    await expect.poll(() => idle.runtime.sessions.list().length).toBe(0);
    expect(await idle.failure("execute_repl", { session_id: "brief", code: "1" })).toMatch(/^No session 'brief'/);
    const result = await idle.call("execute_python", { code: "1" });
    expect(result.content).toEqual([
      { type: "text", text: "→ 1" },
      { type: "text", text: "[Session 'default' is a new one: the variables of the one before are gone.]" },
    ]);
    await using structured = await connect({ beside: idle, isStructured: true, timings: { idleMs: 100 } });
    await structured.text("execute_python", { code: "x = 1" });
    await expect.poll(() => idle.runtime.sessions.list().length).toBe(0);
    expect((await structured.call("execute_python", { code: "1" })).structuredContent).toMatchObject({
      text: "→ 1\n[Session 'default' is a new one: the variables of the one before are gone.]",
    });
  });

  test("calls during the first start of Python report no loss", async () => {
    await using fresh = await connect();
    const texts = await Promise.all(
      Array.from({ length: 10 }, (_, i) => fresh.text("execute_python", { code: `${i}` })),
    );
    expect(texts).toEqual(Array.from({ length: 10 }, (_, i) => `→ ${i}`));
  });

  test("a refused fork says what to do instead", async () => {
    await mcp.text("create_repl_session", { session_id: "busy" });
    const session = mcp.runtime.sessions.get("busy");
    const execution = session.execute("while True: pass");
    expect(await mcp.failure("fork_repl_session", { session_id: "busy" })).toMatch(
      /^Cannot fork session 'busy': an execution is running\. Try again when its code has ended, or /,
    );
    execution.cancel();
    await execution.result;
  });

  test("two clients share sessions and tasks", async () => {
    await using other = await connect({ beside: mcp, era: "legacy" });
    await mcp.text("create_repl_session", { session_id: "shared" });
    await mcp.text("execute_repl", { session_id: "shared", code: "x = 41" });
    expect(await other.text("execute_repl", { session_id: "shared", code: "x + 1" })).toBe("→ 42");
  });
});

describe("variables", () => {
  test("value is JSON if it parses, else text", async () => {
    for (const [value, repr] of [
      ['{"a": [1, 2.5, null]}', "{'a': [1, 2.5, None]}"],
      ["12345678901234567890", "12345678901234567890"],
      ["1.0", "1.0"],
      ["hello", "'hello'"],
      ["", "''"],
      ["{not json", "'{not json'"],
    ] as const) {
      await mcp.text("set_repl_context", { key: "v", value });
      expect(await mcp.text("execute_python", { code: "v" })).toBe(`→ ${repr}`);
    }
  });

  test("path loads the text of a visible file", async () => {
    const path = join(host, "read", "data.txt");
    expect(await mcp.text("set_repl_context", { key: "data", path })).toBe(
      `data is set in session 'default': the text of ${path}, 6,000 characters.`,
    );
    expect(await mcp.text("execute_python", { code: "data == 'grüße\\n' * 1000" })).toBe("→ True");
  });

  test("path may be in the working directory", async () => {
    const whole = await mcp.text("shell", { command: "mkdir -p d; printf inside > d/own.txt; realpath d/own.txt" });
    for (const path of ["d/own.txt", whole]) {
      await mcp.text("set_repl_context", { key: "own", path });
      expect(await mcp.text("execute_python", { code: "own" })).toBe("→ 'inside'");
    }
  });

  test("a relative path starts in the working directory, then in the folder that the server was started in", async () => {
    const hostPaths = new HostPaths({
      mounts: [{ path: join(host, "read"), mode: "ro" }],
      sessionFiles: mcp.sessionFiles,
      startedIn: join(host, "read"),
    });
    await using inProject = await connect({ hostPaths, beside: mcp });
    writeFileSync(join(host, "read", "both.txt"), "of the project");
    await inProject.text("set_repl_context", { key: "found", path: "./both.txt" });
    expect(await mcp.text("execute_python", { code: "found" })).toBe("→ 'of the project'");
    await mcp.text("shell", { command: "printf 'of the session' > both.txt" });
    await inProject.text("set_repl_context", { key: "found", path: "both.txt" });
    expect(await mcp.text("execute_python", { code: "found" })).toBe("→ 'of the session'");
    for (const path of ["../hidden/secret.txt", "../../etc/passwd", "no-such-file"])
      expect(await inProject.failure("set_repl_context", { key: "stolen", path })).toMatch(/^Cannot (read|use) /);
  });

  test("a binary file and a folder are refused with the reason", async () => {
    const path = join(host, "read", "bytes.bin");
    writeFileSync(path, Buffer.from([0xff, 0xfe]));
    expect(await mcp.failure("set_repl_context", { key: "v", path })).toBe(
      `Cannot read '${path}' as text: it is not UTF-8. Open it in execute_python instead.`,
    );
    const folder = join(host, "read");
    expect(await mcp.failure("set_repl_context", { key: "v", path: folder })).toBe(
      `'${folder}' is a folder, and a file is needed.`,
    );
  });

  test("a file outside of the visible folders cannot be loaded, whatever leads to it", async () => {
    symlinkSync(join(host, "hidden", "secret.txt"), join(host, "write", "link.txt"));
    symlinkSync(join(host, "hidden"), join(host, "write", "linked"));
    for (const path of [
      join(host, "hidden", "secret.txt"),
      join(host, "read", "..", "hidden", "secret.txt"),
      join(host, "write", "link.txt"),
      join(host, "write", "linked", "secret.txt"),
      "/etc/passwd",
      "/proc/self/environ",
      "../../etc/passwd",
    ]) {
      expect(await mcp.failure("set_repl_context", { key: "stolen", path })).toMatch(/^Cannot /);
    }
    expect(await mcp.failure("execute_python", { code: "stolen" })).toContain("NameError");
  });

  test.each([
    [{ key: "a" }, "exactly one of value and path"],
    [{ key: "a", value: "1", path: "b" }, "exactly one of value and path"],
    [{ key: "not a name", value: "1" }, "Cannot use 'not a name' as the name of a variable"],
    [{ key: "class", value: "1" }, "Cannot use 'class'"],
    [{ key: "a", path: "no-such-file" }, "no-such-file"],
  ])("%j is refused with the reason", async (args, reason) => {
    expect(await mcp.failure("set_repl_context", args)).toContain(reason);
  });

  test("JSON of any depth does not crash the server", async () => {
    const deep = "[".repeat(200_000) + "]".repeat(200_000);
    await mcp.call("set_repl_context", { key: "deep", value: deep });
    expect(await mcp.text("execute_python", { code: "1 + 1" })).toBe("→ 2");
    expect(mcp.unexpected).toEqual([]);
  });

  test("previews are at most 80 characters, and never end in half of one", async () => {
    await mcp.text("create_repl_session", { session_id: "faces" });
    await mcp.text("execute_repl", { session_id: "faces", code: "a, b = '😀' * 100, ' ' + '😀' * 100" });
    const previews = (await mcp.text("get_repl_context", { session_id: "faces" })).split("\n").map(toPreview);
    expect(previews.join("")).not.toMatch(/\p{Surrogate}/u);
    expect(previews.map((preview) => preview.length)).toEqual([80, 79]);
  });

  test("the listing has names, types, sizes and short previews, and never whole values", async () => {
    await mcp.text("create_repl_session", { session_id: "listed" });
    const code = "import math\nbig = 'x' * 1_000_000\nn = 5\ndef f(): pass\nnames = list(range(1000))";
    await mcp.text("execute_repl", { session_id: "listed", code });
    const text = await mcp.text("get_repl_context", { session_id: "listed" });
    expect(text).toMatch(/big: str \(length 1,000,000\)/);
    expect(text).toMatch(/^n: int = 5$/m);
    expect(text).toMatch(/^f: function$/m);
    expect(text).toMatch(/^modules: math$/m);
    expect(text.length).toBeLessThan(1_000);
    const one = await mcp.text("get_session_namespace", { session_id: "listed", variable_name: "big" });
    expect(one.length).toBeLessThan(3_000);
    expect(await mcp.failure("get_repl_context", { session_id: "listed", key: "nope" })).toContain(
      "It has: math, big, n",
    );
  });

  test("a long value is described by its beginning, with the call that reads the rest", async () => {
    await mcp.text("execute_python", { code: "numbers = list(range(10_000))\nfaces = '😀' * 3" });
    const text = await mcp.text("get_repl_context", { key: "numbers" });
    const { code = "" } =
      /characters; read on with execute_python\(code="(?<code>[^"]*)"\)\]$/.exec(text)?.groups ?? {};
    const value = `[${Array.from({ length: 10_000 }, (_, i) => i).join(", ")}]`;
    expect(text).toContain(value.slice(0, 2_000));
    expect(await mcp.text("execute_python", { code })).toBe(value.slice(2_000, 10_000));
    expect(await mcp.text("get_repl_context", { key: "faces" })).toMatch(/\n'😀😀😀'$/);
  });

  test("no listing is longer than 10,000 characters", async () => {
    await mcp.text("create_repl_session", { session_id: "crowded" });
    const code = "for i in range(5000): globals()[f'variable_{i}'] = 'value ' * 10";
    await mcp.text("execute_repl", { session_id: "crowded", code });
    for (const [tool, args] of [
      ["get_repl_context", { session_id: "crowded" }],
      ["get_session_namespace", { session_id: "crowded" }],
      ["list_repl_sessions", {}],
      ["save_repl_session", { session_id: "crowded", filepath: "crowded" }],
      ["load_repl_session", { session_id: "crowded2", filepath: "crowded" }],
      ["destroy_repl_session", { session_id: "crowded" }],
    ] as const) {
      const text = await mcp.text(tool, args);
      expect(text.length, tool).toBeLessThanOrEqual(10_000);
    }
  });
});

describe("saved sessions", () => {
  test("are stored in the data folder by name, and load under another id", async () => {
    await mcp.text("create_repl_session", { session_id: "saved" });
    await mcp.text("execute_repl", { session_id: "saved", code: "def f(): return 6\nx = 7\nlog = open('log', 'w')" });
    const text = await mcp.text("save_repl_session", { session_id: "saved", filepath: "work/first" });
    expect(text).toMatch(/^Saved 2 names \(.*\) to .*\/sessions\/work\/first\.rlm: f, x\nnot saved: log: /);
    expect(readdirSync(join(mcp.sessionFiles, "work"))).toEqual(["first.rlm"]);
    expect(await mcp.text("load_repl_session", { session_id: "again", filepath: "work/first" })).toContain("2 names");
    expect(await mcp.text("execute_repl", { session_id: "again", code: "f() * x" })).toBe("→ 42");
  });

  test("may be in a writable mounted folder; others are refused, with a list of the allowed ones", async () => {
    await mcp.text("create_repl_session", { session_id: "placed" });
    const path = join(host, "write", "new", "folder", "s.rlm");
    await mcp.text("save_repl_session", { session_id: "placed", filepath: path });
    await mcp.text("load_repl_session", { session_id: "placed2", filepath: path });
    symlinkSync(join(host, "hidden"), join(host, "write", "way-out"));
    for (const filepath of [
      join(host, "read", "s.rlm"),
      join(host, "hidden", "s.rlm"),
      join(host, "write", "..", "hidden", "s.rlm"),
      join(host, "write", "way-out", "s.rlm"),
      "/etc/s.rlm",
    ]) {
      const text = await mcp.failure("save_repl_session", { session_id: "placed", filepath });
      expect(text).toContain(`Give a name (it goes to ${mcp.sessionFiles}), or a path in ${join(host, "write")}.`);
    }
    for (const filepath of ["../s", "a/../../s", "", "a\0b", "."])
      expect(await mcp.failure("save_repl_session", { session_id: "placed", filepath })).toMatch(/name/);
    expect(readdirSync(join(host, "hidden"))).toEqual(["secret.txt"]);
  });

  test("a name that code in a session has turned into a link is replaced, not followed", async () => {
    await mcp.text("create_repl_session", { session_id: "linker" });
    const path = join(host, "write", "planted.rlm");
    symlinkSync(join(host, "hidden", "planted.txt"), path);
    await mcp.text("save_repl_session", { session_id: "linker", filepath: path });
    expect(lstatSync(path).isFile()).toBe(true);
    expect(readdirSync(join(host, "hidden"))).toEqual(["secret.txt"]);
  });

  test("replace a session file, and nothing else", async () => {
    await mcp.text("create_repl_session", { session_id: "saver" });
    const notes = join(host, "write", "notes.txt");
    writeFileSync(notes, "precious");
    mkdirSync(join(host, "write", "folder.rlm"));
    for (const filepath of [notes, join(host, "write", "folder.rlm")]) {
      const text = await mcp.failure("save_repl_session", { session_id: "saver", filepath });
      expect(text).toBe(`Cannot save to '${filepath}': what is there is no session file. Choose another name.`);
    }
    expect(readFileSync(notes, "utf8")).toBe("precious");
    for (let again = 0; again < 2; again += 1)
      await mcp.text("save_repl_session", { session_id: "saver", filepath: join(host, "write", "twice.rlm") });
  });

  test("an unknown name is refused with a list of the saved ones", async () => {
    await mcp.text("create_repl_session", { session_id: "known" });
    await mcp.text("save_repl_session", { session_id: "known", filepath: "known" });
    expect(await mcp.failure("load_repl_session", { session_id: "x", filepath: "unknown" })).toMatch(
      /unknown\.rlm': it does not exist\. Saved: .*known/,
    );
    expect(await mcp.failure("save_repl_session", { session_id: "known", filepath: "n".repeat(300) })).toBe(
      "The name of the file is too long: 200 bytes are the most.",
    );
  });

  test("a file that is no session file is refused, and no session is left", async () => {
    expect(
      await mcp.failure("load_repl_session", { session_id: "bad", filepath: join(host, "read", "data.txt") }),
    ).toMatch(/data\.txt/);
    expect(await mcp.failure("load_repl_session", { session_id: "bad", filepath: "never-saved" })).toContain(
      "does not exist",
    );
    expect(await mcp.failure("execute_repl", { session_id: "bad", code: "1" })).toContain("No session 'bad'");
  });
});

function toPreview(line: string): string {
  return line.slice(line.indexOf(" = ") + 3);
}
