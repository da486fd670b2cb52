// One file: the beginning of a text, or an image. What a browser would run, such as SVG and HTML, is text here.

import type { VNode } from "preact";
import { Button } from "../../parts/button.tsx";
import { CopyButton } from "../../parts/feedback/copy.tsx";
import { Skeleton } from "../../parts/feedback/skeleton.tsx";
import { formatBytes } from "../../parts/format.ts";
import { Icon } from "../../parts/icon.tsx";
import { PythonCode } from "../../parts/python-code.tsx";
import { toSafeText } from "../../parts/safe-text.ts";
import { usePage } from "../../state/page.ts";
import type { SessionFiles } from "../../state/sessions/files.ts";
import type { Preview } from "../../state/sessions/preview.ts";
import { saveBlob } from "../save-blob.ts";
import styles from "./file-preview.module.css";

interface FilePreviewProps {
  readonly files: SessionFiles;
  readonly preview: Preview;
}

export function FilePreview({ files, preview }: FilePreviewProps): VNode {
  const { notices, router } = usePage();
  const { path } = preview;
  const name = path.slice(path.lastIndexOf("/") + 1);
  const download = async (): Promise<void> => saveBlob(await files.download(path), name);
  const close = (): void => {
    files.closePreview();
    const [id] = router.route.value.path;
    if (id !== undefined) router.go({ place: "sessions", path: [id] }, { replace: true });
  };
  return (
    <section class={styles["preview"]} aria-label={`File ${toSafeText(path)}`}>
      <header class={styles["header"]}>
        <Button kind="quiet" aria-label="Back to the files" title="Back to the files" onClick={close}>
          <Icon name="chevron-left" />
        </Button>
        <h2 class={styles["name"]} title={toSafeText(path)}>
          {toSafeText(name)}
        </h2>
        {"size" in preview && <span class={`figures ${styles["size"]}`}>{formatBytes(preview.size)}</span>}
        {preview.kind === "text" && <CopyButton text={preview.text} label="Copy the text" />}
        <Button
          kind="quiet"
          aria-label="Download"
          title="Download"
          onClick={() => void download().catch((error: unknown) => notices.failed("download the file", error))}
        >
          <Icon name="download" />
        </Button>
      </header>
      <div class={styles["body"]}>
        <Content preview={preview} name={name} />
      </div>
    </section>
  );
}

const MAX_CHARACTERS = 70_000;

function Content({ preview, name }: { readonly preview: Preview; readonly name: string }): VNode {
  switch (preview.kind) {
    case "reading":
      return <Skeleton lines={6} label="Reading the file" />;
    case "image":
      return <img class={styles["image"]} src={preview.url} alt={toSafeText(name)} />;
    case "binary":
      return <p class={styles["note"]}>This is no text, and no image that can be shown here.</p>;
    case "failed":
      return (
        <p class={styles["note"]} role="alert">
          {preview.why}
        </p>
      );
    case "text": {
      const text = toSafeText(preview.text.replaceAll("\r\n", "\n"), { hasLines: true, maxCharacters: MAX_CHARACTERS });
      return (
        <>
          {name.endsWith(".py") ? <PythonCode code={text} /> : <pre>{text}</pre>}
          {preview.isCut && <p class={styles["note"]}>This is the beginning. Download the file for the rest.</p>}
        </>
      );
    }
  }
}
