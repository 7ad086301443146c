/* Which lines and branches ran: covered_lines FILE.gcno FILE.gcda. */
#include <monarc/coverage.h>

#include <stdio.h>

static void show(const struct monarc_trace *t)
{
    struct monarc_trace_section s;
    struct monarc_trace_line line;
    struct monarc_trace_branch b;
    for (size_t n = 0; monarc_trace_get_section(t, n, &s); n++) {
        for (size_t i = 0; monarc_trace_get_line(t, n, i, &line); i++)
            printf("%s:%u %llu\n", s.source, (unsigned)line.line, (unsigned long long)line.count);
        for (size_t i = 0; monarc_trace_get_branch(t, n, i, &b); i++)
            printf("%s:%u branch %u: %llu\n", s.source, (unsigned)b.line, (unsigned)b.branch,
                   (unsigned long long)b.count);
    }
}

int main(int argc, char **argv)
{
    struct monarc_error e = {MONARC_MISUSE, "usage: covered_lines FILE.gcno FILE.gcda"};
    struct monarc_source notes = monarc_source_from_path(argv[1]),
                         counts = monarc_source_from_path(argv[argc - 1]);
    struct monarc_notes *n = monarc_notes_new(NULL, &e);
    struct monarc_counters *c = monarc_counters_new(NULL, &e);
    struct monarc_trace *t = monarc_trace_new(NULL, &e);
    bool ok = argc == 3 && n && c && t && monarc_notes_read(n, &notes, &e) &&
              monarc_counters_read(c, &counts, &e) && monarc_counters_solve(c, n, t, NULL, &e);
    if (ok)
        show(t);
    else
        fprintf(stderr, "%s\n", e.text);
    monarc_notes_free(n);
    monarc_counters_free(c);
    monarc_trace_free(t);
    return !ok;
}
