// What every implementation of `Runtime` promises: one suite, for any test runner.
//
// The cases share one runtime and run one after the other. A case that needs what the runtime does not have is skipped, and its title says
// why.

import type { RLM, RLMOptions } from "../api/run.ts";
import type { Runtime } from "../api/runtime.ts";
import type { Session } from "../api/session.ts";
import type { Capabilities } from "../protocol/capabilities.ts";
import type { ContractCase, ContractContext, Need, OptionalFeature } from "./contract/case.ts";
import { SUBJECTS } from "./contract/subjects.ts";

/** All cases, in the order in which they run. */
export const runtimeContract: readonly ContractCase[] = Object.values(SUBJECTS).flat();

/** How to test an implementation. */
export interface RuntimeContractOptions {
  /** Opens a runtime that is closed by the suite. It must not exit on its own. */
  readonly open: () => Promise<Runtime>;
  /** Opens another runtime with the same sessions, tasks and runs, as a second client has. Default: there is none. */
  readonly openOther?: (() => Promise<Runtime>) | undefined;
  /** What its environment must declare, and no more. */
  readonly capabilities: Capabilities;
  /** What its Python does not have. Default: it has everything. */
  readonly unsupported?: readonly OptionalFeature[] | undefined;
  /** How many executions may wait in one session. Default: 128. */
  readonly maxWaiting?: number | undefined;
  /** Runs whose model calls are answered by `contractScript`. Default: it has no runs. */
  readonly rlm?: ((runtime: Runtime, options: RLMOptions) => RLM) | undefined;
}

/** What is used of a test runner. Those of vitest, jest and node:test fit. */
export interface TestRunner {
  /** Declares a group of tests. */
  readonly describe: (name: string, body: () => void) => unknown;
  /** Declares a test. */
  readonly test: ((name: string, body: () => Promise<void>) => unknown) & {
    /** Declares a test that is not run. */
    readonly skip: (name: string, body: () => void) => unknown;
  };
  /** Runs after all tests of a group. `after` of node:test. */
  readonly afterAll: (body: () => Promise<void>) => unknown;
}

/** Declares the suite for one implementation. */
export function describeRuntime(
  name: string,
  options: RuntimeContractOptions,
  { describe, test, afterAll }: TestRunner,
): void {
  describe(`runtime ${name}`, () => {
    const shared = new SharedRuntimes(options);
    afterAll(() => shared.close());
    for (const [subject, cases] of Object.entries(SUBJECTS)) {
      describe(subject, () => {
        for (const one of cases) {
          const missing = one.needs?.filter((need) => !has(options, need)) ?? [];
          if (missing.length > 0) test.skip(`${one.name} (skipped: ${name} has no ${missing.join(", ")})`, () => {});
          else test(one.name, () => runCase(one, options, shared));
        }
      });
    }
  });
}

function has({ capabilities, unsupported = [], rlm }: RuntimeContractOptions, need: Need): boolean {
  if (need === "runs") return rlm !== undefined;
  return need === "resource" ? !unsupported.includes(need) : capabilities[need];
}

/** Runs one case with a runtime of its own, for runners that `describeRuntime` does not fit. */
export async function runContractCase(one: ContractCase, options: RuntimeContractOptions): Promise<void> {
  const shared = new SharedRuntimes(options);
  try {
    await runCase(one, options, shared);
  } finally {
    await shared.close();
  }
}

async function runCase(one: ContractCase, options: RuntimeContractOptions, shared: SharedRuntimes): Promise<void> {
  const { capabilities, maxWaiting = 128, rlm, open } = options;
  const { runtime, other } = await shared.open();
  const opened: AsyncDisposable[] = [];
  const context: ContractContext = {
    runtime,
    other,
    capabilities,
    maxWaiting,
    openSession: async (sessionOptions) => keep(opened, await runtime.openSession(sessionOptions)),
    open: async () => keep(opened, await open()),
    rlm: (rlmOptions = {}) => {
      if (rlm === undefined) throw new Error(`Cannot run '${one.name}': the runtime has no runs`);
      return rlm(runtime, rlmOptions);
    },
  };
  try {
    await one.run(context);
  } finally {
    for (const thing of opened.toReversed()) await thing[Symbol.asyncDispose]();
  }
}

function keep<Opened extends Session | Runtime>(opened: AsyncDisposable[], thing: Opened): Opened {
  opened.push(thing);
  return thing;
}

/** The runtimes that all cases use, opened with the first case. */
class SharedRuntimes {
  readonly #options: RuntimeContractOptions;
  #opening: Promise<{ readonly runtime: Runtime; readonly other: Runtime }> | undefined;

  constructor(options: RuntimeContractOptions) {
    this.#options = options;
  }

  open(): Promise<{ readonly runtime: Runtime; readonly other: Runtime }> {
    this.#opening ??= this.#open();
    return this.#opening;
  }

  async close(): Promise<void> {
    const opened = await this.#opening;
    if (opened?.other !== opened?.runtime) await opened?.other.close();
    await opened?.runtime.close();
  }

  async #open(): Promise<{ readonly runtime: Runtime; readonly other: Runtime }> {
    const { open, openOther } = this.#options;
    const runtime = await open();
    return { runtime, other: openOther === undefined ? runtime : await openOther() };
  }
}
