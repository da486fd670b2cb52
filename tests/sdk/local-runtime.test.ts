// What a runtime on this machine has beyond the contract of `Runtime`.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import {
  defineTool,
  openRuntime,
  REPLSecurityError,
  SessionStateError,
  type LocalRuntime,
  type LocalSession,
} from "../../src/index.ts";
import { createScriptedBackend } from "../../src/testing/index.ts";
import { createLanguageModel } from "../fixtures/language-model.ts";
import { PYTHON } from "../open.ts";
import { code } from "../rlm/scripting.ts";

const quiet = { mode: "rlm", cache: false, log: false } as const;

let folder: string;
let runtime: LocalRuntime;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "rlm-sdk-"));
  const stdlibPath = join(folder, "stdlib.py");
  runtime = await openRuntime({ python: PYTHON, preload: [], poolSize: 1, limits: { sessions: 7 }, stdlibPath });
});
afterAll(async () => {
  await runtime.close();
  rmSync(folder, { recursive: true, force: true });
});

async function textOf(session: LocalSession, source: string): Promise<string | undefined> {
  return (await session.execute(source)).unwrap().text;
}

function write(name: string, content: string | Uint8Array): string {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
}

describe("a runtime", () => {
  test("has its limits, those of the options among them", () => {
    expect(runtime.limits).toMatchObject({ sessions: 7, waiting: 128 });
  });

  test("has the path of its standard library", () => {
    expect(runtime.stdlib.path).toBe(join(folder, "stdlib.py"));
  });

  test("is warm when the promise resolves, and more than once", async () => {
    await runtime.warm();
    await runtime.warm();
    expect((await runtime.info()).tier).not.toBeNull();
  });

  test("refuses options that do not exist, at once", () => {
    expect(() => openRuntime({ poolsize: 1 } as never)).toThrow(/'poolsize'.*'poolSize'/);
    expect(() => runtime.openSession({ mount: [] } as never)).toThrow(/'mount'.*'mounts'/);
    expect(() => runtime.openSession({ onCall: "yes" } as never)).toThrow(TypeError);
    expect(() => runtime.obtainSession("a", { id: "b" } as never)).toThrow(TypeError);
    expect(() => runtime.loadSession("x", { timeoutMS: 1 } as never)).toThrow(/'timeoutMS'.*'timeoutMs'/);
    expect(() => runtime.rlm({ model: "m", tool: [] } as never)).toThrow(/'tool'.*'tools'/);
    expect(() => runtime.rlm()).toThrow(TypeError);
  });

  test("refuses an interpreter for sessions in docker, at once", async () => {
    const python = "/usr/bin/other";
    expect(() => openRuntime({ environment: "docker", python })).toThrow(
      "Cannot use python '/usr/bin/other' in the 'docker' environment: sessions there use that of their image",
    );
    await expect(runtime.openSession({ environment: "docker", python })).rejects.toThrow(RangeError);
  });

  test.each([
    [{ runtme: "runsc" }, /'runtme'.*'runtime'/],
    [{ cpus: 0 }, "Cannot use 0 as docker.cpus: it must be a number of at least 0.01"],
    [{ cpus: Number.NaN }, "Cannot use NaN as docker.cpus"],
    [{ memoryBytes: -1 }, "Cannot use -1 as docker.memoryBytes: it must be a whole number of at least 1"],
    [{ memoryBytes: "1g" }, "Cannot use '1g' as docker.memoryBytes"],
    [{ pids: 0.5 }, "Cannot use 0.5 as docker.pids"],
    [{ pull: "newer" }, "Cannot use 'newer' as docker.pull: it must be 'missing', 'always' or 'never'"],
    [{ image: 3 }, "Cannot use 3 as docker.image: it must be a string"],
  ])("refuses docker: %o, at once", (docker, message) => {
    expect(() => openRuntime({ docker } as never)).toThrow(message);
  });

  test("refuses parts of options that do not exist, at once", () => {
    expect(() => openRuntime({ limits: { memoryByte: 2 ** 30 } } as never)).toThrow(/'memoryByte'.*'memoryBytes'/);
    const mount = { path: folder, mode: "ro" };
    for (const open of [
      (mounts: unknown) => openRuntime({ mounts } as never),
      (mounts: unknown) => runtime.openSession({ mounts } as never),
      (mounts: unknown) => runtime.execute("1", { mounts } as never),
    ]) {
      expect(() => open([{ ...mount, hidesecrets: true }])).toThrow(/'hidesecrets'.*'hideSecrets'/);
      expect(() => open([{ ...mount, mode: "r" }])).toThrow("its mode must be 'ro' or 'rw'");
      expect(() => open([{ ...mount, hideSecrets: "yes" }])).toThrow("hideSecrets must be a boolean");
      for (const name of ["", "..", "a/b", 1, "\uD800", "x".repeat(256)])
        expect(() => open([{ ...mount, name }])).toThrow("its name must be that of a file");
      for (const wrong of [mount, [null], ["/tmp"], [{ mode: "ro" }]]) expect(() => open(wrong)).toThrow(TypeError);
    }
    const price = { inputUsd: 1, outputUsd: 2, cacheReadUsd: 1, cacheWriteUsd: 1 };
    const rlm = (options: object) => () => runtime.rlm({ model: "m", backend: "scripted", ...options });
    expect(rlm({ dispatcher: { maxConcurency: 1 } })).toThrow(/'maxConcurency'.*'maxConcurrency'/);
    expect(rlm({ prices: { m: { ...price, inputUSD: 1 } } })).toThrow(/'inputUSD'.*'inputUsd'/);
    expect(rlm({ prices: { m: { inputUsd: 1 } } })).toThrow("Cannot use undefined as outputUsd of the price of 'm'");
    expect(rlm({ prices: { m: { ...price, tiers: [price] } } })).toThrow("aboveInputTokens");
    expect(rlm({ prices: { m: null } })).toThrow(TypeError);
    const run = (context: unknown) => () => rlm({})().run({ query: "q", context } as never);
    expect(run({ files: [{ nam: "a", path: "b" }] })).toThrow(/'nam'.*'name'/);
    expect(run({ notes: { files: [{ name: "a" }] } })).toThrow("give its path or its content");
    expect(run({ files: [{ name: "a", path: "b", content: "c" }] })).toThrow("give its path or its content");
  });

  test("ends what runs when it is closed", async () => {
    const other = await openRuntime({ python: PYTHON, preload: [], poolSize: 0 });
    const session = await other.openSession();
    const execution = session.execute("print('begun', flush=True)\nwhile True: pass", { timeoutMs: null });
    for await (const event of execution) if (event.type === "output-delta") break;
    await other.close();
    expect(await execution).toMatchObject({ status: "interrupted", reason: "cancelled" });
  });
});

