// The standard library: what is asked, and what comes back.

import { z } from "zod";

export const stdlibListing = z
  .strictObject({
    functions: z.array(
      z.strictObject({
        name: z.string(),
        signature: z.string(),
        doc: z.string().describe("The first line of its documentation"),
      }),
    ),
    modules: z.array(z.string()),
    other: z.array(z.string()).describe("Classes, constants"),
  })
  .meta({ id: "StandardLibrary" });

export const addBody = z.strictObject({ code: z.string() }).meta({ id: "StandardLibraryRequest" });

export const addAnswer = z
  .strictObject({ names: z.array(z.string()).describe("What the code defines") })
  .meta({ id: "StandardLibraryAdded" });
