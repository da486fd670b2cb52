// Models by name. A model object gets the name that events, budgets and code inside sessions use for it.

import { checkLanguageModel, type LanguageModel } from "../../backends/providers/language-model.ts";

export interface NamedModels {
  readonly model: string;
  /** Undefined: the model. */
  readonly subModel: string | undefined;
  readonly objects: ReadonlyMap<string, LanguageModel>;
  /** Whether one of them is called by name, which needs a backend. */
  readonly needsBackend: boolean;
}

/** Throws a TypeError for what is no model. */
export function nameModels(model: string | LanguageModel, subModel: string | LanguageModel | undefined): NamedModels {
  const objects = new Map<string, LanguageModel>();
  const toName = (one: string | LanguageModel): string => {
    if (typeof one === "string") {
      if (one === "") throw new TypeError("Cannot set up a run: name a model");
      return one;
    }
    checkLanguageModel(one);
    // The same model twice, with different settings, is two models.
    const isTaken = objects.has(one.modelId) && objects.get(one.modelId) !== one;
    const name = isTaken ? `${one.modelId} (sub-model)` : one.modelId;
    objects.set(name, one);
    return name;
  };
  if (typeof model !== "string" && typeof model !== "object") {
    throw new TypeError("Cannot set up a run: name a model");
  }
  const named = { model: toName(model), subModel: subModel === undefined ? undefined : toName(subModel) };
  return { ...named, objects, needsBackend: [model, subModel].some((one) => typeof one === "string") };
}
