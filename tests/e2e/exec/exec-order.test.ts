// `rlm exec` and `rlm repl` print both streams in the order in which the program wrote them, where both are one place.

import { mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { remove } from "../../remove.ts";
import { COMMAND, rlm, shell } from "../program.ts";
import { TestTerminal } from "../terminal.ts";

const LOOP = "import sys; [print(i, file=(sys.stdout, sys.stderr)[i % 2]) for i in range(300)]; None";
const NUMBERS = Array.from({ length: 300 }, (_, i) => `${i}\n`).join("");

test("on a terminal", async () => {
  await using terminal = new TestTerminal(["exec", "-c", LOOP], { env: { NO_COLOR: "1" } });
  expect(await terminal.ended).toBe(0);
  expect(terminal.raw.replaceAll("\r\n", "\n")).toBe(NUMBERS);
});

test("in one pipe", async () => {
  await using program = shell(`${COMMAND} exec -c '${LOOP}' 2>&1`);
  expect((await program.ended).stdout).toBe(NUMBERS);
});

test("in one pipe with a slow reader, however much it is", async () => {
  const code = "import sys\nfor i in range(400): print(i, 'x' * 2000, file=(sys.stdout, sys.stderr)[i % 2])";
  await using program = shell(`${COMMAND} exec -c "${code}" 2>&1 | dd bs=64 status=none`);
  const lines = (await program.ended).stdout.split("\n").map((line) => line.split(" ")[0]);
  expect(lines).toEqual([...Array.from({ length: 400 }, (_, i) => String(i)), ""]);
});

test("in one file", async () => {
  const folder = mkdtempSync(join(tmpdir(), "rlm-order-"));
  try {
    await using program = shell(`${COMMAND} exec -c '${LOOP}' > ${folder}/out 2>&1`);
    expect((await program.ended).code).toBe(0);
    expect(readFileSync(join(folder, "out"), "utf8")).toBe(NUMBERS);
  } finally {
    remove(folder);
  }
});

test("and apart where they are two pipes", async () => {
  const { stdout, stderr } = await rlm(["exec", "-c", LOOP]);
  const [even, odd] = [0, 1].map((rest) => Array.from({ length: 150 }, (_, i) => `${2 * i + rest}\n`).join(""));
  expect([stdout, stderr]).toEqual([even, odd]);
});

test("in a console that reads from a pipe", async () => {
  await using program = shell(`echo '${LOOP}' | ${COMMAND} repl 2>&1`);
  expect((await program.ended).stdout).toContain(NUMBERS);
});
