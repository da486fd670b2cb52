"""Sandboxes whose namespaces bubblewrap makes, where it may do what this process may not."""
