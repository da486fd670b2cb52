// Renders displays and values: figures as images, everything else as text.

import type { ExecutionResult, MimeBundle } from "../../../protocol/execution.ts";
import type { Image } from "./result.ts";
import type { Images } from "./images.ts";
import { formatCount } from "../../../util/text/format.ts";
import { joinParts } from "./format.ts";

const MAX_IMAGES = 2;
const IMAGE_TYPES = ["image/png", "image/jpeg"] as const;
/** Types that have no useful text, and their names in the result. */
const UNSHOWN: Readonly<Record<string, string>> = {
  "image/svg+xml": "SVG",
  "text/html": "HTML",
  "application/pdf": "PDF",
};
/** Names what was too large for the worker to send. */
const OMITTED = "application/vnd.rlm.omitted+json";
/** A text such as `<Figure size 640x480 with 1 Axes>` carries no information. */
const BARE = /^<[^\n]*>$/;

export interface RichResult {
  /** The text of all displays. */
  readonly displayed: string;
  /** The text of the value; empty: there is none, or an image replaces it. */
  readonly value: string;
  /** The text of the value is its `repr()`. */
  readonly isRepr: boolean;
  /** A line that lists what is not shown. */
  readonly omitted: string;
  readonly images: readonly Image[];
}

export async function showRich(
  { displays, value }: Pick<ExecutionResult, "displays" | "value">,
  shrinker: Images,
): Promise<RichResult> {
  const images: Image[] = [];
  const omitted: string[] = [];
  const show = async (bundle: MimeBundle): Promise<string> => {
    const text = toText(bundle);
    const type = IMAGE_TYPES.find((candidate) => bundle[candidate] !== undefined);
    if (type === undefined) {
      if (bundle[OMITTED]?.includes('"image/') === true)
        omitted.push("an image: it is larger than 16 MiB; save it smaller");
      else if (text === "" || BARE.test(text)) omitted.push(...toUnshown(bundle));
      return text;
    }
    const image = { mimeType: type, base64: bundle[type] ?? "" };
    const shown = images.length < MAX_IMAGES ? await shrinker.shrink(image) : undefined;
    if (shown === undefined) omitted.push("image");
    else if ("refused" in shown) omitted.push(`an image: ${shown.refused}`);
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
    omitted: toOmitted(omitted),
    images,
  };
}

/** The plain text if it is informative, else the source of the rich form. */
function toText(bundle: MimeBundle): string {
  const { "text/plain": plain = "" } = bundle;
  if (plain !== "" && !BARE.test(plain)) return plain;
  return bundle["text/markdown"] ?? bundle["text/latex"] ?? plain;
}

function toUnshown(bundle: MimeBundle): string[] {
  const type = Object.keys(UNSHOWN).find((candidate) => bundle[candidate] !== undefined);
  return type === undefined ? [] : [UNSHOWN[type] ?? type];
}

/** Always one line. */
function toOmitted(omitted: readonly string[]): string {
  if (omitted.length === 0) return "";
  const more = omitted.filter((what) => what === "image").length;
  const others = omitted.filter((what) => what !== "image");
  const named = others.slice(0, 3);
  const parts = [
    ...(more > 0 ? [formatCount(more, "more image")] : []),
    ...named,
    ...(others.length > named.length ? [`${others.length - named.length} others`] : []),
  ];
  return `[not shown: ${parts.join(", ")}]`;
}
