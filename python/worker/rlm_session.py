"""What code of a run finds in its session: models to ask, further runs, tools, and ways to give the answer.

``install`` puts the functions into the namespace. Each asks the host, which counts, limits and records; errors of a single
call are raised, those of a batch come as results whose ``ok`` is false.
"""

import json
from typing import Any, Dict, Iterable, List, Optional, Sequence

import rlm_host

MAX_PREVIEW = 400


class LLMError(Exception):
    """A model could not be asked, or answered badly. ``kind`` says what it was, ``retryable`` whether trying again can help."""

    def __init__(self, message: str, kind: str = "error", retryable: bool = False) -> None:
        super().__init__(message)
        self.kind = kind
        self.retryable = retryable


class LimitError(LLMError):
    """A limit of the run does not allow this call. See ``budget()``."""


class Final(BaseException):
    """The answer was given: the rest of the code does not run. No ``except Exception`` catches it."""


class Answer(str):
    """What a model said: a str, with ``ok``, ``error``, ``usage``, ``cached``, ``truncated``, ``degraded`` and ``data`` (where a schema was given)."""

    ok = True
    error: Optional[str] = None
    usage: Dict[str, Any] = {}
    cached = False
    truncated = False
    degraded = False
    data: Any = None

    @staticmethod
    def of(reply: Dict[str, Any]) -> "Answer":
        answer = Answer(reply.get("text") or "")
        answer.ok = bool(reply.get("ok"))
        answer.error = reply.get("error")
        answer.usage = reply.get("usage") or {}
        answer.cached = bool(reply.get("cached"))
        answer.truncated = bool(reply.get("truncated"))
        answer.degraded = bool(reply.get("degraded"))
        answer.data = reply.get("data")
        return answer


def _single(reply: Dict[str, Any]) -> Answer:
    if not reply.get("ok"):
        kind = LimitError if reply.get("kind") == "limit" else LLMError
        raise kind(reply.get("error") or "the call failed", reply.get("kind") or "error", bool(reply.get("retryable")))
    return Answer.of(reply)


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False, default=str) if isinstance(value, (dict, list, tuple)) else str(value)


def _query(prompt: Any, model: Optional[str], system: Optional[str], schema: Any, max_tokens: Optional[int]) -> Dict[str, Any]:
    return {"prompt": _text(prompt), "model": model, "system": system, "schema": schema, "max_tokens": max_tokens}


def llm_query(prompt: Any, *, model: Optional[str] = None, system: Optional[str] = None, schema: Any = None,
              max_tokens: Optional[int] = None) -> Answer:
    """Asks a model once. It sees the prompt and nothing else. With a JSON schema, ``.data`` has the checked answer."""
    return _single(rlm_host.call("llm_query", queries=[_query(prompt, model, system, schema, max_tokens)])[0])


def llm_query_batched(prompts: Iterable[Any], *, model: Optional[str] = None, system: Optional[str] = None, schema: Any = None,
                      max_tokens: Optional[int] = None) -> List[Answer]:
    """Asks for all of them at once; the answers are in the same order. One that failed has ``ok`` false and ``error``."""
    queries = [_query(prompt, model, system, schema, max_tokens) for prompt in prompts]
    return [Answer.of(reply) for reply in rlm_host.call("llm_query", queries=queries)] if queries else []


async def llm_query_async(prompt: Any, *, model: Optional[str] = None, system: Optional[str] = None, schema: Any = None,
                          max_tokens: Optional[int] = None) -> Answer:
    """``llm_query`` to await."""
    return _single((await rlm_host.acall("llm_query", queries=[_query(prompt, model, system, schema, max_tokens)]))[0])


async def llm_query_batched_async(prompts: Iterable[Any], *, model: Optional[str] = None, system: Optional[str] = None,
                                  schema: Any = None, max_tokens: Optional[int] = None) -> List[Answer]:
    """``llm_query_batched`` to await."""
    queries = [_query(prompt, model, system, schema, max_tokens) for prompt in prompts]
    return [Answer.of(reply) for reply in await rlm_host.acall("llm_query", queries=queries)] if queries else []


def _task(task: Any, context: Any, schema: Any, tools: Optional[Sequence[str]], budget: Optional[Dict[str, Any]]) -> Dict[str, Any]:
    if context is None or isinstance(context, str):
        given = context
    else:
        try:
            given = json.loads(json.dumps(context))
        except (TypeError, ValueError):
            given = str(context)
    return {"task": _text(task), "context": given, "schema": schema, "tools": None if tools is None else list(tools), "budget": budget}


def rlm_query(task: Any, context: Any = None, *, schema: Any = None, tools: Optional[Sequence[str]] = None,
              budget: Optional[Dict[str, Any]] = None) -> Answer:
    """Gives a task to another model with a session of its own, where the context is the variable ``context``."""
    return _single(rlm_host.call("rlm_query", tasks=[_task(task, context, schema, tools, budget)])[0])


