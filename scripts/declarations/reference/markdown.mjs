// Markdown with lines that fit.

export const MAX_COLUMNS = 120;

/** A line that begins with one of these would be a list, a heading or a quotation. */
const BEGINS_SOMETHING = /^(?:[-+*>#|=]|\d+[.)]|~~~|```)/;

/** A paragraph in lines. `first` and `rest` are put before the first line and the others. */
export function wrap(text, { first = "", rest = "" } = {}) {
  const lines = [];
  let line = first;
  let isEmpty = true;
  for (const word of text.split(/\s+/).filter(Boolean)) {
    const next = isEmpty ? line + word : `${line} ${word}`;
    if (next.length > MAX_COLUMNS && !isEmpty && !BEGINS_SOMETHING.test(word)) {
      lines.push(line);
      line = rest + word;
    } else line = next;
    isEmpty = false;
  }
  return [...lines, line].join("\n");
}

/** The anchors that forges give to headings, in the order of the page. */
export function createAnchors() {
  const taken = new Map();
  return (heading) => {
    const base = heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}_\s-]/gu, "")
      .replaceAll(/\s/g, "-");
    const times = taken.get(base) ?? 0;
    taken.set(base, times + 1);
    return times === 0 ? base : `${base}-${times}`;
  };
}

/** TypeScript in lines that fit: unions have one member a line, and long comments several lines. */
export function wrapCode(text) {
  return text
    .split("\n")
    .flatMap((line) => (line.length <= MAX_COLUMNS ? [line] : wrapLine(line)))
    .join("\n");
}

function wrapLine(line) {
  const indent = /^ */.exec(line)[0];
  const comment = /^ *\/\*\* (?<text>.*) \*\/$/.exec(line)?.groups.text;
  if (comment !== undefined) {
    const prefix = `${indent} * `;
    return [`${indent}/**`, wrap(comment, { first: prefix, rest: prefix }), `${indent} */`];
  }
  const inside = /^ *\* (?<text>.*)$/.exec(line)?.groups.text;
  if (inside !== undefined) return [wrap(inside, { first: `${indent}* `, rest: `${indent}* ` })];
  const [head, ...members] = line.split(" | ");
  if (members.length > 0) {
    const cut = head.lastIndexOf(head.includes(" = ") ? " = " : ": ") + 2;
    const parts = [head.slice(cut).trim(), ...members].map((member) => `${indent}  | ${member}`);
    return [head.slice(0, cut).trimEnd(), ...parts];
  }
  return [wrap(line.trim(), { first: indent, rest: `${indent}  ` })];
}
