// The checks of the client against the schemas of the protocol: what one requires, the other requires.

import { describe, expect, test } from "vitest";
import { z } from "zod";
import type { Check } from "../../src/client/shapes/check.ts";
import * as executions from "../../src/client/shapes/executions.ts";
import * as runs from "../../src/client/shapes/runs.ts";
import * as sessionEvents from "../../src/client/shapes/session-events.ts";
import * as sessions from "../../src/client/shapes/sessions.ts";
import * as tasks from "../../src/client/shapes/tasks.ts";
import { problem } from "../../src/client/net/problem.ts";
import { versionAnswer } from "../../src/protocol/api/about.ts";
import { execution } from "../../src/protocol/api/executions.ts";
import { problemSummary } from "../../src/protocol/api/problem.ts";
import { task } from "../../src/protocol/api/tasks.ts";
import { executionEvent, sessionEvent } from "../../src/protocol/events.ts";
import { executionResult, historyEntry } from "../../src/protocol/execution.ts";
import { fileChange, fileEntry, fileListing } from "../../src/protocol/files.ts";
import { runEvent } from "../../src/protocol/run-events.ts";
import { runEventPage, runOutline, runSearchAnswer } from "../../src/protocol/run-outline/run-outline.ts";
import { run, runInfo, runResult } from "../../src/protocol/runs.ts";
import { checkpoint, interruptAnswer, sessionInfo, stdlibListing } from "../../src/protocol/sessions.ts";
import { taskEvent, taskInfo, taskResult } from "../../src/protocol/tasks.ts";
import { completions, inspectedVariable, signature, variableList, variableRows } from "../../src/protocol/variables.ts";

const PAIRS: Record<string, readonly [Check<unknown>, z.ZodType]> = {
  executionResult: [executions.executionResult, executionResult],
  execution: [executions.execution, execution],
  executionEvent: [executions.executionEvent, executionEvent],
  sessionEvent: [sessionEvents.sessionEvent, sessionEvent],
  historyEntry: [executions.historyEntry, historyEntry],
  taskInfo: [tasks.taskInfo, taskInfo],
  taskResult: [tasks.taskResult, taskResult],
  task: [tasks.task, task],
  taskEvent: [tasks.taskEvent, taskEvent],
  runInfo: [runs.runInfo, runInfo],
  runResult: [runs.runResult, runResult],
  run: [runs.run, run],
  runEvent: [runs.runEvent, runEvent],
  runOutline: [runs.runOutline, runOutline],
  runEventPage: [runs.runEventPage, runEventPage],
  runSearchAnswer: [runs.runSearchAnswer, runSearchAnswer],
  sessionInfo: [sessions.sessionInfo, sessionInfo],
  interruptAnswer: [sessions.interruptAnswer, interruptAnswer],
  checkpoint: [sessions.checkpoint, checkpoint],
  stdlibListing: [sessions.stdlibListing, stdlibListing],
  variableList: [sessions.variableList, variableList],
  inspectedVariable: [sessions.inspectedVariable, inspectedVariable],
  variableRows: [sessions.variableRows, variableRows],
  completions: [sessions.completions, completions],
  signature: [sessions.signature, signature],
  fileEntry: [sessions.fileEntry, fileEntry],
  fileListing: [sessions.fileListing, fileListing],
  fileChange: [sessions.fileChange, fileChange],
  runtimeInfo: [sessions.runtimeInfo, versionAnswer],
  problem: [problem, problemSummary],
};

interface JSONSchema {
  readonly type?: string;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly JSONSchema[];
  readonly oneOf?: readonly JSONSchema[];
  readonly allOf?: readonly JSONSchema[];
  readonly properties?: Readonly<Record<string, JSONSchema>>;
  readonly required?: readonly string[];
  readonly items?: JSONSchema;
  readonly additionalProperties?: JSONSchema | boolean;
  readonly not?: unknown;
  readonly $ref?: string;
  readonly format?: string;
}

const NONE = Symbol("a value that cannot be");

