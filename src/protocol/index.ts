// What crosses the boundaries of a runtime, for programs that read it themselves: the data types, and a schema for each. Safe in a browser.
//
// Every public name, one by one. A schema is shown as `Schema<Type>`, because users do not have the library behind it.

import type { Schema } from "../api/schema.ts";
import { versionAnswer, type RuntimeInfo } from "./api/about.ts";
import { capabilities, type Capabilities } from "./capabilities.ts";
import * as events from "./events.ts";
import type {
  BackgroundDelta,
  CallEnd,
  CallStart,
  CheckpointAdd,
  CheckpointDrop,
  Display,
  DisplayPart,
  ExecutionEnd,
  ExecutionEvent,
  ExecutionQueue,
  ExecutionStart,
  InputEnd,
  InputStart,
  OutputDelta,
  OutputGap,
  ResetReason,
  SessionEnd,
  SessionEvent,
  SessionFork,
  SessionReset,
} from "./events.ts";
import * as execution from "./execution.ts";
import type {
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
import * as outline from "./run-outline/run-outline.ts";
import type {
  OutlineMark,
  OutlineNode,
  OutlineSpan,
  RunEventPage,
  RunMatch,
  RunOutline,
  RunSearchAnswer,
  StoredRunEvent,
} from "./run-outline/run-outline.ts";
import * as runs from "./runs.ts";
import type { LedgerAxis, LedgerLimits, RunInfo, RunResult, RunStatus, RunUsage, StopReason } from "./runs.ts";
import { loadReport, skippedVariable, type LoadReport, type SkippedVariable } from "./session-manifest.ts";
import {
  checkpoint,
  forkOrigin,
  sessionInfo,
  stdlibFunction,
  stdlibListing,
  stdlibState,
  type Checkpoint,
  type ForkOrigin,
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
import * as variables from "./variables.ts";
import type {
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
  VariableRows,
  VariableText,
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
  CheckpointAdd,
  CheckpointDrop,
  Display,
  DisplayPart,
  ExecutionEnd,
  ExecutionEvent,
  ExecutionQueue,
  ExecutionStart,
  InputEnd,
  InputStart,
  OutputDelta,
  OutputGap,
  ResetReason,
  SessionEnd,
  SessionEvent,
  SessionFork,
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
export type {
  OutlineMark,
  OutlineNode,
  OutlineSpan,
  RunEventPage,
  RunMatch,
  RunOutline,
  RunSearchAnswer,
  StoredRunEvent,
} from "./run-outline/run-outline.ts";
export type { BlobReference, StoredText } from "./run-outline/stored-text.ts";
export type { LedgerAxis, LedgerLimits, RunInfo, RunResult, RunStatus, RunUsage, StopReason } from "./runs.ts";
export type { LoadReport, SaveReport, SkippedVariable } from "./session-manifest.ts";
export type { Checkpoint, ForkOrigin, SessionInfo, StdlibFunction, StdlibListing, StdlibState } from "./sessions.ts";
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
  VariableRows,
  VariableText,
} from "./variables.ts";
export type { ExecutionId, RunId, SessionId, TaskId } from "./ids.ts";

// Schemas: one for each type of data.
/** Checks a BackgroundDelta. */
export const backgroundDeltaSchema: Schema<BackgroundDelta> = events.backgroundDelta;
/** Checks a CallEnd. */
export const callEndSchema: Schema<CallEnd> = events.callEnd;
/** Checks a CallStart. */
export const callStartSchema: Schema<CallStart> = events.callStart;
/** Checks a Capabilities. */
export const capabilitiesSchema: Schema<Capabilities> = capabilities;
/** Checks a Checkpoint. */
export const checkpointSchema: Schema<Checkpoint> = checkpoint;
/** Checks a CheckpointAdd. */
export const checkpointAddSchema: Schema<CheckpointAdd> = events.checkpointAdd;
/** Checks a CheckpointDrop. */
export const checkpointDropSchema: Schema<CheckpointDrop> = events.checkpointDrop;
/** Checks a Column. */
export const columnSchema: Schema<Column> = variables.column;
/** Checks a Completion. */
export const completionSchema: Schema<Completion> = variables.completion;
/** Checks a CompletionType. */
export const completionTypeSchema: Schema<CompletionType> = variables.completionType;
/** Checks a Completions. */
export const completionsSchema: Schema<Completions> = variables.completions;
/** Checks a Cut. */
export const cutSchema: Schema<Cut> = execution.cut;
/** Checks a Display. */
export const displaySchema: Schema<Display> = events.display;
/** Checks a DisplayPart. */
export const displayPartSchema: Schema<DisplayPart> = events.displayPart;
/** Checks an ExecutionEnd. */
export const executionEndSchema: Schema<ExecutionEnd> = events.executionEnd;
/** Checks an ExecutionError. */
export const executionErrorSchema: Schema<ExecutionError> = execution.executionError;
/** Checks an ExecutionEvent. */
export const executionEventSchema: Schema<ExecutionEvent> = events.executionEvent;
/** Checks an ExecutionId. */
export const executionIdSchema: Schema<ExecutionId> = executionId;
/** Checks an ExecutionQueue. */
export const executionQueueSchema: Schema<ExecutionQueue> = events.executionQueue;
/** Checks an ExecutionResult. */
export const executionResultSchema: Schema<ExecutionResult> = execution.executionResult;
/** Checks an ExecutionStart. */
export const executionStartSchema: Schema<ExecutionStart> = events.executionStart;
/** Checks an ExecutionStatus. */
export const executionStatusSchema: Schema<ExecutionStatus> = execution.executionStatus;
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
/** Checks a ForkOrigin. */
export const forkOriginSchema: Schema<ForkOrigin> = forkOrigin;
/** Checks a HistoryEntry. */
export const historyEntrySchema: Schema<HistoryEntry> = execution.historyEntry;
/** Checks an Incomplete. */
export const incompleteSchema: Schema<Incomplete> = variables.incomplete;
/** Checks an InputEnd. */
export const inputEndSchema: Schema<InputEnd> = events.inputEnd;
/** Checks an InputStart. */
export const inputStartSchema: Schema<InputStart> = events.inputStart;
/** Checks an InspectedVariable. */
export const inspectedVariableSchema: Schema<InspectedVariable> = variables.inspectedVariable;
/** Checks an InterruptReason. */
export const interruptReasonSchema: Schema<InterruptReason> = execution.interruptReason;
/** Checks a LedgerAxis. */
export const ledgerAxisSchema: Schema<LedgerAxis> = runs.ledgerAxis;
/** Checks a LedgerLimits. */
export const ledgerLimitsSchema: Schema<LedgerLimits> = runs.ledgerLimits;
/** Checks a LoadReport. */
export const loadReportSchema: Schema<LoadReport> = loadReport;
/** Checks a MimeBundle. */
export const mimeBundleSchema: Schema<MimeBundle> = execution.mimeBundle;
/** Checks a ModelCallEnd. */
export const modelCallEndSchema: Schema<ModelCallEnd> = modelCallEnd;
/** Checks a ModelCallStart. */
export const modelCallStartSchema: Schema<ModelCallStart> = modelCallStart;
/** Checks a ModelUsage. */
export const modelUsageSchema: Schema<ModelUsage> = modelUsage;
/** Checks an OutlineMark. */
export const outlineMarkSchema: Schema<OutlineMark> = outline.outlineMark;
/** Checks an OutlineNode. */
export const outlineNodeSchema: Schema<OutlineNode> = outline.outlineNode;
/** Checks an OutlineSpan. */
export const outlineSpanSchema: Schema<OutlineSpan> = outline.outlineSpan;
/** Checks an OutputDelta. */
export const outputDeltaSchema: Schema<OutputDelta> = events.outputDelta;
/** Checks an OutputGap. */
export const outputGapSchema: Schema<OutputGap> = events.outputGap;
/** Checks an OutputStream. */
export const outputStreamSchema: Schema<OutputStream> = execution.outputStream;
/** Checks a ResetReason. */
export const resetReasonSchema: Schema<ResetReason> = events.resetReason;
/** Checks a RunEvent. */
export const runEventSchema: Schema<RunEvent> = runEvent;
/** Checks a RunEventPage. */
export const runEventPageSchema: Schema<RunEventPage> = outline.runEventPage;
/** Checks a RunId. */
export const runIdSchema: Schema<RunId> = runId;
/** Checks a RunInfo. */
export const runInfoSchema: Schema<RunInfo> = runs.runInfo;
/** Checks a RunMatch. */
export const runMatchSchema: Schema<RunMatch> = outline.runMatch;
/** Checks a RunOutline. */
export const runOutlineSchema: Schema<RunOutline> = outline.runOutline;
/** Checks a RunResult. */
export const runResultSchema: Schema<RunResult> = runs.runResult;
/** Checks a RunSearchAnswer. */
export const runSearchAnswerSchema: Schema<RunSearchAnswer> = outline.runSearchAnswer;
/** Checks a RunStatus. */
export const runStatusSchema: Schema<RunStatus> = runs.runStatus;
/** Checks a RunUsage. */
export const runUsageSchema: Schema<RunUsage> = runs.runUsage;
/** Checks a RuntimeInfo. */
export const runtimeInfoSchema: Schema<RuntimeInfo> = versionAnswer;
/** Checks a SessionEnd. */
export const sessionEndSchema: Schema<SessionEnd> = events.sessionEnd;
/** Checks a SessionEvent. */
export const sessionEventSchema: Schema<SessionEvent> = events.sessionEvent;
/** Checks a SessionFork. */
export const sessionForkSchema: Schema<SessionFork> = events.sessionFork;
/** Checks a SessionId. */
export const sessionIdSchema: Schema<SessionId> = sessionId;
/** Checks a SessionInfo. */
export const sessionInfoSchema: Schema<SessionInfo> = sessionInfo;
/** Checks a SessionReset. */
export const sessionResetSchema: Schema<SessionReset> = events.sessionReset;
/** Checks a Signature. */
export const signatureSchema: Schema<Signature> = variables.signature;
/** Checks a SkippedVariable. */
export const skippedVariableSchema: Schema<SkippedVariable> = skippedVariable;
/** Checks a StateAfter. */
export const stateAfterSchema: Schema<StateAfter> = execution.stateAfter;
/** Checks a StdlibFunction. */
export const stdlibFunctionSchema: Schema<StdlibFunction> = stdlibFunction;
/** Checks a StdlibListing. */
export const stdlibListingSchema: Schema<StdlibListing> = stdlibListing;
/** Checks a StdlibState. */
export const stdlibStateSchema: Schema<StdlibState> = stdlibState;
/** Checks a StopReason. */
export const stopReasonSchema: Schema<StopReason> = runs.stopReason;
/** Checks a StoredRunEvent. */
export const storedRunEventSchema: Schema<StoredRunEvent> = outline.storedRunEvent;
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
export const usageSchema: Schema<Usage> = execution.usage;
/** Checks a Variable. */
export const variableSchema: Schema<Variable> = variables.variable;
/** Checks a VariableKind. */
export const variableKindSchema: Schema<VariableKind> = variables.variableKind;
/** Checks a VariableList. */
export const variableListSchema: Schema<VariableList> = variables.variableList;
/** Checks a VariableRows. */
export const variableRowsSchema: Schema<VariableRows> = variables.variableRows;
/** Checks a VariableText. */
export const variableTextSchema: Schema<VariableText> = variables.variableText;
