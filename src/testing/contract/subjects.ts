// The cases of the contract by subject, in the order in which they run.

import type { ContractCase } from "./case.ts";
import { ARGUMENTS } from "./cases/arguments.ts";
import { BRANCHES } from "./cases/branches.ts";
import { CANCELLATION } from "./cases/cancellation.ts";
import { EXECUTIONS } from "./cases/executions.ts";
import { FILES } from "./cases/files.ts";
import { LOOKING } from "./cases/looking.ts";
import { RESULTS } from "./cases/results.ts";
import { RUN_RECORDS } from "./cases/run-records.ts";
import { RUNS } from "./cases/runs.ts";
import { RUNTIME } from "./cases/runtime.ts";
import { SESSIONS } from "./cases/sessions.ts";
import { SHELL } from "./cases/shell.ts";
import { VARIABLES } from "./cases/variables.ts";
import { WORK } from "./cases/work.ts";

export const SUBJECTS: Readonly<Record<string, readonly ContractCase[]>> = {
  work: WORK,
  results: RESULTS,
  executions: EXECUTIONS,
  cancellation: CANCELLATION,
  sessions: SESSIONS,
  arguments: ARGUMENTS,
  variables: VARIABLES,
  looking: LOOKING,
  branches: BRANCHES,
  files: FILES,
  shell: SHELL,
  runs: RUNS,
  runRecords: RUN_RECORDS,
  runtime: RUNTIME,
};
