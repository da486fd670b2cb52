// Health and version of a server.

import { z } from "zod";
import { capabilities } from "../capabilities.ts";

export const healthAnswer = z
  .strictObject({
    status: z.enum(["ok", "starting", "ending"]),
    live: z.literal(true),
    ready: z.boolean().describe("Accepts work: it has started, and is not shutting down"),
  })
  .meta({ id: "Health" });

export const versionAnswer = z
  .strictObject({
    version: z.string(),
    node: z.string(),
    python: z.string().nullable(),
    environment: z.string(),
    tier: z.string().nullable().describe("How sessions are isolated. Null: none was opened yet"),
    notStopped: z.array(z.string()).describe("What this tier does not stop, though the strongest does"),
    strongerTier: z
      .strictObject({ why: z.string(), fix: z.string() })
      .nullable()
      .describe(
        "Why no stronger tier can be built here, and how to get it. Null: it is the strongest, or no other was tried",
      ),
    capabilities: capabilities.describe("What the environment can do"),
  })
  .meta({ id: "Version" });
