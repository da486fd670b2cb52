"""The ``status`` event at the end of an execution; absent fields mean what docs/protocol.md says."""

from typing import Any, Dict

from .kernel import Outcome


def status_event(
    name: str, outcome: Outcome, pending: bool, survivors: bool, cpu_ms: float, peak: int
) -> Dict[str, Any]:
    event: Dict[str, Any] = {"type": "status", "id": name, "status": outcome.status}
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
