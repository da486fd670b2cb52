// Opens a session: an id and an environment, both of which may stay as they are.

import type { VNode } from "preact";
import { useId, useState } from "preact/hooks";
import { Button } from "../../parts/button.tsx";
import { Dialog } from "../../parts/overlay/dialog.tsx";
import { usePage } from "../../state/page.ts";
import type { SessionList } from "../../state/sessions/session-list.ts";
import styles from "./new-session.module.css";

interface NewSessionProps {
  readonly list: SessionList;
  readonly onClose: () => void;
}

const ENVIRONMENTS = ["local", "docker", "wasm"];

export function NewSession({ list, onClose }: NewSessionProps): VNode {
  const { connection, router } = usePage();
  const usual = connection.info.value?.environment;
  const [id, setId] = useState("");
  const [environment, setEnvironment] = useState("");
  const [keepsUndo, setKeepsUndo] = useState(false);
  const [failure, setFailure] = useState<string>();
  const [isBusy, setBusy] = useState(false);
  const form = useId();
  const open = async (): Promise<void> => {
    setBusy(true);
    setFailure(undefined);
    try {
      const session = await list.open({
        id: id.trim() === "" ? undefined : id.trim(),
        environment: environment === "" ? undefined : environment,
        autoCheckpoint: keepsUndo ? true : undefined,
      });
      onClose();
      router.go({ place: "sessions", path: [session.id] });
    } catch (error) {
      setFailure(error instanceof Error ? error.message : String(error));
      setBusy(false);
    }
  };
  return (
    <Dialog
      title="New session"
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="main" type="submit" form={form} disabled={isBusy}>
            {isBusy ? "Opening" : "Open"}
          </Button>
        </>
      }
    >
      <form
        id={form}
        class={styles["form"]}
        onSubmit={(event) => {
          event.preventDefault();
          void open();
        }}
      >
        <label>
          <span>
            Id <small>optional: letters, digits, dots, dashes</small>
          </span>
          <input
            value={id}
            maxLength={64}
            pattern="[A-Za-z0-9._\-]*"
            autocomplete="off"
            spellcheck={false}
            placeholder="generated"
            onInput={({ currentTarget }) => setId(currentTarget.value)}
          />
        </label>
        <label>
          <span>Environment</span>
          <select value={environment} onChange={({ currentTarget }) => setEnvironment(currentTarget.value)}>
            <option value="">
              {usual === undefined ? "as the server is set up" : `${usual} (as the server is set up)`}
            </option>
            {ENVIRONMENTS.filter((name) => name !== usual).map((name) => (
              <option key={name} value={name}>
                {name}
              </option>
            ))}
          </select>
        </label>
        <label class={styles["check"]}>
          <input
            type="checkbox"
            checked={keepsUndo}
            onChange={({ currentTarget }) => setKeepsUndo(currentTarget.checked)}
          />
          <span>
            Undo <small>keeps a checkpoint from before each of the last 10 executions</small>
          </span>
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
