// Model objects of the AI SDK, as far as they are used here: any provider package of it makes them.
//
// The types are structural, so that neither we nor a user's types depend on a version of the AI SDK.

import type { Signal } from "../../api/web-types.ts";

/** For example `google("gemini-2.5-pro")`. Versions 2 to 4 of its specification are known. */
export interface LanguageModel {
  /** The version of the specification that it follows. */
  readonly specificationVersion: "v2" | "v3" | "v4";
  /** For example `google.generative-ai`. */
  readonly provider: string;
  /** For example `gemini-2.5-pro`. */
  readonly modelId: string;
  /** Answers one request as a stream. */
  doStream(options: LanguageModelCall): PromiseLike<{
    /** The parts of the answer. */
    readonly stream: LanguageModelStream;
    /** The response, where the object shows it. */
    readonly response?:
      | {
          /** Its headers, from which rate limits are read. */
          readonly headers?: Readonly<Record<string, string>> | undefined;
        }
      | undefined;
  }>;
}

/** A ReadableStream. Its parts are checked as they are read. */
export interface LanguageModelStream {
  /** A reader of its parts. */
  getReader(): {
    /** The next part. */
    read(): PromiseLike<{
      /** Whether there are no more. */
      done: boolean;
      /** The part. */
      value?: unknown;
    }>;
    /** Ends the stream. */
    cancel(reason?: unknown): PromiseLike<void>;
  };
}

/** A part of a message. */
type TextPart = { type: "text"; text: string };

/** Options for one provider, under its name. */
export type ProviderOptions = Record<string, Record<string, JSONValue>>;

/** What JSON can hold. */
export type JSONValue = null | boolean | number | string | JSONValue[] | { [name: string]: JSONValue };

/** One message of the prompt. */
export type LanguageModelMessage = (
  | {
      /** Who says it. */
      role: "system";
      /** Its text. */
      content: string;
    }
  | {
      /** Who says it. */
      role: "user" | "assistant";
      /** Its parts. */
      content: TextPart[];
    }
) & {
  /** For the provider alone. */
  providerOptions?: ProviderOptions;
};

/** What a model object is called with. */
export interface LanguageModelCall {
  /** The conversation. */
  prompt: LanguageModelMessage[];
  /** Limit on the answer. */
  maxOutputTokens?: number;
  /** Absent: the provider's default. */
  temperature?: number;
  /** Absent: none. */
  seed?: number;
  /** The form of the answer. Absent: text. */
  responseFormat?: {
    /** JSON. */
    type: "json";
    /** Its JSON Schema. */
    schema: Record<string, unknown>;
  };
  /** For the provider alone. */
  providerOptions?: ProviderOptions;
  /** Aborting ends the request. */
  abortSignal?: Signal;
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
