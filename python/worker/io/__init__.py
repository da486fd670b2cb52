"""The worker's ends of the pipes: messages, host calls, captured output, standard input."""
