// Variables, completion, reset, host calls, input, the standard library and environment variables.

import { describe, expect, test } from "vitest";
import { run } from "../../../src/testing/contract/drive.ts";
import { openSession, type Suite } from "./suite.ts";

const MIB = 2 ** 20;

export function describeVariables(suite: Suite): void {
  describe("variables", () => {
    test("are listed and inspected", async () => {
      await using session = await openSession(suite);
      await run(session, "a = [1, 2]; _hidden = 1");
      expect((await session.variables()).variables.map(({ name }) => name)).toEqual(["a"]);
      expect(await session.inspect("a")).toMatchObject({ name: "a", type: "list" });
      expect(await session.inspect("absent")).toBe(null);
    });

    test("of 64 MiB arrive and return byte for byte", async () => {
      await using session = await openSession(suite);
      const bytes = Buffer.alloc(
        64 * MIB,
        Uint8Array.from({ length: 65_521 }, (_, i) => i % 251),
      );
      await session.set("big", { bytes });
      expect((await run(session, "len(big)")).text).toBe(String(64 * MIB));
      expect(bytes.equals(await session.get("big", { as: "bytes" }))).toBe(true);
    });

    test("NaN and integers that JSON cannot hold are refused", async () => {
      await using session = await openSession(suite);
      await run(session, "nan = float('nan'); large = 2 ** 60");
      await expect(session.get("nan")).rejects.toThrow("nan");
      await expect(session.get("large")).rejects.toThrow("large");
    });

    test("are completed", async () => {
      await using session = await openSession(suite);
      await run(session, "a_long_name = 1");
      expect(JSON.stringify(await session.complete("a_lo", 4))).toContain("a_long_name");
    });

    test("are gone after a reset; id, statistics and files stay", async () => {
      await using session = await openSession(suite);
      await run(session, "x = 1; open('f', 'w').write('kept'); None");
      await session.reset();
      expect((await run(session, "'x' in globals(), open('f').read()")).text).toBe("(False, 'kept')");
      expect(await session.history()).toHaveLength(1);
      expect(await session.info()).toMatchObject({ id: session.id, executionCount: 2 });
    });
  });

  describe("what surrounds the code", () => {
    test("calls reach the host, and its errors are raised in the code", async () => {
      await using session = await openSession(suite, {
        onCall: async ({ name, args }) => {
          if (name === "fail") throw new Error("the host refused");
          return { name, args };
        },
      });
      expect((await run(session, "import rlm_host; rlm_host.call('greet', who='me')")).text).toBe(
        "{'name': 'greet', 'args': {'who': 'me'}}",
      );
      expect(await session.execute("rlm_host.call('fail')")).toMatchObject({
        status: "error",
        error: { value: expect.stringContaining("the host refused") },
      });
    });

    test("input() is answered by the host, and ends where nobody answers", async () => {
      await using session = await openSession(suite);
      const prompts: string[] = [];
      const onInput = ({ prompt }: { readonly prompt: string }): string => {
        prompts.push(prompt);
        return "Ada";
      };
      expect(await session.execute("input('name? ')", { onInput })).toMatchObject({ value: { "text/plain": "'Ada'" } });
      expect(prompts).toEqual(["name? "]);
      expect(await session.execute("input()")).toMatchObject({ status: "error", error: { name: "EOFError" } });
    });

    test("the standard library is there where it is wanted", async () => {
      await suite.runtime().stdlib.add("def of_the_contract():\n    return 'from the library'");
      await using session = await openSession(suite);
      expect((await run(session, "of_the_contract()")).text).toBe("'from the library'");
      await using plain = await openSession(suite, { includeStdlib: false });
      expect(await plain.execute("of_the_contract()")).toMatchObject({ error: { name: "NameError" } });
    });

    test("environment variables are those of the session, and of the execution while it runs", async () => {
      await using session = await openSession(suite, { env: { OF_SESSION: "1" } });
      const code = "import os; [os.environ.get(name) for name in ('OF_SESSION', 'OF_EXECUTION')]";
      expect((await session.execute(code, { env: { OF_EXECUTION: "2" } })).text).toBe("['1', '2']");
      expect((await run(session, code)).text).toBe("['1', None]");
    });
  });
}
