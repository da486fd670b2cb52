// What crosses the boundaries of a runtime, for programs that read it themselves: the data types, and a schema for each. Safe in a browser.
//
// Every public name, one by one. A schema is shown as `Schema<Type>`, because users do not have the library behind it.

import type { Schema } from "../api/schema.ts";
import { versionAnswer, type RuntimeInfo } from "./api/about.ts";
import { capabilities, type Capabilities } from "./capabilities.ts";
import {
  backgroundDelta,
  callEnd,
  callStart,
  display,
  displayPart,
  executionEnd,
  executionEvent,
  executionStart,
  inputEnd,
  inputStart,
  outputDelta,
  outputGap,
  resetReason,
  sessionEnd,
  sessionEvent,
  sessionReset,
  type BackgroundDelta,
  type CallEnd,
  type CallStart,
  type Display,
  type DisplayPart,
  type ExecutionEnd,
  type ExecutionEvent,
  type ExecutionStart,
  type InputEnd,
  type InputStart,
  type OutputDelta,
  type OutputGap,
  type ResetReason,
  type SessionEnd,
  type SessionEvent,
  type SessionReset,
} from "./events.ts";
import {
  cut,
  executionError,
  executionResult,
  executionStatus,
  historyEntry,
  interruptReason,
  mimeBundle,
  outputStream,
  stateAfter,
  usage,
  type Cut,
  type ExecutionError,
  type ExecutionResult,
  type ExecutionStatus,
  type HistoryEntry,
  type InterruptReason,
  type MimeBundle,
  type OutputStream,
  type StateAfter,
  type Usage,
} from "./execution.ts";
import {
  fileChange,
  fileEntry,
  fileKind,
  fileListing,
  type FileChange,
  type FileEntry,
  type FileKind,
  type FileListing,
} from "./files.ts";
import {
  modelCallEnd,
  modelCallStart,
  runEvent,
  type ModelCallEnd,
  type ModelCallStart,
  type RunEvent,
} from "./run-events.ts";
import {
  ledgerAxis,
  ledgerLimits,
  runInfo,
  runResult,
  runStatus,
  runUsage,
  stopReason,
  type LedgerAxis,
  type LedgerLimits,
  type RunInfo,
  type RunResult,
  type RunStatus,
  type RunUsage,
  type StopReason,
} from "./runs.ts";
import { loadReport, skippedVariable, type LoadReport, type SkippedVariable } from "./session-manifest.ts";
import {
  checkpoint,
  sessionInfo,
  stdlibFunction,
  stdlibListing,
  stdlibState,
  type Checkpoint,
  type SessionInfo,
  type StdlibFunction,
  type StdlibListing,
  type StdlibState,
} from "./sessions.ts";
import {
  taskEvent,
  taskInfo,
  taskKind,
  taskResult,
  taskState,
  taskStatus,
  type TaskEvent,
  type TaskInfo,
  type TaskKind,
  type TaskResult,
  type TaskState,
  type TaskStatus,
} from "./tasks.ts";
import { finishReason, modelUsage, type FinishReason, type ModelUsage } from "./usage.ts";
import {
  column,
  completion,
  completionType,
  completions,
  incomplete,
  inspectedVariable,
  signature,
  variable,
  variableKind,
  variableList,
  variableText,
  type Column,
  type Completion,
  type CompletionType,
  type Completions,
  type Incomplete,
  type InspectedVariable,
  type Signature,
  type Variable,
  type VariableKind,
  type VariableList,
  type VariableText,
} from "./variables.ts";
import { executionId, runId, sessionId, taskId } from "./id-schemas.ts";
import type { ExecutionId, RunId, SessionId, TaskId } from "./ids.ts";