def rlm_query_batched(tasks: Iterable[Any], contexts: Optional[Iterable[Any]] = None, *, schema: Any = None,
                      tools: Optional[Sequence[str]] = None, budget: Optional[Dict[str, Any]] = None) -> List[Answer]:
    """Several at once. Each task is a text or a pair (task, context); or give as many contexts."""
    return [Answer.of(reply) for reply in rlm_host.call("rlm_query", tasks=_tasks(tasks, contexts, schema, tools, budget))]


async def rlm_query_async(task: Any, context: Any = None, *, schema: Any = None, tools: Optional[Sequence[str]] = None,
                          budget: Optional[Dict[str, Any]] = None) -> Answer:
    """``rlm_query`` to await."""
    return _single((await rlm_host.acall("rlm_query", tasks=[_task(task, context, schema, tools, budget)]))[0])


async def rlm_query_batched_async(tasks: Iterable[Any], contexts: Optional[Iterable[Any]] = None, *, schema: Any = None,
                                  tools: Optional[Sequence[str]] = None, budget: Optional[Dict[str, Any]] = None) -> List[Answer]:
    """``rlm_query_batched`` to await."""
    return [Answer.of(reply) for reply in await rlm_host.acall("rlm_query", tasks=_tasks(tasks, contexts, schema, tools, budget))]


def _tasks(tasks: Iterable[Any], contexts: Optional[Iterable[Any]], schema: Any, tools: Any, budget: Any) -> List[Dict[str, Any]]:
    pairs = [task if isinstance(task, tuple) and len(task) == 2 else (task, None) for task in tasks]
    if contexts is not None:
        given = list(contexts)
        if len(given) != len(pairs):
            raise ValueError(f"there are {len(pairs)} tasks and {len(given)} contexts")
        pairs = [(task, context) for (task, _), context in zip(pairs, given)]
    return [_task(task, context, schema, tools, budget) for task, context in pairs]


def budget() -> Dict[str, Any]:
    """What this run may still spend: {axis: {"used", "limit", "left"}}; no limit where ``limit`` is None."""
    return rlm_host.call("budget")


