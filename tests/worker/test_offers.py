"""Large values of a call, which the host fetches while the call is open."""

import json
import unittest

from harness import WorkerCase

CALL = "import rlm_host\nrlm_host._call_with([lambda: [b'ab', b'c' * 300_000], lambda: 1 / 0, lambda: iter(lambda: b'x' * 1000, None)], 'take', n=1)"


class Offers(WorkerCase):
    def begin(self, code=CALL):
        """Runs code up to its call."""
        execution = self.worker.send(code)
        call = self.worker.event()
        self.assertEqual((call["type"], call["name"]), ("call", "take"))
        return execution, call["call"]

    def fetch(self, call, source, name):
        self.worker.send_aside(cmd="fetch", id=name, call=call, source=source)

    def fetched(self, name):
        """The bytes up to the status, and the status."""
        data = b""
        while True:
            message = self.next_line()
            if message["type"] != "chunk":
                self.assertEqual((message["type"], message["id"]), ("status", name))
                return data, message
            self.assertEqual((message["id"], message["at"]), (name, len(data)))
            data += self.worker.events.exactly(message["bytes"])

    def next_line(self):
        return json.loads(self.worker.events.line())

    def reply(self, execution, call, value=None):
        self.worker.send_aside(cmd="reply", id=execution, call=call, value=value)

    def test_sources_are_sent_as_often_as_the_host_asks(self):
        for code in (CALL, CALL.replace("rlm_host._call_with", "await rlm_host._acall_with")):
            execution, call = self.begin(code)
            for name in ("ask/1", "ask/2"):
                self.fetch(call, 0, name)
                data, status = self.fetched(name)
                self.assertEqual((len(data), data[:3], status["status"], status["data"]), (300_002, b"abc", "ok", {"size": 300_002}))
            self.reply(execution, call, 5)
            self.assertEqual(self.worker.status(execution)["value"]["text/plain"], "5")

    def test_an_error_of_a_source_is_told_to_the_host_and_the_call_goes_on(self):
        execution, call = self.begin()
        for source, name in ((1, "ZeroDivisionError"), (7, "IndexError")):
            self.fetch(call, source, f"ask/{source}")
            _, status = self.fetched(f"ask/{source}")
            self.assertEqual((status["status"], status["error"]["name"]), ("error", name))
        self.reply(execution, call, "fine")
        self.assertEqual(self.worker.status(execution)["value"]["text/plain"], "'fine'")

    def test_a_call_that_offers_nothing_is_not_answered_by_a_fetch(self):
        execution = self.worker.send("import rlm_host; rlm_host.call('plain')")
        call = self.worker.event()["call"]
        for number in (call, call + 1):
            self.fetch(number, 0, "ask/1")
            self.assertEqual(self.fetched("ask/1")[1]["error"]["value"], "the call does not offer it")
        self.worker.send_aside(cmd="fetch-end", id="ask/1", call=call)
        self.reply(execution, call, 1)
        self.assertEqual(self.worker.status(execution)["value"]["text/plain"], "1")

    def test_an_endless_source_ends_when_the_host_has_enough(self):
        execution, call = self.begin()
        self.fetch(call, 2, "ask/1")
        self.worker.events.until(b"chunk")
        self.worker.send_aside(cmd="fetch-end", id="ask/1", call=call)
        self.assertEqual(self.fetched("ask/1")[1]["error"]["name"], "Unwanted")
        self.reply(execution, call)
        self.assertEqual(self.worker.status(execution)["status"], "ok")

    def test_an_interrupt_ends_the_sending_and_the_call(self):
        for code in (CALL, CALL.replace("rlm_host._call_with", "await rlm_host._acall_with")):
            execution, call = self.begin(code)
            self.fetch(call, 2, "ask/1")
            self.worker.events.until(b"chunk")
            self.worker.interrupt()
            self.assertEqual(self.fetched("ask/1")[1]["status"], "error")
            self.assertEqual(self.worker.status(execution)["status"], "interrupted")
            self.fetch(call, 0, "ask/2")
            self.assertEqual(self.fetched("ask/2")[1]["error"]["value"], "the call does not offer it")
            self.assertEqual(self.worker.value("1"), "1")


if __name__ == "__main__":
    unittest.main()
