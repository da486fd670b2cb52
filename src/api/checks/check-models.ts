// Models, their settings and their backends, checked when runs are set up on this machine. Each check throws a TypeError or RangeError.

import type { LocalRLMOptions } from "../local.ts";
import type { BackendDefinition, ModelDefinition, ModelSettings } from "../models.ts";
import { checkCount } from "../../util/check-number.ts";
import { checkOptions, nameType, optionNames } from "./check-options.ts";
import { checkModelName, checkSampling, show } from "./check-sampling.ts";

const MODEL = optionNames<ModelDefinition>({
  model: true,
  backend: true,
  description: true,
  temperature: true,
  seed: true,
  reasoningEffort: true,
  maxTokens: true,
  extraBody: true,
  strategy: true,
  contextWindow: true,
  maxOutputTokens: true,
});
const BACKEND = optionNames<BackendDefinition>({ type: true, baseUrl: true, apiKey: true });

/** `what` has the settings. */
export function checkModelSettings(what: string, settings: ModelSettings): void {
  const { reasoningEffort, extraBody, maxTokens, contextWindow, maxOutputTokens } = settings;
  checkSampling(what, settings);
  if (reasoningEffort !== undefined && typeof reasoningEffort !== "string")
    throw new TypeError(`Cannot use ${show(reasoningEffort)} as reasoningEffort of ${what}: it must be a string`);
  if (extraBody !== undefined && !isObject(extraBody))
    throw new TypeError(`Cannot use ${nameType(extraBody)} as extraBody of ${what}: it must be an object`);
  for (const [name, value] of Object.entries({ maxTokens, contextWindow, maxOutputTokens }))
    checkCount(`${name} of ${what}`, value, 1);
}

/** The names, and the settings of each. Language models are checked where they are used. */
export function checkDefinitions({ models, backends }: Pick<LocalRLMOptions, "models" | "backends">): void {
  for (const [name, model] of entriesOf("models", models)) {
    if (isObject(model) && "doStream" in model) continue;
    const what = `the model '${name}'`;
    checkOptions(what, model ?? null, MODEL);
    const definition = model as ModelDefinition;
    if (!isObject(definition.model)) checkModelName(`model of ${what}`, definition.model ?? "");
    checkModelName(`backend of ${what}`, definition.backend);
    checkModelName(`description of ${what}`, definition.description);
    checkModelSettings(what, definition);
  }
  for (const [name, backend] of entriesOf("backends", backends)) {
    if (isObject(backend) && "stream" in backend) continue;
    checkOptions(`the backend '${name}'`, backend ?? null, BACKEND);
    const { type, baseUrl, apiKey } = backend as BackendDefinition;
    for (const [key, value] of Object.entries({ type, baseUrl, apiKey: apiKey || undefined }))
      checkModelName(`${key} of the backend '${name}'`, value);
  }
}

function entriesOf(option: string, value: unknown): readonly (readonly [string, unknown])[] {
  if (value === undefined) return [];
  if (!isObject(value) || Array.isArray(value))
    throw new TypeError(`Cannot use ${nameType(value)} as ${option}: it must be an object, by name`);
  const entries = Object.entries(value);
  if (entries.some(([name]) => name === "")) throw new TypeError(`Cannot use ${option}: a name is empty`);
  return entries;
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
