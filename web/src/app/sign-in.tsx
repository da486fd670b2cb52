// Asks for the token, and says where to find it.

import type { VNode } from "preact";
import { useState } from "preact/hooks";
import { Button } from "../parts/button.tsx";
import { CommandLine } from "../parts/feedback/copy.tsx";
import { Icon } from "../parts/icon.tsx";
import { toSafeText } from "../parts/safe-text.ts";
import styles from "./sign-in.module.css";

interface SignInProps {
  /** Why the last token was refused. Undefined: there was none. */
  readonly why: string | undefined;
  readonly onToken: (token: string) => void;
}

export function SignIn({ why, onToken }: SignInProps): VNode {
  const [token, setToken] = useState("");
  const submit = (event: SubmitEvent): void => {
    event.preventDefault();
    if (token.trim() !== "") onToken(token.trim());
  };
  return (
    <main class={styles["page"]}>
      <form class={styles["form"]} onSubmit={submit}>
        <h1>RLM Runtime</h1>
        {why === undefined ? (
          <p>
            This page needs the token of the server. <code>rlm visualize</code> opens it with the token.
          </p>
        ) : (
          <p role="alert" class={styles["why"]}>
            <Icon name="error" />
            <span>{toSafeText(why).replace(/\.?$/, ".")} A server that was started anew may have another one.</span>
          </p>
        )}
        <label>
          Token
          <input
            type="password"
            autocomplete="off"
            value={token}
            onInput={({ currentTarget }) => setToken(currentTarget.value)}
          />
        </label>
        <Button kind="main" type="submit">
          Open
        </Button>
        <div class={styles["hint"]}>
          <p>Where to find it</p>
          <p>
            Where <code>RLM_TOKEN</code> is set for the server, that is the token. Otherwise the server made one and
            says in its terminal where it is kept. Usually one of these shows it:
          </p>
          <CommandLine command="rlm visualize" />
          <CommandLine command="cat ~/.local/share/rlm/server/token" />
        </div>
      </form>
    </main>
  );
}
