// Admits runs that clients request: with the configured model, within its limits, and a limited number at a time.
//
// The configuration decides where data is sent and what it may cost. A client may choose a model name of the configured backend and lower
// limits, but never a backend, an address or a key.

import { LimitExceededError } from "../../errors.ts";
import type { Runtime } from "../../runtime.ts";
import type { RLM, RLMOptions, RunRequest } from "../../rlm/rlm.ts";
import type { Run } from "../../rlm/run.ts";
import { ProblemError, type Problem } from "../net/problem.ts";
import { checkLimits } from "./check-limits.ts";

export type ConfiguredModel = RLMOptions | { readonly whyNot: string };

export const DEFAULT_MAX_RUNS = 8;
/** A backend keeps state for every model name. */
const MAX_MODELS = 1000;

export class RunAdmission {
  readonly #runtime: Runtime;
  readonly #model: ConfiguredModel;
  readonly #maxRuns: number;
  readonly #live = new Set<Run>();
  /** Model names that clients have chosen. */
  readonly #models = new Set<string>();
  #rlm: RLM | undefined;

  constructor(runtime: Runtime, model: ConfiguredModel, maxRuns = DEFAULT_MAX_RUNS) {
    this.#runtime = runtime;
    this.#model = model;
    this.#maxRuns = maxRuns;
  }

  get running(): number {
    return this.#live.size;
  }

  /** Undefined: no model is configured. */
  get rlm(): RLM | undefined {
    if ("whyNot" in this.#model) return undefined;
    this.#rlm ??= this.#runtime.rlm(this.#model);
    return this.#rlm;
  }

  /** For MCP: its runs count towards the same limit. */
  get limited(): Pick<RLM, "limits" | "run"> | undefined {
    const { rlm } = this;
    return rlm === undefined ? undefined : { limits: rlm.limits, run: (request) => this.start(request) };
  }

  /** Throws a ProblemError when no model is configured. */
  checkConfigured(): void {
    if (this.rlm === undefined) throw new ProblemError(noModel(this.#model));
  }

  /** Throws a ProblemError, LimitExceededError, or a TypeError or RangeError for an invalid request. */
  start(request: RunRequest): Run {
    const { rlm } = this;
    if (rlm === undefined) throw new ProblemError(noModel(this.#model));
    checkLimits(request.limits, rlm.limits);
    for (const name of [request.model, request.subModel]) if (name !== undefined) this.#chooseModel(name);
    if (this.#live.size >= this.#maxRuns)
      throw new LimitExceededError({ what: "start another run", limit: "runs", value: this.#maxRuns });
    const run = rlm.run({ ...request, patterns: false });
    this.#live.add(run);
    const end = (): void => void this.#live.delete(run);
    run.result.then(end, end);
    return run;
  }

  #chooseModel(name: string): void {
    const { backend } = this.#model as RLMOptions;
    if (backend === "scripted") throw new ProblemError(SCRIPTED);
    if (!this.#models.has(name) && this.#models.size >= MAX_MODELS) throw new ProblemError(TOO_MANY_MODELS);
    this.#models.add(name);
  }
}

function noModel(model: ConfiguredModel): Problem {
  const why = "whyNot" in model ? model.whyNot : "";
  return { status: 409, code: "NO_MODEL", detail: `No model can be asked: ${why}` };
}

const SCRIPTED: Problem = {
  status: 422,
  code: "INVALID",
  detail: "The models of this server are scripts in files: a request cannot choose one",
};
const TOO_MANY_MODELS: Problem = {
  status: 422,
  code: "INVALID",
  detail: `${MAX_MODELS} different models were asked for already: choose one of them, or none`,
};
