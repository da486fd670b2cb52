"""Interrupts, signals and forks."""

import time
import unittest

from harness import Ended, WorkerCase

SAY = "import sys; print('go'); sys.stdout.flush()\n"


class Interrupts(WorkerCase):
    def interrupted(self, code, first=""):
        """Runs code that prints go, interrupts it then, and returns its status and the seconds until it ended."""
        worker = self.worker
        execution = worker.send(first + SAY + code)
        worker.out.until(b"go\n")
        worker.out.drain()
        start = time.monotonic()
        worker.interrupt()
        return worker.status(execution), time.monotonic() - start

    def check(self, code, first=""):
        status, seconds = self.interrupted(code, first)
        self.assertEqual(status["status"], "interrupted", status)
        self.assertLess(seconds, 3)
        self.assertEqual(self.worker.value("1 + 1"), "2")
        return status

    def test_sleep_loops_and_locks_are_interrupted(self):
        for code in ("import time; time.sleep(60)", "while True: pass", "import threading; lock = threading.Lock(); lock.acquire(); lock.acquire()",
                     "import subprocess; subprocess.run(['sleep', '60'])", "import os; os.read(os.pipe()[0], 1)"):
            error = self.check(code)["error"]
            self.assertEqual(error["name"], "KeyboardInterrupt")
            self.assertIn("<cell", error["traceback"])

    def test_the_first_execution_is_interrupted_even_before_the_worker_has_read_it(self):
        self.worker.interrupt()
        status = self.worker.run("import time; time.sleep(60)")
        self.assertEqual(status["status"], "interrupted", status)
        self.assertEqual(self.worker.value("1 + 1"), "2")

    def test_a_stuck_await_is_cancelled_and_its_finally_runs(self):
        status = self.check("pass", "import asyncio\ntry:\n  asyncio.get_running_loop().call_later(0.02, lambda: print('go', flush=True))\n"
                            "  await asyncio.Event().wait()\nfinally:\n  await asyncio.sleep(0); ran = 1\n")
        self.assertEqual(status["error"]["name"], "KeyboardInterrupt")
        self.assertIn("await asyncio.Event().wait()", status["error"]["traceback"])
        self.assertEqual(self.worker.value("ran"), "1")

    def test_an_await_that_refuses_to_be_cancelled_gets_a_second(self):
        self.check("import asyncio\nwhile True:\n  try: await asyncio.sleep(60)\n  except asyncio.CancelledError: pass")

    def test_a_swallowed_interrupt_is_still_reported(self):
        status = self.check("  time.sleep(60)\nexcept KeyboardInterrupt: kept = 7\nkept", "import time\ntry:\n  ")
        self.assertEqual(status["error"], {"name": "KeyboardInterrupt", "value": "", "traceback": ""})
        self.assertNotIn("value", status)
        self.assertEqual(self.worker.value("kept"), "7")

    def test_a_hanging_repr_or_message_is_interrupted(self):
        self.check("class R:\n  def __repr__(self):\n    while True: pass\nR()")
        self.check("class E(Exception):\n  def __str__(self):\n    while True: pass\nraise E()")

    def test_the_message_of_an_exception_that_was_being_handled_is_not_asked_for(self):
        status = self.check("  import time; time.sleep(60)", "class E(Exception):\n  def __str__(self):\n    while True: pass\ntry: raise E()\nexcept E:\n  ")
        self.assertEqual(status["error"]["name"], "KeyboardInterrupt")
        self.assertRegex(status["error"]["traceback"], r"line (6|7), in <module>")  # it may come before the sleep

    def test_an_interrupt_that_a_destructor_swallows_is_repeated(self):
        self.check("      time.sleep(60)\nd = D()\ndel d\ntime.sleep(60)", "import time\nclass D:\n  def __del__(self):\n    if 1:\n      ")

    def test_an_interrupt_before_another_first_command_is_ignored(self):
        self.worker.interrupt()
        self.worker.command("configure", env={})
        self.assertEqual(self.worker.run("1")["status"], "ok")

    def test_an_idle_worker_ignores_sigint(self):
        self.worker.run("0")
        for _ in range(20):
            self.worker.interrupt()
        self.assertEqual(self.worker.run("1")["status"], "ok")

    def test_a_worker_survives_many_interrupts_around_an_execution(self):
        for _ in range(300):
            execution = self.worker.send("x = 1")
            self.worker.interrupt()
            self.assertIn(self.worker.status(execution)["status"], ("ok", "interrupted"))
        self.assertEqual(self.worker.value("2"), "2")

    def test_handlers_and_masks_of_user_code_do_not_prevent_interrupts(self):
        self.worker.run("import signal; signal.signal(signal.SIGINT, signal.SIG_IGN)")
        self.check("while True: pass")
        self.worker.run("signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})")
        self.check("while True: pass")

    def test_other_signals_belong_to_user_code(self):
        self.assertEqual(self.worker.value(
            "import signal, time\ndef h(*a): raise TimeoutError\nsignal.signal(signal.SIGALRM, h)\nsignal.setitimer(signal.ITIMER_REAL, .02)\n"
            "try: time.sleep(20); r = 'no'\nexcept TimeoutError: r = 'alarm'\nr"), "'alarm'")

    def test_an_alarm_between_executions_is_harmless(self):
        worker = self.fresh()
        worker.run("import signal\ndef h(*a): raise TimeoutError\nsignal.signal(signal.SIGALRM, h)\nsignal.setitimer(signal.ITIMER_REAL, .0005, .0005)")
        statuses = [worker.run("x = 1")["status"] for _ in range(200)]
        self.assertLessEqual(set(statuses), {"ok", "error"})
        while worker.run("signal.setitimer(signal.ITIMER_REAL, 0)")["status"] != "ok":
            pass
        self.assertEqual(worker.value("3"), "3")
        execution = worker.send(SAY + "while True: pass")
        worker.out.until(b"go")
        worker.interrupt()
        self.assertEqual(worker.status(execution)["status"], "interrupted")

    def test_an_interrupt_ends_the_children_of_its_execution_and_no_others(self):
        self.worker.run("import subprocess, time; old = subprocess.Popen(['sleep', '60'])")
        status = self.check("while True: pass", "new = subprocess.Popen(['sh', '-c', 'sleep 60 & wait'])\n")
        self.assertTrue(status["survivors"])
        self.assertEqual(self.worker.value("new.wait(5), old.poll()"), "(-9, None)")
        self.assertNotIn("survivors", self.worker.run("old.kill(); old.wait()"))


