// The page as a whole: signs in, then shows the frame with the view that the address asks for.

import { useEffect, useState } from "preact/hooks";
import { lazy, Suspense } from "preact/compat";
import type { VNode } from "preact";
import type { Runtime } from "rlm-runtime/client";
import { PageProvider, usePage, type PageState } from "../state/page.ts";
import { forgetToken, keepToken, takeToken } from "../state/token.ts";
import { Skeleton } from "../parts/feedback/skeleton.tsx";
import styles from "./app.module.css";
import { BrandBar } from "./bar/brand.tsx";
import { Frame } from "./frame.tsx";
import { SignIn } from "./sign-in.tsx";
import { ViewBoundary } from "./view-boundary.tsx";
import { loadWindows } from "./windows.tsx";

const LOADERS = {
  sessions: () => import("../sessions/sessions-view.tsx"),
  tasks: () => import("../tasks/tasks-view.tsx"),
  runs: () => import("../runs/runs-view.tsx"),
};
const VIEWS = { sessions: lazy(LOADERS.sessions), tasks: lazy(LOADERS.tasks), runs: lazy(LOADERS.runs) };

/** By then the first view is there. */
const IDLE_MS = 1_500;

export interface AppProps extends Omit<PageState, "runtime"> {
  /** Undefined: the reader is asked for it. */
  readonly token: string | undefined;
}

export function App({ token: first, ...parts }: AppProps): VNode {
  const [token, setToken] = useState(first);
  const [runtime, setRuntime] = useState<Runtime>();
  const { connection } = parts;

  useEffect(() => {
    // Another link to this server may be opened in this tab.
    const takeNew = (): void => {
      const found = takeToken();
      if (found !== undefined) setToken(found);
    };
    addEventListener("hashchange", takeNew);
    return () => removeEventListener("hashchange", takeNew);
  }, []);

  const open = (given: string): void => {
    // What the one before still asks must not be taken for an answer to this one.
    setRuntime(undefined);
    connection.open(given).then(setRuntime, () => {
      if (connection.status.value.state === "refused") forgetToken();
    });
  };
  useEffect(() => {
    if (token !== undefined) open(token);
  }, [token]);

  const status = connection.status.value;
  if (token === undefined || status.state === "refused") {
    const signIn = (text: string): void => {
      keepToken(text);
      setToken(text);
      // The same token again: the server may accept it now.
      if (text === token) open(text);
    };
    return <SignIn why={status.state === "refused" ? status.why : undefined} onToken={signIn} />;
  }
  if (runtime === undefined) return <Starting since={status.state === "lost" ? status.since : undefined} />;
  return (
    <PageProvider value={{ ...parts, runtime }}>
      <Frame>
        <View />
      </Frame>
    </PageProvider>
  );
}

function View(): VNode {
  const { place, path } = usePage().router.route.value;
  useEffect(loadOthers, []);
  const [views, setViews] = useState(VIEWS);
  const Chosen = views[place];
  return (
    <ViewBoundary key={place} name={place} onRetry={() => setViews({ ...views, [place]: lazy(LOADERS[place]) })}>
      <Suspense fallback={<Skeleton lines={6} />}>
        <Chosen path={path} />
      </Suspense>
    </ViewBoundary>
  );
}

/** The other views are there when they are wanted, also when the server is gone by then. */
function loadOthers(): void {
  setTimeout(() => {
    for (const load of Object.values(LOADERS)) void load().catch(() => undefined);
    loadWindows();
  }, IDLE_MS);
}

function Starting({ since }: { readonly since: number | undefined }): VNode {
  if (since === undefined) {
    return (
      <>
        <BrandBar />
        <p role="status" class="unseen">
          Connecting
        </p>
      </>
    );
  }
  return (
    <main class={styles["starting"]}>
      <h1>The server does not answer</h1>
      <p role="status">
        It has not since {new Date(since).toLocaleTimeString()}. This page tries again by itself. <code>rlm serve</code>{" "}
        starts a server; <code>rlm visualize</code> starts one and opens this page.
      </p>
    </main>
  );
}
