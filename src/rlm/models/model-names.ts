// Models by name. A model object gets the name that events, budgets and code inside sessions use for it: that of its definition, else
// its id.

import type { ModelDefinition, ModelSettings } from "../../api/models.ts";
import { checkLanguageModel, type LanguageModel } from "../../backends/providers/language-model.ts";
import { omitUndefined } from "../../util/omit-undefined.ts";

/** Who answers what in a run. */
export interface ModelRoles<Model = string> {
  /** The root. */
  readonly model: Model;
  /** `llm_query`. */
  readonly subModel?: Model | undefined;
  /** Nodes below the root. */
  readonly childModel?: Model | undefined;
  /** The best answer at a limit. */
  readonly extractModel?: Model | undefined;
}

/** A model under a name of its own. Its `object` answers, or a backend. */
export type NamedModel = {
  readonly settings: ModelSettings;
  /** False: it is the object of a role, which nobody has given a name. */
  readonly isDefined: boolean;
  /** What it is good for. */
  readonly description?: string | undefined;
} & (
  | { readonly object: LanguageModel }
  | { readonly backend?: string | undefined; readonly model: string; readonly object?: undefined }
);

export interface NamedModels {
  readonly roles: ModelRoles;
  /** Those that are defined under a name, and the objects of roles. */
  readonly named: ReadonlyMap<string, NamedModel>;
}

type Definitions = Readonly<Record<string, ModelDefinition | LanguageModel>>;

const SUFFIXES: Readonly<Record<keyof ModelRoles, string>> = {
  model: "model",
  subModel: "sub-model",
  childModel: "child model",
  extractModel: "extract model",
};

/** Throws a TypeError for what is no model. */
export function nameModels(models: ModelRoles<string | LanguageModel>, definitions: Definitions = {}): NamedModels {
  const named = new Map(Object.entries(definitions).map(([name, one]) => [name, toNamed(name, one)]));
  const toName = (one: string | LanguageModel, role: keyof ModelRoles): string => {
    if (typeof one === "string" && one !== "") return one;
    if (typeof one !== "object" || one === null) throw new TypeError("Cannot set up a run: name a model");
    checkLanguageModel(one);
    for (const [name, { object }] of named) if (object === one) return name;
    // The same model twice, with different settings, is two models.
    const name = named.has(one.modelId) ? `${one.modelId} (${SUFFIXES[role]})` : one.modelId;
    named.set(name, { object: one, settings: {}, isDefined: false });
    return name;
  };
  const { model, ...others } = models;
  const roles = { model: toName(model, "model") };
  const optional = Object.entries(omitUndefined(others)) as (readonly [
    Exclude<keyof ModelRoles, "model">,
    string | LanguageModel,
  ])[];
  return {
    roles: { ...roles, ...Object.fromEntries(optional.map(([role, one]) => [role, toName(one, role)])) },
    named,
  };
}

function toNamed(name: string, one: ModelDefinition | LanguageModel): NamedModel {
  if (name === "") throw new TypeError("Cannot use models: a name is empty");
  if ("doStream" in one) return toNamed(name, { model: one });
  const { model, backend, description, ...own } = one;
  const about = { settings: omitUndefined(own), description, isDefined: true };
  if (typeof model === "string") return { ...about, model, backend };
  checkLanguageModel(model);
  return { ...about, object: model };
}
