"""What the host asks about the blocks of code that a model has written, and what it keeps of earlier ones."""

import builtins
import json

from rlm_context import namespace_of_session
from rlm_session import SHOW_VARS
from rlm_texts import size_of

# What reaches variables without their names.
REFLECTION = {"globals", "locals", "vars", "dir", "eval", "exec", "SHOW_VARS"}


def require_use(sources: str, names: str) -> None:
    """Raises LookupError unless one of the blocks uses one of the variables, both JSON lists. Code that does not parse, such as
    that with ``!`` lines, counts as a use."""
    import ast

    wanted = set(json.loads(names))
    for source in json.loads(sources):
        try:
            tree = ast.parse(source)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return
        for node in ast.walk(tree):
            if isinstance(node, ast.Name) and (node.id in wanted or node.id in REFLECTION):
                return
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value in wanted:
                return
    raise LookupError


def print_size_of_last() -> None:
    """Prints the type and the size of the value of the last expression; nothing where it has no size."""
    value = getattr(builtins, "_", None)
    size = size_of(value)
    if size != "no length":
        print(f"{type(value).__name__}, {size}", end="")


def remember() -> None:
    """Moves blocks from ``_rlm_steps``, a list of [step, code, output], to ``_history``, by step."""
    namespace = namespace_of_session()
    history = namespace.get("_history")
    if not isinstance(history, dict):
        history = namespace["_history"] = {}
    for step, code, output in namespace.pop("_rlm_steps"):
        history[step] = {"code": code, "output": output}


def print_variables(limit: int) -> None:
    """Prints the variables of the session, a line for each, as far as they fit into so many characters."""
    for line in SHOW_VARS().splitlines():
        limit -= len(line) + 1
        if limit < 0:
            break
        print(line)
