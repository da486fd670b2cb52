// The script for bash 3.2 and later.

import type { CompletedCommand, Value } from "./model.ts";
import { quote, toCases } from "./shell-words.ts";

export function toBash(commands: readonly CompletedCommand[]): string {
  const { walk, values } = toCases(commands, complete);
  const options = commands.map(
    ({ path, options: own }) => `      ${quote(path)}) ${words(own.flatMap(({ names }) => names))} ;;`,
  );
  const others = commands.map(({ path, commands: own, argument }) => {
    const names = own.length === 0 ? [] : [words(own.map(({ name }) => name))];
    return `      ${quote(path)}) ${[...names, complete(argument)].join("; ")} ;;`;
  });
  return `# Completion of rlm for bash. In this shell:
#   source <(rlm completion bash)
# In every shell:
#   mkdir -p ~/.local/share/bash-completion/completions
#   rlm completion bash > ~/.local/share/bash-completion/completions/rlm

_rlm_words() {
  COMPREPLY+=($(compgen -W "$1" -- "$cur"))
}

_rlm_files() {
  local name is_quoted=1
  compopt -o filenames 2>/dev/null || is_quoted='' # bash 3.2 has no compopt, and would insert names as they are
  while IFS= read -r name; do
    [[ -n $is_quoted ]] || name=$(printf %q "$name")
    COMPREPLY+=("$name")
  done < <(compgen -f -- "$cur")
}

_rlm_ids() {
  _rlm_words "$("\${COMP_WORDS[0]}" complete-ids "$1" 2>/dev/null)"
}

_rlm() {
  local cur=\${COMP_WORDS[COMP_CWORD]} prev=\${COMP_WORDS[COMP_CWORD-1]} at='' is_value='' word i
  COMPREPLY=()
  # bash splits --option=value into three words
  if [[ $cur == '=' ]]; then cur=''; elif [[ $prev == '=' ]]; then prev=\${COMP_WORDS[COMP_CWORD-2]}; fi
  for ((i = 1; i < COMP_CWORD; i++)); do
    word=\${COMP_WORDS[i]}
    if [[ $word == '--' ]]; then _rlm_files; return; fi
${walk}
  done
${values}
  if [[ $cur == -* ]]; then
    case "$at" in
${options.join("\n")}
    esac
  else
    case "$at" in
${others.join("\n")}
    esac
  fi
}

complete -F _rlm rlm`;
}

function words(names: readonly string[]): string {
  return `_rlm_words ${quote(names.join(" "))}`;
}

function complete(value: Value): string {
  switch (value.kind) {
    case "text":
      return ":";
    case "files":
      return "_rlm_files";
    case "choices":
      return words(value.choices);
    case "ids":
      return `_rlm_ids ${value.of}`;
  }
}
