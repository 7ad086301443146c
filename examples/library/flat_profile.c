/* Where the time went: flat_profile PROGRAM GMON_OUT, or flat_profile RECORDING. */
#include <monarc/report.h>

#include <stdio.h>

int main(int argc, char **argv)
{
    struct monarc_error e;
    struct monarc_subject of = {argc > 2 ? argv[1] : NULL, argv[argc - 1], NULL, NULL, false};
    struct monarc_row row;
    struct monarc_report *r = argc > 1 ? monarc_report_new(&e) : NULL;
    bool ok = r && monarc_report_flat(r, &of, &e);
    for (size_t i = 0; ok && monarc_report_get_row(r, i, &row); i++)
        printf("%10.3f %10.3f %8llu %s\n", row.self, row.total, (unsigned long long)row.calls,
               row.name);
    if (!ok)
        fprintf(stderr, "%s\n", r ? e.text : "usage: flat_profile [PROGRAM] PROFILE");
    monarc_report_free(r);
    return !ok;
}
