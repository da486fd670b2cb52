// A subscription to the events of a session on this machine.

import type { SessionListener, Subscription } from "../api/session.ts";
import type { Session } from "../session/session.ts";
import { deferred } from "../util/async/deferred.ts";

export function subscribe(session: Session, listener: SessionListener): Subscription {
  const ended = deferred();
  const subscription = session.subscribe((event) => {
    try {
      listener(event);
    } finally {
      if (event.type === "session-end") ended.resolve();
    }
  });
  const ready = checkOpen(session);
  ready.catch(() => ended.resolve()); // a failure that nobody observes raises nothing
  return {
    ready,
    ended: ended.promise,
    [Symbol.dispose]: () => {
      subscription[Symbol.dispose]();
      ended.resolve();
    },
  };
}

/** Rejects with a SessionClosedError. */
async function checkOpen(session: Session): Promise<void> {
  session.checkOpen();
}
