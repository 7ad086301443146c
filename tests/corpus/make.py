#!/usr/bin/env python3
"""Writes the seed files of the format tests and fuzzers beside itself, one directory a format.

Made from the format pages in docs/formats, not with monarc's own writer, so that the two check each
other. Running it again must change nothing.
"""

import struct
from pathlib import Path

HERE = Path(__file__).resolve().parent
LOW = 0x401000
BSD44 = 0x00051879


class Target:
    """A machine: pointer size and byte order."""

    def __init__(self, name):
        self.order = "<" if name.startswith("le") else ">"
        self.pointer = "Q" if name.endswith("64") else "I"

    def pack(self, fields, *values):
        """struct.pack() with P for a pointer."""
        return struct.pack(self.order + fields.replace("P", self.pointer), *values)

    def counters(self, values, code="H"):
        return self.pack(f"{len(values)}{code}", *values)


def bins(n, scale=1):
    return [(i * 7 % 11) * scale if i % 3 == 0 else 0 for i in range(n)]


def arcs(t, tag, count="I", base=0):
    rows = [(LOW + 0x10, LOW + 0x40, 1), (LOW + 0x58, LOW + 0x60, 250), (0, LOW + 0x40, 3),
            (LOW + 0x10, LOW + 0x40, 0xffffffff)]
    return b"".join(tag + t.pack("PP" + count, f - base if f else 0, s - base, n)
                    for f, s, n in rows)


# --- GNU -------------------------------------------------------------------------------------------

def header(t, version):
    return b"gmon" + t.pack("I12x", version)


def histogram(t, values, low=LOW, bin_bytes=4, rate=100, dimension=b"seconds", letter=b"s",
              high=None):
    high = low + bin_bytes * len(values) if high is None else high
    return (t.pack("PPII15sc", low, high, len(values), rate, dimension, letter)
            + t.counters(values))


def blocks(t):
    rows = [(LOW, 1), (LOW + 9, 1000), (LOW + 0x20, 0)]
    return b"\2" + t.pack("I", len(rows)) + b"".join(t.pack("PP", *r) for r in rows)


def blocks_0(t):
    rows = [(1, LOW, b"a.c", b"main", 3), (77, LOW + 9, b"a.c", b"", 4)]
    return b"\2" + t.pack("I", len(rows)) + b"gcc\0" + b"".join(
        t.pack("QQ", n, a) + file + b"\0" + function + b"\0" + t.pack("i", line)
        for n, a, file, function, line in rows)


def gmon():
    for name in "le64", "le32", "be64", "be32":
        t = Target(name)
        h = b"\0" + histogram(t, bins(40))
        full = b"\0" + histogram(t, [65535] * 40)
        other = b"\0" + histogram(t, bins(8), low=LOW + 0x1000)
        yield name, header(t, 1) + h + arcs(t, b"\1") + full + full + other + blocks(t)
    t = Target("le64")
    h = b"\0" + histogram(t, bins(40))
    yield "header-only", header(t, 1)
    yield "arcs-only", header(t, 1) + arcs(t, b"\1")
    yield "arcs-first", header(t, 1) + arcs(t, b"\1") + h + arcs(t, b"\1")
    yield "cut-in-bins", (header(t, 1) + h)[:-9]
    yield "cut-in-arc", header(t, 1) + h + arcs(t, b"\1")[:-5]
    yield "bad-tag", header(t, 1) + h + b"\7"
    yield "huge-bins", header(t, 1) + b"\0" + t.pack("PPII16s", LOW, LOW + 16, 2**32 - 1, 100, b"")
    yield "overlap", header(t, 1) + h + b"\0" + histogram(t, bins(40), low=LOW + 8)
    yield "two-units", (header(t, 1) + h + b"\0" + histogram(
        t, bins(8), low=LOW + 0x1000, rate=1, dimension=b"cachemiss", letter=b"c"))
    yield "odd", (header(t, 1) + b"\0" + histogram(t, bins(8), rate=0, high=LOW + 8) + b"\0"
                  + histogram(t, bins(4), low=LOW + 0x100, high=LOW) + b"\0"
                  + histogram(t, [], low=LOW + 0x200, high=LOW + 0x300, dimension=b"\xff\"\\\n"
                              b"fifteen bytes!"))


def gmon0():
    for name in "le64", "be32":
        t = Target(name)
        yield name, header(t, 0) + b"\0" + histogram(t, bins(40)) + arcs(t, b"\1") + blocks_0(t)
    t = Target("be64")
    yield "arcs-only", header(t, 0) + arcs(t, b"\1")
    yield "cut-in-blocks", header(t, 0) + blocks_0(t)[:-7]


# --- BSD -------------------------------------------------------------------------------------------

def bsd_file(name, values, bin_bytes=4, code="H", version=False, kind=0, rate=128):
    t = Target(name)
    counters = t.counters(values, code)
    extra = t.pack("IIi8x", BSD44, rate, kind) if version else b""
    ncnt = t.pack("PPI", 0, 0, 0) + extra + counters
    return (t.pack("PPI", LOW, LOW + bin_bytes * len(values), len(ncnt)) + extra + counters
            + arcs(t, b"", "P"))


def bsd():
    for name in "le64", "le32", "be64", "be32":
        yield name, bsd_file(name, bins(40))
    yield "cut-in-arc", bsd_file("le32", bins(40))[:-5]
    yield "cut-in-bins", bsd_file("le32", bins(40))[:60]


def bsd44():
    for name in "le64", "le32", "be64", "be32":
        yield name, bsd_file(name, bins(40), version=True)
    yield "cut-in-arc", bsd_file("le64", bins(40), version=True)[:-5]
    yield "cut-in-bins", bsd_file("be32", bins(40), version=True)[:60]
    for bits, code in (8, "b"), (16, "h"), (32, "i"), (64, "q"):
        yield f"typed-{bits}", bsd_file("le64", bins(40), code=code.upper(), version=True, kind=bits)
    yield "typed-signed-64", bsd_file("le64", bins(40, 10**10), code="q", version=True, kind=-64)
    yield "untyped-32", bsd_file("be64", bins(40, 10**6), bin_bytes=2, code="I", version=True)
    yield "untyped-64", bsd_file("le32", bins(40, 10**12), bin_bytes=2, code="Q", version=True)


# --- glibc's shared objects ------------------------------------------------------------------------

def sprof_file(name, tail):
    t = Target(name)
    table = arcs(t, b"", base=LOW)
    return (header(t, 0x1ffff) + t.pack("I", 0) + histogram(t, bins(40)) + t.pack("II", 1, 4)
            + table + tail)


def sprof():
    for name in "le64", "le32", "be64", "be32":
        yield name, sprof_file(name, bytes(64))
    yield "tail", sprof_file("le64", bytes(8) + b"\1")
    yield "cut-in-arc", sprof_file("le64", b"")[:-5]


def main():
    for make in gmon, gmon0, bsd, bsd44, sprof:
        directory = HERE / make.__name__
        directory.mkdir(exist_ok=True)
        for name, data in make():
            (directory / name).write_bytes(data)


if __name__ == "__main__":
    main()
