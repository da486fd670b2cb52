"""Sessions on macOS: each process of a session is started under sandbox-exec by a small supervisor. Untested on macOS."""
