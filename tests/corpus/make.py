#!/usr/bin/env python3
"""Writes the seed files of the format tests and fuzzers beside itself, one directory a format.

Made from the format pages in docs/formats, not with monarc's own writer, so that the two check each
other. Running it again must change nothing.
"""

import struct
from pathlib import Path

HERE = Path(__file__).resolve().parent
LOW = 0x401000
BSD44 = 0x00051879


class Target:
    """A machine: pointer size and byte order."""

    def __init__(self, name):
        self.order = "<" if name.startswith("le") else ">"
        self.pointer = "Q" if name.endswith("64") else "I"

    def pack(self, fields, *values):
        """struct.pack() with P for a pointer."""
        return struct.pack(self.order + fields.replace("P", self.pointer), *values)

    def counters(self, values, code="H"):
        return self.pack(f"{len(values)}{code}", *values)


def bins(n, scale=1):
    return [(i * 7 % 11) * scale if i % 3 == 0 else 0 for i in range(n)]


def arcs(t, tag, count="I", base=0):
    rows = [(LOW + 0x10, LOW + 0x40, 1), (LOW + 0x58, LOW + 0x60, 250), (0, LOW + 0x40, 3),
            (LOW + 0x10, LOW + 0x40, 0xffffffff)]
    return b"".join(tag + t.pack("PP" + count, f - base if f else 0, s - base, n)
                    for f, s, n in rows)


# --- GNU -------------------------------------------------------------------------------------------

def header(t, version):
    return b"gmon" + t.pack("I12x", version)


def histogram(t, values, low=LOW, bin_bytes=4, rate=100, dimension=b"seconds", letter=b"s",
              high=None):
    high = low + bin_bytes * len(values) if high is None else high
    return (t.pack("PPII15sc", low, high, len(values), rate, dimension, letter)
            + t.counters(values))


def blocks(t):
    rows = [(LOW, 1), (LOW + 9, 1000), (LOW + 0x20, 0)]
    return b"\2" + t.pack("I", len(rows)) + b"".join(t.pack("PP", *r) for r in rows)


def blocks_0(t):
    rows = [(1, LOW, b"a.c", b"main", 3), (77, LOW + 9, b"a.c", b"", 4)]
    return b"\2" + t.pack("I", len(rows)) + b"gcc\0" + b"".join(
        t.pack("QQ", n, a) + file + b"\0" + function + b"\0" + t.pack("i", line)
        for n, a, file, function, line in rows)


def gmon():
    for name in "le64", "le32", "be64", "be32":
        t = Target(name)
        h = b"\0" + histogram(t, bins(40))
        full = b"\0" + histogram(t, [65535] * 40)
        other = b"\0" + histogram(t, bins(8), low=LOW + 0x1000)
        yield name, header(t, 1) + h + arcs(t, b"\1") + full + full + other + blocks(t)
    t = Target("le64")
    h = b"\0" + histogram(t, bins(40))
    yield "header-only", header(t, 1)
    yield "arcs-only", header(t, 1) + arcs(t, b"\1")
    yield "arcs-first", header(t, 1) + arcs(t, b"\1") + h + arcs(t, b"\1")
    yield "cut-in-bins", (header(t, 1) + h)[:-9]
    yield "cut-in-arc", header(t, 1) + h + arcs(t, b"\1")[:-5]
    yield "bad-tag", header(t, 1) + h + b"\7"
    yield "huge-bins", header(t, 1) + b"\0" + t.pack("PPII16s", LOW, LOW + 16, 2**32 - 1, 100, b"")
    yield "overlap", header(t, 1) + h + b"\0" + histogram(t, bins(40), low=LOW + 8)
    yield "two-units", (header(t, 1) + h + b"\0" + histogram(
        t, bins(8), low=LOW + 0x1000, rate=1, dimension=b"cachemiss", letter=b"c"))
    yield "odd", (header(t, 1) + b"\0" + histogram(t, bins(8), rate=0, high=LOW + 8) + b"\0"
                  + histogram(t, bins(4), low=LOW + 0x100, high=LOW) + b"\0"
                  + histogram(t, [], low=LOW + 0x200, high=LOW + 0x300, dimension=b"\xff\"\\\n"
                              b"fifteen bytes!"))


