// Names that others chose, made harmless to read: session ids, file names, variable names, commands.
//
// A character that shows nothing, or that changes the order of what follows, can make one name look like another. Such characters are shown
// as escapes, as in `invoice\u202efdp.exe`.

/** Control characters, marks that reorder text, characters without width, blanks that are letters, and halves of pairs. */
const HIDDEN =
  // oxlint-disable-next-line no-control-regex, no-misleading-character-class -- these are what is looked for
  /[\u0000-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb\u{1d173}-\u{1d17a}\u{e0000}-\u{e0fff}\p{Cs}]/gu;
/** These join pictures into one, and letters in some scripts. */
const JOINER = "\u200d";
const PICTURE = /\p{Extended_Pictographic}\ufe0f?$/u;
const SHORT: Readonly<Record<string, string>> = { "\n": "\\n", "\r": "\\r", "\t": "\\t", "\0": "\\0" };

export interface SafeTextOptions {
  /** Newlines and tabs stay: it is text of several lines. Default: they are shown as escapes. */
  readonly hasLines?: boolean;
  /** Longer text is cut there, and ends with an ellipsis. Default: 10,000. */
  readonly maxCharacters?: number;
}

/** The text with escapes in place of what could not be seen. */
export function toSafeText(text: string, { hasLines = false, maxCharacters = 10_000 }: SafeTextOptions = {}): string {
  const isLong = text.length > maxCharacters;
  const visible = (isLong ? text.slice(0, maxCharacters) : text).replaceAll(
    HIDDEN,
    (found, at: number, all: string) => {
      if (hasLines && (found === "\n" || found === "\t")) return found;
      if (found === JOINER && PICTURE.test(all.slice(Math.max(0, at - 3), at))) return found;
      return toEscape(found);
    },
  );
  return isLong ? `${visible}…` : visible;
}

/** Whether `toSafeText` would change it: worth a mark beside the name. */
export function hasHidden(text: string): boolean {
  return toSafeText(text) !== text;
}

/** For a file that the reader keeps: what could not be seen, or has a meaning in a path, is replaced. */
export function toFileName(name: string): string {
  const visible = name.replaceAll(HIDDEN, "_").replaceAll(/[/\\:*?"<>|]/g, "_");
  return visible.replace(/^\.+/, "_").slice(0, 200) || "file";
}

function toEscape(character: string): string {
  const short = SHORT[character];
  if (short !== undefined) return short;
  const code = character.codePointAt(0) ?? 0;
  if (code <= 0xff) return `\\x${code.toString(16).padStart(2, "0")}`;
  return code <= 0xffff ? `\\u${code.toString(16).padStart(4, "0")}` : `\\u{${code.toString(16)}}`;
}
