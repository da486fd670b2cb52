// Who hears what happens at the door: the log, the metrics. Called while requests wait, so each must be quick, and never throws.

import type { Session } from "../../session/session.ts";
import type { Door } from "../context/server-context.ts";
import type { Answered, GuardOptions } from "../net/guards/guarded-app.ts";
import type { Problem } from "../net/problem.ts";
import type { ListenOptions } from "../net/listen.ts";
import type { BegunWatcher } from "./activity-tracker.ts";

export interface Witness extends BegunWatcher {
  answered(answered: Answered): void;
  /** It was no HTTP. */
  malformed(problem: Problem, remote: string): void;
  /** A connection was ended by us, for a reason that its client may not have heard. */
  cut(problem: Problem, remote: string): void;
  unexpected(error: unknown, requestId?: string): void;
  sessionOpened(session: Session): void;
  sessionClosed(session: Session, why: string): void;
}

type Listeners = Required<
  Pick<GuardOptions, "onAnswer" | "onUnexpected"> & Pick<ListenOptions, "onMalformed" | "onCut">
>;

/** Tells them of the door's sessions, and of what requests begin there, from now on; of requests when the app and the socket are given what is returned. */
export function tellWitnesses(
  { runtime, begun }: Pick<Door, "runtime" | "begun">,
  witnesses: readonly Witness[],
): Listeners {
  const tell = (event: (witness: Witness) => void): void => {
    for (const witness of witnesses) event(witness);
  };
  runtime.sessions.watcher = {
    onOpened: (session) => tell((witness) => witness.sessionOpened(session)),
    onClosing: (session, why) => tell((witness) => witness.sessionClosed(session, why)),
  };
  begun.watcher = {
    executionEnded: (execution, result, origin) => {
      for (const witness of witnesses) witness.executionEnded(execution, result, origin); // most often
    },
    taskStarted: (...told) => tell((witness) => witness.taskStarted(...told)),
    taskEnded: (...told) => tell((witness) => witness.taskEnded(...told)),
    runStarted: (...told) => tell((witness) => witness.runStarted(...told)),
    runEnded: (...told) => tell((witness) => witness.runEnded(...told)),
  };
  return {
    onAnswer: (answered) => tell((witness) => witness.answered(answered)),
    onUnexpected: (error, requestId) => tell((witness) => witness.unexpected(error, requestId)),
    onCut: (problem, remote) => tell((witness) => witness.cut(problem, remote)),
    onMalformed: (problem, remote) => tell((witness) => witness.malformed(problem, remote)),
  };
}