// Types: the data, and what a schema is.
export type {
  Schema,
  SchemaError,
  SchemaIssue,
  SchemaResult,
  StandardIssue,
  StandardPathSegment,
  StandardResult,
} from "../api/schema.ts";
export type { RuntimeInfo } from "./api/about.ts";
export type { Capabilities } from "./capabilities.ts";
export type {
  BackgroundDelta,
  CallEnd,
  CallStart,
  Display,
  DisplayPart,
  ExecutionEnd,
  ExecutionEvent,
  ExecutionStart,
  InputEnd,
  InputStart,
  OutputDelta,
  OutputGap,
  ResetReason,
  SessionEnd,
  SessionEvent,
  SessionReset,
} from "./events.ts";
export type {
  Cut,
  ExecutionError,
  ExecutionResult,
  ExecutionStatus,
  HistoryEntry,
  InterruptReason,
  MimeBundle,
  OutputStream,
  StateAfter,
  Usage,
} from "./execution.ts";
export type { FileChange, FileEntry, FileKind, FileListing } from "./files.ts";
export type { ModelCallEnd, ModelCallStart, PrintedPart, RunEvent } from "./run-events.ts";
export type { LedgerAxis, LedgerLimits, RunInfo, RunResult, RunStatus, RunUsage, StopReason } from "./runs.ts";
export type { LoadReport, SaveReport, SkippedVariable } from "./session-manifest.ts";
export type { Checkpoint, SessionInfo, StdlibFunction, StdlibListing, StdlibState } from "./sessions.ts";
export type { TaskEvent, TaskInfo, TaskKind, TaskResult, TaskState, TaskStatus } from "./tasks.ts";
export type { FinishReason, ModelUsage, ReportedUsage, TokenPrice } from "./usage.ts";
export type {
  Column,
  Completion,
  CompletionType,
  Completions,
  Incomplete,
  InspectedVariable,
  Signature,
  Variable,
  VariableKind,
  VariableList,
  VariableText,
} from "./variables.ts";
export type { ExecutionId, RunId, SessionId, TaskId } from "./ids.ts";

