// The script for fish: a function that finds the command, and a line for each thing to complete.

import type { CompletedCommand, CompletedOption, Value } from "./model.ts";
import { optionsWithValue, toSteps } from "./shell-words.ts";

export function toFish(commands: readonly CompletedCommand[]): string {
  const steps = toSteps(commands).map(
    ({ from, word, to }) => `      case ${quote(`${from}:${word}`)}\n        set at ${quote(to)}`,
  );
  const skipped = optionsWithValue(commands).flatMap(({ path, option }) =>
    option.names.map((name) => quote(`${path}:${name}`)),
  );
  return `# Completion of rlm for fish. In this shell:
#   rlm completion fish | source
# In every shell:
#   mkdir -p ~/.config/fish/completions
#   rlm completion fish > ~/.config/fish/completions/rlm.fish

function __rlm_at --description 'whether the words so far lead to this command of rlm'
  set -l at ''
  set -l is_value 0
  set -l typed (commandline -opc)
  for word in $typed[2..-1]
    if test $is_value = 1
      set is_value 0
      continue
    end
    switch "$at:$word"
${steps.join("\n")}
      case ${skipped.join(" ")}
        set is_value 1
    end
  end
  test "$at" = "$argv[1]"
end

function __rlm_ids --description 'ids that rlm knows'
  set -l typed (commandline -opc)
  $typed[1] complete-ids $argv[1] 2>/dev/null
end

complete -c rlm -f
${commands.flatMap(toLines).join("\n")}`;
}

function toLines({ path, options, argument, commands }: CompletedCommand): readonly string[] {
  const start = `complete -c rlm -n ${quote(`__rlm_at ${quote(path)}`)}`;
  return [
    ...commands.map(({ name, summary }) => `${start} -a ${quote(name)} -d ${quote(summary)}`),
    ...options.map((option) => `${start} ${toFlags(option)} -d ${quote(option.description)}`),
    ...(argument.kind === "text" ? [] : [`${start} ${complete(argument)}`]),
  ];
}

function toFlags({ names, value }: CompletedOption): string {
  const flags = names.map((name) => (name.startsWith("--") ? `-l ${name.slice(2)}` : `-s ${name.slice(1)}`));
  if (value === undefined) return flags.join(" ");
  return [...flags, "-r", ...(value.kind === "text" ? [] : [complete(value)])].join(" ");
}

function complete(value: Exclude<Value, { kind: "text" }>): string {
  switch (value.kind) {
    case "files":
      return "-F";
    case "choices":
      return `-a ${quote(value.choices.join(" "))}`;
    case "ids":
      return `-a ${quote(`(__rlm_ids ${value.of})`)}`;
  }
}

/** In single quotes, as fish reads them. */
function quote(text: string): string {
  return `'${text.replaceAll("\\", "\\\\").replaceAll("'", String.raw`\'`)}'`;
}
