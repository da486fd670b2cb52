import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { BackendRequest, ModelFacts } from "../../../../src/backends/backend.ts";
import { toBackendError } from "../../../../src/backends/providers/errors/to-backend-error.ts";
import { Adaptations } from "../../../../src/backends/providers/refusals/adaptations.ts";
import { readRefusal } from "../../../../src/backends/providers/refusals/refusal.ts";
import type { WireRequest } from "../../../../src/backends/providers/protocols/wire-protocol.ts";

const request: BackendRequest = { model: "m", messages: [{ role: "user", content: "How many?" }], maxTokens: 16_000 };

/** What is sent after a refusal. Null: it is not sent again. */
function afterRefusal(sent: BackendRequest, status: number, body: string): WireRequest | null {
  const adapted = new Adaptations().start(sent);
  return refuse(adapted, status, body) ? adapted.current : null;
}

function refuse(adapted: ReturnType<Adaptations["start"]>, status: number, body: string): boolean {
  const error = Object.assign(new Error("the request failed"), { statusCode: status, responseBody: body });
  return adapted.refused(toBackendError(error, "b", []), readRefusal(error));
}

function factsAfter(sent: BackendRequest, status: number, body: string): ModelFacts {
  const adaptations = new Adaptations();
  refuse(adaptations.start(sent), status, body);
  return adaptations.factsOf(sent.model);
}

/** As OpenAI and most others report an error. */
const error = (message: string, fields: object = {}): string =>
  JSON.stringify({ error: { message, type: "invalid_request_error", ...fields } });

describe("more output than the model can write", () => {
  test.each([
    [
      "Anthropic",
      8192,
      "max_tokens: 16000 > 8192, which is the maximum allowed number of output tokens for claude-3-5",
    ],
    [
      "OpenAI",
      4096,
      "max_tokens is too large: 16000. This model supports at most 4096 completion tokens, whereas you provided 16000.",
    ],
    [
      "OpenAI's checks",
      8192,
      "Invalid 'max_output_tokens': integer above maximum value. Expected a value <= 8192, but got 16000 instead.",
    ],
    ["DeepSeek", 8192, "Invalid max_tokens value, the valid range of max_tokens is [1, 8192]"],
    ["Alibaba", 8192, "<400> InternalError.Algo.InvalidParameter: Range of max_tokens should be [1, 8192]"],
    [
      "Groq",
      8192,
      "`max_tokens` must be less than or equal to `8192`, the maximum value for `max_tokens` is less than the `context_window` for this model",
    ],
    ["Groq, before", 8000, "max_tokens for `llama-3.1-8b-instant` must be less than or equal to 8000"],
    [
      "Vertex AI",
      8192,
      "Unable to submit request because it has a maxOutputTokens value of 16000 but the supported range is from 1 (inclusive) to 8193 (exclusive). Update the value and try again.",
    ],
    [
      "Amazon Bedrock",
      4096,
      "The maximum tokens you requested exceeds the model limit of 4096. Try again with a maximum tokens value that is lower than 4096.",
    ],
    [
      "Cohere",
      4000,
      "too many tokens: max tokens must be less than or equal to 4000, the maximum output length for this model - received 16000.",
    ],
    ["a range", 4096, "max_tokens must be between 1 and 4096"],
  ])("is not asked for again: %s", (_, limit, message) => {
    expect(afterRefusal(request, 400, error(message))).toEqual({ ...request, maxTokens: limit });
    expect(factsAfter(request, 400, error(message))).toEqual({ maxOutputTokens: limit });
  });

  test("is refused in words without a number: less is tried, and kept once it was accepted", () => {
    const adaptations = new Adaptations();
    const first = adaptations.start(request);
    expect(refuse(first, 400, error("The value of max_tokens is too high"))).toBe(true);
    expect(first.current.maxTokens).toBe(4000);
    expect(adaptations.factsOf("m")).toEqual({});
    first.accepted();
    expect(adaptations.factsOf("m")).toEqual({ maxOutputTokens: 4000 });
    expect(adaptations.start(request).current.maxTokens).toBe(4000);
    expect(adaptations.start({ ...request, model: "other" }).current.maxTokens).toBe(16_000);
  });

  test("is less for lack of credit, for this request only", () => {
    const body = error(
      "This request requires more credits, or fewer max_tokens. You requested up to 16000 tokens, but can only afford 3919.",
      { code: 402 },
    );
    expect(afterRefusal(request, 402, body)?.maxTokens).toBe(3919);
    const { maxTokens: _, ...unlimited } = request;
    expect(afterRefusal(unlimited, 402, body)?.maxTokens).toBe(3919);
    expect(factsAfter(request, 402, body)).toEqual({});
  });
});

