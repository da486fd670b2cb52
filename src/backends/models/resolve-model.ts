// Which backend answers for the name of a model, and what the model is called there.
//
// A name of `models` comes first. Where a `backend` is set, every other name goes to it whole: names of some providers have slashes.
// Otherwise the part before the first slash is a backend if there is one of that name, and any other name decides by its beginning.

import { didYouMean } from "../../util/text/did-you-mean.ts";
import { BACKENDS, backendOfModel } from "../provider-table.ts";

/** Where names are looked up. */
export interface ModelNames {
  readonly models?: Readonly<Record<string, { readonly backend?: string | undefined; readonly model: string }>>;
  /** Backends by name, beside the built-in ones. */
  readonly backends?: Readonly<Record<string, unknown>>;
  /** Whether all models without a backend of their own go to one that was chosen for the run. */
  readonly hasBackend: boolean;
}

export interface ResolvedModel {
  /** Null: the one that was chosen for the run. */
  readonly backend: string | null;
  /** As the backend spells it. */
  readonly model: string;
}

export function resolveModel(name: string, names: ModelNames): ResolvedModel {
  const { models = {} } = names;
  const defined = Object.hasOwn(models, name) ? models[name] : undefined;
  if (defined === undefined) return resolvePlain(name, names);
  const { backend, model } = defined;
  return backend === undefined ? resolvePlain(model, names) : { backend, model };
}

function resolvePlain(name: string, { backends = {}, hasBackend }: ModelNames): ResolvedModel {
  if (hasBackend) return { backend: null, model: name };
  const [backend = "", ...rest] = name.split("/");
  const model = rest.join("/");
  const isBackend = Object.hasOwn(backends, backend) || BACKENDS.includes(backend);
  return isBackend && model !== "" ? { backend, model } : { backend: backendOfModel(name), model: name };
}

/** The name that was probably meant where a name is defined nowhere: that of a model, or with that of a backend before the slash. */
export function suggestModel(name: string, { models = {}, backends = {}, hasBackend }: ModelNames): string | undefined {
  if (hasBackend || Object.hasOwn(models, name)) return undefined;
  const [backend = "", ...rest] = name.split("/");
  if (rest.length === 0) return didYouMean(name, Object.keys(models));
  const known = [...Object.keys(backends), ...BACKENDS];
  const near = known.includes(backend) ? undefined : didYouMean(backend, known);
  return near === undefined ? undefined : `${near}/${rest.join("/")}`;
}
