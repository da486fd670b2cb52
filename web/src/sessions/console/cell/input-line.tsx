// Code waits for a line: the reader answers where it asks. Whoever looks at the session may; the first answer counts.

import type { TargetedInputEvent, VNode } from "preact";
import { useEffect, useId, useRef, useState } from "preact/hooks";
import { Button } from "../../../parts/button.tsx";
import { toSafeText } from "../../../parts/safe-text.ts";
import type { CellInput } from "../../../state/sessions/console/cell.ts";
import type { Console } from "../../../state/sessions/console/console.ts";
import styles from "./input-line.module.css";

interface InputLineProps {
  readonly cellId: string;
  readonly input: CellInput;
  readonly console: Console;
  readonly onAnswered: () => void;
  readonly onFailure: (what: string, error: unknown) => void;
}

export function InputLine({ cellId, input, console, onAnswered, onFailure }: InputLineProps): VNode {
  const [line, setLine] = useState("");
  const [isSending, setSending] = useState(false);
  const element = useRef<HTMLInputElement>(null);
  const id = useId();
  useEffect(() => {
    // The focus is taken from the editor of this console alone, not from what somebody does elsewhere.
    const active = document.activeElement;
    if (active === document.body || active?.shadowRoot !== null) element.current?.focus();
  }, []);
  const send = (answer: string | null): void => {
    setSending(true);
    console
      .answer(cellId, input, answer)
      .then(onAnswered)
      .catch((error: unknown) => onFailure("answer the code", error))
      .finally(() => setSending(false));
  };
  const prompt = toSafeText(input.prompt.trim(), { maxCharacters: 200 });
  const field = {
    id,
    class: styles["field"],
    value: line,
    autocomplete: "off",
    spellcheck: false,
    onInput: ({ currentTarget }: TargetedInputEvent<HTMLInputElement>) => setLine(currentTarget.value),
  };
  return (
    <form
      class={styles["input"]}
      onSubmit={(event) => {
        event.preventDefault();
        send(line);
      }}
    >
      <label for={id} class={input.isPassword ? styles["prompt"] : "unseen"}>
        {prompt === "" ? "The code waits for a line" : prompt}
      </label>
      {input.isPassword ? (
        <input {...field} ref={element} type="password" placeholder="Not shown" />
      ) : (
        <input {...field} ref={element} type="text" placeholder="A line for the code" />
      )}
      <Button kind="main" type="submit" disabled={isSending}>
        Send
      </Button>
      <Button kind="quiet" disabled={isSending} onClick={() => send(null)} title="The code sees the end of its input">
        End of input
      </Button>
    </form>
  );
}