def chunk(text: str, size: int = 50_000, overlap: int = 0) -> List[str]:
    """A text in pieces of at most this many characters, cut at line ends where there are any."""
    if size <= 0 or overlap < 0 or overlap >= size:
        raise ValueError("size must be positive, and overlap less than it")
    pieces: List[str] = []
    start = 0
    while start < len(text):
        end = min(len(text), start + size)
        if end < len(text):
            line = text.rfind("\n", start + size // 2, end)
            if line != -1:
                end = line + 1
        pieces.append(text[start:end])
        if end == len(text):
            break
        start = max(start + 1, end - overlap)
    return pieces


def grep(pattern: str, text: Any, *, context: int = 0, limit: int = 100, flags: int = 0) -> List[str]:
    """Lines of a text (or of each text in a list) that match, with their numbers; at most ``limit``."""
    import re

    expression = re.compile(pattern, flags)
    found: List[str] = []
    for name, one in enumerate(text) if isinstance(text, (list, tuple)) else [(None, text)]:
        lines = str(one).splitlines()
        for number, line in enumerate(lines):
            if len(found) >= limit:
                return found
            if expression.search(line):
                part = lines[max(0, number - context): number + context + 1]
                where = f"{number + 1}" if name is None else f"{name}:{number + 1}"
                found.append(f"{where}: " + "\n".join(part))
    return found


def peek(value: Any, size: int = 1000) -> str:
    """The beginning and the end of something, with its type and length."""
    text = value if isinstance(value, str) else repr(value)
    kind = f"{type(value).__name__}, {len(text):,} characters"
    if len(text) <= 2 * size:
        return f"[{kind}]\n{text}"
    return f"[{kind}]\n{text[:size]}\n… {len(text) - 2 * size:,} characters omitted …\n{text[-size:]}"


def map_query(items: Iterable[Any], template: str, *, model: Optional[str] = None, schema: Any = None,
              max_tokens: Optional[int] = None) -> List[Answer]:
    """Asks the same about each item, all at once. ``{item}`` and ``{index}`` in the template stand for them."""
    def fill(index: int, item: Any) -> str:
        return template.replace("{index}", str(index)).replace("{item}", _text(item)) if "{item}" in template else f"{template}\n\n{_text(item)}"

    return llm_query_batched([fill(index, item) for index, item in enumerate(items)], model=model, schema=schema, max_tokens=max_tokens)


def reduce_query(items: Iterable[Any], instruction: str, *, pack: int = 60_000, model: Optional[str] = None) -> Answer:
    """Combines texts into one answer, in as many rounds as it takes: each call sees at most ``pack`` characters."""
    texts = [_text(item) for item in items]
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
            pack *= 2  # each is as long as a call may be: it would go on for ever
        answers = llm_query_batched(prompts, model=model)
        failed = next((answer for answer in answers if not answer.ok), None)
        if failed is not None:
            raise LLMError(failed.error or "a call failed")
        texts = list(answers)


def FINAL(value: Any) -> None:
    """Gives the answer and ends the run's work here."""
    _finish({"text": _text(value), "data": _plain(value)})


def SUBMIT(**fields: Any) -> None:
    """Gives an answer of named fields."""
    _finish({"text": _text(fields), "data": _plain(fields)})


def _plain(value: Any) -> Any:
    try:
        return json.loads(json.dumps(value, allow_nan=False))
    except (TypeError, ValueError):
        return str(value)


def _finish(answer: Dict[str, Any]) -> None:
    rlm_host.call("final", **answer)
    raise Final()


def install(namespace: Dict[str, Any], listings: str) -> None:
    """Puts everything into the namespace. ``listings`` are the tools, as JSON."""
    tools = json.loads(listings)

    def FINAL_VAR(name: Any) -> None:
        """Gives the value of a variable as the answer, by its name."""
        if not isinstance(name, str):
            FINAL(name)
        if name not in namespace:
            raise NameError(f"FINAL_VAR: there is no variable {name!r}. Give it a value first")
        FINAL(namespace[name])

    def SHOW_VARS() -> str:
        """The variables of this session with their types and beginnings."""
        lines = []
        for name, value in sorted(namespace.items()):
            if name.startswith("_") or name in given:
                continue
            text = value if isinstance(value, str) else repr(value)
            lines.append(f"{name}: {type(value).__name__} ({len(text):,} characters) = {text[:MAX_PREVIEW]!r}")
        return "\n".join(lines) or "(none)"

    given: Dict[str, Any] = {
        "llm_query": llm_query, "llm_query_batched": llm_query_batched, "llm_query_async": llm_query_async,
        "llm_query_batched_async": llm_query_batched_async, "rlm_query": rlm_query, "rlm_query_batched": rlm_query_batched,
        "rlm_query_async": rlm_query_async, "rlm_query_batched_async": rlm_query_batched_async, "budget": budget,
        "SHOW_VARS": SHOW_VARS, "chunk": chunk, "grep": grep, "peek": peek, "map_query": map_query, "reduce_query": reduce_query,
        "FINAL": FINAL, "FINAL_VAR": FINAL_VAR, "SUBMIT": SUBMIT, "LLMError": LLMError, "LimitError": LimitError,
    }
    given.update({tool["name"]: _tool(tool) for tool in tools})
    namespace.update(given)
    namespace["_out"] = {}


class ToolError(Exception):
    """A tool failed; the message says why."""


def _tool(tool: Dict[str, Any]) -> Any:
    """A function for a tool: positional arguments go to its parameters in order."""
    name, names = tool["name"], list(tool["parameters"])

    def call(*values: Any, **fields: Any) -> Any:
        if len(values) > len(names):
            raise TypeError(f"{name}() takes {len(names)} arguments, and {len(values)} were given")
        args = {**dict(zip(names, values)), **fields}
        reply = rlm_host.call("tool", tool=name, args=args)
        if not reply.get("ok"):
            kind = LimitError if reply.get("kind") == "limit" else ToolError
            raise kind(reply.get("error") or "it failed")
        return reply.get("value")

    call.__name__ = call.__qualname__ = name
    call.__doc__ = tool["doc"]
    stub: Dict[str, Any] = {"Any": Any}
    try:
        exec(f"def {tool['signature']}: ...", stub)
        call.__wrapped__ = stub[name]  # type: ignore[attr-defined]  # where help() and completion look for parameters
    except SyntaxError:
        pass  # a parameter is named as Python cannot name one: given by position, or with ** and a dict
    return call


def parses(source: str) -> bool:
    """Whether a piece of code, given as JSON text, could be compiled. Runs nothing."""
    import ast

    try:
        compile(json.loads(source), "<reply>", "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, True)
        return True
    except (SyntaxError, ValueError):
        return False


def describe(namespace: Dict[str, Any], names: str, size: int) -> str:
    """What a model is told of variables before it looks at them: base64 of JSON, which no printing changes."""
    import base64

    facts = [_describe(name, namespace[name], size) for name in json.loads(names) if name in namespace]
    return base64.b64encode(json.dumps(facts).encode()).decode()


def _describe(name: str, value: Any, size: int) -> Dict[str, Any]:
    facts: Dict[str, Any] = {"name": name, "type": type(value).__name__}
    if hasattr(value, "__len__"):
        facts["length"] = len(value)
    if isinstance(value, str):
        facts["head"] = value[:size]
        facts["isWhole"] = len(value) <= size
        if len(value) > size:
            facts["tail"] = value[-size:]
        return facts
    if isinstance(value, dict):
        facts["columns"] = [str(key)[:100] for key in list(value)[:50]]
    sample = value
    if isinstance(value, dict) and len(value) > 5:
        sample = dict(list(value.items())[:5])
    elif isinstance(value, (list, tuple, bytes)) and len(value) > 20:
        sample = value[:20]
    shown = repr(sample)
    facts["head"] = shown[:size]
    facts["isWhole"] = sample is value and len(shown) <= size
    return facts


def unpack(target: Dict[str, str], data: bytes, sizes: Sequence[Sequence[Any]]) -> None:
    """Texts that came in one piece, by name."""
    start = 0
    for name, size in sizes:
        target[name] = data[start:start + size].decode("utf-8", "replace")
        start += size
