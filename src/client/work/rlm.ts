// Recursive runs: a request becomes JSON, or a form with parts where its context is large or a stream.

import { checkRunDefaults, checkRunRequest } from "../../api/checks/check-calls.ts";
import { checkOptions } from "../../api/checks/check-options.ts";
import { OPTIONS } from "../../api/checks/option-names.ts";
import { toJSONSchema } from "../../api/checks/to-json-schema.ts";
import type { RLM, RLMOptions, Run, RunRequest } from "../../api/run.ts";
import type { AnswerData, AnswerSchema } from "../../api/schema.ts";
import { omitUndefined } from "../../util/omit-undefined.ts";
import { jsonBody, type RequestBody } from "../net/body.ts";
import { randomId } from "../net/ids.ts";
import type { Requests } from "../net/requests.ts";
import { toContext } from "./context.ts";
import { formBody } from "./form-body.ts";
import { RemoteRun } from "./run.ts";

export class RemoteRLM implements RLM {
  readonly #requests: Requests;
  readonly #options: RLMOptions;

  constructor(requests: Requests, options: RLMOptions) {
    checkOptions("runtime.rlm", options, OPTIONS.rlm);
    checkRunDefaults(options);
    this.#requests = requests;
    this.#options = options;
  }

  run<const Schema extends AnswerSchema | undefined = undefined>(
    request: Omit<RunRequest, "schema"> & { readonly schema?: Schema },
  ): Run<AnswerData<Schema>> {
    checkRunRequest(request, OPTIONS.run);
    const { id = randomId("r"), query, context, schema, signal, limits, ...rest } = request;
    const options = this.#options;
    const { inline, parts } = toContext(context);
    const body = {
      ...options,
      ...omitUndefined(rest),
      limits: { ...options.limits, ...omitUndefined(limits ?? {}) },
      ...(schema !== undefined && { schema: toJSONSchema(schema) }),
      id,
      query,
      ...inline,
    };
    const content: RequestBody | Promise<RequestBody> = parts.length === 0 ? jsonBody(body) : formBody(body, parts);
    return new RemoteRun<AnswerData<Schema>>(this.#requests, id, { body: content, signal });
  }
}
