import type { ExecuteOptions, Result, Session, SessionEvent } from "../internals.ts";

export async function run(session: Session, code: string, options: ExecuteOptions = {}): Promise<Result> {
  return session.execute(code, options).result;
}

/** Resolves to the first matching event. */
export function until<Type extends SessionEvent["type"]>(
  session: Session,
  type: Type,
  fits: (event: Extract<SessionEvent, { type: Type }>) => boolean = () => true,
): Promise<Extract<SessionEvent, { type: Type }>> {
  return new Promise((resolve) => {
    const subscription = session.subscribe((event) => {
      if (event.type !== type || !fits(event as never)) return;
      subscription[Symbol.dispose]();
      resolve(event as never);
    });
  });
}
