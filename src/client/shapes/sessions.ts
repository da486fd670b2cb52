// Sessions, their variables and files, and the server itself.

import type { RuntimeInfo } from "../../protocol/api/about.ts";
import type { Capabilities } from "../../protocol/capabilities.ts";
import type { FileChange, FileEntry, FileListing } from "../../protocol/files.ts";
import type { SessionId } from "../../protocol/ids.ts";
import type { Checkpoint, InterruptAnswer, SessionInfo, StdlibListing } from "../../protocol/sessions.ts";
import type {
  Completions,
  InspectedVariable,
  Signature,
  Variable,
  VariableList,
  VariableRows,
} from "../../protocol/variables.ts";
import {
  array,
  boolean,
  idOf,
  nullable,
  number,
  object,
  oneOf,
  optional,
  string,
  variants,
  type Check,
} from "./check.ts";
import { executionError } from "./executions.ts";

const capabilities = object<Capabilities>({
  fork: boolean,
  checkpoint: boolean,
  shell: boolean,
  processes: boolean,
  threads: boolean,
  watch: boolean,
  inspectWhileRunning: boolean,
  network: oneOf("none", "filtered", "all"),
  packages: oneOf("none", "wheels", "index"),
  languages: array(oneOf("python")),
});
const checkpointId = nullable(string);
export const stateOrigin = { checkpointId, head: number };
export const sessionInfo: Check<SessionInfo> = object<SessionInfo>({
  variableCount: nullable(number),
  variables: array(string),
  memoryBytes: nullable(number),
  id: idOf<SessionId>(),
  environment: string,
  tier: nullable(string),
  capabilities,
  state: oneOf("idle", "running", "closed"),
  createdAt: string,
  lastExecutedAt: nullable(string),
  executionCount: number,
  waiting: number,
  epoch: number,
  ...stateOrigin,
  forkedFrom: nullable(object({ sessionId: idOf<SessionId>(), executionCount: number })),
  idleTimeoutMs: nullable(number),
  expiresAt: nullable(string),
  stdlib: object({ loaded: boolean, error: nullable(executionError) }),
});
export const interruptAnswer: Check<InterruptAnswer> = object<InterruptAnswer>({
  interrupted: nullable(string),
  hasEnded: boolean,
  state: nullable(oneOf("kept", "restored", "lost")),
});
export const checkpoint: Check<Checkpoint> = object<Checkpoint>({
  id: string,
  createdAt: string,
  executionCount: number,
  parentId: checkpointId,
  isAutomatic: boolean,
});
export const stdlibListing: Check<StdlibListing> = object<StdlibListing>({
  functions: array(object({ name: string, signature: string, doc: string })),
  modules: array(string),
  other: array(string),
});

const variable = {
  name: string,
  type: string,
  module: nullable(string),
  kind: oneOf("variable", "function", "class", "module"),
  length: optional(number),
  shape: optional(array(number)),
  dtype: optional(string),
  preview: optional(string),
};
const incomplete = nullable(oneOf("timeout", "crashed", "no-process"));
const variableText = object({ text: string, total: nullable(number), ofFirst: optional(number) });
const columns = array(object({ name: string, dtype: string }));
export const variableList: Check<VariableList> = object<VariableList>({
  variables: array(object<Variable>(variable)),
  total: number,
});
export const inspectedVariable: Check<InspectedVariable> = object<InspectedVariable>({
  ...variable,
  sizeBytes: optional(number),
  columns: optional(columns),
  columnCount: optional(number),
  repr: optional(variableText),
  str: optional(variableText),
  errors: object({
    facts: optional(string),
    preview: optional(string),
    repr: optional(string),
    str: optional(string),
  }),
  incomplete,
});
export const variableRows: Check<VariableRows> = object<VariableRows>({
  columns,
  index: array(string),
  rows: array(array(string)),
  start: number,
  columnStart: number,
  total: nullable(number),
  totalColumns: nullable(number),
  error: optional(string),
  incomplete,
});
export const completions: Check<Completions> = object<Completions>({
  matches: array(
    object({
      text: string,
      type: oneOf("name", "function", "class", "module", "keyword", "attribute", "key", "parameter", "path"),
    }),
  ),
  total: number,
  start: number,
  end: number,
  incomplete,
});
export const signature: Check<Signature> = object<Signature>({
  name: string,
  signature: string,
  documentation: string,
  parameter: nullable(number),
});

export const fileEntry: Check<FileEntry> = object<FileEntry>({
  name: string,
  path: string,
  type: oneOf("file", "folder", "link", "other"),
  size: number,
  modifiedAt: string,
  mode: number,
  target: optional(string),
});
export const fileListing: Check<FileListing> = object<FileListing>({ entries: array(fileEntry), omitted: number });
const change = object({ path: string });
export const fileChange = variants<FileChange>("type", {
  created: change,
  modified: change,
  removed: change,
  overflow: change,
  renamed: object({ path: string, from: string }),
});

export const runtimeInfo: Check<RuntimeInfo> = object<RuntimeInfo>({
  version: string,
  protocol: number,
  node: string,
  python: nullable(string),
  environment: string,
  tier: nullable(string),
  notStopped: array(string),
  strongerTier: nullable(object({ why: string, fix: string })),
  capabilities,
});
