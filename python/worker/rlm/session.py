"""The functions that code of a run can use: model queries, sub-runs, tools, and the final answer.

``install`` puts them into the namespace before each block of code, because a model may have deleted or replaced them. Each
function calls the host, which counts, limits and records. The error of a single call is raised; in a batch a failed call is a
FailedCall among the answers.
"""

import json
from typing import Any, Dict, Iterable, List, Optional, Sequence, Union

import rlm_host
from rlm_answers import Answer, FailedCall, LimitError, LLMError, answer_of, raise_failed, results_of
from rlm_batches import prompts_in_groups, tasks_in_groups
from rlm_context import namespace_of_session
from rlm_texts import chunk, grep, peek, size_of, text_of
from rlm_totals import Budget
from _rlm_worker.inspection.previews import repr_of

MAX_PREVIEW = 400
MAX_OUT = 64 << 20  # characters of all kept outputs
Result = Union[Answer, FailedCall]


class Final(BaseException):
    """Raised after the final answer, so that the rest of the code does not run. ``except Exception`` does not catch it."""


def _queries(prompts: List[str], model: Optional[str], system: Optional[str], schema: Any, max_tokens: Optional[int]) -> Dict[str, Any]:
    """The arguments of one message; options that are None are omitted."""
    arguments = {"prompts": prompts, "model": model, "system": system, "schema": schema, "max_tokens": max_tokens}
    return {name: value for name, value in arguments.items() if value is not None}


def llm_query(prompt: Any, *, model: Optional[str] = None, system: Optional[str] = None, schema: Any = None,
              max_tokens: Optional[int] = None) -> Answer:
    """Sends one prompt to a model, which sees nothing else. With a JSON schema, ``.data`` is the validated answer. Raises LLMError."""
    [group] = prompts_in_groups([prompt])
    return answer_of(rlm_host.call("llm_query", **_queries(group, model, system, schema, max_tokens))[0])


def llm_query_batched(prompts: Iterable[Any], *, model: Optional[str] = None, system: Optional[str] = None, schema: Any = None,
                      max_tokens: Optional[int] = None) -> List[Result]:
    """Sends all prompts at once; the results are in the same order. A failed one is not a str: ``ok`` is false, ``error`` says why."""
    replies: List[Any] = []
    for group in prompts_in_groups(prompts):
        replies += rlm_host.call("llm_query", **_queries(group, model, system, schema, max_tokens))
    return results_of(replies)


async def llm_query_async(prompt: Any, *, model: Optional[str] = None, system: Optional[str] = None, schema: Any = None,
                          max_tokens: Optional[int] = None) -> Answer:
    """``llm_query`` as a coroutine."""
    [group] = prompts_in_groups([prompt])
    return answer_of((await rlm_host.acall("llm_query", **_queries(group, model, system, schema, max_tokens)))[0])


async def llm_query_batched_async(prompts: Iterable[Any], *, model: Optional[str] = None, system: Optional[str] = None,
                                  schema: Any = None, max_tokens: Optional[int] = None) -> List[Result]:
    """``llm_query_batched`` as a coroutine."""
    replies: List[Any] = []
    for group in prompts_in_groups(prompts):
        replies += await rlm_host.acall("llm_query", **_queries(group, model, system, schema, max_tokens))
    return results_of(replies)


def rlm_query(task: Any, context: Any = None, *, schema: Any = None, tools: Optional[Sequence[str]] = None,
              budget: Optional[Dict[str, Any]] = None) -> Answer:
    """Gives a task to another model with a session of its own, where the context is the variable ``context``. Raises LLMError."""
    [(tasks, sources)] = tasks_in_groups([(task, context)], _options(schema, tools, budget))
    return answer_of(_delegate(tasks, sources)[0])


def rlm_query_batched(tasks: Iterable[Any], contexts: Optional[Iterable[Any]] = None, *, schema: Any = None,
                      tools: Optional[Sequence[str]] = None, budget: Optional[Dict[str, Any]] = None) -> List[Result]:
    """Runs several tasks at once. Each task is a text or a pair (task, context); or pass a list of contexts."""
    replies: List[Any] = []
    for group, sources in tasks_in_groups(_pairs(tasks, contexts), _options(schema, tools, budget)):
        replies += _delegate(group, sources)
    return results_of(replies)


async def rlm_query_async(task: Any, context: Any = None, *, schema: Any = None, tools: Optional[Sequence[str]] = None,
                          budget: Optional[Dict[str, Any]] = None) -> Answer:
    """``rlm_query`` as a coroutine."""
    [(tasks, sources)] = tasks_in_groups([(task, context)], _options(schema, tools, budget))
    return answer_of((await _delegate_async(tasks, sources))[0])


