import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { REPLSecurityError } from "../../src/errors.ts";
import { executeCode, fileRead } from "../../src/tools/builtins.ts";
import { ToolRegistry } from "../../src/tools/registry.ts";

const context = { signal: new AbortController().signal };

describe("file_read", () => {
  let top: string;
  let tools: ToolRegistry;
  const read = (args: Record<string, unknown>) => tools.call("file_read", args, context);

  beforeAll(() => {
    top = mkdtempSync(join(tmpdir(), "rlm-tools-"));
    for (const folder of ["docs", "docs/deep", "more", "elsewhere"]) mkdirSync(join(top, folder));
    writeFileSync(join(top, "docs/a.txt"), "héllo\n");
    writeFileSync(join(top, "docs/..odd"), "dots");
    writeFileSync(join(top, "docs/deep/b.txt"), "deep");
    writeFileSync(join(top, "more/c.txt"), "more");
    writeFileSync(join(top, "elsewhere/secret"), "secret");
    symlinkSync(join(top, "elsewhere/secret"), join(top, "docs/link"));
    symlinkSync(join(top, "elsewhere"), join(top, "docs/folder-link"));
    symlinkSync("deep/b.txt", join(top, "docs/inner-link"));
    symlinkSync("loop", join(top, "docs/loop"));
    symlinkSync("/dev/zero", join(top, "docs/zero"));
    execFileSync("mkfifo", [join(top, "docs/fifo")]);
    tools = new ToolRegistry([fileRead([join(top, "docs"), join(top, "more"), join(top, "missing")])]);
  });
  afterAll(() => rmSync(top, { recursive: true }));

  test("reads text in its folders, by a relative or an absolute path, through links that stay inside", async () => {
    const whole = { text: "héllo\n", total_bytes: 7, next_offset: null };
    expect(await read({ path: "a.txt" })).toEqual(whole);
    expect(await read({ path: join(top, "docs/a.txt") })).toEqual(whole);
    expect(await read({ path: "deep/../a.txt" })).toEqual(whole);
    expect(await read({ path: "c.txt" })).toMatchObject({ text: "more" });
    expect(await read({ path: "inner-link" })).toMatchObject({ text: "deep" });
    expect(await read({ path: "..odd" })).toMatchObject({ text: "dots" });
  });

  test.each([
    "../elsewhere/secret",
    "deep/../../elsewhere/secret",
    "link",
    "folder-link/secret",
    "/etc/passwd",
    "/proc/self/environ",
    "zero",
    "loop",
    "nothing.txt",
    "a.txt/b",
    "a\0.txt",
  ])("refuses %j, and does not reveal whether it exists", async (path) => {
    const reading = read({ path });
    await expect(reading).rejects.toThrow(REPLSecurityError);
    await expect(reading).rejects.toThrow(/^Cannot read '.*': there is no such file in /s);
  });

  test.each(["fifo", "deep", ".", ""])("refuses %j, which is not a regular file, at once", async (path) => {
    await expect(read({ path })).rejects.toThrow("it is not a regular file");
  });

  test("reads a huge file in parts, with memory for one part only", async () => {
    writeFileSync(join(top, "docs/huge"), "start");
    truncateSync(join(top, "docs/huge"), 2 ** 40);
    expect(await read({ path: "huge", length: 5 })).toEqual({ text: "start", total_bytes: 2 ** 40, next_offset: 5 });
    expect(await read({ path: "huge", offset: 2 ** 40 - 2 })).toMatchObject({ text: "\0\0", next_offset: null });
    expect(await read({ path: "huge", offset: 2 ** 50 })).toMatchObject({ text: "", next_offset: null });
    await expect(read({ path: "huge", length: 2 ** 30 })).rejects.toThrow(/^file_read: length: /);
  });

  test("splits no character between two parts", async () => {
    const text = "aé€😀".repeat(50);
    writeFileSync(join(top, "docs/wide"), text);
    let [found, offset] = ["", 0 as number | null];
    for (let part = 0; offset !== null && part < 1_000; part += 1) {
      const answer = (await read({ path: "wide", offset, length: 7 })) as { text: string; next_offset: number | null };
      found += answer.text;
      offset = answer.next_offset;
    }
    expect(found).toBe(text);
  });

  test.each([
    { path: "a.txt", mode: "w" },
    { path: 7 },
    { path: "a.txt", offset: -1 },
    { path: "a.txt", length: 0 },
    {},
  ])("refuses the arguments %j", async (args) => {
    await expect(read(args)).rejects.toThrow(TypeError);
  });

  test("without folders reads nothing", async () => {
    const none = new ToolRegistry([fileRead([])]);
    await expect(none.call("file_read", { path: join(top, "docs/a.txt") }, context)).rejects.toThrow(REPLSecurityError);
  });
});

describe("execute_code", () => {
  test("returns output and value, with the time limit in milliseconds", async () => {
    const asked: unknown[] = [];
    const tools = new ToolRegistry([
      executeCode(async (code, { timeoutMs }) => {
        asked.push([code, timeoutMs]);
        return { status: "ok", stdout: "a\n", stderr: "", value: { "text/plain": "2", "text/html": "<b>2</b>" } };
      }),
    ]);
    expect(await tools.call("execute_code", { code: "1 + 1" }, context)).toEqual({
      status: "ok",
      stdout: "a\n",
      stderr: "",
      value: "2",
      error: null,
    });
    await tools.call("execute_code", { code: "x", timeout: 0.5 }, context);
    expect(asked).toEqual([
      ["1 + 1", 55_000],
      ["x", 500],
    ]);
  });

  test.each([{ code: "x", timeout: 601 }, { code: "x", timeout: 0 }, { code: "x", session: "s1" }, {}])(
    "refuses the arguments %j",
    async (args) => {
      const tools = new ToolRegistry([executeCode(() => Promise.reject(new Error("it was run")))]);
      await expect(tools.call("execute_code", args, context)).rejects.toThrow(TypeError);
    },
  );
});
