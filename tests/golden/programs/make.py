#!/usr/bin/env python3
"""Make demo (a tiny x86-64 ELF program) and its profiles; run by hand, results are committed.

    make.py [DIRECTORY]        needs GNU as, ld and strip

The program is never run: its functions are runs of `nop`, so that every address is known here and a
golden report does not depend on a compiler.  It has what reports must cope with: a cycle, recursion,
a compiler's clone, a C++ name, mcount inside the program, and code without a symbol.

    demo.gmon      everything: a histogram, arcs, an unknown caller, an unknown callee
    demo-arcs.gmon the arcs only
"""

import struct
import subprocess
import sys
import tempfile
from pathlib import Path

BASE = 0x401000
FUNCTIONS = [           # name, bytes, symbol type
    ("main", 64, "function"),
    ("alpha", 64, "function"),
    ("work.isra.0", 96, "function"),
    ("_ZN3box4openEi", 64, "function"),
    ("ping", 64, "function"),
    ("pong", 64, "function"),
    ("fact", 32, "function"),
    ("handler", 32, "function"),
    ("", 64, ""),       # no symbol: samples here are unattributed
    ("mcount", 64, "function"),
    ("idle", 32, "function"),
]
SAMPLES = {"main": 4, "alpha": 40, "work.isra.0": 300, "_ZN3box4openEi": 75, "ping": 60,
           "pong": 20, "fact": 9, "handler": 2, "": 15, "mcount": 90}
ARCS = [                # caller, callee, calls; None: outside
    (None, "main", 1), ("main", "alpha", 10), ("main", "ping", 3), ("alpha", "work.isra.0", 1000),
    ("main", "work.isra.0", 500), ("alpha", "_ZN3box4openEi", 25), ("ping", "pong", 7000),
    ("pong", "ping", 6997), ("pong", "fact", 12), ("fact", "fact", 4_000_000_000),
    ("fact", "fact", 4_000_000_000),     # together more than 32 bits hold
    ("main", None, 2),
]


def addresses():
    at, table = BASE, {}
    for name, size, _ in FUNCTIONS:
        table[name] = (at, size)
        at += size
    return table, at


def assembly():
    lines = [".text"]
    for name, size, kind in FUNCTIONS:
        if kind:
            lines += [f".globl {name}", f".type {name}, @{kind}", f"{name}:"]
        lines.append(f".skip {size}, 0x90")
        if kind:
            lines.append(f".size {name}, {size}")
    return "\n".join(lines) + "\n"


def profile(with_histogram):
    table, end = addresses()
    data = b"gmon" + struct.pack("<I12x", 1)
    if with_histogram:
        bins = [0] * ((end - BASE) // 4)
        for name, hits in SAMPLES.items():
            start, size = table[name]
            for i in range(hits):       # spread over the middle of the function
                bins[(start - BASE) // 4 + 1 + i % (size // 4 - 2)] += 1
        data += struct.pack("<BQQII15sc", 0, BASE, end, len(bins), 100, b"seconds", b"s")
        data += struct.pack(f"<{len(bins)}H", *bins)
    for caller, callee, calls in ARCS:
        frm = table[caller][0] + 20 if caller else 0x7f0000001000
        to = table[callee][0] + 9 if callee else 0x7f0000002000
        data += struct.pack("<BQQI", 1, frm, to, calls)
    return data


def main():
    here = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parent)
    with tempfile.TemporaryDirectory() as scratch:
        source, object_file = f"{scratch}/demo.s", f"{scratch}/demo.o"
        Path(source).write_text(assembly())
        subprocess.run(["as", "-o", object_file, source], check=True)
        subprocess.run(["ld", "-N", "--no-warn-rwx-segments", "--build-id=none", f"-Ttext={BASE:#x}", "-e", "main",
                        "-o", here / "demo", object_file], check=True)
    (here / "demo.gmon").write_bytes(profile(True))
    (here / "demo-arcs.gmon").write_bytes(profile(False))


main()
