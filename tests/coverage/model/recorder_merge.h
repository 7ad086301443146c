/* The recorder's merge of counter files, in a library of its own: its functions have names that the
 * analyser's have too. */
#ifndef MONARC_TESTS_RECORDER_MERGE_H
#define MONARC_TESTS_RECORDER_MERGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What the recorder leaves in a file that held `old` and whose program counted `now`. Both are
 * whole files of gcc with every kind of counter that the version has. Returns its bytes, of the
 * `room` bytes at `out`; 0 if the recorder refuses. */
size_t recorder_merge(uint32_t version, const uint8_t *now, size_t now_bytes, const uint8_t *old,
                      size_t old_bytes, uint8_t *out, size_t room);

#endif
