// Rich results for a model: figures as images, everything else as the text that it has.

import type { ExecutionResult, MimeBundle } from "../../../protocol/execution.ts";
import type { Image } from "./result.ts";
import type { Images } from "./images.ts";
import { formatCount } from "../../../util/text/format.ts";
import { joinParts } from "./format.ts";

const MAX_IMAGES = 2;
const IMAGE_TYPES = ["image/png", "image/jpeg"] as const;
/** What has no text that would stand for it, by the words it is mentioned in. */
const UNSHOWN: Readonly<Record<string, string>> = {
  "image/svg+xml": "SVG",
  "text/html": "HTML",
  "application/pdf": "PDF",
};
/** Names what was too large for the worker to pass on. */
const OMITTED = "application/vnd.rlm.omitted+json";
/** A text such as `<Figure size 640x480 with 1 Axes>` says only what kind of thing it is. */
const BARE = /^<[^\n]*>$/;

export interface Rich {
  /** What was displayed. */
  readonly displayed: string;
  /** Of the value; empty where there is none, or where an image says it all. */
  readonly value: string;
  /** Whether that is its `repr()`. */
  readonly isRepr: boolean;
  /** What is not shown, in a line. */
  readonly left: string;
  readonly images: readonly Image[];
}

export async function showRich(
  { displays, value }: Pick<ExecutionResult, "displays" | "value">,
  shrinker: Images,
): Promise<Rich> {
  const images: Image[] = [];
  const left: string[] = [];
  const show = async (bundle: MimeBundle): Promise<string> => {
    const text = toText(bundle);
    const type = IMAGE_TYPES.find((candidate) => bundle[candidate] !== undefined);
    if (type === undefined) {
      if (bundle[OMITTED]?.includes('"image/') === true)
        left.push("an image: it is larger than 16 MiB; save it smaller");
      else if (text === "" || BARE.test(text)) left.push(...toUnshown(bundle));
      return text;
    }
    const image = { mimeType: type, base64: bundle[type] ?? "" };
    const shown = images.length < MAX_IMAGES ? await shrinker.shrink(image) : undefined;
    if (shown === undefined) left.push("image");
    else if ("refused" in shown) left.push(`an image: ${shown.refused}`);
    else images.push(shown);
    return BARE.test(text) ? "" : text;
  };
  const texts: string[] = [];
  for (const bundle of displays) texts.push(await show(bundle)); // in order: the first two images are shown
  const valueText = value === undefined ? "" : (await show(value)) || (value["text/plain"] ?? "");
  return {
    displayed: joinParts(...texts),
    value: valueText,
    isRepr: valueText === value?.["text/plain"],
    left: toLeft(left),
    images,
  };
}

/** What it says of itself; where that is only its kind, the text that it was made of. */
function toText(bundle: MimeBundle): string {
  const { "text/plain": plain = "" } = bundle;
  if (plain !== "" && !BARE.test(plain)) return plain;
  return bundle["text/markdown"] ?? bundle["text/latex"] ?? plain;
}

function toUnshown(bundle: MimeBundle): string[] {
  const type = Object.keys(UNSHOWN).find((candidate) => bundle[candidate] !== undefined);
  return type === undefined ? [] : [UNSHOWN[type] ?? type];
}

/** One line, however much it is. */
function toLeft(left: readonly string[]): string {
  if (left.length === 0) return "";
  const more = left.filter((what) => what === "image").length;
  const others = left.filter((what) => what !== "image");
  const named = others.slice(0, 3);
  const parts = [
    ...(more > 0 ? [formatCount(more, "more image")] : []),
    ...named,
    ...(others.length > named.length ? [`${others.length - named.length} others`] : []),
  ];
  return `[not shown: ${parts.join(", ")}]`;
}
