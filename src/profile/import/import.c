/* The table of imports. Formats are tried in its order: those with a magic first, texts last, the
 * least certain at the end. */
#include "profile/import/import.h"

#include "profile/import/named_recording.h"
#include "profile/import/perf.h"

static bool read_perf(struct bytes in, const char *name, struct recording *out, struct err *e)
{
    return perf_data_read(in, name, &(struct perf_data_options){0}, out, NULL, e);
}

/* In the order of certainty. perf.data and pprof have a magic or a strict structure; callgrind has
 * keywords; what `perf script` prints has a shape; nearly any text with a number at each line's end
 * could be folded stacks. */
static const struct importer table[] = {
    {"perf_data", "Linux perf.data", perf_data_probe, read_perf},
    {"pprof", "pprof's profile.proto", pprof_probe, pprof_read},
    {"callgrind", "callgrind's output", callgrind_probe, callgrind_read},
    {"gperftools", "gperftools' formats", gperftools_probe, gperftools_read},
    {"perf_script", "the output of 'perf script'", perf_script_probe, perf_script_read},
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
