// What request bodies must look like. Whatever they do not name is refused, so that a misspelt field is not ignored.

import { z } from "zod";

const DEFAULT_TIMEOUT_SECONDS = 55;
const MAX_TIMEOUT_SECONDS = 86_400;

const environmentName = z.string().regex(/^[^=\0]+$/, "must be a name without '=' and NUL");
const environmentValue = z.string().regex(/^[^\0]*$/, "must not hold NUL");

/** `timeout` in seconds: absent or 0 is the default of 55. */
export const executeBody = z.strictObject({
  code: z.string(),
  timeout: z
    .number()
    .min(0)
    .max(MAX_TIMEOUT_SECONDS)
    .default(0)
    .transform((seconds) => (seconds === 0 ? DEFAULT_TIMEOUT_SECONDS : seconds)),
  envs: z.record(environmentName, environmentValue).default({}),
});
