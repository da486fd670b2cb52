// `rlm env add NAME`: installs what an environment needs, and says what was done.

import { installEnvironment, type EnvironmentName } from "../../environments/registry.ts";
import { ActiveWork } from "../../util/async/active-work.ts";
import { omitUndefined } from "../../util/omit-undefined.ts";
import { EXIT } from "../exit-code.ts";
import { progressPrinter } from "../io/progress-printer.ts";
import { readConfig } from "../options/read-config.ts";
import { UsageError } from "../options/usage-error.ts";

export interface AddArguments {
  readonly image?: string;
  readonly python?: string;
  readonly force?: boolean;
  readonly package?: string;
  readonly config?: string;
}

/** The environment that an option is for. */
const ENVIRONMENT_OF = { image: "docker", python: "docker", force: "wasm", package: "wasm" } as const;

export async function addEnvironment(name: EnvironmentName, options: AddArguments): Promise<number> {
  refuseOthers(name, options);
  const config = readConfig({ path: options.config, isDotEnvOptional: true });
  const { image, python, force, package: file } = options;
  const docker = omitUndefined(config.docker);
  const work = new ActiveWork();
  const done = await work.during(() =>
    installEnvironment(
      name,
      omitUndefined({ docker, image, python, force, package: file, onProgress: progressPrinter() }),
    ),
  );
  work.close();
  const lines = done ?? [`The '${name}' environment has nothing to install`];
  process.stdout.write(`${lines.map((line) => `${line}.`).join("\n")}\n`);
  return EXIT.ok;
}

function refuseOthers(name: EnvironmentName, options: AddArguments): void {
  for (const [option, environment] of Object.entries(ENVIRONMENT_OF)) {
    if (environment === name || options[option as keyof typeof ENVIRONMENT_OF] === undefined) continue;
    throw new UsageError(
      `--${option} is for the '${environment}' environment: leave it out, or run 'rlm env add ${environment}'`,
    );
  }
}
