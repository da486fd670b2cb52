// Variables, as they are told.

import { z } from "zod";
import { flag, wholeNumber } from "./common.ts";

const variableFields = {
  name: z.string(),
  type: z.string(),
  module: z.string().nullable().describe("Where the type is defined"),
  kind: z.enum(["variable", "function", "class", "module"]),
  length: z.int().optional(),
  shape: z.array(z.int()).optional(),
  dtype: z.string().optional(),
  preview: z.string().optional(),
};

export const variableList = z
  .strictObject({
    variables: z.array(z.strictObject(variableFields).meta({ id: "Variable" })),
    total: z.int().describe("How many names there are; 10,000 of them are listed at most"),
  })
  .meta({ id: "VariableList" });

const variableText = z
  .strictObject({ text: z.string(), total: z.int().nullable(), ofFirst: z.int().optional() })
  .meta({ id: "VariableText", description: "A text that may have been cut at its end; `total` characters in all" });

export const inspectedVariable = z
  .strictObject({
    ...variableFields,
    sizeBytes: z.int().optional(),
    columns: z.array(z.strictObject({ name: z.string(), dtype: z.string() })).optional(),
    columnCount: z.int().optional(),
    repr: variableText.optional(),
    str: variableText.optional(),
    errors: z.record(z.string(), z.string()).describe("What the value raised when it was asked"),
    incomplete: z.enum(["timeout", "crashed", "no-process"]).nullable(),
  })
  .meta({ id: "InspectedVariable" });

export const variablesQuery = z.strictObject({
  all: flag.optional().describe("Names that begin with an underscore, too"),
});

export const inspectQuery = z.strictObject({
  maxCharacters: wholeNumber.optional().describe("Of `repr` and `str`, each. Default: 10,000"),
  timeoutMs: wholeNumber.optional().describe("For what the object does when it is looked at. Default: 2,000"),
});

export const setQuery = z.strictObject({
  timeoutMs: wholeNumber.optional().describe("For the setting itself, when its turn has come. Default: 55,000"),
});

export const lookBody = z
  .strictObject({
    code: z.string(),
    cursor: z.int().min(0).describe("An index into the code, in UTF-16 units"),
    timeoutMs: z.int().positive().optional().describe("For what objects do when they are looked at. Default: 2,000"),
  })
  .meta({ id: "LookRequest" });

export const completions = z
  .strictObject({
    matches: z
      .array(
        z.strictObject({
          text: z.string().describe("Takes the place of the code from `start` to `end`"),
          type: z.enum(["name", "function", "class", "module", "keyword", "attribute", "key", "parameter", "path"]),
        }),
      )
      .describe("500 at most"),
    total: z.int(),
    start: z.int(),
    end: z.int(),
    incomplete: z.enum(["timeout", "crashed", "no-process"]).nullable(),
  })
  .meta({ id: "Completions" });

export const signatureAnswer = z
  .strictObject({
    signature: z
      .strictObject({
        name: z.string().describe("The source of what is called"),
        signature: z.string(),
        documentation: z.string(),
        parameter: z.int().nullable().describe("Which one the argument at the cursor is for, from 0"),
      })
      .nullable()
      .describe("Null: no call is open at the cursor, or it is not known"),
  })
  .meta({ id: "SignatureAnswer" });
