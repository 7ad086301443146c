#!/usr/bin/env python3
"""Writes the seeds of LLVM's profiles and coverage mappings beside itself, and makes such files for
tests: of every version, byte order and pointer size.

Made from docs/formats/llvm-coverage.md, not with monarc's writer. Running it again changes nothing.
A seed of `llvm_mapping` is { u32 units, u32 functions, u32 names: lengths in bytes }, the three
sections, then a profile.
"""

import hashlib
import struct
import zlib
from pathlib import Path

HERE = Path(__file__).resolve().parent
RAW_VERSIONS = (5, 7, 8, 9, 10, 11)
INDEXED_VERSIONS = tuple(range(4, 14))
MAPPING_VERSIONS = (2, 3, 4, 5, 6, 7)
SINGLE_BYTE, CORRELATED, IR_LEVEL = 1 << 60, 1 << 59, 1 << 56


def ref(name):
    """What stands for a name, or a list of files."""
    return int.from_bytes(hashlib.md5(name).digest()[:8], "little")


def uleb(*values):
    out = b""
    for value in values:
        while value > 127:
            out += bytes([value & 127 | 128])
            value >>= 7
        out += bytes([value])
    return out


def padded(data, to=8):
    return data + bytes(-len(data) % to)


def names_blob(names, packs=False):
    text = b"\1".join(names)
    packed = zlib.compress(text) if packs else b""
    return uleb(len(text), len(packed)) + (packed or text)


# --- profiles: functions are (name, hash, counts[, bitmap]) -----------------------------------------

