"""Splits batches into messages that the channel takes. All of it is done before the first one is sent, since answers cost money."""

import json
from typing import Any, Callable, Dict, Iterable, List, Optional, Tuple

from rlm_child_contexts import Large, context_of
from rlm_texts import text_of
from _rlm_worker.io.channel import count_parts

MAX_BATCH = 10_000  # items in one message
MAX_MESSAGE = 30 << 20  # bytes of one message; the limit of the channel is slightly higher
MAX_PARTS = 400_000  # JSON values of one message, likewise

Task = Dict[str, Any]


def prompts_in_groups(prompts: Iterable[Any]) -> List[List[str]]:
    """Raises ValueError for a prompt that does not fit into any message."""
    texts = [text_of(prompt) for prompt in prompts]
    # An escaped character takes twelve bytes at most.
    if len(texts) <= MAX_BATCH and 12 * sum(map(len, texts)) + 4 * len(texts) <= MAX_MESSAGE:
        return [texts] if texts else []
    sizes = [len(json.dumps(text)) + 2 for text in texts]
    for index, size in enumerate(sizes):
        if size > MAX_MESSAGE:
            which = "the prompt" if len(texts) == 1 else f"prompt {index} of {len(texts)}"
            advice = "Split it with chunk(), or give it to rlm_query as the context"
            raise ValueError(f"{which} is too long to send: it has {len(texts[index]):,} characters. {advice}")
    return _groups(texts, sizes, [0] * len(texts))


def tasks_in_groups(
    pairs: List[Tuple[Any, Any]], options: Dict[str, Any]
) -> List[Tuple[List[Task], List[Callable[[], Any]]]]:
    """Tasks with their contexts, and the sources of those contexts that are offered beside the message."""
    prepared: Dict[int, Any] = {}
    tasks = []
    for task, context in pairs:
        if id(context) not in prepared:  # the same one for several tasks is sent once
            prepared[id(context)] = context_of(context)
        tasks.append({"task": text_of(task), "context": prepared[id(context)], **options})
    messages = [_without_large(task) for task in tasks]
    sizes = [len(json.dumps(message)) + 2 for message in messages]
    groups = _groups(tasks, sizes, [count_parts(message, MAX_PARTS) + 1 for message in messages])
    return [_with_sources(group) for group in groups]


def _with_sources(tasks: List[Task]) -> Tuple[List[Task], List[Callable[[], Any]]]:
    larges = {id(task["context"]): task["context"] for task in tasks if isinstance(task["context"], Large)}
    numbers = {key: number for number, key in enumerate(larges)}
    return [_without_large(task, numbers) for task in tasks], [large.pieces for large in larges.values()]


def _without_large(task: Task, numbers: Optional[Dict[int, int]] = None) -> Task:
    """The task as JSON, with a reference in the place of a context that is offered."""
    large = task["context"]
    if not isinstance(large, Large):
        return task
    reference = {"source": 0 if numbers is None else numbers[id(large)], "kind": large.kind, "files": large.files}
    return {**task, "context": None, "offered": reference}


def _groups(items: List[Any], sizes: List[int], parts: List[int]) -> List[List[Any]]:
    groups: List[List[Any]] = []
    left = left_parts = 0
    for item, size, count in zip(items, sizes, parts):
        if not groups or size > left or count > left_parts or len(groups[-1]) >= MAX_BATCH:
            groups.append([])
            left, left_parts = MAX_MESSAGE, MAX_PARTS
        groups[-1].append(item)
        left -= size
        left_parts -= count
    return groups
