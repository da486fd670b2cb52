// The files that a question is about: chosen, or dropped in, folders included.

import type { VNode } from "preact";
import { useRef } from "preact/hooks";
import { Button } from "../../parts/button.tsx";
import { formatBytes } from "../../parts/format.ts";
import { Icon } from "../../parts/icon.tsx";
import { toSafeText } from "../../parts/safe-text.ts";
import type { NamedFile } from "../../state/runs/start-run.ts";
import styles from "./new-run-form.module.css";

/** As many as the server takes. */
const MAX_FILES = 1_000;
const MAX_LISTED = 20;

export function AddFiles({ onAdd }: { onAdd(files: readonly NamedFile[]): void }): VNode {
  const input = useRef<HTMLInputElement>(null);
  return (
    <>
      <input
        ref={input}
        type="file"
        multiple
        hidden
        aria-label="Files"
        onChange={({ currentTarget }) => {
          onAdd([...(currentTarget.files ?? [])].map((file) => ({ name: file.name, file })));
          currentTarget.value = "";
        }}
      />
      <Button kind="quiet" onClick={() => input.current?.click()}>
        <Icon name="upload" />
        Add files
      </Button>
    </>
  );
}

interface FileListProps {
  readonly files: readonly NamedFile[];
  onRemove(name: string): void;
}

export function FileList({ files, onRemove }: FileListProps): VNode {
  const rest = files.length - MAX_LISTED;
  return (
    <ul class={styles["files"]} aria-label="Files">
      {files.slice(0, MAX_LISTED).map(({ name, file }) => (
        <li key={name}>
          <span class={styles["fileName"]}>{toSafeText(name, { maxCharacters: 200 })}</span>
          <span class={styles["size"]}>{formatBytes(file.size)}</span>
          <Button kind="quiet" aria-label={`Remove ${toSafeText(name)}`} onClick={() => onRemove(name)}>
            <Icon name="close" />
          </Button>
        </li>
      ))}
      {rest > 0 && <li>{`${rest} more`}</li>}
    </ul>
  );
}

/** What was dropped. Files in folders are named by their path; one that a program has just made, as a mail does, is on no disk. */
export async function namedFiles(dropped: DataTransfer): Promise<readonly NamedFile[]> {
  const items = [...dropped.items].filter(({ kind }) => kind === "file");
  // All at once: after the event there is nothing to read.
  const entries = items.map((item) => item.webkitGetAsEntry() ?? item.getAsFile());
  const found: NamedFile[] = [];
  for (const entry of entries) {
    if (entry instanceof File) found.push({ name: entry.name, file: entry });
    else if (entry !== null) await collect(entry, found);
  }
  return found;
}

async function collect(entry: FileSystemEntry, found: NamedFile[]): Promise<void> {
  if (found.length >= MAX_FILES) return;
  if (entry instanceof FileSystemFileEntry) {
    const file = await new Promise<File>((resolve, reject) => entry.file(resolve, reject));
    found.push({ name: entry.fullPath.replace(/^\//, ""), file });
    return;
  }
  if (!(entry instanceof FileSystemDirectoryEntry)) return;
  const reader = entry.createReader();
  for (;;) {
    // A folder is read in pieces; an empty one is its end.
    const entries = await new Promise<FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject));
    if (entries.length === 0) return;
    for (const one of entries) await collect(one, found);
  }
}
