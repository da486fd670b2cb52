// Model objects of the AI SDK, as far as they are used here: any provider package of it makes them.
//
// The types are structural, so that neither we nor a user's types depend on a version of the AI SDK.

/** For example `google("gemini-2.5-pro")`. Versions 2 to 4 of its specification are known. */
export interface LanguageModel {
  readonly specificationVersion: "v2" | "v3" | "v4";
  /** For example `google.generative-ai`. */
  readonly provider: string;
  readonly modelId: string;
  doStream(options: LanguageModelCall): PromiseLike<{ readonly stream: LanguageModelStream }>;
}

/** A ReadableStream. Its parts are checked as they are read. */
export interface LanguageModelStream {
  getReader(): {
    read(): PromiseLike<{ done: boolean; value?: unknown }>;
    cancel(reason?: unknown): PromiseLike<void>;
  };
}

type TextPart = { type: "text"; text: string };

/** Options for one provider, under its name. */
type ProviderOptions = Record<string, Record<string, string | { type: string }>>;

export type LanguageModelMessage = (
  | { role: "system"; content: string }
  | { role: "user" | "assistant"; content: TextPart[] }
) & { providerOptions?: ProviderOptions };

export interface LanguageModelCall {
  prompt: LanguageModelMessage[];
  maxOutputTokens?: number;
  temperature?: number;
  responseFormat?: { type: "json"; schema: Record<string, unknown> };
  providerOptions?: ProviderOptions;
  abortSignal?: AbortSignal;
}

/**
 * The address that a model object sends to. It is not part of the specification, but most packages keep it in `config`. Undefined: not
 * known.
 */
export function addressOf(model: LanguageModel): string | undefined {
  try {
    const { config } = model as { readonly config?: { readonly baseURL?: unknown; readonly url?: unknown } };
    const { baseURL, url } = config ?? {};
    const address: unknown = baseURL ?? (typeof url === "function" ? url({ path: "", modelId: model.modelId }) : url);
    return typeof address === "string" && address !== "" ? address : undefined;
  } catch {
    return undefined;
  }
}

const VERSIONS: readonly unknown[] = ["v2", "v3", "v4"];

/** Throws a TypeError for what is no model, or one of another version. */
export function checkLanguageModel(model: LanguageModel): void {
  const { specificationVersion, provider, modelId, doStream } = model as Partial<LanguageModel>;
  if (typeof doStream !== "function" || typeof provider !== "string" || typeof modelId !== "string" || modelId === "") {
    throw new TypeError("Cannot use this as a model: it is neither a name nor a language model of the AI SDK");
  }
  if (VERSIONS.includes(specificationVersion)) return;
  throw new TypeError(
    `Cannot use the model '${modelId}': its specificationVersion is '${String(specificationVersion)}', and only ${VERSIONS.join(", ")} are known`,
  );
}
