// The signature of the call at the cursor, above it, with the parameter that comes next.

import { StateEffect, StateField, type Extension } from "@codemirror/state";
import { EditorView, showTooltip, ViewPlugin, type Tooltip, type TooltipView, type ViewUpdate } from "@codemirror/view";
import type { Signature } from "rlm-runtime/client";
import { toSafeText } from "../../parts/safe-text.ts";
import { splitSignature } from "./split-signature.ts";

type Ask = (code: string, cursor: number) => Promise<Signature | null>;

const DELAY_MS = 200;
const MAX_DOCUMENTATION = 300;
const MAX_NAME = 200;
const MAX_SIGNATURE = 2_000;

const setSignature = StateEffect.define<Tooltip | null>();

const shown = StateField.define<Tooltip | null>({
  create: () => null,
  update(tooltip, { effects, changes }) {
    for (const effect of effects) if (effect.is(setSignature)) return effect.value;
    return tooltip === null || changes.empty ? tooltip : { ...tooltip, pos: changes.mapPos(tooltip.pos) };
  },
  provide: (field) => showTooltip.from(field),
});

export function signatureHelp(ask: Ask): Extension {
  const plugin = ViewPlugin.define((view) => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    let asked = 0;
    const show = (tooltip: Tooltip | null): void => {
      if (tooltip !== null || view.state.field(shown) !== null) view.dispatch({ effects: setSignature.of(tooltip) });
    };
    const look = async (): Promise<void> => {
      const { doc, selection } = view.state;
      const code = doc.toString();
      const cursor = selection.main.head;
      asked += 1;
      const mine = asked;
      const open = view.hasFocus && selection.main.empty ? openCallBefore(code, cursor) : undefined;
      const signature = open === undefined ? null : await ask(code, cursor).catch(() => null);
      if (mine !== asked || view.state.doc !== doc) return;
      const isKnown = signature !== null && open !== undefined;
      show(isKnown ? { pos: open, above: true, strictSide: false, create: () => toView(signature) } : null);
    };
    return {
      update({ docChanged, selectionSet, focusChanged }: ViewUpdate) {
        if (!docChanged && !selectionSet && !focusChanged) return;
        clearTimeout(timer);
        timer = setTimeout(() => void look(), DELAY_MS);
      },
      destroy: () => clearTimeout(timer),
    };
  });
  const onEscape = EditorView.domEventHandlers({
    keydown: ({ key }, view) => {
      if (key === "Escape" && view.state.field(shown) !== null) view.dispatch({ effects: setSignature.of(null) });
      return false;
    },
  });
  return [shown, plugin, onEscape];
}

const MAX_LOOKED_AT = 5_000;

/** Where the innermost open parenthesis is: most keys need no request. Brackets in strings are rare, and the session decides. */
function openCallBefore(code: string, cursor: number): number | undefined {
  let depth = 0;
  for (let index = cursor - 1; index >= Math.max(0, cursor - MAX_LOOKED_AT); index -= 1) {
    if (code[index] === ")") depth += 1;
    if (code[index] === "(") depth -= 1;
    if (depth < 0) return index;
  }
  return undefined;
}

/** A long signature scrolls, so that it does not hide what was run before. The parameter is in its middle. */
function toView(signature: Signature): TooltipView {
  const dom = toElement(signature);
  const line = dom.querySelector<HTMLElement>(".rlm-signature-line");
  const parameter = line?.querySelector("b");
  const mount = (): void => {
    if (line && parameter) line.scrollTop = parameter.offsetTop - line.clientHeight / 2;
  };
  return { dom, mount };
}

function toElement({ name, signature, documentation, parameter }: Signature): HTMLElement {
  const box = document.createElement("div");
  box.className = "rlm-signature";
  const line = box.appendChild(document.createElement("div"));
  line.className = "rlm-signature-line";
  line.append(toSafeText(name, { maxCharacters: MAX_NAME }));
  for (const { text, index } of splitSignature(toSafeText(signature, { maxCharacters: MAX_SIGNATURE }))) {
    if (index === null || index !== parameter) line.append(text);
    else line.appendChild(document.createElement("b")).append(text);
  }
  const about = documentation.trim().split(/\n\s*\n/, 1)[0] ?? "";
  if (about !== "") {
    const text = box.appendChild(document.createElement("div"));
    text.className = "rlm-signature-text";
    text.append(toSafeText(about, { hasLines: true, maxCharacters: MAX_DOCUMENTATION }));
  }
  return box;
}
