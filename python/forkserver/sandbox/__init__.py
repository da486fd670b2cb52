"""How a sandbox is confined: namespaces and mounts, Landlock, the system call filter, resource limits."""
