// Windows above the page that are loaded when they are first wanted, or before, when nothing else is to do.

import type { FunctionComponent } from "preact";
import { lazy } from "preact/compat";
import { useEffect } from "preact/hooks";
import { usePage } from "../state/page.ts";

interface WindowProps {
  readonly onClose: () => void;
}

interface Module {
  readonly default: FunctionComponent<WindowProps>;
}

export type WindowName = "palette" | "shortcuts";

const LOADERS: Readonly<Record<WindowName, () => Promise<Module>>> = {
  palette: () => import("./palette/palette.tsx"),
  shortcuts: () => import("./keys/shortcuts.tsx"),
};

export const WINDOWS: Readonly<Record<WindowName, FunctionComponent<WindowProps>>> = {
  palette: lazy(() => LOADERS.palette().catch(failed)),
  shortcuts: lazy(() => LOADERS.shortcuts().catch(failed)),
};

/** So that they open when the server is gone. */
export function loadWindows(): void {
  for (const load of Object.values(LOADERS)) void load().catch(() => undefined);
}

function failed(error: unknown): Module {
  return {
    default: ({ onClose }) => {
      const { notices } = usePage();
      useEffect(() => {
        notices.failed("load this part of the page", error);
        onClose();
      }, []);
      return null;
    },
  };
}
