// The sessions and tasks of a runtime, page by page.

import type { Page, PageOptions } from "../api/page.ts";
import type { TaskListOptions } from "../api/task.ts";
import type { SessionInfo } from "../protocol/sessions.ts";
import type { TaskInfo } from "../protocol/tasks.ts";
import type { Runtime } from "../runtime.ts";
import { toPage } from "./page.ts";

/** The oldest first. Throws a RangeError for a cursor that is none. */
export async function listSessions({ sessions }: Runtime, page: PageOptions): Promise<Page<SessionInfo>> {
  const { items, next } = toPage(sessions.list(), { ...page, positionOf: (one) => [sessions.numberOf(one), ""] });
  return { items: await Promise.all(items.map((one) => one.info())), next };
}

/** In the order in which they started. Throws a RangeError for a cursor that is none. */
export function listTasks(
  { tasks }: Runtime,
  { status: wanted, sessionId: session, ...page }: TaskListOptions,
): Page<TaskInfo> {
  const meant = tasks
    .list()
    .filter(({ status, sessionId }) => (wanted ?? status) === status && (session ?? sessionId) === sessionId);
  const { items, next } = toPage(meant, { ...page, positionOf: (one) => [tasks.numberOf(one), ""] });
  return { items: items.map((one) => one.info()), next };
}