// Schemas: one for each type of data.
/** Checks a BackgroundDelta. */
export const backgroundDeltaSchema: Schema<BackgroundDelta> = backgroundDelta;
/** Checks a CallEnd. */
export const callEndSchema: Schema<CallEnd> = callEnd;
/** Checks a CallStart. */
export const callStartSchema: Schema<CallStart> = callStart;
/** Checks a Capabilities. */
export const capabilitiesSchema: Schema<Capabilities> = capabilities;
/** Checks a Checkpoint. */
export const checkpointSchema: Schema<Checkpoint> = checkpoint;
/** Checks a Column. */
export const columnSchema: Schema<Column> = column;
/** Checks a Completion. */
export const completionSchema: Schema<Completion> = completion;
/** Checks a CompletionType. */
export const completionTypeSchema: Schema<CompletionType> = completionType;
/** Checks a Completions. */
export const completionsSchema: Schema<Completions> = completions;
/** Checks a Cut. */
export const cutSchema: Schema<Cut> = cut;
/** Checks a Display. */
export const displaySchema: Schema<Display> = display;
/** Checks a DisplayPart. */
export const displayPartSchema: Schema<DisplayPart> = displayPart;
/** Checks an ExecutionEnd. */
export const executionEndSchema: Schema<ExecutionEnd> = executionEnd;
/** Checks an ExecutionError. */
export const executionErrorSchema: Schema<ExecutionError> = executionError;
/** Checks an ExecutionEvent. */
export const executionEventSchema: Schema<ExecutionEvent> = executionEvent;
/** Checks an ExecutionId. */
export const executionIdSchema: Schema<ExecutionId> = executionId;
/** Checks an ExecutionResult. */
export const executionResultSchema: Schema<ExecutionResult> = executionResult;
/** Checks an ExecutionStart. */
export const executionStartSchema: Schema<ExecutionStart> = executionStart;
/** Checks an ExecutionStatus. */
export const executionStatusSchema: Schema<ExecutionStatus> = executionStatus;
/** Checks a FileChange. */
export const fileChangeSchema: Schema<FileChange> = fileChange;
/** Checks a FileEntry. */
export const fileEntrySchema: Schema<FileEntry> = fileEntry;
/** Checks a FileKind. */
export const fileKindSchema: Schema<FileKind> = fileKind;
/** Checks a FileListing. */
export const fileListingSchema: Schema<FileListing> = fileListing;
/** Checks a FinishReason. */
export const finishReasonSchema: Schema<FinishReason> = finishReason;
/** Checks a HistoryEntry. */
export const historyEntrySchema: Schema<HistoryEntry> = historyEntry;
/** Checks an Incomplete. */
export const incompleteSchema: Schema<Incomplete> = incomplete;
/** Checks an InputEnd. */
export const inputEndSchema: Schema<InputEnd> = inputEnd;
/** Checks an InputStart. */
export const inputStartSchema: Schema<InputStart> = inputStart;
/** Checks an InspectedVariable. */
export const inspectedVariableSchema: Schema<InspectedVariable> = inspectedVariable;
/** Checks an InterruptReason. */
export const interruptReasonSchema: Schema<InterruptReason> = interruptReason;
/** Checks a LedgerAxis. */
export const ledgerAxisSchema: Schema<LedgerAxis> = ledgerAxis;
/** Checks a LedgerLimits. */
export const ledgerLimitsSchema: Schema<LedgerLimits> = ledgerLimits;
/** Checks a LoadReport. */
export const loadReportSchema: Schema<LoadReport> = loadReport;
/** Checks a MimeBundle. */
export const mimeBundleSchema: Schema<MimeBundle> = mimeBundle;
/** Checks a ModelCallEnd. */
export const modelCallEndSchema: Schema<ModelCallEnd> = modelCallEnd;
/** Checks a ModelCallStart. */
export const modelCallStartSchema: Schema<ModelCallStart> = modelCallStart;
/** Checks a ModelUsage. */
export const modelUsageSchema: Schema<ModelUsage> = modelUsage;
/** Checks an OutputDelta. */
export const outputDeltaSchema: Schema<OutputDelta> = outputDelta;
/** Checks an OutputGap. */
export const outputGapSchema: Schema<OutputGap> = outputGap;
/** Checks an OutputStream. */
export const outputStreamSchema: Schema<OutputStream> = outputStream;
/** Checks a ResetReason. */
export const resetReasonSchema: Schema<ResetReason> = resetReason;
/** Checks a RunEvent. */
export const runEventSchema: Schema<RunEvent> = runEvent;
/** Checks a RunId. */
export const runIdSchema: Schema<RunId> = runId;
/** Checks a RunInfo. */
export const runInfoSchema: Schema<RunInfo> = runInfo;
/** Checks a RunResult. */
export const runResultSchema: Schema<RunResult> = runResult;
/** Checks a RunStatus. */
export const runStatusSchema: Schema<RunStatus> = runStatus;
/** Checks a RunUsage. */
export const runUsageSchema: Schema<RunUsage> = runUsage;
/** Checks a RuntimeInfo. */
export const runtimeInfoSchema: Schema<RuntimeInfo> = versionAnswer;
/** Checks a SessionEnd. */
export const sessionEndSchema: Schema<SessionEnd> = sessionEnd;
/** Checks a SessionEvent. */
export const sessionEventSchema: Schema<SessionEvent> = sessionEvent;
/** Checks a SessionId. */
export const sessionIdSchema: Schema<SessionId> = sessionId;
/** Checks a SessionInfo. */
export const sessionInfoSchema: Schema<SessionInfo> = sessionInfo;
/** Checks a SessionReset. */
export const sessionResetSchema: Schema<SessionReset> = sessionReset;
/** Checks a Signature. */
export const signatureSchema: Schema<Signature> = signature;
/** Checks a SkippedVariable. */
export const skippedVariableSchema: Schema<SkippedVariable> = skippedVariable;
/** Checks a StateAfter. */
export const stateAfterSchema: Schema<StateAfter> = stateAfter;
/** Checks a StdlibFunction. */
export const stdlibFunctionSchema: Schema<StdlibFunction> = stdlibFunction;
/** Checks a StdlibListing. */
export const stdlibListingSchema: Schema<StdlibListing> = stdlibListing;
/** Checks a StdlibState. */
export const stdlibStateSchema: Schema<StdlibState> = stdlibState;
/** Checks a StopReason. */
export const stopReasonSchema: Schema<StopReason> = stopReason;
/** Checks a TaskEvent. */
export const taskEventSchema: Schema<TaskEvent> = taskEvent;
/** Checks a TaskId. */
export const taskIdSchema: Schema<TaskId> = taskId;
/** Checks a TaskInfo. */
export const taskInfoSchema: Schema<TaskInfo> = taskInfo;
/** Checks a TaskKind. */
export const taskKindSchema: Schema<TaskKind> = taskKind;
/** Checks a TaskResult. */
export const taskResultSchema: Schema<TaskResult> = taskResult;
/** Checks a TaskState. */
export const taskStateSchema: Schema<TaskState> = taskState;
/** Checks a TaskStatus. */
export const taskStatusSchema: Schema<TaskStatus> = taskStatus;
/** Checks a Usage. */
export const usageSchema: Schema<Usage> = usage;
/** Checks a Variable. */
export const variableSchema: Schema<Variable> = variable;
/** Checks a VariableKind. */
export const variableKindSchema: Schema<VariableKind> = variableKind;
/** Checks a VariableList. */
export const variableListSchema: Schema<VariableList> = variableList;
/** Checks a VariableText. */
export const variableTextSchema: Schema<VariableText> = variableText;
