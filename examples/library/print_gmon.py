#!/usr/bin/env python3
"""Prints the sums and the most frequent arcs of a gmon.out, through libmonarc and ctypes alone.

usage: print_gmon.py FILE        LIBMONARC may name the library
"""

import ctypes
import os
import sys

LIB = ctypes.CDLL(os.environ.get("LIBMONARC", "libmonarc.so.1"))


class Error(ctypes.Structure):
    _fields_ = [("status", ctypes.c_int), ("text", ctypes.c_char * 1024)]


class Source(ctypes.Structure):
    _fields_ = [("path", ctypes.c_char_p), ("bytes", ctypes.c_void_p), ("len", ctypes.c_size_t),
                ("descriptor", ctypes.c_int), ("name", ctypes.c_char_p)]


class Arc(ctypes.Structure):
    _fields_ = [("from_", ctypes.c_uint64), ("self_", ctypes.c_uint64), ("count", ctypes.c_uint64)]


class Facts(ctypes.Structure):
    _fields_ = [("format", ctypes.c_int), ("pointer_bytes", ctypes.c_uint8),
                ("byte_order", ctypes.c_uint8), ("histograms", ctypes.c_size_t),
                ("arcs", ctypes.c_size_t), ("blocks", ctypes.c_size_t),
                ("samples", ctypes.c_uint64), ("calls", ctypes.c_uint64),
                ("histogram_records", ctypes.c_uint64), ("arc_records", ctypes.c_uint64),
                ("block_records", ctypes.c_uint64), ("trailing_bytes", ctypes.c_uint64)]


LIB.monarc_profile_new.restype = ctypes.c_void_p
LIB.monarc_profile_read.restype = ctypes.c_bool
LIB.monarc_profile_get_arcs.restype = ctypes.POINTER(Arc)
LIB.monarc_format_title.restype = ctypes.c_char_p


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    error, facts, length = Error(), Facts(), ctypes.c_size_t()
    source = Source(path=os.fsencode(sys.argv[1]), descriptor=-1)
    profile = ctypes.c_void_p(LIB.monarc_profile_new(None, ctypes.byref(error)))
    if not profile or not LIB.monarc_profile_read(profile, ctypes.byref(source), None,
                                                  ctypes.byref(error)):
        sys.exit(error.text.decode(errors="replace"))
    LIB.monarc_profile_get_facts(profile, ctypes.byref(facts))
    print(f"{LIB.monarc_format_title(facts.format).decode()}: {facts.samples} samples, "
          f"{facts.calls} calls over {facts.arcs} arcs")
    at = LIB.monarc_profile_get_arcs(profile, ctypes.byref(length))
    arcs = sorted(((at[i].count, at[i].from_, at[i].self_) for i in range(length.value)),
                  reverse=True)
    for count, caller, callee in arcs[:10]:
        print(f"{count:12} {caller:#x} -> {callee:#x}")
    LIB.monarc_profile_free(profile)


main()
