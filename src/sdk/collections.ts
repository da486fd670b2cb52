// The collections of a runtime: its sessions, tasks, runs and executions by id, and their lists.

import { checkIdText, checkPageOptions, checkRunListOptions, checkTaskListOptions } from "../api/checks/check-calls.ts";
import type { Executions } from "../api/execution.ts";
import type { LocalSession, LocalSessions } from "../api/local.ts";
import type { Page } from "../api/page.ts";
import type { RunListOptions, Runs } from "../api/run.ts";
import type { Tasks } from "../api/task.ts";
import { ExecutionNotFoundError } from "../errors.ts";
import type { ExecutionId, RunId, TaskId } from "../protocol/ids.ts";
import type { RunInfo } from "../protocol/runs.ts";
import { listSessions, listTasks } from "../views/lists.ts";
import { findRun, listRuns } from "../views/runs.ts";
import type { Runtime } from "../runtime.ts";
import type { Execution } from "../session/execution/execution.ts";
import type { Session } from "../session/session.ts";
import type { Task } from "../tasks/tasks.ts";
import { SDKExecution } from "./execution.ts";
import type { RecentExecutions } from "./recent-executions.ts";
import { SDKRun, toSource } from "./run.ts";
import { SDKTask } from "./task.ts";

export function createSessions(runtime: Runtime, toSession: (session: Session) => LocalSession): LocalSessions {
  const getSession = async (id: string): Promise<LocalSession> => toSession(runtime.sessions.get(id));
  return {
    get: (id) => {
      checkIdText(id);
      return getSession(id);
    },
    list: (options = {}) => {
      checkPageOptions("sessions.list", options);
      return listSessions(runtime, options);
    },
  };
}

export function createTasks(runtime: Runtime): Tasks {
  return {
    get: (id) => {
      checkIdText(id);
      return new SDKTask(
        id as TaskId,
        attempt<Task>(() => runtime.tasks.get(id)),
      );
    },
    list: (options = {}) => {
      checkTaskListOptions(options);
      return asPromise(() => listTasks(runtime, options));
    },
  };
}

export function createRuns(runtime: Runtime): Runs {
  return {
    get: (id) => {
      checkIdText(id);
      const live = runtime.runs.get(id);
      return new SDKRun(
        id as RunId,
        runtime,
        live === undefined ? findRun(runtime, id).then(toSource) : toSource(live),
      );
    },
    list: (options = {}) => {
      checkRunListOptions(options);
      return pageOfRuns(runtime, options);
    },
  };
}

export function createExecutions(recent: RecentExecutions): Executions {
  return {
    get: (id) => {
      checkIdText(id);
      const found = recent.findOrStarting(id);
      return new SDKExecution(
        id as ExecutionId,
        found ?? Promise.reject<Execution>(new ExecutionNotFoundError({ executionId: id })),
      );
    },
  };
}

async function pageOfRuns(runtime: Runtime, options: RunListOptions): Promise<Page<RunInfo>> {
  const { items, next } = await listRuns(runtime, options);
  return { items, next };
}

async function asPromise<Value>(call: () => Value): Promise<Value> {
  return call();
}

/** A rejected promise where the call throws. */
function attempt<Value>(call: () => Value): Value | Promise<Value> {
  try {
    return call();
  } catch (error) {
    return Promise.reject(error);
  }
}
