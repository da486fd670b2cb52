"""The end of an execution, and the ``status`` event that reports it."""

from typing import Any, Dict, Optional


class Outcome:
    """Fields as in the ``status`` event of docs/protocol.md."""

    __slots__ = ("status", "value", "total", "rich", "error", "incomplete", "exit_code")

    def __init__(self, status: str, **fields: Any) -> None:
        self.status = status
        self.value: Optional[str] = fields.get("value")
        self.total: int = fields.get("total", 0)
        self.rich: Optional[Dict[str, str]] = fields.get("rich")
        self.error: Optional[Dict[str, str]] = fields.get("error")
        self.incomplete: bool = fields.get("incomplete", False)
        self.exit_code: int = fields.get("exit_code", 0)


DONE = Outcome("ok")


def status_event(
    execution: str, outcome: Outcome, pending: bool, survivors: bool, cpu_ms: float, peak: int
) -> Dict[str, Any]:
    event: Dict[str, Any] = {"type": "status", "id": execution, "status": outcome.status}
    if outcome.value is not None:
        event["value"] = {"text/plain": outcome.value, **(outcome.rich or {})}
        if outcome.total > len(outcome.value):
            event["valueTotal"] = outcome.total
    if outcome.error is not None:
        event["error"] = outcome.error
    if outcome.incomplete:
        event["incomplete"] = True
    if outcome.status == "exit":
        event["exitCode"] = outcome.exit_code
    if pending:
        event["pending"] = True
    if survivors:
        event["survivors"] = True
    event["cpuMs"] = round(cpu_ms, 3)
    event["peakBytes"] = peak
    return event
