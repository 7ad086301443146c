/* What writing gcno and gcda has in common. */
#ifndef MONARC_COVERAGE_FORMAT_ARCFILE_WRITE_H
#define MONARC_COVERAGE_FORMAT_ARCFILE_WRITE_H

#include "base/writer.h"
#include "coverage/format/arcfile.h"

/* Magic, version, stamp and, where the dialect has one, checksum. */
void arcfile_write_header(struct writer *w, uint32_t magic, const struct arcs_origin *origin,
                          const struct gcov_dialect *dialect);

/* Low word first, whatever the byte order. */
void arcfile_write_u64(struct writer *w, uint64_t value);

/* Length and bytes with their NUL; in words, padded. NULL is length 0. */
void arcfile_write_text(struct writer *w, const char *text, bool has_byte_lengths);

/* Tag and a place for the length, which arcfile_end_record() fills in. */
size_t arcfile_start_record(struct writer *w, uint32_t tag);
void arcfile_end_record(struct writer *w, size_t start, bool has_byte_lengths);

#endif
