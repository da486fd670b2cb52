// What a fenced block is by its tag: Python that is run, or something else of which the model is told what to do with it.

/** `tool_code` is how Gemini and Gemma write code that is to be run; `pycon` is a session of Python's own shell. */
const RUNNABLE = /^(?:|repl|tool_code|(?:i?python|py)[\d.]*|pycon|python-repl)$/;
const SHELL: ReadonlySet<string> = new Set(["bash", "sh", "shell", "zsh", "console", "terminal", "cmd", "powershell"]);
const DATA: ReadonlySet<string> = new Set(
  "json jsonc json5 yaml yml xml html csv tsv text txt plaintext markdown md latex output".split(" "),
);

/** What a reply should have. */
export const HOW = "Write Python in a block that begins with ```repl and ends with ``` on a line of its own";

export function isRunnableTag(tag: string): boolean {
  return RUNNABLE.test(tag);
}

/** The block holds data, which may have been meant as the answer. */
export function isDataTag(tag: string): boolean {
  return DATA.has(tag);
}

/** Why a block with this tag was not run, and what to write instead. */
export function whyNotRun(tag: string): string {
  const why = `a block tagged '${tag}' is not run`;
  if (SHELL.has(tag)) return `${why}. For a command write Python, such as !ls, or subprocess.run(...). ${HOW}`;
  if (isDataTag(tag)) return `${why}. If it is your answer, give it with FINAL(...) in a block of code. ${HOW}`;
  return `${why}. ${HOW}`;
}
