// Compiles the programs of tests/types/programs/ against the package as a user has it, under the settings that users have.
//
// A program may say at the end of a line which errors it must have there, as in `// TS2307 TS2846`: one of them. Every other error, and
// every missing one, is a problem.

import { execFile } from "node:child_process";
import { cpSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";

const PROGRAMS = new URL("../../tests/types/programs/", import.meta.url);
const STRICT = ["--strict", "--target", "es2022"];
const PICKY = [
  "--exactOptionalPropertyTypes",
  "--isolatedModules",
  "--verbatimModuleSyntax",
  "--noUncheckedIndexedAccess",
  "--noPropertyAccessFromIndexSignature",
];

/** The same error with a suggestion. */
const SAME = new Map([
  ["TS2551", "TS2339"],
  ["TS2561", "TS2353"],
  ["TS2724", "TS2339"],
]);

/** By name. `types`: whether the project has @types/node. */
export const SETTINGS = {
  "no settings": { programs: ["bare.ts"], flags: [] },
  "neither DOM nor Node": {
    programs: ["accepted.ts", "refused.ts", "client.ts", "probe.ts"],
    flags: [...STRICT, "--lib", "es2022", "--module", "nodenext"],
  },
  "DOM, for a bundler": {
    programs: ["accepted.ts", "signals.ts", "client.ts"],
    flags: [...STRICT, ...PICKY, "--lib", "es2022,dom", "--module", "esnext", "--moduleResolution", "bundler"],
  },
  "@types/node": {
    programs: ["accepted.ts", "signals.ts", "client.ts", "refused.ts"],
    flags: [...STRICT, ...PICKY, "--lib", "es2022", "--module", "nodenext", "--types", "node"],
    types: true,
  },
  zod: {
    programs: ["zod.ts"],
    flags: [...STRICT, "--lib", "es2022", "--module", "nodenext", "--types", "node", "--skipLibCheck"],
    types: true,
    since: "5.9",
  },
};

/** Copies the programs into a project. `omitted`: those that are not for it. */
export function copyPrograms(project, omitted = []) {
  cpSync(PROGRAMS, project, { recursive: true, filter: (from) => !omitted.some((name) => from.endsWith(name)) });
}

/** Compiles programs of a project and returns the problems, one line each. */
export async function compile(tsc, project, { programs, flags }) {
  const options = { cwd: project, maxBuffer: 1 << 26 };
  const printed = await promisify(execFile)(
    process.execPath,
    [tsc, "--noEmit", "--pretty", "false", ...flags, ...programs],
    options,
  ).then(
    () => "",
    ({ stdout, stderr }) => stdout + stderr,
  );
  const expected = new Map(programs.flatMap((name) => expectedErrors(project, name)));
  const problems = [];
  for (const line of printed.split("\n").filter((text) => /\berror TS\d/.test(text))) {
    const [, file, number, code] = /^(.*?)\((\d+),\d+\): error (TS\d+)/.exec(line) ?? [];
    const place = `${file}:${number}`;
    if (expected.get(place)?.codes.includes(SAME.get(code) ?? code)) expected.get(place).isFound = true;
    else problems.push(line);
  }
  for (const [place, { isFound, text }] of expected)
    if (!isFound) problems.push(`${place}: compiles, but must not: ${text}`);
  return problems;
}

function expectedErrors(project, program) {
  const lines = readFileSync(join(project, program), "utf8").split("\n");
  return lines.flatMap((text, index) => {
    const codes = /\/\/ ((?:TS\d+ ?)+)$/.exec(text)?.[1].trim().split(" ");
    return codes === undefined ? [] : [[`${program}:${index + 1}`, { codes, text: text.trim(), isFound: false }]];
  });
}
