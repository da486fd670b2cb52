// Code written like a session of Python's own shell: the prompts are removed, and what is not behind one, which is invented output.

const PROMPT = /^\s*(?:>>>|\.\.\.)(?: |$)/;

/** The code as it is where it does not begin with a prompt. */
export function withoutPrompts(code: string): string {
  if (!/^\s*>>> /.test(code)) return code;
  const lines = code.split("\n").filter((line) => PROMPT.test(line));
  return lines.map((line) => line.replace(PROMPT, "")).join("\n");
}
