"""Reads ``FINAL(...)`` that a model wrote in plain text, in place of a block of code.

What is between the brackets may be a value, an expression over variables, or prose. Python's own parser and the variables of
the session tell which.
"""

import ast
import builtins
import json
import re
from types import ModuleType
from typing import Any, Optional, Set

import rlm_host
from rlm_context import namespace_of_session
from rlm_session import Final, _plain
from rlm_texts import text_of

MAX_NAMES = 5


class Prose(Exception):
    """It is a text, to be taken as it is."""


class Expression(Exception):
    """It has to be evaluated. The message is ``several`` where commas separate it into several values, else ``single``."""


class UnknownNames(Exception):
    """It looks like an expression, but has names that do not exist. The message is for the model."""


def read(source: str) -> None:
    """Takes the text as JSON. Gives a value as the final answer, as ``FINAL`` does; raises what else it is."""
    source = json.loads(source)
    data = _json_of(source)
    if data is not None:
        _give(source, data)
    call = _call_of(source)
    if call is None:
        if re.match(r"""(?i)[fbr]{1,2}['"]""", source):
            raise UnknownNames("FINAL(...) was not read: this is not valid Python")
        raise Prose()
    if len(call.args) == 1 and not call.keywords:
        _give_literal(source, call.args[0])
    names = _names_of(call)
    if not names and not any(isinstance(node, (ast.Call, ast.JoinedStr)) for value in call.args for node in ast.walk(value)):
        raise Prose()  # such as 2024-10-12 or 1,234
    _check_names(call, names)
    raise Expression("single" if len(call.args) == 1 or call.keywords else "several")


def _json_of(source: str) -> Optional[Any]:
    """Objects and lists only: the rest is Python as well."""
    try:
        return json.loads(source) if source[:1] in ("{", "[") else None
    except (ValueError, RecursionError):
        return None


def _call_of(source: str) -> Optional[ast.Call]:
    """The call of FINAL with what is between its brackets, if Python could read it."""
    try:
        call = ast.parse(f"FINAL({source}\n)", mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    is_whole = isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and (call.args or call.keywords)
    return call if is_whole else None


def _give_literal(source: str, node: ast.expr) -> None:
    try:
        value = ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
        return
    # A number stays as it was written: 3.10, 1_000.
    is_text = isinstance(value, (str, bytes, list, tuple, dict, set))
    _give(text_of(value) if is_text else source, _plain(value))


def _give(text: str, data: Any) -> None:
    rlm_host.call("final", text=text, data=data)
    raise Final()


def _names_of(call: ast.Call) -> Set[str]:
    """The names that have to exist."""
    nodes = [node for value in (*call.args, *call.keywords) for node in ast.walk(value)]
    loaded = {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}
    bound = {node.id for node in nodes if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)}
    return loaded - bound - {node.arg for node in nodes if isinstance(node, ast.arg)}


def _check_names(call: ast.Call, names: Set[str]) -> None:
    namespace = namespace_of_session()
    alone = {node.id for node in call.args if isinstance(node, ast.Name)}

    def is_known(name: str) -> bool:
        if name not in alone:
            return name in namespace or hasattr(builtins, name)
        # A word that happens to name a function is no answer by itself: FINAL(budget), FINAL(max).
        value = namespace.get(name, max)
        return not callable(value) and not isinstance(value, ModuleType)

    unknown = [name for name in sorted(names) if not is_known(name)]
    if not unknown:
        return
    shown = ", ".join(repr(name) for name in unknown[:MAX_NAMES])
    what = f"there is no variable {shown}" if len(unknown) == 1 else f"there are no variables {shown}"
    raise UnknownNames(
        f"FINAL(...) was not read: {what}. If it is a text, write it in quotes: FINAL(\"...\"). "
        "If it is a value, give it a name in a block of code first"
    )
