// Uploads: how far each is, and what failed.

import type { VNode } from "preact";
import { Button } from "../../parts/button.tsx";
import { Status } from "../../parts/feedback/status.tsx";
import { formatBytes } from "../../parts/format.ts";
import { Icon } from "../../parts/icon.tsx";
import { toSafeText } from "../../parts/safe-text.ts";
import type { SessionFiles, Upload } from "../../state/sessions/files.ts";
import styles from "./uploads.module.css";

const STATES: Readonly<Record<Upload["state"], { readonly shape: string; readonly word: string }>> = {
  waiting: { shape: "waiting", word: "waiting" },
  sending: { shape: "running", word: "uploading" },
  done: { shape: "ok", word: "uploaded" },
  failed: { shape: "failed", word: "failed" },
  stopped: { shape: "cancelled", word: "stopped" },
};

export function Uploads({ files }: { readonly files: SessionFiles }): VNode | null {
  const uploads = files.uploads.value;
  if (uploads.length === 0) return null;
  const isBusy = uploads.some(({ state }) => state === "waiting" || state === "sending");
  return (
    <section class={styles["uploads"]} aria-label="Uploads">
      <header class={styles["header"]}>
        <h3>
          {isBusy
            ? `Uploading, ${uploads.filter(({ state }) => state === "done").length} of ${uploads.length} done`
            : "Uploads"}
        </h3>
        <Button
          kind="quiet"
          disabled={isBusy}
          aria-label="Clear the list of uploads"
          onClick={() => files.clearUploads()}
        >
          <Icon name="close" />
        </Button>
      </header>
      <ul class={styles["list"]}>
        {uploads.map((upload) => (
          <li key={upload.key} class={styles["upload"]}>
            <span class={styles["path"]} title={toSafeText(upload.path)}>
              {toSafeText(upload.path)}
            </span>
            <span class={`figures ${styles["size"]}`}>
              {upload.state === "sending" && upload.sent > 0 ? `${formatBytes(upload.sent)} of ` : ""}
              {formatBytes(upload.size)}
            </span>
            <Status
              state={STATES[upload.state].shape}
              word={STATES[upload.state].word}
              isSmall={upload.state === "done"}
            />
            {(upload.state === "waiting" || upload.state === "sending") && (
              <Button
                kind="quiet"
                aria-label={`Stop the upload of ${toSafeText(upload.path)}`}
                onClick={() => files.stop(upload.key)}
              >
                <Icon name="close" />
              </Button>
            )}
            {upload.state === "sending" && (
              <progress
                class={styles["progress"]}
                max={Math.max(1, upload.size)}
                value={upload.sent}
                aria-label="Uploaded"
              />
            )}
            {upload.why !== undefined && <p class={styles["why"]}>{upload.why}</p>}
          </li>
        ))}
      </ul>
    </section>
  );
}
