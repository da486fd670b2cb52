// The thin bar at the top: name, search, connection, where code runs, theme.

import type { VNode } from "preact";
import { Button } from "../../parts/button.tsx";
import { Icon, type IconName } from "../../parts/icon.tsx";
import { Menu } from "../../parts/overlay/menu.tsx";
import { usePage } from "../../state/page.ts";
import type { ThemeChoice } from "../../state/theme.ts";
import { KeyCaps } from "../keys/key-caps.tsx";
import { Brand } from "./brand.tsx";
import { ConnectionMark } from "./connection-mark.tsx";
import { EnvironmentMark } from "./environment-mark.tsx";
import styles from "./top-bar.module.css";

interface TopBarProps {
  readonly onSearch: () => void;
  readonly onShortcuts: () => void;
}

export function TopBar({ onSearch, onShortcuts }: TopBarProps): VNode {
  return (
    <header class={styles["bar"]}>
      <Brand />
      <button type="button" class={styles["search"]} onClick={onSearch} aria-haspopup="dialog">
        <Icon name="search" />
        <span class={styles["hint"]}>Search or run a command</span>
        <KeyCaps keys="Ctrl+k" />
      </button>
      <div class={styles["end"]}>
        <ConnectionMark />
        <EnvironmentMark />
        <ThemeMenu />
        <span class={styles["shortcuts"]}>
          <Button kind="quiet" aria-label="Keyboard shortcuts" title="Keyboard shortcuts (?)" onClick={onShortcuts}>
            <Icon name="keyboard" />
          </Button>
        </span>
      </div>
    </header>
  );
}

const THEMES: readonly { readonly choice: ThemeChoice; readonly name: string; readonly icon: IconName }[] = [
  { choice: "system", name: "As the system", icon: "monitor" },
  { choice: "light", name: "Light", icon: "sun" },
  { choice: "dark", name: "Dark", icon: "moon" },
];

function ThemeMenu(): VNode {
  const { theme } = usePage();
  const chosen = theme.choice.value;
  return (
    <Menu
      label="Theme"
      items={THEMES.map(({ choice, name, icon }) => ({
        label: name,
        icon,
        isChecked: choice === chosen,
        onPick: () => theme.choose(choice),
      }))}
    >
      <Icon name={THEMES.find(({ choice }) => choice === chosen)?.icon ?? "monitor"} />
    </Menu>
  );
}
