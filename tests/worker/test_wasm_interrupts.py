"""Interrupts in WebAssembly, where messages are handled between bytecodes of the code that is interrupted."""

import os
import sys
import unittest
from unittest import mock

from harness import ROOT

sys.path.insert(0, os.path.join(ROOT, "python"))

from worker.process.signals import SIGINT  # noqa: E402
from worker.wasm import interrupts as module  # noqa: E402
from worker.wasm.interrupts import SIGUSR1, WasmInterrupts  # noqa: E402


class InterruptWhileMessagesAreHandled(unittest.TestCase):
    def setUp(self):
        self.interrupts = WasmInterrupts()
        self.interrupts.on_message = self.handle
        self.arrivals = 1
        self.handled = 0

    def handle(self):
        for _ in range(self.arrivals):
            self.interrupts._on_sigint(SIGINT, None)
        self.handled += 1

    def receive(self):
        self.interrupts._on_sigusr1(SIGUSR1, None)

    def test_is_raised_in_the_code_and_not_in_the_handler(self):
        result, error = self.interrupts.guard(self.receive)
        self.assertIsInstance(error, KeyboardInterrupt)
        self.assertEqual((self.handled, self.interrupts.hit, self.interrupts.missed), (1, True, False))

    def test_is_raised_once_even_if_it_comes_again(self):
        self.arrivals = 3
        self.interrupts.guard(self.receive)
        self.arrivals = 0
        self.assertEqual(self.interrupts.guard(self.receive), (None, None))
        self.assertEqual(self.interrupts.count, 1)

    def test_is_missed_where_no_code_runs(self):
        self.receive()
        self.assertEqual((self.handled, self.interrupts.hit, self.interrupts.missed), (1, False, True))
        self.arrivals = 0
        self.assertEqual(self.interrupts.guard(self.receive), (None, None))

    def test_is_raised_in_an_inspection_at_once(self):
        seen = []
        self.arrivals = 0

        def inspect():
            self.interrupts._on_sigint(SIGINT, None)
            seen.append("too far")

        self.interrupts.on_message = lambda: seen.append(self.interrupts.guard_until(1e18, inspect)[1])
        with mock.patch.object(module.DEVICES, "tick"):
            self.receive()
        self.assertEqual([type(error) for error in seen], [KeyboardInterrupt])


if __name__ == "__main__":
    unittest.main()
