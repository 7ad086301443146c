/* Files of gcc before 3.4 as those of the proposal: untagged GRAPH LINES COUNTERS NOTES-OUT DA-OUT.
 */
#include <monarc/coverage.h>

#include <stdio.h>

int main(int argc, char **argv)
{
    struct monarc_error e, ignored;
    struct monarc_notes *n = monarc_notes_new(NULL, &e);
    struct monarc_counters *c = monarc_counters_new(NULL, &e);
    if (argc < 6 || !n || !c)
        return 2;
    struct monarc_source graph = monarc_source_from_path(argv[1]),
                         lines = monarc_source_from_path(argv[2]),
                         counts = monarc_source_from_path(argv[3]);
    struct monarc_target notes_to = monarc_target_to_path(argv[4]),
                         da_to = monarc_target_to_path(argv[5]);
    bool ok = monarc_notes_read(n, &graph, &e) && monarc_notes_read_lines(n, &lines, &e) &&
              monarc_counters_read(c, &counts, &e);
    if (ok)
        (void)monarc_counters_share(c, n, &ignored); /* those of gcc 3.3 have names */
    ok = ok && !monarc_notes_read_lines(n, &lines, &ignored) &&
         monarc_notes_write(n, MONARC_BBG, NULL, &notes_to, &e);
    monarc_notes_free(n); /* names are the counters' own */
    ok = ok && monarc_counters_write(c, MONARC_DA, NULL, NULL, &da_to, &e);
    if (!ok)
        fprintf(stderr, "%s\n", e.text);
    monarc_counters_free(c);
    return !ok;
}
