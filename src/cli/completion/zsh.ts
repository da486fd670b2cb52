// The script for zsh: a function of its completion system, with descriptions.

import type { CompletedCommand, Value } from "./model.ts";
import { quote, toCases } from "./shell-words.ts";

export function toZsh(commands: readonly CompletedCommand[]): string {
  const { walk, values } = toCases(commands, complete);
  const options = commands.map(({ path, options: own }) => {
    const items = own.flatMap(({ names, description }) => names.map((name) => item(name, description)));
    return `      ${quote(path)}) found=(${items.join(" ")}) ;;`;
  });
  const others = commands.map(({ path, commands: own, argument }) => {
    const found = `found=(${own.map(({ name, summary }) => item(name, summary)).join(" ")})`;
    return `      ${quote(path)}) ${own.length === 0 ? "" : `${found}; _describe command found; `}${complete(argument)} ;;`;
  });
  return `#compdef rlm
# Completion of rlm for zsh. In this shell:
#   source <(rlm completion zsh)
# In every shell, with 'fpath+=(~/.zfunc)' before 'autoload -U compinit; compinit' in ~/.zshrc:
#   mkdir -p ~/.zfunc
#   rlm completion zsh > ~/.zfunc/_rlm

_rlm_ids() {
  local -a found
  found=(\${(f)"$("\${words[1]}" complete-ids "$1" 2>/dev/null)"})
  compadd -a found
}

_rlm() {
  local cur=\${words[CURRENT]} prev=\${words[CURRENT-1]} at='' is_value='' word
  local -a found
  if [[ $cur == --*=* ]]; then
    prev=\${cur%%=*}
    compset -P '*='
  fi
  for word in "\${(@)words[2,CURRENT-1]}"; do
    if [[ $word == '--' ]]; then _files; return; fi
${walk}
  done
${values}
  if [[ $cur == -* ]]; then
    case "$at" in
${options.join("\n")}
    esac
    _describe -o option found
  else
    case "$at" in
${others.join("\n")}
    esac
  fi
}

if [[ \${zsh_eval_context[-1]} == loadautofunc ]]; then
  _rlm "$@"
else
  compdef _rlm rlm
fi`;
}

function item(name: string, description: string): string {
  return quote(`${name.replaceAll(":", String.raw`\:`)}:${description}`);
}

function complete(value: Value): string {
  switch (value.kind) {
    case "text":
      return ":";
    case "files":
      return "_files";
    case "choices":
      return `compadd -- ${value.choices.map(quote).join(" ")}`;
    case "ids":
      return `_rlm_ids ${value.of}`;
  }
}