/** Valid values: at least one for each variant, with every optional field. */
function samples(schema: JSONSchema, root: Record<string, JSONSchema>): readonly unknown[] {
  if (schema.$ref !== undefined) return samples(root[schema.$ref.split("/").at(-1) ?? ""] ?? {}, root);
  if (schema.not !== undefined) return [NONE];
  if (schema.const !== undefined) return [schema.const];
  if (schema.enum !== undefined) return schema.enum;
  const variants = schema.anyOf ?? schema.oneOf;
  if (variants !== undefined) return variants.flatMap((one) => samples(one, root));
  if (schema.type === "array") return [samples(schema.items ?? {}, root).filter((item) => item !== NONE)];
  if (schema.type === "object") return objects(schema, root);
  const time = "2026-01-01T00:00:00.000Z";
  return [
    { string: schema.format === "date-time" ? time : "text", number: 1, integer: 1, boolean: true, null: null }[
      schema.type ?? ""
    ] ?? null,
  ];
}

function objects(
  { properties = {}, additionalProperties }: JSONSchema,
  root: Record<string, JSONSchema>,
): readonly unknown[] {
  const fields = Object.entries(properties).map(([name, schema]) => [name, samples(schema, root)] as const);
  const count = Math.max(1, ...fields.map(([, values]) => values.length));
  return Array.from({ length: count }, (_, index) => {
    const value: Record<string, unknown> = {};
    if (typeof additionalProperties === "object" && fields.length === 0)
      value["tokens"] = samples(additionalProperties, root)[0];
    for (const [name, values] of fields) {
      const one = values[index % values.length];
      if (one !== NONE) value[name] = one;
    }
    return value;
  });
}

/** The same value without one field, or with a field of another type, at any depth. */
function* mutants(value: unknown): Generator {
  if (typeof value !== "object" || value === null) return;
  for (const [name, inner] of Object.entries(value)) {
    const change = (other: unknown): unknown =>
      Array.isArray(value) ? value.with(Number(name), other) : { ...value, [name]: other };
    for (const other of [undefined, null, 17.5, "other", true, [], {}]) yield change(other);
    for (const mutant of mutants(inner)) yield change(mutant);
  }
}

/** What the client does not check: formats, sizes, whole numbers, and fields that it does not know. */
function isLenient(error: z.ZodError): boolean {
  return error.issues.every((issue) => {
    if (issue.code === "invalid_union")
      return issue.errors.flat().every((one) => isLenient({ issues: [one] } as z.ZodError));
    if (issue.code === "invalid_type" && issue.expected === "never") return true;
    return (
      ["invalid_format", "too_big", "too_small", "unrecognized_keys"].includes(issue.code) ||
      (issue.code === "invalid_type" && issue.expected === "int")
    );
  });
}

describe.each(Object.entries(PAIRS))("%s", (_, [check, schema]) => {
  const json = z.toJSONSchema(schema, { unrepresentable: "any", io: "output" }) as JSONSchema & {
    $defs?: Record<string, JSONSchema>;
  };
  const valid = samples(json, json.$defs ?? {});

  test("accepts what the schema accepts", () => {
    expect(valid.length).toBeGreaterThan(0);
    for (const value of valid) {
      expect(schema.safeParse(value).error?.message, JSON.stringify(value)).toBeUndefined();
      expect(check(value), JSON.stringify(value)).toBe(true);
    }
  });

  test("refuses what the schema refuses", () => {
    for (const value of valid) {
      for (const changed of mutants(value)) {
        const mutant = JSON.parse(JSON.stringify(changed)) as unknown; // a field that is undefined is absent
        const { error } = schema.safeParse(mutant);
        if (error === undefined) expect(check(mutant), JSON.stringify(mutant)).toBe(true);
        else if (!isLenient(error)) expect(check(mutant), `${JSON.stringify(mutant)}: ${error.message}`).toBe(false);
      }
    }
    for (const value of [undefined, null, 1, "text", [], {}])
      expect(check(value), JSON.stringify(value)).toBe(schema.safeParse(value).success);
  });
});
