// How a piece of terminal text looks, and how "select graphic rendition" sequences change it (ECMA-48, 8.3.117).

/** Immutable; pieces that look the same share one. Colours are `#rrggbb`. */
export interface AnsiStyle {
  readonly colour?: string | undefined;
  readonly background?: string | undefined;
  readonly isBold?: boolean | undefined;
  readonly isFaint?: boolean | undefined;
  readonly isItalic?: boolean | undefined;
  readonly isUnderlined?: boolean | undefined;
  readonly isStruck?: boolean | undefined;
  readonly isInverse?: boolean | undefined;
}

export const PLAIN: AnsiStyle = {};

/** The sixteen colours that have names. They are raw material: the style sheet changes them until they can be read. */
const NAMED = [
  "#000000",
  "#c4302b",
  "#2b8a3e",
  "#a37200",
  "#2563c9",
  "#9436a8",
  "#0b7f8c",
  "#8a93a0",
  "#6b7280",
  "#e5484d",
  "#3fae57",
  "#d29922",
  "#4c8dff",
  "#c65fdb",
  "#22b5c4",
  "#ffffff",
];
const LEVELS = [0, 95, 135, 175, 215, 255];
const MAX_PARAMETERS = 32;

/** `parameters`: what is between `ESC [` and `m`. What is unknown is ignored. Concealed text stays visible: nothing may hide here. */
export function changeStyle(style: AnsiStyle, parameters: string): AnsiStyle {
  const numbers = parameters.split(/[;:]/, MAX_PARAMETERS).map(Number);
  let changed = style;
  for (let at = 0; at < numbers.length; at += 1) {
    const code = numbers[at] ?? 0;
    if (code === 38 || code === 48) {
      const { colour, length } = extendedColour(numbers, at + 1);
      at += length;
      if (colour !== undefined) changed = { ...changed, [code === 38 ? "colour" : "background"]: colour };
    } else {
      changed = applyCode(changed, code);
    }
  }
  return changed;
}

function applyCode(style: AnsiStyle, code: number): AnsiStyle {
  if (code === 0) return PLAIN;
  if (code >= 30 && code <= 37) return { ...style, colour: NAMED[code - 30] };
  if (code >= 40 && code <= 47) return { ...style, background: NAMED[code - 40] };
  if (code >= 90 && code <= 97) return { ...style, colour: NAMED[code - 82] };
  if (code >= 100 && code <= 107) return { ...style, background: NAMED[code - 92] };
  switch (code) {
    case 1:
      return { ...style, isBold: true };
    case 2:
      return { ...style, isFaint: true };
    case 3:
      return { ...style, isItalic: true };
    case 4:
    case 21:
      return { ...style, isUnderlined: true };
    case 7:
      return { ...style, isInverse: true };
    case 9:
      return { ...style, isStruck: true };
    case 22:
      return { ...style, isBold: undefined, isFaint: undefined };
    case 23:
      return { ...style, isItalic: undefined };
    case 24:
      return { ...style, isUnderlined: undefined };
    case 27:
      return { ...style, isInverse: undefined };
    case 29:
      return { ...style, isStruck: undefined };
    case 39:
      return { ...style, colour: undefined };
    case 49:
      return { ...style, background: undefined };
    default:
      return style;
  }
}

/** `5;N`: one of 256. `2;R;G;B`: any. `length`: how many numbers belong to it. */
function extendedColour(numbers: readonly number[], at: number): { readonly colour?: string; readonly length: number } {
  if (numbers[at] === 5) return { colour: paletteColour(numbers[at + 1] ?? 0), length: 2 };
  if (numbers[at] === 2) return { colour: toHex(numbers.slice(at + 1, at + 4)), length: 4 };
  return { length: 1 };
}

function paletteColour(index: number): string {
  const named = NAMED[index];
  if (named !== undefined) return named;
  if (index >= 232) return toHex([0, 0, 0].map(() => 8 + (index - 232) * 10));
  const cube = index - 16;
  return toHex([Math.floor(cube / 36), Math.floor(cube / 6) % 6, cube % 6].map((level) => LEVELS[level] ?? 0));
}

function toHex(parts: readonly number[]): string {
  const hex = [0, 1, 2].map((index) => {
    const part = Math.min(255, Math.max(0, Math.trunc(parts[index] ?? 0) || 0));
    return part.toString(16).padStart(2, "0");
  });
  return `#${hex.join("")}`;
}
