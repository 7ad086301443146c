#!/usr/bin/env python3
"""make_embedded_seeds.py: writes tests/corpus/embedded and tests/corpus/frames."""

import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.append(str(HERE.parent / "embedded"))
import images  # noqa: E402

ARCS = [(0x1011, 0x1041, 7), (0x1015, 0x1061, 2**32 - 1), (1, 0x1081, 1), (0x1013, 0x1043, 0)]
SEEDS = {
    "arm": images.image(arcs=ARCS, flags=images.CLEAR_BIT_0, bins=range(16)),
    "big32": images.image(">", arcs=ARCS, bins=[65535] * 16, lost=(5, 0, 3, 9, 1, 0)),
    "big64": images.image(">", 8, arcs=ARCS[:2], rate=0),
    "windows": images.image(windows=((0x1000, 0x1040), (0x20000000, 0x20000020)), shift=3),
    "stacks": images.image(word=8, stacks=[100, 0, 2**32 - 1], stack_shift=6, stack_top=0x9000,
                           lost=(0, 0, 0, 0, 0, 3), deepest=(64, 0x1010)),
    "cores": images.image(core=0, cores=2, arcs=ARCS) + images.image(core=1, cores=2, arcs=ARCS[:1]),
    "none": images.image(windows=(), slots=0, text=(0, 0)),
}


def write(folder, name, data):
    (HERE / folder).mkdir(exist_ok=True)
    (HERE / folder / name).write_bytes(data)


for name, data in SEEDS.items():
    write("embedded", name, data)
    write("frames", name, b"".join(images.frames(data)))
first = images.frames(SEEDS["arm"])
write("frames", "console", b"boot\r\n".join(first[:3]) + b"> 23 ~M C" + b"noise\n".join(first[2:]))
write("frames", "gap", b"".join(first[:2] + first[4:]))
write("frames", "damaged", b"".join(first).replace(b"A", b"B", 3))
write("frames", "two", b"".join(images.frames(SEEDS["windows"])[:2] + first))
write("frames", "empty", b"\n\n")
