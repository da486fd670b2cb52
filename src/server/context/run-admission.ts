// Questions that clients ask: which model answers them, within which limits, how many at once.
//
// Whoever configured the server says where material goes and what it may cost. A client chooses the name of a model there and less of
// each limit, never a backend, an address or a key.

import { LimitExceededError } from "../../errors.ts";
import type { Runtime } from "../../runtime.ts";
import type { RLM, RLMLimits, RLMOptions, RunRequest } from "../../rlm/rlm.ts";
import type { Run } from "../../rlm/run.ts";
import { ProblemError, type Problem } from "../net/problem.ts";

export type ConfiguredModel = RLMOptions | { readonly whyNot: string };

export const DEFAULT_RUNS = 8;
/** A backend remembers something of every model that it was asked for. */
const MAX_MODELS = 1000;

export class AskedRuns {
  readonly #runtime: Runtime;
  readonly #model: ConfiguredModel;
  readonly #atOnce: number;
  readonly #live = new Set<Run>();
  /** Names that clients chose. */
  readonly #models = new Set<string>();
  #rlm: RLM | undefined;

  constructor(runtime: Runtime, model: ConfiguredModel, atOnce = DEFAULT_RUNS) {
    this.#runtime = runtime;
    this.#model = model;
    this.#atOnce = atOnce;
  }

  /** That began here and go on. */
  get running(): number {
    return this.#live.size;
  }

  /** Undefined: no model is configured. */
  get rlm(): RLM | undefined {
    if ("whyNot" in this.#model) return undefined;
    this.#rlm ??= this.#runtime.rlm(this.#model);
    return this.#rlm;
  }

  /** The same for whoever asks in another way: its runs are counted with the others. */
  get bounded(): Pick<RLM, "limits" | "run"> | undefined {
    const { rlm } = this;
    return rlm === undefined ? undefined : { limits: rlm.limits, run: (request) => this.start(request) };
  }

  /** Throws a ProblemError, LimitExceededError, or a TypeError or RangeError for what can never be run. */
  start(request: RunRequest): Run {
    const { rlm } = this;
    if (rlm === undefined) throw new ProblemError(noModel(this.#model));
    checkLimits(request.limits, rlm.limits);
    for (const name of [request.model, request.subModel]) if (name !== undefined) this.#choose(name);
    if (this.#live.size >= this.#atOnce)
      throw new LimitExceededError({ what: "start another run", limit: "runs", value: this.#atOnce });
    const run = rlm.run({ ...request, patterns: false });
    this.#live.add(run);
    const end = (): void => void this.#live.delete(run);
    run.result.then(end, end);
    return run;
  }

  #choose(name: string): void {
    const { backend } = this.#model as RLMOptions;
    if (backend === "scripted") throw new ProblemError(FILES);
    if (!this.#models.has(name) && this.#models.size >= MAX_MODELS) throw new ProblemError(TOO_MANY_MODELS);
    this.#models.add(name);
  }
}

function noModel(model: ConfiguredModel): Problem {
  const why = "whyNot" in model ? model.whyNot : "";
  return { status: 409, code: "NO_MODEL", detail: `No model can be asked: ${why}` };
}

const FILES: Problem = {
  status: 422,
  code: "INVALID",
  detail: "The models of this server are scripts in files: a request cannot choose one",
};
const TOO_MANY_MODELS: Problem = {
  status: 422,
  code: "INVALID",
  detail: `${MAX_MODELS} different models were asked for already: choose one of them, or none`,
};

function checkLimits(asked: RLMLimits = {}, allowed: RLMLimits): void {
  for (const [name, value] of Object.entries(asked) as [keyof RLMLimits, number][]) {
    const most = allowed[name];
    if (most === undefined || value <= most) continue;
    const detail = `Field 'limits.${name}' is wrong: this server allows ${most} at most`;
    throw new ProblemError({ status: 422, code: "INVALID_BODY", detail });
  }
}
