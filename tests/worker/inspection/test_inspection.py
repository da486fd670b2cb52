"""Inspection requests while code runs, sent as the host does; text of values up to a limit."""

import json
import os
import sys
import threading
import time
import unittest

from harness import WorkerCase
from test_messages import fixtures, load_channel


class Questions(WorkerCase):
    def ask(self, cmd, **fields):
        self.worker.number += 1
        name = f"ask/{self.worker.number}"
        self.worker.send_aside(cmd=cmd, id=name, **fields)
        return self.worker.status(name)["data"]

    def inspect(self, name, timeoutMs=5000, maxCharacters=1000):
        return self.ask("inspect", name=name, timeoutMs=timeoutMs, maxCharacters=maxCharacters)

    def test_every_request_of_the_fixtures_is_answered(self):
        asked = [entry["parsed"] for entry in fixtures("aside.json") if entry["parsed"]["cmd"] not in ("flush", "reply", "fetch", "fetch-end")]
        self.assertGreaterEqual({entry["cmd"] for entry in asked}, {"statistics", "variables", "inspect", "complete", "signature", "source", "rows"})
        for message in asked:
            self.worker.send_aside(**message)
            status = self.worker.status(message["id"])
            self.assertEqual(status["status"], "ok", status)
            self.assertIsInstance(status["data"], dict)

    def test_a_fork_does_not_print_buffered_output(self):
        self.worker.run("class C:\n    def __repr__(self): print('from the fork'); return 'c'\nc = C()\nimport sys")
        execution = self.worker.send("sys.stdout.write('once')\nrlm = __import__('rlm_host').call('wait')")
        call = self.worker.event()
        self.assertEqual(call["type"], "call")
        self.assertEqual(self.inspect("c")["repr"]["text"], "c")
        self.worker.send_aside(cmd="reply", id=execution, call=call["call"], value=1)
        self.worker.status(execution)
        self.assertEqual((self.worker.out.drain(), self.worker.err.drain()), (b"once", b""))

    def test_a_fork_hook_of_user_code_that_hangs_times_out(self):
        self.worker.run("import os, time\nx = 1\nme = os.getpid()\nos.register_at_fork(after_in_child=lambda: time.sleep(600))")
        found = self.inspect("x", timeoutMs=200)
        self.assertEqual((found["type"], found["incomplete"]), ("int", "timeout"))
        self.assertEqual(self.worker.value("x"), "1")

    def test_a_fork_leaves_no_child(self):
        self.worker.run("x = 1\nimport os")
        self.inspect("x")
        self.assertEqual(
            self.worker.value("try: r = os.waitpid(-1, os.WNOHANG)\nexcept ChildProcessError: r = 'none'\nr"), "'none'"
        )

    def test_the_listener_keeps_reading_during_an_inspection(self):
        self.worker.run("import time\nclass Slow:\n    def __repr__(self): time.sleep(600)\nslow = Slow()")
        for number in range(4):
            self.worker.send_aside(cmd="inspect", id=f"slow{number}", name="slow", timeoutMs=1500, maxCharacters=10)
        execution = self.worker.send("__import__('rlm_host').call('now')")
        call = self.worker.event()
        self.worker.send_aside(cmd="reply", id=execution, call=call["call"], value=7)
        self.assertEqual(self.worker.status(execution)["value"], {"text/plain": "7"})
        endings = [self.worker.event() for _ in range(4)]
        self.assertEqual({event["data"]["incomplete"] for event in endings}, {"timeout"})

    def test_a_namespace_that_keeps_changing_is_listed(self):
        self.worker.send("import itertools\nfor i in itertools.count():\n    globals()[f'v{i % 500}'] = i\n    globals().pop(f'v{i * 7 % 500}', None)")
        for _ in range(50):
            self.assertGreaterEqual(self.ask("variables", all=False)["total"], 0)
        self.worker.interrupt()
        self.assertEqual(self.worker.event()["status"], "interrupted")


