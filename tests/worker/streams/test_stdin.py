"""input(), getpass and sys.stdin ask the host."""

import base64
import unittest

from harness import WorkerCase


class Stdin(WorkerCase):
    def ask(self, code, *answers):
        """Runs code and replies to its input requests; returns its status and the requests."""
        execution = self.worker.send(code)
        asked = []
        for answer in answers:
            call = self.worker.event()
            self.assertEqual((call["type"], call["id"], call["name"]), ("call", execution, "rlm:input"))
            asked.append(call["args"])
            fields = {"error": answer} if isinstance(answer, dict) and "name" in answer else {"value": answer}
            self.worker.send_aside(cmd="reply", id=execution, call=call["call"], **fields)
        return self.worker.status(execution), asked

    def value(self, code, *answers):
        status, _ = self.ask(code, *answers)
        self.assertEqual(status["status"], "ok", status)
        return status["value"]["text/plain"]

    def test_input_prints_its_prompt_and_asks(self):
        status, asked = self.ask("input('name? ')", "Ada")
        self.assertEqual(status["value"]["text/plain"], "'Ada'")
        self.assertEqual(asked, [{"prompt": "name? ", "password": False}])
        self.assertEqual(self.worker.out.drain(), b"name? ")

    def test_the_prompt_is_printed_before_the_request(self):
        execution = self.worker.send("print('before'); input('? ')")
        call = self.worker.event()
        self.assertEqual(self.worker.out.drain(), b"before\n? ")
        self.worker.send_aside(cmd="reply", id=execution, call=call["call"], value="x")
        self.worker.status(execution)

    def test_lines_are_requested_one_at_a_time(self):
        self.assertEqual(self.value("import sys; [input(), sys.stdin.readline(), input()]", "a", "b", "c"), "['a', 'b\\n', 'c']")
        self.assertEqual(self.value("list(sys.stdin)", "a", "é", None), "['a\\n', 'é\\n']")
        self.assertEqual(self.value("sys.stdin.read()", "a", "b", None), "'a\\nb\\n'")
        self.assertEqual(self.value("input()", ""), "''")

    def test_bytes_are_passed_unchanged(self):
        chunk = {"base64": base64.b64encode(b"one\ntwo\nth").decode()}
        rest = {"base64": base64.b64encode(b"ree").decode()}
        self.assertEqual(self.value("[input('a'), input('b'), input('c')]", chunk, rest, None), "['one', 'two', 'three']")
        self.assertEqual(self.worker.out.drain(), b"abc")
        binary = bytes(range(256)) * 1000
        code = "import sys; b = sys.stdin.buffer.read(); b == bytes(range(256)) * 1000"
        parts = [{"base64": base64.b64encode(binary[i:i + 10_000]).decode()} for i in range(0, len(binary), 10_000)]
        self.assertEqual(self.value(code, *parts, None), "True")

    def test_the_end_of_input_is_an_eof_error(self):
        status, _ = self.ask("input()", None)
        self.assertEqual((status["error"]["name"], status["error"]["value"]), ("EOFError", "EOF when reading a line"))
        status, _ = self.ask("input()", {"name": "Error", "value": "nobody answers"})
        self.assertEqual((status["error"]["name"], status["error"]["value"]), ("EOFError", "nobody answers"))
        self.assertNotIn("worker", status["error"]["traceback"])
        self.assertNotIn("HostCallError", status["error"]["traceback"])
        self.assertEqual(self.value("import sys; sys.stdin.read()", {"name": "Error", "value": "nobody"}), "''")

    def test_a_password_request_is_marked(self):
        status, asked = self.ask("import getpass; getpass.getpass()", "secret")
        self.assertEqual((status["value"]["text/plain"], asked), ("'secret'", [{"prompt": "Password: ", "password": True}]))
        self.assertEqual((self.worker.out.drain(), self.worker.err.drain()), (b"", b""))
        status, asked = self.ask("import sys; getpass.getpass('pin ', sys.stdout)", "1")
        self.assertEqual((asked, self.worker.out.drain()), ([{"prompt": "", "password": True}], b"pin "))
        status, _ = self.ask("getpass.getpass('pin ')", None)
        self.assertEqual(status["error"]["name"], "EOFError")

    def test_an_interrupt_ends_the_wait(self):
        for code in ("input()", "import sys; sys.stdin.read()", "import getpass; getpass.getpass()"):
            execution = self.worker.send(code)
            call = self.worker.event()
            self.worker.interrupt()
            self.assertEqual(self.worker.status(execution)["status"], "interrupted")
            self.worker.send_aside(cmd="reply", id=execution, call=call["call"], value="too late")
            self.assertEqual(self.value("input()", "next"), "'next'")

    def test_children_read_nothing(self):
        code = "import subprocess, sys; [subprocess.run(['cat'], stdin=s, capture_output=True).stdout for s in (None, sys.stdin)]"
        self.assertEqual(self.value(code), "[b'', b'']")
        code = "import os\npid = os.fork()\nif not pid:\n  try: input()\n  except EOFError: os._exit(7)\nos.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])"
        self.assertEqual(self.value(code), "7")

    def test_a_replacement_of_stdin_is_read_by_input(self):
        self.assertEqual(self.value("import io, sys, getpass; sys.stdin = io.StringIO('x\\ny\\n'); [input(), getpass.getpass()]"), "['x', 'y']")
        self.assertEqual(self.value("input()", "asked again"), "'asked again'")


if __name__ == "__main__":
    unittest.main()
