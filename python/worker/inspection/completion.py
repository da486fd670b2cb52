"""Completion and signature help from the live namespace. Must run in a fork, because looking at objects runs user code.

Of the code itself only names, attributes and constant subscripts are evaluated, never a call.
"""

import ast
import builtins
import keyword
import os
import sys
from types import ModuleType
from typing import Any, Dict, Iterable, Iterator, List, NamedTuple, Optional, Tuple

from .inspection import kind_of
from .scan import Scan, Token

MAX_MATCHES = 500
MAX_TEXT = 512
MAX_CANDIDATES = 100_000
MAX_DOCUMENTATION = 4_000
MAX_SIGNATURE = 2_000


class Match(NamedTuple):
    text: str
    type: str


class Unknown(Exception):
    """The expression before the cursor cannot be evaluated without running code."""


def complete(namespace: Dict[str, Any], code: str, cursor: int) -> Dict[str, Any]:
    """Replacements for ``code[start:end]``; ``end`` is the cursor. Offsets count characters."""
    start, candidates = _candidates(Scan(code[:cursor]), namespace, cursor)
    prefix = code[start:cursor]
    found: Dict[str, Match] = {}
    for match, _ in zip(candidates, range(MAX_CANDIDATES)):
        if match.text.startswith(prefix) and len(match.text) <= MAX_TEXT and _is_shown(match, prefix):
            found.setdefault(match.text, match)
    matches = sorted(found.values(), key=lambda match: (match.type != "parameter", match.text))
    shown = [match._asdict() for match in matches[:MAX_MATCHES]]
    return {"matches": shown, "total": len(matches), "start": start, "end": cursor}


def signature(namespace: Dict[str, Any], code: str, cursor: int) -> Dict[str, Any]:
    """The signature of the innermost open call at the cursor; ``signature`` is None if there is none."""
    scan = Scan(code[:cursor])
    call = _call(scan, namespace)
    if call is None:
        return {"signature": None}
    name, function, opening = call
    parameters, text = _signature(function)
    return {
        "signature": {
            "name": name[-MAX_TEXT:],
            "signature": text[:MAX_SIGNATURE],
            "documentation": _documentation(function)[:MAX_DOCUMENTATION],
            "parameter": _parameter_index(scan, opening, parameters),
        }
    }


def _candidates(scan: Scan, namespace: Dict[str, Any], cursor: int) -> Tuple[int, Iterable[Match]]:
    """Where the word to complete starts, and all candidates for it."""
    tokens = scan.tokens
    if scan.in_comment:
        return cursor, ()
    if scan.string is not None:
        return _in_string(scan, scan.string, namespace, cursor)
    word = tokens[-1] if tokens and tokens[-1].end == cursor and tokens[-1].kind == "name" else None
    at = len(tokens) - (word is not None)  # the index of the word among the tokens
    start = cursor if word is None else word.start
    imported = _imports(scan, at)
    if imported is not None:
        return start, imported
    if at and tokens[at - 1].text == ".":
        return start, _attributes(scan.chain_before(at - 1), namespace)
    if at and (tokens[at - 1].kind == "number" and tokens[at - 1].end == start or tokens[at - 1].text in ("def", "class")):
        return start, ()
    return start, _names(scan, namespace)


def _is_shown(match: Match, prefix: str) -> bool:
    """Private names are shown only if the prefix starts with an underscore."""
    if match.type in ("key", "path", "parameter", "keyword") or not match.text.startswith("_"):
        return True
    return prefix.startswith("__") or (prefix.startswith("_") and not match.text.startswith("__"))


def _names(scan: Scan, namespace: Dict[str, Any]) -> Iterator[Match]:
    call = _call(scan, namespace)
    if call is not None and scan.open[-1] == call[2]:
        yield from _parameters(scan, call[1], call[2])
    for names in (namespace, vars(builtins)):
        for name, value in names.items():
            if type(name) is str and name.isidentifier():
                yield Match(name, _type_of(value, "name"))
    for word in keyword.kwlist:
        yield Match(word, "keyword")


def _attributes(chain: Optional[str], namespace: Dict[str, Any]) -> Iterator[Match]:
    try:
        value = evaluate(chain, namespace)
    except Unknown:
        return
    for name in type(value).__dir__(value):  # dir() would sort the names, which fails if they are not all strings
        if type(name) is str and name.isidentifier():
            yield Match(name, _type_of(_raw_attribute(value, name), "attribute"))


