// The state of the page, in one object that every component gets from its context. Components read signals and call methods; only the
// modules in this folder know the client.

import { createContext } from "preact";
import { useContext } from "preact/hooks";
import type { Runtime } from "rlm-runtime/client";
import type { Commands } from "./commands.ts";
import type { Connection } from "./connection.ts";
import type { Notices } from "./notices.ts";
import type { Router } from "./router.ts";
import type { Theme } from "./theme.ts";

export interface PageState {
  readonly connection: Connection;
  readonly runtime: Runtime;
  readonly router: Router;
  readonly theme: Theme;
  readonly commands: Commands;
  /** Short messages at the edge of the page: what failed, and what to do. */
  readonly notices: Notices;
}

const Page = createContext<PageState | undefined>(undefined);

export const PageProvider = Page.Provider;

export function usePage(): PageState {
  const page = useContext(Page);
  if (page === undefined) throw new Error("The page has no state: render this inside of PageProvider");
  return page;
}
