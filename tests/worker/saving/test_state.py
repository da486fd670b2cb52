"""Variables set by the host; saving and loading the state of a session."""

import fcntl
import importlib.util
import json
import os
import random
import signal
import sys
import textwrap
import unittest

from harness import TIMEOUT, WorkerCase
from saving.state_kinds import HELPERS, KINDS, UNSAVABLE

VERSION = {
    "python": "%d.%d.%d" % sys.version_info[:3],
    "implementation": sys.implementation.name,
    "bytecode": importlib.util.MAGIC_NUMBER.hex(),
}


class StateCase(WorkerCase):
    def ask(self, worker, cmd, **fields):
        worker.number += 1
        worker.write(worker.commands, {"id": f"c{worker.number}", "cmd": cmd, **fields})
        return f"c{worker.number}"

    def answer(self, worker, name):
        """The status of a command, and the bytes that were sent before it."""
        body = bytearray()
        while True:
            message = json.loads(worker.events.line())
            if message["type"] != "chunk":
                break
            self.assertEqual(message["id"], name)
            if message["at"] == 0:
                body.clear()
            self.assertEqual(message["at"], len(body))
            body += worker.events.exactly(message["bytes"])
        if "bytes" in message:
            message = json.loads(worker.events.exactly(message["bytes"]))
        self.assertEqual((message["type"], message["id"]), ("status", name))
        return message, bytes(body)

    def save(self, worker):
        status, body = self.answer(worker, self.ask(worker, "save"))
        self.assertEqual(status["status"], "ok", status)
        return status["data"], body

    def send_bulk(self, worker, data, piece=1 << 20, end={"end": True}):
        for at in range(0, len(data), piece):
            part = data[at : at + piece]
            worker.write(worker.commands, {"bytes": len(part)}, part)
        worker.write(worker.commands, end)

    def load(self, worker, body, tolerant=False, version=VERSION, **options):
        name = self.ask(worker, "load", bulk=True, tolerant=tolerant, version=version)
        self.send_bulk(worker, body, **options)
        return worker.status(name)

    def loaded(self, worker, body, **options):
        status = self.load(worker, body, **options)
        self.assertEqual(status["status"], "ok", status)
        return status["data"]

    def define(self, code):
        status = self.worker.run(code)
        self.assertEqual(status["status"], "ok", status)


