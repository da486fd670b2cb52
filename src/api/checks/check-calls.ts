// The arguments of each call, checked before anything is queued or sent. Each throws a TypeError or RangeError.

import { parseSessionId } from "../../protocol/ids.ts";
import type { RunInfo } from "../../protocol/runs.ts";
import type { TaskStatus } from "../../protocol/tasks.ts";
import { isWellFormed } from "../../protocol/worker/is-well-formed.ts";
import { MAX_ROW_CELLS, MAX_ROWS } from "../../protocol/worker/limits.ts";
import { isPythonName } from "../../util/python-name.ts";
import {
  checkCounts,
  checkEnv,
  checkFunction,
  checkOptions,
  checkSignal,
  checkTimes,
  checkWorkId,
  nameType,
} from "./check-options.ts";
import { checkModelName, checkSampling } from "./check-sampling.ts";
import type { AnswerOptions, ExecuteOptions, OutputRange } from "../execution.ts";
import type { FileListOptions, FileOptions, FileRangeOptions, FileReadOptions } from "../files.ts";
import { OPTIONS } from "./option-names.ts";
import type { PageOptions } from "../page.ts";
import type {
  RLMLimits,
  RLMOptions,
  RunEventPageOptions,
  RunFollowOptions,
  RunListOptions,
  RunRequest,
  RunSearchOptions,
} from "../run.ts";
import type {
  GetOptions,
  InspectOptions,
  LookOptions,
  OperationOptions,
  RowsOptions,
  SessionOptions,
} from "../session.ts";
import type { TaskListOptions } from "../task.ts";

/** Each of them, as data. */
const STATUSES: Readonly<Record<TaskStatus, true>> = {
  running: true,
  paused: true,
  completed: true,
  failed: true,
  cancelled: true,
  "timed-out": true,
};
const RUN_STATES: Readonly<Record<RunInfo["status"], true>> = {
  running: true,
  final: true,
  partial: true,
  failed: true,
  cancelled: true,
  broken: true,
};
const MAX_OUTPUT_BYTES = 64 * 1024 * 1024;
const MAX_PATH_CHARACTERS = 4095;
const MAX_DEPTH = 64;
const MAX_PAGE = 1000;
const MAX_LOOK_MS = 30_000;
const MAX_CHARACTERS = 1_000_000;
const MAX_SEARCH_CHARACTERS = 500;

/** `known` are the names of the options that this call takes. */
export function checkSessionOptions(call: string, options: SessionOptions, known: readonly string[]): void {
  checkOptions(call, options, known);
  const { id, limits, idleTimeoutMs, autoCheckpoint, env, cwd, argv, environment, includeStdlib } = options;
  if (id !== undefined) parseSessionId(id);
  checkOptions(`${call} limits`, limits, OPTIONS.sessionLimits);
  checkCounts({ ...limits });
  checkTimes({ idleTimeoutMs });
  if (typeof autoCheckpoint !== "boolean") checkCounts({ autoCheckpoint });
  checkEnv(env);
  checkType("cwd", cwd, "string");
  checkType("environment", environment, "string");
  checkType("includeStdlib", includeStdlib, "boolean");
  if (argv !== undefined && !(Array.isArray(argv) && argv.every((argument) => typeof argument === "string")))
    throw new TypeError("Cannot use argv: it must be a list of strings");
}

export function checkExecuteOptions(call: string, options: ExecuteOptions, known: readonly string[]): void {
  checkOptions(call, options, known);
  checkWorkId(options.id);
  checkTimes({ timeoutMs: options.timeoutMs });
  checkEnv(options.env);
  checkType("fileName", options.fileName, "string");
  checkSignal(options.signal);
  if (options.onInput !== "ask") checkFunction("onInput", options.onInput);
}

export function checkOutputRange(call: string, range: OutputRange): void {
  checkOptions(call, range, OPTIONS.output);
  const { stream, offset, length } = range;
  if (stream !== undefined && stream !== "stdout" && stream !== "stderr")
    throw new TypeError("Cannot use stream: it must be 'stdout' or 'stderr'");
  checkCounts({ offset, length });
  checkAtMost("length", length, MAX_OUTPUT_BYTES);
}

