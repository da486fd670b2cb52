// Colours that programs choose for a terminal can be read in both themes: every named colour on every other, and all 256.

import { describe, expect, test } from "vitest";
import { hasBrowser } from "../harness/browser.ts";
import { useStage } from "../harness/stage.ts";

const MIN_CONTRAST = 4.5;
const CODE = String.raw`
E = chr(27)
for front in [*range(30, 38), *range(90, 98), 39]:
    print(" ".join(f"{E}[{front};{back}mx{E}[0m" for back in [*range(40, 48), *range(100, 108), 49]), f"{E}[{front};7mx{E}[0m", f"{E}[{front};2mx{E}[0m")
for n in range(0, 256, 16):
    print(" ".join(f"{E}[38;5;{m}mx{E}[0m {E}[48;5;{m}mx{E}[0m" for m in range(n, n + 16)))
print("end")`;

/** The contrast of each piece with a look of its own, by WCAG 2. A canvas knows every notation of a colour. */
const CONTRASTS = `(() => {
  const canvas = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
  const luminance = (colour) => {
    canvas.fillStyle = colour;
    canvas.fillRect(0, 0, 1, 1);
    const [r, g, b] = [...canvas.getImageData(0, 0, 1, 1).data].map((part) => part / 255).map((part) => part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const paper = getComputedStyle(document.body).backgroundColor;
  return [...document.querySelectorAll("span[class*=coloured], span[class*='_on_'], span[class*=inverse], span[class*=faint]")].map((piece) => {
    const { color, backgroundColor } = getComputedStyle(piece);
    const back = backgroundColor === "rgba(0, 0, 0, 0)" ? paper : backgroundColor;
    const [light, dark] = [luminance(color), luminance(back)].sort((a, b) => b - a);
    return { style: piece.getAttribute("style"), contrast: (light + 0.05) / (dark + 0.05) };
  });
})()`;

describe.skipIf(!hasBrowser)("colours of a terminal", { tags: "stress" }, () => {
  const on = useStage();

  test.each(["light", "dark"] as const)("can be read in the %s theme", async (theme) => {
    const session = await on.stage.runtime.openSession();
    (await session.execute(CODE)).unwrap();
    const reader = await on.stage.open(`#/sessions/${session.id}`, { theme });
    await reader.page.getByText(/^end$/m).last().waitFor();
    await reader.page.locator("span[class*=coloured]").first().waitFor();
    const found = await reader.page.evaluate<readonly { style: string | null; contrast: number }[]>(CONTRASTS);
    expect(found.length).toBeGreaterThan(700);
    expect(found.filter(({ contrast }) => contrast < MIN_CONTRAST)).toEqual([]);
    await reader.screenshot("terminal-colours");
  });
});