describe("input and output that do not fit into the window together", () => {
  test.each([
    [
      "OpenAI",
      8192,
      8092,
      "This model's maximum context length is 8192 tokens. However, you requested 16100 tokens (100 in the messages, 16000 in the completion). Please reduce the length of the messages or completion.",
    ],
    [
      "OpenAI's completions",
      4097,
      3841,
      "This model's maximum context length is 4097 tokens, however you requested 16256 tokens (256 in your prompt; 16000 for the completion). Please reduce your prompt; or completion length.",
    ],
    [
      "Anthropic",
      200_000,
      10_000,
      "input length and `max_tokens` exceed context limit: 190000 + 16000 > 200000, decrease input length or `max_tokens` and try again",
    ],
    [
      "vLLM",
      8192,
      8072,
      "'max_tokens' or 'max_completion_tokens' is too large: 16000. This model's maximum context length is 8192 tokens and your request has 120 input tokens (16000 > 8192 - 120).",
    ],
    [
      "vLLM, later",
      8192,
      8072,
      "This model's maximum context length is 8192 tokens. However, you requested 16000 output tokens and your prompt contains 120 input tokens, for a total of 16120 tokens.",
    ],
    [
      "SGLang",
      8192,
      8072,
      "Requested token count exceeds the model's maximum context length of 8192 tokens. You requested a total of 16120 tokens: 120 tokens from the input messages and 16000 tokens for the completion.",
    ],
    [
      "OpenRouter",
      131_072,
      15_072,
      "This endpoint's maximum context length is 131072 tokens. However, you requested about 132000 tokens (116000 of text input, 16000 in the output). Please reduce the length of either one.",
    ],
    [
      "Text Generation Inference",
      4096,
      3996,
      "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096. Given: 100 `inputs` tokens and 16000 `max_new_tokens`",
    ],
    [
      "Cerebras",
      8192,
      8092,
      "Please reduce the length of the messages or completion. Current length is 16100 while limit is 8192",
    ],
    [
      "Cohere",
      4096,
      3996,
      "too many tokens: total number of tokens (prompt and prediction) cannot exceed 4096 - received 16100.",
    ],
    ["llama-cpp-python", 2048, 1948, "Requested tokens (16100) exceed context window of 2048"],
    ["Moonshot", 8192, 8092, "Invalid request: Your request exceeded model token limit: 8192 (requested: 16100)"],
    [
      "commas",
      128_000,
      28_000,
      "maximum context length is 128,000 tokens. However, your prompt contains 100,000 input tokens",
    ],
  ])("are sent again with less output: %s", (_, contextWindow, room, message) => {
    const large = { ...request, maxTokens: room < 16_000 ? 16_000 : 32_000 };
    expect(afterRefusal(large, 400, error(message))).toEqual({ ...large, maxTokens: room });
    expect(factsAfter(large, 400, error(message))).toEqual({ contextWindow });
  });

  test.each([
    [
      "Groq",
      413,
      "Request too large for model `llama-3.1-8b-instant` in organization `org_1` service tier `on_demand` on tokens per minute (TPM): Limit 6000, Requested 16100, please reduce your message size and try again.",
    ],
    [
      "OpenAI",
      429,
      "Request too large for gpt-4o in organization org-1 on tokens per min (TPM): Limit 6000, Requested 16100. The input or output tokens must be reduced in order to run successfully.",
    ],
  ])("are more than a minute's tokens: %s", (_, status, message) => {
    expect(afterRefusal(request, status, error(message, { code: "rate_limit_exceeded" }))?.maxTokens).toBe(5900);
    expect(factsAfter(request, status, error(message))).toEqual({ contextWindow: 6000 });
    const used = error("Rate limit reached for gpt-4o on tokens per min (TPM): Limit 6000, Used 5034, Requested 1443.");
    expect(afterRefusal(request, 429, used)).toBeNull();
  });

  test("are reduced step by step where the provider stopped counting", () => {
    // vLLM counts just far enough to know that it is too much.
    const refusal = (tokens: number): string =>
      error(
        `This model's maximum context length is 8192 tokens. However, you requested ${tokens} output tokens and your prompt contains at least ${8193 - tokens} input tokens, for a total of at least 8193 tokens.`,
      );
    const content = "word ".repeat(4_000);
    const adapted = new Adaptations().start({ model: "m", maxTokens: 8_000, messages: [{ role: "user", content }] });
    const tried: (number | undefined)[] = [];
    while (refuse(adapted, 400, refusal(adapted.current.maxTokens ?? 0))) tried.push(adapted.current.maxTokens);
    expect(tried).toEqual([2000, 1517, 379]);
  });

  test("are too much where the input alone does not fit; the window is learned", () => {
    for (const [status, body, contextWindow] of [
      [400, error("prompt is too long: 208310 tokens > 200000 maximum"), 200_000],
      [
        400,
        error("The input token count (1200293) exceeds the maximum number of tokens allowed (1048576)."),
        1_048_576,
      ],
      [400, error("This model's maximum prompt length is 131072 but the request contains 136973 tokens."), 131_072],
      [
        400,
        error("This model's maximum context length is 4097 tokens. However, your messages resulted in 4294 tokens."),
        4097,
      ],
      [422, error("`inputs` must have less than 4096 tokens. Given: 5000"), 4096],
      [400, error("The input (61709 tokens) is longer than the model's context length (40960 tokens)."), 40_960],
      [400, error("Input length (160062 tokens) exceeds the maximum allowed length (59862 tokens)."), 59_862],
      [
        400,
        error("Prompt contains 34567 tokens and 0 draft tokens, too large for model with 32768 maximum context length"),
        32_768,
      ],
      [
        400,
        error(
          "Trying to keep the first 15857 tokens when context the overflows. However, the model is loaded with context length of only 8192 tokens, which is not enough.",
        ),
        8192,
      ],
      [400, error("request (14429 tokens) exceeds the available context size (8192 tokens), try increasing it"), 8192],
      [
        500,
        JSON.stringify({
          error: {
            code: 500,
            message: "the request exceeds the available context size",
            type: "exceed_context_size_error",
            n_prompt_tokens: 1407,
            n_ctx: 256,
          },
        }),
        256,
      ],
      [400, error("max_tokens must be at least 1, got -2815."), undefined],
      [400, error("Input is too long for requested model."), undefined],
      [
        400,
        error("The number of tokens to keep from the initial prompt is greater than the context length."),
        undefined,
      ],
    ] as const) {
      const failure = Object.assign(new Error("failed"), { statusCode: status, responseBody: body });
      expect(toBackendError(failure, "b", []), body).toMatchObject({ fault: "context-too-long", retryable: false });
      expect(afterRefusal(request, status, body), body).toBeNull();
      expect(factsAfter(request, status, body), body).toEqual(contextWindow === undefined ? {} : { contextWindow });
    }
  });

  test("do not fit for an answer that is of any use", () => {
    const body = error("input length and `max_tokens` exceed context limit: 199990 + 16000 > 200000");
    expect(afterRefusal(request, 400, body)).toBeNull();
    expect(afterRefusal({ ...request, maxTokens: 20 }, 400, body.replace("16000", "20"))).toBeNull();
  });

  test("are sent with a limit where none was sent and the provider adds its own", () => {
    const { maxTokens: _, ...unlimited } = request;
    const body = error(
      "This endpoint's maximum context length is 131072 tokens. However, you requested about 138956 tokens (7884 of text input, 131072 in the output).",
    );
    expect(afterRefusal(unlimited, 400, body)?.maxTokens).toBe(123_188);
  });
});

