"""Classic BPF programs for system call filters: instructions, and tests of arguments."""
from __future__ import annotations

import errno
import struct

KILL = 0x80000000
ALLOW = 0x7FFF0000
EPERM = 0x00050000 | errno.EPERM
SUCCESS = 0x00050000
EINVAL = 0x00050000 | errno.EINVAL
EOPNOTSUPP = 0x00050000 | errno.EOPNOTSUPP
ENOMEM = 0x00050000 | errno.ENOMEM
ENOSYS = 0x00050000 | errno.ENOSYS
EACCES = 0x00050000 | errno.EACCES
ASK = 0x7FC00000

LOAD, AND, JEQ, JGT, JSET, RETURN = 0x20, 0x54, 0x15, 0x25, 0x45, 0x06
TAX, JEQ_X = 0x07, 0x1D
NR, ARCH_AT, ARG0 = 0, 4, 16

Instruction = tuple[int, int, int, int]
Code = list[Instruction]


def load(offset: int) -> Instruction:
    return LOAD, 0, 0, offset


def argument(index: int) -> Instruction:
    """The low 32 bits: both architectures are little endian."""
    return load(ARG0 + 8 * index)


def answer(action: int) -> Instruction:
    return RETURN, 0, 0, action


def when(op: int, value: int, action: int) -> Code:
    """Returns `action` if the comparison with the loaded word is true, else continues."""
    return [(op, 0, 1, value), answer(action)]


def unless(op: int, value: int, action: int) -> Code:
    return [(op, 1, 0, value), answer(action)]


def deny_values(index: int, *values: int, action: int = EPERM) -> Code:
    return [argument(index), *(step for value in values for step in when(JEQ, value, action))]


def deny_bits(index: int, bits: int, action: int = EPERM) -> Code:
    return [argument(index), *when(JSET, bits, action)]


def deny_all_but(index: int, *values: int, mask: int = 0xFFFFFFFF, action: int = EPERM) -> Code:
    tests = [(JEQ, len(values) - at, 0, value) for at, value in enumerate(values)]
    return [argument(index), (AND, 0, 0, mask), *tests, answer(action)]


def pack(code: Code) -> bytes:
    return b"".join(struct.pack("=HBBI", *instruction) for instruction in code)