class Saving(StateCase):
    def test_every_kind_is_restored_after_one_and_two_saves(self):
        for code, _ in KINDS.values():
            self.define(textwrap.dedent(code))
        report, body = self.save(self.worker)
        self.assertEqual(report["skipped"], [])
        for round_ in ("once", "twice"):
            worker = self.fresh()
            self.assertEqual(self.loaded(worker, body)["skipped"], [])
            report, body = self.save(worker)
            self.assertEqual(report["skipped"], [], round_)
            worker.run("def raises(f, e):\n    try: f()\n    except e: return True")
            for name, (_, check) in KINDS.items():
                with self.subTest(name, round=round_):
                    self.assertEqual(worker.run(f"bool({check})").get("value"), {"text/plain": "True"})

    def test_the_stream_can_be_split_anywhere(self):
        self.define("import array\na = [bytes([n]) * n for n in range(200)]; b = array.array('d', range(30_000)); c = 'é' * 100_000")
        _, body = self.save(self.worker)
        for piece in (1009, 65_536, 1 << 20):
            worker = self.fresh()
            self.loaded(worker, body, piece=piece)
            self.assertEqual(worker.value("len(a), b[-1], len(c)"), "(200, 29999.0, 100000)")

    def test_random_data_is_restored(self):
        chance = random.Random(7)

        def value(depth):
            leaves = [None, True, False, 0, -1, 2**70, 1.5, float("inf"), "", "é😀", "x" * chance.randrange(300), b"\0\xff", 1j, (), ...]
            if depth == 0 or chance.random() < 0.3:
                return chance.choice(leaves)
            items = [value(depth - 1) for _ in range(chance.randrange(6))]
            kind = chance.choice([list, tuple, dict, "shared"])
            if kind is dict:
                return {chance.choice(["k", 1, None, ("t", 2)]) if n == 0 else n: item for n, item in enumerate(items)}
            return [items, items] if kind == "shared" else kind(items)

        values = {f"v{n}": value(5) for n in range(40)}
        self.define("\n".join(f"{name} = {data!r}".replace("inf", "float('inf')").replace("Ellipsis", "...") for name, data in values.items()))
        _, body = self.save(self.worker)
        worker = self.fresh()
        self.loaded(worker, body)
        for name, data in values.items():
            expected = self.worker.run(f"import hashlib; hashlib.sha256(repr({name}).encode()).hexdigest()")["value"]
            self.assertEqual(worker.run(f"import hashlib; hashlib.sha256(repr({name}).encode()).hexdigest()")["value"], expected, repr(data)[:300])

    def test_variables_that_cannot_be_saved_are_listed_and_nothing_else_is_lost(self):
        self.define(HELPERS)
        names = {}
        for index, (word, code) in enumerate(UNSAVABLE.items()):
            self.define(f"bad{index} = {code}; good{index} = [{index}]; holder{index} = (good{index}, bad{index})")
            names[f"bad{index}"] = names[f"holder{index}"] = word
        report, body = self.save(self.worker)
        self.assertEqual(sorted(entry["name"] for entry in report["skipped"]), sorted(names))
        for entry in report["skipped"]:
            self.assertIn(names[entry["name"]], entry["why"])
        worker = self.fresh()
        self.loaded(worker, body)
        for index in range(len(UNSAVABLE)):
            self.assertEqual(worker.value(f"good{index}, 'bad{index}' in globals()"), f"([{index}], False)")

    def test_an_object_that_keeps_changing_does_not_cause_a_loop(self):
        self.define("class Fickle:\n    n = 0\n    def __reduce__(self):\n        Fickle.n += 1\n        if Fickle.n % 2: raise ValueError('odd')\n        return str, ('x',)\nf1, f2, f3 = Fickle(), Fickle(), Fickle()")
        status, _ = self.answer(self.worker, self.ask(self.worker, "save"))
        self.assertIn(status["status"], ("ok", "error"))
        self.assertEqual(self.worker.value("1 + 1"), "2")

    def test_an_interrupted_save_or_load_keeps_the_channel_in_sync(self):
        self.define("import os\nclass Slow:\n    def __reduce__(self):\n        os.write(1, b'here')\n        while True: pass\nslow = Slow(); data = bytes(5_000_000)")
        name = self.ask(self.worker, "save")
        self.worker.out.until(b"here")
        self.worker.interrupt()
        status, _ = self.answer(self.worker, name)
        self.assertEqual(status["status"], "error")
        self.assertIn("KeyboardInterrupt", status["error"]["value"])
        self.define("del slow\nclass Slow:\n    def __setstate__(self, s):\n        import os\n        os.write(1, b'there')\n        while True: pass\nslow = Slow(); slow.x = 1")
        _, body = self.save(self.worker)
        worker = self.fresh()
        worker.run("before = 1")
        name = self.ask(worker, "load", bulk=True, tolerant=False, version=VERSION)
        worker.write(worker.commands, {"bytes": len(body)}, body)
        worker.out.until(b"there")
        worker.interrupt()
        worker.write(worker.commands, {"bytes": 3}, b"xyz")
        worker.write(worker.commands, {"end": True})
        self.assertEqual(worker.status(name)["status"], "error")
        self.assertEqual(worker.value("before, 'slow' in globals(), 'data' in globals()"), "(1, False, False)")

    def test_only_the_parent_answers_after_a_fork_while_saving(self):
        self.define("import os\nclass Forks:\n    def __reduce__(self):\n        if os.fork() == 0: return str, ('child',)\n        os.wait()\n        return str, ('parent',)\nx = Forks()")
        _, body = self.save(self.worker)
        worker = self.fresh()
        self.loaded(worker, body)
        self.assertEqual(worker.value("x"), "'parent'")


