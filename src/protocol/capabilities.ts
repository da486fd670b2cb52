// What an environment can do, as data. The same for every sandbox of an environment, and known before the first one is open, except what
// depends on the tier: until that is known, it is what the strongest tier of this machine has.

import { z } from "zod";
import type { Shape } from "./shape.ts";

export const capabilities = z
  .object({
    fork: z.boolean().describe("Sessions can be copied live"),
    checkpoint: z.boolean().describe("Sessions can keep live copies and return to them"),
    shell: z.boolean().describe("Commands run in bash"),
    processes: z.boolean().describe("Code can start processes"),
    threads: z.boolean().describe("Code can start threads"),
    watch: z.boolean().describe("Changes of files can be followed"),
    inspectWhileRunning: z
      .boolean()
      .describe("Variables can be inspected and code completed while code runs. Listing variables never needs it"),
    network: z
      .enum(["none", "filtered", "all"])
      .describe("The most that a session can be allowed. `filtered`: only to allowed hosts, through a proxy"),
    packages: z
      .enum(["none", "wheels", "index"])
      .describe(
        "Where a session can install packages from, besides those its interpreter has. `wheels`: a folder on the host. `index`: a package index too",
      ),
    languages: z.array(z.enum(["python"])).describe("What `execute` takes"),
  })
  .meta({ id: "Capabilities", description: "What an environment can do" });
export type Capabilities = Shape<typeof capabilities>;

/** As in `fork yes, checkpoint yes, shell no, network none`. */
export function describeCapabilities(declared: Capabilities): string {
  return Object.entries(declared)
    .map(([name, value]) => `${name} ${toText(value)}`)
    .join(", ");
}

function toText(value: Capabilities[keyof Capabilities]): string {
  if (typeof value === "boolean") return value ? "yes" : "no";
  return typeof value === "string" ? value : value.join(" and ");
}
