"""Sandboxes where no namespaces can be made: Landlock, the system call filter, limits and, where the host is root, users."""