def gmon0():
    for name in "le64", "be32":
        t = Target(name)
        yield name, header(t, 0) + b"\0" + histogram(t, bins(40)) + arcs(t, b"\1") + blocks_0(t)
    t = Target("be64")
    yield "arcs-only", header(t, 0) + arcs(t, b"\1")
    yield "cut-in-blocks", header(t, 0) + blocks_0(t)[:-7]


# --- BSD -------------------------------------------------------------------------------------------

def bsd_file(name, values, bin_bytes=4, code="H", version=False, kind=0, rate=128):
    t = Target(name)
    counters = t.counters(values, code)
    extra = t.pack("IIi8x", BSD44, rate, kind) if version else b""
    ncnt = t.pack("PPI", 0, 0, 0) + extra + counters
    return (t.pack("PPI", LOW, LOW + bin_bytes * len(values), len(ncnt)) + extra + counters
            + arcs(t, b"", "P"))


def bsd():
    for name in "le64", "le32", "be64", "be32":
        yield name, bsd_file(name, bins(40))
    yield "cut-in-arc", bsd_file("le32", bins(40))[:-5]
    yield "cut-in-bins", bsd_file("le32", bins(40))[:60]


def bsd44():
    for name in "le64", "le32", "be64", "be32":
        yield name, bsd_file(name, bins(40), version=True)
    yield "cut-in-arc", bsd_file("le64", bins(40), version=True)[:-5]
    yield "cut-in-bins", bsd_file("be32", bins(40), version=True)[:60]
    for bits, code in (8, "b"), (16, "h"), (32, "i"), (64, "q"):
        yield f"typed-{bits}", bsd_file("le64", bins(40), code=code.upper(), version=True, kind=bits)
    yield "typed-signed-64", bsd_file("le64", bins(40, 10**10), code="q", version=True, kind=-64)
    yield "untyped-32", bsd_file("be64", bins(40, 10**6), bin_bytes=2, code="I", version=True)
    yield "untyped-64", bsd_file("le32", bins(40, 10**12), bin_bytes=2, code="Q", version=True)


# --- glibc's shared objects ------------------------------------------------------------------------

def sprof_file(name, tail):
    t = Target(name)
    table = arcs(t, b"", base=LOW)
    return (header(t, 0x1ffff) + t.pack("I", 0) + histogram(t, bins(40)) + t.pack("II", 1, 4)
            + table + tail)


def sprof():
    for name in "le64", "le32", "be64", "be32":
        yield name, sprof_file(name, bytes(64))
    yield "tail", sprof_file("le64", bytes(8) + b"\1")
    yield "cut-in-arc", sprof_file("le64", b"")[:-5]


# --- the hosted recorder's own files --------------------------------------------------------------

def fnv1a(data):
    total = 0xcbf29ce484222325
    for byte in data:
        total = (total ^ byte) * 0x100000001b3 % 2**64
    return total


def record(t, tag, payload):
    return t.pack("II", tag, len(payload)) + payload + bytes(-len(payload) % 8)


def text(*words):
    return b"".join(word.encode() + b"\0" for word in words)


def object_record(t, number, flags, start, size, bias, *words):
    return record(t, 3, t.pack("IIQQQQQII", number, flags, start, start + size, bias, start + 0x40,
                               start + 0xc0, 20, 0) + bytes(range(20)).ljust(32, b"\0") + text(*words))


def objects(t):
    return (object_record(t, 1, 1, 0x555000401000, 0x1000, 0x555000000000, "/bin/p", "gmon.out")
            + object_record(t, 2, 0, 0x7f0000001000, 0x800, 0x7f0000000000, "/lib/q", "q.gmon")
            + object_record(t, 3, 2, 0xf000000000000000, 0x800, 0xefffffffffff0000, "/lib/q", "q.gmon"))


def thread_note(t, number, state, samples):
    return t.pack("IIQQQQ", number, state, 100, 900, 500, samples) + b"worker".ljust(16, b"\0") + bytes(8)


def mark(t):
    return record(t, 8, t.pack("QQQII", 500, 60, 2, 0, 7) + b"phase".ljust(64, b"\0"))


