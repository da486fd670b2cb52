// The answer of a node: the last one submitted counts. It is checked against the schema and sent back for correction a few times.

import type { NodeOutcome } from "../run-context.ts";
import { compileSchema, parseAnswer, type Checked, type JSONSchema, type SchemaOptions } from "./answer-schema.ts";

export interface SubmittedAnswer {
  readonly text: string;
  readonly data: unknown;
}

export type AnswerReview =
  | { readonly kind: "none" }
  | { readonly kind: "accepted"; readonly outcome: NodeOutcome }
  | { readonly kind: "rejected"; readonly problem: string };

interface AnswerOptions extends SchemaOptions {
  /** How often a model may correct it. */
  readonly corrections: number;
}

export class Answer {
  readonly #check: ((data: unknown) => Checked) | undefined;
  readonly #maxCorrections: number;
  #submitted: SubmittedAnswer | undefined;
  #corrections = 0;

  /** Throws a RangeError for an invalid schema. */
  constructor(schema: JSONSchema | undefined, { corrections, ...options }: AnswerOptions) {
    this.#check = schema === undefined ? undefined : compileSchema(schema, options);
    this.#maxCorrections = corrections;
  }

  /** Replaces an earlier one that was not reviewed yet. */
  submit(answer: SubmittedAnswer): void {
    this.#submitted = answer;
  }

  /** Reviews what was submitted since the last review. An answer that is still wrong after the last correction makes the outcome partial. */
  review(): AnswerReview {
    const submitted = this.#submitted;
    this.#submitted = undefined;
    if (submitted === undefined) return { kind: "none" };
    const { text: answer } = submitted;
    const checked = this.#checkSubmitted(submitted);
    if (checked.ok) {
      const outcome = { status: "final", stopReason: "answered", answer, data: checked.data, why: null } as const;
      return { kind: "accepted", outcome };
    }
    this.#corrections += 1;
    if (this.#corrections <= this.#maxCorrections) return { kind: "rejected", problem: checked.problem };
    const why = `the answer does not follow the schema: ${checked.problem}`;
    return { kind: "accepted", outcome: { status: "partial", stopReason: "error", answer, why } };
  }

  /** The data in a text; empty where there is no schema or the text does not follow it. */
  parse(text: string): { readonly data?: unknown } {
    if (this.#check === undefined) return {};
    const parsed = parseAnswer(text);
    const checked = parsed.ok ? this.#check(parsed.data) : parsed;
    return checked.ok ? { data: checked.data } : {};
  }

  #checkSubmitted({ text, data }: SubmittedAnswer): Checked {
    if (this.#check === undefined) return { ok: true, data };
    const direct = this.#check(data);
    if (direct.ok || typeof data !== "string") return direct;
    const parsed = parseAnswer(text);
    return parsed.ok ? this.#check(parsed.data) : direct;
  }
}
