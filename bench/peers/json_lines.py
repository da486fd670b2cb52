"""A typical worker: JSON lines on stdin and stdout, one line per write."""

import contextlib
import json
import sys
import traceback

out = sys.stdout


class Stream:
    def __init__(self, kind):
        self.kind = kind

    def write(self, text):
        if text:
            out.write(json.dumps({"type": self.kind, "text": text}) + "\n")
            out.flush()
        return len(text)

    def flush(self):
        pass


namespace = {"__name__": "__main__"}
for line in sys.stdin:
    command = json.loads(line)
    status = {"type": "control", "id": command["id"], "text": "completed"}
    with contextlib.redirect_stdout(Stream("stdout")), contextlib.redirect_stderr(Stream("stderr")):
        try:
            exec(compile(command["code"], "<cell>", "exec"), namespace)
        except BaseException as error:
            status = {"type": "error", "id": command["id"], "name": type(error).__name__, "value": str(error),
                      "traceback": traceback.format_exc()}
    out.write(json.dumps(status) + "\n")
    out.flush()
