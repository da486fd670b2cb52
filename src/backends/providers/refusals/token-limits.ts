// Numbers of tokens in refusals: how large the window is, how large the request was, and how much a model may write.
//
// Each provider says it in its own words. The numbers come from outside, so they count only within bounds that some model may have.

export interface TokenLimits {
  /** Input and output together. */
  readonly contextWindow?: number;
  /** Of the refused request, as the provider counted it. */
  readonly inputTokens?: number;
  /** The provider stopped counting: it is at least that much. */
  readonly isInputAtLeast?: boolean;
  /** Of the refused request, with the output that it asked for. */
  readonly totalTokens?: number;
  /** The most output that the model ever writes. */
  readonly maxOutputTokens?: number;
  /** The most output that this request may ask for, for lack of credit. */
  readonly affordableTokens?: number;
}

const WINDOW = { min: 256, max: 100_000_000 };
const OUTPUT = { min: 16, max: 10_000_000 };

/** The first match counts. Every pattern takes linear time. */
const WINDOWS: readonly RegExp[] = [
  // Anthropic
  /(?<input>\d{1,12}) \+ \d{1,12} > (?<window>\d{1,12})/,
  /too long: (?<input>\d{1,12}) tokens > (?<window>\d{1,12})/,
  // Gemini
  /token count(?: \((?<input>\d{1,12})\))? exceeds the maximum number of tokens allowed \((?<window>\d{1,12})\)/i,
  // xAI
  /maximum prompt length is (?<window>\d{1,12})(?: but the request contains (?<input>\d{1,12}))?/i,
  // Text Generation Inference
  /inputs. (?:tokens \+ .max_new_tokens. must be <=|must have less than) (?<window>\d{1,12})(?: tokens)?\. given: (?<input>\d{1,12})/i,
  // Cerebras
  /current length is (?<total>\d{1,12}) while limit is (?<window>\d{1,12})/i,
  // Mistral
  /contains (?<input>\d{1,12}) tokens.{0,60}too large for model with (?<window>\d{1,12})/i,
  // Cohere
  /total number of tokens.{0,40}cannot exceed (?<window>\d{1,12}) - received (?<total>\d{1,12})/i,
  // SGLang
  /input length \((?<input>\d{1,12}) tokens\) exceeds the maximum allowed length \((?<window>\d{1,12})/i,
  /input \((?<input>\d{1,12}) tokens\) is longer than the model's context length \((?<window>\d{1,12})/i,
  // llama.cpp and llama-cpp-python
  /request \((?<input>\d{1,12}) tokens\) exceeds the available context size \((?<window>\d{1,12})/i,
  /n_prompt_tokens: (?<input>\d{1,12}) ; n_ctx: (?<window>\d{1,12})/,
  /requested tokens(?: \((?<total>\d{1,12})\))? exceed context window of (?<window>\d{1,12})/i,
  // LM Studio
  /first (?<input>\d{1,12}) tokens when context.{0,100}context length of only (?<window>\d{1,12})/i,
  // Moonshot
  /exceeded model token limit: (?<window>\d{1,12})(?: \(requested: (?<total>\d{1,12}))?/i,
  // Groq and OpenAI: more than a minute's worth of tokens is never accepted.
  /request too large for .{0,300}: limit (?<window>\d{1,12}), requested (?<total>\d{1,12})/i,
  // OpenAI, vLLM, OpenRouter, SGLang and servers with the same messages
  /(?:context (?:length|window|size)|model length)(?: of| is)?(?: only)?:? ?\(?(?<window>\d{1,12})/i,
];

const INPUTS: readonly RegExp[] = [
  /(?<least>at least )?(?<input>\d{1,12}) (?:input tokens|of text input|in the messages|in your prompt|tokens from the input)/i,
  /messages resulted in (?<input>\d{1,12})/i,
];
const TOTAL = /you requested (?:about |a total of )?(?<total>\d{1,12})(?:\.0)? tokens/i;

const OUTPUTS: readonly RegExp[] = [
  // Anthropic
  /max_tokens: \d{1,12} > (?<max>\d{1,12})/,
  // OpenAI
  /at most (?<max>\d{1,12}) (?:completion|output) tokens/i,
  // DeepSeek, Alibaba
  /range of max_\w{1,30} (?:is|should be) \[\d{1,12}, ?(?<max>\d{1,12})\]/i,
  // Vertex AI
  /output_?tokens value of \d{1,12} but the supported range is from \d{1,12} \(inclusive\) to (?<below>\d{1,12}) \(exclusive\)/i,
  // Groq, Cohere, Mistral, Amazon Bedrock, OpenAI's own checks
  /max(?:imum)?[ _]?(?:completion_|output_|new_)?tokens.{0,80}?(?:less than or equal to|<=|at most|cannot exceed|must not exceed|not be greater than|model limit of|between \d{1,12} and|maximum(?: value)?(?: is| of)?)[ `'"]{0,2}(?<max>\d{1,12})/i,
];

const AFFORDABLE = /can only afford (?<max>\d{1,12})/i;

/** Without a number: the request does not fit into the window. */
const TOO_LONG =
  /context (?:length|window|size|limit)|(?:prompt|input|request) is too (?:long|large)|too many (?:input )?tokens|available context|tokens to keep from the initial prompt|(?:prompt|request|input) too (?:long|large)|reduce the length of the messages|max_tokens must be at least 1, got -/i;

export function readTokenLimits(text: string): TokenLimits {
  const affordable = toNumber(AFFORDABLE.exec(text)?.groups?.["max"], OUTPUT);
  if (affordable !== undefined) return { affordableTokens: affordable };
  const found = firstMatch(WINDOWS, text);
  const contextWindow = toNumber(found?.["window"], WINDOW);
  if (contextWindow !== undefined) return { contextWindow, ...sizeOf(text, found ?? {}) };
  const output = firstMatch(OUTPUTS, text);
  const below = toNumber(output?.["below"], OUTPUT);
  const maxOutputTokens = below === undefined ? toNumber(output?.["max"], OUTPUT) : below - 1;
  return maxOutputTokens === undefined ? {} : { maxOutputTokens };
}

/** Whether the request does not fit into the model's window, with or without the output that it asked for. */
export function isTooLong(text: string): boolean {
  const { contextWindow, maxOutputTokens, affordableTokens } = readTokenLimits(text);
  if (contextWindow !== undefined) return true;
  return maxOutputTokens === undefined && affordableTokens === undefined && TOO_LONG.test(text);
}

type Groups = Readonly<Record<string, string | undefined>>;

/** Of the request: its input, else its total. */
function sizeOf(text: string, found: Groups): Omit<TokenLimits, "contextWindow"> {
  const input = found["input"] === undefined ? firstMatch(INPUTS, text) : found;
  const inputTokens = toNumber(input?.["input"], { min: 1, max: WINDOW.max });
  if (inputTokens !== undefined)
    return { inputTokens, ...(input?.["least"] !== undefined && { isInputAtLeast: true }) };
  const total = found["total"] ?? TOTAL.exec(text)?.groups?.["total"];
  const totalTokens = toNumber(total, { min: 1, max: WINDOW.max });
  return totalTokens === undefined ? {} : { totalTokens };
}

function firstMatch(patterns: readonly RegExp[], text: string): Groups | undefined {
  for (const pattern of patterns) {
    const groups = pattern.exec(text)?.groups;
    if (groups !== undefined) return groups;
  }
  return undefined;
}

function toNumber(digits: string | undefined, { min, max }: { min: number; max: number }): number | undefined {
  const number = Number(digits);
  return digits !== undefined && number >= min && number <= max ? number : undefined;
}
