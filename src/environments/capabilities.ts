// Checks of what an environment can do. Callers make them before they start work that needs it.

import { CapabilityMissingError, ForkRefusedError, type RLMError } from "../errors.ts";
import type { Capabilities } from "../protocol/capabilities.ts";

/** What callers ask of a session. The other capabilities are about what code can do. */
type Operation = "fork" | "checkpoint" | "shell" | "watch" | "inspectWhileRunning";

/** They are shown to callers as they are, and decide what is refused: nobody can change them. */
export function declareCapabilities(capabilities: Capabilities): Capabilities {
  Object.freeze(capabilities.languages);
  return Object.freeze(capabilities);
}

export interface Declared {
  readonly name: string;
  readonly capabilities: Capabilities;
}

const ALTERNATIVES: Readonly<Record<Operation, string>> = {
  fork: "Save the session, and load the file into another one",
  checkpoint: "Save the session, and load the file to return to it",
  shell: "Run Python in a session, or open one in an environment that has a shell",
  watch: "List the folder again, and compare sizes and times",
  inspectWhileRunning: "List the variables, or wait until the code has ended",
};

export function requireCapability(environment: Declared, capability: Operation, action: string): void {
  if (!environment.capabilities[capability]) throw missingCapability(environment, capability, action);
}

export function missingCapability({ name }: Pick<Declared, "name">, capability: Operation, action: string): RLMError {
  const why = `environment '${name}' does not have the capability '${capability}'. ${ALTERNATIVES[capability]}`;
  if (capability === "fork" || capability === "checkpoint") return new ForkRefusedError({ action, why, capability });
  return new CapabilityMissingError({ action, capability, environment: name, why });
}
