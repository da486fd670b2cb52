// What an environment can do, as data. Callers check it before they start work that needs it.

import { CapabilityMissingError, ForkRefusedError, type RLMError } from "../errors.ts";

/** The same for every sandbox of an environment, and known before the first one is open. */
export interface Capabilities {
  /** Sessions can be copied live. Sandboxes have `fork`. */
  readonly fork: boolean;
  /** Sessions can keep live copies and return to them. Sandboxes have `checkpoint`, and `restart` takes one. */
  readonly checkpoint: boolean;
  /** Commands run in bash. Sandboxes have `startProgram`. */
  readonly shell: boolean;
  /**
   * The most that a session can be allowed. `none`: no connection leaves the sandbox. `filtered`: only to allowed
   * hosts, through a proxy. `all`: to any host.
   */
  readonly network: "none" | "filtered" | "all";
  /**
   * Where a session can install packages from, besides those its interpreter has. `none`: nowhere. `wheels`: a folder
   * of wheels on the host. `index`: a package index too.
   */
  readonly packages: "none" | "wheels" | "index";
  /** What `execute` takes. */
  readonly languages: readonly "python"[];
}

/** The capabilities that are methods of a sandbox: without one, the sandbox does not have its method. */
type Operation = "fork" | "checkpoint" | "shell";

interface Declared {
  readonly name: string;
  readonly capabilities: Capabilities;
}

const ALTERNATIVES: Readonly<Record<Operation, string>> = {
  fork: "Save the session, and load the file into another one",
  checkpoint: "Save the session, and load the file to return to it",
  shell: "Run Python in a session, or open one in an environment that has a shell",
};

export function requireCapability(environment: Declared, capability: Operation, action: string): void {
  if (!environment.capabilities[capability]) throw missingCapability(environment, capability, action);
}

export function missingCapability({ name }: Pick<Declared, "name">, capability: Operation, action: string): RLMError {
  const why = `environment '${name}' does not have the capability '${capability}'. ${ALTERNATIVES[capability]}`;
  if (capability === "shell") return new CapabilityMissingError({ action, capability, environment: name, why });
  return new ForkRefusedError({ action, why, capability });
}
