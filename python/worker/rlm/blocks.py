"""What the host asks about the blocks of code that a model has written."""

import builtins
import json

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
