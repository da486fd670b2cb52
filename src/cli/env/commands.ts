// `rlm env` with its options.

import { Argument, type Command } from "commander";
import { ENVIRONMENT_NAMES, type EnvironmentName } from "../../environments/registry.ts";
import { endWith } from "../options/action.ts";
import type { AddArguments } from "./add.ts";

export function addEnv(program: Command): void {
  const env = program
    .command("env")
    .summary("add what an environment needs: an image for docker, Pyodide for wasm")
    .description("Adds what an environment needs on this machine.")
    .usage("add docker|wasm")
    .helpCommand(false)
    .addHelpText("after", EXAMPLES);
  env
    .command("add")
    .summary("get an image for docker, or Pyodide for wasm")
    .description(
      "docker: pulls the image, or builds one from this machine's Python where it cannot be pulled. wasm: installs Pyodide into the data folder.",
    )
    .addArgument(new Argument("<name>", "the environment").choices(ENVIRONMENT_NAMES))
    .option("--image <name>", "docker: the image to pull (default: that of rlm.toml, else python:3.11-slim)")
    .option("--python <path>", "docker: make the image from this interpreter, and pull nothing")
    .option("--force", "wasm: reinstall")
    .option("--package <file>", "wasm: use this file instead of downloading the package of Pyodide")
    .option("--config <file>", "use this file instead of rlm.toml")
    .allowExcessArguments(false)
    .action(
      endWith(async (name: EnvironmentName, options: AddArguments) =>
        (await import("./add.ts")).addEnvironment(name, options),
      ),
    );
}

const EXAMPLES = `
Examples:
  rlm env add docker
  rlm env add docker --image python:3.12
  rlm env add wasm
  rlm env add wasm --force --package pyodide.tgz`;
