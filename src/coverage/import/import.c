/* The importers of coverage in the order in which they are asked. A report of another tool becomes
 * a tracefile, and is merged and printed as one. */
#include "coverage/import/import.h"

#include "coverage/format/format.h"
#include "coverage/import/import_private.h"

/* A row a format: its name is that of its corpus, its title is for people. Probes look at the same
 * first bytes, and none of them takes what another one's writer makes. */
static const struct trace_importer TABLE[] = {
    {"lcov", "lcov tracefile", lcov_probe, lcov_read},
    {"gcovr", "gcovr's JSON", gcovr_probe, gcovr_read},
    {"llvm_cov", "llvm-cov's JSON", llvm_cov_probe, llvm_cov_read},
    {"cobertura", "Cobertura XML", cobertura_probe, cobertura_read},
};

const struct trace_importer *const trace_importers = TABLE;
const size_t trace_importers_len = sizeof TABLE / sizeof *TABLE;

/* NULL: no importer knows the bytes. Probes are cheap, and asked in the order of the table. */
const struct trace_importer *trace_importer_of(struct bytes first)
{
    first = bytes_without_mark(first);
    for (size_t i = 0; i < trace_importers_len; i++)
        if (TABLE[i].probe(first))
            return &TABLE[i];
    return NULL;
}

bool trace_is_known(struct bytes first)
{
    return trace_importer_of(first) != NULL;
}
