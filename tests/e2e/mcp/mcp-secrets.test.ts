// Secrets of the project that an MCP server is started in.

import { chmodSync, chownSync, mkdirSync, mkdtempSync, realpathSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { copyForAll } from "../../hostile/ordinary-user.ts";
import { makeDataFolder } from "../../make-data-folder.ts";
import { remove } from "../../remove.ts";
import { MCPProgram } from "./mcp-program.ts";
import { skipInTierC } from "../../tier.ts";

const UID = 64124;
const isRoot = process.getuid?.() === 0;

let folder: string;
let project: string;
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "rlm-mcp-secrets-")));
  project = join(folder, "project");
  mkdirSync(join(project, "below"), { recursive: true });
  for (const name of [".env", "below/.env"]) writeFileSync(join(project, name), "KEY=planted");
  writeFileSync(join(project, "plain"), "planted, too");
});
afterEach(() => remove(folder));

async function expectHidden(program: MCPProgram): Promise<void> {
  expect(
    await program.call("execute_python", { code: `open(${JSON.stringify(join(project, ".env"))}).read()` }),
  ).toMatch(/PermissionError: \[Errno 13\] Permission denied: '.*\/project\/\.env'\s*$/);
  expect(await program.call("shell", { command: "cat .env below/.env plain", cwd: project })).toMatch(
    // In print order as near as can be: a command writes to both streams by itself.
    /^(planted, too\n\[stderr\]\n)?cat: .env: Permission denied\ncat: below\/.env: Permission denied\n(planted, too\n)?/,
  );
  for (const path of [join(project, ".env"), ".env", "below/.env"])
    expect(await program.call("set_repl_context", { key: "x", path })).toMatch(
      `Cannot use '${path}': by its name it holds secrets, so it is hidden. The user can show it with the option --mount ${project}/`,
    );
  expect(await program.call("load_repl_session", { session_id: "s", filepath: join(project, ".env") })).toContain(
    "so it is hidden",
  );
  expect(await program.call("set_repl_context", { key: "x", path: "plain" })).toContain("x is set");
  expect(await program.call("create_repl_session", {})).toContain("secrets such as .env are hidden");
}

test("code, commands and the host itself cannot read .env, and are told why", async (context) => {
  skipInTierC(context, "the folder is left out; secrets.test.ts shows it");
  await using program = await MCPProgram.start({
    cwd: project,
    env: { RLM_DATA: makeDataFolder(join(folder, "data")) },
  });
  await expectHidden(program);
});

test("a folder that is mounted explicitly is shown as it is", async () => {
  const env = { RLM_DATA: makeDataFolder(join(folder, "data")) };
  await using program = await MCPProgram.start({ args: ["--mount", "."], cwd: project, env });
  expect(await program.call("shell", { command: "cat .env", cwd: project })).toContain("KEY=planted");
  expect(await program.call("set_repl_context", { key: "x", path: ".env" })).toContain("x is set");
});

test.skipIf(!isRoot)(
  "the same holds for a server of an ordinary user (elsewhere than as root, the first test shows it)",
  { tags: "stress" },
  async (context) => {
    skipInTierC(context, "the folder is left out; secrets.test.ts shows it");
    const all = await copyForAll();
    try {
      for (const path of [folder, project, join(project, "below")]) chmodSync(path, 0o755);
      for (const name of [".env", "below/.env"]) {
        chmodSync(join(project, name), 0o600);
        chownSync(join(project, name), UID, UID);
      }
      const as = { node: all.node, cli: join(all.folder, "dist", "cli.cjs"), uid: UID };
      const env = { RLM_DATA: all.data, HOME: all.folder, TMPDIR: all.folder };
      await using program = await MCPProgram.start({ cwd: project, env, as });
      await expectHidden(program);
    } finally {
      all.remove();
    }
  },
);
