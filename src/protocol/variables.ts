// The namespace of a session as plain data: its variables, completions and signatures.

import { z } from "zod";
import type { Shape } from "./shape.ts";
import { MAX_ROW_CELLS, MAX_ROWS } from "./worker/limits.ts";

const MAX_VARIABLES = 10_000;
const MAX_STATISTICS_NAMES = 1_000;
const MAX_NAME = 256;
const MAX_PREVIEW = 1_000;
const MAX_COLUMNS = 200;
const MAX_DIMENSIONS = 32;
const MAX_ERROR = 500;
const MAX_MATCHES = 500;
const MAX_MATCH = 512;
const MAX_SIGNATURE = 2_000;
const MAX_DOCUMENTATION = 4_000;
const MAX_SOURCE = 50_000;
const MAX_FILE = 1_000;
const MAX_CELL = 200;

const count = z.int().min(0);
/** Python counts code points. Each is one or two UTF-16 units here. */
const text = (maxCharacters: number): z.ZodString => z.string().max(2 * maxCharacters);

export const variableKind = z.enum(["variable", "function", "class", "module"]).describe("What a name stands for");
export type VariableKind = Shape<typeof variableKind>;

export const variable = z
  .object({
    name: text(MAX_NAME).describe("Its name"),
    type: text(MAX_NAME).describe("The name of its type"),
    module: text(MAX_NAME).nullable().describe("The module that defines the type"),
    kind: variableKind,
    length: count.exactOptional().describe("Items, characters or bytes"),
    shape: z.array(count).max(MAX_DIMENSIONS).exactOptional().describe("Of an array or a table"),
    dtype: text(MAX_NAME).exactOptional().describe("The type of the items of an array"),
    preview: text(MAX_PREVIEW).exactOptional().describe("The value in short"),
  })
  .meta({
    id: "Variable",
    description: "One name of a namespace, with what is known without running code of the value",
  });
export type Variable = Shape<typeof variable>;

export const variableList = z
  .object({
    variables: z.array(variable).max(MAX_VARIABLES).describe("Sorted by name"),
    total: count.describe("The number of names; at most 10,000 of them are listed"),
  })
  .meta({ id: "VariableList", description: "The names of a namespace" });
export type VariableList = Shape<typeof variableList>;

export const variableText = z
  .object({
    text: z.string().describe("The text, or its beginning"),
    total: count.nullable().describe("Characters in total. Null: the whole text was never built"),
    ofFirst: count.exactOptional().describe("Only this many characters or bytes of the value were looked at"),
  })
  .meta({ id: "VariableText", description: "A text that may be truncated at its end" });
export type VariableText = Shape<typeof variableText>;

export const column = z
  .object({ name: text(MAX_NAME).describe("Its name"), dtype: text(MAX_NAME).describe("The type of its items") })
  .describe("A column of a table");
export type Column = Shape<typeof column>;

export const incomplete = z
  .enum(["timeout", "crashed", "no-process"])
  .describe("Why facts are missing: the time was up, the inspecting process crashed, or none could be started");
export type Incomplete = Shape<typeof incomplete>;

export const inspectedVariable = z
  .object({
    ...variable.shape,
    name: z.string().describe("Its name"),
    sizeBytes: count
      .exactOptional()
      .describe("Of the value itself, without what it refers to; of an array or a table, the size of its data"),
    columns: z.array(column).max(MAX_COLUMNS).exactOptional().describe("The first 200"),
    columnCount: count.exactOptional().describe("All columns of a table"),
    repr: variableText.exactOptional().describe("What `repr` gives. Absent: it failed, or was not called"),
    str: variableText.exactOptional().describe("What `str` gives. Absent: it failed, or is the same"),
    errors: z
      .object({
        facts: text(MAX_ERROR).exactOptional().describe("When its length, shape and the like were asked for"),
        preview: text(MAX_ERROR).exactOptional().describe("When the preview was made"),
        repr: text(MAX_ERROR).exactOptional().describe("By `repr`"),
        str: text(MAX_ERROR).exactOptional().describe("By `str`"),
      })
      .describe('What the value raised when it was inspected, as "ValueError: ..."'),
    incomplete: incomplete.nullable().describe("Why facts are missing. Null: nothing is missing"),
  })
  .meta({ id: "InspectedVariable", description: "One variable, with what its value says of itself" });
export type InspectedVariable = Shape<typeof inspectedVariable>;

const cell = text(MAX_CELL);

export const variableRows = z
  .object({
    columns: z.array(column).max(MAX_ROW_CELLS).describe("Those of this part, in order"),
    index: z.array(cell).max(MAX_ROWS).describe("The label of each row: of an index, a position, or a key"),
    rows: z
      .array(z.array(cell).max(MAX_ROW_CELLS))
      .max(MAX_ROWS)
      .describe(
        "Cells as text, cut at 200 characters. Fewer rows than requested: at the end, or past 1,000,000 characters",
      ),
    start: count.describe("The position of the first row, in the order of sorting"),
    columnStart: count.describe("The position of the first column"),
    total: count.nullable().describe("All rows. Null: not known"),
    totalColumns: count.nullable().describe("All columns. Null: not known"),
    error: text(MAX_ERROR).exactOptional().describe('Why there are no rows, as in "TypeError: ..."'),
    incomplete: incomplete.nullable().describe("Why rows are missing. Null: nothing is missing"),
  })
  .meta({ id: "VariableRows", description: "A part of a table, an array, a list or a dict" });
export type VariableRows = Shape<typeof variableRows>;

export const completionType = z
  .enum(["name", "function", "class", "module", "keyword", "attribute", "key", "parameter", "path"])
  .describe("What a completion is");
export type CompletionType = Shape<typeof completionType>;

export const completion = z
  .object({
    text: text(MAX_MATCH).describe("Replaces the code from `start` to `end`"),
    type: completionType,
  })
  .describe("One way to complete the code");
export type Completion = Shape<typeof completion>;

export const completions = z
  .object({
    matches: z.array(completion).max(MAX_MATCHES).describe("At most 500"),
    total: count.describe("How many there are"),
    start: count.describe("Where the completed text begins, as an index into the code"),
    end: count.describe("Where it ends"),
    incomplete: incomplete.nullable().describe("Why matches are missing. Null: nothing is missing"),
  })
  .meta({ id: "Completions", description: "Ways to complete the code at the cursor" });
export type Completions = Shape<typeof completions>;

export const signature = z
  .object({
    name: text(MAX_MATCH).describe("The source text of what is called"),
    signature: text(MAX_SIGNATURE).describe("As in `(text, limit=10)`"),
    documentation: text(MAX_DOCUMENTATION).describe("Its documentation, or the beginning"),
    parameter: count.nullable().describe("Index of the parameter at the cursor, from 0. Null: none, or not known"),
  })
  .describe("The signature of a call");
export type Signature = Shape<typeof signature>;

export const sourceText = z
  .object({
    text: text(MAX_SOURCE).describe("Or the beginning"),
    total: count.describe("Characters of the whole source"),
    file: text(MAX_FILE).describe("`<cell N>` for code of the session"),
    line: count.describe("From 1"),
  })
  .describe("The source of a function, class or module");
export type SourceText = Shape<typeof sourceText>;

export const namespaceStatistics = z.object({
  variableCount: count,
  variables: z.array(text(MAX_NAME)).max(MAX_STATISTICS_NAMES).describe("The first 1,000"),
});
export type NamespaceStatistics = Shape<typeof namespaceStatistics>;
