"""Messages of Protocol Buffers, read by hand: no code is shared with monarc's own reader and writer."""
import collections


def take_varint(data, at):
    """(the number there, where it ends)."""
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value, at


def pairs(data):
    """(number, value or bytes) of each field, in their order."""
    at = 0
    while at < len(data):
        tag, at = take_varint(data, at)
        if tag & 7 == 0:
            value, at = take_varint(data, at)
        elif tag & 7 == 1:
            value, at = int.from_bytes(data[at:at + 8], "little"), at + 8
        else:
            assert tag & 7 == 2, tag
            size, at = take_varint(data, at)
            value, at = data[at:at + size], at + size
        yield tag >> 3, value
    assert at == len(data)


def fields(data):
    """Values of each field, by number."""
    found = collections.defaultdict(list)
    for number, value in pairs(data):
        found[number].append(value)
    return found


def packed(data):
    """The numbers of a packed list."""
    values, at = [], 0
    while at < len(data):
        value, at = take_varint(data, at)
        values.append(value)
    return values
