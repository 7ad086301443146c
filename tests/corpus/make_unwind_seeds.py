#!/usr/bin/env python3
"""Writes the seeds of fuzz_unwind beside itself: small tables, registers and stacks that reach each
way of the unwinder. Made from DWARF 5 and the LSB, not with monarc's code. Running it again must
change nothing. The layout stands in fuzz_unwind.c.
"""

import struct
from pathlib import Path

HERE = Path(__file__).resolve().parent / "unwind"
CODE, BARE, EH, HDR, STACK = 0x10000, 0x20000, 0x4000, 0x3000, 0x7f0000000000
X86, ARM, RISCV = range(3)
SP = {X86: 7, ARM: 31, RISCV: 2}


def padded(data):
    return data + bytes(-len(data) % 4)


def entry(body):
    return struct.pack("<I", len(body)) + body


class Frames:
    """An .eh_frame (or .debug_frame) and what its header says of it."""

    def __init__(self, cie, ra, letters=b"zR", data=b"\x1b", debug=False):
        self.debug, self.has_data, self.table = debug, letters[:1] == b"z", []
        body = (b"\xff" * 4 if debug else bytes(4)) + b"\1" + letters + b"\0\1\x78" + bytes([ra])
        if self.has_data:
            body += bytes([len(data)]) + data
        self.bytes = entry(padded(body + cie))

    def add(self, start, length, program):
        at = len(self.bytes)
        if self.debug:
            body = struct.pack("<IQQ", 0, start, length)
        else:
            body = struct.pack("<IiI", at + 4, start - (EH + at + 8), length)
            body += b"\0" if self.has_data else b""
        self.table.append((start - HDR, EH + at - HDR))
        self.bytes += entry(padded(body + bytes(program)))
        return self

    def header(self):
        rows = b"".join(struct.pack("<ii", *row) for row in sorted(self.table))
        return b"\1\x1b\3\x3b" + struct.pack("<iI", EH - HDR - 4, len(self.table)) + rows


def seed(name, machine, registers, stack, eh=b"", hdr=b"", debug=b"", read=0, most=40):
    values = [registers.get(i, 0) for i in range(32)]
    values[SP[machine]] = STACK
    body = struct.pack("<BBBHHH", machine, most, read, len(eh), len(hdr), len(debug))
    body += eh + hdr + debug + struct.pack("<33Q", registers["pc"], *values)
    (HERE / name).write_bytes(body + struct.pack(f"<{len(stack)}Q", *stack))


def x86_frames(**how):
    f = Frames(b"\x0c\7\x08\x90\1", 16, **how)
    f.add(CODE, 16, b"")
    f.add(CODE + 16, 16, b"\x41\x0e\x10\x86\2\x43\x0d\6\x0a\x02\5\x0c\7\x08\x0b")
    f.add(CODE + 32, 16, b"\x0f\x0b\x77\x08\x80\0\x3f\x1a\x3b\x2a\x33\x24\x22")
    f.add(CODE + 48, 16, b"\x0c\3\x10\x83\2\x10\6\2\x76\0\x16\x0c\2\x77\x10")
    f.add(CODE + 64, 16, b"\x07\x10")
    f.add(CODE + 80, 16, b"\x0e\x20\x14\6\2\x09\x0c\3\x2e\4\x05\x0d\3\x08\x0e\x11\x0f\x7e")
    return f


STACK_OF_X86 = [CODE + 20, STACK + 32, 1, 2, STACK + 64, CODE + 36, CODE + 52, STACK + 80,
                STACK + 72, CODE + 81, CODE + 81, 1, 2, CODE + 65, CODE + 65, CODE + 65]


def main():
    HERE.mkdir(exist_ok=True)
    f = x86_frames()
    start = {"pc": CODE + 2, 6: STACK + 24, 3: STACK + 40}
    for name, hdr in (("x86-header", f.header()), ("x86-index", b"")):
        seed(name, X86, start, STACK_OF_X86, f.bytes, hdr)
    seed("x86-rbp", X86, start | {"pc": CODE + 24}, STACK_OF_X86, f.bytes, f.header())
    seed("x86-plt", X86, start | {"pc": CODE + 45}, STACK_OF_X86, f.bytes, f.header())
    seed("x86-expressions", X86, start | {"pc": CODE + 50}, STACK_OF_X86, f.bytes, read=1)
    seed("x86-debug-frame", X86, start, STACK_OF_X86,
         debug=x86_frames(letters=b"", debug=True).bytes)
    signal = x86_frames(letters=b"zRS")
    seed("x86-signal", X86, start, STACK_OF_X86, signal.bytes, signal.header())
    for name, pc in (("x86-frame-pointer", BARE + 4), ("x86-generated", BARE + 0x1004)):
        seed(name, X86, {"pc": pc, 6: STACK + 8},
             [7, STACK + 32, pc + 8, 7, STACK + 48, CODE + 65, 0, 0])
    seed("x86-nowhere", X86, {"pc": 0}, STACK_OF_X86, f.bytes, f.header())
    seed("x86-read", X86, start | {"pc": BARE}, STACK_OF_X86[:2], f.bytes, read=1)
    for name, machine, fp, ra in (("aarch64", ARM, 29, 30), ("riscv64", RISCV, 8, 1)):
        f = Frames(bytes([0x0c, SP[machine], 0]), ra)
        f.add(CODE, 16, b"\x2d")
        f.add(CODE + 16, 16, [0x41, 0x0e, 32, 0x80 | fp, 4, 0x80 | ra, 3, 0x48, 0xc0 | ra])
        f.add(CODE + 32, 16, [7, ra])
        stack = [STACK + 48, (CODE + 20) | 0x2a << 48, 3, 4, STACK + 96, CODE + 33, 0, 0]
        registers = {"pc": CODE + 4, fp: STACK, ra: CODE + 20}
        seed(name, machine, registers, stack, f.bytes, f.header())
        seed(f"{name}-frame-pointer", machine, registers | {"pc": BARE, fp: STACK + 16}, stack,
             f.bytes, f.header(), read=1)


main()