NODES = [(2, 1, 0x555000401050, 0), (3, 2, 0x7f0000001050, 5), (4, 2, 0x555000401050, 3),
         (5, 4, 0x555000401060, 2), (6, 1, 0, 1), (9, 9, 0x555000401050, 7)]
CALLS = [(0x555000401050, 0x7f0000001050, 1000), (1, 0x555000401044, 1)]


def sidecar_file(name, *more):
    t = Target(name)
    data = t.pack("IIII", 0x4453524d, 1, 0x01020304, 8 if name.endswith("64") else 4)
    data += record(t, 1, t.pack("IIQQQQQQQIIII", 7, 1, 10**18, 100, 900, 500, 11, 500, 999500, 1000, 0,
                                1, 256 + 15))
    data += record(t, 2, text("argument", "./p")) + record(t, 2, text("event", "cpu")) + objects(t)
    data += record(t, 4, b"".join(t.pack("QQQ", *call) for call in CALLS))
    data += record(t, 5, thread_note(t, 7, 2, 11) + thread_note(t, 0, 0, 0))
    data += record(t, 6, b"".join(t.pack("QQQQ", *node) for node in NODES)) + mark(t)
    data += record(t, 7, t.pack("IIQ", 0, 0, 3) + text("calls")) + record(t, 99, b"unknown")
    data += b"".join(more)
    return data + record(t, 0, t.pack("Q", fnv1a(data)))


def sidecar():
    for name in "le64", "le32", "be64", "be32":
        yield name, sidecar_file(name)
    t = Target("le64")
    yield "backwards-object", sidecar_file("le64", object_record(t, 4, 0, 2**63, -2**62, 0, "x", "y"))
    yield "cut", sidecar_file("le64")[:-20]


def extent(t, kind, cells, first=0, length=None):
    body = b"".join(cells)
    head = t.pack("IIQQQIIQQ", 0x5458524d, kind, 4096, len(body) // 32 if length is None else length,
                  first, 7, 1, 0, 0)
    return (head + t.pack("Q", fnv1a(head)) + body).ljust(4096, b"\0")


def live_file(name, more, version=1):
    t = Target(name)
    head = t.pack("IIIIIIIIQQII", 0x564c524d, version, 0x01020304, 4096, 8 if name.endswith("64") else 4, 62,
                  7, 1, 10**18, 100, 1000, 0)
    data = (head + t.pack("Q", fnv1a(head))).ljust(4096, b"\0")
    data += extent(t, 5, [record(t, 2, text("argument", "./p")), objects(t), mark(t), bytes(8)])
    return data + b"".join(more(t))


def live_calls(t):
    yield extent(t, 1, [t.pack("QQQQ", *call, 0) for call in CALLS]
                 + [t.pack("QQQQ", 0x555000401050, 0x555000401060, 50, 0)])
    yield extent(t, 17, [t.pack("QQQQ", *CALLS[0], 0)])
    yield extent(t, 1, [], length=2**60)[:200]


def live_stacks(t):
    yield extent(t, 2, [t.pack("QQQQ", parent, address, hits, 0)
                        for _, parent, address, hits in NODES], first=2)


def live_blocks(t):
    yield extent(t, 3, [t.pack("QQQQ", 2, 0x555000401050, 0, 0),
                        t.pack("QQQQ", 1, 0x555000401055, 9, 0),
                        t.pack("QQQQ", 1, 0x7f0000001050, 4, 0)])
    yield extent(t, 4, [thread_note(t, 7, 1, 11)])[:200]


