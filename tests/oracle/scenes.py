"""scenes.py: what "ran" in the oracle's programs: invented samples and calls, as profile files.

A function here takes an Image and its folder, writes profiles there and returns how thoroughly each
is tested: {file name: section of options.txt}.
No scene has samples at or behind the last symbol or a rate of 0: there GNU gprof reads past arrays.
"""

import collections
import random
import re
import struct
import subprocess

from profiles import Arc, Profile

CALLS = [
    ("_start", "main", 1), ("main", "walk", 2), ("main", "fact", 1), ("main", "even", 3),
    ("main", "tick", 2), ("main", "left_entry", 4), ("main", "right_entry", 2),
    ("main", "quick", 7), ("walk", "fetch", 300), ("walk", "store", 310),
    ("fetch", "helper", 300), ("fact", "fact", 4), ("even", "odd", 30), ("odd", "even", 28),
    ("odd", "fetch", 11), ("left_entry", "left_step", 36), ("left_step", "helper#1", 72),
    ("left_entry", "copy", 5), ("right_entry", "right_step", 4), ("right_step", "helper#2", 8),
    ("right_entry", "_under", 6), ("right_entry", "__dunder", 6), ("right_entry", "maybe", 3),
    ("tick", "tack", 20), ("tack", "tock", 15), ("tack", "tick", 9), ("tock", "tick", 12),
    ("ping", "pong", 10), ("pong", "ping", 9), ("main", "mcount", 5), ("even", "__mcount", 2),
    ("odd", "__fentry__", 2), ("walk", "zz_last", 1),
]
TIMES = {
    "main": 3, "walk": 41, "fetch": 180, "store": 25, "helper": 66, "fact": 2, "even": 17,
    "odd": 19, "tick": 30, "tock": 7, "tack": 30, "left_entry": 12, "left_step": 54,
    "helper#1": 91, "lonely": 140, "copy": 8, "right_entry": 1, "right_step": 23,
    "helper#2": 23, "ping": 5, "pong": 6, "_under": 9, "__dunder": 9, "mcount": 70,
    "_mcount": 11, "__mcount": 4, "__mcleanup": 2, "__fentry__": 6,
}
CYCLES = [
    ("_start", "main", 1), ("main", "walk", 4), ("walk", "fetch", 8), ("fetch", "walk", 6),
    ("walk", "main", 2), ("fetch", "fetch", 5), ("fetch", "store", 40), ("store", "fact", 3),
    ("fact", "store", 3), ("fact", "fact", 9), ("even", "odd", 5), ("odd", "even", 5),
    ("tick", "tock", 1), ("tock", "tack", 1), ("tack", "tick", 1), ("tick", "helper", 50),
    ("store", "ping", 7), ("ping", "pong", 9), ("pong", "ping", 8), ("pong", "left_entry", 3),
    ("left_entry", "left_step", 3), ("left_step", "left_entry", 2), ("left_step", "ping", 1),
    ("right_entry", "right_step", 2), ("right_step", "right_entry", 2), ("copy", "quick", 1),
]


def text_range(image):
    """[low, high) below the last function, at multiples of 4."""
    low = image.symbols[0].addr & ~3
    return low, image.addr("zz_last") & ~3


def hits(image, times):
    """Half of the samples at the function's first byte, half in its middle."""
    found = {}
    for name, count in times.items():
        addr = image.addr(name)
        middle = addr + image.size(name) // 2
        found[addr] = found.get(addr, 0) + count // 2
        found[middle] = found.get(middle, 0) + count - count // 2
    return found


