// The files of the session: folders, upload by drop and by button, download, and a preview.

import type { VNode } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import type { FileEntry } from "rlm-runtime/client";
import { Button } from "../../parts/button.tsx";
import { Age } from "../../parts/feedback/age.tsx";
import { Skeleton } from "../../parts/feedback/skeleton.tsx";
import { formatBytes, formatCount } from "../../parts/format.ts";
import { Icon } from "../../parts/icon.tsx";
import { useConfirm } from "../../parts/overlay/dialog.tsx";
import { Menu, type MenuAction } from "../../parts/overlay/menu.tsx";
import { toSafeText } from "../../parts/safe-text.ts";
import { VirtualList } from "../../parts/virtual-list.tsx";
import { usePage } from "../../state/page.ts";
import type { SessionFiles } from "../../state/sessions/files.ts";
import { saveBlob } from "../save-blob.ts";
import styles from "./files-pane.module.css";
import { FilePreview } from "./file-preview.tsx";
import { NewFolder } from "./new-folder.tsx";
import { Uploads } from "./uploads.tsx";

interface FilesPaneProps {
  readonly files: SessionFiles;
  readonly sessionId: string;
}

export function FilesPane({ files, sessionId }: FilesPaneProps): VNode {
  useEffect(() => {
    const watch = files.watch();
    return () => watch[Symbol.dispose]();
  }, [files]);
  const [isOver, setOver] = useState(false);
  const [isNaming, setNaming] = useState(false);
  const picker = useRef<HTMLInputElement>(null);
  const upload = (chosen: FileList | null | undefined): void => {
    if (chosen) files.upload(chosen);
  };
  if (files.preview.value !== undefined) return <FilePreview files={files} preview={files.preview.value} />;
  return (
    <div
      class={`${styles["pane"]} ${isOver ? styles["over"] : ""}`}
      onDragOver={(event) => {
        if (event.dataTransfer?.types.includes("Files") !== true) return;
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={({ currentTarget, relatedTarget }) => {
        if (!(relatedTarget instanceof Node) || !currentTarget.contains(relatedTarget)) setOver(false);
      }}
      onDrop={(event) => {
        event.preventDefault();
        setOver(false);
        upload(event.dataTransfer?.files);
      }}
    >
      <header class={styles["header"]}>
        <Crumbs files={files} />
        <Button kind="quiet" aria-label="New folder" title="New folder" onClick={() => setNaming(true)}>
          <Icon name="folder" />
        </Button>
        <Button kind="quiet" onClick={() => picker.current?.click()} title="Or drop files here">
          <Icon name="upload" />
          Upload
        </Button>
        <input
          ref={picker}
          type="file"
          multiple
          class="unseen"
          tabIndex={-1}
          aria-hidden="true"
          onChange={({ currentTarget }) => {
            upload(currentTarget.files);
            currentTarget.value = "";
          }}
        />
      </header>
      <div class={styles["list"]}>
        <Listing files={files} sessionId={sessionId} />
      </div>
      <Uploads files={files} />
      {isOver && <p class={styles["drop"]}>Drop to upload</p>}
      {isNaming && <NewFolder files={files} onClose={() => setNaming(false)} />}
    </div>
  );
}

function Crumbs({ files }: { readonly files: SessionFiles }): VNode {
  const folder = files.folder.value;
  const names = folder === "" ? [] : folder.split("/");
  return (
    <nav class={styles["crumbs"]} aria-label="Folder">
      <button type="button" onClick={() => files.open("")} aria-current={folder === "" ? "location" : undefined}>
        files
      </button>
      {names.map((name, index) => (
        <span key={index}>
          {" / "}
          <button
            type="button"
            aria-current={index === names.length - 1 ? "location" : undefined}
            onClick={() => files.open(names.slice(0, index + 1).join("/"))}
          >
            {toSafeText(name)}
          </button>
        </span>
      ))}
    </nav>
  );
}

function Listing({ files, sessionId }: FilesPaneProps): VNode {
  const listing = files.listing.value;
  const failure = files.failure.value;
  if (listing === undefined) {
    if (failure === undefined) return <Skeleton lines={5} label="Loading the files" />;
    return (
      <p class={styles["note"]} role="alert">
        {failure}
      </p>
    );
  }
  if (listing.entries.length === 0) {
    return <p class={styles["note"]}>No files here. Drop some, or write them from code.</p>;
  }
  const sorted = listing.entries.toSorted(
    (a, b) => Number(b.type === "folder") - Number(a.type === "folder") || (a.name < b.name ? -1 : 1),
  );
  return (
    <>
      <VirtualList
        items={sorted}
        keyOf={({ path }) => path}
        estimate={36}
        label="Files"
        render={(entry) => <Row entry={entry} files={files} sessionId={sessionId} />}
      />
      {listing.omitted > 0 && <p class={styles["note"]}>{formatCount(listing.omitted)} more are not listed.</p>}
    </>
  );
}

function Row({ entry, files, sessionId }: FilesPaneProps & { readonly entry: FileEntry }): VNode {
  const { router, notices } = usePage();
  const confirm = useConfirm();
  const { name, path, type, size, modifiedAt, target } = entry;
  const isFolder = type === "folder";
  const shown = toSafeText(name, { maxCharacters: 255 });
  const attempt = (what: string, action: () => Promise<unknown>): void => {
    action().catch((error: unknown) => notices.failed(what, error));
  };
  const remove = async (): Promise<void> => {
    const text = isFolder ? "Everything in it goes, too." : undefined;
    const question = { title: `Delete ${shown}?`, text, action: "Delete", isDanger: true };
    if (await confirm(question)) await files.remove(path);
  };
  const open = (): void => {
    if (isFolder) files.open(path);
    else if (type === "file") {
      router.go({ place: "sessions", path: [sessionId, "files", ...path.split("/")] });
      attempt("show the file", () => files.show(path));
    }
  };
  const items: MenuAction[] = [
    {
      label: isFolder ? "Open" : "Show",
      icon: isFolder ? "folder" : "file",
      isDisabled: type !== "file" && !isFolder,
      onPick: open,
    },
    {
      label: "Download",
      icon: "download",
      isDisabled: type !== "file",
      onPick: () => attempt("download the file", async () => saveBlob(await files.download(path), name)),
    },
    { label: "Delete", icon: "trash", isDanger: true, onPick: () => attempt("delete it", remove) },
  ];
  return (
    <div class={styles["row"]}>
      <button
        type="button"
        class={styles["name"]}
        onClick={open}
        disabled={type === "other" || type === "link"}
        title={shown}
      >
        <Icon name={isFolder ? "folder" : type === "link" ? "link" : "file"} />
        <span>
          {shown}
          {target !== undefined && <small> → {toSafeText(target, { maxCharacters: 200 })}</small>}
        </span>
      </button>
      <span class={`figures ${styles["size"]}`}>{type === "file" ? formatBytes(size) : ""}</span>
      <span class={styles["age"]}>
        <Age since={modifiedAt} />
      </span>
      <Menu label={`Actions of ${shown}`} items={items} />
    </div>
  );
}