async def rlm_query_batched_async(tasks: Iterable[Any], contexts: Optional[Iterable[Any]] = None, *, schema: Any = None,
                                  tools: Optional[Sequence[str]] = None, budget: Optional[Dict[str, Any]] = None) -> List[Result]:
    """``rlm_query_batched`` as a coroutine."""
    replies: List[Any] = []
    for group, sources in tasks_in_groups(_pairs(tasks, contexts), _options(schema, tools, budget)):
        replies += await _delegate_async(group, sources)
    return results_of(replies)


def _delegate(tasks: List[Any], sources: List[Any]) -> List[Any]:
    return rlm_host._call_with(sources, "rlm_query", tasks=tasks) if sources else rlm_host.call("rlm_query", tasks=tasks)


async def _delegate_async(tasks: List[Any], sources: List[Any]) -> List[Any]:
    return await (rlm_host._acall_with(sources, "rlm_query", tasks=tasks) if sources else rlm_host.acall("rlm_query", tasks=tasks))


def _options(schema: Any, tools: Optional[Sequence[str]], budget: Optional[Dict[str, Any]]) -> Dict[str, Any]:
    return {"schema": schema, "tools": None if tools is None else list(tools), "budget": budget}


def _pairs(tasks: Iterable[Any], contexts: Optional[Iterable[Any]]) -> List[Any]:
    pairs = [task if isinstance(task, tuple) and len(task) == 2 else (task, None) for task in tasks]
    if contexts is None:
        return pairs
    values = list(contexts)
    if len(values) != len(pairs):
        raise ValueError(f"there are {len(pairs)} tasks and {len(values)} contexts")
    return [(task, context) for (task, _), context in zip(pairs, values)]


def budget() -> Dict[str, Any]:
    """The remaining budget by resource: {"tokens": {"used", "limit", "left"}, ...}. ``left`` excludes a reserve for the final answer."""
    return rlm_host.call("budget")


def map_query(items: Iterable[Any], template: str, *, model: Optional[str] = None, schema: Any = None,
              max_tokens: Optional[int] = None) -> List[Result]:
    """Sends one prompt per item, all at once. ``{item}`` and ``{index}`` in the template are replaced."""
    def fill(index: int, item: Any) -> str:
        return template.replace("{index}", str(index)).replace("{item}", text_of(item)) if "{item}" in template else f"{template}\n\n{text_of(item)}"

    return llm_query_batched([fill(index, item) for index, item in enumerate(items)], model=model, schema=schema, max_tokens=max_tokens)


def reduce_query(items: Iterable[Any], instruction: str, *, pack: int = 60_000, model: Optional[str] = None) -> Answer:
    """Combines texts into one answer, in as many rounds as it takes: each call sees at most ``pack`` characters. Raises LLMError if
    a call fails."""
    texts = [text_of(item) for item in items]
    while True:
        groups: List[List[str]] = [[]]
        size = 0
        for text in texts:
            if groups[-1] and size + len(text) > pack:
                groups.append([])
                size = 0
            groups[-1].append(text)
            size += len(text)
        prompts = [instruction + "\n\n" + "\n\n---\n\n".join(group) for group in groups]
        if len(groups) == 1:
            return llm_query(prompts[0], model=model)
        if len(groups) >= len(texts) > 1 and all(len(group) == 1 for group in groups):
            pack *= 2  # every text fills a call by itself, so without this the loop would never end
        answers = llm_query_batched(prompts, model=model)
        raise_failed(answers)
        texts = list(answers)


def FINAL(value: Any) -> None:
    """Gives the final answer and stops the code."""
    _finish({"text": text_of(value), "data": _plain(value)})


def SUBMIT(**fields: Any) -> None:
    """Gives a final answer of named fields."""
    _finish({"text": text_of(fields), "data": _plain(fields)})


def _plain(value: Any) -> Any:
    """The value if JSON can express it, else its text."""
    if isinstance(value, (str, bytes, bytearray)):
        return text_of(value)
    try:
        return json.loads(json.dumps(value, allow_nan=False))
    except (TypeError, ValueError):
        return str(value)


def _finish(answer: Dict[str, Any]) -> None:
    rlm_host.call("final", **answer)
    raise Final()


def FINAL_VAR(name: Any) -> None:
    """Gives the value of a variable, by its name, as the final answer."""
    namespace = namespace_of_session()
    if not isinstance(name, str):
        FINAL(name)
    if name not in namespace:
        raise NameError(f"FINAL_VAR: there is no variable {name!r}. Give it a value first")
    FINAL(namespace[name])


def SHOW_VARS() -> str:
    """The variables of this session with their types, sizes and the start of their values."""
    namespace = namespace_of_session()
    names = sorted(name for name in list(namespace) if isinstance(name, str) and not name.startswith("_"))
    budget = Budget()
    values = ((name, namespace.get(name)) for name in names)
    lines = [_line_of(name, value, budget) for name, value in values if value is not PROVIDED.get(name, namespace)]
    return "\n".join(filter(None, lines)) or "(none)"


