"""For every line "BYTES_OF_PIPE COUNT WRITER" on stdin: a pipe, told as its read end, and COUNT times 64 KiB into it.

The writer is ``dd``, or ``python``: a plain interpreter with the loop that sessions are measured with.
"""

import fcntl
import os
import subprocess
import sys

F_SETPIPE_SZ = 1031
LOOP = "import os\nfor _ in range({}): os.write(1, b'x'*65536)"

for line in sys.stdin:
    size, count, writer = line.split()
    read, write = os.pipe()
    fcntl.fcntl(write, F_SETPIPE_SZ, int(size))
    print(read, flush=True)
    sys.stdin.readline()
    os.close(read)
    if writer == "dd":
        command = ["dd", "if=/dev/zero", "bs=64k", f"count={count}"]
    else:
        command = [sys.executable, "-I", "-S", "-c", LOOP.format(count)]
    subprocess.run(command, stdout=write, stderr=subprocess.DEVNULL, check=False)
    os.close(write)
