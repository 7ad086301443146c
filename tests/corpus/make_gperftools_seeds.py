#!/usr/bin/env python3
"""make_gperftools_seeds.py: small profiles in the formats of gperftools and jemalloc.

    make_gperftools_seeds.py FOLDER

Their totals stand in tests/cli/test_import.py. Addresses are those of a program that does not
exist: 0x401000 and 0x401100 are two functions of it.
"""

import pathlib
import struct
import sys

MAPS = ("00400000-00401000 r--p 00000000 08:01 11   /nowhere/prog\n"
        "00401000-00402000 r-xp 00001000 08:01 11   /nowhere/prog\n"
        "7f0000000000-7f0000001000 r-xp 00000000 08:01 12   /nowhere/libx.so (deleted)\n"
        "7ffd00000000-7ffd00001000 r-xp 00000000 00:00 0    [vdso]\n")
LEAF, OTHER, CALLER, LIBRARY = 0x401010, 0x401020, 0x401110, 0x7f0000000040


def cpu(form, java=0, end=True):
    words = [0, 3, java, 10000, 0]
    for count, stack in (5, (LEAF, CALLER)), (3, (LEAF, LEAF, CALLER)), (2, (LIBRARY, CALLER)), (1, (OTHER,)):
        if form[1] == "I":
            stack = [a & 0xffffffff for a in stack]
        words += [count, len(stack), *stack]
    words += [0, 1, 0] if end else []
    return struct.pack(form[0] + str(len(words)) + form[1], *words) + MAPS.encode()


def stack(*addresses):
    return "@ " + " ".join(map(hex, addresses)) + "\n"


def heap(how, allocated=True):
    return (f"heap profile:      3:     1280 [{'      9:     4096' if allocated else '      3:     1280'}] @ {how}\n"
            f"     2:     1024 [     8:     3840] {stack(LEAF, CALLER)}"
            f"     1:      256 [     1:      256] {stack(OTHER)}\nMAPPED_LIBRARIES:\n{MAPS}")


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(exist_ok=True)
    texts = {
        "heap": heap("heapprofile"), "heap-sampled": heap("heap_v2/524288"), "growth": heap("growthz", False),
        "heap-odd": heap("heapprofile").replace("\nMAPPED", "what is this\n\nMAPPED"),
        "jemalloc": "heap_v2/524288\n  t*: 3: 1280 [0: 0]\n  t0: 3: 1280 [0: 0]\n"
                    + stack(LEAF, CALLER) + "  t*: 2: 1024 [0: 0]\n  t0: 2: 1024 [0: 0]\n"
                    + stack(OTHER) + "  t*: 1: 256 [0: 0]\n\nMAPPED_LIBRARIES:\n" + MAPS,
        "contention": "--- contentionz 1 ---\ncycles/second = 2000000000\nsampling period = 100\n"
                      "ms since reset = 60000\ndiscarded samples = 0\n"
                      f"  4000 3 {stack(LEAF, CALLER)}   1000  1  {stack(OTHER)}--- Memory map: ---\n{MAPS}",
        "mutex": f"--- mutex:\ncycles/second=1000000000\n10 2 {stack(LEAF)}",
        "threads": "--- threadz 1 ---\n\n--- Thread 7ff0 (name: main/14748) stack: ---\n  PC: 0x401010\n",
        "java-heap": "--- heapz 1 ---\nformat = java\nresolution = bytes\n  7048  1 @ 0x1 0x2\n",
        "go-text": "goroutine profile: total 7\n1 @ 0x40b 0x40c\n#\t0x40b\tmain.f+0x1\n",
    }
    for name, text in texts.items():
        (folder / name).write_text(text)
    for name, form in (("cpu", "<Q"), ("cpu-big", ">Q"), ("cpu-32", "<I"), ("cpu-32-big", ">I")):
        (folder / name).write_bytes(cpu(form))
    (folder / "cpu-java").write_bytes(cpu("<Q", 1))
    (folder / "cpu-cut").write_bytes(cpu("<Q")[:150])


main()
