"""Makes of bbg and da of the proposal what gcc before 3.4 would have left: bbg, bb and da without
tags (docs/formats/bb.md). Run as a program it writes the seeds of tests/corpus/bb."""

import struct
import sys
from pathlib import Path


def number(value, size=4):
    """Little-endian; the highest bit is the sign."""
    data = bytearray(abs(value).to_bytes(size, "little"))
    data[-1] |= 0x80 if value < 0 else 0
    return bytes(data)


def padded(text):
    data = text + b"\0"
    return data + b"\0" * (-len(data) % 4)


def delimited(text, delimiter, has_length):
    length = number(len(text)) if has_length else b""
    return number(delimiter) + length + padded(text) + number(delimiter)


def records(data):
    at = 8
    while at < len(data):
        tag, length = struct.unpack_from("<II", data, at)
        yield tag, data[at + 8:at + 8 + length]
        at += 8 + length


def words(data):
    return struct.unpack(f"<{len(data) // 4}I", data)


def named(body):
    length = words(body[:4])[0]
    return body[4:4 + length], words(body[-4:])[0]


class Function:
    def __init__(self, body):
        self.name, self.checksum = named(body)
        self.arcs, self.lines, self.counts = [], [], []


def functions_of(data):
    """Functions of a bbg or da, and the summaries: {tag: body}."""
    functions, summaries = [], {}
    for tag, body in records(data):
        if tag == 1:
            functions.append(Function(body))
        elif tag == 3:
            values = words(body)
            functions[-1].arcs.append(list(zip(values[::2], values[1::2])))
        elif tag == 4:
            functions[-1].lines.append(body)
        elif tag == 5:
            functions[-1].counts = struct.unpack(f"<{len(body) // 8}Q", body)
        elif tag in (6, 7):
            summaries[tag] = body
    return functions, summaries


def graph(bbg, is_33):
    data = b""
    for f in functions_of(bbg)[0]:
        arcs = f.arcs[:-1] + [[(0, 1)]]  # the exit leads back to the entry
        if is_33:
            data += delimited(f.name, -1, True) + number(f.checksum & 0x7fffffff)
        data += number(len(arcs)) + number(sum(map(len, arcs)))
        for block in arcs:
            data += number(len(block)) + b"".join(number(to) + number(flags & 7)
                                                  for to, flags in block)
        data += number(-1)
    return data


def lines(bbg):
    """Blocks are ended by 0, as the entry is, which has no lines; so the exit's 0 is missing."""
    data, last = b"", None
    for f in functions_of(bbg)[0]:
        data += delimited(f.name, -2, False)
        for index, body in enumerate(f.lines):
            at = 0
            while at < len(body):
                line, = struct.unpack_from("<I", body, at)
                at += 4
                if line:
                    data += number(line)
                    continue
                length, = struct.unpack_from("<I", body, at)
                name = body[at + 4:at + 4 + length]
                at += 4 + len(padded(name))
                if name != last:
                    data += delimited(name, -1, False)
                last = name
            data += number(0) if index + 1 < len(f.lines) else b""
    return data


def counters(da, bbg, is_33):
    """gcc before 3.3 keeps no names: the functions are those of the graph, in its order."""
    functions, summaries = functions_of(da)
    if not is_33:
        counted = {(f.name, f.checksum): f.counts for f in functions}
        row = []
        for f in functions_of(bbg)[0]:
            needed = sum(not flags & 1 for block in f.arcs for _, flags in block)
            row += counted.get((f.name, f.checksum), [0] * needed)
        return number(len(row), 8) + b"".join(number(c, 8) for c in row)
    data = number(-123) + number(len(functions)) + number(40) + summaries[7] + summaries[6]
    for f in functions:
        data += delimited(f.name, -1, True) + number(f.checksum & 0x7fffffff)
        data += number(len(f.counts)) + b"".join(number(c, 8) for c in f.counts)
    return data


def main():
    corpus = Path(__file__).resolve().parents[1] / "corpus"
    (corpus / "bb").mkdir(exist_ok=True)
    for name in "gcc-8-c", "gcc-12-c":
        bbg, da = (corpus / kind / name for kind in ("bbg", "da"))
        bbg, da = bbg.read_bytes(), da.read_bytes()
        for is_33, version in (True, "33"), (False, "32"):
            own = graph(bbg, is_33)
            (corpus / f"bb/{name}-notes-{version}").write_bytes(
                struct.pack("<I", len(own)) + own + lines(bbg))
            (corpus / f"bb/{name}-counters-{version}").write_bytes(counters(da, bbg, is_33))
    own = counters(da, bbg, True)
    (corpus / "bb/two-groups-33").write_bytes(own + own)


if __name__ == "__main__":
    sys.exit(main())
