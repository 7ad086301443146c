/* The table of tracefiles and what other tools write in their place, in the order in which they are
 * tried. */
#include "coverage/import/import.h"

#include "coverage/format/lcov.h"
#include "coverage/import/cobertura.h"
#include "coverage/import/gcovr.h"
#include "coverage/import/llvm_cov.h"

static const struct trace_importer TABLE[] = {
    {"lcov", "lcov tracefile", lcov_probe, lcov_read},
    {"gcovr", "gcovr's JSON", gcovr_probe, gcovr_read},
    {"llvm_cov", "llvm-cov's JSON", llvm_cov_probe, llvm_cov_read},
    {"cobertura", "Cobertura XML", cobertura_probe, cobertura_read},
};

const struct trace_importer *const trace_importers = TABLE;
const size_t trace_importers_len = sizeof TABLE / sizeof *TABLE;

const struct trace_importer *trace_importer_of(struct bytes first)
{
    for (size_t i = 0; i < trace_importers_len; i++)
        if (TABLE[i].probe(first))
            return &TABLE[i];
    return NULL;
}

bool trace_is_known(struct bytes first)
{
    return trace_importer_of(first) != NULL;
}
