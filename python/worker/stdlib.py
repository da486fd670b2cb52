"""The standard library of a session: source code that runs in its namespace before anything else."""

import ast
import linecache
from types import FunctionType, ModuleType
from typing import Any, Dict, List, Optional, Set, Tuple

from .report import error_of

FILENAME = "stdlib.py"
MAX_LINE = 300
_NOT_A_DEFINITION = "only functions, classes, imports and constants can be added, and there is something else"


def run(namespace: Dict[str, Any], source: str) -> Tuple[Dict[str, Any], Optional[Dict[str, str]]]:
    """Runs the source. Returns what it defined, by name, or the error; after an error the namespace is unchanged."""
    before = dict(namespace)
    try:
        linecache.cache[FILENAME] = (len(source), None, source.splitlines(True), FILENAME)
        exec(compile(source, FILENAME, "exec", 0, True), namespace)
        return {name: value for name, value in namespace.items() if name not in before}, None
    except BaseException as error:
        namespace.clear()
        namespace.update(before)
        return {}, error_of(error, {})


def describe(names: Dict[str, Any]) -> Dict[str, Any]:
    """The public names in three lists."""
    functions: List[Dict[str, str]] = []
    modules: List[str] = []
    other: List[str] = []
    for name, value in names.items():
        if name.startswith("_"):
            continue
        if isinstance(value, ModuleType):
            modules.append(name)
        elif isinstance(value, FunctionType):
            functions.append({"name": name, "signature": _signature(value), "doc": _first_line(value)})
        else:
            other.append(name)
    return {"functions": functions, "modules": modules, "other": other}


def add(source: str, added: str) -> Dict[str, Any]:
    """Appends ``added`` to the source and drops the functions and classes that it redefines. Runs nothing.

    What is added runs in every later session, so it only defines: other statements are refused. The file itself may have any.
    """
    tree = _parse(source, "the file")
    body = _parse(added, "what is to be added").body
    for statement in body:
        if not _only_defines(statement):
            text = (added.splitlines()[statement.lineno - 1].strip() or "?")[:MAX_LINE]
            raise ValueError(f"{_NOT_A_DEFINITION} in line {statement.lineno}: {text}")
    names = _defined(body)
    lines = source.splitlines(True)
    for start, end in reversed(_replaced(tree.body, lines, set(names))):
        del lines[start:end]
    kept = "".join(lines).rstrip()
    whole = f"{kept}\n\n\n{added.strip()}\n" if kept else f"{added.strip()}\n"
    compile(whole, FILENAME, "exec", 0, True)
    return {"source": whole, "names": names}


def _only_defines(statement: ast.stmt) -> bool:
    """A function, a class, an import, a constant, or a text. Decorators, defaults, annotations and class bodies are not looked at."""
    if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom)):
        return True
    if isinstance(statement, ast.Assign) and all(isinstance(target, ast.Name) for target in statement.targets):
        return _is_literal(statement.value)
    if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
        return statement.value is None or _is_literal(statement.value)
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def _is_literal(value: ast.expr) -> bool:
    try:
        ast.literal_eval(value)
        return True
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return False


def _parse(source: str, what: str) -> ast.Module:
    try:
        tree = ast.parse(source, FILENAME)
        compile(source, FILENAME, "exec", 0, True)  # also finds errors that the parser accepts, such as `return` outside a function
        return tree
    except SyntaxError as error:
        text = f": {error.text.strip()[:MAX_LINE]}" if error.text and error.text.strip() else ""
        raise SyntaxError(f"{what} has an error in line {error.lineno}: {error.msg}{text}") from None


def _defined(body: List[ast.stmt]) -> List[str]:
    """Names that the statements visibly assign."""
    names: Dict[str, None] = {}
    for statement in body:
        if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            names[statement.name] = None
        elif isinstance(statement, (ast.Import, ast.ImportFrom)):
            names.update({(alias.asname or alias.name).partition(".")[0]: None for alias in statement.names})
        else:
            for node in ast.walk(statement):
                if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                    names[node.id] = None
    return list(names)


def _replaced(body: List[ast.stmt], lines: List[str], names: Set[str]) -> List[Tuple[int, int]]:
    """The line ranges of functions and classes with these names, including decorators and comments directly above."""
    ranges: List[Tuple[int, int]] = []
    for index, statement in enumerate(body):
        if not isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            continue
        first = min([statement.lineno, *(each.lineno for each in statement.decorator_list)]) - 1
        last = statement.end_lineno or statement.lineno
        before = body[index - 1].end_lineno or 0 if index else 0
        after = body[index + 1].lineno if index + 1 < len(body) else len(lines) + 1
        if statement.name not in names or before > first or after <= last:
            continue
        while first > before and lines[first - 1].startswith("#"):
            first -= 1
        while last < len(lines) and not lines[last].strip():
            last += 1
        ranges.append((first, last))
    return ranges


def _signature(function: Any) -> str:
    import inspect

    try:
        return str(inspect.signature(function))[:MAX_LINE]
    except Exception:
        return "(...)"


def _first_line(function: Any) -> str:
    doc = function.__doc__
    return doc.strip().partition("\n")[0][:MAX_LINE] if isinstance(doc, str) else ""
