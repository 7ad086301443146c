/* What records of bbg and da consist of, and their tags. */
#ifndef MONARC_COVERAGE_FORMAT_BBG_ITEMS_H
#define MONARC_COVERAGE_FORMAT_BBG_ITEMS_H

#include "base/cursor.h"
#include "base/writer.h"

/* The proposal's items. An int32 and an int64 are cursor_u32() and cursor_u64() (writer_u32(),
 * writer_u64()); a string is its length, its characters, a NUL and NULs up to a multiple of 4.
 * Reading fails (in->failed) if the padding is not there or not zero. */
const char *bbg_string(struct cursor *in);
void bbg_write_string(struct writer *w, const char *text);

enum bbg_tag {
    BBG_FUNCTION = 1,
    BBG_BLOCKS = 2,
    BBG_ARCS = 3,
    BBG_LINES = 4,
    BBG_ARC_COUNTS = 5,
    BBG_OBJECT_SUMMARY = 6,
    BBG_PROGRAM_SUMMARY = 7,
    BBG_LLVM = 0x6d766c6c, /* "llvm", ours: the notes were clang's */
};

#endif
