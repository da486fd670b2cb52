// The answer that a node gives: taken as it was given, checked where it must have a form, given back so many times.

import { compileSchema, parseAnswer, type Checked, type JSONSchema, type SchemaOptions } from "./answer-schema.ts";
import type { NodeOutcome } from "../node.ts";

export interface Given {
  readonly text: string;
  readonly data: unknown;
}

export type Verdict =
  | { readonly kind: "none" }
  | { readonly kind: "accepted"; readonly outcome: NodeOutcome }
  | { readonly kind: "given-back"; readonly problem: string };

/** So often an answer of the wrong form is given back. */
const MAX_CORRECTIONS = 3;

export class FinalAnswer {
  readonly #check: ((data: unknown) => Checked) | undefined;
  #given: Given | undefined;
  #corrections = 0;

  /** Throws a RangeError for a schema that is none. */
  constructor(schema: JSONSchema | undefined, options: SchemaOptions) {
    this.#check = schema === undefined ? undefined : compileSchema(schema, options);
  }

  /** One that is given later takes its place. */
  give(given: Given): void {
    this.#given = given;
  }

  /** What becomes of what was given since the last time. */
  take(): Verdict {
    const given = this.#given;
    this.#given = undefined;
    if (given === undefined) return { kind: "none" };
    const { text: answer } = given;
    const checked = this.#checkGiven(given);
    if (checked.ok) {
      const outcome = { status: "final", stopReason: "answered", answer, data: checked.data, why: null } as const;
      return { kind: "accepted", outcome };
    }
    this.#corrections += 1;
    if (this.#corrections <= MAX_CORRECTIONS) return { kind: "given-back", problem: checked.problem };
    const why = `the answer does not follow the schema: ${checked.problem}`;
    return { kind: "accepted", outcome: { status: "partial", stopReason: "error", answer, why } };
  }

  /** The data of a text, where it has to have a form and has it. */
  read(text: string): { readonly data?: unknown } {
    if (this.#check === undefined) return {};
    const parsed = parseAnswer(text);
    const checked = parsed.ok ? this.#check(parsed.data) : parsed;
    return checked.ok ? { data: checked.data } : {};
  }

  #checkGiven({ text, data }: Given): Checked {
    if (this.#check === undefined) return { ok: true, data };
    const direct = this.#check(data);
    if (direct.ok || typeof data !== "string") return direct;
    const parsed = parseAnswer(text);
    return parsed.ok ? this.#check(parsed.data) : direct;
  }
}
