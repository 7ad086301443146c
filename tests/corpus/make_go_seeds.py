#!/usr/bin/env python3
"""Makes the seeds of Go programs in tests/corpus/object: two functions and no symbols, with the table of functions
(.gopclntab) as each release wrote it. Programs of Go itself have a megabyte and more.

The layouts are from debug/gosym/pclntab.go."""

import struct
import sys
from pathlib import Path

sys.dont_write_bytecode = True
TEXT, TABLE, WORD = 0x401000, 0x402000, 8
FUNCTIONS = [("main.main", 0, 32), ("main.(*box).BurnIt", 32, 64)]
LAYOUTS = {"1.2": 0xfffffffb, "1.16": 0xfffffffa, "1.18": 0xfffffff0, "1.20": 0xfffffff1}


def table(order, release, text=TEXT):
    """The table; `text` of 0 leaves the start of the code to a relocation."""
    names = b"\0" + b"".join(name.encode() + b"\0" for name, _, _ in FUNCTIONS)
    offsets = [names.index(name.encode()) for name, _, _ in FUNCTIONS]
    narrow = release in ("1.18", "1.20")
    number = "I" if narrow else "Q"
    base = 0 if narrow else TEXT
    width = struct.calcsize(number)
    head = struct.pack(order + "IBBBB", LAYOUTS[release], 0, 0, 1, WORD)
    if release == "1.2":
        before, name_base, record_base = head + struct.pack(order + "Q", len(FUNCTIONS)), None, 0
    else:
        words = [len(FUNCTIONS), 0] + ([text] if narrow else [])
        size = 8 + (8 if narrow else 7) * WORD
        ends = size + len(names) + -len(names) % 8
        words += [size, ends, ends, ends, ends]
        before = head + struct.pack(order + f"{len(words)}Q", *words) + names + bytes(-len(names) % 8)
        name_base, record_base = 0, ends
    start = len(before)
    records_at = start - record_base + (2 * len(FUNCTIONS) + 1) * width
    record = struct.calcsize(order + number + "I") + 12
    if name_base is None:
        name_base = records_at + len(FUNCTIONS) * record
    entries = b"".join(struct.pack(order + 2 * number, base + low, records_at + i * record)
                       for i, (_, low, _) in enumerate(FUNCTIONS))
    entries += struct.pack(order + number, base + FUNCTIONS[-1][2])
    records = b"".join(struct.pack(order + number + "I", base + low, name_base + offset) + bytes(12)
                       for (_, low, _), offset in zip(FUNCTIONS, offsets))
    return before + entries + records + (names if release == "1.2" else b"")


def elf(order, sections, machine=62):
    """An executable of these sections: (name, type, flags, address, bytes, size of entries)."""
    names, body, headers = b"\0", b"", [bytes(64)]
    everything = [*sections, (".shstrtab", 3, 0, 0, None, 0)]
    at = []
    for name, *_ in everything:
        at.append(len(names))
        names += name.encode() + b"\0"
    for (_, kind, flags, address, data, entry), name in zip(everything, at):
        data = names if data is None else data
        body += bytes(-len(body) % 8)
        at_file = 64 + len(body)
        headers.append(struct.pack(order + "IIQQQQIIQQ", name, kind, flags, address, at_file, len(data), 0, 0, 8, entry))
        body += data
    body += bytes(-len(body) % 8)
    ident = b"\177ELF" + bytes([2, 1 if order == "<" else 2, 1]) + bytes(9)
    return ident + struct.pack(order + "HHIQQQIHHHHHH", 2, machine, 1, TEXT, 0, 64 + len(body), 0, 64, 56, 0, 64,
                               len(headers), len(headers) - 1) + body + b"".join(headers)


def program(order, release, text=TEXT, relocation=None, machine=62):
    sections = [(".text", 1, 6, TEXT, b"\x90" * 64, 0), (".gopclntab", 1, 2, TABLE, table(order, release, text), 0)]
    if relocation:
        sections.append((".rela", 4, 2, 0x403000, struct.pack(order + "QQq", TABLE + 8 + 2 * WORD, 8, relocation), 24))
    return elf(order, sections, machine)


def main():
    out = Path(__file__).resolve().parent / "object"
    for release in LAYOUTS:
        (out / f"x86_64-go{release}").write_bytes(program("<", release))
    (out / "s390x-go1.20").write_bytes(program(">", "1.20", machine=22))
    (out / "x86_64-go1.18-relocated").write_bytes(program("<", "1.18", 0, TEXT))


if __name__ == "__main__":
    main()
