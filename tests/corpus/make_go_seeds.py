#!/usr/bin/env python3
"""Makes the seeds of Go programs in tests/corpus/object: two functions and no symbols, with the table of functions and
lines (.gopclntab) as each release wrote it. Programs of Go itself have a megabyte and more.

The layouts are from debug/gosym/pclntab.go."""

import struct
import sys
from pathlib import Path

sys.dont_write_bytecode = True
TEXT, TABLE, WORD = 0x401000, 0x402000, 8
# (name, first byte, end, file, ((line, bytes), ...))
FUNCTIONS = [("main.main", 0, 32, "/src/m.go", ((5, 16), (6, 16))), ("main.(*box).BurnIt", 32, 64, "/src/b.go", ((9, 32),))]
LAYOUTS = {"1.2": 0xfffffffb, "1.16": 0xfffffffa, "1.18": 0xfffffff0, "1.20": 0xfffffff1}


def values(pairs):
    """(value, bytes) as changes from -1 and lengths, each as LEB128."""
    out, before = b"", -1
    for value, length in pairs:
        change = value - before
        out += bytes([change << 1 if change >= 0 else ~change << 1 | 1, length])
        before = value
    return out + b"\0"


def placed(items, start):
    """Items one behind the other, and where each begins."""
    at, data = [], b""
    for item in items:
        at.append(start + len(data))
        data += item
    return data, at


def table(order, release, text=TEXT):
    """The table; `text` of 0 leaves the start of the code to a relocation."""
    narrow, is_first = release in ("1.18", "1.20"), release == "1.2"
    number, base = ("I", 0) if narrow else ("Q", TEXT)
    size = 8 + WORD * (1 if is_first else 8 if narrow else 7)
    width, record = struct.calcsize(number), struct.calcsize(order + number + "8I")
    functions = (2 * len(FUNCTIONS) + 1) * width + (4 if is_first else 0)

    # Of Go 1.2 the functions come first and offsets are from the header; later ones have parts of their own.
    start = size + functions + len(FUNCTIONS) * record if is_first else 0
    names, name_at = placed([f[0].encode() + b"\0" for f in FUNCTIONS], start)
    files, file_at = placed([f[3].encode() + b"\0" for f in FUNCTIONS], start + len(names) if is_first else 0)
    lists = [values([(i + is_first, f[2] - f[1])]) for i, f in enumerate(FUNCTIONS)] + [values(f[4]) for f in FUNCTIONS]
    units = struct.pack(order + "3I", 3, *file_at) if is_first else struct.pack(order + "2I", *file_at)
    unit_start = start + len(names) + len(files)
    pairs, pair_at = placed([b"\0", *lists], unit_start + len(units) if is_first else 0)
    parts = [names, units, files, pairs]
    if is_first:
        parts = [names, files, units, pairs]
    at_parts, records_at = [size], size + functions if is_first else functions
    for part in parts:
        at_parts.append(at_parts[-1] + len(part))

    entries = b"".join(struct.pack(order + 2 * number, base + f[1], records_at + i * record) for i, f in enumerate(FUNCTIONS))
    entries += struct.pack(order + number, base + FUNCTIONS[-1][2])
    if is_first:
        entries += struct.pack(order + "I", unit_start)
    entries += b"".join(struct.pack(order + number + "8I", base + f[1], name_at[i], 0, 0, 0, pair_at[1 + i],
                                    pair_at[1 + len(FUNCTIONS) + i], 0, 0) for i, f in enumerate(FUNCTIONS))
    head = struct.pack(order + "IBBBB", LAYOUTS[release], 0, 0, 1, WORD)
    if is_first:
        return head + struct.pack(order + "Q", len(FUNCTIONS)) + entries + b"".join(parts)
    words = [len(FUNCTIONS), len(FUNCTIONS)] + ([text] if narrow else []) + at_parts[:4] + [at_parts[4]]
    return head + struct.pack(order + f"{len(words)}Q", *words) + b"".join(parts) + entries


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
