// What there is to go to, for the palette: live sessions, tasks and recent runs.

import type { Runtime } from "rlm-runtime/client";
import type { RouteLike } from "./router.ts";
import { lookOf } from "./tasks/task-look.ts";

export interface PlaceToGo {
  readonly id: string;
  readonly kind: "Session" | "Task" | "Run";
  /** What people call it: the id of a session, the command of a task, the question of a run. */
  readonly name: string;
  /** By which it is found as well. */
  readonly words?: string;
  readonly state: string;
  /** Another word than the state's. */
  readonly stateWord?: string | undefined;
  readonly route: RouteLike;
}

const MAX_OF_EACH = 100;

/** What fails to load is left out: the rest is still of use. */
export async function loadPlaces(runtime: Runtime): Promise<readonly PlaceToGo[]> {
  const found = await Promise.allSettled([loadSessions(runtime), loadTasks(runtime), loadRuns(runtime)]);
  return found.flatMap((outcome) => (outcome.status === "fulfilled" ? outcome.value : []));
}

async function loadSessions({ sessions }: Runtime): Promise<PlaceToGo[]> {
  const { items } = await sessions.list({ limit: MAX_OF_EACH });
  return items.map(({ id, state }) => ({
    id: `session ${id}`,
    kind: "Session",
    name: id,
    state,
    route: { place: "sessions", path: [id] },
  }));
}

async function loadTasks({ tasks }: Runtime): Promise<PlaceToGo[]> {
  const { items } = await tasks.list({ limit: MAX_OF_EACH });
  return items.toReversed().map((task) => {
    const { id, command } = task;
    const { state, word } = lookOf(task);
    const route = { place: "tasks", path: [id] } as const;
    return { id: `task ${id}`, kind: "Task", name: command, words: id, state, stateWord: word, route };
  });
}

async function loadRuns({ runs }: Runtime): Promise<PlaceToGo[]> {
  const { items } = await runs.list({ limit: MAX_OF_EACH });
  return items.map(({ id, query, status }) => ({
    id: `run ${id}`,
    kind: "Run",
    name: query === "" ? id : query,
    words: id,
    state: status,
    route: { place: "runs", path: [id] },
  }));
}
