"""Memory images and framed text of the embedded recorder, made here without it, in any byte order
and pointer size: docs/formats/embedded.md and frames.md, read once more."""

import base64
import struct
import zlib

MAGIC = b"monarcE\1"
HEAD_WORDS = 28
CHECKED_WORDS = 22  # words that the check covers: up to PROBES
HAS_TEXT_SUM, CLEAR_BIT_0 = 1, 2


def text_sum(text, order="<"):
    total = 0
    for (word,) in struct.iter_unpack(order + "I", text):
        total = ((total << 5 | total >> 27) + word) & 0xffffffff
    return total


def image(order="<", word=4, windows=((0x1000, 0x1100),), shift=4, bins=None, arcs=(), slots=32,
          rate=1000, core=0, cores=1, flags=0, sum_of_text=0, stacks=(), stack_shift=4,
          lost=(0, 0, 0, 0, 0, 0), deepest=(0, 0), text=(0x1000, 0x1100), stack_top=0):
    """bins: counters of all windows, one behind the other; lost: the words from LOST on."""
    wide = {4: "I", 8: "Q"}[word]
    count = sum((high - low) >> shift for low, high in windows)
    bins = list(bins) if bins is not None else [0] * count
    windows_max = max(len(windows), 2)
    ranges = [address for pair in windows for address in pair] + [0, 0] * (windows_max - len(windows))
    head_bytes = 4 * HEAD_WORDS + word * (3 + 2 * windows_max + 2)
    stacks_at = head_bytes + (2 * count + 3) // 4 * 4
    arcs_at = (stacks_at + 4 * len(stacks) + word - 1) // word * word
    size = arcs_at + 3 * word * slots
    magic = struct.unpack(order + "II", MAGIC)
    words = [*magic, 0x01020304, word, size, 0, core, cores, flags, rate, sum_of_text, len(windows),
             windows_max, shift, head_bytes, count, stacks_at, len(stacks), stack_shift, arcs_at,
             slots, 32]
    fixed = struct.pack(f"{order}{3 + len(ranges)}{wide}", *text, stack_top, *ranges)
    total = sum(words) + sum(struct.unpack(f"{order}{len(fixed) // 4}I", fixed))
    words[5] = -total & 0xffffffff
    data = struct.pack(f"{order}{HEAD_WORDS}I", *words, *lost) + fixed
    data += struct.pack(f"{order}2{wide}", *deepest)
    data += struct.pack(f"{order}{count}H", *bins)
    data += bytes(stacks_at - len(data)) + struct.pack(f"{order}{len(stacks)}I", *stacks)
    data += bytes(arcs_at - len(data))
    for arc in list(arcs) + [(0, 0, 0)] * (slots - len(arcs)):
        data += struct.pack(f"{order}3{wide}", *arc)
    return data


def line(kind, stream, frame, offset, payload):
    text = f"~{kind}1:{stream:08x}:{frame:08x}:{offset:08x}:".encode() + payload
    return text + b"~%08x\n" % zlib.crc32(text)


def frames(data, size=48):
    """The lines of a stream, its end last."""
    stream = zlib.crc32(data)
    pieces = [data[at:at + size] for at in range(0, len(data), size)]
    lines = [line("M", stream, n, n * size, base64.b64encode(piece).rstrip(b"="))
             for n, piece in enumerate(pieces)]
    return lines + [line("E", stream, len(pieces), len(data), b"%08x" % stream)]
