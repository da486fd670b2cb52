// What is wrong with the data of a TOML file, as an error that names the line and the key.

import type { z } from "zod";
import { ConfigurationError } from "../../errors.ts";
import { lineOf } from "./line-of.ts";
import { toProblems } from "./problems.ts";

interface InvalidFile {
  readonly path: string;
  readonly text: string;
  readonly data: unknown;
  readonly schema: z.ZodType;
}

export function toConfigurationError(error: z.ZodError, { path, text, data, schema }: InvalidFile): ConfigurationError {
  const [problem, ...others] = toProblems(error, schema, data);
  const more = others.length === 0 ? "" : ` (and ${others.length} more)`;
  return new ConfigurationError({
    source: path,
    line: problem === undefined ? null : lineOf(text, problem.path),
    why: `${problem?.why ?? "it does not have the right form"}${more}`,
  });
}
