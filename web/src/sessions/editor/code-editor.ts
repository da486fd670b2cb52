// The editor of the console: CodeMirror with Python, the keys of a console, and help from the live namespace.
//
// It lives in a shadow root. There CodeMirror adopts its style sheets; in the page it would insert style elements, which the page's policy
// refuses. Colours are variables, which reach into the shadow, so that dark and light follow.

import {
  acceptCompletion,
  autocompletion,
  closeBrackets,
  closeBracketsKeymap,
  completionStatus,
  startCompletion,
  type CompletionContext,
  type CompletionResult,
} from "@codemirror/autocomplete";
import {
  defaultKeymap,
  history,
  historyKeymap,
  indentLess,
  indentMore,
  insertNewlineAndIndent,
} from "@codemirror/commands";
import { python } from "@codemirror/lang-python";
import { bracketMatching, indentOnInput, indentUnit, syntaxHighlighting } from "@codemirror/language";
import { EditorState, Prec } from "@codemirror/state";
import { EditorView, highlightSpecialChars, keymap, placeholder, type KeyBinding } from "@codemirror/view";
import type { Completions, Signature } from "rlm-runtime/client";
import { isComplete } from "./is-complete.ts";
import { codeColours, editorTheme } from "./theme.ts";
import { signatureHelp } from "./signature-help.ts";

export interface EditorPorts {
  run(code: string): void;
  /** False: nothing runs, so that the key means what it always means. */
  interrupt(): boolean;
  /** The code before or after the one that is shown. Undefined: there is none. */
  recall(direction: "older" | "newer", current: string): string | undefined;
  /** Undefined: not available now. */
  complete(code: string, cursor: number): Promise<Completions | undefined>;
  signature(code: string, cursor: number): Promise<Signature | null>;
}

export interface CodeEditor {
  readonly code: string;
  focus(): void;
  /** Replaces the code, and puts the cursor at its end. */
  set(code: string): void;
  run(): void;
  close(): void;
}

export function createCodeEditor(host: HTMLElement, ports: EditorPorts): CodeEditor {
  const root = host.shadowRoot ?? host.attachShadow({ mode: "open" });
  const view = new EditorView({
    root,
    parent: root,
    state: EditorState.create({
      extensions: [
        Prec.highest(keymap.of(consoleKeys(ports))),
        history(),
        highlightSpecialChars(),
        indentOnInput(),
        indentUnit.of("    "),
        bracketMatching(),
        closeBrackets(),
        python(),
        // Quotes are left alone: three of them in a row begin a string.
        Prec.highest(EditorState.languageData.of(() => [{ closeBrackets: { brackets: ["(", "[", "{"] } }])),
        autocompletion({
          override: [(context) => completionsAt(context, ports)],
          icons: false,
          maxRenderedOptions: 60,
        }),
        signatureHelp((code, cursor) => ports.signature(code, cursor)),
        syntaxHighlighting(codeColours),
        editorTheme,
        placeholder("Python"),
        EditorView.lineWrapping,
        EditorView.contentAttributes.of({
          "aria-label": "Code to run",
          autocapitalize: "off",
          autocorrect: "off",
          spellcheck: "false",
        }),
        keymap.of([...closeBracketsKeymap, ...defaultKeymap, ...historyKeymap]),
      ],
    }),
  });
  const set = (code: string): void => {
    view.dispatch({
      changes: { from: 0, to: view.state.doc.length, insert: code },
      selection: { anchor: code.length },
      scrollIntoView: true,
    });
  };
  return {
    get code() {
      return view.state.doc.toString();
    },
    focus: () => view.focus(),
    set,
    run: () => void runCode(view, ports),
    close: () => view.destroy(),
  };
}

function consoleKeys(ports: EditorPorts): KeyBinding[] {
  const run = (view: EditorView): boolean => runCode(view, ports);
  const recall = (view: EditorView, direction: "older" | "newer"): boolean => {
    if (completionStatus(view.state) === "active" || !isAtEdge(view.state, direction)) return false;
    const code = ports.recall(direction, view.state.doc.toString());
    if (code === undefined) return false;
    view.dispatch({
      changes: { from: 0, to: view.state.doc.length, insert: code },
      // The same key again goes on.
      selection: { anchor: direction === "older" ? firstLineEnd(code) : code.length },
      scrollIntoView: true,
    });
    return true;
  };
  return [
    {
      key: "Enter",
      run: (view) => {
        if (completionStatus(view.state) === "active") return acceptCompletion(view) || runIfComplete(view, ports);
        return runIfComplete(view, ports);
      },
      shift: run,
    },
    { key: "Mod-Enter", run },
    { key: "Alt-Enter", run: insertNewlineAndIndent },
    { key: "ArrowUp", run: (view) => recall(view, "older") },
    { key: "ArrowDown", run: (view) => recall(view, "newer") },
    { key: "Tab", run: completeOrIndent, shift: indentLess },
    { key: "Ctrl-c", run: ({ state }) => state.selection.main.empty && ports.interrupt() },
  ];
}

function runCode(view: EditorView, ports: EditorPorts): boolean {
  const code = view.state.doc.toString().replace(/\s+$/, "");
  if (code === "") return true;
  view.dispatch({ changes: { from: 0, to: view.state.doc.length } });
  ports.run(code);
  return true;
}

/** In the middle of the code, Enter adds a line. */
function runIfComplete(view: EditorView, ports: EditorPorts): boolean {
  const { state } = view;
  const { head, empty } = state.selection.main;
  const isAtEnd = empty && state.sliceDoc(head).trim() === "";
  if (!isAtEnd || !isComplete(state.doc.toString())) return insertNewlineAndIndent(view);
  return runCode(view, ports);
}

function completeOrIndent(view: EditorView): boolean {
  if (completionStatus(view.state) === "active") return acceptCompletion(view);
  const { head, empty } = view.state.selection.main;
  const before = view.state.doc.lineAt(head);
  const isAfterName = /[\p{L}\p{N}_.'"/[]$/u.test(before.text.slice(0, head - before.from));
  return empty && isAfterName ? startCompletion(view) : indentMore(view);
}

async function completionsAt(context: CompletionContext, ports: EditorPorts): Promise<CompletionResult | null> {
  if (!context.explicit && context.matchBefore(/[\p{L}_][\p{L}\p{N}_]*$|\.$/u) === null) return null;
  const found = await ports.complete(context.state.doc.toString(), context.pos).catch(() => undefined);
  if (found === undefined || context.aborted || found.matches.length === 0) return null;
  return {
    from: found.start,
    to: found.end,
    options: found.matches.map(({ text, type }) => ({ label: text, detail: type })),
    validFor: /^[\p{L}\p{N}_]*$/u,
  };
}

function isAtEdge({ doc, selection }: EditorState, direction: "older" | "newer"): boolean {
  if (!selection.main.empty) return false;
  const { number } = doc.lineAt(selection.main.head);
  return number === (direction === "older" ? 1 : doc.lines);
}

function firstLineEnd(code: string): number {
  const end = code.indexOf("\n");
  return end === -1 ? code.length : end;
}
