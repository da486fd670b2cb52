// A button that opens a list of actions. Arrow keys move, letters find, Escape closes and gives the focus back.

import type { ComponentChildren, VNode } from "preact";
import { useEffect, useId, useLayoutEffect, useRef, useState } from "preact/hooks";
import { Button, type ButtonProps } from "../button.tsx";
import { Icon, type IconName } from "../icon.tsx";
import styles from "./menu.module.css";
import { findPlace } from "./find-place.ts";

export interface MenuAction {
  readonly label: string;
  readonly icon?: IconName;
  /** Shown at the right: the key, or what else is worth knowing. */
  readonly hint?: string | undefined;
  /** It cannot be undone. */
  readonly isDanger?: boolean;
  readonly isDisabled?: boolean;
  /** It is the chosen one of several. */
  readonly isChecked?: boolean;
  readonly onPick: () => void;
}

interface MenuProps {
  /** What the button is called; shown as a hint where `children` are a drawing. */
  readonly label: string;
  /** What the button shows. Default: three dots. */
  readonly children?: ComponentChildren;
  readonly kind?: ButtonProps["kind"];
  readonly items: readonly (MenuAction | "separator")[];
}

export function Menu({ label, children, kind = "quiet", items }: MenuProps): VNode {
  const [isOpen, setOpen] = useState(false);
  const root = useRef<HTMLSpanElement>(null);
  const id = useId();
  const close = (): void => {
    setOpen(false);
    root.current?.querySelector("button")?.focus();
  };
  return (
    <span ref={root} class={styles["menu"]}>
      <Button
        kind={kind}
        aria-haspopup="menu"
        aria-expanded={isOpen}
        aria-controls={isOpen ? id : undefined}
        aria-label={children === undefined || typeof children !== "string" ? label : undefined}
        title={label}
        onClick={() => setOpen(!isOpen)}
        onKeyDown={(event) => {
          if (event.key !== "ArrowDown" || isOpen) return;
          event.preventDefault();
          setOpen(true);
        }}
      >
        {children ?? <Icon name="more" />}
      </Button>
      {isOpen && (
        <Popup id={id} label={label} items={items} root={root} onClose={close} onLeave={() => setOpen(false)} />
      )}
    </span>
  );
}

interface PopupProps extends Pick<MenuProps, "label" | "items"> {
  readonly id: string;
  readonly root: { readonly current: HTMLElement | null };
  /** The focus goes back to the button. */
  readonly onClose: () => void;
  /** The focus is already elsewhere. */
  readonly onLeave: () => void;
}

function Popup({ id, label, items, root, onClose, onLeave }: PopupProps): VNode {
  const list = useRef<HTMLDivElement>(null);

  useLayoutEffect(() => {
    const { current: popup } = list;
    const button = root.current?.querySelector("button");
    if (popup === null || button === null || button === undefined) return;
    // In the top layer, so that no pane cuts it.
    popup.showPopover();
    const size = { width: popup.offsetWidth, height: popup.offsetHeight };
    const { left, top } = findPlace(size, button.getBoundingClientRect(), { width: innerWidth, height: innerHeight });
    popup.style.left = `${left}px`;
    popup.style.top = `${top}px`;
    actionsOf(popup)[0]?.focus();
  }, []);
  useEffect(() => {
    const leave = ({ target }: Event): void => {
      if (!(target instanceof Node) || root.current?.contains(target) !== true) onLeave();
    };
    addEventListener("pointerdown", leave, true);
    addEventListener("focusin", leave);
    addEventListener("resize", onLeave);
    return () => {
      removeEventListener("pointerdown", leave, true);
      removeEventListener("focusin", leave);
      removeEventListener("resize", onLeave);
    };
  }, []);

  const onKeyDown = (event: KeyboardEvent): void => {
    if (list.current === null || !moveWith(event, actionsOf(list.current))) return;
    event.preventDefault();
    event.stopPropagation();
    if (event.key === "Escape" || event.key === "Tab") onClose();
  };
  return (
    <div
      ref={list}
      id={id}
      role="menu"
      tabIndex={-1}
      popover="manual"
      aria-label={label}
      class={styles["popup"]}
      onKeyDown={onKeyDown}
    >
      {items.map((item, index) =>
        item === "separator" ? (
          <hr key={index} class={styles["separator"]} />
        ) : (
          <button
            key={index}
            type="button"
            role={item.isChecked === undefined ? "menuitem" : "menuitemradio"}
            aria-checked={item.isChecked}
            aria-disabled={item.isDisabled === true}
            tabIndex={-1}
            class={`${styles["action"]} ${item.isDanger === true ? styles["danger"] : ""}`}
            onClick={() => {
              if (item.isDisabled === true) return;
              onClose();
              item.onPick();
            }}
          >
            <span class={styles["mark"]}>
              {item.isChecked === true ? <Icon name="check" /> : item.icon !== undefined && <Icon name={item.icon} />}
            </span>
            <span>{item.label}</span>
            {item.hint !== undefined && <span class={styles["hint"]}>{item.hint}</span>}
          </button>
        ),
      )}
    </div>
  );
}

function actionsOf(popup: HTMLElement): HTMLElement[] {
  return [...popup.querySelectorAll<HTMLElement>("[role^=menuitem]")];
}

/** Moves the focus. False: the key means nothing here. */
function moveWith({ key, ctrlKey, metaKey, altKey }: KeyboardEvent, actions: readonly HTMLElement[]): boolean {
  const at = actions.findIndex((action) => action === document.activeElement);
  const to = (index: number): boolean => {
    actions.at(index % actions.length)?.focus();
    return true;
  };
  if (key === "Escape" || key === "Tab") return true;
  if (key === "ArrowDown") return to(at + 1);
  if (key === "ArrowUp") return to(at <= 0 ? -1 : at - 1);
  if (key === "Home") return to(0);
  if (key === "End") return to(-1);
  if (key.length !== 1 || key === " " || ctrlKey || metaKey || altKey) return false;
  const ahead = [...actions.slice(at + 1), ...actions.slice(0, at + 1)];
  ahead.find((action) => action.textContent.trim().toLowerCase().startsWith(key.toLowerCase()))?.focus();
  return true;
}
