"""Commands on the state of a session: variables set and read by the host, session files, the standard library."""

from typing import Any, Callable, Dict, Optional

from . import stdlib
from .io.bulk import Incoming, Outgoing, SourceFailed
from .io.channel import Reader, Writer
from .kernel import Kernel
from .saving import loading, saving
from .saving.versions import check_version
from .variables.get_variable import get_variable
from .variables.set_variable import set_variable

Step = Callable[[Dict[str, Any]], Optional[Dict[str, Any]]]


class State:
    """``guarded`` calls a function that may run user code. ``stdlib`` is what the standard library defined, by name."""

    def __init__(self, kernel: Kernel, reader: Reader, writer: Writer, guarded: Callable[..., Any]) -> None:
        self.stdlib: Dict[str, Any] = {}
        self._kernel = kernel
        self._reader = reader
        self._writer = writer
        self._guarded = guarded

    def commands(self) -> Dict[str, Step]:
        return {
            "set": self._set,
            "get": self._get,
            "save": self._save,
            "can-load": self._can_load,
            "load": self._load,
            "stdlib": self._stdlib,
            "stdlib-add": self._stdlib_add,
        }

    def _set(self, message: Dict[str, Any]) -> Dict[str, Any]:
        with _Bulk(self._reader, message) as incoming:
            return set_variable(self._kernel.module.__dict__, message, incoming)

    def _get(self, message: Dict[str, Any]) -> Dict[str, Any]:
        outgoing = Outgoing(self._writer, message["id"])
        try:
            return self._guarded(get_variable, self._kernel.module.__dict__, message, outgoing)
        finally:
            outgoing.close()

    def _save(self, message: Dict[str, Any]) -> Dict[str, Any]:
        outgoing = Outgoing(self._writer, message["id"])
        try:
            kernel = self._kernel
            return self._guarded(saving.save, kernel.module, self.stdlib, kernel.future_flags, outgoing)
        finally:
            outgoing.close()

    def _can_load(self, message: Dict[str, Any]) -> None:
        check_version(message["version"])

    def _load(self, message: Dict[str, Any]) -> Dict[str, Any]:
        with _Bulk(self._reader, message) as incoming:
            try:
                args = (self._kernel.module, self.stdlib, incoming, message["tolerant"], message["version"])
                report, flags = self._guarded(loading.load, *args)
            except loading.RetryNeeded as error:
                return {"again": str(error)}
        self._kernel.future_flags = flags
        return report

    def _stdlib(self, message: Dict[str, Any]) -> Dict[str, Any]:
        names, error = self._guarded(stdlib.run, self._kernel.module.__dict__, message["source"])
        if error is not None:
            return {"error": error}
        self.stdlib = names
        return self._guarded(stdlib.describe, names) if message.get("describe") else {}

    def _stdlib_add(self, message: Dict[str, Any]) -> Dict[str, Any]:
        return stdlib.add(message["source"], message["added"])


class _Bulk:
    """The bulk data behind a command, if there is any. It is always read to its end."""

    def __init__(self, reader: Reader, message: Dict[str, Any]) -> None:
        self._incoming = Incoming(reader) if message.get("bulk") else None

    def __enter__(self) -> Any:
        return self._incoming

    def __exit__(self, *_: Any) -> None:
        if self._incoming is not None:
            try:
                self._incoming.drain()
            except SourceFailed:
                pass  # already reported, or irrelevant because the command failed
