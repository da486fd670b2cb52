// What programs can and cannot do with the types of a release. CI compiles the same programs with other versions of TypeScript.

import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";

interface Setting {
  readonly programs: readonly string[];
  readonly flags: readonly string[];
  readonly types?: boolean;
}
interface Scripts {
  readonly SETTINGS: Readonly<Record<string, Setting>>;
  readonly ENTRIES: readonly { readonly name: string; readonly types: string }[];
  readonly compile: (tsc: string, project: string, setting: Setting) => Promise<string[]>;
  readonly copyPrograms: (project: string) => void;
  readonly toProbe: (folder: string, entries: Scripts["ENTRIES"]) => string;
  readonly writeDeclarations: (folder: string) => Promise<unknown>;
}

const root = join(import.meta.dirname, "../..");
const scripts = Object.assign(
  {},
  ...(await Promise.all(
    ["entries", "types/compile", "types/probe", "declarations/write"].map(
      (name) => import(join(root, "scripts", `${name}.mjs`)) as Promise<object>,
    ),
  )),
) as Scripts;
const { SETTINGS, ENTRIES, compile, copyPrograms, toProbe, writeDeclarations } = scripts;

const project = mkdtempSync(join(tmpdir(), "rlm-types-"));
afterAll(() => rmSync(project, { recursive: true, force: true }));

beforeAll(async () => {
  const installed = join(project, "node_modules/rlm-runtime");
  mkdirSync(join(project, "node_modules/@types"), { recursive: true });
  for (const name of ["zod", "@types/node", "undici-types"])
    symlinkSync(join(root, "node_modules", name), join(project, "node_modules", name));
  mkdirSync(installed);
  cpSync(join(root, "package.json"), join(installed, "package.json"));
  await writeDeclarations(join(installed, "dist/types"));
  writeFileSync(join(project, "package.json"), JSON.stringify({ private: true, type: "module" }));
  copyPrograms(project);
  writeFileSync(join(project, "probe.ts"), toProbe(join(installed, "dist/types"), ENTRIES));
}, 60_000);

const hasClient = ENTRIES.some(({ name }) => name.endsWith("/client"));

test.each(Object.keys(SETTINGS))("programs compile, and attempts to reach the inside do not: %s", async (name) => {
  const { programs, flags } = SETTINGS[name] ?? { programs: [], flags: [] };
  const own = programs.filter((program) => hasClient || program !== "client.ts");
  const tsc = join(root, "node_modules/typescript/bin/tsc");
  expect(await compile(tsc, project, { programs: own, flags })).toEqual([]);
});
