"""For every line "BYTES_OF_PIPE COUNT" on stdin: a pipe, told as its read end, into which dd writes COUNT times 64 KiB."""

import fcntl
import os
import subprocess
import sys

F_SETPIPE_SZ = 1031

for line in sys.stdin:
    size, count = map(int, line.split())
    read, write = os.pipe()
    fcntl.fcntl(write, F_SETPIPE_SZ, size)
    print(read, flush=True)
    sys.stdin.readline()
    os.close(read)
    command = ["dd", "if=/dev/zero", "bs=64k", f"count={count}"]
    subprocess.run(command, stdout=write, stderr=subprocess.DEVNULL, check=False)
    os.close(write)
