// Requests and responses about the namespace of a session.

import { z } from "zod";
import { signature } from "../variables.ts";
import { flag, wholeNumber } from "./parameters.ts";

export const variablesQuery = z.strictObject({
  all: flag.optional().describe("Include names that begin with an underscore"),
});

export const inspectQuery = z.strictObject({
  maxCharacters: wholeNumber.optional().describe("Limit on `repr` and on `str`. Default: 10,000"),
  timeoutMs: wholeNumber.optional().describe("Limit on the code that the object runs when inspected. Default: 2,000"),
});

export const rowsQuery = z.strictObject({
  start: wholeNumber.optional().describe("The position of the first row. Default: 0"),
  count: wholeNumber.optional().describe("How many rows: 1 to 500. Default: 100"),
  columnStart: wholeNumber.optional().describe("The position of the first column. Default: 0"),
  columnCount: wholeNumber.optional().describe("How many columns: 1 to 50. Default: 50"),
  sortBy: wholeNumber.optional().describe("The position of the column to sort by. Absent: the order of the value"),
  descending: flag.optional().describe("The largest first. What is missing always comes last. Default: false"),
  timeoutMs: wholeNumber.optional().describe("Limit on the code that the object runs. Default: 2,000"),
});

export const valueQuery = z.strictObject({
  as: z.enum(["json", "text", "bytes"]).optional().describe("`text`: of a `str`; `bytes`: of bytes. Default: `json`"),
  maxBytes: wholeNumber.optional().describe("Larger values are refused. Default: 64 MiB; at most 1 GiB"),
  timeoutMs: wholeNumber.optional().describe("Limit on the operation, without its time in the queue. Default: 55,000"),
});

export const variableJSON = z.unknown().meta({ id: "VariableJSON" });

export const setQuery = z.strictObject({
  timeoutMs: wholeNumber.optional().describe("Limit on the operation, without its time in the queue. Default: 55,000"),
});

export const lookBody = z
  .strictObject({
    code: z.string(),
    cursor: z.int().min(0).describe("An index into the code, in UTF-16 units"),
    timeoutMs: z
      .int()
      .positive()
      .optional()
      .describe("Limit on the code that objects run when inspected. Default: 2,000"),
  })
  .meta({ id: "LookRequest" });

export const signatureAnswer = z
  .object({ signature: signature.nullable().describe("Null: no call is open at the cursor, or it is not known") })
  .meta({ id: "SignatureAnswer" });
