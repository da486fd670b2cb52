"""Session files: pickling the variables of a session and loading them again."""