export function checkPageOptions(call: string, options: PageOptions, known: readonly string[] = OPTIONS.page): void {
  checkOptions(call, options, known);
  checkCounts({ limit: options.limit }, 1);
  checkAtMost("limit", options.limit, MAX_PAGE);
  checkType("after", options.after, "string");
}

export function checkRunListOptions(options: RunListOptions): void {
  checkPageOptions("runs.list", options, OPTIONS.runList);
  checkChoice("status", options.status, Object.keys(RUN_STATES));
  if (options.text !== undefined) checkSearchText(options.text);
}

export function checkRunEventPageOptions(options: RunEventPageOptions): void {
  checkOptions("run.eventPage", options, OPTIONS.runEventPage);
  const { after, limit, nodeId, step } = options;
  checkCounts({ limit }, 1);
  checkCounts({ after, step });
  checkAtMost("limit", limit, MAX_PAGE);
  checkType("nodeId", nodeId, "string");
  if (step !== undefined && nodeId === undefined)
    throw new TypeError("Cannot use step without nodeId: a step is one of a node");
}

export function checkRunSearch(text: unknown, options: RunSearchOptions): void {
  checkOptions("run.search", options, OPTIONS.runSearch);
  checkSearchText(text);
  checkCounts({ limit: options.limit }, 1);
  checkCounts({ after: options.after });
  checkAtMost("limit", options.limit, MAX_PAGE);
  checkSignal(options.signal);
}

export function checkRunFollowOptions(options: RunFollowOptions): void {
  checkOptions("run.follow", options, OPTIONS.runFollow);
  checkCounts({ after: options.after });
  checkSignal(options.signal);
}

/** Throws a RangeError unless it is the name of a blob. */
export function checkBlobHash(hash: string): void {
  if (!/^[0-9a-f]{64}$/.test(hash))
    throw new RangeError("Cannot get a blob: its hash must have 64 digits, as `$blob` of an event has");
}

export function checkTaskListOptions(options: TaskListOptions): void {
  checkPageOptions("tasks.list", options, OPTIONS.taskList);
  checkChoice("status", options.status, Object.keys(STATUSES));
  checkType("sessionId", options.sessionId, "string");
}

export function checkOperationOptions(
  call: string,
  options: OperationOptions,
  known: readonly string[] = OPTIONS.operation,
): void {
  checkOptions(call, options, known);
  checkTimes({ timeoutMs: options.timeoutMs });
  checkSignal(options.signal);
}

export function checkGet(name: unknown, options: GetOptions): void {
  checkOperationOptions("session.get", options, OPTIONS.get);
  checkVariableName(name);
  checkChoice("as", options.as, ["json", "text", "bytes"]);
  checkCounts({ maxBytes: options.maxBytes });
}

export function checkVariableName(name: unknown): void {
  if (typeof name !== "string") throw new TypeError(`Cannot use ${nameType(name)} as the name of a variable`);
  if (!isPythonName(name.normalize("NFKC")))
    throw new RangeError(`Cannot use '${name.slice(0, 80)}' as the name of a variable: Python would not take it`);
}

/** The value of `session.set`. `kinds` are those that this implementation takes. */
export function checkVariableValue(value: unknown, kinds: readonly string[]): void {
  if (ArrayBuffer.isView(value)) throw new TypeError("Cannot set a variable to raw bytes: pass { bytes: value }");
  checkOptions("the value of session.set", value ?? null, [...kinds, "as"]);
  const parts = value as Readonly<Record<string, unknown>>;
  const [kind, ...others] = kinds.filter((name) => parts[name] !== undefined);
  if (kind === undefined || others.length > 0)
    throw new TypeError(`Cannot set a variable: give one of ${toList(kinds, "and")}`);
  if (kind === "text") checkText(parts["text"]);
  if (parts["as"] !== undefined && (kind === "json" || kind === "bytes"))
    throw new TypeError(`Cannot set a variable: 'as' cannot be used with '${kind}'`);
  checkChoice("as", parts["as"], kind === "text" ? ["text", "json"] : ["json", "text", "bytes"]);
}

