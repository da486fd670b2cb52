// Whether an environment can be had here. Where it cannot, its tests are skipped with the reason, unless they are required.

import { describe, test } from "vitest";
import { isKnownEnvironment } from "../../../src/environments/registry.ts";
import { EnvironmentUnavailableError } from "../../../src/errors.ts";
import { openRuntime } from "../../../src/index.ts";

/**
 * Calls `declare` where sessions open in the environment. `prepare` says what stands in the way before that. With RLM_REQUIRE_<NAME>=1, that
 * they do not open is a failure.
 */
export async function describeWhereAvailable(
  name: string,
  prepare: () => Promise<string | undefined>,
  declare: () => void,
): Promise<void> {
  const unavailable = (await prepare()) ?? (await whyUnavailable(name));
  if (unavailable === undefined) return declare();
  const variable = `RLM_REQUIRE_${name.toUpperCase()}`;
  describe(`sessions in ${name}`, () => {
    test("are available here", ({ skip }) => {
      if (process.env[variable] === "1") throw new Error(`${variable} is set, but: ${unavailable}`);
      process.stdout.write(`Skipped, sessions in ${name}: ${unavailable}\n`);
      skip(unavailable);
    });
  });
}

/** Undefined: a session was opened. */
async function whyUnavailable(name: string): Promise<string | undefined> {
  if (!isKnownEnvironment(name)) return `this version does not have the environment '${name}'`;
  try {
    await using runtime = await openRuntime({ environment: name, preload: [], poolSize: 0 });
    await using _ = await runtime.openSession();
    return undefined;
  } catch (error) {
    if (error instanceof EnvironmentUnavailableError) return error.message;
    throw error;
  }
}
