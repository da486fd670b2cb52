// What a session promises in every environment, as users see it. Each environment runs this suite.

import { afterAll, beforeAll, describe } from "vitest";
import type { LocalRuntime } from "../../../src/api/local.ts";
import { describeCapabilities } from "./capabilities.ts";
import { describeCore } from "./core.ts";
import { describeExecuting } from "./executing.ts";
import { describeState } from "./state.ts";
import { describeStopping } from "./stopping.ts";
import type { SessionsContract, Suite } from "./suite.ts";
import { describeIsolation } from "./isolation.ts";
import { describeVariables } from "./variables.ts";

const MIB = 2 ** 20;

/** What every environment must do, and what it says of itself. */
export const CORE = [describeCapabilities, describeCore];
export const REST = [describeExecuting, describeStopping, describeVariables, describeState, describeIsolation];

/** The name is the one that options and errors have. */
export function describeSessions(
  name: string,
  contract: SessionsContract,
  subjects: readonly ((suite: Suite) => void)[] = [...CORE, ...REST],
): void {
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
    for (const declare of subjects) declare(suite);
  });
}
