// The variables of a context that came as a form: their contents are ranges of one file.

import type { ContextValue } from "../../rlm/context/context-items.ts";
import { toInvalidForm } from "../net/bodies/multipart.ts";
import { ProblemError } from "../net/problem.ts";
import type { ReceivedRange } from "./part-meter.ts";

/** A variable that is a dict, as far as it has come. */
interface Dict {
  readonly kind: "dict";
  readonly files: Map<string, ReceivedRange>;
  folder: string | undefined;
}

interface Single {
  readonly kind: "single";
  readonly value: ContextValue;
}

/** Adding throws a ProblemError for a name that is taken. */
export class FormValues {
  readonly #path: string;
  readonly #values = new Map<string, Dict | Single>();

  constructor(path: string) {
    this.#path = path;
  }

  add(variable: string, [range]: readonly ReceivedRange[], as?: "text" | "json"): void {
    if (this.#values.has(variable)) throw invalid(`variable '${variable}' comes twice`);
    const value = { file: this.#path, ...(as && { as }), ...(range && { range }) };
    this.#values.set(variable, { kind: "single", value });
  }

  /** One range for each name. */
  addFiles(
    variable: string,
    names: readonly { readonly name: string }[],
    ranges: readonly ReceivedRange[],
    folder?: string,
  ): void {
    const dict = this.#values.get(variable) ?? { kind: "dict", files: new Map<string, ReceivedRange>(), folder };
    if (dict.kind !== "dict") throw invalid(`variable '${variable}' comes twice`);
    this.#values.set(variable, dict);
    dict.folder ??= folder;
    for (const [index, range] of ranges.entries()) {
      const { name = "" } = names[index] ?? {};
      if (dict.files.has(name)) throw invalid(`variable '${variable}' has two files named '${name.slice(0, 100)}'`);
      dict.files.set(name, range);
    }
  }

  toVariables(): Readonly<Record<string, ContextValue>> {
    const entries = Array.from(this.#values, ([variable, one]) => {
      return [variable, one.kind === "dict" ? this.#toFiles(one) : one.value] as const;
    });
    return Object.fromEntries(entries);
  }

  #toFiles({ files, folder }: Dict): ContextValue {
    const named = Array.from(files, ([name, range]) => ({ name, path: this.#path, range }));
    return { files: named, ...(folder !== undefined && { folder }) };
  }
}

export function invalid(why: string): ProblemError {
  return new ProblemError(toInvalidForm(why));
}
