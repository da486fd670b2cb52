// Runs every example by the documented command, and compares what it prints with what the documents say.

import { readdirSync, readFileSync } from "node:fs";
import { afterAll, expect, test } from "vitest";
import { Program } from "../e2e/program.ts";
import { makeDataFolder } from "../make-data-folder.ts";
import { remove } from "../remove.ts";
import { outputsOf } from "./blocks.ts";

const RUN = "scripts/example.mjs";
const NAMES = readdirSync("examples").filter((name) => /\.(?:ts|mjs)$/.test(name));

const data = makeDataFolder();
afterAll(() => remove(data));

/** Without the settings of whoever runs the tests: models are scripted. */
const ENV = { RLM_DATA: data, RLM_MODEL: "", RLM_BACKEND: "", RLM_BASE_URL: "" };

test("npm run example runs examples", () => {
  const { scripts } = JSON.parse(readFileSync("package.json", "utf8")) as { scripts: Record<string, string> };
  expect(scripts).toMatchObject({ preexample: "node scripts/setup.mjs build", example: `node ${RUN}` });
});

/** One of each kind. `.ci/run examples` runs all of them on two versions of Node, as a user has them. */
const QUICK = ["quickstart.mjs", "session.ts", "agent.ts", "report.ts"];

test.for(QUICK)("examples/%s runs and prints what the documents say", expectOutput);

test.for(NAMES.filter((name) => !QUICK.includes(name)))(
  "examples/%s runs, too, and prints what the documents say",
  { tags: "stress" },
  expectOutput,
);

async function expectOutput(name: string): Promise<void> {
  await using program = new Program(process.execPath, [RUN, name.replace(/\.\w+$/, "")], { env: ENV });
  const { code, stdout, stderr } = await program.ended;
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  for (const text of outputsOf(`examples/${name}`)) expect(stdout).toBe(text);
}

test("without a name, it lists the examples", async () => {
  await using program = new Program(process.execPath, [RUN]);
  const { code, stdout } = await program.ended;
  const names = NAMES.map((name) => name.replace(/\.\w+$/, ""));
  expect({ code, missing: names.filter((name) => !stdout.split("\n").includes(name)) }).toEqual({
    code: 0,
    missing: [],
  });
});

test("an example that does not exist is refused", async () => {
  await using program = new Program(process.execPath, [RUN, "nothing"]);
  const { code, stderr } = await program.ended;
  expect({ code, stderr }).toEqual({
    code: 2,
    stderr: "example: there is no example 'nothing'; npm run example lists them\n",
  });
});