describe("a session", () => {
  test("sees the folders of the host that are mounted, and writes to them where it may", async () => {
    const path = mkdtempSync(join(folder, "mounted-"));
    writeFileSync(join(path, "in.txt"), "from the host");
    const file = JSON.stringify(join(path, "in.txt"));
    await using reader = await runtime.openSession({ mounts: [{ path, mode: "ro" }] });
    expect(await textOf(reader, `open(${file}).read()`)).toBe("'from the host'");
    expect((await reader.execute(`open(${file}, "w")`)).error?.name).toMatch(/OSError|PermissionError/);
    expect((await runtime.execute(`open(${file}).read()`)).error?.name).toBe("FileNotFoundError");
    const once = await runtime.execute(`open(${file}, "w").write("changed")`, { mounts: [{ path, mode: "rw" }] });
    expect(once.status).toBe("ok");
    expect(readFileSync(join(path, "in.txt"), "utf8")).toBe("changed");
  });

  test("calls onCall, and gets its answer or its error", async () => {
    const calls: unknown[] = [];
    await using session = await runtime.openSession({
      onCall: async ({ name, args, executionId }) => {
        calls.push([name, args, executionId]);
        if (name === "refuse") throw new RangeError("not today");
        return { doubled: Number(args["n"]) * 2 };
      },
    });
    const execution = session.execute("import rlm_host; rlm_host.call('double', n=21)['doubled']");
    expect((await execution).text).toBe("42");
    expect(calls).toEqual([["double", { n: 21 }, execution.id]]);
    expect((await session.execute("rlm_host.call('refuse')")).error?.value).toContain("not today");
  });

  test("is obtained by its id: opened once, also by concurrent calls", async () => {
    const [one, two] = await Promise.all([runtime.obtainSession("shared"), runtime.obtainSession("shared")]);
    expect(two).toBe(one);
    expect(await runtime.sessions.get("shared")).toBe(one);
    await one.close();
    await using next = await runtime.obtainSession("shared");
    expect(next).not.toBe(one);
  });

  test("is saved to a file and loaded from it, with a report of both", async () => {
    await using session = await runtime.openSession();
    expect(session.loaded).toBeNull();
    await session.execute("x = [1, 2]\ndef double(n): return 2 * n\nlock = __import__('threading').Lock()");
    const path = join(folder, "deep", "state.session");
    const saved = await session.save(path);
    expect(saved).toMatchObject({ path, names: expect.arrayContaining(["x", "double"]) });
    await using loaded = await runtime.loadSession(path, { id: "loaded" });
    expect(loaded.id).toBe("loaded");
    expect(loaded.loaded?.names).toEqual(expect.arrayContaining(["x", "double"]));
    expect(await textOf(loaded, "double(x[1]), 'lock' in globals()")).toBe("(4, False)");
  });

  test("is not loaded from a file that is missing or no session file, and nothing remains", async () => {
    await expect(runtime.loadSession(join(folder, "none"), { id: "never" })).rejects.toThrow(SessionStateError);
    await expect(runtime.loadSession(write("wrong.session", "not one"))).rejects.toThrow(REPLSecurityError);
    await expect(runtime.sessions.get("never")).rejects.toThrow("never");
  });

  test("sets variables from files of the host", async () => {
    await using session = await runtime.openSession();
    await session.set("raw", { file: write("raw.bin", new Uint8Array([0, 255])) });
    await session.set("text", { file: write("a.txt", "naïve"), as: "text" });
    await session.set("data", { file: write("a.json", "[12345678901234567890]"), as: "json" });
    expect(await textOf(session, "raw, text, data")).toBe(String.raw`(b'\x00\xff', 'naïve', [12345678901234567890])`);
    await expect(session.set("x", { file: join(folder, "none") })).rejects.toThrow(SessionStateError);
  });

  test("copies files from and to the host", async () => {
    await using session = await runtime.openSession();
    expect(await textOf(session, "import os; os.getcwd()")).toBe(`'${session.files.folder}'`);
    expect(await session.files.writeFrom("in/a.txt", write("copy.txt", "0123456789"))).toMatchObject({ size: 10 });
    const target = join(folder, "out.txt");
    expect(await session.files.readTo("in/a.txt", target, { offset: 2, length: 3 })).toEqual({ size: 3 });
    expect(readFileSync(target, "utf8")).toBe("234");
    await expect(session.files.readTo("none", target)).rejects.toMatchObject({ reason: "not-found" });
    expect(readFileSync(target, "utf8")).toBe("234");
    expect(() => session.files.readTo("a", 1 as never)).toThrow(TypeError);
  });

  test("does not expire while it is held", async () => {
    const session = await runtime.openSession({ idleTimeoutMs: 100 });
    const ended = new Promise<void>((resolve) => {
      session.subscribe((event) => event.type === "session-end" && resolve());
    });
    const hold = session.hold();
    await runtime.execute("import time; time.sleep(0.3)");
    expect((await session.info()).state).toBe("idle");
    hold[Symbol.dispose]();
    await ended;
  });

  test("has a fork with everything that a local session has", async () => {
    await using session = await runtime.openSession();
    await session.execute("x = 1");
    await using fork = await session.fork();
    expect(await fork.save(join(folder, "fork.session"))).toMatchObject({ names: ["x"] });
    fork.hold()[Symbol.dispose]();
  });

  test("numbers an event the same for its subscribers and in the execution", async () => {
    await using session = await runtime.openSession();
    const received: number[] = [];
    using _subscription = session.subscribe(({ seq }) => void received.push(seq));
    const seqs: number[] = [];
    for await (const { seq } of session.execute("import sys\nprint(1)\nprint(2, file=sys.stderr)")) seqs.push(seq);
    expect(received).toEqual(seqs);
  });

  test("shows its id and nothing else when it is printed", async () => {
    const { inspect } = await import("node:util");
    await using session = await runtime.openSession({ id: "printed" });
    expect(inspect(session)).toBe("Session { id: 'printed' }");
  });
});

