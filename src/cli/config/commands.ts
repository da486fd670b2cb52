// `rlm config` with its options.

import type { Command } from "commander";
import { endWith } from "../options/action.ts";
import { addSettingFlags } from "../options/setting-flags.ts";
import type { ShowArguments } from "./show.ts";
import type { TrustArguments } from "./trust.ts";

export function addConfig(program: Command): void {
  const config = program
    .command("config")
    .summary("show the configuration, and trust that of a project")
    .description("Shows the configuration, and decides whether a project's rlm.toml is trusted.")
    .usage("show | trust | untrust | path")
    .helpCommand(false)
    .addHelpText("after", EXAMPLES);
  addSettingFlags(config.command("show"))
    .summary("show every setting, its value and where it comes from")
    .description("Shows every setting, its value and where the value comes from. Secrets are not shown.")
    .option("--config <file>", "use this file instead of rlm.toml")
    .option("--json", "print them as one JSON object, and nothing else")
    .allowExcessArguments(false)
    .action(endWith(async (options: ShowArguments) => (await import("./show.ts")).showConfig(options)));
  config
    .command("trust")
    .summary("let everything in a project's rlm.toml count")
    .description(
      "Shows the settings of a project's rlm.toml that count only after this, and trusts the file until it changes.",
    )
    .argument("[file]", "the file (default: the rlm.toml of this folder)")
    .option("--yes", "do not ask")
    .allowExcessArguments(false)
    .action(
      endWith(async (file: string | undefined, options: TrustArguments) =>
        (await import("./trust.ts")).trustConfig(file, options),
      ),
    );
  config
    .command("untrust")
    .summary("stop trusting a project's rlm.toml")
    .argument("[file]", "the file (default: the rlm.toml of this folder)")
    .allowExcessArguments(false)
    .action(endWith(async (file: string | undefined) => (await import("./trust.ts")).untrustConfig(file)));
  config
    .command("path")
    .summary("print the paths of the configuration files and of the data folder")
    .option("--json", "print them as one JSON object, and nothing else")
    .allowExcessArguments(false)
    .action(endWith(async (options: { readonly json?: true }) => (await import("./paths.ts")).printPaths(options)));
}

const EXAMPLES = `
Examples:
  rlm config show
  rlm config show --model gpt-5 --json
  rlm config trust             after you have read the rlm.toml of this folder`;