const full: BackendRequest = {
  ...request,
  temperature: 0.5,
  seed: 1,
  reasoningEffort: "high",
  schema: { type: "object" },
  messages: [
    { role: "system", content: "Be brief." },
    { role: "user", content: "How many?" },
  ],
};
const merged = [{ role: "user", content: "Be brief.\n\nHow many?" }];
const pydantic = (field: string): string =>
  JSON.stringify({
    detail: [
      {
        type: "extra_forbidden",
        loc: ["body", field],
        msg: "Extra inputs are not permitted",
        input: { temperature: 1, seed: 2 },
      },
    ],
  });

describe("a schema that is refused for what is in it", () => {
  // Code of a session writes schemas, and errors quote them.
  const lie = "maximum context length is 256 tokens, temperature is not supported, max_tokens must be at most 16";
  const sent = { ...request, temperature: 1, schema: { type: "object", properties: { [lie]: {} } } };
  test.each([
    [
      "OpenAI",
      `Invalid schema for response_format 'response': In context=('properties', '${lie}'), 'type' is required.`,
    ],
    ["Anthropic", `output_config.format.schema: property '${lie}' is not supported`],
    ["Google", `* GenerateContentRequest.generation_config.response_schema.properties[${lie}]: should be non-empty`],
  ])("is left out of that request, and nothing is learned of the model: %s", (_, message) => {
    const adaptations = new Adaptations();
    const adapted = adaptations.start(sent);
    expect(refuse(adapted, 400, error(message, { param: "text.format.schema" }))).toBe(true);
    const { schema: _schema, ...rest } = sent;
    expect(adapted.current).toEqual(rest);
    expect(adaptations.factsOf("m")).toEqual({});
    expect(adaptations.start(sent).current).toEqual(sent);
  });
});

