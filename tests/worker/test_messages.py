"""The message fixtures, which the TypeScript tests read as well, so that both ends agree on the bytes."""

import importlib.util
import json
import os
import sys
import tempfile
import unittest

from harness import MAIN, ROOT, WorkerCase

FIXTURES = os.path.join(ROOT, "tests", "fixtures", "messages")


def fixtures(name):
    with open(os.path.join(FIXTURES, name), encoding="utf-8") as file:
        return json.load(file)


def load_channel():
    spec = importlib.util.spec_from_file_location("worker_main", MAIN)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.load()
    from _rlm_worker.io import channel

    return channel


class Messages(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.channel = load_channel()

    @classmethod
    def tearDownClass(cls):
        for name in [name for name in sys.modules if name.startswith("_rlm_worker")]:
            del sys.modules[name]

    def read_all(self, entries, piece):
        """What the reader returns if the entries arrive in pieces of this size."""
        data = b"".join((entry["line"] + "\n" + entry.get("payload", "")).encode() for entry in entries)
        reader, writer = os.pipe()
        try:
            os.write(writer, data)
            read, os_read, os_readv = self.channel.Reader(reader), os.read, os.readv
            os.read = lambda fd, size: os_read(fd, min(size, piece))
            os.readv = lambda fd, views: os_readv(fd, [views[0][:piece]])
            return [read.read() for _ in entries]
        finally:
            os.read, os.readv = os_read, os_readv
            os.close(reader), os.close(writer)

    def test_commands_and_aside_messages_are_read_as_written(self):
        for name in ("commands.json", "aside.json"):
            entries = fixtures(name)
            for piece in (1, 7, 65536):
                for entry, (message, payload) in zip(entries, self.read_all(entries, piece)):
                    self.assertEqual(message, entry["parsed"], entry["name"])
                    expected = entry["payload"].encode() if "payload" in entry else None
                    self.assertEqual(None if payload is None else bytes(payload), expected, entry["name"])

    def test_events_are_written_as_the_fixtures_say(self):
        for entry in fixtures("events.json"):
            if "payload" not in entry:
                self.assertEqual(json.loads(self.channel.frame_of(entry["parsed"])), json.loads(entry["line"]), entry["name"])
            self.assertEqual(json.loads(entry.get("payload", entry["line"])), entry["parsed"], entry["name"])

    def test_long_events_have_a_header_like_the_fixtures(self):
        for entry in fixtures("events.json"):
            if "payload" in entry:
                header, _, body = self.channel.frame_of({**entry["parsed"], "filler": "x" * 70_000}).partition(b"\n")
                self.assertEqual({**json.loads(header), "bytes": 0}, {**json.loads(entry["line"]), "bytes": 0}, entry["name"])
                self.assertEqual(json.loads(header)["bytes"], len(body))
                self.assertEqual(json.loads(entry["line"])["bytes"], len(entry["payload"].encode()))


class Conversation(WorkerCase):
    def test_every_command_of_the_fixtures_is_answered(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        worker = self.fresh(cwd=folder.name)
        for entry in fixtures("commands.json"):
            if entry["parsed"]["cmd"] == "streams":
                worker.control.send(b"x")
            os.write(worker.commands, (entry["line"] + "\n" + entry.get("payload", "")).encode())
            status = worker.status(entry["parsed"]["id"])
            self.assertEqual(status["status"], "error" if entry["parsed"]["cmd"] in ("fork", "streams") else "ok", entry["name"])

    def test_every_event_is_shaped_like_its_fixture(self):
        known = {}
        for entry in fixtures("events.json"):
            for key, value in entry["parsed"].items():
                known.setdefault((entry["parsed"]["type"], key), set()).add(float if isinstance(value, int) and not isinstance(value, bool) else type(value))
        events = [self.worker.ready]
        for code in ("1", "x = 1", "1/0", "(", "exit(2)", "print(1)", "'x' * 20000", "import threading; threading.Timer(60, print).start()"):
            events.append(self.worker.run(code))
        for event in events:
            for key, value in event.items():
                kind = float if isinstance(value, int) and not isinstance(value, bool) else type(value)
                self.assertIn(kind, known[event["type"], key], (event, key))


if __name__ == "__main__":
    unittest.main()
