import { expect, test } from "vitest";
import { toDisplayText } from "../../../src/cli/exec/display-text.ts";

const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAQAAAAECAIAAAAmkwkpAAAADElEQVR4nGNgIB0AAAA0AAF2Xq7DAAAAAElFTkSuQmCC";

test.each([
  ["text", { "text/html": "<b>", "text/plain": "x" }, { stream: "stdout", text: "x\n" }],
  ["another text where there is no plain one", { "text/html": "<b>" }, { stream: "stdout", text: "<b>\n" }],
  [
    "a PNG",
    { "text/plain": "<Figure>", "image/png": PNG },
    { stream: "stderr", text: "[image/png 4x4, 1 KiB: <Figure>]\n" },
  ],
  ["what is no PNG", { "image/png": "bm90IG9uZQ==" }, { stream: "stderr", text: "[image/png, 1 KiB]\n" }],
  ["an SVG", { "image/svg+xml": "é".repeat(1024) }, { stream: "stderr", text: "[image/svg+xml, 2 KiB]\n" }],
  ["data", { "application/json": "{}" }, { stream: "stderr", text: "[application/json]\n" }],
  ["nothing", {}, undefined],
])("a display of %s in a terminal", (_, bundle, expected) => {
  expect(toDisplayText(bundle as Record<string, string>)).toEqual(expected);
});
