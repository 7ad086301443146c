/* llvm-cov's JSON: what 'llvm-cov export' writes. Lines are not in it: they are made of its
 * segments, by llvm-cov's own rules. */
#ifndef MONARC_COVERAGE_IMPORT_LLVM_COV_H
#define MONARC_COVERAGE_IMPORT_LLVM_COV_H

#include "base/bytes.h"
#include "base/err.h"
#include "coverage/model/tracefile.h"

bool llvm_cov_probe(struct bytes first);

/* Into a zeroed *out. On failure *out holds the sections that were whole. */
MUST_CHECK bool llvm_cov_read(struct bytes in, const char *name, struct tracefile *out,
                              struct err *e);

#endif
