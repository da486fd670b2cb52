// The examples for HTTP, against a real server: they print what the documents say.

/** @module-tag stress */

import { readdirSync } from "node:fs";
import { format } from "node:util";
import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";
import { outputsOf } from "../../docs/blocks.ts";
import { PYTHON } from "../../open.ts";
import { Program, shell } from "../program.ts";
import { startServing, type Serving } from "../serving.ts";

let server: Serving;
beforeAll(async () => {
  server = await startServing();
});
afterAll(() => server[Symbol.asyncDispose]());
afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
});

const FOLDER = "examples/http";
const NAMES = readdirSync(FOLDER);

async function runTypeScript(name: string): Promise<string> {
  for (const [variable, value] of Object.entries(server.env)) vi.stubEnv(variable, value);
  const lines: string[] = [];
  vi.spyOn(console, "log").mockImplementation((...parts: unknown[]) => void lines.push(format(...parts)));
  await import(/* @vite-ignore */ `../../../${FOLDER}/${name}`);
  return `${lines.join("\n")}\n`;
}

async function runProgram(command: string, name: string): Promise<string> {
  await using program = new Program(command, [`${FOLDER}/${name}`], { env: server.env });
  const { code, stdout, stderr } = await program.ended;
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  return stdout;
}

const RUNNERS: Readonly<Record<string, (name: string) => Promise<string>>> = {
  ts: runTypeScript,
  py: (name) => runProgram(PYTHON, name),
  sh: (name) => runProgram("/bin/sh", name),
};

const hasCurl = (await shell("command -v curl").ended).code === 0;

test.for(NAMES)("examples/http/%s prints what the documents say, and leaves no session", async (name, { skip }) => {
  if (name.endsWith(".sh") && !hasCurl) return skip("curl is not installed");
  const printed = await RUNNERS[name.split(".").at(-1) ?? ""]?.(name);
  const said = outputsOf(`${FOLDER}/${name}`);
  expect(said, "the documents show it").not.toEqual([]);
  for (const text of said) expect(printed).toBe(text);
  expect((await server.rlm(["sessions"])).stdout).toMatch(/^(?:no sessions are open|ID.*\ndefault .*)\n$/);
});
