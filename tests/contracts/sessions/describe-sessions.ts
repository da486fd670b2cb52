// What a session promises in every environment, as users see it. Each environment runs this suite.

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { LocalRuntime } from "../../../src/api/local.ts";
import { describeExecuting } from "./executing.ts";
import { describeState } from "./state.ts";
import { describeStopping } from "./stopping.ts";
import type { SessionsContract, Suite } from "./suite.ts";
import { describeIsolation } from "./isolation.ts";
import { describeVariables } from "./variables.ts";

const MIB = 2 ** 20;

/** The name is the one that options and errors have. */
export function describeSessions(name: string, contract: SessionsContract): void {
  describe(`sessions in ${name}`, () => {
    let runtime: LocalRuntime | undefined;
    beforeAll(async () => {
      runtime = await contract.open();
    });
    afterAll(() => runtime?.close());
    const suite: Suite = {
      unsupported: {},
      smallMemoryBytes: 256 * MIB,
      ...contract,
      name,
      runtime: () => {
        if (runtime === undefined) throw new Error(`No runtime is open in ${name}`);
        return runtime;
      },
    };

    test("the runtime reports the environment and its capabilities", async () => {
      expect(await suite.runtime().info()).toMatchObject({ environment: name, capabilities: contract.capabilities });
    });

    describeExecuting(suite);
    describeStopping(suite);
    describeVariables(suite);
    describeState(suite);
    describeIsolation(suite);
  });
}
