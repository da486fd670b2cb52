"""Drives ipykernel through jupyter_client and measures it from inside Python; orders and answers are lines of JSON.

A result counts as had when the reply on the shell channel is there: later messages are read outside of the time.
"""

import json
import sys
import time

from jupyter_client.manager import KernelManager

TIMEOUT = 50


class Kernel:
    def __init__(self):
        started = time.perf_counter()
        self.manager = KernelManager(kernel_name="python3")
        self.manager.start_kernel()
        self.client = self.manager.blocking_client()
        self.client.start_channels()
        self.client.wait_for_ready(timeout=TIMEOUT)
        self.execute("x=1")
        self.start_ms = (time.perf_counter() - started) * 1000

    def execute(self, code):
        """Microseconds from the request to its reply."""
        started = time.perf_counter()
        request = self.client.execute(code)
        while True:
            reply = self.client.get_shell_msg(timeout=TIMEOUT)
            if reply["parent_header"].get("msg_id") == request:
                break
        took = (time.perf_counter() - started) * 1e6
        while True:
            message = self.client.get_iopub_msg(timeout=TIMEOUT)
            if message["parent_header"].get("msg_id") == request and message["content"].get("execution_state") == "idle":
                return took

    def close(self):
        self.client.stop_channels()
        self.manager.shutdown_kernel(now=True)


def obey(order, kernels):
    op = order["op"]
    if op == "start":
        kernels.append(Kernel())
        return {"startMs": kernels[0].start_ms}
    if op == "start-another":
        kernel = Kernel()
        kernel.close()
        return {"startMs": kernel.start_ms}
    if op == "round-trips":
        return {"us": [kernels[0].execute("x=1") for _ in range(order["count"])]}
    return {"pid": kernels[0].manager.provisioner.pid}


def main():
    kernels = []
    try:
        for line in sys.stdin:
            print(json.dumps(obey(json.loads(line), kernels)), flush=True)
    finally:
        for kernel in kernels:
            kernel.close()


main()