class Loading(StateCase):
    def test_a_failed_source_or_a_damaged_stream_changes_nothing(self):
        self.define("a = 1; b = [2] * 1000")
        _, body = self.save(self.worker)
        worker = self.fresh()
        worker.run("a = 'before'")
        name = self.ask(worker, "load", bulk=True, tolerant=False, version=VERSION)
        self.send_bulk(worker, body, end={"failed": "the disk is broken"})
        status = worker.status(name)
        self.assertEqual((status["status"], status["error"]["value"]), ("error", "the disk is broken"))
        for length in range(0, len(body), max(1, len(body) // 97)):
            status = self.load(worker, body[:length])
            self.assertTrue(status["status"] == "error" or "again" in status["data"], (length, status))
        self.assertEqual(worker.value("a, 'b' in globals()"), "('before', False)")
        self.assertEqual(self.loaded(worker, body)["names"], ["a", "b"])

    def test_random_damage_never_kills_the_worker_or_loads_in_part(self):
        self.define("a = {'k': [1, 2.5, 'text']}\ndef f(x): return x\nclass C: y = 1\nc = C()")
        _, body = self.save(self.worker)
        worker = self.fresh()
        worker.run("mark = 'before'")
        chance = random.Random(11)
        for _ in range(150):
            damaged = bytearray(body)
            # Bytecode is not damaged: no interpreter survives that, and the digest of a session file detects it.
            at = chance.choice([n for n in range(len(body)) if not b"\xe3" in body[max(0, n - 400) : n + 400]] or [0])
            damaged[at] ^= 1 << chance.randrange(8)
            self.load(worker, bytes(damaged), tolerant=chance.random() < 0.5)
            self.assertEqual(worker.value("mark"), "'before'")

    def test_another_implementation_is_refused_by_name_and_another_version_is_not(self):
        report, _ = self.save(self.worker)
        version = {key: report[key] for key in VERSION}
        self.assertEqual(version, VERSION)
        for change in ({}, {"python": "3.4.1", "bytecode": "00"}, {"bytecode": "00"}):
            self.assertEqual(self.worker.command("can-load", version={**version, **change})["status"], "ok")
        here = "%d.%d" % sys.version_info[:2]
        status = self.worker.command("can-load", version={**version, "implementation": "pypy"})
        self.assertEqual(status["error"]["value"], f"it was saved by pypy {here}, and this session runs Python {here}")

    def test_the_tolerant_unpickler_skips_what_cannot_be_built(self):
        self.define(
            "class Bad:\n    def __init__(self): self.x = [1]\n    def __setstate__(self, s): self.__dict__.update(s); raise ValueError('bad state')\n"
            "class Worse:\n    def __new__(cls, *a):\n        if not a: raise SystemExit(1)\n        return object.__new__(cls)\n"
            "bad = Bad(); shared = bad.x; worse = Worse(1); both = {'a': [bad], 'b': 2}; fine = 5; row = [shared, shared]"
        )
        _, body = self.save(self.worker)
        worker = self.fresh()
        self.assertIn("again", self.load(worker, body)["data"])
        self.assertEqual(worker.value("'fine' in globals()"), "False")
        report = self.loaded(worker, body, tolerant=True)
        self.assertEqual([entry["name"] for entry in report["skipped"]], ["bad", "worse", "both"])
        self.assertEqual(worker.value("fine, row, row[0] is shared is row[1], Bad.__name__"), "(5, [[1], [1]], True, 'Bad')")


class Setting(StateCase):
    def test_values_inline_and_in_bulk(self):
        for kind, value, shown in (("json", '{"a": [1, 2.5, null]}', "{'a': [1, 2.5, None]}"), ("text", "é\0", "'é\\x00'")):
            self.assertEqual(self.worker.command("set", name="x", kind=kind, value=value)["status"], "ok")
            self.assertEqual(self.worker.value("x"), shown)
        for kind, data, shown in (
            ("bytes", b"\0\xff" * 3, "b'\\x00\\xff\\x00\\xff\\x00\\xff'"), ("text", "zwölf".encode(), "'zwölf'"), ("json", b'["x"]', "['x']"), ("bytes", b"", "b''"),
        ):
            name = self.ask(self.worker, "set", name="x", kind=kind, bulk=True, size=len(data))
            self.send_bulk(self.worker, data, piece=2)
            self.assertEqual(self.worker.status(name)["status"], "ok")
            self.assertEqual(self.worker.value("x"), shown)

    def test_a_failure_sets_nothing_and_keeps_the_channel_in_sync(self):
        self.define("x = 'before'")
        for kind, data, size, end, why in (
            ("bytes", b"abc", 5, {"failed": "it shrank"}, "it shrank"),
            ("bytes", b"abc", 5, {"end": True}, "3 bytes came, not 5"),
            ("bytes", b"abc", 1, {"end": True}, "3 bytes came, not 1"),
            ("text", b"ab\xff", 3, {"end": True}, "it is not UTF-8: byte 0xff at offset 2"),
            ("json", b"{", 1, {"end": True}, "Expecting property name enclosed in double quotes: line 1 column 2 (char 1)"),
        ):
            name = self.ask(self.worker, "set", name="x", kind=kind, bulk=True, size=size)
            self.send_bulk(self.worker, data, end=end)
            status = self.worker.status(name)
            self.assertEqual((status["status"], status["error"]["value"]), ("error", why))
            self.assertEqual(self.worker.value("x"), "'before'")

    def test_pipes_have_their_old_size_afterwards(self):
        pipes = (self.worker.commands, self.worker.events.fd)
        for fd in pipes:
            fcntl.fcntl(fd, 1031, 16384)
        name = self.ask(self.worker, "set", name="x", kind="bytes", bulk=True, size=5_000_000)
        self.send_bulk(self.worker, bytes(5_000_000))
        self.worker.status(name)
        self.save(self.worker)
        self.assertEqual([fcntl.fcntl(fd, 1032) for fd in pipes], [16384, 16384])

    def test_an_interrupt_during_bulk_data_does_not_end_it(self):
        name = self.ask(self.worker, "set", name="x", kind="bytes", bulk=True, size=4)
        self.worker.write(self.worker.commands, {"bytes": 2}, b"ab")
        os.kill(self.worker.process.pid, signal.SIGINT)
        self.worker.write(self.worker.commands, {"bytes": 2}, b"cd")
        self.worker.write(self.worker.commands, {"end": True})
        self.assertEqual(self.worker.status(name, TIMEOUT)["status"], "ok")
        self.assertEqual(self.worker.value("x"), "b'abcd'")


if __name__ == "__main__":
    unittest.main()