class Pauses(unittest.TestCase):
    """The threads stop while the main thread must be the only one, and continue afterwards."""

    @classmethod
    def setUpClass(cls):
        load_channel()
        from _rlm_worker.inspection import requests

        cls.requests = requests

    @classmethod
    def tearDownClass(cls):
        for name in [name for name in sys.modules if name.startswith("_rlm_worker")]:
            del sys.modules[name]

    def setUp(self):
        self.sent = []
        self.heard = threading.Semaphore(0)
        self.subject = self.requests.InspectionRequests(self, lambda: {"slow": Slow(), "x": 1})
        self.subject.stop_fd, self.stop = os.pipe()
        self.addCleanup(lambda: [os.close(fd) for fd in (self.subject.stop_fd, self.stop)])

    def send_frame(self, frame):
        self.sent.append(json.loads(frame))
        self.heard.release()

    def ask(self, name):
        self.subject.start({"cmd": "inspect", "id": name, "name": name, "timeoutMs": 10_000, "maxCharacters": 10})

    def pause(self):
        os.write(self.stop, b"x")
        self.subject.wait()
        os.read(self.subject.stop_fd, 1)

    def test_a_paused_request_is_answered_once(self):
        self.ask("slow")
        for _ in range(3):
            self.pause()
            self.assertEqual((self.subject.threads, self.sent), (set(), []))
            self.subject.resume()
        self.assertTrue(self.heard.acquire(timeout=20))
        self.ask("x")
        self.assertTrue(self.heard.acquire(timeout=20))
        self.assertEqual([(event["id"], event["data"]["incomplete"]) for event in self.sent], [("slow", None), ("x", None)])

    def test_a_copy_drops_the_requests_of_the_original(self):
        self.ask("slow")
        self.pause()
        self.subject.renew()
        self.subject.resume()
        self.ask("x")
        self.assertTrue(self.heard.acquire(timeout=20))
        self.assertEqual([event["id"] for event in self.sent], ["x"])


class Slow:
    def __repr__(self):
        time.sleep(0.3)
        return "slow"


class Texts(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        load_channel()
        from _rlm_worker.inspection import previews

        cls.previews = previews

    @classmethod
    def tearDownClass(cls):
        for name in [name for name in sys.modules if name.startswith("_rlm_worker")]:
            del sys.modules[name]

    def test_a_text_within_the_limit_is_the_repr(self):
        endless = [1]
        endless.append(endless)
        for value in (
            [], (), {}, set(), frozenset(), [1, "a", b"b", None, 2.5], (1,), (1, 2), {"a": [{}, ()]}, {3}, frozenset({4}),
            endless, "it's", b"\0", bytearray(b"x"), 1j, ..., [[[[["deep"]]]]], {"k": "v" * 500},
        ):
            self.assertEqual(self.previews.repr_of(value, 1000), {"text": repr(value), "total": len(repr(value))})

    def test_a_longer_text_is_truncated_at_the_limit(self):
        value = [{"key": "value" * 3, 2: (3, [4] * 10)}] * 3
        for limit in range(1, len(repr(value))):
            found = self.previews.repr_of(value, limit)
            self.assertEqual(found, {"text": repr(value)[:limit], "total": None})

    def test_an_object_in_a_container_uses_its_own_repr(self):
        class Odd:
            def __repr__(self):
                return "odd"

        self.assertEqual(self.previews.preview_of({"a": [Odd()]}), "{'a': [odd]}")

    def test_a_preview_shows_few_items_of_few_levels(self):
        self.assertEqual(self.previews.preview_of(list(range(100))), "[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, …]")
        self.assertEqual(self.previews.preview_of([[[[1]]]]), "[[[[…]]]]")
        self.assertEqual(self.previews.preview_of(["x" * 1000]), f"['{'x' * 80}'…]")
        self.assertLessEqual(len(self.previews.preview_of([["x" * 70] * 10] * 10)), 1000)

    def test_a_number_of_a_million_digits_has_no_short_preview(self):
        self.assertIsNone(self.previews.scalar_preview(1 << 4_000_000))
        self.assertEqual(self.previews.scalar_preview(1 << 64), str(1 << 64))


if __name__ == "__main__":
    unittest.main()
