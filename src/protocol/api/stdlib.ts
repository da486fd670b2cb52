// Requests and responses about the standard library.

import { z } from "zod";

export const addBody = z.strictObject({ code: z.string() }).meta({ id: "StandardLibraryRequest" });

export const addAnswer = z
  .object({ names: z.array(z.string()).describe("The names that the code defines") })
  .meta({ id: "StandardLibraryAdded" });
