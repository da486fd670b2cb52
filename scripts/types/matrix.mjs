// Compiles the programs of tests/types/programs/ against a tarball of the package, with several versions of TypeScript, under the settings
// that users have. skipLibCheck is off: our declarations are checked, too.
//
//   node scripts/types/matrix.mjs TARBALL
//
// Exit code 75: the compilers cannot be installed here.

import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { ENTRIES } from "../entries.mjs";
import { installTools } from "../install-tools.mjs";
import { SETTINGS, compile, copyPrograms } from "./compile.mjs";
import { toProbe } from "./probe.mjs";

const VERSIONS = ["5.4.5", "5.9.3", "6.0.3", "7.0.2"];
const NODE_TYPES = { "@types/node": "20.19.43", zod: "4.6.7" };

const tarball = resolve(process.argv[2]);
const temp = mkdtempSync(join(tmpdir(), "rlm-types-"));
try {
  process.exitCode = await main();
} finally {
  rmSync(temp, { recursive: true, force: true });
}

async function main() {
  const tools = join(temp, "tools");
  const compilers = Object.fromEntries(
    VERSIONS.map((version) => [`typescript-${version}`, `npm:typescript@${version}`]),
  );
  if (!installTools(tools, { ...compilers, ...NODE_TYPES }, "the matrix of TypeScript versions")) return 75;
  const plain = makeProject("plain", []);
  const withNode = makeProject("with-node", Object.keys(NODE_TYPES));
  const cases = VERSIONS.flatMap((version) =>
    Object.entries(SETTINGS)
      .filter(([, { since = "0" }]) => Number.parseFloat(version) >= Number.parseFloat(since))
      .map(([name, { programs, flags, types }]) => ({
        name: `TypeScript ${version}, ${name}`,
        tsc: join(tools, `node_modules/typescript-${version}/bin/tsc`),
        project: types ? withNode : plain,
        setting: { programs: programs.filter((program) => readdirSync(plain).includes(program)), flags },
      })),
  );
  const failures = [];
  const next = async () => {
    for (let one = cases.shift(); one !== undefined; one = cases.shift()) {
      const problems = await compile(one.tsc, one.project, one.setting);
      if (problems.length > 0) failures.push(`${one.name}:\n    ${problems.join("\n    ")}`);
    }
  };
  const count = cases.length;
  await Promise.all([next(), next()]);
  for (const failure of failures) process.stderr.write(`${failure}\n`);
  process.stderr.write(
    `types: ${count - failures.length} of ${count} settings compile (TypeScript ${VERSIONS.join(", ")})\n`,
  );
  return failures.length > 0 ? 1 : 0;

  /** A project with the package, the programs, and some of the tools. */
  function makeProject(name, packages) {
    const project = join(temp, name);
    mkdirSync(project);
    writeFileSync(join(project, "package.json"), JSON.stringify({ private: true, type: "module" }));
    const npm = ["install", "--silent", "--no-audit", "--no-fund", "--offline", tarball];
    execFileSync("npm", npm, { cwd: project, stdio: ["ignore", 2, 2] });
    for (const one of [...packages, ...(packages.length > 0 ? ["undici-types"] : [])]) {
      mkdirSync(join(project, "node_modules", one, ".."), { recursive: true });
      symlinkSync(join(tools, "node_modules", one), join(project, "node_modules", one));
    }
    copyPrograms(project, ENTRIES.some((entry) => entry.name.endsWith("/client")) ? [] : ["client.ts"]);
    const types = join(project, "node_modules/rlm-runtime/dist/types");
    writeFileSync(join(project, "probe.ts"), toProbe(types, ENTRIES));
    return project;
  }
}
