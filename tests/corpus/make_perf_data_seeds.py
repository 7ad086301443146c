#!/usr/bin/env python3
"""make_perf_data_seeds.py: small perf.data files of every kind that the reader knows.

    make_perf_data_seeds.py FOLDER

They are made here, not recorded: either byte order, a file and a pipe, packed records, several
events, records that have no place in a run. What the tests expect of them stands in
tests/profile/import/test_perf_data.c.
"""

import pathlib
import struct
import subprocess
import sys

IP, TID, TIME, ID, CPU, PERIOD, CHAIN, BRANCHES = 1, 2, 4, 0x40, 0x80, 0x100, 0x20, 0x800
REGS, STACK, IDENTIFIER = 0x1000, 0x2000, 0x10000
USER, KERNEL, HYPERVISOR = 2, 1, 3
CONTEXT_KERNEL, CONTEXT_USER = (1 << 64) - 128, (1 << 64) - 512


class File:
    def __init__(self, order, sample_type, flags=(18,), registers=0):
        self.order, self.type, self.flags = order, sample_type, flags
        self.registers = registers

    def pack(self, form, *values):
        return struct.pack(self.order + form, *values)

    def attribute(self, kind, config, period):
        flags = sum(1 << (bit if self.order == "<" else 63 - bit) for bit in self.flags)
        return self.pack("IIQQQQQIIQQQQIiQ", kind, 112, config, period, self.type, 0, flags, 0, 0,
                         0, 0, 8 if self.type & BRANCHES else 0, self.registers, 0, 0, 0) + self.pack("IHH", 0, 127, 0)

    def record(self, kind, misc, body):
        body += bytes(-len(body) % 8)
        return self.pack("IHH", kind, misc, len(body) + 8) + body

    def trailer(self, time, number):
        text = self.pack("IIQ", 7, 7, time)
        return text + (self.pack("Q", number) if self.type & IDENTIFIER else b"")

    def other(self, kind, misc, body, time, number=0):
        body += bytes(-len(body) % 8)
        return self.record(kind, misc, body + self.trailer(time, number))

    def name(self, pid, text, time, misc=0x2000):
        return self.other(3, misc, self.pack("II", pid, pid) + text + b"\0", time)

    def mapping(self, pid, start, length, offset, path, misc=USER):
        body = self.pack("IIQQQ", pid & 0xffffffff, pid & 0xffffffff, start, length, offset)
        return self.other(1, misc, body + path + b"\0", 0 if pid < 0 else 110)

    def sample(self, ip, time, period, chain=(), misc=USER, number=0, pid=7, branches=()):
        """branches: (from, to, whether expected otherwise), the latest first."""
        body = self.pack("Q", number) if self.type & IDENTIFIER else b""
        body += self.pack("QIIQQ", ip, pid, pid, time, period)
        if self.type & CHAIN:
            body += self.pack("Q", len(chain)) + b"".join(self.pack("Q", c) for c in chain)
        if self.type & BRANCHES:
            body += self.pack("Q", len(branches)) + b"".join(self.pack(
                "QQQ", *ends, missed if self.order == "<" else missed << 63) for *ends, missed in branches)
        if self.type & REGS:
            body += self.pack("Q", 2) + b"".join(self.pack("Q", v) for v in (0, 0x7000, ip))
        if self.type & STACK:
            body += self.pack("Q", 32) + self.pack("QQQQ", 1, 2, 3, 4) + self.pack("Q", 32)
        return self.record(9, misc, body)

    def whole(self, attributes, ids, records, features=()):
        """features: {bit: bytes}"""
        head, each = 104, len(attributes[0]) + 16
        ids_at = head
        data_at = ids_at + sum(8 * len(i) for i in ids) + each * len(attributes)
        text, at = b"", ids_at
        for some in ids:
            text += b"".join(self.pack("Q", i) for i in some)
        attributes_at = head + len(text)
        for attribute, some in zip(attributes, ids):
            text += attribute + self.pack("QQ", at, 8 * len(some))
            at += 8 * len(some)
        bits = [0, 0, 0, 0]
        for bit in dict(features):
            bits[bit // 64] |= 1 << bit % 64
        sections, behind = b"", b""
        start = data_at + len(records) + 16 * len(features)
        for bit in sorted(dict(features)):
            body = dict(features)[bit]
            sections += self.pack("QQ", start + len(behind), len(body))
            behind += body
        magic = b"PERFILE2" if self.order == "<" else b"2ELIFREP"
        header = magic + self.pack("QQQQQQQQ", head, each, attributes_at, each * len(attributes),
                                   data_at, len(records), 0, 0)
        header += b"".join(self.pack("Q", b) for b in bits)
        return header + text + records + sections + behind

    def text(self, value):
        return self.pack("I", 16) + value.ljust(16, b"\0")

    def build_id(self, path, number):
        body = self.pack("I", 0xffffffff) + bytes([number] * 20) + bytes([20, 0, 0, 0])
        return self.record(67, 0x8000 | USER, body + path + b"\0")


ROUND = 68


def plain(order):
    """Two processes, frames of user and kernel, a sample of a hypervisor, losses, a late record."""
    f = File(order, IP | TID | TIME | PERIOD | CHAIN)
    records = f.mapping(-1, 0x1000000, 0x100000, 0x1000000, b"[kernel.kallsyms]_text", KERNEL)
    records += f.name(7, b"main", 100)
    records += f.mapping(7, 0x400000, 0x1000, 0, b"/nowhere/main")
    records += f.sample(0x400010, 300, 5, (CONTEXT_USER, 0x400010, 0x400021))
    records += f.sample(0x1000010, 200, 7,
                        (CONTEXT_KERNEL, 0x1000010, 0x1000200, CONTEXT_USER, 0x400030, 0x400021))
    records += f.other(7, 0, f.pack("IIIIQ", 8, 7, 8, 7, 250), 250)
    records += f.record(ROUND, 0, b"")
    records += f.sample(0x400010, 400, 5, (CONTEXT_USER, 0x400010, 0xdead0000, 0x400021), pid=8)
    records += f.sample(0x400010, 350, 5, (), HYPERVISOR)
    records += f.other(2, 0, f.pack("QQ", 1, 3), 360)
    records += f.record(ROUND, 0, b"")
    attribute = f.attribute(1, 0, 1000)
    features = {2: f.build_id(b"/nowhere/main", 9), 6: f.text(b"x86_64"),
                11: f.pack("I", 2) + f.text(b"perf") + f.text(b"record")}
    return f, attribute, records, features


KERNEL_TEXT = 0xffffffff81000000
CONTEXT_USER_DEFERRED, DEFERRED = (1 << 64) - 640, 22


def old(mapping):
    """As perf 2.6 to 3.8 wrote it: 7 in the kernel, 5 in the program. mapping(f): the kernel's."""
    f = File("<", IP | TID | TIME | PERIOD | CHAIN)
    records = mapping(f) + f.name(7, b"main", 100, USER)
    records += f.mapping(7, 0x400000, 0x1000, 0, b"/nowhere/main")
    records += f.sample(KERNEL_TEXT + 0x10, 200, 7, (CONTEXT_KERNEL, KERNEL_TEXT + 0x10,
                                                    CONTEXT_USER, 0x400030, 0x400021), KERNEL)
    records += f.sample(0x400010, 300, 5, (CONTEXT_USER, 0x400010, 0x400021))
    return f.whole([f.attribute(1, 0, 1000)], [[]], records, {6: f.text(b"x86_64")})


def deferred():
    """Stacks of user code that come once for several samples; with a cookie that is not the
    sample's; never."""
    f = File("<", IP | TID | TIME | PERIOD | CHAIN)

    def stack(cookie, time, *addresses):
        words = (CONTEXT_USER, *addresses)
        return f.other(DEFERRED, 0, f.pack("QQ", cookie, len(words)) +
                       b"".join(f.pack("Q", w) for w in words), time)

    records = f.mapping(-1, KERNEL_TEXT, 0x100000, KERNEL_TEXT, b"[kernel.kallsyms]_text", KERNEL)
    records += f.name(7, b"main", 100) + f.mapping(7, 0x400000, 0x1000, 0, b"/nowhere/main")
    for ip, time, period in (0x10, 200, 3), (0x20, 210, 4):
        records += f.sample(KERNEL_TEXT + ip, time, period, (
            CONTEXT_KERNEL, KERNEL_TEXT + ip, CONTEXT_USER_DEFERRED, 1), KERNEL)
    records += stack(1, 220, 0x400030, 0x400021)
    records += f.sample(0x400010, 300, 5, (CONTEXT_USER_DEFERRED, 2))
    records += stack(2, 310, 0x400010, 0x400021)
    records += f.sample(0x400018, 400, 11, (CONTEXT_USER_DEFERRED, 3)) + stack(4, 410, 0x400010)
    records += f.sample(0x40001c, 500, 13, (CONTEXT_USER_DEFERRED, 5))
    return f.whole([f.attribute(1, 0, 1000)], [[]], records, {6: f.text(b"x86_64")})


def branches(order):
    """A loop; into the kernel and back; entries that are empty."""
    f = File(order, IP | TID | TIME | PERIOD | BRANCHES)
    records = f.name(7, b"main", 100) + f.mapping(7, 0x400000, 0x1000, 0, b"/nowhere/main")
    records += f.sample(0x400010, 200, 5, branches=(
        (0x400020, 0x400010, 0), (0x400020, 0x400010, 1), (KERNEL_TEXT, 0x400018, 0), (0x400012, KERNEL_TEXT, 0),
        (0, 0, 0)))
    return f.whole([f.attribute(0, 0, 1000)], [[]], records, {6: f.text(b"x86_64")})


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(exist_ok=True)
    for order, name in (("<", "little"), (">", "big")):
        f, attribute, records, features = plain(order)
        (folder / name).write_bytes(f.whole([attribute], [[]], records, features))
    f, attribute, records, _ = plain("<")
    magic = b"PERFILE2" + f.pack("Q", 16)
    told = f.record(64, 0, attribute) + f.record(80, 0, f.pack("Q", 6) + f.text(b"x86_64"))
    (folder / "pipe").write_bytes(magic + told + records)
    (folder / "pipe-and-message").write_bytes(
        magic + told + records + b"[ perf record: Woken up 1 times to write data ]\n")
    (folder / "perf-3.2").write_bytes(old(lambda f: f.mapping(
        -1, 0, 0xffffffff9fffffff, KERNEL_TEXT, b"[kernel.kallsyms]_text", KERNEL)))
    (folder / "perf-2.6.36").write_bytes(old(lambda f: f.mapping(
        -1, 0, 0xffffffff9fffffff, KERNEL_TEXT, b"[kernel.kallsyms._text]", KERNEL)))
    (folder / "deferred").write_bytes(deferred())
    (folder / "branches").write_bytes(branches("<"))
    (folder / "branches-big").write_bytes(branches(">"))
    packed = subprocess.run(["zstd", "-qc", "-"], input=records, stdout=subprocess.PIPE,
                            check=True).stdout
    half = len(packed) // 2
    pieces = b"".join(f.pack("IHH", 81, 0, 8 + len(p)) + p for p in (packed[:half], packed[half:]))
    (folder / "packed").write_bytes(f.whole([attribute], [[]], pieces, {6: f.text(b"x86_64")}))
    g = File("<", IDENTIFIER | IP | TID | TIME | PERIOD)
    events = g.name(7, b"main", 100) + g.sample(0x10, 200, 5, number=41)
    events += g.sample(0x20, 300, 6, number=42) + g.sample(0x20, 300, 6, number=43)
    (folder / "events").write_bytes(g.whole(
        [g.attribute(1, 0, 1000), g.attribute(0, 1, 1000)], [[41], [42]], events))
    h = File("<", IP | TID | TIME | PERIOD | CHAIN | REGS | STACK, registers=0x181)
    stacks = h.name(7, b"main", 100) + h.mapping(7, 0x400000, 0x1000, 0, b"/nowhere/main")
    stacks += h.sample(0x400010, 200, 5, (CONTEXT_USER,))
    (folder / "stacks").write_bytes(h.whole([h.attribute(1, 0, 1000)], [[]], stacks,
                                            {6: h.text(b"x86_64")}))


if __name__ == "__main__":
    main()
