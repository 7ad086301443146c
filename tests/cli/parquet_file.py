"""A reader of Parquet files as monarc writes them: required columns and lists, a dictionary for each,
nothing packed. It refuses whatever else a file may have."""

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


def plain(data, at, end, kind, number):
    """The values of a dictionary."""
    if kind == 2:
        assert end - at == 8 * number
        return list(struct.unpack_from(f"<{number}q", data, at))
    values = []
    for _ in range(number):
        size, = struct.unpack_from("<I", data, at)
        values.append(data[at + 4:at + 4 + size].decode())
        at += 4 + size
    assert at == end
    return values


def hybrid(data, at, end, width, number):
    """Runs and groups of eight numbers of `width` bits; the last group may be longer than needed."""
    values, cursor = [], Compact(data)
    cursor.at = at
    while len(values) < number:
        head = cursor.varint()
        if head & 1:
            size = (head >> 1) * width
            bits = int.from_bytes(data[cursor.at:cursor.at + size], "little")
            values += [bits >> i * width & (1 << width) - 1 for i in range((head >> 1) * 8)]
            assert len(values) < number + 8
        else:
            size = (width + 7) // 8
            values += [int.from_bytes(data[cursor.at:cursor.at + size], "little")] * (head >> 1)
            assert len(values) <= number
        cursor.at += size
    assert cursor.at == end
    return values[:number]


def page(data, at, kind):
    """Header and where the bytes are: kind 0 has indices, 2 a dictionary."""
    cursor = Compact(data)
    cursor.at = at
    header = cursor.value(12)
    assert header[1] == kind and header[2] == header[3]
    return header[7 if kind else 5], cursor.at, cursor.at + header[2]


def column(data, chunk, kind, is_list):
    meta = chunk[3]
    assert meta[1] == kind and meta[2] == [0, 3, 8] and meta[4] == 0 and meta[6] == meta[7]
    header, at, end = page(data, meta[11], 2)
    assert header[2] == 0 and end == meta[9]
    different = plain(data, at, end, kind, header[1])
    assert len(set(different)) == len(different)
    header, at, end = page(data, meta[9], 0)
    assert header[1] == meta[5] and header[2] == 8 and end == meta[11] + meta[7]
    starts = None
    if is_list:
        levels = []
        for _ in range(2):
            size, = struct.unpack_from("<I", data, at)
            levels.append(hybrid(data, at + 4, at + 4 + size, 1, header[1]))
            at += 4 + size
        starts = [i for i, level in enumerate(levels[0]) if not level] + [header[1]]
        assert set(levels[1]) == {1} and not starts[0]
    values = [different[i] for i in hybrid(data, at + 1, end, data[at], header[1])]
    return values if starts is None else [values[a:b] for a, b in zip(starts, starts[1:])]


def schema(elements):
    """(name, type, whether it is a list) of each column."""
    found = []
    while elements:
        c, *elements = elements
        assert c[3] == 0
        if 5 not in c:
            found.append((c[4].decode(), c[1], False))
            continue
        among, element, *elements = elements
        assert (c[5], among[5], among[3], element[3]) == (1, 1, 2, 0)
        found.append((c[4].decode(), element[1], True))
    return found


def read(data):
    """Rows as dicts, and how many groups they stood in."""
    assert data[:4] == data[-4:] == b"PAR1"
    size, = struct.unpack("<I", data[-8:-4])
    footer = Compact(data[-8 - size:-8])
    file = footer.value(12)
    assert footer.at == size
    root, *elements = file[2]
    columns = schema(elements)
    assert root[5] == len(columns)
    names = [name for name, _, _ in columns]
    rows = []
    for group in file[4]:
        values = [column(data, chunk, kind, is_list) for chunk, (_, kind, is_list) in zip(group[1], columns)]
        assert {len(v) for v in values} == {group[3]}
        rows += [dict(zip(names, row)) for row in zip(*values)]
    assert len(rows) == file[3]
    return rows, len(file[4])
