// The log and the metrics observe a server. Observers are called while requests wait: they must be quick and never throw. Each implements
// the events it needs.

import type { Runtime } from "../../runtime.ts";
import type { Session } from "../../session/session.ts";
import type { AnsweredRequest, GuardOptions } from "../net/guards/guarded-app.ts";
import type { ListenOptions } from "../net/listen.ts";
import type { Problem } from "../net/problem.ts";
import type { ActivityObserver, ActivityTracker } from "./activity-tracker.ts";

export interface Observer extends ActivityObserver {
  requestAnswered(answered: AnsweredRequest): void;
  /** Something that is not HTTP arrived. */
  malformed(problem: Problem, remote: string): void;
  /** The server ended a connection. The client may not know why. */
  connectionCut(problem: Problem, remote: string): void;
  unexpected(error: unknown, requestId?: string): void;
  sessionOpened(session: Session): void;
  sessionClosed(session: Session, why: string): void;
}

type Callbacks = Required<
  Pick<GuardOptions, "onAnswered" | "onUnexpected"> & Pick<ListenOptions, "onMalformed" | "onCut">
>;

interface Observed {
  readonly runtime: Runtime;
  readonly activity: ActivityTracker;
}

/** Reports sessions and activity to the observers from now on. The returned callbacks report requests and connections. */
export function connectObservers({ runtime, activity }: Observed, observers: readonly Partial<Observer>[]): Callbacks {
  const notify = (event: (observer: Partial<Observer>) => void): void => {
    for (const observer of observers) event(observer);
  };
  runtime.sessions.observer = {
    onOpened: (session) => notify((observer) => observer.sessionOpened?.(session)),
    onClosing: (session, why) => notify((observer) => observer.sessionClosed?.(session, why)),
  };
  activity.observers = observers;
  return {
    onAnswered: (answered) => notify((observer) => observer.requestAnswered?.(answered)),
    onUnexpected: (error, requestId) => notify((observer) => observer.unexpected?.(error, requestId)),
    onCut: (problem, remote) => notify((observer) => observer.connectionCut?.(problem, remote)),
    onMalformed: (problem, remote) => notify((observer) => observer.malformed?.(problem, remote)),
  };
}
