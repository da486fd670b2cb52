// TypeScript blocks that are no example file: programs, or parts of one that use a `runtime` and a `session`.
//
// All of them are type-checked by one compiler. They run in this process, where the package is its sources.

import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { format } from "node:util";
import { vi } from "vitest";
import { makeDataFolder } from "../make-data-folder.ts";
import { PYTHON } from "../open.ts";
import { nameOf, type Block } from "./blocks.ts";

/** What is wrong with the types, by the name of the block. */
export function typeProblems(blocks: readonly Block[]): Map<string, string> {
  mkdirSync("node_modules/.cache", { recursive: true });
  const folder = mkdtempSync(resolve("node_modules/.cache/rlm-docs-"));
  try {
    const files = new Map(blocks.map((block) => [toFileName(block), nameOf(block)]));
    for (const block of blocks) writeFileSync(join(folder, toFileName(block)), toModule(block));
    const options = { extends: resolve("tsconfig.json"), files: [...files.keys()], include: [] };
    writeFileSync(
      join(folder, "tsconfig.json"),
      JSON.stringify({ ...options, compilerOptions: { incremental: false } }),
    );
    const tsc = resolve("node_modules/typescript/bin/tsc");
    const args = [tsc, "-p", folder, "--pretty", "false", "--tsBuildInfoFile", "null"];
    const { stdout, status } = spawnSync(process.execPath, args, { encoding: "utf8" });
    const problems = new Map<string, string>();
    for (const line of stdout.split("\n").filter((one) => one.includes("error TS"))) {
      const name = [...files].find(([file]) => line.includes(file))?.[1] ?? "the compiler";
      problems.set(name, `${problems.get(name) ?? ""}${line}\n`);
    }
    if (status !== 0 && problems.size === 0) problems.set("the compiler", stdout);
    return problems;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** What a block prints. Rejects with what it throws. */
export async function runTypeScript(block: Block): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), "rlm-docs-"));
  const lines: string[] = [];
  const log = vi.spyOn(console, "log");
  vi.stubEnv("RLM_DATA", makeDataFolder(join(folder, "data"))); // other tests see no standard library of a page
  log.mockImplementation((...parts: unknown[]) => void lines.push(`${format(...parts)}\n`));
  try {
    const file = join(folder, toFileName(block));
    writeFileSync(file, toModule(block));
    await import(/* @vite-ignore */ pathToFileURL(file).href);
    return lines.join("");
  } finally {
    log.mockRestore();
    vi.unstubAllEnvs();
    rmSync(folder, { recursive: true });
  }
}

/** The block as a module, with what it needs and does not declare: `runtime`, `session`. */
function toModule({ setup, text }: Block): string {
  const code = `${setup}\n${text}`;
  const imports = code.match(/^import [\s\S]*?;$/gm) ?? [];
  const rest = imports.reduce((shorter, one) => shorter.replace(one, ""), code);
  const lacks = (name: string): boolean =>
    new RegExp(`\\b${name}\\b`).test(rest) && !new RegExp(`\\b(?:const|let|using) ${name}\\b`).test(rest);
  const needsSession = lacks("session");
  const needsRuntime = lacks("runtime") || (needsSession && !/\b(?:const|let|using) runtime\b/.test(rest));
  return [
    ...imports,
    ...(needsRuntime
      ? ['import { openRuntime as open } from "rlm-runtime";', `await using runtime = await open(${OPTIONS});`]
      : []),
    ...(needsSession ? ["await using session = await runtime.openSession();"] : []),
    rest,
  ].join("\n");
}

const OPTIONS = JSON.stringify({ python: PYTHON, preload: [], poolSize: 1 });

function toFileName(block: Block): string {
  return `${nameOf(block).replaceAll(/[^\w]+/g, "-")}.ts`;
}