function checkText(text: unknown): void {
  if (typeof text !== "string") throw new TypeError("Cannot set a variable: the text must be a string");
  if (!isWellFormed(text)) throw new TypeError("Cannot set a variable: the text contains half of a character");
}

export function checkInspect(name: unknown, options: InspectOptions): void {
  checkOptions("session.inspect", options, OPTIONS.inspect);
  if (typeof name !== "string") throw new TypeError(`Cannot inspect ${nameType(name)}: it must be a name`);
  checkCounts({ maxCharacters: options.maxCharacters }, 1);
  checkAtMost("maxCharacters", options.maxCharacters, MAX_CHARACTERS);
  checkLookTime(options);
}

export function checkRows(name: unknown, options: RowsOptions): void {
  checkOptions("session.rows", options, OPTIONS.rows);
  if (typeof name !== "string") throw new TypeError(`Cannot list the rows of ${nameType(name)}: it must be a name`);
  const { start, count, columnStart, columnCount, sortBy, descending } = options;
  checkCounts({ start, columnStart, sortBy });
  checkCounts({ count, columnCount }, 1);
  checkAtMost("count", count, MAX_ROWS);
  checkAtMost("columnCount", columnCount, MAX_ROW_CELLS);
  checkType("descending", descending, "boolean");
  checkLookTime(options);
}

/** `call` is what was called, as in `session.complete`. */
export function checkLook(call: string, code: unknown, cursor: unknown, options: LookOptions): void {
  checkOptions(call, options, OPTIONS.look);
  if (typeof code !== "string") throw new TypeError(`Cannot look at ${nameType(code)}: code must be a string`);
  if (!Number.isSafeInteger(cursor) || (cursor as number) < 0 || (cursor as number) > code.length)
    throw new RangeError(`Cannot use ${String(cursor)} as cursor: it must be a position in the code`);
  checkLookTime(options);
}

export function checkPath(path: unknown): void {
  if (typeof path !== "string") throw new TypeError(`Cannot use ${nameType(path)} as a path: give a string`);
  if (path === "" || path.length > MAX_PATH_CHARACTERS)
    throw new RangeError(`Cannot use '${path.slice(0, 80)}' as a path: it is empty or too long`);
}

export function checkFileOptions(call: string, options: FileOptions, known: readonly string[] = OPTIONS.file): void {
  checkOptions(call, options, known);
  checkSignal(options.signal);
}

export function checkFileRange(
  call: string,
  options: FileRangeOptions,
  known: readonly string[] = OPTIONS.fileRange,
): void {
  checkFileOptions(call, options, known);
  checkCounts({ offset: options.offset, length: options.length });
}

export function checkFileRead(options: FileReadOptions): void {
  checkFileRange("files.read", options, OPTIONS.fileRead);
  checkCounts({ maxBytes: options.maxBytes });
}

export function checkFileList(options: FileListOptions): void {
  checkFileOptions("files.list", options, OPTIONS.fileList);
  checkCounts({ depth: options.depth }, 1);
  checkAtMost("depth", options.depth, MAX_DEPTH);
}

/** Of `runtime.rlm`, without the options that only one implementation has. */
export function checkRunDefaults(options: Omit<RLMOptions, keyof typeof ROLES>): void {
  const { limits, mode, onLimit } = options;
  checkSampling("runtime.rlm", options);
  checkRunLimits("runtime.rlm limits", limits);
  checkChoice("mode", mode, MODES);
  checkChoice("onLimit", onLimit, ON_LIMIT);
}