def _line_of(name: str, value: Any, budget: Budget) -> str:
    """Empty for a tool. Objects may fail whatever they are asked, and the others are shown all the same."""
    kind = type(value).__name__
    try:
        if getattr(value, "__rlm_tool__", False) is True:
            return ""
        shown = repr(value[:MAX_PREVIEW]) if isinstance(value, str) else repr_of(value, MAX_PREVIEW)["text"]
        return f"{name}: {kind} ({size_of(value, budget)}) = {shown}"
    except Exception as error:
        return f"{name}: {kind} (cannot be shown: {type(error).__name__})"


# Names that are always restored, whatever the code assigned to them.
RESERVED: Dict[str, Any] = {
    "llm_query": llm_query, "llm_query_batched": llm_query_batched, "llm_query_async": llm_query_async,
    "llm_query_batched_async": llm_query_batched_async, "rlm_query": rlm_query, "rlm_query_batched": rlm_query_batched,
    "rlm_query_async": rlm_query_async, "rlm_query_batched_async": rlm_query_batched_async, "SHOW_VARS": SHOW_VARS,
    "FINAL": FINAL, "FINAL_VAR": FINAL_VAR, "SUBMIT": SUBMIT, "LLMError": LLMError, "LimitError": LimitError, "FailedCall": FailedCall,
}
# Also names that a model may use for its own variables, so they are set only if absent.
PROVIDED: Dict[str, Any] = {
    **RESERVED, "budget": budget, "chunk": chunk, "grep": grep, "peek": peek, "map_query": map_query, "reduce_query": reduce_query,
}
# Helpers, which a strategy may leave out.
OPTIONAL = {
    "llm_query_batched", "rlm_query", "rlm_query_batched", "map_query", "reduce_query", "chunk", "grep", "peek", "budget", "SHOW_VARS",
}


def install(listings: str, helpers: str) -> None:
    """Adds everything that is missing in the namespace. ``listings`` are the tools, ``helpers`` the names of functions that a
    strategy has chosen, both as JSON. A helper brings its async twin."""
    namespace = namespace_of_session()
    chosen = set(json.loads(helpers))
    for name, value in PROVIDED.items():
        if name.replace("_async", "") in OPTIONAL - chosen:
            continue
        if name in RESERVED:
            namespace[name] = value
        else:
            namespace.setdefault(name, value)
    for tool in json.loads(listings):
        if tool["name"] not in namespace:
            namespace[tool["name"]] = _tool(tool)
    if not isinstance(namespace.get("_out"), dict):
        namespace["_out"] = {}


def keep(step: int) -> None:
    """Moves the output of a step from ``_rlm_out`` to ``_out``, and drops the oldest outputs above MAX_OUT."""
    namespace = namespace_of_session()
    out = namespace["_out"]
    out[step] = namespace.pop("_rlm_out")
    while len(out) > 1 and sum(len(text) for text in out.values() if isinstance(text, str)) > MAX_OUT:
        del out[next(iter(out))]


class ToolError(Exception):
    """A tool failed; the message says why."""


class ToolNotFoundError(ToolError):
    """There is no tool of this name here."""


ERRORS = {"limit": LimitError, "ToolNotFoundError": ToolNotFoundError}


def _tool(tool: Dict[str, Any]) -> Any:
    """A function that calls a tool. Positional arguments map to its parameters in order."""
    name, names = tool["name"], list(tool["parameters"])

    def call(*values: Any, **fields: Any) -> Any:
        if len(values) > len(names):
            raise TypeError(f"{name}() takes {len(names)} arguments, and {len(values)} were given")
        args = {**dict(zip(names, values)), **fields}
        reply = rlm_host.call("tool", tool=name, args=args)
        if not reply.get("ok"):
            raise ERRORS.get(reply.get("kind") or "", ToolError)(reply.get("error") or "it failed")
        return reply.get("value")

    call.__name__ = call.__qualname__ = name
    call.__doc__ = tool["doc"]
    stub: Dict[str, Any] = {"Any": Any}
    try:
        exec(f"def {tool['signature']}: ...", stub)
        call.__wrapped__ = stub[name]  # type: ignore[attr-defined]  # where help() and completion find the parameters
    except SyntaxError:
        pass  # a parameter has a name that Python does not allow: it is passed by position or with **
    call.__rlm_tool__ = True  # type: ignore[attr-defined]
    return call


def check(source: str) -> None:
    """Raises if the code, passed as JSON text, does not compile. Runs nothing."""
    import ast

    compile(json.loads(source), "<reply>", "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, True)
