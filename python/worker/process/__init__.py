"""The worker as a Unix process: signals, the processes that user code starts, hooks around fork and exec."""
