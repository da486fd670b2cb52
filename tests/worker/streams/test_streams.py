"""Output: order, late output, broken streams, generations; surviving threads and processes."""

import os
import shutil
import tempfile
import unittest

from harness import WorkerCase


class Output(WorkerCase):
    def test_streams_are_separate_and_complete_when_the_execution_ends(self):
        status, out, err = self.worker.printed("import sys; print('a'); print('b', file=sys.stderr, end='')")
        self.assertEqual((out, err, status["pending"]), ("a\n", "b", True))
        self.assertNotIn("pending", self.worker.run("1"))

    def test_output_keeps_its_order_with_that_of_children(self):
        code = ("import os, subprocess\nprint('a')\nsubprocess.run(['echo', 'b'])\nprint('c')\nos.system('echo d')\nprint('e')\n"
                "os.waitpid(os.posix_spawn('/bin/echo', ['echo', 'f'], os.environ), 0)\nprint('g')\nos.write(1, b'h\\n')")
        _, out, _ = self.worker.printed(code)
        self.assertEqual(out.split(), ["h", "a", "b", "c", "d", "e", "f", "g"][1:7] + out.split()[6:])
        self.assertEqual(sorted(out.split()), list("abcdefgh"))

    def test_output_arrives_while_code_runs(self):
        execution = self.worker.send("import time\nprint('early', end='')\nend = time.time() + 30\nwhile time.time() < end: pass")
        self.worker.send_aside(cmd="flush", id=execution)
        self.worker.out.until(b"early", 5)
        self.worker.interrupt()
        self.assertEqual(self.worker.status(execution)["status"], "interrupted")
        self.worker.out.drain()

    def test_closed_replaced_and_missing_streams_are_restored(self):
        for code in ("import sys; sys.stdout.close(); sys.stderr.close()", "sys.stdout = sys.stderr = sys.stdin = None; print('nowhere')",
                     "sys.stdout.detach()", "import os; os.close(1); os.close(2)", "os.dup2(os.open('/dev/null', os.O_WRONLY), 1)",
                     "import io; sys.stdout = io.StringIO()", "class Bad:\n  def flush(self): 1/0\nsys.stdout = Bad()",
                     "import tempfile; f = tempfile.TemporaryFile(); os.dup2(f.fileno(), 1)", "sys.__stdout__ = None"):
            self.assertEqual(self.worker.run("import sys, os\n" + code)["status"], "ok", code)
            self.worker.out.drain(), self.worker.err.drain()
            status, out, err = self.worker.printed("print('out'); print('err', file=sys.stderr)")
            self.assertEqual((out, err), ("out\n", "err\n"), code)

    def test_a_replacement_is_flushed(self):
        _, out, _ = self.worker.printed("import io, sys\nsys.stdout = io.TextIOWrapper(io.BufferedWriter(io.FileIO(1, 'wb', closefd=False)))\nprint('x')")
        self.assertEqual(out, "x\n")

    def test_a_million_prints_arrive(self):
        execution = self.worker.send("for i in range(200000): print(i)")
        total = 0
        while total < 1288890:
            self.worker.out.more(__import__("time").monotonic() + 10)
            total += len(self.worker.out.buffer)
            self.worker.out.buffer = b""
        self.assertEqual((total, self.worker.status(execution)["status"]), (1288890, "ok"))


LATE = "import threading, sys\ngate = threading.Event()\ndef late():\n  gate.wait()\n  print('late')\n  sys.stderr.write('late')\nt = threading.Thread(target=late); t.start()"


