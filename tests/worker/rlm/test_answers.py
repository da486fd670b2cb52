"""What stands in a batch for a call that failed: it is never taken for text."""

import copy
import importlib.util
import json
import os
import pickle
import sys
import unittest

from harness import ROOT

spec = importlib.util.spec_from_file_location("rlm_answers", os.path.join(ROOT, "python", "worker", "rlm", "answers.py"))
answers = sys.modules["rlm_answers"] = importlib.util.module_from_spec(spec)
spec.loader.exec_module(answers)

FAILURE = {
    "ok": False, "text": "half an ans", "finish_reason": "refusal", "usage": {"output_tokens": 3},
    "error": "Cannot get an answer from openai: too many requests", "kind": "rate-limit", "retryable": True,
}
MESSAGE = "item 1 of the batch of 3 failed (rate-limit, retryable): Cannot get an answer from openai: too many requests"


def failed(**fields):
    return answers.results_of([["a", 1, 2], {**FAILURE, **fields}, ["c", 1, 2]])


class FailedCalls(unittest.TestCase):
    def test_joining_results_says_which_failed_and_why(self):
        with self.assertRaises(TypeError) as caught:
            " ".join(failed())
        expected = "sequence item 1: expected str instance, FailedCall(rate-limit, retryable: too many requests) found"
        self.assertEqual(str(caught.exception), expected)

    def test_a_failure_is_shown_with_its_reason(self):
        shown = "<FailedCall: rate-limit, retryable: Cannot get an answer from openai: too many requests>"
        self.assertEqual(repr(failed()), f"['a', {shown}, 'c']")

    def test_using_a_failure_as_text_raises_its_error(self):
        one = failed()[1]
        uses = [
            str, len, list, hash, lambda it: f"{it}", lambda it: "%s" % it, lambda it: "{:>5}".format(it), lambda it: it + "x",
            lambda it: "x" + it, lambda it: it[:5], lambda it: "x" in it, lambda it: it == "x", lambda it: it != "x", lambda it: "x" == it,
            lambda it: it.strip(), lambda it: it.splitlines(), lambda it: [*it], lambda it: it * 2, print,
            lambda it: json.dumps([it], default=str),
        ]
        for at, use in enumerate(uses):
            with self.subTest(at), self.assertRaises(answers.LLMError) as caught:
                use(one)
            error = caught.exception
            self.assertEqual((str(error), error.kind, error.retryable), (MESSAGE, "rate-limit", True))

    def test_other_uses_fail_with_the_reason_in_the_message(self):
        one = failed()[1]
        for use in (int, float, json.dumps, sorted, lambda it: sorted([it, "x"]), lambda it: {}.get(it)):
            with self.subTest(use), self.assertRaises((TypeError, answers.LLMError)) as caught:
                use(one)
            self.assertIn("too many requests", str(caught.exception))
        with self.assertRaises(AttributeError):
            one.missing

    def test_a_failure_has_the_fields_of_an_answer(self):
        first, one, _ = failed()
        fields = ("ok", "text", "finish_reason", "usage", "truncated", "cached", "degraded", "data")
        self.assertEqual([getattr(first, name) for name in fields],
                         [True, "a", "stop", {"input_tokens": 1, "output_tokens": 2}, False, False, False, None])
        self.assertEqual([getattr(one, name) for name in fields],
                         [False, "half an ans", "refusal", {"output_tokens": 3}, False, False, False, None])
        self.assertEqual((type(one.error), str(one.error), one.error.kind, one.error.retryable, one.error.text),
                         (answers.LLMError, FAILURE["error"], "rate-limit", True, "half an ans"))
        self.assertIsNone(first.error)
        self.assertTrue(isinstance(one, answers.FailedCall) and not one and not isinstance(one, str))
        self.assertIs(type(failed(kind="limit")[1].error), answers.LimitError)

    def test_a_failure_can_be_copied_and_pickled(self):
        one = failed(degraded=True)[1]
        for other in (copy.copy(one), copy.deepcopy(one), pickle.loads(pickle.dumps(one))):
            self.assertEqual(repr(other), repr(one))
            self.assertEqual((other.text, other.finish_reason, other.usage, other.degraded), (one.text, "refusal", one.usage, True))
            with self.assertRaisesRegex(answers.LLMError, "item 1 of the batch of 3"):
                str(other)

    def test_names_of_failures_are_short_plain_and_few(self):
        names = {type(failed(error=f"Cannot x: {number}\n\0é{'y' * 500}")[1]).__name__ for number in range(200)}
        self.assertTrue(all(name.isascii() and name.isprintable() and len(name) == 80 for name in names))
        self.assertEqual(len(names), 200)
        self.assertLessEqual(len(answers._types), answers.MAX_TYPES)

    def test_the_failures_of_a_batch_raise_together(self):
        answers.raise_failed(answers.results_of([["a", 1, 2]]))
        with self.assertRaises(answers.LimitError) as caught:
            answers.raise_failed(answers.results_of([["a", 1, 2], {**FAILURE, "kind": "limit"}, {**FAILURE, "retryable": False}]))
        error = caught.exception
        self.assertRegex(str(error), r"^2 of 3 calls failed; the first is item 1 \(limit, retryable\): Cannot get")
        self.assertEqual((error.kind, error.retryable), ("limit", False))

    def test_a_single_call_raises_its_error(self):
        self.assertEqual(answers.answer_of(["a", 1, 2]), "a")
        with self.assertRaises(answers.LLMError) as caught:
            answers.answer_of(FAILURE)
        error = caught.exception
        self.assertEqual((str(error), error.kind, error.text, error.finish_reason, error.usage),
                         (FAILURE["error"], "rate-limit", "half an ans", "refusal", {"output_tokens": 3}))


if __name__ == "__main__":
    unittest.main()
