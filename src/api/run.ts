// Recursive runs as callers see them.

import type { RunId } from "../protocol/ids.ts";
import type { RunEvent } from "../protocol/run-events.ts";
import type { RunEventPage, RunOutline, RunSearchAnswer } from "../protocol/run-outline/run-outline.ts";
import type { LedgerLimits, RunInfo, RunResult as PlainRunResult } from "../protocol/runs.ts";
import type { Page, PageOptions } from "./page.ts";
import type { AnswerData, AnswerSchema } from "./schema.ts";
import type { Content, Signal } from "./web-types.ts";

/** The result of a run. `data` has the type of the request's schema. */
export interface RunResult<Data = unknown> extends Omit<PlainRunResult, "data"> {
  /** The answer as data: the argument of FINAL or SUBMIT, checked where there is a schema. Absent: it has none. */
  readonly data?: Data;
}

/**
 * One question given to the orchestrator. Await it for its result, or iterate it for its events; both work at any time, and any number of
 * times. It never rejects because of what models or code did, unless `onLimit` is `throw`.
 */
export interface Run<Data = unknown> extends Promise<RunResult<Data>>, AsyncIterable<RunEvent> {
  /** For `runtime.runs.get`. */
  readonly id: RunId;
  /** Its state now. */
  info(): Promise<RunInfo>;
  /**
   * Its nodes and what took time in each, as far as it is recorded: small enough to be drawn at once, however long the run. Rejects with a
   * RunNotFoundError if it is not recorded.
   */
  outline(): Promise<RunOutline>;
  /** Recorded events by range, in order; of one node, or of one step of it. Long texts are references: see `blob`. */
  eventPage(options?: RunEventPageOptions): Promise<RunEventPage>;
  /** A long text of a recorded event, by its `$blob`. Rejects with a FileError if there is none. */
  blob(hash: string): Promise<Uint8Array>;
  /**
   * Searches questions, prompts, replies, reasoning, code, output, errors, observations, answers, and what tools were given and returned,
   * as far as they are recorded. Without regard to case. A call takes a second at most: go on with `next`, also where there are no matches.
   */
  search(text: string, options?: RunSearchOptions): Promise<RunSearchAnswer>;
  /**
   * Its events after one of them, then new ones, with whole texts. Deltas are among them where the run is in memory. Ends with the run,
   * also where that broke off or was rejected; aborting the signal throws its reason.
   */
  follow(options?: RunFollowOptions): AsyncIterable<RunEvent>;
  /** Ends every call and every session of the run. Its status is then `cancelled`. */
  cancel(): Promise<void>;
}

/** Which recorded events. */
export interface RunEventPageOptions {
  /** The number of the last event that was seen. Default: from the beginning. */
  readonly after?: number | undefined;
  /** The largest number of events. Default: 200; at most 1,000. A page also ends after 4 MiB. */
  readonly limit?: number | undefined;
  /** Of this node. Default: of the whole run. */
  readonly nodeId?: string | undefined;
  /** Of this step of the node. Default: all steps. */
  readonly step?: number | undefined;
}

/** Where a search begins, and where it ends. */
export interface RunSearchOptions {
  /** `next` of the answer before. Default: from the beginning. */
  readonly after?: number | undefined;
  /** After so many matches the answer ends, with those of the same event. Default: 100; at most 1,000. */
  readonly limit?: number | undefined;
  /** Aborting ends the search. */
  readonly signal?: Signal | undefined;
}

/** Which events. */
export interface RunFollowOptions {
  /** The number of the last event that was seen. Default: from the first one. */
  readonly after?: number | undefined;
  /** Aborting ends the iteration. */
  readonly signal?: Signal | undefined;
}

/** A backend, models and limits, set up once. Each question is a run. */
export interface RLM<Request extends { readonly query: string } = RunRequest> {
  /** Starts at once. */
  run<const Schema extends AnswerSchema | undefined = undefined>(
    request: Omit<Request, "schema"> & {
      /** The form of the answer, as `data` of the result: a schema of zod 4 or another Standard Schema, or JSON Schema. */
      readonly schema?: Schema;
    },
  ): Run<AnswerData<Schema>>;
}