def raw(functions, version=10, word=8, order="<", ids=(), bits=0, packs=False):
    """A .profraw; `bits`: variants in the version word."""
    pack = lambda fields, *values: struct.pack(order + fields.replace("P", "Q" if word == 8 else "I"),
                                               *values)
    mask = (1 << 8 * word) - 1
    is_single = bits & SINGLE_BYTE
    width = 1 if is_single else 8
    kinds = 3 if version >= 10 else 2
    layout = ("QQP" + ("P" if version >= 11 else "") + ("P" if version >= 9 else "") + "PPI"
              + "H" * kinds + ("H" if version >= 11 else ""))

    def entry(name, cfg, at, bitmap_at, counts, bitmap):
        data = pack(layout, ref(name), cfg, at & mask,
                    *([0] if version >= 11 else []), *([bitmap_at & mask] if version >= 9 else []),
                    0, 0, counts, *([0] * kinds), *([0] if version >= 11 else []))
        if version >= 9:
            data = padded(data, 4) + pack("I", bitmap)
        return padded(data)

    size = len(entry(b"", 0, 0, 0, 0, 0))
    data_at, counters_at, bitmap_at = 0x4000, 0x4000 + size * len(functions) + 64, 0x9000
    records = counters = bitmap = b""
    for i, (name, cfg, counts, *vectors) in enumerate(functions):
        vectors = vectors[0] if vectors else b""
        own = data_at + i * size if version >= 8 else 0
        records += entry(name, cfg, counters_at + len(counters) - own,
                         bitmap_at + len(bitmap) - own, len(counts), len(vectors))
        counters += b"".join(b"\0" if n else b"\xff" for n in counts) if is_single else \
            pack(f"{len(counts)}Q", *counts)
        bitmap += vectors
    blob = names_blob([f[0] for f in functions], packs)
    id_bytes = b"".join(pack("Q", len(one)) + padded(one) for one in ids)
    base = data_at if version >= 8 else 0
    pad = -len(counters) % 8
    magic = b"\xfflprof" + (b"r" if word == 8 else b"R") + b"\x81"
    words = [int.from_bytes(magic, "big"), version | bits]
    words += [len(id_bytes)] if version >= 7 else []
    words += [len(functions), 0, len(counters) // width, pad]
    words += [len(bitmap), -len(bitmap) % 8] if version >= 9 else []
    words += [0, 0, 0] if version >= 11 else []
    words += [len(blob), (counters_at - base) & 0xffffffffffffffff]
    words += [(bitmap_at - base) & 0xffffffffffffffff] if version >= 9 else []
    words += [0xdead0000]
    words += [0, 0] if version >= 10 else []
    words += [2 if version >= 10 else 1]
    body = id_bytes + records + counters + bytes(pad)
    body += padded(bitmap) if version >= 9 else b""
    return pack(f"{len(words)}Q", *words) + body + padded(blob)


def indexed(functions, version=13, ids=(), bits=0):
    """A .profdata with one bucket a name."""
    pack = lambda fields, *values: struct.pack("<" + fields, *values)
    head = 5 + (version >= 8) + (version >= 9) + (version >= 10) + (version >= 12)
    summary = pack("QQ", 6, 1) + pack("6Q", 1, 2, 3, 4, 5, 6) + pack("3Q", 10000, 1, 1)
    table = offsets = b""
    start = head * 8 + len(summary)
    by_name = {}
    for name, cfg, counts, *vectors in functions:
        by_name.setdefault(name, []).append((cfg, counts, vectors[0] if vectors else b""))
    for name, records in by_name.items():
        data = b""
        for cfg, counts, vectors in records:
            data += pack("QQ", cfg, len(counts)) + pack(f"{len(counts)}Q", *counts)
            if version >= 11:
                data += pack("Q", len(vectors)) + pack(f"{len(vectors)}Q", *vectors)
            data += pack("II", 8, 0)
        offsets += pack("Q", start + len(table))
        table += pack("HQQQ", 1, ref(name), len(name), len(data)) + name + data
    table += bytes(-(start + len(table)) % 8)
    directory = pack("QQ", len(by_name), len(by_name)) + offsets
    where = start + len(table)
    id_bytes = b"".join(pack("Q", len(one)) + padded(one) for one in ids)
    ids_at = where + len(directory)
    words = [0x8169666f72706cff, version | bits, 0, 0, where]
    words += [0] if version >= 8 else []
    words += [ids_at] if version >= 9 else []
    words += [0] if version >= 10 else []
    words += [0] if version >= 12 else []
    return pack(f"{len(words)}Q", *words) + summary + table + directory + pack("Q", len(id_bytes)) + id_bytes


def text(functions, head=":fe\n"):
    out = head
    for name, cfg, counts, *vectors in functions:
        out += f"{name.decode()}\n# Func Hash:\n{cfg}\n# Num Counters:\n{len(counts)}\n# Counter Values:\n"
        out += "".join(f"{n}\n" for n in counts)
        if vectors and vectors[0]:
            out += f"# Num Bitmap Bytes:\n${len(vectors[0])}\n# Bitmap Byte Values:\n"
            out += "".join(f"{n:#x}\n" for n in vectors[0])
        out += "\n"
    return out.encode()


# --- mappings: functions are (name, hash, files, expressions, regions by file) ----------------------

def count(n):
    return n << 2 | 1


def minus(n):
    return n << 2 | 2


def plus(n):
    return n << 2 | 3


def code(counter, line, column, end_line, end_column):
    return uleb(counter), line, column, end_line, end_column


def gap(counter, line, column, end_line, end_column):
    return uleb(counter), line, column, end_line, end_column | 1 << 31


def expansion(file, line, column, end_line, end_column):
    return uleb(file << 3 | 4), line, column, end_line, end_column


def skipped(line, column, end_line, end_column):
    return uleb(2 << 3), line, column, end_line, end_column


def branch(if_true, if_false, line, column, end_line, end_column):
    return uleb(4 << 3, if_true, if_false), line, column, end_line, end_column


def decision(bitmap, conditions, line, column, end_line, end_column):
    return uleb(5 << 3, bitmap, conditions), line, column, end_line, end_column


def term(if_true, if_false, number, next_true, next_false, line, column, end_line, end_column):
    """Numbers from 1; 0: the decision is made."""
    return (uleb(6 << 3, if_true, if_false, number, next_true, next_false), line, column, end_line,
            end_column)


def regions(files, expressions, of_files):
    out = uleb(len(files), *files) + uleb(len(expressions)) + b"".join(uleb(*e) for e in expressions)
    for of_file in of_files:
        out += uleb(len(of_file))
        line = 0
        for head, first, column, last, end_column in of_file:
            out += head + uleb(first - line, column, last - first, end_column)
            line = first
    return out


def filenames(names, version, packs):
    text = b"".join(uleb(len(name)) + name for name in names)
    if version < 4:
        return uleb(len(names)) + text
    packed = zlib.compress(text) if packs else b""
    return uleb(len(names), len(text), len(packed)) + (packed or text)


def mapping(functions, names, version=7, order="<", packs=False):
    """(__llvm_covmap, __llvm_covfun, __llvm_prf_names). From version 6 on names[0] is a folder."""
    files = filenames(names, version, packs)
    coded = [(name, cfg, regions(*more)) for name, cfg, *more in functions]
    head = struct.pack(order + "IIII", len(coded) if version < 4 else 0, len(files),
                       sum(len(c) for _, _, c in coded) if version < 4 else 0, version - 1)
    if version < 4:
        records = b"".join(struct.pack(order + "QIQ", ref(n), len(c), cfg) for n, cfg, c in coded)
        return (padded(head + records + files + b"".join(c for _, _, c in coded)), b"",
                names_blob([n for n, _, _ in coded], packs))
    body = b"".join(padded(struct.pack(order + "QIQQ", ref(n), len(c), cfg, ref(files)) + c)
                    for n, cfg, c in coded)
    return padded(head + files), body, names_blob([n for n, _, _ in coded], packs)


# --- a program that counts: the same in every version -----------------------------------------------

# int f(int a) {                 line 1
#     if (a && (a > 2 || a < 0))      2
#         return 1;                   3
#     return USE(a); }                4     USE is defined on line 9
FOLDER = b"/src"
SOURCE = b"/src/f.c"


def sample(version):
    first = 1 if version >= 6 else 0
    mcdc = version >= 7
    own = [code(count(0), 1, 14, 4, 21)]
    if mcdc:
        own += [decision(4, 3, 2, 9, 2, 32)]
    own += [code(count(0), 2, 9, 2, 10)]
    sides = [(count(2), minus(0), 2, 9, 2, 10), (count(3), minus(1), 2, 15, 2, 20),
             (minus(2), minus(3), 2, 24, 2, 29)]
    own += [code(count(2), 2, 14, 2, 30), code(minus(1), 2, 24, 2, 29)]
    if mcdc:
        own += [term(*sides[0][:2], 1, 2, 0, *sides[0][2:]), term(*sides[1][:2], 2, 0, 3, *sides[1][2:]),
                term(*sides[2][:2], 3, 0, 0, *sides[2][2:])]
    elif version >= 5:
        own += [branch(*side) for side in sides]
    own = sorted(own, key=lambda r: (r[1], r[2], r[0][:1] != uleb(5 << 3)))
    own += [gap(count(1), 2, 33, 3, 9), code(count(1), 3, 9, 3, 17), gap(minus(4), 3, 18, 4, 5),
            code(minus(4), 4, 5, 4, 21),
            expansion(1, 4, 12, 4, 15)]
    used = [code(minus(4), 9, 16, 9, 30)]
    # 0: #0 - #2   1: #2 - #3   2: #1 - #3   3: e1 - e2   4: #0 - #1
    expressions = [(count(0), count(2)), (count(2), count(3)), (count(1), count(3)), (minus(1), minus(2)),
                   (count(0), count(1))]
    names = [FOLDER, b"f.c"] if version >= 6 else [SOURCE]
    functions = [(b"f", 0x18, [first, first], expressions, [own, used]),
                 (b"f.c:never", 0, [first], [], [[code(0, 6, 1, 7, 2)]])]
    return functions, names


COUNTS = [(b"f", 0x18, [10, 4, 6, 3], b"\x0f"), (b"f.c:never", 0, [0], b"")]
LINES = {1: 10, 2: 10, 3: 4, 4: 6, 6: 0, 7: 0, 9: 6}


def without_bitmap(functions):
    return [f[:3] for f in functions]


def main():
    def put(folder, name, data):
        (HERE / folder).mkdir(exist_ok=True)
        (HERE / folder / name).write_bytes(data)

    for version in RAW_VERSIONS:
        functions = COUNTS if version >= 9 else without_bitmap(COUNTS)
        ids = [bytes(range(20))] if version >= 7 else []
        put("llvm_profile", f"raw{version}", raw(functions, version, ids=ids))
    put("llvm_profile", "raw_be32", raw(COUNTS, 9, 4, ">", packs=True))
    put("llvm_profile", "raw_single", raw(without_bitmap(COUNTS), 8, bits=SINGLE_BYTE))
    put("llvm_profile", "raw_two", raw(COUNTS, 10) + bytes(16) + raw(COUNTS[:1], 10, ids=[b"12345"]))
    for version in (4, 8, 11, 13):
        functions = COUNTS if version >= 11 else without_bitmap(COUNTS)
        put("llvm_profile", f"indexed{version}",
            indexed(functions, version, ids=[bytes(range(20))] if version >= 9 else []))
    back = bytearray(indexed(COUNTS, 13))
    back[32:40] = bytes(8)
    put("llvm_profile", "indexed_directory_in_front", bytes(back))
    put("llvm_profile", "text", text(COUNTS))
    put("llvm_profile", "text_values", b":ir\n:entry_first\nf\n24\n2\n1\n2\n1\n0\n1\n1\ng:5\n\nh\n0x10\n1\n7\n")
    for version in MAPPING_VERSIONS:
        for order in "<>" if version in (3, 7) else "<":
            parts = mapping(*sample(version), version, order, packs=version == 6)
            profile = raw(COUNTS, 10) if version >= 7 else raw(without_bitmap(COUNTS), 8)
            put("llvm_mapping", f"v{version}{'be' if order == '>' else ''}",
                struct.pack("<III", *map(len, parts)) + b"".join(parts) + profile)


if __name__ == "__main__":
    main()
