"""A tokenizer for Python source up to a cursor. Unlike ``tokenize`` it accepts code that ends anywhere."""

import re
from typing import List, NamedTuple, Optional

TOKEN = re.compile(
    r"(?P<space>[ \t\f\r]+|\\\n)"
    r"|(?P<newline>\n)"
    r"|(?P<comment>\#[^\n]*)"
    r"|(?P<string>(?:[rR][bBfF]?|[bBfFuU][rR]?)?(?:'''|\"\"\"|'|\"))"
    r"|(?P<number>\d[\w.]*|\.\d[\w.]*)"
    r"|(?P<name>[^\W\d]\w*)"
    r"|(?P<op>.)",
    re.DOTALL,
)
CLOSING = {")": "(", "]": "[", "}": "{"}


class Token(NamedTuple):
    kind: str
    text: str
    start: int
    end: int


class Scan:
    """``tokens`` omits spaces and comments. ``open`` are the indexes of unclosed brackets, innermost last. ``string`` is the
    literal in which the text ends; ``in_comment``: it ends in a comment."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.tokens: List[Token] = []
        self.open: List[int] = []
        self.string: Optional[Token] = None
        self.in_comment = False
        at = 0
        while at < len(source) and self.string is None:
            at = self._take(at)

    def _take(self, at: int) -> int:
        match = TOKEN.match(self.source, at)
        assert match is not None  # the last alternative takes any character
        kind, text, end = str(match.lastgroup), match.group(), match.end()
        if kind == "string":
            return self._take_string(text, at, end)
        if kind == "comment":
            self.in_comment = end == len(self.source)
        elif kind == "newline":
            if not self.open:
                self.tokens.append(Token(kind, text, at, end))
        elif kind != "space":
            if text in "([{":
                self.open.append(len(self.tokens))
            elif text in CLOSING and self.open and self.tokens[self.open[-1]].text == CLOSING[text]:
                self.open.pop()
            self.tokens.append(Token(kind, text, at, end))
        return end

    def _take_string(self, opening: str, start: int, at: int) -> int:
        quote = opening.lstrip("rRbBfFuU")
        source, size = self.source, len(self.source)
        while at < size:
            if source[at] == "\\":
                at += 2
            elif source.startswith(quote, at):
                self.tokens.append(Token("string", source[start : at + len(quote)], start, at + len(quote)))
                return at + len(quote)
            elif source[at] == "\n" and len(quote) == 1:
                return at  # not closed: this line has an error, but the next lines may not
            else:
                at += 1
        self.string = Token(opening, source[start + len(opening) :], start, size)
        return size

    def statement(self) -> int:
        """The index of the first token of the last statement."""
        first = self.open[0] if self.open else len(self.tokens)
        for index in range(first - 1, -1, -1):
            token = self.tokens[index]
            if token.kind == "newline" or token.text in (";", ":"):
                return index + 1
        return 0

    def chain_before(self, end: int) -> Optional[str]:
        """The source of the names, attributes and subscripts directly before a token; None for anything else."""
        start = self._chain_start(end)
        return None if start is None else self.source[self.tokens[start].start : self.tokens[end - 1].end]

    def _chain_start(self, end: int) -> Optional[int]:
        index = end - 1
        while index >= 0:
            token = self.tokens[index]
            if token.text == "]":
                opening = self._opening(index)
                if opening is None or opening == 0 or not self._ends_value(opening - 1):
                    return opening  # a list
                index = opening - 1
            elif token.kind == "string":
                return index
            elif token.kind == "name":
                if index == 0 or self.tokens[index - 1].text != ".":
                    return index
                index -= 2
            else:
                return None
        return None

    def _ends_value(self, index: int) -> bool:
        token = self.tokens[index]
        return token.kind in ("name", "string") or token.text in ("]", ")")

    def _opening(self, closing: int) -> Optional[int]:
        depth = 0
        for index in range(closing, -1, -1):
            text = self.tokens[index].text
            if self.tokens[index].kind != "op":
                continue
            if text in ")]}":
                depth += 1
            elif text in "([{":
                depth -= 1
                if depth == 0:
                    return index
        return None