def _type_of(value: Any, otherwise: str) -> str:
    kind = kind_of(type(value))
    if kind == "variable":
        return "function" if type(value).__name__ in CALLABLES else otherwise
    return kind


CALLABLES = frozenset(
    "method_descriptor wrapper_descriptor method-wrapper classmethod staticmethod builtin_function_or_method ufunc "
    "classmethod_descriptor _lru_cache_wrapper partial".split()
)


def _raw_attribute(value: Any, name: str) -> Any:
    """The attribute as stored: properties are not evaluated."""
    kind = type(value)
    own = [getattr(value, "__dict__", None)] if kind_of(kind) != "class" else [vars(base) for base in value.__mro__]
    for attributes in (*own, *(vars(base) for base in kind.__mro__)):
        try:
            if attributes is not None and name in attributes:
                return attributes[name]
        except TypeError:
            pass
    return None


def _in_string(scan: Scan, string: Token, namespace: Dict[str, Any], cursor: int) -> Tuple[int, Iterable[Match]]:
    """Keys if the string is a subscript, else file paths."""
    tokens, content = scan.tokens, string.text
    if tokens and tokens[-1].text == "[":
        chain = scan.chain_before(len(tokens) - 1)
        if chain is not None and not keyword.iskeyword(chain):
            return cursor - len(content), _keys(chain, string.kind[-1:], namespace)
    folder, slash, name = content.rpartition("/")
    if "\n" in content or len(content) > 4096:
        return cursor, ()
    return cursor - len(name), _paths(folder + slash, name)


def _keys(chain: str, quote: str, namespace: Dict[str, Any]) -> Iterator[Match]:
    try:
        value = evaluate(chain, namespace)
    except Unknown:
        return
    keys = getattr(value, "columns", None)
    if keys is None:
        keys = getattr(getattr(value, "dtype", None), "names", None)
    if keys is None and hasattr(type(value), "keys"):
        keys = value.keys()
    for key in keys if keys is not None else ():
        if isinstance(key, str):
            text = str.__str__(key).replace("\\", "\\\\").replace(quote, "\\" + quote)
            if text.isprintable():
                yield Match(text, "key")


def _paths(folder: str, name: str) -> Iterator[Match]:
    try:
        with os.scandir(os.path.expanduser(folder) or ".") as entries:
            for entry in entries:
                if name.startswith(".") or not entry.name.startswith("."):
                    yield Match(entry.name + ("/" if entry.is_dir() else ""), "path")
    except (OSError, ValueError):
        return


def _imports(scan: Scan, at: int) -> Optional[Iterable[Match]]:
    """What can be imported, if the word is in an import statement; else None."""
    first = scan.statement()
    words = [token.text for token in scan.tokens[first:at] if token.text not in "()"]
    if words[:1] == ["import"]:
        return () if words[-1] == "as" else _modules(words[_last(words, ("import", ",")) + 1 :])
    if words[:1] != ["from"]:
        return None
    if "import" not in words:
        return _modules(words[1:])
    middle = words.index("import")
    if words[-1] not in ("import", ","):
        return ()
    return _members("".join(words[1:middle]))


def _last(words: List[str], marks: Tuple[str, ...]) -> int:
    return max(index for index, word in enumerate(words) if word in marks)


def _modules(path: List[str]) -> Iterable[Match]:
    """Submodules of the path, which ends in a dot; without a path the top-level modules."""
    import pkgutil

    if not path:
        names = {*sys.builtin_module_names, *getattr(sys, "stdlib_module_names", ()), *sys.modules}
        names.update(module.name for module in pkgutil.iter_modules())
        return [Match(name, "module") for name in names if name.isidentifier()]
    if path[-1] != ".":
        return ()
    return _submodules(_import("".join(path[:-1])))


def _members(path: str) -> Iterable[Match]:
    module = _import(path)
    if module is None:
        return ()
    names = [Match(name, _type_of(value, "name")) for name, value in vars(module).items() if type(name) is str]
    return [*names, *_submodules(module), Match("*", "name")]


def _submodules(module: Optional[ModuleType]) -> List[Match]:
    import pkgutil

    path = getattr(module, "__path__", None)
    return [] if path is None else [Match(found.name, "module") for found in pkgutil.iter_modules(path)]


def _import(path: str) -> Optional[ModuleType]:
    import importlib

    try:
        return importlib.import_module(path)
    except Exception:
        return None


