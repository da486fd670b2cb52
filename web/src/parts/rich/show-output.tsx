// Shows the richest representation of a value that this page has a safe way to show.
//
// What a session sends is untrusted. HTML and SVG are shown in a frame of another origin, pictures as pictures, and everything else as
// elements that this page makes.

import type { ComponentType, VNode } from "preact";
import { lazy, Suspense } from "preact/compat";
import { useMemo } from "preact/hooks";
import type { MimeBundle } from "rlm-runtime/client";
import { formatBytes } from "../format.ts";
import { AnsiText } from "./ansi-text.tsx";
import { ImageOutput } from "./image/image-output.tsx";
import { JSONTree } from "./json-tree.tsx";
import { readOmitted } from "./omitted.ts";
import { parseShallow } from "./parse-shallow.ts";
import styles from "./show-output.module.css";
import { SandboxedFrame } from "./sandboxed-frame.tsx";
import { TableOutput } from "./table/table-output.tsx";
import { readTable } from "./table/table-resource.ts";

/** Rendered text is either shown, or was refused: then the plain text is shown. */
interface TextProps {
  readonly text: string;
  readonly fallback: VNode;
}

const Markdown = lazy(() => import("./markdown/markdown-output.tsx"));
const LaTeX = lazy(() => import("./latex/latex-output.tsx"));

type Show = (content: string, bundle: MimeBundle) => VNode | undefined;

/** In the order of preference. Undefined: the content cannot be shown so, and the next one is tried. */
const SHOWN: readonly (readonly [type: string, show: Show])[] = [
  ["application/vnd.dataresource+json", showTable],
  ["text/html", (html) => <SandboxedFrame html={html} title="HTML output" />],
  ["text/markdown", (text, bundle) => <Rendered as={Markdown} text={text} bundle={bundle} />],
  ["text/latex", (text, bundle) => <Rendered as={LaTeX} text={text} bundle={bundle} />],
  ["image/svg+xml", (svg) => <SandboxedFrame html={svg} title="SVG output" />],
  ["image/png", showImage("image/png")],
  ["image/jpeg", showImage("image/jpeg")],
  ["image/gif", showImage("image/gif")],
  ["image/webp", showImage("image/webp")],
  ["application/vnd.plotly.v1+json", showJSON],
  ["application/vnd.vegalite.v5+json", showJSON],
  ["application/json", showJSON],
];
const MAX_JSON_CHARACTERS = 4_000_000;

export default function ShowOutput({ bundle }: { readonly bundle: MimeBundle }): VNode {
  // Parsed once: it may have megabytes, and whatever is printed beside it is drawn some times a second.
  const shown = useMemo(() => choose(bundle), [bundle]);
  const omitted = useMemo(() => readOmitted(bundle["application/vnd.rlm.omitted+json"]), [bundle]);
  return (
    <div class={styles["output"]}>
      {shown}
      {omitted.map(({ type, bytes }) => (
        <p key={type} class={styles["note"]}>
          {type} of {formatBytes(bytes)} was left out: it does not fit into the result
        </p>
      ))}
    </div>
  );
}

function choose(bundle: MimeBundle): VNode {
  for (const [type, show] of SHOWN) {
    const content = bundle[type];
    const shown = content === undefined || content === "" ? undefined : show(content, bundle);
    if (shown !== undefined) return shown;
  }
  return plain(bundle);
}

function plain(bundle: MimeBundle): VNode {
  const text = bundle["text/plain"];
  if (text !== undefined) return <AnsiText text={text} />;
  const types = Object.keys(bundle).filter((type) => !type.startsWith("application/vnd.rlm."));
  return <p class={styles["note"]}>This page cannot show {types.join(", ") || "an empty output"}</p>;
}

function showTable(content: string): VNode | undefined {
  const table = readTable(content);
  return table && <TableOutput table={table} />;
}

function showImage(type: string): Show {
  return (base64) => <ImageOutput key={type} type={type} base64={base64} />;
}

function showJSON(content: string): VNode | undefined {
  const value = content.length > MAX_JSON_CHARACTERS ? undefined : parseShallow(content);
  return value === undefined ? undefined : <JSONTree value={value} />;
}

interface RenderedProps {
  readonly as: ComponentType<TextProps>;
  readonly text: string;
  readonly bundle: MimeBundle;
}

/** While the renderer is loaded, and where it refuses, the plain text stands there. */
function Rendered({ as: Renderer, text, bundle }: RenderedProps): VNode {
  const fallback = bundle["text/plain"] === undefined ? <AnsiText text={text} /> : plain(bundle);
  return (
    <Suspense fallback={fallback}>
      <Renderer text={text} fallback={fallback} />
    </Suspense>
  );
}
