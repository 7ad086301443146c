#!/usr/bin/env python3
"""Write gmon.out files for the large benchmark program (see make_large.py).

    make_profile.py [--only large|fan|merge] [--merge-files N] [CACHE]

    CACHE/large.gmon     a histogram over the whole text in 4-byte bins, 5% of
                         them non-zero, and 400,000 distinct (caller, callee)
                         arcs: mostly a DAG, with cycles of 2 to 300 functions
    CACHE/fan-N.gmon     one parent with N distinct children, for N = 20,000,
                         40,000 and 80,000 (as many as the program has)
    CACHE/merge/NNN.gmon 200 profiles of about 5 MB: a histogram over 4 MB of
                         text (2 MB) and about 140,000 arcs in address order,
                         the same but for a few and with other counts

A file is kept between runs until the program or this script changes.  All are
seeded: the same program gives the same bytes.

The GNU format, version 1, little-endian, 64-bit addresses: a 20-byte header,
`gmon`, u32 version, 12 spare bytes; then tagged records:

    u8 0  u64 low, u64 high, u32 bins, u32 rate, char dimension[15], char
          abbreviation, u16 count[bins]
    u8 1  u64 from, u64 self, u32 count
"""

import argparse
import hashlib
import random
import struct
import sys
from array import array
from bisect import bisect_left
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

HEADER = b"gmon" + struct.pack("<I12x", 1)
HISTOGRAM = struct.Struct("<BQQII15sc")
ARC = struct.Struct("<BQQI")
BIN = 4                 # bytes of text a bin covers
RATE = 100              # samples a second
PROLOGUE = 9            # from a function's start to the return of its mcount
FANS = (20_000, 40_000, 80_000)
CYCLES = {2: 300, 3: 100, 5: 40, 10: 20, 50: 5, 300: 1}    # size: how many


def read_sections(path):
    """A program's bytes, and by name its sections' (address, offset, size)."""
    data = Path(path).read_bytes()
    table, = struct.unpack_from("<Q", data, 0x28)
    entry, count, names = struct.unpack_from("<HHH", data, 0x3a)
    headers = [struct.unpack_from("<IIQQQQIIQQ", data, table + i * entry)
               for i in range(count)]
    strings = headers[names][4]
    sections = {}
    for name, _, _, address, offset, size, *_ in headers:
        end = data.index(b"\0", strings + name)
        sections[data[strings + name:end].decode()] = address, offset, size
    return data, sections


def read_program(path):
    """The text section's bounds, and the (address, size) of its functions."""
    data, sections = read_sections(path)
    low, _, size = sections[".text"]
    _, offset, length = sections[".symtab"]
    functions = sorted(
        (value, symbol_size) for _, kind, _, _, value, symbol_size in
        struct.iter_unpack("<IBBHQQ", data[offset:offset + length])
        if kind & 15 == 2 and symbol_size > 48)         # leaves out crt and main
    return low, low + size, functions


def histogram(low, bins, counts):
    """A histogram record; counts is an array('H') or bytes of `bins` u16s."""
    return HISTOGRAM.pack(0, low, low + bins * BIN, bins, RATE, b"seconds",
                          b"s") + bytes(counts)


def call_site(rng, function):
    """A return address inside a function, on mcount's four-byte grid."""
    address, size = function
    return address + 16 + rng.randrange(size - 24) & ~3


def sampled_bins(rng, low, bins, functions, share):
    """Indexes of about share * bins distinct bins, in clumps by function."""
    chosen = set()
    while len(chosen) < share * bins:
        address, size = functions[int(len(functions) * rng.random() ** 2)]
        first, width = (address - low) // BIN, size // BIN
        for _ in range(1 + int(rng.expovariate(0.15))):
            chosen.add(min(bins - 1, first + rng.randrange(width)))
    return chosen


