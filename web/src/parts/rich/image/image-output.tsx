// A picture of a session: decoded by the browser as a picture and as nothing else, within a size.

import type { VNode } from "preact";
import { useEffect, useState } from "preact/hooks";
import { formatBytes } from "../../format.ts";
import { isShowable, readImageSize, type ImageSize } from "./image-size.ts";
import styles from "./image-output.module.css";

interface ImageOutputProps {
  readonly type: string;
  readonly base64: string;
}

interface Picture {
  readonly url: string;
  readonly size: ImageSize;
}

export function ImageOutput({ type, base64 }: ImageOutputProps): VNode {
  const [picture, setPicture] = useState<Picture | { readonly why: string }>();
  useEffect(() => {
    const opened = openPicture(type, base64);
    setPicture(opened);
    return () => void ("url" in opened && URL.revokeObjectURL(opened.url));
  }, [type, base64]);
  if (picture === undefined) return <p class={styles["waiting"]} />;
  if ("why" in picture) return <p class={styles["note"]}>{picture.why}</p>;
  const { url, size } = picture;
  const fail = (): void => setPicture({ why: "The picture is damaged" });
  return <img class={styles["image"]} src={url} {...size} alt="Output of the code" onError={fail} />;
}

function openPicture(type: string, base64: string): Picture | { readonly why: string } {
  const bytes = decode(base64);
  const size = bytes && readImageSize(type, bytes);
  if (bytes === undefined || size === undefined) return { why: `The output is not a picture of type ${type}` };
  const { width, height } = size;
  if (!isShowable(size)) {
    return { why: `A picture of ${width} × ${height} pixels (${formatBytes(bytes.length)}) is too large to show` };
  }
  return { url: URL.createObjectURL(new Blob([bytes], { type })), size };
}

function decode(base64: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  } catch {
    return undefined;
  }
}
