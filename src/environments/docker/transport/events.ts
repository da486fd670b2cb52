// Events of the fork server in a container. It runs beside code of a session, so each is hostile until parsed.

import * as z from "zod";
import type { ServerEvent } from "../../local/fork-server-messages.ts";

const count = z.int().min(0);
const text = z.string().max(64 * 1024);
const amount = z.number().min(0);
const sandbox = count;
/** Pipes of a worker, or of its output when that is replaced; of a job; of a program. */
const ofWorker = z.union([z.array(count).length(5), z.array(count).length(2)]);
const ofJob = z.array(count).length(2);
const ofProgram = z.array(count).length(3);
const exit = { reason: text.nullish(), code: z.int().optional(), signal: z.int().optional() };

const event = z.union([
  z.object({ event: z.literal("opened"), sandbox, work: text, forks: text }),
  z.object({ event: z.enum(["closed", "less"]), sandbox }),
  z.object({ event: z.literal("failed"), sandbox, stage: text, message: text }),
  z.object({ event: z.literal("pipes"), sandbox, branch: count, fds: ofWorker }),
  z.object({ event: z.literal("pipes"), sandbox, job: count, fds: ofJob }),
  z.object({ event: z.literal("pipes"), sandbox, program: count, fds: ofProgram }),
  z.object({ event: z.enum(["signalled", "cloned"]), sandbox, branch: count }),
  z.object({ event: z.literal("no-clone"), sandbox, branch: count, message: text }),
  z.object({ event: z.literal("exit"), sandbox, branch: count, ...exit, reason: text.nullable() }),
  z.object({ event: z.literal("job-end"), sandbox, job: count, why: text.nullable() }),
  z.object({
    event: z.literal("program-exit"),
    sandbox,
    program: count,
    why: text.optional(),
    ...exit,
    left: z.boolean().optional(),
    cpu: amount.optional(),
    peak: amount.optional(),
  }),
  z.object({
    event: z.enum(["program-gone", "program-usage"]),
    sandbox,
    program: count,
    cpu: amount,
    peak: amount,
  }),
  z.object({ event: z.literal("program-signalled"), sandbox, program: count }),
  z.object({
    event: z.literal("usage"),
    sandbox,
    id: count,
    memory: z.record(z.string().max(20), amount),
    disk: amount,
  }),
]);

/** Undefined: it is not one. */
export function parseEvent(value: unknown): ServerEvent | undefined {
  const { data } = event.safeParse(value);
  return data as ServerEvent | undefined;
}

const hello = z.object({
  event: z.literal("hello"),
  pid: count,
  python: z.string().max(100),
  executable: text,
  landlock: count,
  uid: count,
  cgroup: z.union([z.literal(1), z.literal(2), z.null()]),
  users: z.union([z.object({ why: text }), z.object({ first: count, last: count })]),
  threads: count,
  modules: z.array(z.string().max(200)).max(10_000),
});
const refusal = z.object({ event: z.literal("refused"), why: text });

/** The first message. */
export function parseFirst(value: unknown): z.infer<typeof hello> | z.infer<typeof refusal> | undefined {
  return z.union([hello, refusal]).safeParse(value).data;
}
