"""The processes of the machine as `ps` lists them, which works on macOS and on Linux."""
from __future__ import annotations

import subprocess
from typing import NamedTuple

_PS = ("/bin/ps", "-A", "-o", "pid=,ppid=,pgid=,rss=")
_TIMEOUT_S = 5.0


class Row(NamedTuple):
    parent: int
    group: int
    resident_bytes: int


Table = dict[int, Row]


def read() -> Table:
    """Empty where `ps` fails: then a process group is all that is known."""
    try:
        listed = subprocess.run(_PS, stdin=subprocess.DEVNULL, capture_output=True, timeout=_TIMEOUT_S, check=True).stdout
    except (OSError, subprocess.SubprocessError):
        return {}
    return parse(listed)


def parse(listed: bytes) -> Table:
    table: Table = {}
    for line in listed.splitlines():
        fields = line.split()
        if len(fields) == 4 and all(field.isdigit() for field in fields):
            pid, parent, group, kilobytes = map(int, fields)
            table[pid] = Row(parent, group, kilobytes * 1024)
    return table


def below(table: Table, tops: set[int]) -> set[int]:
    """These processes and their descendants."""
    children: dict[int, list[int]] = {}
    for pid, row in table.items():
        children.setdefault(row.parent, []).append(pid)
    found: set[int] = set()
    pending = [pid for pid in tops if pid in table]
    while pending:
        pid = pending.pop()
        if pid not in found:
            found.add(pid)
            pending += children.get(pid, [])
    return found


def groups_below(table: Table, tops: set[int]) -> set[int]:
    """The process groups of the descendants. Each of the processes leads a group, so no group of others is among them."""
    return {table[pid].group for pid in below(table, tops)}


def bytes_below(table: Table, top: int) -> int:
    """Of its descendants and of the processes in its group. Shared pages count for each."""
    members = below(table, {top}) | {pid for pid, row in table.items() if row.group == top}
    return sum(table[pid].resident_bytes for pid in members)
