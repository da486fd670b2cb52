// One value in several representations. What shows more than text is loaded when the first such value comes.

import type { VNode } from "preact";
import { lazy, Suspense } from "preact/compat";
import type { MimeBundle } from "rlm-runtime/client";
import { AnsiText } from "./ansi-text.tsx";

const ShowOutput = lazy(() => import("./show-output.tsx"));
const TEXT = "text/plain";

export function RichOutput({ bundle }: { readonly bundle: MimeBundle }): VNode {
  const text = bundle[TEXT];
  const plain = text === undefined ? <></> : <AnsiText text={text} />;
  if (text !== undefined && Object.keys(bundle).length === 1) return plain;
  return (
    <Suspense fallback={plain}>
      <ShowOutput bundle={bundle} />
    </Suspense>
  );
}