describe("a setting that the model does not have", () => {
  test.each<[string, number, string, object]>([
    [
      "temperature",
      400,
      error(
        "Unsupported value: 'temperature' does not support 0.5 with this model. Only the default (1) value is supported.",
        { param: "temperature" },
      ),
      { temperature: undefined },
    ],
    ["temperature, deprecated", 400, error("`temperature` is deprecated for this model."), { temperature: undefined }],
    ["effort", 400, error("reasoning_effort is not supported by this model"), { reasoningEffort: undefined }],
    ["schema", 400, error("This response_format type is unavailable now"), { schema: undefined }],
    [
      "seed",
      400,
      `[${error('Invalid JSON payload received. Unknown name "seed": Cannot find field.')}]`,
      { seed: undefined },
    ],
    [
      "seed of LiteLLM",
      500,
      error(
        "ollama does not support parameters: {'seed': 1}, for model=llama3:latest. To drop these, set `litellm.drop_params=True`",
      ),
      { seed: undefined },
    ],
    ["seed of Mistral", 422, pydantic("seed"), { seed: undefined }],
    [
      "stream_options of Azure",
      400,
      error("Unrecognized request argument supplied: stream_options"),
      { reportsUsage: false },
    ],
    [
      "stream_options of new-api",
      400,
      error("Unknown parameter: 'stream_options'.", { param: "stream_options" }),
      { reportsUsage: false },
    ],
    [
      "stream_options of Azure AI",
      400,
      JSON.stringify({
        detail:
          "Extra parameters ['stream_options'] are not allowed when extra-parameters is not set or set to be 'error'.",
      }),
      { reportsUsage: false },
    ],
    ["stream_options of FastAPI", 422, pydantic("stream_options"), { reportsUsage: false }],
    [
      "max_tokens of OpenAI",
      400,
      error(
        "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
        { param: "max_tokens" },
      ),
      { tokenField: "max_completion_tokens" },
    ],
    ["max_tokens of FastAPI", 422, pydantic("max_tokens"), { tokenField: "max_completion_tokens" }],
    [
      "system of OpenAI",
      400,
      error("Unsupported value: 'messages[0].role' does not support 'system' with this model.", {
        param: "messages[0].role",
      }),
      { messages: merged },
    ],
    ["system of Gemma", 500, error("System role not supported"), { messages: merged }],
    [
      "system of Google",
      400,
      error("Developer instruction is not enabled for models/gemma-3-27b-it"),
      { messages: merged },
    ],
    ["system of Llama", 400, error("Only user and assistant roles are supported!"), { messages: merged }],
    [
      "developer",
      400,
      error(
        "Failed to deserialize the JSON body into the target type: messages[0].role: unknown variant `developer`, expected one of `system`, `user`, `assistant`",
      ),
      { messages: merged },
    ],
    [
      "developer of Alibaba",
      400,
      error("developer is not one of ['system', 'assistant', 'user', 'tool', 'function'] - 'messages.['0].role'"),
      { messages: merged },
    ],
    [
      "roles of Mixtral",
      400,
      error("Conversation roles must alternate user/assistant/user/assistant/..."),
      { messages: merged },
    ],
    [
      "behind a proxy",
      400,
      JSON.stringify({
        error: {
          message: "Provider returned error",
          code: 400,
          metadata: { raw: error("Unknown parameter: 'seed'.", { param: "seed" }), provider_name: "X" },
        },
      }),
      { seed: undefined },
    ],
  ])("is left out: %s", (_, status, body, change) => {
    const sent = JSON.parse(JSON.stringify({ ...full, ...change })) as object;
    expect(afterRefusal(full, status, body)).toEqual(sent);
    expect(factsAfter(full, status, body)).toEqual({});
  });

  test("is not confused with a wrong value, a missing model, or something else", () => {
    expect(afterRefusal(full, 400, error("reasoning_effort: value should be one of low, high"))).toBeNull();
    const tooHot = "Invalid 'temperature': decimal above maximum value. Expected a value <= 2, but got 2.1 instead.";
    expect(afterRefusal(full, 400, error(tooHot, { param: "temperature" }))).toBeNull();
    expect(afterRefusal(full, 404, error("no model with temperature"))).toBeNull();
    expect(afterRefusal(full, 400, error("the messages are wrong"))).toBeNull();
    expect(afterRefusal(full, 401, error("temperature"))).toBeNull();
    expect(afterRefusal(full, 503, error("temperature"))).toBeNull();
    expect(afterRefusal(request, 400, error("temperature"))).toBeNull();
  });
});

