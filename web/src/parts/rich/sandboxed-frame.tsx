// HTML and SVG of a session, in a document of another origin.
//
// The frame has no origin that anything trusts, may load and send nothing, and knows neither the page nor its token: see
// web/public/assets/frame.html and the policy that the server sends with it. It is told what to show, and reports how high that is. Only
// messages of that very window count, and of them only a number within bounds. Scripts of the output run when the reader wants them.

import type { VNode } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { usePage } from "../../state/page.ts";
import { Button } from "../button.tsx";
import styles from "./sandboxed-frame.module.css";

interface SandboxedFrameProps {
  readonly html: string;
  /** For readers of the screen. */
  readonly title: string;
}

/** Resolved by the browser against the address of the page, which may be behind a path of a proxy. */
const FRAME = "assets/frame.html";
const MIN_HEIGHT = 20;
const MAX_HEIGHT = 640;
/** Only for the offer to run them. */
const SCRIPT = /<script|\son\w+\s*=|javascript:/i;
const COLOURS = ["paper", "raised", "line", "ink", "accent"] as const;

export function SandboxedFrame({ html, title }: SandboxedFrameProps): VNode {
  const theme = usePage().theme.choice.value;
  const [hasScripts, setHasScripts] = useState(false);
  // A frame takes one document, in the colours of that moment.
  return (
    <>
      <Frame key={`${theme} ${hasScripts}`} html={html} title={title} hasScripts={hasScripts} />
      {!hasScripts && SCRIPT.test(html) && (
        <p class={styles["note"]}>
          Scripts of this output do not run by themselves <Button onClick={() => setHasScripts(true)}>Run them</Button>
        </p>
      )}
    </>
  );
}

interface FrameProps extends SandboxedFrameProps {
  readonly hasScripts: boolean;
}

function Frame({ html, title, hasScripts }: FrameProps): VNode {
  const frame = useRef<HTMLIFrameElement>(null);
  const [height, setHeight] = useState(MIN_HEIGHT);
  useEffect(() => {
    let isShown = false;
    const take = ({ source, data }: MessageEvent): void => {
      const target = frame.current?.contentWindow;
      if (source === null || target === null || target === undefined || source !== target) return;
      const message = readMessage(data);
      if (message?.type === "height") setHeight(message.height);
      if (message?.type !== "ready" || isShown) return;
      isShown = true; // a frame that starts again stays empty: its own content may have made it do so
      // Its origin is opaque, so it cannot be named here. What is sent is what the session sent, and colours.
      target.postMessage({ type: "show", html, hasScripts, colours: readColours() }, "*");
    };
    addEventListener("message", take);
    return () => removeEventListener("message", take);
  }, [html]);
  return (
    <iframe
      key={html}
      ref={frame}
      class={styles["frame"]}
      style={{ height: `${height}px` }}
      title={title}
      sandbox="allow-scripts"
      allow=""
      referrerpolicy="no-referrer"
      loading="lazy"
      src={FRAME}
    />
  );
}

type FrameMessage = { readonly type: "ready" } | { readonly type: "height"; readonly height: number };

/** Undefined: the content of the frame made it up. */
function readMessage(data: unknown): FrameMessage | undefined {
  const { type, height } = (typeof data === "object" && data !== null ? data : {}) as Readonly<Record<string, unknown>>;
  if (type === "ready") return { type };
  if (type !== "height" || typeof height !== "number" || !Number.isFinite(height)) return undefined;
  return { type, height: Math.min(MAX_HEIGHT, Math.max(MIN_HEIGHT, Math.ceil(height))) };
}

function readColours(): Readonly<Record<string, string>> {
  const style = getComputedStyle(document.documentElement);
  const isDark = matchMedia("(prefers-color-scheme: dark)").matches;
  const { theme = isDark ? "dark" : "light" } = document.documentElement.dataset;
  const named = COLOURS.map((name) => [name, style.getPropertyValue(`--${name}`).trim()] as const);
  return { ...Object.fromEntries(named), scheme: theme };
}