def skewed_histogram(rng, low, high, functions):
    bins = -(-(high - low) // BIN)
    counts = array("H", bytes(2 * bins))
    shuffled = functions[:]
    rng.shuffle(shuffled)
    for i in sorted(sampled_bins(rng, low, bins, shuffled, 0.05)):
        counts[i] = min(60_000, int(rng.paretovariate(0.9)))
    return histogram(low, bins, counts)


def call_graph(rng, n, wanted):
    """Distinct (caller, callee) index pairs: a DAG, cycles and recursion."""
    pairs = set()
    start = n // 10
    for size, how_many in CYCLES.items():
        for _ in range(max(1, how_many * n // 100_000)):
            if start + size >= n:
                break
            # A chain and one arc back: no member beyond the chain can join,
            # as every other arc leads to a higher index.
            pairs.update((start + k, start + k + 1) for k in range(size - 1))
            pairs.add((start + size - 1, start))
            start += size + rng.randrange(40)
    for _ in range(n // 100):
        i = rng.randrange(n)
        pairs.add((i, i))
    utilities = max(1, n // 50)         # the last ones: called from all over
    while len(pairs) < wanted:
        i = rng.randrange(n - 1)
        kind = rng.random()
        if kind < 0.60:
            j = i + 1 + int(rng.expovariate(0.005))
        elif kind < 0.85:
            j = n - utilities + int(utilities * rng.random() ** 2)
        else:
            j = rng.randrange(i + 1, n)
        if i < j < n:
            pairs.add((i, j))
    return pairs


def arc_records(rng, functions, pairs):
    records = sorted((call_site(rng, functions[i]), functions[j][0] + PROLOGUE)
                     for i, j in sorted(pairs))
    return b"".join(ARC.pack(1, site, callee,
                             min(10**8, int(rng.paretovariate(0.6))))
                    for site, callee in records)


def write_large(path, low, high, functions):
    rng = random.Random("large")
    pairs = call_graph(rng, len(functions), 4 * len(functions))
    path.write_bytes(HEADER + skewed_histogram(rng, low, high, functions) +
                     arc_records(rng, functions, pairs))


def write_fan(path, low, high, functions, children):
    """One parent calls its children through one pointer, in random order."""
    rng = random.Random("fan")
    parent, rest = functions[0], functions[1:]
    rng.shuffle(rest)
    site = call_site(rng, parent)
    arcs = b"".join(ARC.pack(1, site, address + PROLOGUE,
                             min(10**6, int(rng.paretovariate(0.8))))
                    for address, _ in rest[:children])
    path.write_bytes(HEADER + skewed_histogram(rng, low, high, functions) + arcs)


def write_merge(folder, low, high, functions, files):
    """Profiles of one program run `files` times, over its first 4 MB of text.

    Counts are made by masking random bytes, whole tables at a time.  A bin
    holds at most 255, so 200 files add up within sixteen bits.
    """
    rng = random.Random("merge")
    bins = min(4 << 20, high - low) // BIN
    functions = functions[:bisect_left(functions, (low + bins * BIN - 256, 0))]
    n = len(functions)
    pairs = call_graph(rng, n, min(145_000, n * n // 4))
    base = bytearray(arc_records(rng, functions, pairs))
    mask = array("H", bytes(2 * bins))
    for i in sorted(sampled_bins(rng, low, bins, functions, 0.05)):
        mask[i] = rng.choice((1, 1, 1, 3, 7, 15, 63, 255))
    mask = int.from_bytes(mask.tobytes(), "little")
    high_byte = bytes(max(0, i - 192) for i in range(256))     # mostly zero

    folder.mkdir(exist_ok=True)
    for old in folder.glob("*.gmon"):
        old.unlink()
    arcs = len(pairs)
    for number in range(files):
        counts = int.from_bytes(rng.randbytes(2 * bins), "little") & mask
        table = base[:]
        table[ARC.size - 4::ARC.size] = bytes(b | 1 for b in rng.randbytes(arcs))
        table[ARC.size - 3::ARC.size] = rng.randbytes(arcs).translate(high_byte)
        table[ARC.size - 2::ARC.size] = bytes(arcs)
        table[ARC.size - 1::ARC.size] = bytes(arcs)
        # Each run misses some arcs, in short stretches.
        for _ in range(100):
            first = rng.randrange(arcs - 100) * ARC.size
            del table[first:first + rng.randint(1, 99) * ARC.size]
        (folder / f"{number:03d}.gmon").write_bytes(
            HEADER + histogram(low, bins, counts.to_bytes(2 * bins, "little")) +
            table)


def write_all(cache, only=None, merge_files=200):
    """Write the profiles that are missing or out of date in CACHE."""
    cache = Path(cache).resolve()
    stamp = hashlib.sha256(Path(__file__).read_bytes() +
                           (cache / "large.stamp").read_bytes()).hexdigest()
    tasks = {"large": write_large, "fan": None, "merge": None}
    program = None
    for name in tasks:
        mark = cache / f"{name}.profile-stamp"
        wanted = f"{stamp} {merge_files if name == 'merge' else ''}\n"
        if only not in (None, name) or (mark.exists() and
                                        mark.read_text() == wanted):
            continue
        mark.unlink(missing_ok=True)
        low, high, functions = program = program or read_program(cache / "large")
        low &= -BIN
        if name == "large":
            write_large(cache / "large.gmon", low, high, functions)
        elif name == "fan":
            for children in FANS:
                write_fan(cache / f"fan-{children}.gmon", low, high, functions,
                          min(children, len(functions) - 1))
        else:
            write_merge(cache / "merge", low, high, functions, merge_files)
        mark.write_text(wanted)


def main():
    parser = argparse.ArgumentParser(
        description="Write profiles for the large benchmark program.")
    parser.add_argument("cache", nargs="?", default=ROOT / "build" / "bench")
    parser.add_argument("--only", choices=("large", "fan", "merge"))
    parser.add_argument("--merge-files", type=int, default=200)
    args = parser.parse_args()
    if not Path(args.cache, "large.stamp").exists():
        parser.error(f"no program in {args.cache}: run make_large.py first")
    write_all(args.cache, args.only, args.merge_files)


if __name__ == "__main__":
    sys.exit(main())
