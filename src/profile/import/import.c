/* The table of imports, in the order in which they are tried: formats with a magic first. */
#include "profile/import/import.h"

#include "profile/import/named_import.h"
#include "profile/import/perf_data.h"

static bool read_perf(struct bytes in, const char *name, struct recording *out, struct err *e)
{
    return perf_data_read(in, name, &(struct perf_data_options){0}, out, NULL, e);
}

static const struct importer table[] = {
    {"perf_data", "Linux perf.data", perf_data_probe, read_perf},
    {"pprof", "pprof's profile.proto", pprof_probe, pprof_read},
    {"callgrind", "callgrind's output", callgrind_probe, callgrind_read},
    {"perf_script", "what 'perf script' prints", perf_script_probe, perf_script_read},
    {"folded", "folded stacks", folded_probe, folded_read},
};

const struct importer *const importers = table;
const size_t importers_len = sizeof table / sizeof *table;

const struct importer *importer_of(struct bytes first)
{
    for (size_t i = 0; i < importers_len; i++)
        if (table[i].probe(first))
            return &table[i];
    return NULL;
}
