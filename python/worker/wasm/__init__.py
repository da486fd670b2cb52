"""What a worker in WebAssembly has in place of threads, pipes, signals and processes. Only ``entry`` is imported from outside."""
