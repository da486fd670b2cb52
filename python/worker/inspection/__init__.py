"""Answers to questions about the namespace while user code runs: variables, values, completion."""
