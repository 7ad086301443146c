/* What called what, as it was recorded: call_tree RECORDING. */
#include <monarc/report.h>

#include <stdio.h>

int main(int argc, char **argv)
{
    struct monarc_error e;
    struct monarc_subject of = {NULL, argv[argc - 1], NULL, NULL, false};
    struct monarc_row row;
    struct monarc_report *r = argc > 1 ? monarc_report_new(&e) : NULL;
    bool ok = r && monarc_report_tree(r, &of, 1, &e);
    for (size_t i = 0; ok && monarc_report_get_row(r, i, &row); i++)
        printf("%10.3f %*s%s\n", row.total, 2 * (int)row.depth, "", row.name);
    if (!ok)
        fprintf(stderr, "%s\n", r ? e.text : "usage: call_tree RECORDING");
    monarc_report_free(r);
    return !ok;
}
