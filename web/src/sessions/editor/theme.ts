// How the editor looks: the tokens of the page.

import { HighlightStyle } from "@codemirror/language";
import { EditorView } from "@codemirror/view";
import { tags } from "@lezer/highlight";

/** As in parts/python-code.module.css. */
export const codeColours = HighlightStyle.define([
  { tag: [tags.keyword, tags.operatorKeyword, tags.modifier], color: "var(--model)" },
  { tag: [tags.string, tags.special(tags.string), tags.escape], color: "var(--code)" },
  { tag: [tags.number, tags.bool, tags.null, tags.self], color: "var(--wait)" },
  { tag: tags.comment, color: "var(--quiet)", fontStyle: "italic" },
  {
    tag: [tags.function(tags.definition(tags.variableName)), tags.definition(tags.className), tags.meta],
    color: "var(--accent)",
  },
]);

export const editorTheme = EditorView.theme({
  "&": { color: "var(--ink)", backgroundColor: "transparent" },
  "&.cm-focused": { outline: "none" },
  ".cm-scroller": { font: "var(--code-13)", maxHeight: "40vh", overflow: "auto" },
  ".cm-content": { padding: "0", caretColor: "var(--ink)" },
  ".cm-line": { padding: "0" },
  ".cm-placeholder": { color: "var(--quiet)" },
  "&.cm-focused .cm-matchingBracket": { backgroundColor: "var(--accent-wash)", outline: "1px solid var(--accent)" },
  "&.cm-focused .cm-nonmatchingBracket": { backgroundColor: "var(--error-wash)" },
  ".cm-specialChar": { color: "var(--error)" },
  ".cm-tooltip": {
    border: "1px solid var(--line)",
    borderRadius: "var(--radius)",
    backgroundColor: "var(--raised)",
    boxShadow: "var(--shadow)",
    color: "var(--ink)",
    overflow: "hidden",
  },
  ".cm-tooltip.cm-tooltip-autocomplete > ul": { font: "var(--code-13)", maxHeight: "14rem", minWidth: "14rem" },
  ".cm-tooltip.cm-tooltip-autocomplete > ul > li": {
    display: "flex",
    justifyContent: "space-between",
    gap: "var(--space-16)",
    padding: "2px var(--space-8)",
    lineHeight: "1.25rem",
  },
  ".cm-tooltip.cm-tooltip-autocomplete > ul > li[aria-selected]": {
    backgroundColor: "var(--accent)",
    color: "var(--on-accent)",
  },
  ".cm-completionMatchedText": { textDecoration: "none", fontWeight: "600" },
  ".cm-completionDetail": {
    margin: "0",
    color: "var(--quiet)",
    font: "var(--text-12)",
    fontStyle: "normal",
    lineHeight: "1.25rem",
  },
  "li[aria-selected] .cm-completionDetail": { color: "var(--on-accent)" },
  ".rlm-signature": { maxWidth: "36rem", padding: "var(--space-4) var(--space-8)" },
  ".rlm-signature-line": {
    position: "relative",
    maxHeight: "6rem",
    overflow: "auto",
    font: "var(--code-12)",
    overflowWrap: "anywhere",
  },
  ".rlm-signature-line b": { color: "var(--accent)", fontWeight: "600" },
  ".rlm-signature-text": {
    marginTop: "var(--space-4)",
    maxHeight: "3rem",
    overflow: "hidden",
    color: "var(--quiet)",
    font: "var(--text-12)",
    whiteSpace: "pre-line",
  },
});
