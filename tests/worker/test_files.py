"""File operations of jobs, in a plain folder: links, and files that are swapped between two steps."""

import json
import os
import resource
import shutil
import stat
import sys
import tempfile
import threading
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "python"))

from forkserver.files import operations, paths  # noqa: E402
from forkserver.processes import jobs  # noqa: E402

TIMEOUT = 20.0

with open(os.path.join(ROOT, "tests", "fixtures", "messages", "job-answers.json"), encoding="utf-8") as fixtures:
    KNOWN = [set(json.loads(fixture["line"])) for fixture in json.load(fixtures)]


class Folder(unittest.TestCase):
    """A working folder, `self.folder`, and another one with a secret, `self.outside`."""

    def setUp(self):
        top = os.path.realpath(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, top)
        self.folder = os.path.join(top, "work")
        self.outside = os.path.join(top, "outside")
        os.mkdir(self.folder)
        os.mkdir(self.outside)
        self.put(os.path.join(self.outside, "secret"), "SECRET")

    def put(self, path, text):
        with open(os.path.join(self.folder, path), "w") as file:
            file.write(text)

    def link(self, target, path):
        os.symlink(target, os.path.join(self.folder, path))

    def find(self, path, **options):
        return paths.Root(self.folder).find(path, **options)

    def job(self, request, sent=b""):
        """The output of a job, as bytes."""
        to_job, from_host = os.pipe()
        to_host, from_job = os.pipe()
        channel = jobs.Channel(to_job, from_job)

        def work():
            try:
                operations.work({"folder": self.folder, **request}, channel)
                channel.flush()
            except (EOFError, BrokenPipeError):
                pass
            finally:
                os.close(from_job)

        thread = threading.Thread(target=work)
        thread.start()
        os.write(from_host, sent)
        os.close(from_host)
        with open(to_host, "rb") as file:
            said = file.read()
        thread.join(TIMEOUT)
        os.close(to_job)
        return said

    def answers(self, request, sent=b""):
        answers = [json.loads(line) for line in self.job(request, sent).splitlines()]
        for answer in answers:
            self.assertIn(set(answer), KNOWN)  # a shape that the host knows
        return answers


class FindingTest(Folder):
    def test_follows_links_inside_the_folder(self):
        os.makedirs(os.path.join(self.folder, "a/b"))
        self.link("../b", "a/up")
        self.link(f"{self.folder}/a", "whole")
        for path in ("a/b/f", "./a//b/./f", "a/b/../b/f", "whole/b/f", "whole/../a/b/f"):
            self.assertEqual(self.find(path).path, b"a/b/f")
        self.link("a/b/f", "last")
        self.assertEqual(self.find("last").path, b"a/b/f")
        self.assertEqual(self.find("last", follow=False).path, b"last")
        for path in (".", "a/..", "a/b/../..", "whole/.."):
            self.assertTrue(self.find(path).is_root)

    def test_refuses_paths_that_lead_out(self):
        os.mkdir(os.path.join(self.folder, "a"))
        for target in ("/", "/etc", "..", "../outside", "a/../../outside", self.outside, self.folder + "-other", "a/../..",
                       f"{self.folder}/../outside"):
            with self.subTest(target):
                self.link(target, "out")
                for path in ("out/secret", "a/../out/secret"):
                    with self.assertRaises(paths.OutsideRoot):
                        self.find(path)
                with self.assertRaises(paths.OutsideRoot):
                    self.find("out")
                self.assertEqual(self.find("out", follow=False).path, b"out")
                os.unlink(os.path.join(self.folder, "out"))

    def test_makes_folders_only_when_asked(self):
        with self.assertRaises(FileNotFoundError):
            self.find("x/y/f")
        self.assertEqual(self.find("x/y/f", make=True).path, b"x/y/f")
        self.assertEqual(os.listdir(os.path.join(self.folder, "x")), ["y"])

    def test_a_folder_that_became_a_link_is_not_entered(self):
        os.mkdir(os.path.join(self.folder, "a"))
        place = self.find("a/secret")
        shutil.rmtree(os.path.join(self.folder, "a"))
        self.link(self.outside, "a")
        with self.assertRaises(FileNotFoundError):
            paths.status(place)

    def test_refuses_circular_links(self):
        self.link("b", "a")
        self.link("a", "b")
        with self.assertRaises(OSError):
            self.find("a")


