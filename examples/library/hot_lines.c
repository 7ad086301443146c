/* Where the time went, line by line: hot_lines PROGRAM GMON_OUT, or hot_lines RECORDING. */
#include <monarc/report.h>

#include <stdio.h>

int main(int argc, char **argv)
{
    struct monarc_error e;
    struct monarc_subject of = {argc > 2 ? argv[1] : NULL, argv[argc - 1], NULL, NULL, false};
    struct monarc_row row;
    struct monarc_report *r = argc > 1 ? monarc_report_new(&e) : NULL;
    bool ok = r && monarc_report_lines(r, &of, &e);
    for (size_t i = 0; ok && monarc_report_get_row(r, i, &row); i++)
        printf("%10.3f %s:%u %s\n", row.self, row.file ? row.file : "?", (unsigned)row.line,
               row.name);
    if (!ok)
        fprintf(stderr, "%s\n", r ? e.text : "usage: hot_lines [PROGRAM] PROFILE");
    monarc_report_free(r);
    return !ok;
}