def live_aside(t):
    """Version 2: the last word of a cell is how much is not to be reported."""
    taken = 1 << 63
    yield extent(t, 1, [t.pack("QQQQ", *call, aside)
                        for call, aside in zip(CALLS, (1, taken, taken | 1))])
    yield extent(t, 2, [t.pack("QQQQ", parent, address, hits, hits // 2)
                        for _, parent, address, hits in NODES], first=2)
    yield extent(t, 3, [t.pack("QQQQ", 1, 0x555000401055, 9, 4)])


def control():
    """The ring of a monitor: docs/formats/control.md. Native byte order; shorter than the file."""
    t = Target("le64")
    head = t.pack("IIII", 0x4c43524d, 1, 2048, 512).ljust(64, b"\0")
    numbers = [t.pack("Q", n).ljust(64, b"\0") for n in (5, 0, 1)]
    page = (head + b"".join(numbers)).ljust(4096, b"\0")
    records = [(1, 1, b"init"), (1, 8, b"4711"), (2, 1, b"given up"), (0, 2, b"begun"), (1, 99, b"?" * 488)]
    yield "ring", page + b"".join(t.pack("IIQII", state, kind, 10**9, 4711, 4712) + words.ljust(488, b"\0")
                                  for state, kind, words in records)


def jit():
    """What a program says of code that it generates: docs/formats/generated.md."""
    yield "map", (b"1000 10 JS:*f a.js:1:2\n1008 0 unsized\n0x1000 8 again\ntorn\n1020 20 over\n"
                  b"ffffffffffffff00 ff end\n1024 4 \xc3\xa4\x1b[2J\n1028 4 not ended")
    for name in "le64", "be64":
        t = Target(name)

        def record(kind, payload):
            return t.pack("IIQ", kind, 16 + len(payload), 5) + payload

        def load(pid, start, size, index, text):
            return record(0, t.pack("IIQQQQ", pid, pid, start, start, size, index) + text + b"\0" + bytes(size))

        yield name, t.pack("IIIIIIQQ", 0x4a695444, 1, 40, 62, 0, 7, 5, 0) + b"".join((
            load(7, 0x1000, 16, 1, b"f"), record(2, bytes(16)), load(8, 0x1008, 4, 1, b"other"),
            load(7, 0x1008, 4, 2, b"g h"), record(4, bytes(24)),
            record(1, t.pack("IIQQQQQ", 7, 7, 0x1020, 0x1000, 0x1020, 16, 1)), record(3, b"")))


def live():
    yield "aside", live_file("le64", live_aside, version=2)
    yield "calls", live_file("le64", live_calls)
    yield "stacks", live_file("le64", live_stacks)
    yield "blocks", live_file("be32", live_blocks)


def short_names():
    for number, name in enumerate((
            "std::map<int, a, std::less<int>, std::allocator<std::pair<int const, a> > >::find(int&)",
            "bool A::operator<< <int>(std::__cxx11::basic_string<char, std::char_traits<char>, "
            "std::allocator<char> > const&) const &",
            "void (*(*f<int>())(int))(char) [clone .cold]",
            "main::{lambda(int)#1}::operator()(int) const::{lambda(auto:1)#1}::operator()<a>(a) const",
            "<alloc::vec::Vec<T,A> as core::ops::drop::Drop>::drop::h0123456789abcdef",
            "decltype (({parm#1})+({parm#2})) (anonymous namespace)::f[abi:x]<(1)<(2)>(int)@V_1",
            "A::operator int (*)(int)()::{lambda()#1}::operator()() const", "a<b(c<d)>{e<f}",
            "*operator :operator()")):
        yield str(number), name.encode()


# --- runs -----------------------------------------------------------------------------------------

def leb(*values):
    data = b""
    for value in values:
        while value >= 0x80:
            data += bytes([value & 0x7f | 0x80])
            value >>= 7
        data += bytes([value])
    return data


def signed(value):
    return 2 * value if value >= 0 else -2 * value - 1


def run_checksum(data):
    total = 0x9e3779b97f4a7c15 ^ len(data)
    for at in range(0, len(data), 8):
        word = int.from_bytes(data[at:at + 8], "little")
        total = (total ^ word) * 0xff51afd7ed558ccd % 2**64
        total ^= total >> 32
    return total


STRINGS = ["argument", "./p", "/bin/p", "p", "main", "cpu", "load", "refused", "/lib/q.so", "", "r1a8"]


def words(*texts):
    return leb(*(STRINGS.index(text) + 1 if text is not None else 0 for text in texts))


def run_record(tag, payload):
    return struct.pack("<IQ", tag, len(payload)) + payload


def run_list(tag, *items):
    return run_record(tag, leb(len(items)) + b"".join(items))


def run_object(kind, bits, path, process, low, extent, build_id=b""):
    return (leb(kind, bits) + words(path) + leb(process, low, extent, len(build_id)) + build_id)


def run_objects():
    return run_list(4, run_object(0, 2, "/bin/p", 0, 0x1000, 0x2000, bytes(range(20))),
                    run_object(0, 3, "/lib/q.so", 0, 0x500, 0x100),
                    run_object(1, 0, None, 0, 0, 0x2000), run_object(2, 0, None, 0, 0, 2**33),
                    run_object(3, 0, None, 1, 0x7f0000000000, 0x1000),
                    run_object(4, 0, None, 0, 0, 2**33), run_object(5, 0, None, 0, 0, 6))


def run_lists():
    process = leb(7, 1, 1, 0, 900, 500, 100, 3, signed(0)) + words("p", None)
    unseen = leb(8, 7, 0, 5, 0, 0, 0, 0, 0) + words("", "refused")
    yield run_list(1, *(leb(len(text)) + text.encode() for text in STRINGS))
    yield run_record(2, leb(62, 1, 1000, 2, 10**18, 1000, 100, 500, 100, 610, 9, 20, 5, 4))
    yield run_list(3, words("argument", "./p"))
    yield run_objects()
    yield run_list(5, leb(2, 0x10, 0x20) + words("main"), leb(0, 0x20, 0) + words("p"),
                   leb(2, 0x7f0000000100, 64) + words("load"))
    yield run_list(7, process, unseen)
    yield run_list(8, leb(0, 7, 0, 900, 1, 600) + words("p"), leb(1, 0, 5, 0, 0, 0) + words(""))
    yield run_list(9, words("cpu") + leb(0, 1000000, 0), words("r1a8") + leb(1, 65536, 1))
    yield run_list(11, leb(100, 0, 1, 7) + words("load"))
    yield run_list(12, leb(3, 1, 50) + words("refused"))


def run_nodes():
    """Each: how far back the parent is, the object where it is not the parent's, the step."""
    rows = [(0, None, 0x1010), (0, None, 0x20), (1, 3, 0), (3, 6, 1), (0, 4, 0x7f0000000110), (5, 5, 7)]
    return run_list(6, *(leb(back << 1 | (number is not None))
                         + (b"" if number is None else leb(number)) + leb(signed(step))
                         for back, number, step in rows))


def run_samples():
    return run_list(10, leb(signed(2) << 3), leb(signed(1) << 3 | 6, 3, signed(-17)),
                    leb(signed(3) << 3 | 1, signed(4), signed(1), 1), leb(signed(-1) << 3 | 3, signed(-1),
                                                                         signed(-1), 0, signed(500000)))


def run_excerpt(*places, functions=None, bits=1 | 4 | 16):
    """Two functions, of which the second was inlined into the first at a.c:9."""
    texts = [b"main", b"helper", b"a.c", b"a.h"]
    functions = functions or [leb(0x1000, 0x3f, 1, signed(5), 0), leb(0x10, 7, 2, signed(-2), 5)]
    scopes = [leb(1, 0), leb(2, 1, 3, 9)]
    return (leb(1, 62, 0, 3, bits, 1, 12345, signed(1790000000), 0, 0)
            + leb(len(texts)) + b"".join(leb(len(text)) + text for text in texts)
            + leb(len(functions)) + b"".join(functions) + leb(len(scopes)) + b"".join(scopes)
            + leb(len(places)) + b"".join(places))


PLACES = (leb(0x10 << 3 | 7, 0x1000, signed(1), 3, signed(8)), leb(8 << 3 | 6, signed(1), 4, signed(-6)),
          leb(4 << 3 | 7, 0x10, signed(-1), 3, signed(9)))


def run_excerpts(*excerpts):
    return run_list(15, *(leb(0, len(one)) + one for one in excerpts))


def run_waits(*steps):
    """A lock with a name, a file without, and steps: parent + 1, thread + 1, node, resource + 1, ..."""
    return (run_list(40, leb(1, 1, 0x404040) + words("main"), leb(6, 0, 9) + words(None))
            + run_list(41, *(leb(*step) for step in steps)))


def run_labels(sets, *runs):
    """Sets of (key, value); stretches of samples: passed over, length, set."""
    return (run_list(42, *(leb(len(one)) + b"".join(words(t) for pair in one for t in pair) + leb(0)
                           for one in sets))
            + run_list(43, *(leb(*one) for one in runs)))


def run_file(*more):
    data = struct.pack("<III", 0x4453524d, 2, 0x01020304) + b"".join(run_lists()) + run_nodes()
    data += run_samples() + run_record(99, b"unknown") + b"".join(more)
    return data + run_record(0, struct.pack("<Q", run_checksum(data)))


def run():
    yield "whole", run_file()
    yield "cut", run_file()[:-30]
    yield "no-such-node", run_file(run_list(10, leb(signed(99) << 3)))
    yield "forward-parent", run_file(run_list(6, leb(1000 << 1, 0)))
    yield "too-many", run_file(run_record(3, leb(2**40)))
    yield "excerpt", run_file(run_excerpts(run_excerpt(*PLACES)))
    yield "excerpts", run_file(run_excerpts(run_excerpt(*PLACES[:1]), run_excerpt(
        leb(0x20 << 3 | 7, 0x1008, signed(1), 3, signed(8)))))
    yield "excerpt-backwards", run_file(run_excerpts(run_excerpt(leb(0, signed(1)))))
    yield "excerpt-cut", run_file(run_excerpts(run_excerpt(*PLACES)[:-3]))
    yield "excerpt-unfounded", run_file(run_excerpts(run_excerpt(*PLACES, bits=1 | 16)))
    chain = (0, 1, 1, 1, 0, 3, 0), (1, 2, 4, 2, 0, 0, 900), (2, 0, 0, 0, 5, 0, 70)
    yield "waits", run_file(run_waits(*chain))
    yield "waits-forward", run_file(run_waits((3, 1, 1, 1, 0, 3, 0), *chain))
    times = (run_list(30, leb(signed(0), signed(0), 9, 5)), run_list(31, leb(signed(0), 2, 9)),
             run_list(32, leb(signed(0), signed(1), 5, 0)), run_list(33, leb(0, signed(0))))
    yield "times", run_file(*times)
    yield "times-of-nobody", run_file(run_list(33, leb(99, signed(-1))))
    sets = [("load", "p")], [("p", "main"), ("main", "")]
    yield "labels", run_file(run_labels(sets, (0, 1, 2), (1, 1, 1)))
    yield "labels-of-more-samples", run_file(run_labels(sets, (0, 1, 2), (1, 2**40, 1)))
    yield "labels-no-such-set", run_file(run_labels(sets, (0, 1, 3)))
    yield "version-3", run_file().replace(b"MRSD\2", b"MRSD\3", 1)


def events():
    """Lists of events, as --event takes them."""
    yield "names", b"cpu,wall,cycles:u,cs,page-faults/period=7,name=x/,user_time,r1a8:pp"
    yield "caches", b"L1-dcache-load-misses,l1d-misses-store,dTLB-speculative-read,LLC,node"
    yield "units", b"msr/tsc/,software/config=2/u,uprobe/retprobe,ref_ctr_offset=0x12/,tsc"
    yield "others", b"sched:sched_switch:k,mem:0x601040/8:rw:u,mem:16:x"
    yield "wrong", b"cycles,,inst_retired.any,cpu/event=1"


def labels():
    """A thread's record, its size in front; then the context of a process, in protobuf."""
    def field(number, data):
        return leb(number << 3 | 2, len(data)) + data

    def pair(key, value):
        return field(1, key) + field(2, value)

    def record(*attributes, valid=1, size=None):
        data = b"".join(bytes((key, len(value))) + value for key, value in attributes)
        return bytes(range(1, 25)) + struct.pack("<BBH", valid, 1, len(data) if size is None else size) + data

    keys = field(5, b"".join(field(1, field(1, key)) for key in (b"http.route", b"user", b"http.route")))
    context = (field(1, field(1, pair(b"service.name", field(1, b"shop")))
                     + field(1, pair(b"shard", leb(3 << 3, 7))) + field(1, pair(b"ok", leb(2 << 3, 1))))
               + field(2, pair(b"threadlocal.schema_version", field(1, b"tls_v1")))
               + field(2, pair(b"threadlocal.attribute_key_map", keys)))

    def both(one, other=context):
        return struct.pack("<H", len(one)) + one + other

    yield "whole", both(record((0, b"/a"), (1, b"me"), (0, b"/b"), (2, b"/c")))
    yield "unknown-key", both(record((7, b"x"), (1, b"\0\xff")))
    yield "cut-entry", both(record((0, b"/a"), (1, b"me"))[:-1])
    yield "too-long", both(record((0, b"/a"), size=65535))
    yield "not-valid", both(record((0, b"/a"), valid=2))
    yield "no-context", both(record((0, b"/a")), b"")
    yield "endless-context", both(record((0, b"/a")), context[:-3] + b"\xff" * 12)


def waits():
    """What a source tells: (what, thread, time that goes by), and lines of /proc."""
    fork, execed, ended, out, back, leaving, lost, poll, observed = range(9)

    def told(*rows):
        return b"".join(struct.pack("<BBH", *row) for row in rows)

    yield "life", told((fork, 1, 0), (back, 1, 100), (out, 1, 50), (poll, 0, 9000), (back, 1, 7),
                       (27 + out, 1, 9), (back, 1, 3), (ended, 1, 20))
    yield "places", told((execed, 0, 0), (leaving, 0, 5), (out, 0, 5), (poll, 0, 65535), (poll, 0, 65535),
                         (back, 0, 1), (out, 0, 4), (lost, 0, 9), (out, 0, 10), (fork, 0, 8))
    yield "clocks", told((fork, 6, 0), (observed, 6, 20), (observed, 6, 300), (observed, 6, 512), (observed, 6, 512),
                         (observed, 6, 65535), (ended, 6, 9), (poll, 6, 65535))
    yield "reborn", told((fork, 6, 1), (observed, 6, 0), (observed, 6, 0xf200), (fork, 6, 0), (observed, 6, 0))
    yield "blocked", b"230 0x0 0x0 0x7ffc 0x0 0x0 0x0 0x7ffc10 0x7f20"
    yield "none", b"-1 0x7ffc10 0x7f20"


def perf():
    """How to read, where the buffer begins, and records as the kernel writes them."""
    def record(kind, misc, payload, trailer=True):
        if trailer:
            payload += struct.pack("<IIQQIIQ", 11, 12, 1000, 77, 3, 0, 99)
        return struct.pack("<IHH", kind, misc, 8 + len(payload)) + payload

    def text(value):
        data = value.encode() + b"\0"
        return data + bytes(-len(data) % 8)

    sample = struct.pack("<QQIIQQIIQ", 99, 0x401000, 11, 12, 1000, 77, 3, 0, 250000)
    stack = struct.pack("<Q", 2) + struct.pack("<20Q", *range(100, 120)) + struct.pack("<Q64sQ", 64, bytes(range(64)), 40)
    fork = struct.pack("<IIIIQ", 31, 32, 33, 34, 5)
    mapped = struct.pack("<IIQQQIIQQII", 21, 22, 0x7000, 0x1000, 0x2000, 8, 1, 4711, 0, 5, 2) + text("/lib/x.so")
    known = struct.pack("<IIQQQB3x20sII", 21, 22, 0x7000, 0x1000, 0x2000, 20, bytes(range(20)), 5, 2) + text("/x")
    rows = (record(3, 0x2000, struct.pack("<II", 11, 11) + text("prog")) + record(10, 2, mapped) +
            record(10, 0x4002, known) + record(9, 2, sample + stack, False) + record(7, 0, fork) +
            record(2, 0, struct.pack("<QQ", 99, 17)) + record(8, 0, struct.pack("<IIQ", 11, 12, 5000)) +
            record(14, 0x2000, b"") + record(4, 0, fork))
    yield "all", b"\x09\0\0" + rows
    yield "around", b"\x09\xf0\xff" + rows
    yield "arm", b"\x02\0\0" + record(9, 1, sample + struct.pack("<Q", 2) + struct.pack("<33Q", *range(33)), False)
    yield "cut", b"\x09\0\0" + rows[:-8]


def main():
    for make in gmon, gmon0, bsd, bsd44, sprof, sidecar, live, run, events, labels, waits, short_names, \
            perf, control, jit:
        directory = HERE / make.__name__
        directory.mkdir(exist_ok=True)
        for name, data in make():
            (directory / name).write_bytes(data)


if __name__ == "__main__":
    main()
