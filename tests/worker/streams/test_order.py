"""The order of stdout and stderr: marks, and what they count."""

import json
import select

from harness import TIMEOUT, WorkerCase


class Order(WorkerCase):
    def ordered(self, code):
        """Runs code; returns what it printed as a list of (stream, text), in the order that the marks tell."""
        self.worker.marks.clear()
        self.worker.run(code)
        rest = {"stdout": self.worker.out.drain().decode(), "stderr": self.worker.err.drain().decode()}
        done = {"stdout": 0, "stderr": 0}
        parts = []
        for _, *counts in [*self.worker.marks, (None, 1 << 30, 1 << 30)]:
            for stream, count in zip(("stdout", "stderr"), counts):
                text = rest[stream][: count - done[stream]]
                rest[stream] = rest[stream][len(text):]
                done[stream] += len(text)
                if text:
                    parts.append((stream, text))
        return parts

    def read_all(self):
        """Reads all pipes until the execution ends; returns its status and what it printed."""
        worker = self.worker
        sources = (worker.events, worker.out, worker.err)
        printed = {worker.out: b"", worker.err: b""}
        while True:
            select.select(sources, [], [], TIMEOUT)
            for source in printed:
                printed[source] += source.drain()
            lines = worker.events.drain().split(b"\n")
            worker.events.buffer = lines.pop()
            for message in map(json.loads, lines):
                if message["type"] == "status":
                    return (message, *(text + source.drain() for source, text in printed.items()))
                worker.marks.append(message)

    def check(self, code, *texts):
        """The texts are of stdout and stderr in turns; an empty one skips its turn."""
        streams = ("stdout", "stderr") * len(texts)
        self.assertEqual(self.ordered("import sys, os, io\n" + code), [(s, t) for s, t in zip(streams, texts) if t], code)

    def test_prints_in_turns_are_marked(self):
        self.check("for i in range(3): print('o', i); print('e', i, file=sys.stderr)", "o 0\n", "e 0\n", "o 1\n", "e 1\n", "o 2\n", "e 2\n")
        self.check("print('e', file=sys.stderr); print('o')", "", "e\n", "o\n")

    def test_parts_of_lines_are_marked(self):
        self.check("sys.stdout.write('a'); sys.stderr.write('b'); sys.stdout.write('c'); sys.stderr.write('d')", "a", "b", "c", "d")

    def test_methods_that_code_keeps_and_buffers_are_marked(self):
        self.check("o, e = sys.stdout.write, sys.stderr.write\no('a'); e('b'); o('c'); e('d\\n'); o('e')", "a", "b", "c", "d\n", "e")
        self.check("o, e = sys.stdout.buffer, sys.stderr.buffer\no.write(b'a'); e.write(b'b'); o.write(b'c'); e.write(b'd')", "a", "b", "c", "d")
        self.check("o = sys.stdout; o.writelines(['a', 'b']); sys.stderr.writelines(['c', 'd']); o.write('e')", "ab", "cd", "e")

    def test_a_replacement_that_prints_to_ours_is_marked(self):
        self.check("class Tee:\n  def write(self, t): return real.write(t.upper())\n  def flush(self): pass\n"
                   "real = sys.stdout; sys.stdout = Tee()\nprint('a'); print('b', file=sys.stderr); print('c')", "A\n", "b\n", "C\n")
        self.check("sys.stdout = io.TextIOWrapper(sys.stdout.buffer, line_buffering=True)\nprint('a'); print('b', file=sys.stderr); print('c')\n"
                   "sys.stdout.detach(); sys.stdout = sys.__stdout__", "a\n", "b\n", "c\n")

    def test_one_stream_has_no_marks(self):
        for stream in ("stdout", "stderr", "stdout"):
            self.worker.marks.clear()
            self.worker.printed(f"import sys\nfor i in range(1000): print(i, file=sys.{stream})")
            self.assertEqual(self.worker.marks, [])

    def test_settings_of_code_are_kept(self):
        code = "import sys\nsys.stdout.reconfigure(write_through=True)\nprint('a'); print('b', file=sys.stderr); print('c')\nsys.stdout.write_through, sys.stderr.line_buffering"
        self.assertEqual(self.worker.value(code), "(True, True)")
        self.worker.out.drain(), self.worker.err.drain()

    def test_what_is_printed_before_a_process_comes_before_its_output(self):
        self.worker.marks.clear()
        self.worker.printed("import subprocess\nprint('a')\n_ = subprocess.run('echo b >&2', shell=True)\nprint('c')")
        self.assertEqual(self.worker.marks, [("stdout", 2, 0), ("stdout", 2, 0, "all"), ("stdout", 2, 0)])

    def test_the_child_of_a_fork_sends_no_marks(self):
        code = "import os, sys\npid = os.fork()\nif not pid:\n  print('a'); print('b', file=sys.stderr); print('c')\n  os._exit(0)\n_ = os.waitpid(pid, 0)"
        self.worker.marks.clear()
        self.worker.printed(code)
        self.assertEqual(self.worker.marks, [])

    def test_a_flood_ends_the_marks_of_its_execution_and_no_others(self):
        execution = self.worker.send("import sys\nfor i in range(30000): print(i); print(i, file=sys.stderr)")
        status, *printed = self.read_all()
        expected = b"".join(b"%d\n" % i for i in range(30000))
        self.assertEqual((status["id"], [text == expected for text in printed]), (execution, [True, True]))
        self.assertLess(len(self.worker.marks), 30_000)
        self.check("print('a'); print('b', file=sys.stderr); print('c')", "a\n", "b\n", "c\n")

    def test_closed_streams_do_not_end_the_order_of_the_next_execution(self):
        for code in ("sys.stderr.close()", "sys.stdout.close()", "sys.stdout.detach()", "os.close(1); os.close(2)"):
            self.worker.printed("import sys, os\n" + code)
            self.check("print('a'); print('b', file=sys.stderr); print('c')", "a\n", "b\n", "c\n")

    def test_a_handler_that_raises_loses_and_repeats_nothing(self):
        code = """import signal, sys
class Stop(Exception): pass
def stop(*_): raise Stop
signal.signal(signal.SIGALRM, stop)
done = out = err = 0
while done < 40:
  try:
    signal.setitimer(signal.ITIMER_REAL, 0.0003)
    while True:
      sys.stdout.write('%07d\\n' % out); out += 1
      if out % 3 == 0: sys.stderr.write('%07d\\n' % err); err += 1
  except Stop: done += 1
signal.setitimer(signal.ITIMER_REAL, 0); signal.signal(signal.SIGALRM, signal.SIG_DFL)"""
        execution = self.worker.send(code)
        status, out, _ = self.read_all()
        self.assertEqual((status["id"], status["status"]), (execution, "ok"))
        out = out.decode().split()
        self.assertEqual([line for line in out if len(line) != 7], [])
        self.assertLess(len(out) - len(set(out)), 41)  # a write that was interrupted at its end is written again by the code
