// What some models do not accept, and how a request is made without it.
//
// A quirk is learned from a refusal and holds for its model from then on. Each one changes the request in a single way, so several of
// them can apply to one model.

import type { ChatMessage } from "../../backend.ts";
import type { WireRequest } from "../protocols/wire-protocol.ts";
import type { Refusal } from "./refusal.ts";

export interface Quirk {
  /** The field of the request that it is about. An error that points at a field is about nothing else. */
  readonly field?: RegExp;
  readonly isMeant: (text: string) => boolean;
  /** The same object where there is nothing to change. */
  readonly adapt: (request: WireRequest) => WireRequest;
}

type Setting = "temperature" | "reasoningEffort" | "schema" | "seed" | "stableMessages";

/** Refusals of the role, by OpenAI, the templates of Gemma and Llama, the Gemini API, Anthropic, and checks of JSON. */
const NO_SYSTEM_ROLE =
  /'system' with this model|system (?:role|message|prompt|instruction)s?.{0,30}(?:not (?:be )?(?:supported|allowed|enabled|permitted|available)|unsupported)|(?:not|n't) support (?:the )?.?system|only (?:the )?user and assistant roles|unexpected role .?system|developer instruction is not enabled|(?:variant|role|received) .?(?:system|developer)|developer is not one of|should be 'user' or 'assistant'/i;

/** A wrong value is a mistake of the caller, who should be told. Only a model without the setting goes without it. */
const WRONG_VALUE = /above maximum|below minimum|between|(?:less|greater) than|[<>]=|one of|should be|must be/i;
const WRONG_EFFORT = /value|valid|one of|should be|must be/i;

/** Not a limit that is too high: a server that ignores fields which it does not know would then answer without a limit. */
const MISNAMED_LIMIT =
  /use .?max_completion_tokens|(?:unsupported|unknown|unrecognized|extra) (?:request )?(?:parameter|argument|field|name|input)s?.{0,40}\bmax_tokens\b|\bmax_tokens ; extra/i;

const QUIRKS: readonly Quirk[] = [
  without("temperature", /temperature/i, WRONG_VALUE),
  // Ollama and Google call it thinking.
  without(
    "reasoningEffort",
    /effort|does not support thinking|thinking.{0,40}not (?:supported|enabled)/i,
    WRONG_EFFORT,
  ),
  without("schema", /response_?format|json_?schema|output_(config|format)|text\.format|structured output/i),
  without("seed", /\bseed\b/i, WRONG_VALUE),
  without("stableMessages", /prompt_cache_key/i),
  {
    field: /stream_options/,
    isMeant: (text) => /stream_options|include_usage/i.test(text),
    adapt: (request) => (request.reportsUsage === false ? request : { ...request, reportsUsage: false }),
  },
  {
    isMeant: (text) => MISNAMED_LIMIT.test(text),
    adapt: (request) =>
      request.maxTokens === undefined || request.tokenField !== undefined
        ? request
        : { ...request, tokenField: "max_completion_tokens" },
  },
  { isMeant: (text) => /roles? must alternate|must alternate between/i.test(text), adapt: mergeRoles },
  {
    // A template without a system role may only say that the roles do not alternate.
    isMeant: (text) => NO_SYSTEM_ROLE.test(text) || /^(?!.*optional system).*roles must alternate/is.test(text),
    adapt: moveSystem,
  },
];

/** Of OpenAI, Anthropic and Google, which point into the schema, and of most others. */
const INVALID_SCHEMA = /invalid (?:json )?schema|\bin context=|schema[.:[]/i;

/** Whether a schema is at fault and not the model. Such an error may quote any part of the schema, so it says nothing of the model. */
export function isAboutSchema({ text }: Refusal, { schema }: WireRequest): boolean {
  return schema !== undefined && INVALID_SCHEMA.test(text);
}

export function applyQuirks(quirks: ReadonlySet<Quirk>, request: WireRequest): WireRequest {
  return QUIRKS.reduce((adapted, quirk) => (quirks.has(quirk) ? quirk.adapt(adapted) : adapted), request);
}

/** The first quirk that the refusal means and that would change the request. Undefined: there is none. */
export function findQuirk({ text, fields }: Refusal, sent: WireRequest): Quirk | undefined {
  const meant = QUIRKS.filter((quirk) => quirk.adapt(sent) !== sent && quirk.isMeant(text));
  return meant.find(({ field }) => fields.some((name) => field?.test(name) === true)) ?? meant[0];
}

function without(setting: Setting, field: RegExp, unless?: RegExp): Quirk {
  return {
    field,
    isMeant: (text) => field.test(text) && unless?.test(text) !== true,
    adapt: (request) => {
      if (request[setting] === undefined) return request;
      const { [setting]: _, ...rest } = request;
      return rest;
    },
  };
}

/** System messages become the beginning of the first message of the user. */
function moveSystem(request: WireRequest): WireRequest {
  const { messages } = request;
  if (!messages.some(({ role }) => role === "system")) return request;
  return mergeRoles({
    ...request,
    messages: messages.map(({ role, content }) => ({ role: role === "assistant" ? role : "user", content })),
  });
}

/** Messages of one role that follow each other become one. It stays the same in later requests where its last part does. */
function mergeRoles(request: WireRequest): WireRequest {
  const { messages, stableMessages } = request;
  const merged: ChatMessage[] = [];
  let stable = 0;
  messages.forEach((message, index) => {
    const last = merged.at(-1);
    if (last?.role !== message.role) merged.push(message);
    else merged[merged.length - 1] = { ...last, content: `${last.content}\n\n${message.content}` };
    const isComplete = messages[index + 1]?.role !== message.role;
    if (isComplete && index < (stableMessages ?? 0)) stable = merged.length;
  });
  if (merged.length === messages.length) return request;
  return { ...request, messages: merged, ...(stableMessages !== undefined && { stableMessages: stable }) };
}
