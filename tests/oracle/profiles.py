"""profiles.py: invents profiles: the bytes of a gmon.out for the symbols of some ELF file.

Image reads word size, byte order and text symbols (from `nm -l`). Profile collects histograms, arcs
and block counts and writes them as GNU version 1 or 0, old BSD or 4.4BSD, in the image's word size
and byte order. It refuses nothing that fits the fields: broken and odd profiles are its purpose.
"""

import bisect
import dataclasses
import re
import struct
import subprocess


@dataclasses.dataclass
class Symbol:
    name: str
    addr: int
    kind: str  # nm's letter
    file: "str | None" = None
    line: "int | None" = None


class Image:
    """An ELF file: bits (32 or 64), big (byte order), symbols in .text order."""

    def __init__(self, path, nm="nm", lines=True):
        self.path = path
        with open(path, "rb") as file:
            ident = file.read(16)
        self.bits = {1: 32, 2: 64}[ident[4]]
        self.big = ident[5] == 2
        # Compilers' plugins, which nm loads unless it is told one, take longer than its own work.
        command = [nm, "--plugin", "/dev/null", "-n"] + (["-l"] if lines else []) + [str(path)]
        listing = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        self.symbols = [s for s in map(self._symbol, listing.splitlines())
                        if s and s.kind in "tTW" and not s.name.startswith("$")]
        self._addrs = sorted({s.addr for s in self.symbols})

    @staticmethod
    def _symbol(text):
        match = re.match(r"([0-9a-f]+) (.) ([^\t]+)(?:\t(.*):(\d+))?$", text)
        if not match:
            return None
        addr, kind, name, file, line = match.groups()
        return Symbol(name, int(addr, 16), kind, file, int(line) if line else None)

    def has(self, name):
        """Whether it was not inlined away."""
        return any(s.name == name.partition("#")[0] for s in self.symbols)

    def find(self, name):
        """The symbol of that name; `name#2` is the third one of the name, by address."""
        name, _, nth = name.partition("#")
        found = [s for s in self.symbols if s.name == name]
        if not found:
            raise KeyError(f"{self.path}: no symbol {name}")
        return found[int(nth or 0)]

    def addr(self, name):
        return self.find(name).addr

    def size(self, name):
        """The bytes from the symbol to the next address that has one."""
        addr = self.addr(name)
        after = bisect.bisect_right(self._addrs, addr)
        return self._addrs[after] - addr if after < len(self._addrs) else 4


@dataclasses.dataclass
class Histogram:
    low: int
    high: int
    bins: list
    rate: int = 100
    dimension: bytes = b"seconds"
    abbrev: bytes = b"s"


@dataclasses.dataclass
class Arc:
    site: int
    callee: int
    count: int


@dataclasses.dataclass
class Blocks:
    counts: list  # of (address, count)


class Profile:
    """Records for one image, in the order in which they will be written."""

    BSD44 = 0x00051879

    def __init__(self, image):
        self.image = image
        self.records = []

    def histogram(self, low, high, nbins, hits=None, **fields):
        """Adds nbins bins over [low, high); hits maps addresses to samples."""
        bins = [0] * nbins
        for addr, count in (hits or {}).items():
            place = (addr - low) * nbins // (high - low)
            if 0 <= place < nbins:
                bins[place] = (bins[place] + count) & 0xFFFF
        self.records.append(Histogram(low, high, bins, **fields))
        return self

    def arc(self, caller, callee, count, offset=None):
        """Adds an arc by names (or addresses); offset is the call site's, from the caller."""
        site = caller
        if isinstance(caller, str):
            size = self.image.size(caller)
            site = self.image.addr(caller) + (size // 2 if offset is None else offset)
        if isinstance(callee, str):
            callee = self.image.addr(callee)
        self.records.append(Arc(site, callee, count))
        return self

    def blocks(self, counts):
        self.records.append(Blocks(list(counts)))
        return self

    # bytes

    def _pack(self, fields, *values):
        """struct.pack; `W` stands for one address-sized word."""
        word = "Q" if self.image.bits == 64 else "I"
        order = ">" if self.image.big else "<"
        return struct.pack(order + fields.replace("W", word), *values)

    def _bins(self, bins):
        return self._pack(f"{len(bins)}H", *bins)

    def _record(self, record):
        if isinstance(record, Histogram):
            head = self._pack("BWWII15sc", 0, record.low, record.high, len(record.bins),
                              record.rate, record.dimension, record.abbrev)
            return head + self._bins(record.bins)
        if isinstance(record, Arc):
            return self._pack("BWWI", 1, record.site, record.callee, record.count)
        head = self._pack("BI", 2, len(record.counts))
        return head + b"".join(self._pack("WW", *pair) for pair in record.counts)

    def gnu(self, version=1):
        """The tagged format; version 0 differs in the block records, which it refuses."""
        if version == 0 and any(isinstance(r, Blocks) for r in self.records):
            raise ValueError("no block counts in version 0")
        return self.header(version) + b"".join(map(self._record, self.records))

    def header(self, version=1):
        return b"gmon" + self._pack("I", version) + bytes(12)

    def _bsd_records(self):
        histogram = next(r for r in self.records if isinstance(r, Histogram))
        arcs = [self._pack("WWW", r.site, r.callee, r.count)
                for r in self.records if isinstance(r, Arc)]
        return histogram, self._bins(histogram.bins) + b"".join(arcs)

    def bsd(self):
        """Old BSD: the first histogram and the arcs; rate and dimension are lost."""
        histogram, rest = self._bsd_records()
        size = 20 if self.image.bits == 64 else 12
        head = self._pack("WWI", histogram.low, histogram.high,
                          size + 2 * len(histogram.bins))
        return head + rest

    def bsd44(self):
        """4.4BSD: as bsd(), with the rate."""
        histogram, rest = self._bsd_records()
        size = 40 if self.image.bits == 64 else 32
        head = self._pack("WWIII3I", histogram.low, histogram.high,
                          size + 2 * len(histogram.bins), self.BSD44, histogram.rate, 0, 0, 0)
        return head + rest
