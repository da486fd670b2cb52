// The size of an element, and the theme, as they change.

import { useLayoutEffect, useState } from "preact/hooks";
import type { RefObject } from "preact";

export interface Size {
  readonly width: number;
  readonly height: number;
}

export function useSize(ref: RefObject<HTMLElement | null>): Size {
  const [size, setSize] = useState<Size>({ width: 0, height: 0 });
  useLayoutEffect(() => {
    const element = ref.current;
    if (element === null) return undefined;
    const measure = (): void => {
      const { clientWidth: width, clientHeight: height } = element;
      setSize((last) => (last.width === width && last.height === height ? last : { width, height }));
    };
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  return size;
}

/** A number that changes with the theme: what is drawn on a canvas is drawn again. */
export function useThemeTurn(): number {
  const [turn, setTurn] = useState(0);
  useLayoutEffect(() => {
    const change = (): void => setTurn((last) => last + 1);
    const dark = matchMedia("(prefers-color-scheme: dark)");
    dark.addEventListener("change", change);
    const observer = new MutationObserver(change);
    observer.observe(document.documentElement, { attributeFilter: ["data-theme"] });
    return () => {
      dark.removeEventListener("change", change);
      observer.disconnect();
    };
  }, []);
  return turn;
}

/** A canvas of this size in CSS pixels, ready to draw on, and the colours of the theme. Undefined: there is nothing to draw on. */
export function prepareCanvas(
  canvas: HTMLCanvasElement | null,
  { width, height }: Size,
): { readonly draw: CanvasRenderingContext2D; readonly colour: (name: string) => string } | undefined {
  const draw = canvas?.getContext("2d");
  if (!canvas || !draw || width === 0 || height === 0) return undefined;
  const ratio = devicePixelRatio;
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  draw.setTransform(ratio, 0, 0, ratio, 0, 0);
  const values = getComputedStyle(canvas);
  return { draw, colour: (name) => values.getPropertyValue(name).trim() };
}