class SwapTest(Folder):
    """A file is replaced by a link after it was checked and before it is used."""

    def swap_after(self, function_name, path):
        original = getattr(operations, function_name)

        def then_swap(*args):
            result = original(*args)
            setattr(operations, function_name, original)
            target = os.path.join(self.folder, path)
            shutil.rmtree(target) if os.path.isdir(target) else os.unlink(target)
            os.symlink(os.path.join(self.outside, "secret"), target)
            return result

        setattr(operations, function_name, then_swap)
        self.addCleanup(setattr, operations, function_name, original)

    def test_read(self):
        self.put("f", "mine")
        self.swap_after("status", "f")
        said = self.job({"do": "read", "path": "f"})
        self.assertNotIn(b"SECRET", said)
        self.assertIn(b'"error"', said)

    def test_write(self):
        self.put("f", "mine")
        self.swap_after("status", "f")
        self.answers({"do": "write", "path": "f"}, b'{"bytes":3}\nnew{"end":true}\n')
        with open(os.path.join(self.outside, "secret")) as file:
            self.assertEqual(file.read(), "SECRET")
        with open(os.path.join(self.folder, "f")) as file:
            self.assertEqual(file.read(), "new")  # the link was replaced, its target was not

    def test_list(self):
        os.mkdir(os.path.join(self.folder, "d"))
        os.unlink(os.path.join(self.outside, "secret"))
        os.mkdir(os.path.join(self.outside, "secret"))
        self.put(os.path.join(self.outside, "secret", "inner"), "x")
        original = paths.Root.find

        def find_then_swap(root, path, **options):
            place = original(root, path, **options)
            os.rmdir(os.path.join(self.folder, "d"))
            self.link(os.path.join(self.outside, "secret"), "d")
            return place

        paths.Root.find = find_then_swap
        self.addCleanup(setattr, paths.Root, "find", original)
        said = self.job({"do": "list", "path": "d", "depth": 3})
        self.assertNotIn(b"inner", said)
        self.assertIn(b"not-a-folder", said)

    def test_remove_of_a_folder_in_a_folder(self):
        os.makedirs(os.path.join(self.folder, "d/inner"))
        original = operations.open_folder

        def open_then_swap(place):
            fd = original(place)
            if place.name == b"inner":
                operations.open_folder = original
                os.rmdir(os.path.join(self.folder, "d/inner"))
                self.link(self.outside, "d/inner")
            return fd

        operations.open_folder = open_then_swap
        self.addCleanup(setattr, operations, "open_folder", original)
        self.assertEqual(self.answers({"do": "remove", "path": "d"}), [{"type": "done"}])
        self.assertEqual(os.listdir(self.outside), ["secret"])


class OperationsTest(Folder):
    def test_an_unfinished_write_leaves_nothing(self):
        self.put("f", "old")
        self.assertEqual(self.job({"do": "write", "path": "f"}, b'{"bytes":3}\nnew'), b"")
        self.assertEqual(self.job({"do": "write", "path": "f"}, b'{"bytes":30}\nnew'), b"")
        self.assertEqual(os.listdir(self.folder), ["f"])
        with open(os.path.join(self.folder, "f")) as file:
            self.assertEqual(file.read(), "old")

    def test_removes_folders_deeper_than_its_descriptor_limit(self):
        fd = os.open(self.folder, os.O_RDONLY)
        for _ in range(600):
            os.mkdir("deep", dir_fd=fd)
            below = os.open("deep", os.O_RDONLY, dir_fd=fd)
            os.close(fd)
            fd = below
        os.close(fd)
        before = resource.getrlimit(resource.RLIMIT_NOFILE)
        self.addCleanup(resource.setrlimit, resource.RLIMIT_NOFILE, before)
        highest = max(map(int, os.listdir("/proc/self/fd")))  # a job exits without closing descriptors
        resource.setrlimit(resource.RLIMIT_NOFILE, (highest + 100, before[1]))
        self.assertEqual(self.answers({"do": "remove", "path": "deep"})[-1], {"type": "done"})
        self.assertEqual(os.listdir(self.folder), [])

    def test_does_not_open_a_pipe(self):
        os.mkfifo(os.path.join(self.folder, "p"))
        for do in ("read", "write"):
            (answer,) = self.answers({"do": do, "path": "p"})
            self.assertEqual((answer["type"], answer["reason"]), ("error", "not-a-file"))

    def test_reports_the_kind_of_an_entry(self):
        self.put("f", "abc")
        self.link("anything", "l")
        entry, done = self.answers({"do": "stat", "path": "f"})
        self.assertEqual((entry["kind"], entry["size"], stat.S_IMODE(entry["mode"])), ("file", 3, entry["mode"]))
        self.assertEqual(self.answers({"do": "stat", "path": "l"})[0]["target"], "anything")
        self.assertEqual(done, {"type": "done"})

    def test_names_are_bytes(self):
        name = b"odd-\xff\xfe"
        with open(os.path.join(os.fsencode(self.folder), name), "w"):
            pass
        entry, _ = self.answers({"do": "list", "path": ".", "depth": 1})
        self.assertEqual(entry["name"].encode("utf-8", "surrogateescape"), name)
        self.assertEqual(self.answers({"do": "remove", "path": entry["path"]}), [{"type": "done"}])


if __name__ == "__main__":
    unittest.main()
