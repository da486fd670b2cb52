// Admits runs that clients request: with the configured model, within its limits, and a limited number at a time.
//
// The configuration decides where data is sent and what it may cost. A client may choose a configured model, another one of a backend that
// answers for a configured role, and lower limits, but never another backend, an address or a key.

import { LimitExceededError } from "../../errors.ts";
import type { Runtime } from "../../runtime.ts";
import type { ModelChoice } from "../../rlm/models/model-choice.ts";
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
  #choice: ModelChoice | undefined;
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
    const { model, subModel, childModel, extractModel } = request;
    for (const name of [model, subModel, childModel, extractModel]) if (name !== undefined) this.#checkModel(rlm, name);
    if (this.#live.size >= this.#maxRuns)
      throw new LimitExceededError({ what: "start another run", limit: "runs", value: this.#maxRuns });
    const run = rlm.run({ ...request, patterns: false });
    this.#live.add(run);
    const end = (): void => void this.#live.delete(run);
    run.result.then(end, end);
    return run;
  }

  #checkModel(rlm: RLM, name: string): void {
    this.#choice ??= rlm.modelChoice(MAX_MODELS);
    const why = this.#choice.whyNot(name);
    if (why === undefined) return;
    const detail = `Cannot use the model '${name}': ${why}`;
    throw new ProblemError({ status: 422, code: "INVALID", detail });
  }
}

function noModel(model: ConfiguredModel): Problem {
  const why = "whyNot" in model ? model.whyNot : "";
  return { status: 409, code: "NO_MODEL", detail: `No model can be asked: ${why}` };
}
