// A button. `main` is what the reader most likely wants; `danger` cannot be undone.

import type { ButtonHTMLAttributes, ComponentChildren, VNode } from "preact";
import styles from "./button.module.css";

export interface ButtonProps extends Omit<ButtonHTMLAttributes, "class" | "label"> {
  readonly kind?: "main" | "plain" | "quiet" | "danger";
  readonly children: ComponentChildren;
}

export function Button({ kind = "plain", type = "button", children, ...rest }: ButtonProps): VNode {
  return (
    <button {...rest} type={type} class={`${styles["button"]} ${styles[kind]}`}>
      {children}
    </button>
  );
}
