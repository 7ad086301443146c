/* sums trace|recording OUT IN...: what files add up to. A tracefile gets a section of its own
 * first.
 * sums stream OUT IN: a stream of names and counters, pair by pair.
 * sums check NOTES COUNTERS: whether they belong together. */
#include <monarc/coverage.h>
#include <monarc/recording.h>

#include <stdio.h>
#include <string.h>

static int say(const struct monarc_error *e)
{
    fprintf(stderr, "%s\n", e->text);
    return 1;
}

static bool begin(struct monarc_trace *t, struct monarc_error *e)
{
    const struct monarc_trace_section s = {"own.c", "mine", 1, 2, 1};
    const struct monarc_trace_function f = {"main", 3, 9, 1};
    const struct monarc_trace_line lines[] = {{3, 1}, {4, 0}};
    const struct monarc_trace_branch branch = {4, 0, 1, 7, true};
    return monarc_trace_add_section(t, &s, &f, lines, &branch, e);
}

static int traces(const char *out, char **in, int len)
{
    struct monarc_error e;
    struct monarc_trace *sum = monarc_trace_new(NULL, &e), *one = monarc_trace_new(NULL, &e);
    bool ok = sum && one && begin(sum, &e);
    for (int i = 0; i < len && ok; i++) {
        struct monarc_source source = monarc_source_from_path(in[i]);
        ok = monarc_trace_read(one, &source, &e) && monarc_trace_merge(sum, one, &e);
    }
    struct monarc_target to = monarc_target_to_path(out);
    ok = ok && monarc_trace_write(sum, &to, &e);
    monarc_trace_free(one);
    monarc_trace_free(sum);
    return ok ? 0 : say(&e);
}

static int recordings(const char *out, char **in, int len)
{
    struct monarc_error e;
    struct monarc_recording *sum = monarc_recording_new(NULL, &e);
    struct monarc_recording *one = monarc_recording_new(NULL, &e);
    bool ok = sum && one;
    for (int i = 0; i < len && ok; i++) {
        struct monarc_source source = monarc_source_from_path(in[i]);
        ok = monarc_recording_read(one, &source, &e) && monarc_recording_merge(sum, one, &e);
    }
    struct monarc_target to = monarc_target_to_path(out);
    ok = ok && monarc_recording_write(sum, &to, &e);
    monarc_recording_free(one);
    monarc_recording_free(sum);
    return ok ? 0 : say(&e);
}

static bool copy_pair(void *context, const char *name, const struct monarc_counters *c)
{
    struct monarc_error e;
    struct monarc_target to = monarc_target_to_memory();
    bool ok = !monarc_counters_write(c, MONARC_GCFN, NULL, NULL, &to, &e) &&
              e.status == MONARC_MISUSE && monarc_counters_write_pair(c, name, NULL, &to, &e) &&
              fwrite(to.bytes, 1, to.len, (FILE *)context) == to.len;
    monarc_target_free(&to);
    return ok;
}

static int streams(const char *out, const char *in)
{
    struct monarc_error e;
    struct monarc_source source = monarc_source_from_path(in);
    FILE *f = fopen(out, "wb");
    bool ok = f && monarc_counters_walk(&source, NULL, copy_pair, f, &e);
    if (f)
        fclose(f);
    return ok ? 0 : say(&e);
}

static int checks(const char *notes, const char *counters)
{
    struct monarc_error e;
    struct monarc_source in = monarc_source_from_path(notes);
    struct monarc_notes *n = monarc_notes_new(NULL, &e);
    struct monarc_counters *c = monarc_counters_new(NULL, &e);
    bool ok = n && c && monarc_notes_read(n, &in, &e);
    in = monarc_source_from_path(counters);
    ok = ok && monarc_counters_read(c, &in, &e) && monarc_counters_check(c, n, &e);
    monarc_notes_free(n);
    monarc_counters_free(c);
    return ok ? 0 : say(&e);
}

int main(int argc, char **argv)
{
    if (argc < 4)
        return 2;
    if (!strcmp(argv[1], "stream"))
        return streams(argv[2], argv[3]);
    if (!strcmp(argv[1], "check"))
        return checks(argv[2], argv[3]);
    return strcmp(argv[1], "trace") ? recordings(argv[2], argv + 3, argc - 3)
                                    : traces(argv[2], argv + 3, argc - 3);
}