def _call(scan: Scan, namespace: Dict[str, Any]) -> Optional[Tuple[str, Any, int]]:
    """The innermost open call whose function can be evaluated: its source, its value, and the index of its bracket."""
    for opening in reversed(scan.open):
        if scan.tokens[opening].text != "(":
            continue
        chain = scan.chain_before(opening)
        if chain is None or keyword.iskeyword(chain):
            continue
        before = opening - len(Scan(chain).tokens) - 1
        if before >= 0 and scan.tokens[before].text in ("def", "class"):
            return None
        try:
            value = evaluate(chain, namespace)
        except Unknown:
            return None
        return (chain, value, opening) if callable(value) else None
    return None


def _signature(function: Any) -> Tuple[List[Any], str]:
    """The parameters and the text of the signature. Many C functions have it only in the first line of their docstring."""
    import inspect

    try:
        found = inspect.signature(function)
        return list(found.parameters.values()), str(found)
    except Exception:
        line = _documentation(function).partition("\n")[0]
        return [], line[line.index("(") :] if "(" in line else "(...)"


def _documentation(function: Any) -> str:
    import inspect

    try:
        text = inspect.getdoc(function)
    except Exception:
        return ""
    return str.__str__(text) if isinstance(text, str) else ""


def _parameters(scan: Scan, function: Any, opening: int) -> Iterator[Match]:
    """The keyword arguments that can still be passed, at the start of an argument."""
    if scan.tokens[-1].kind == "name":
        before = scan.tokens[-2] if len(scan.tokens) > 1 else None
    else:
        before = scan.tokens[-1]
    if before is None or before.text not in ("(", ","):
        return
    passed = {name for name, _ in _arguments(scan, opening)}
    for parameter in _signature(function)[0]:
        if parameter.kind in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY) and parameter.name not in passed:
            yield Match(f"{parameter.name}=", "parameter")


def _arguments(scan: Scan, opening: int) -> List[Tuple[Optional[str], int]]:
    """The arguments of an open call so far: the name of each, or None, and the index where it starts."""
    found: List[Tuple[Optional[str], int]] = []
    depth, start = 0, opening + 1
    tokens = scan.tokens
    for index in range(opening + 1, len(tokens) + 1):
        text = tokens[index].text if index < len(tokens) else None
        if text is None or (text == "," and depth == 0):
            named = index > start + 1 and tokens[start].kind == "name" and tokens[start + 1].text == "="
            found.append((tokens[start].text if named else None, start))
            start = index + 1
        elif tokens[index].kind == "op":
            depth += (text in "([{") - (text in ")]}")
    return found


def _parameter_index(scan: Scan, opening: int, parameters: List[Any]) -> Optional[int]:
    """The index of the parameter that the argument at the cursor belongs to."""
    inner = [index for index in scan.open if index > opening]
    arguments = _arguments(scan, opening) if not inner else _arguments_until(scan, opening, inner[0])
    name = arguments[-1][0]
    names = [parameter.name for parameter in parameters]
    if name is not None:
        if name in names:
            return names.index(name)
        wild = [index for index, parameter in enumerate(parameters) if parameter.kind == parameter.VAR_KEYWORD]
        return wild[0] if wild else None
    position = len(arguments) - 1
    for index, parameter in enumerate(parameters):
        if parameter.kind in (parameter.KEYWORD_ONLY, parameter.VAR_KEYWORD):
            return None
        if parameter.kind == parameter.VAR_POSITIONAL or index == position:
            return index
    return None


def _arguments_until(scan: Scan, opening: int, end: int) -> List[Tuple[Optional[str], int]]:
    """The same if the cursor is in a bracket inside an argument."""
    rest = Scan("")
    rest.tokens = scan.tokens[:end]
    return _arguments(rest, opening)


def evaluate(chain: Optional[str], namespace: Dict[str, Any]) -> Any:
    if chain is None:
        raise Unknown
    try:
        return _value(ast.parse(chain.strip(), mode="eval").body, namespace)
    except Unknown:
        raise
    except Exception as error:
        raise Unknown from error


def _value(node: Any, namespace: Dict[str, Any]) -> Any:
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, ast.Name):
        return namespace[node.id] if node.id in namespace else getattr(builtins, node.id)
    if isinstance(node, ast.Attribute):
        return getattr(_value(node.value, namespace), node.attr)
    if isinstance(node, ast.Subscript):
        return _value(node.value, namespace)[_value(node.slice, namespace)]
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) and isinstance(node.operand, ast.Constant):
        return -node.operand.value
    if isinstance(node, (ast.List, ast.Tuple)):
        return type([] if isinstance(node, ast.List) else ())(_value(item, namespace) for item in node.elts)
    raise Unknown