test("roles that must alternate are merged, and the cached prefix ends where it is whole", () => {
  const messages = [
    { role: "system", content: "s" },
    { role: "user", content: "a" },
    { role: "user", content: "b" },
    { role: "assistant", content: "c" },
  ] as const;
  const body = error(
    "After the optional system message, conversation roles must alternate user/assistant/user/assistant/...",
  );
  const after = (stableMessages: number): WireRequest | null =>
    afterRefusal({ ...request, messages, stableMessages }, 400, body);
  expect(after(4)).toEqual({
    ...request,
    messages: [messages[0], { role: "user", content: "a\n\nb" }, messages[3]],
    stableMessages: 3,
  });
  expect(after(2)?.stableMessages).toBe(1);
});

test("several refusals of one request are learned one after the other, and all at once by the next request", () => {
  const adaptations = new Adaptations();
  const adapted = adaptations.start(full);
  const bodies = [
    error("Unknown parameter: 'stream_options'."),
    error("Unsupported value: 'messages[0].role' does not support 'system' with this model."),
    error("Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."),
    error("Unsupported value: 'temperature' does not support 0.5 with this model."),
    error("This model supports at most 8192 completion tokens"),
  ];
  for (const body of bodies) expect(refuse(adapted, 400, body)).toBe(true);
  const { temperature: _, ...rest } = full;
  const expected = {
    ...rest,
    messages: merged,
    maxTokens: 8192,
    reportsUsage: false,
    tokenField: "max_completion_tokens",
  };
  expect(adapted.current).toEqual(expected);
  expect(adaptations.start(full).current).toEqual(expected);
  expect(refuse(adapted, 400, error("seed")), "there is an end").toBe(false);
});