class Forks(WorkerCase):
    def test_a_child_that_reaches_the_end_of_the_cell_exits(self):
        for code, number in (("", 0), ("\nif not pid: 1/0", 1), ("\nif not pid: exit(5)", 5), ("\nif not pid: os._exit(6)", 6)):
            status, out, err = self.worker.printed(
                f"import os\npid = os.fork(){code}\nif pid: code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])\ncode if pid else 0")
            self.assertEqual(status["value"]["text/plain"], str(number), code)
            self.assertEqual("ZeroDivisionError" in err, number == 1)
            self.assertNotIn("Warning", err)
        self.assertEqual(self.worker.value("3"), "3")

    def test_buffered_output_is_not_printed_twice(self):
        _, out, _ = self.worker.printed("import os\nprint('once')\npid = os.fork()\nif pid: os.waitpid(pid, 0)\nelse: print('child')")
        self.assertEqual(sorted(out.split()), ["child", "once"])

    def test_a_child_has_no_channel(self):
        worker = self.worker
        worker.run("import os\ndef fds(): return sorted(int(n) for n in os.listdir('/proc/self/fd'))")
        code = ("r, w = os.pipe()\nif not os.fork():\n  os.write(w, str([f for f in fds() if f > 20]).encode()); os._exit(0)\n"
                "os.wait(); os.read(r, 100)")
        self.assertLessEqual(worker.value(code).count(","), 1)  # at most the descriptor of the process counter
        status = worker.run("import rlm_host, os\npid = os.fork()\nif not pid: rlm_host.call('x')\nos.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])")
        self.assertEqual(status["value"]["text/plain"], "1")

    def test_multiprocessing_works(self):
        self.assertEqual(self.worker.value(
            "import multiprocessing as mp\ndef sq(x): return x * x\nwith mp.get_context('fork').Pool(2) as q: r = q.map(sq, [1, 2, 3])\nr"), "[1, 4, 9]")


class Ends(WorkerCase):
    def test_a_worker_without_its_channel_dies(self):
        for code in ("import os; os.closerange(3, 1000)", "import os; os.closerange(0, 1000)", "import builtins; builtins.len = None; builtins.isinstance = None; builtins.BaseException = None\n1"):
            worker = self.fresh()
            worker.send(code)
            try:
                worker.event()
                worker.run("1")
            except (Ended, BrokenPipeError):
                pass
            if "builtins" not in code:
                self.assertEqual(worker.process.wait(10), -9, code)

    def test_a_crash_is_a_signal(self):
        worker = self.fresh()
        worker.send("import ctypes; ctypes.string_at(0)")
        self.assertEqual(worker.process.wait(10), -11)

    def test_an_idle_worker_uses_no_cpu(self):
        worker = self.fresh()
        worker.run("1")
        execution = worker.send("import time; time.sleep(0.3)")
        worker.send_aside(cmd="flush", id=execution)
        worker.status(execution)

        def used():
            with open(f"/proc/{worker.process.pid}/stat") as file:
                fields = file.read().rpartition(")")[2].split()
            return int(fields[11]) + int(fields[12])

        before = used()
        time.sleep(0.5)  # the measurement itself
        self.assertLessEqual(used() - before, 1)
        with open(f"/proc/{worker.process.pid}/status") as file:
            switches = [line for line in file if "voluntary" in line]
        self.assertTrue(switches)


if __name__ == "__main__":
    unittest.main()
