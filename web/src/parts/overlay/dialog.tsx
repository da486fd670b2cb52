// A window above the page: the page behind it cannot be reached until it closes. Escape and a click beside it close it, and the focus goes
// back to where it was.

import { createContext, type ComponentChildren, type VNode } from "preact";
import { useContext, useId, useLayoutEffect, useRef, useState } from "preact/hooks";
import { Button } from "../button.tsx";
import { Icon } from "../icon.tsx";
import styles from "./dialog.module.css";

interface DialogProps {
  readonly title: string;
  /** Called once the reader closes it; the owner then stops rendering it. */
  readonly onClose: () => void;
  readonly children?: ComponentChildren;
  /** The buttons. */
  readonly actions?: ComponentChildren;
  readonly isWide?: boolean;
}

export function Dialog({ title, onClose, children, actions, isWide = false }: DialogProps): VNode {
  const dialog = useRef<HTMLDialogElement>(null);
  const heading = useId();
  useLayoutEffect(() => {
    const { current } = dialog;
    current?.showModal();
    return () => current?.close();
  }, []);
  return (
    <dialog
      ref={dialog}
      class={`${styles["dialog"]} ${isWide ? styles["wide"] : ""}`}
      aria-labelledby={heading}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
      // What is inside covers the window but for the backdrop.
      onPointerDown={({ target }) => target === dialog.current && onClose()}
    >
      <div class={styles["inside"]}>
        <div class={styles["header"]}>
          <h2 id={heading}>{title}</h2>
          <Button kind="quiet" aria-label="Close" title="Close (Esc)" onClick={onClose}>
            <Icon name="close" />
          </Button>
        </div>
        <div class={styles["body"]}>{children}</div>
        {actions !== undefined && <div class={styles["actions"]}>{actions}</div>}
      </div>
    </dialog>
  );
}

export interface Question {
  /** As in "Cancel the task?". */
  readonly title: string;
  /** What will be lost, or what happens then. */
  readonly text?: string | undefined;
  /** The word on the button that does it, as in "Cancel the task". */
  readonly action: string;
  /** The word on the other one. Default: "Keep". */
  readonly refusal?: string;
  readonly isDanger?: boolean;
}

type Ask = (question: Question) => Promise<boolean>;

const Confirm = createContext<Ask | undefined>(undefined);

/** Asks before something that cannot be undone. Resolves to whether the reader agreed. */
export function useConfirm(): Ask {
  const ask = useContext(Confirm);
  if (ask === undefined) throw new Error("Nothing can be asked here: render this inside of ConfirmProvider");
  return ask;
}

interface Asked {
  readonly question: Question;
  readonly answer: (isYes: boolean) => void;
}

export function ConfirmProvider({ children }: { readonly children: ComponentChildren }): VNode {
  const [asked, setAsked] = useState<Asked>();
  const [ask] = useState<Ask>(
    () => (question: Question) =>
      new Promise<boolean>((resolve) => {
        setAsked((before) => {
          before?.answer(false);
          return { question, answer: resolve };
        });
      }),
  );
  const end = (isYes: boolean): void => {
    asked?.answer(isYes);
    setAsked(undefined);
  };
  return (
    <Confirm.Provider value={ask}>
      {children}
      {asked !== undefined && <Asking question={asked.question} onAnswer={end} />}
    </Confirm.Provider>
  );
}

function Asking({
  question,
  onAnswer,
}: {
  readonly question: Question;
  readonly onAnswer: (isYes: boolean) => void;
}): VNode {
  const { title, text, action, refusal = "Keep", isDanger = false } = question;
  return (
    <Dialog
      title={title}
      onClose={() => onAnswer(false)}
      actions={
        <>
          <Button autofocus onClick={() => onAnswer(false)}>
            {refusal}
          </Button>
          <Button kind={isDanger ? "danger" : "main"} onClick={() => onAnswer(true)}>
            {action}
          </Button>
        </>
      }
    >
      {text !== undefined && <p>{text}</p>}
    </Dialog>
  );
}
