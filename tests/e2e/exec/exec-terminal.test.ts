import { expect, test } from "vitest";
import { KEYS, TestTerminal } from "../terminal.ts";

function exec(code: string): TestTerminal {
  return new TestTerminal(["exec", "-c", code], { env: { NO_COLOR: "1" } });
}

test("on a terminal input() reads a line, and a password is not echoed", async () => {
  await using terminal = exec("import getpass; n = input('name? '); p = getpass.getpass('pin? '); print(n, p[::-1])");
  await terminal.until(/name\?$/);
  terminal.type(`Ada${KEYS.enter}`);
  await terminal.until(/pin\?$/);
  terminal.type(`gehex${KEYS.backspace}im${KEYS.enter}`);
  await terminal.until(/Ada miehe/);
  expect(terminal.raw).not.toContain("gehe");
  expect(await terminal.ended).toBe(0);
});

test("Ctrl-D ends the input, Ctrl-C interrupts code that waits for it", async () => {
  await using first = exec("input('? ')");
  await first.until(/\?$/);
  first.type(KEYS.ctrlD);
  await first.until(/EOFError/);
  expect(await first.ended).toBe(1);
  for (const call of ["input('? ')", "__import__('getpass').getpass('? ')"]) {
    await using second = exec(call);
    await second.until(/\?$/);
    second.type(KEYS.ctrlC);
    expect(await second.ended).toBe(130);
    expect(second.screen).toContain("KeyboardInterrupt");
  }
});
