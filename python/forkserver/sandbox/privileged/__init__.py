"""What needs privileges: users, cgroups and mounts for sandboxes, and how the fork server gives up its own."""
