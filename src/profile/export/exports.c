/* The table of exports. */
#include "profile/export/exports.h"

const struct export_format export_formats[] = {
    {"callgrind", callgrind_export, false, false, true},
    {"cpuprofile", cpuprofile_export, true, false, false},
    {"dot", dot_export, false, false, false},
    {"folded", folded_export, true, false, false},
    {"otlp", otlp_export, true, false, false},
    {"parquet", parquet_export, true, false, false},
    {"parquet-calls", parquet_calls_export, false, false, false},
    {"parquet-functions", parquet_functions_export, false, false, false},
    {"pprof", pprof_export, false, true, false},
    {"speedscope", speedscope_export, true, false, false},
};
const size_t export_formats_len = sizeof export_formats / sizeof *export_formats;

const struct export_format *export_format_find(const char *name, struct err *e)
{
    char names[256] = "";
    for (size_t i = 0; i < export_formats_len; i++) {
        if (!strcmp(export_formats[i].name, name))
            return &export_formats[i];
        strncat(names, i ? ", " : "", sizeof names - strlen(names) - 1);
        strncat(names, export_formats[i].name, sizeof names - strlen(names) - 1);
    }
    err_set(e, "there is no format '%s'; there are %s", name, names);
    return NULL;
}
