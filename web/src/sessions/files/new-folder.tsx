// Asks for the name of a folder.

import type { VNode } from "preact";
import { useId, useState } from "preact/hooks";
import { Button } from "../../parts/button.tsx";
import { Dialog } from "../../parts/overlay/dialog.tsx";
import type { SessionFiles } from "../../state/sessions/files.ts";
import styles from "./new-folder.module.css";

interface NewFolderProps {
  readonly files: SessionFiles;
  readonly onClose: () => void;
}

export function NewFolder({ files, onClose }: NewFolderProps): VNode {
  const [name, setName] = useState("");
  const [failure, setFailure] = useState<string>();
  const form = useId();
  const make = async (): Promise<void> => {
    try {
      await files.makeFolder(name.trim());
      onClose();
    } catch (error) {
      setFailure(error instanceof Error ? error.message : String(error));
    }
  };
  return (
    <Dialog
      title="New folder"
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="main" type="submit" form={form} disabled={name.trim() === ""}>
            Make the folder
          </Button>
        </>
      }
    >
      <form
        id={form}
        onSubmit={(event) => {
          event.preventDefault();
          void make();
        }}
      >
        <label class={styles["label"]}>
          Name
          <input value={name} autocomplete="off" onInput={({ currentTarget }) => setName(currentTarget.value)} />
        </label>
        {failure !== undefined && (
          <p role="alert" class={styles["failure"]}>
            {failure}
          </p>
        )}
      </form>
    </Dialog>
  );
}