def sampled(image, nbins=None, times=None, low=None, high=None, **fields):
    """A profile with one histogram over the text; nbins defaults to 4 bytes a bin."""
    first, last = text_range(image)
    low, high = first if low is None else low, last if high is None else high
    found = hits(image, TIMES if times is None else times)
    return Profile(image).histogram(low, high, nbins or (high - low) // 4, found, **fields)


def called(profile, calls=None):
    for caller, callee, count in CALLS if calls is None else calls:
        profile.arc(caller, callee, count)
    return profile


def scales(image):
    """Histograms of every proportion of bins to bytes."""
    low, high = text_range(image)
    size = high - low
    yield "base", "full", called(sampled(image))
    yield "fraction", "full", called(sampled(image, size // 4 - 1))
    yield "fraction3", "few", called(sampled(image, size // 4 - 3))
    yield "coarse", "core", called(sampled(image, size * 10 // 147))
    yield "wide", "few", called(sampled(image, size // 200))
    yield "fine", "few", called(sampled(image, size))
    yield "halves", "few", called(sampled(image, size // 2))
    yield "finer", "few", called(sampled(image, size * 3 // 4))
    yield "onebin", "few", called(sampled(image, 1))
    yield "oddrange", "few", called(sampled(image, size // 4 - 1, low=low + 1, high=high - 2))
    yield "early", "few", called(sampled(image, low=low - 64, nbins=(size + 64) // 4))


def shapes(image):
    """One, none or several records of each kind, in several orders."""
    low, high = text_range(image)
    third = (high - low) // 12 * 4
    yield "cycles", "core", called(sampled(image), CYCLES)
    yield "arcs", "core", called(Profile(image))
    yield "hist", "core", sampled(image)
    yield "header", "core", Profile(image)
    yield "zero", "core", called(sampled(image, times={}))
    yield "zerohist", "few", sampled(image, times={})
    yield "selfonly", "few", called(sampled(image), [("fact", "fact", 10), ("even", "even", 3)])
    yield "cycles-untimed", "few", called(Profile(image), CYCLES)
    parts = called(Profile(image))
    for start in (low, low + third * 2, low + third):
        end = start + third
        parts.histogram(start, end, third // 4, hits(image, TIMES))
    yield "disjoint", "core", parts
    gap = Profile(image).histogram(low + third * 2, high, (high - low - 2 * third) // 4,
                                   hits(image, TIMES))
    gap.histogram(low, low + third, third // 4, hits(image, TIMES))
    yield "gap", "few", called(gap, CYCLES)
    again = called(sampled(image))
    again.records += sampled(image, times={"walk": 5, "odd": 50}).records
    again.records += [Arc(r.site + 1, r.callee + 1, r.count + 2)
                      for r in again.records if isinstance(r, Arc)]
    yield "repeat", "core", again
    late = called(called(Profile(image), CALLS[9:]), CALLS[:9])
    late.records += sampled(image).records
    yield "late", "few", late
    outside = called(sampled(image, low=low - 256, nbins=(high - low + 256) // 4))
    outside.records[0].bins[3] = 77
    outside.arc(0, "fetch", 12).arc(low - 8, "quick", 5).arc("main", low - 16, 9)
    outside.arc((1 << image.bits) - 16, "walk", 3).arc("odd", 4, 6)
    yield "outside", "core", outside
    blocks = called(sampled(image)).blocks(
        (image.addr(name) + 2, 10 * i + 1) for i, name in enumerate(TIMES))
    yield "blocks", "core", blocks.blocks([(image.addr("walk"), 7)])


def numbers(image):
    """Large and small counts, rates and dimensions."""
    top = 0xFFFFFFFF
    huge = called(sampled(image), [("main", "walk", top), ("main", "walk", top),
                                   ("_start", "walk", top), ("even", "odd", top),
                                   ("odd", "even", top), ("main", "even", top),
                                   ("fact", "fact", top), ("fact", "fact", top)])
    yield "huge", "core", huge
    full = {name: 0xFFFF * 2 for name in TIMES}
    yield "fullbins", "few", called(sampled(image, times=full))
    yield "slow", "few", called(sampled(image, times=full, rate=1), [("main", "walk", 1)])
    yield "quickly", "few", called(sampled(image, times={"walk": 1, "odd": 1}, rate=1000),
                                   [("main", "walk", top), ("main", "even", 3000000)])
    for rate in (1, 3, 60, 1000, 10000, 1000000):
        yield f"rate{rate}", "few", called(sampled(image, rate=rate))
    yield "cachemiss", "core", called(sampled(image, dimension=b"cachemiss", abbrev=b"c"))
    yield "longname", "few", called(sampled(image, dimension=b"0123456789abcde", abbrev=b"x"))
    yield "shortname", "few", called(sampled(image, dimension=b"J", abbrev=b"J"))


def write(folder, scenes):
    levels = {}
    for name, level, profile in scenes:
        (folder / f"{name}.gmon").write_bytes(profile.gnu())
        levels[f"{name}.gmon"] = level
    return levels


def other_formats(image, folder):
    """The base scene as version 0, old BSD and 4.4BSD; one at a fractional scale and rate 250."""
    base = called(sampled(image))
    low, high = text_range(image)
    other = called(sampled(image, (high - low) // 4 - 1, rate=250), CYCLES)
    for name, profile in ("base", base), ("other", other):
        (folder / f"{name}-v0.gmon").write_bytes(profile.gnu(version=0))
        (folder / f"{name}.bsd").write_bytes(profile.bsd())
        (folder / f"{name}.bsd44").write_bytes(profile.bsd44())


def town_scenes(name, foreign=False):
    """All scenes for `town`, the telling ones for its variants, formats where words differ."""
    formats = dict.fromkeys(
        ["base-v0.gmon", "base.bsd", "base.bsd44", "other.bsd", "other.bsd44"], "few")

    def make(image, folder):
        every = [*scales(image), *shapes(image), *numbers(image)]
        other_formats(image, folder)
        if name == "town":
            (folder / "gmon.out").symlink_to("base.gmon")
            return write(folder, every) | formats | {"base.bsd": "core", "base.bsd44": "core"}
        wanted = {"base": "core", "cycles": "few"} | ({"fraction": "few"} if foreign else {})
        some = [(scene, wanted[scene], profile) for scene, _, profile in every if scene in wanted]
        return write(folder, some) | (formats if foreign else {})
    return make


def every_symbol(image, folder):
    """Time in every symbol, calls of every symbol, and each one calling the next."""
    names = []
    for symbol in image.symbols[:-1]:
        nth = [s for s in image.symbols if s.name == symbol.name].index(symbol)
        names.append(f"{symbol.name}#{nth}")
    times = {name: 3 + i % 7 * 10 for i, name in enumerate(names)}
    calls = [("_start", name, i + 1) for i, name in enumerate(names)]
    calls += [(a, b, 2 * i + 1) for i, (a, b) in enumerate(zip(names, names[1:]))]
    calls += [(names[-1], names[3], 4), ("_start", "zz_last", 2)]
    low, high = text_range(image)
    return write(folder, [
        ("base", "core", called(sampled(image, times=times), calls)),
        ("fraction", "few", called(sampled(image, (high - low) // 4 - 1, times), calls)),
        ("arcs", "few", called(Profile(image), calls)),
    ])


def some_calls(image, seed):
    """Calls and times drawn from a seed; small numbers, so that there are many ties."""
    draw = random.Random(seed)
    known = image.symbols[:-1]
    pool = draw.sample(known, min(len(known), draw.choice([6, 9, 15, 30, 100])))
    profile = Profile(image)
    low, high = image.symbols[0].addr & ~3, image.symbols[-1].addr & ~3
    times = {}
    for symbol in pool:
        times[symbol.addr + draw.choice([0, 0, 2])] = draw.choice([0, 0, 1, 1, 2, 10, 300])
    if seed % 8 != 7:
        profile.histogram(low, high, (high - low) // 4 - (seed % 3 == 2), times)
    upwards = draw.random()
    for _ in range(int(len(pool) * draw.choice([0.7, 1.2, 2, 4]))):
        caller, callee = draw.choice(pool), draw.choice(pool)
        if draw.random() < upwards and caller.addr > callee.addr:
            caller, callee = callee, caller
        site = caller.addr + draw.choice([1, 3])
        profile.arc(site, callee.addr, draw.choice([0, 1, 1, 2, 3, 1000]))
    return profile


def random_calls(image, folder):
    """Call graphs of 6 to 100 functions, thin to dense, with and without cycles."""
    return write(folder, ((f"seed{seed:02}", "few", some_calls(image, seed))
                          for seed in range(48)))


def many_functions(image, folder):
    """More than 10,000 functions that were called, so that index numbers have five digits."""
    names = [s.name for s in image.symbols[1:-1]]
    low, high = text_range(image)
    times = {image.symbols[i + 1].addr: 1 + i % 5 for i in range(len(names))}
    profile = Profile(image).histogram(low, high, (high - low) // 4, times)
    for i, symbol in enumerate(image.symbols[2:-1], 1):
        profile.records.append(Arc(image.symbols[1 + i // 60].addr + 1, symbol.addr, i % 9 + 1))
    return write(folder, [("base", "huge", profile)])


def onward(image, folder):
    """-c where every call leads to what stands behind, so that GNU gprof finds it; some were made,
    some not, and some go back through pointers and close circles with calls that were not made."""
    back = [("six", "two", 4), ("nine", "four", 2)]
    forth = [("_start", "one", 1), ("one", "two", 9), ("two", "four", 9), ("four", "six", 5)]
    times = {"one": 3, "two": 10, "three": 4, "four": 70, "six": 20, "seven": 1, "eight": 9,
             "nine": 12, "ten": 5}
    low, high = text_range(image)
    half = image.addr("five") & ~3
    halves = called(Profile(image), forth).histogram(low, half, (half - low) // 4, {})
    split = called(Profile(image), forth)
    for start, end in (low, half + 8), (half + 8, half + 8 + (half + 8 - low)):
        split.histogram(start, end, (end - start) // 4, {})
    scenes = [
        ("base", "static", called(sampled(image, times=times), forth)),
        ("circles", "static", called(sampled(image, times=times), forth + back)),
        ("arcs", "static", called(Profile(image), forth)),
        ("hist", "static", sampled(image, times=times)),
        ("halves", "static", halves),
        ("split", "static", split),
    ]
    scenes += [(f"seed{seed}", "static", some_calls(image, seed)) for seed in range(12)]
    return write(folder, scenes)


def find_calls(path):
    """(site, target) of every direct call in .text, by objdump; x86 alone."""
    listing = subprocess.run(["objdump", "-d", "-j", ".text", str(path)], capture_output=True,
                             text=True, check=True).stdout
    return [(int(site, 16), int(to, 16)) for site, to in
            re.findall(r"^ *([0-9a-f]+):\t[^\t]*\t(?:\S+ )*call +([0-9a-f]+) <", listing, re.M)]


def tell(image, folder, names):
    """For each profile NAME, told-NAME: the same with the calls in the code as arcs of count 0. A
    call counts if both ends lie in what the histograms cover, as with -c."""
    starts = {s.addr for s in image.symbols if not re.search(r"\$|\.(?!\d)", s.name)}
    for name in names:
        data = (folder / name).read_bytes()
        ranges = histogram_ranges(image, data)
        found = [(site, to) for site, to in find_calls(folder / "image")
                 if to in starts and all(any(low <= x < high for low, high in ranges)
                                         for x in (site, to))]
        arcs = Profile(image)
        arcs.records = [Arc(site, to, 0) for site, to in found]
        (folder / f"told-{name}").write_bytes(data + arcs.gnu()[20:])
    return names


def lines_of_code(image, seed, bytes_a_bin):
    """Samples and calls anywhere in the code, so that lines inside functions get some."""
    draw = random.Random(seed)
    low = image.symbols[0].addr & ~3
    high = next(s.addr for s in image.symbols if s.name in ("_fini", "zz_last")) & ~3
    hits_at = {draw.randrange(low, high): draw.choice([1, 1, 2, 3, 10, 70]) for _ in range(60)}
    profile = Profile(image).histogram(low, high, int((high - low) // bytes_a_bin), hits_at)
    known = [s for s in image.symbols if low <= s.addr < high]
    for _ in range(70):
        callee = draw.choice(known)
        site = draw.choice([draw.randrange(low, high), callee.addr + draw.randrange(12)])
        profile.arc(site, callee.addr, draw.choice([0, 1, 1, 2, 3, 1000]))
    return profile


def blocks_of_lines(image, path):
    """Calls, and blocks that begin with lines and within them: few enough, for GNU gprof forgets the
    eleventh of a line."""
    rows = subprocess.run(["objdump", "--dwarf=decodedline", str(path)], capture_output=True,
                          text=True, check=True).stdout
    found = re.findall(r"^(\S+) +(\d+) +0x([0-9a-f]+)", rows, re.M)
    draw = random.Random(11)
    profile = lines_of_code(image, 7, 4)
    counts, many = [], collections.Counter()
    for at, *place in sorted((int(at, 16), file, line) for file, line, at in found):
        if many[tuple(place)] < 9 and draw.random() < 0.5:
            many[tuple(place)] += 1
            counts.append((at + draw.choice([0, 0, 0, 1, 4]),
                           draw.choice([0, 1, 1, 2, 50, 7000, 2**30])))
    for _ in range(2):
        profile.blocks([pair for pair in counts if draw.random() < 0.7])
    return profile


def lined(level):
    """Scenes for -l, beside what running the program left."""
    def make(image, folder):
        levels = write(folder, [(f"line{seed}", level, lines_of_code(image, seed, size))
                                for seed, size in enumerate((4, 2, 3.3))])
        if (folder / "real.gmon").exists():
            levels["real.gmon"] = level
        blocks = blocks_of_lines(image, folder / "image")
        if not blocks.records[-1].counts:
            return levels
        write(folder, [("blocks", "", blocks)])
        # Of the other byte order, GNU gprof turns the number of blocks around twice.
        return levels if image.big else levels | {"blocks.gmon": "some-lines"}
    return make


def histogram_ranges(image, data):
    """[low, high) of each histogram of a little-endian gmon.out."""
    address = "Q" if image.bits == 64 else "I"
    at, ranges = 20, []
    while at < len(data):
        if data[at] == 0:
            low, high, bins = struct.unpack_from(f"<2{address}I", data, at + 1)
            ranges.append((low, high))
            at += 1 + struct.calcsize(f"<2{address}2I") + 16 + 2 * bins
        else:
            at += 1 + struct.calcsize(f"<2{address}I")
    return ranges


def real(image, folder):
    """What running the example left, and invented calls among its functions."""
    levels = write(folder, ((f"seed{seed}", "few", some_calls(image, seed))
                            for seed in (0, 3, 6)))
    return levels | {"real.gmon": "full" if folder.name in ("calc", "shapes") else "core"}


