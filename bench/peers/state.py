"""The least that could be called the same thing, in a plain interpreter: a line in, microseconds out.

    fork MIB        fork with that much heap, until the child has written a byte
    save MIB FILE   pickle an array of that size into a file
    load FILE       and read it back
    frame ROWS      pandas' own summary of a frame
"""

import os
import pickle
import sys
import time

kept = {}


def fork(mib):
    if mib not in kept:
        kept[mib] = bytearray(int(mib) << 20)
        kept[mib][::4096] = b"x" * len(kept[mib][::4096])
    read, write = os.pipe()
    begin = time.perf_counter()
    child = os.fork()
    if child == 0:
        os.write(write, b"x")
        os._exit(0)
    os.read(read, 1)
    taken = time.perf_counter() - begin
    os.waitpid(child, 0)
    os.close(read)
    os.close(write)
    return taken


def save(mib, path):
    import numpy

    array = kept.setdefault("array", numpy.random.default_rng(1).random((int(mib) << 20) // 8))
    begin = time.perf_counter()
    with open(path, "wb") as file:
        pickle.dump(array, file, protocol=5)
    return time.perf_counter() - begin


def load(path):
    begin = time.perf_counter()
    with open(path, "rb") as file:
        pickle.load(file)
    return time.perf_counter() - begin


def frame(rows):
    import numpy
    import pandas

    if "frame" not in kept:
        count = int(rows)
        kept["frame"] = pandas.DataFrame({"a": numpy.arange(count), "b": numpy.arange(count) * 0.5})
    begin = time.perf_counter()
    repr(kept["frame"])
    return time.perf_counter() - begin


for line in sys.stdin:
    what, *arguments = line.split()
    print(int(globals()[what](*arguments) * 1e6), flush=True)
