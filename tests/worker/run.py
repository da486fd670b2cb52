"""Runs the unittests of this folder and of tests/forkserver, and reports each as one line of JSON on a descriptor:

    run.py DESCRIPTOR [PART PARTS]       all of them, or one of several parts of about the same size

A line is {"name", "outcome": "passed" | "failed" | "skipped", "detail"}; detail is the traceback or the reason. The lines
have their own descriptor, so tests may print to stdout and stderr.
"""

import json
import os
import sys
import unittest


class Reporter(unittest.TestResult):
    """Writes a line when a test ends. Several failures of one test (subtests, clean-up) are joined in one line."""

    def __init__(self, report) -> None:
        super().__init__()
        self._report = report
        self._problems: list = []
        self._reason = None

    def startTest(self, test) -> None:
        super().startTest(test)
        self._problems, self._reason = [], None

    def stopTest(self, test) -> None:
        super().stopTest(test)
        self._end(test)

    def addError(self, test, err) -> None:
        super().addError(test, err)
        self._fail(test, self.errors[-1][1])

    def addFailure(self, test, err) -> None:
        super().addFailure(test, err)
        self._fail(test, self.failures[-1][1])

    def addSubTest(self, test, subtest, err) -> None:
        super().addSubTest(test, subtest, err)
        if err is not None:
            self._problems.append(f"{subtest}\n{self._exc_info_to_string(err, test)}")

    def addUnexpectedSuccess(self, test) -> None:
        super().addUnexpectedSuccess(test)
        self._fail(test, "passed, although marked as an expected failure")

    def addSkip(self, test, reason) -> None:
        super().addSkip(test, reason)
        self._reason = reason
        if not isinstance(test, unittest.TestCase):
            self._end(test)

    def _fail(self, test, detail) -> None:
        self._problems.append(detail)
        if not isinstance(test, unittest.TestCase):  # setUpClass or setUpModule: no test was started
            self._end(test)

    def _end(self, test) -> None:
        outcome = "failed" if self._problems else "passed" if self._reason is None else "skipped"
        line = {"name": test.id(), "outcome": outcome, "detail": "\n".join(self._problems) or self._reason or ""}
        self._report.write(json.dumps(line) + "\n")
        self._report.flush()
        self._problems, self._reason = [], None


def classes_in(suite):
    """The suites that hold tests and no suites: one for each class."""
    inner = [each for each in suite if isinstance(each, unittest.TestSuite)]
    return [found for each in inner for found in classes_in(each)] or [suite]


with os.fdopen(int(sys.argv[1]), "w") as report:
    part, parts = map(int, sys.argv[2:] or (0, 1))
    here = os.path.dirname(os.path.abspath(__file__))
    for folder in (here, os.path.join(os.path.dirname(here), "forkserver")):
        found = classes_in(unittest.TestLoader().discover(folder))
        unittest.TestSuite(found[part::parts]).run(Reporter(report))
