// What the scripts of all shells have in common.

import type { CompletedCommand, CompletedOption, Value } from "./model.ts";

/** For every way to name a command: the words so far, the next word, and the path of the command. */
export function toSteps(commands: readonly CompletedCommand[]): readonly { from: string; word: string; to: string }[] {
  return commands
    .flatMap(({ path, aliases }) => [path, ...aliases].map((name) => ({ name, to: path })))
    .filter(({ name }) => name !== "")
    .map(({ name, to }) => {
      const words = name.split(" ");
      return { from: words.slice(0, -1).join(" "), word: words.at(-1) ?? "", to };
    });
}

/** Every option that takes a value, with its command. */
export function optionsWithValue(
  commands: readonly CompletedCommand[],
): readonly { readonly path: string; readonly option: CompletedOption; readonly value: Value }[] {
  return commands.flatMap(({ path, options }) =>
    options.flatMap((option) => (option.value === undefined ? [] : [{ path, option, value: option.value }])),
  );
}

/**
 * Parts of a script for bash and zsh. `walk` finds the command `at` to which the words so far lead, one `$word` at a time; `values` completes
 * the value of the option `$prev`.
 */
export function toCases(
  commands: readonly CompletedCommand[],
  complete: (value: Value) => string,
): { readonly walk: string; readonly values: string } {
  const toPattern = (path: string, { names }: CompletedOption): string =>
    names.map((name) => quote(`${path}:${name}`)).join("|");
  const valued = optionsWithValue(commands);
  const steps = toSteps(commands).map(({ from, word, to }) => `      ${quote(`${from}:${word}`)}) at=${quote(to)} ;;`);
  const values = valued.map(
    ({ path, option, value }) => `    ${toPattern(path, option)}) ${complete(value)}; return ;;`,
  );
  return {
    walk: `    if [[ -n $is_value ]]; then is_value=''; continue; fi
    case "$at:$word" in
${steps.join("\n")}
      ${valued.map(({ path, option }) => toPattern(path, option)).join("|")}) is_value=1 ;;
    esac`,
    values: `  case "$at:$prev" in
${values.join("\n")}
  esac`,
  };
}

/** In single quotes, as bash and zsh read them. */
export function quote(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