describe("recursive runs", () => {
  test("call tools of the host", async () => {
    const double = defineTool({
      name: "double",
      description: "Doubles a number",
      schema: z.object({ n: z.number() }),
      handler: ({ n }) => 2 * n,
    });
    const backend = createScriptedBackend(() => code("FINAL(double(n=21))"));
    const result = await runtime.rlm({ ...quiet, model: "root", backend, tools: [double] }).run({ query: "?" });
    expect(result).toMatchObject({ status: "final", data: 42 });
    expect(result.usage.total.toolCalls).toBe(1);
  });

  test("read files of the host as context", async () => {
    const [a, b] = [write("a.md", "A"), write("b.md", "B")];
    const backend = createScriptedBackend(() => code("FINAL([one, two])"));
    const context = {
      one: { file: a },
      two: {
        files: [
          { name: "b", path: b },
          { name: "c", content: "C" },
        ],
      },
    };
    const result = await runtime.rlm({ ...quiet, model: "root", backend }).run({ query: "?", context });
    expect(result.data).toEqual(["A", { b: "B", c: "C" }]);
  });

  test("take model objects of the AI SDK", async () => {
    const parts = [
      { type: "text-delta", id: "1", delta: code("FINAL('from an object')") },
      { type: "finish", finishReason: { unified: "stop", raw: "stop" }, usage: { inputTokens: {}, outputTokens: {} } },
    ];
    const model = createLanguageModel("v3", () => parts, { modelId: "own-model" });
    const result = await runtime.rlm({ ...quiet, model }).run({ query: "?" });
    expect(result).toMatchObject({ status: "final", answer: "from an object" });
  });

  test("have limits, and check their backend", async () => {
    const rlm = runtime.rlm({ ...quiet, model: "root", backend: createScriptedBackend([]), limits: { llmCalls: 3 } });
    expect(rlm.limits).toMatchObject({ llmCalls: 3, maxDepth: 4, maxIterations: 30 });
    await rlm.check();
    await expect(runtime.rlm({ ...quiet, model: "m", backend: "none" }).check()).rejects.toThrow("none");
  });
});