/** Limits of a run, all nodes together. */
export interface RLMLimits extends LedgerLimits {
  /** Nodes with a session below the root. Default: 4. */
  readonly maxDepth?: number;
  /** Steps of one node. Default: 30. */
  readonly maxIterations?: number;
}

/** Options of recursive runs. */
export interface RLMOptions {
  /** Of the root. Default over HTTP: the server's. */
  readonly model?: string | undefined;
  /** Answers `llm_query`. Default: the model. */
  readonly subModel?: string | undefined;
  /** Of nodes below the root. Default: the model. */
  readonly childModel?: string | undefined;
  /** Gives the best answer at a limit. Default: the model of the node. */
  readonly extractModel?: string | undefined;
  /** Of models without one of their own. Default: the provider's. */
  readonly temperature?: number | undefined;
  /** Of models without one of their own: makes sampling repeatable where the provider can. Default: none. */
  readonly seed?: number | undefined;
  /** For the whole run, all nodes together. Default: 1,000 model calls, 30 minutes; no limit on tokens and cost. */
  readonly limits?: RLMLimits | undefined;
  /** `auto` (default): small questions go straight to the model. */
  readonly mode?: "auto" | "rlm" | "direct" | undefined;
  /** At a limit: return the best answer that there is (default), or reject with an error. */
  readonly onLimit?: "partial" | "throw" | undefined;
}

/** One question. */
export interface RunRequest {
  /** The id of the run; letters, digits, `.`, `_`, `-`, at most 128. The same id is the same work. Default: generated. */
  readonly id?: string | undefined;
  /** The question. */
  readonly query: string;
  /** The material: a variable in the root session, or several. */
  readonly context?: Context | undefined;
  /** The form of the answer, as `data` of the result. */
  readonly schema?: AnswerSchema | undefined;
  /** Overrides the option of the RLM for this run. */
  readonly model?: string | undefined;
  /** Overrides the option of the RLM for this run. */
  readonly subModel?: string | undefined;
  /** Overrides the option of the RLM for this run. */
  readonly childModel?: string | undefined;
  /** Overrides the option of the RLM for this run. */
  readonly extractModel?: string | undefined;
  /** Of all models in this run, also of those with one of their own. */
  readonly temperature?: number | undefined;
  /** Of all models in this run, also of those with one of their own. */
  readonly seed?: number | undefined;
  /** Overrides the option of the RLM for this run. */
  readonly mode?: RLMOptions["mode"];
  /** Overrides the option of the RLM for this run. */
  readonly onLimit?: RLMOptions["onLimit"];
  /** Each replaces the limit of the RLM for this run. */
  readonly limits?: RLMLimits | undefined;
  /** Aborting cancels the run. */
  readonly signal?: Signal | undefined;
}

/** The value of one variable. */
export type ContextValue =
  | string
  | {
      /** A `str`, or the JSON text of a value. */
      readonly text: Content;
      /** JSON is parsed by Python, so integers of any size are exact. Default: `text`. */
      readonly as?: "text" | "json" | undefined;
    }
  | {
      /** As `JSON.stringify` has it. */
      readonly json: unknown;
    }
  | {
      /** A dict from name to text. */
      readonly files: readonly ContextFile[];
      /** The name of the folder they are in, for the model. */
      readonly folder?: string | undefined;
    };

/** A value in a dict, under its name. */
export interface ContextFile {
  /** Its key in the dict. */
  readonly name: string;
  /** Its value. */
  readonly content: Content;
}

/** A single value is the variable `context`; an object with other keys has one variable per key. */
export type Context = ContextValue | { readonly [variable: string]: ContextValue };

/** Runs by id: live ones, and those that are recorded. */
export interface Runs {
  /** Returns at once. Awaiting or iterating it rejects with a RunNotFoundError if there is none. */
  get(id: string): Run;
  /** The latest first. */
  list(options?: RunListOptions): Promise<Page<RunInfo>>;
}

/** Which runs to list. */
export interface RunListOptions extends PageOptions {
  /** Default: any. */
  readonly status?: RunInfo["status"] | undefined;
  /** In the question, without regard to case. Default: any. */
  readonly text?: string | undefined;
}
