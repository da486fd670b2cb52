"""Calls from user code to the host."""

import json
import os
import sys
import unittest

from harness import ROOT, WorkerCase

sys.path.insert(0, os.path.join(ROOT, "python"))
from worker.io import channel


class Calls(WorkerCase):
    def reply(self, call, value=None, **fields):
        self.worker.send_aside(cmd="reply", id=call["id"], call=call["call"], **(fields or {"value": value}))

    def test_a_call_waits_for_its_reply(self):
        execution = self.worker.send("import rlm_host\nrlm_host.call('add', a=1, name='n')['sum'] + 1")
        call = self.worker.event()
        self.assertEqual({**call, "call": 0}, {"type": "call", "id": execution, "call": 0, "name": "add", "args": {"a": 1, "name": "n"}})
        self.worker.send_aside(cmd="reply", id=execution, call=10_000, value=1)  # nobody's
        self.reply(call, {"sum": 41})
        self.assertEqual(self.worker.status(execution)["value"]["text/plain"], "42")

    def test_an_error_is_raised_in_the_session(self):
        execution = self.worker.send("import rlm_host\ntry: rlm_host.call('x')\nexcept rlm_host.HostCallError as e: r = (e.name, e.value, str(e))\nr")
        self.reply(self.worker.event(), error={"name": "ToolNotFoundError", "value": "no x"})
        self.assertEqual(self.worker.status(execution)["value"]["text/plain"], "('ToolNotFoundError', 'no x', 'ToolNotFoundError: no x')")
        execution = self.worker.send("import rlm_host; rlm_host.call('x')")
        self.reply(self.worker.event(), error={"name": "E", "value": "v"})
        error = self.worker.status(execution)["error"]
        self.assertEqual((error["name"], error["value"]), ("HostCallError", "E: v"))
        self.assertNotIn("worker", error["traceback"])
        self.assertIn("rlm_host.HostCallError: E: v", error["traceback"])

    def test_a_long_call_and_a_long_reply_are_sent_as_payloads(self):
        execution = self.worker.send("import rlm_host\nlen(rlm_host.call('echo', text='é' * 300_000))")
        call = self.worker.event()
        self.assertEqual(call["args"]["text"], "é" * 300_000)
        body = json.dumps({"value": call["args"]["text"]}).encode()
        self.worker.write(self.worker.aside, {"cmd": "reply", "id": execution, "call": call["call"], "bytes": len(body)}, body)
        self.assertEqual(self.worker.status(execution)["value"]["text/plain"], "300000")

    def test_many_calls_are_open_at_once(self):
        code = "import asyncio, rlm_host\nawait asyncio.gather(*(rlm_host.acall('n', i=i) for i in range(50)))"
        execution = self.worker.send(code)
        calls = [self.worker.event() for _ in range(50)]
        for call in reversed(calls):
            self.reply(call, call["args"]["i"])
        self.assertEqual(self.worker.status(execution)["value"]["text/plain"], str(list(range(50))))

    def test_threads_call_for_their_own_execution(self):
        code = ("import threading, rlm_host\nresults = []\ngate = threading.Event()\ndef ask():\n  gate.wait()\n  results.append(rlm_host.call('q'))\n"
                "t = threading.Thread(target=ask); t.start()")
        first = self.worker.send(code)
        self.assertTrue(self.worker.status(first)["survivors"])
        second = self.worker.send("gate.set(); t.join(); results")
        call = self.worker.event()
        self.assertEqual(call["id"], first)
        self.reply(call, "a")
        self.assertEqual(self.worker.status(second)["value"]["text/plain"], "['a']")

    def test_arguments_that_are_not_json_fail_at_once(self):
        self.worker.run("import rlm_host\ndeep = []\nfor _ in range(70): deep = [deep]")
        for args, name in (("a={1}", "TypeError"), ("a=float('nan')", "ValueError"), ("a=deep", "ValueError"), ("a='x' * (40 << 20)", "ValueError")):
            self.assertEqual(self.worker.run(f"rlm_host.call('x', {args})")["error"]["name"], name)
        self.assertEqual(self.worker.run("rlm_host.call(1)")["error"]["name"], "TypeError")

    def test_arguments_with_too_many_values_are_refused_before_they_are_sent(self):
        # One value is the event, with four commas, and one the arguments.
        self.worker.run(f"import rlm_host\nMOST = {channel.MAX_PARTS} - 6\nkept = 'kept'")
        for args in ("a=[0] * (MOST + 1)", "a=[[]] * (MOST // 2 + 1)", "a=[{'x,[{': (1, 2)}] * (MOST // 4 + 1)", "a=dict.fromkeys(range(MOST + 1))"):
            error = self.worker.run(f"rlm_host.call('x', {args})")["error"]
            self.assertEqual((args, error["name"]), (args, "ValueError"))
            self.assertRegex(error["value"], r"^x: the call is too long: it has more than 500,000 JSON values\. Pass long data as one text")
        for args in ("a=[0] * MOST", "a=[[]] * (MOST // 2)", "a='[,{' * 400_000"):
            execution = self.worker.send(f"rlm_host.call('x', {args})")
            self.reply(self.worker.event())
            self.assertEqual(self.worker.status(execution)["status"], "ok", args)
        self.assertEqual(self.worker.value("kept"), "'kept'")

    def test_a_waiting_call_is_interrupted(self):
        for code in ("import rlm_host; rlm_host.call('slow')", "import rlm_host; await rlm_host.acall('slow')"):
            execution = self.worker.send(code)
            call = self.worker.event()
            self.worker.interrupt()
            self.assertEqual(self.worker.status(execution)["status"], "interrupted")
            self.reply(call, 1)
            self.assertEqual(self.worker.value("1"), "1")

    def test_output_before_a_call_can_be_flushed(self):
        execution = self.worker.send("import rlm_host; print('asking', end=''); rlm_host.call('q')")
        call = self.worker.event()
        self.worker.send_aside(cmd="flush", id=execution)
        self.worker.out.until(b"asking")
        self.reply(call)
        self.assertNotIn("value", self.worker.status(execution))


if __name__ == "__main__":
    unittest.main()
