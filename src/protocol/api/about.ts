// Health and version of a server.

import { z } from "zod";
import { capabilities } from "../capabilities.ts";
import type { Shape } from "../shape.ts";

export const healthAnswer = z
  .strictObject({
    status: z.enum(["ok", "starting", "ending"]),
    live: z.literal(true),
    ready: z.boolean().describe("Accepts work: it has started, and is not shutting down"),
  })
  .meta({ id: "Health" });

export const versionAnswer = z
  .strictObject({
    version: z.string().describe("Of this package"),
    protocol: z.int().describe("The version of this API, as in the header `Rlm-Protocol`. Additions do not change it"),
    node: z.string().describe("Of Node"),
    python: z.string().nullable().describe("Of Python. Null: none was started yet"),
    environment: z.string().describe("Where sessions run"),
    tier: z.string().nullable().describe("How sessions are isolated. Null: none was opened yet"),
    notStopped: z.array(z.string()).describe("What this tier does not stop, though the strongest does"),
    strongerTier: z
      .strictObject({ why: z.string().describe("The reason"), fix: z.string().describe("What to change") })
      .nullable()
      .describe(
        "Why no stronger tier can be built here, and how to get it. Null: it is the strongest, or no other was tried",
      ),
    capabilities: capabilities.describe("What the environment can do"),
  })
  .meta({ id: "Version", description: "Versions, and what the environment can do" });
export type RuntimeInfo = Shape<typeof versionAnswer>;
