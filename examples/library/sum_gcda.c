/* Sums gcda files of one object: sum_gcda OUTPUT FILE... */
#include <monarc/coverage.h>

#include <stdio.h>

static bool add(struct monarc_counters *sum, const char *path, struct monarc_error *e)
{
    struct monarc_source in = monarc_source_from_path(path);
    struct monarc_counters *one = monarc_counters_new(NULL, e);
    bool ok = one && monarc_counters_read(one, &in, e) && monarc_counters_merge(sum, one, e);
    monarc_counters_free(one);
    return ok;
}

int main(int argc, char **argv)
{
    struct monarc_error e;
    if (argc < 3) {
        fprintf(stderr, "usage: sum_gcda OUTPUT FILE...\n");
        return 2;
    }
    struct monarc_counters *sum = monarc_counters_new(NULL, &e);
    struct monarc_target out = monarc_target_to_path(argv[1]);
    bool ok = sum != NULL;
    for (int i = 2; i < argc && ok; i++)
        ok = add(sum, argv[i], &e);
    ok = ok && monarc_counters_write(sum, MONARC_NO_FORMAT, NULL, NULL, &out, &e);
    if (!ok)
        fprintf(stderr, "%s\n", e.text);
    monarc_counters_free(sum);
    return !ok;
}
