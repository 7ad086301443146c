#!/usr/bin/env python3
"""Writes the seeds of profiles by source position beside itself: AutoFDO of each version, and LLVM's
sample profiles as text and as extensible binary.

Made from docs/formats/source-profiles.md, not with monarc's writer. Running it again changes nothing.
"""

import struct
import zlib
from pathlib import Path

HERE = Path(__file__).resolve().parent
NAMES = [b"", b"clamp", b"main", b"often", b"rarely", b"work"]
# Name, head, positions {(line, block): (count, targets)}, inlined [(line, block, function)].
CLAMP = (b"clamp", 0, {(2, 0): (900, {}), (3, 1): (100, {})}, [])
WORK = (b"work", 10, {(3, 0): (1000, {}), (3, 2): (990, {}), (7, 1): (2**40, {b"often": 750, b"rarely": 250})},
        [(5, 3, CLAMP)])
MAIN = (b"main", 1, {(2, 0): (1, {b"work": 1})}, [])
FUNCTIONS = [WORK, MAIN]


def u(*values):
    return b"".join(struct.pack("<I", v) for v in values)


def count(value):
    return struct.pack("<Q", value)


def text(version, name):
    if version == 1:
        words = (len(name) + 4) // 4
        return u(words) + name.ljust(4 * words, b"\0")
    return u(len(name) + 1) + name + b"\0"


def instance(function):
    name, _, positions, inlined = function
    out = u(NAMES.index(name), len(positions), len(inlined))
    for (line, block), (n, targets) in positions.items():
        out += u(line << 16 | block, len(targets)) + count(n)
        for target, times in targets.items():
            out += u(7) + count(NAMES.index(target)) + count(times)
    for line, block, inner in inlined:
        out += u(line << 16 | block) + instance(inner)
    return out


def afdo(version):
    out = u(0x67636461, version, 0)
    if version == 3:
        out += u(0xA8 << 24) + count(5) * 5 + count(2) + (u(10000) + count(9) + count(1)) * 2
    names = u(1) + text(3, b"t.c") if version == 3 else b""
    names += u(len(NAMES))
    for name in NAMES:
        names += text(version, name) + (u(0 if name else 0xFFFFFFFF) if version == 3 else b"")
    out += u(0xAA << 24, len(names) // 4) + names
    functions = u(len(FUNCTIONS))
    for f in FUNCTIONS:
        functions += count(f[1]) + (count(12345) if version == 3 else b"") + instance(f)
    out += u(0xAC << 24, len(functions) // 4) + functions
    return out + u(0xAE << 24, 0, 0, 0xAF << 24, 384) + bytes(1536)


def uleb(*values):
    out = b""
    for value in values:
        while value > 127:
            out, value = out + bytes([value & 127 | 128]), value >> 7
        out += bytes([value])
    return out


def body(function):
    name, _, positions, inlined = function
    out = uleb(sum(n for n, _ in positions.values()), len(positions))
    for (line, block), (n, targets) in positions.items():
        out += uleb(line, block, n, len(targets))
        for target, times in targets.items():
            out += uleb(NAMES.index(target) - 1, times)
    out += uleb(len(inlined))
    for line, block, inner in inlined:
        out += uleb(line, block, NAMES.index(inner[0]) - 1) + body(inner)
    return out


def binary(packed=False, hashed=False):
    names = uleb(len(NAMES) - 1) + b"".join(
        struct.pack("<Q", hash_of(n)) if hashed else n + b"\0" for n in NAMES[1:])
    functions = b"".join(uleb(f[1], NAMES.index(f[0]) - 1) + body(f) for f in FUNCTIONS)
    parts = [(1, 0, uleb(9, 9, 9, 9, 2, 1, 10000, 9, 1)), (2, (3 << 32) * hashed, names),
             (3, 0, b""), (32, 0, functions)]
    if packed:
        parts = [(t, f | 1, uleb(len(b), len(zlib.compress(b))) + zlib.compress(b)) if b else (t, f, b)
                 for t, f, b in parts]
    head = uleb(0x5350524F46343204, 103) + struct.pack("<Q", len(parts))
    at = len(head) + 32 * len(parts)
    table = b""
    for kind, flags, data in parts:
        table += struct.pack("<4Q", kind, flags, at, len(data))
        at += len(data)
    return head + table + b"".join(data for _, _, data in parts)


def hash_of(name):
    return int.from_bytes(name.ljust(8, b"\1")[:8], "little")


def lines(function, depth=0):
    name, _, positions, inlined = function
    out = ""
    for (line, block), (n, targets) in positions.items():
        place = f"{line}.{block}" if block else f"{line}"
        called = "".join(f" {t.decode()}:{k}" for t, k in targets.items())
        out += " " * (depth + 1) + f"{place}: {n}{called}\n"
    for line, block, inner in inlined:
        out += " " * (depth + 1) + f"{line}.{block}: {inner[0].decode()}:1000\n" + lines(inner, depth + 1)
    return out


def as_text():
    return "# a comment\n\n" + "".join(f"{f[0].decode()}:1:{f[1]}\n{lines(f)}" for f in FUNCTIONS) + \
        " !CFGChecksum: 123456789\n !Attributes: 2\n"


def main():
    edges = (b"1 work 47 1 work 4a 3 90000\n1 work 5d 1 often/1 0 0 75\n1 work 5d 2 often/t.c/2 0 0 25\n"
             b"0 [unknown] 0 1 work 0 0 1\n1 a\\ b ff 1 work 0 0 18446744073709551615\n1 a\\ b ff 1 work 0 0 1\n")
    by_address = (b"E cycles:u\nB 401156 40114e 950 12\nB X:0 401130 1 0\nF 40114e 401156 949\nf 401130 401156 1\n"
                  b"r 401160 401166 2\nT 401156 40114e 401170 5\nR 401156 40114e ffffffffffffffff 5\n"
                  b"B 401156 40114e 1 0\nB 1f3a:401156 401150 18446744073709551615 1\n")
    seeds = {"preaggregated/branches": by_address, "preaggregated/samples": b"E cycles\nS 401156 7\nS 401156 1\n",
             "preaggregated/cut": by_address[:40], "preaggregated/bad": b"B 401156 40114e 950\nZ 1 2\n",
             "fdata/edges": edges, "fdata/bolted": b"boltedcollection\n" + edges,
             "fdata/samples": b"no_lbr cycles:u cpu\n1 work 23 7\n2 often/2 0 1\n1 work 23 2\n",
             "fdata/memory": edges + b"4 work 47 3 heap 12 9\n", "fdata/cut": edges[:40],
             "afdo/version1": afdo(1), "afdo/version2": afdo(2), "afdo/version3": afdo(3),
             "afdo/cut": afdo(2)[:200], "afdo/version9": u(0x67636461, 9, 0),
             "llvm_sample/text": as_text().encode(), "llvm_sample/contexts": b"[main:3 @ f]:1:1\n 1: 1\n",
             "llvm_sample/indented": b"f:1:1\n   1: 1\n", "llvm_sample/binary": binary(),
             "llvm_sample/packed": binary(packed=True), "llvm_sample/hashed": binary(hashed=True)}
    for name, data in seeds.items():
        (HERE / name).parent.mkdir(exist_ok=True)
        (HERE / name).write_bytes(data)


if __name__ == "__main__":
    main()