class Generations(WorkerCase):
    def test_threads_are_survivors_until_they_end(self):
        worker = self.fresh()
        self.assertTrue(worker.run(LATE)["survivors"])
        self.assertTrue(worker.run("1")["survivors"])
        self.assertNotIn("survivors", worker.run("gate.set(); t.join()"))
        for start in ("_thread.start_new_thread(gate.wait, ())", "threading.Timer(60, print).start()",
                      "from concurrent.futures import ThreadPoolExecutor as E; e = E(1); e.submit(gate.wait)"):
            self.assertTrue(worker.run("import _thread; gate = threading.Event()\n" + start)["survivors"])
        self.assertEqual(worker.value("threading.active_count() > 1"), "True")

    def test_finished_threads_and_processes_are_not_survivors(self):
        worker = self.fresh()
        self.assertNotIn("survivors", worker.run("import threading\nfor _ in range(5):\n  t = threading.Thread(target=len, args=((),)); t.start(); t.join()"))
        self.assertNotIn("survivors", worker.run("import subprocess; subprocess.run(['true'])"))
        self.assertEqual(worker.value("threading.active_count()"), "1")
        self.assertTrue(worker.run("p = subprocess.Popen(['sleep', '60'])")["survivors"])
        self.assertTrue(worker.run("1")["survivors"])
        self.assertNotIn("survivors", worker.run("p.kill(); p.wait()"))

    def test_late_output_is_flushed_line_by_line(self):
        worker = self.fresh()
        worker.run(LATE + "\ngate2 = threading.Event()\ndef more():\n  gate.wait(); print('more')\n  gate2.wait(60)\nu = threading.Thread(target=more, daemon=True); u.start()")
        worker.run("threading.Timer(0.05, gate.set).start()")
        worker.out.until(b"more\n")

    def test_old_threads_keep_the_old_pipes(self):
        worker = self.fresh()
        worker.run(LATE)
        worker.run("keep = sys.stdout\ndef direct():\n  gate.wait(); keep.write('direct\\n'); keep.buffer.write(b'raw\\n')\nu = threading.Thread(target=direct); u.start()")
        old_out, old_err = worker.new_streams()
        status, out, err = worker.printed("print('new'); gate.set(); t.join(); u.join(); print('end'); sys.stderr.write('e'); keep.write('kept\\n')")
        self.assertEqual((out, err), ("new\nend\nkept\n", "e"))
        self.assertNotIn("survivors", status)
        self.assertEqual(sorted(old_out.rest().split()), [b"direct", b"late", b"raw"])
        self.assertEqual(old_err.rest(), b"late")
        self.assertEqual(worker.value("'write' in vars(sys.stdout), sys.stdout is keep"), "(False, True)")
        self.assertEqual(worker.printed("print(1)")[1], "1\n")

    def test_what_a_write_that_began_before_leaves_behind_goes_to_the_old_pipes(self):
        worker = self.fresh()
        folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, folder)
        # As if a thread had been stopped within these calls while the pipes were replaced.
        worker.run(f"import io, os, sys, threading, time\ndone = threading.Event()\ndef work():\n  while not os.path.exists('{folder}/go'): time.sleep(0.01)\n"
                   "  io.BufferedWriter.write(sys.stdout.buffer, b'bytes, '); io.TextIOWrapper.write(sys.stdout, 'text, '); print('line')\n"
                   "  done.wait(); print('last')\nt = threading.Thread(target=work); t.start()")
        old_out, _ = worker.new_streams()
        os.mkdir(f"{folder}/go")
        old_out.until(b"bytes, text, line\n")
        self.assertEqual(worker.printed("print('new'); done.set(); t.join()")[1], "new\n")
        self.assertEqual(old_out.rest(), b"bytes, text, line\nlast\n")

    def test_children_keep_the_old_pipes(self):
        worker = self.fresh()
        self.assertTrue(worker.run("import subprocess; p = subprocess.Popen('read x; echo late', shell=True, stdin=subprocess.PIPE)")["survivors"])
        old_out, _ = worker.new_streams()
        _, out, _ = worker.printed("p.communicate(b'x\\n'); print('new')")
        self.assertEqual((out, old_out.rest()), ("new\n", b"late\n"))

    def test_threads_of_three_generations(self):
        worker = self.fresh()
        worker.run("import threading\ngates = {n: threading.Event() for n in 'ab'}\ndef say(n):\n  gates[n].wait(); print(n)\n"
                   "def start(n):\n  t = threading.Thread(target=say, args=n); t.start(); return t\na = start('a')")
        first, _ = worker.new_streams()
        worker.run("b = start('b')")
        second, _ = worker.new_streams()
        self.assertEqual(worker.printed("gates['b'].set(); b.join(); gates['a'].set(); a.join(); print('c')")[1], "c\n")
        self.assertEqual((first.rest(), second.rest()), (b"a\n", b"b\n"))

    def test_streams_without_descriptors_is_an_error(self):
        self.worker.control.send(b"x")
        self.assertEqual(self.worker.command("streams")["error"]["name"], "RuntimeError")


if __name__ == "__main__":
    unittest.main()