describe("whatever a provider says", () => {
  const phrase = fc.constantFrom(
    "max_tokens must be less than or equal to ",
    "maximum context length is ",
    " input tokens",
    "temperature seed stream_options",
    "roles must alternate",
    "range of max_tokens is [1, ",
    "can only afford ",
    " > ",
    " + ",
  );
  const words = fc.array(fc.oneof(phrase, fc.integer().map(String), fc.bigInt().map(String), fc.string()), {
    maxLength: 12,
  });
  const anything = fc.oneof(
    words.map((parts) => error(parts.join(""))),
    fc.json(),
    fc.string(),
  );

  test("it never sends the same request twice, more output tokens, or without an end", () => {
    fc.assert(
      fc.property(
        fc.array(anything, { minLength: 8, maxLength: 8 }),
        fc.constantFrom(400, 422, 500, 402, 413),
        (bodies, status) => {
          const adaptations = new Adaptations();
          const adapted = adaptations.start(full);
          const sent = new Set([JSON.stringify(adapted.current)]);
          let changes = 0;
          for (const body of bodies) {
            const { maxTokens = Infinity } = adapted.current;
            if (!refuse(adapted, status, body)) continue;
            changes += 1;
            expect(sent).not.toContain(JSON.stringify(adapted.current));
            sent.add(JSON.stringify(adapted.current));
            expect(adapted.current.maxTokens).toBeLessThanOrEqual(maxTokens);
            expect(adapted.current.maxTokens).toBeGreaterThanOrEqual(1);
          }
          expect(changes).toBeLessThanOrEqual(5);
          const { contextWindow = 256, maxOutputTokens = 16 } = adaptations.factsOf("m");
          expect(contextWindow >= 256 && contextWindow <= 1e8 && maxOutputTokens >= 16 && maxOutputTokens <= 1e7).toBe(
            true,
          );
        },
      ),
    );
  });

  test("nonsense teaches nothing", () => {
    for (const message of [
      "maximum context length is 12 tokens",
      "max_tokens must be less than or equal to 3",
      "context window exceeds limit (2013)",
    ])
      expect(factsAfter(request, 400, error(message)), message).toEqual({});
  });

  test("it is read in linear time: nothing here takes long", () => {
    for (const unit of [
      "1",
      "(",
      "max_tokens ",
      "request too large for ",
      "first 1 tokens when context",
      "contains 1 tokens",
      '{"error":[',
    ]) {
      const flood = unit.repeat(65_536 / unit.length); // as much as is read of an error
      afterRefusal(full, 400, error(flood));
      afterRefusal(full, 400, flood);
    }
  });

  test("a refused request that is repeated in the error is not a list of what is refused", () => {
    const body = JSON.stringify({
      error: { message: "The image is broken" },
      request: { seed: 1, temperature: 1, stream_options: {} },
    });
    expect(afterRefusal(full, 400, body)).toBeNull();
  });
});