export function checkRunRequest(request: Omit<RunRequest, "context">, known: readonly string[]): void {
  checkOptions("rlm.run", request, known);
  const { id, query, limits, mode, onLimit, signal } = request;
  if (typeof query !== "string" || query.trim() === "") throw new TypeError("Cannot run: give a question");
  for (const role of Object.keys(ROLES) as (keyof typeof ROLES)[]) checkModelName(role, request[role]);
  checkSampling("rlm.run", request);
  checkRunLimits("rlm.run limits", limits);
  checkChoice("mode", mode, MODES);
  checkChoice("onLimit", onLimit, ON_LIMIT);
  checkWorkId(id);
  checkSignal(signal);
}

const ROLES = { model: true, subModel: true, childModel: true, extractModel: true } as const;
const MODES = ["auto", "rlm", "direct"];
const ON_LIMIT = ["partial", "throw"];

function checkRunLimits(call: string, limits: RLMLimits | undefined): void {
  checkOptions(call, limits, OPTIONS.rlmLimits);
  const { maxDepth, maxIterations, ...amounts } = limits ?? {};
  checkCounts({ maxDepth });
  checkCounts({ maxIterations }, 1);
  for (const [name, value] of Object.entries(amounts))
    if (value !== undefined && !(typeof value === "number" && value > 0))
      throw new RangeError(`Cannot use ${String(value)} as limits.${name}: it must be a positive number`);
}

/** What is added to the standard library. */
export function checkSource(source: unknown): void {
  if (typeof source !== "string") throw new TypeError(`Cannot add a ${typeof source} to the standard library`);
}

/** Of a task. 0 asks for its state now. */
export function checkWait(timeoutMs: number, options: { readonly signal?: unknown }): void {
  checkOptions("task.wait", options, ["signal"]);
  checkSignal(options.signal);
  if (timeoutMs !== 0) checkTimes({ timeoutMs });
}

/** What a handler of input answered. */
export function checkLine(answer: unknown): string | null {
  if (answer === null || typeof answer === "string") return answer;
  throw new TypeError(`onInput answered with ${nameType(answer)}: it must be a string or null`);
}

/** Of `execution.answer`. */
export function checkAnswer(line: unknown, options: AnswerOptions): void {
  if (line !== null && typeof line !== "string")
    throw new TypeError(`Cannot answer with ${nameType(line)}: it must be a string or null`);
  checkOptions("execution.answer", options, OPTIONS.answer);
  checkCounts({ call: options.call });
}

/** The text of an id with which something is looked up. */
export function checkIdText(id: unknown): void {
  if (typeof id !== "string") throw new TypeError(`Cannot use ${nameType(id)} as an id: give a string`);
}

function checkLookTime({ timeoutMs }: LookOptions): void {
  checkCounts({ timeoutMs }, 1);
  checkAtMost("timeoutMs", timeoutMs, MAX_LOOK_MS);
}

function checkSearchText(text: unknown): void {
  if (typeof text !== "string") throw new TypeError(`Cannot search for ${nameType(text)}: give a string`);
  if (text === "" || text.length > MAX_SEARCH_CHARACTERS)
    throw new RangeError(`Cannot search for ${text.length} characters: give 1 to ${MAX_SEARCH_CHARACTERS}`);
}

function checkAtMost(name: string, value: number | undefined, most: number): void {
  if (value !== undefined && value > most)
    throw new RangeError(`Cannot use ${value} as ${name}: it must be at most ${most}`);
}

function checkType(name: string, value: unknown, type: "string" | "boolean"): void {
  if (value !== undefined && typeof value !== type) throw new TypeError(`Cannot use ${name}: it must be a ${type}`);
}

function checkChoice(name: string, value: unknown, choices: readonly string[]): void {
  if (value === undefined || choices.includes(value as string)) return;
  const quoted = choices.map((choice) => `'${choice}'`);
  throw new TypeError(`Cannot use ${name}: it must be ${toList(quoted, "or")}`);
}

/** As in `a, b and c`. */
function toList(words: readonly string[], conjunction: "and" | "or"): string {
  return `${words.slice(0, -1).join(", ")} ${conjunction} ${words.at(-1)}`;
}
