"""A reader of Parquet files as monarc writes them: required columns, plain values, nothing packed. It
refuses whatever else a file may have."""

import struct


class Compact:
    """Thrift's compact encoding: structs as {field: value}."""

    def __init__(self, data):
        self.data, self.at = data, 0

    def byte(self):
        self.at += 1
        return self.data[self.at - 1]

    def varint(self):
        value = shift = 0
        while True:
            byte = self.byte()
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    def value(self, kind):
        if kind in (5, 6):
            value = self.varint()
            return value >> 1 ^ -(value & 1)
        if kind == 8:
            size = self.varint()
            self.at += size
            return self.data[self.at - size:self.at]
        if kind == 9:
            head = self.byte()
            size = head >> 4 if head >> 4 < 15 else self.varint()
            return [self.value(head & 15) for _ in range(size)]
        assert kind == 12, kind
        fields, last = {}, 0
        while head := self.byte():
            assert head >> 4, "a long field header"
            last += head >> 4
            fields[last] = self.value(head & 15)
        return fields


def column(data, chunk, kind):
    meta = chunk[3]
    assert meta[1] == kind and meta[2] == [0] and meta[4] == 0 and meta[6] == meta[7]
    page = Compact(data)
    page.at = meta[9]
    header = page.value(12)
    start, rows = page.at, header[5][1]
    assert header[1] == 0 and header[2] == header[3] and rows == meta[5]
    assert start + header[2] == meta[9] + meta[7]
    if kind == 2:
        return list(struct.unpack_from(f"<{rows}q", data, start))
    values, at = [], start
    for _ in range(rows):
        size, = struct.unpack_from("<I", data, at)
        values.append(data[at + 4:at + 4 + size].decode())
        at += 4 + size
    assert at == start + header[2]
    return values


def read(data):
    """Rows as dicts, and how many groups they stood in."""
    assert data[:4] == data[-4:] == b"PAR1"
    size, = struct.unpack("<I", data[-8:-4])
    footer = Compact(data[-8 - size:-8])
    file = footer.value(12)
    assert footer.at == size
    root, *columns = file[2]
    assert root[5] == len(columns) and all(c[3] == 0 for c in columns)
    names = [c[4].decode() for c in columns]
    rows = []
    for group in file[4]:
        values = [column(data, chunk, c[1]) for chunk, c in zip(group[1], columns)]
        assert {len(v) for v in values} == {group[3]}
        rows += [dict(zip(names, row)) for row in zip(*values)]
    assert len(rows) == file[3]
    return rows, len(file[4])
