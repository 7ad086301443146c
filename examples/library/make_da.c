/* Makes the files of the 2002 proposal for one function of an interpreter, whose blocks no compiler
 * knows: make_da NOTES.bbg COUNTERS.da
 *
 *     1  fun sign(x)        blocks: 0 entry, 1 the test, 2 and 3 its outcomes, 4 exit
 *     2      if x < 0
 *     3          return -1
 *     4      return 1
 *
 * An arc of a spanning tree needs no counter: its count follows from those of the others. */
#include <monarc/coverage.h>

#include <stdio.h>
#include <string.h>

enum { CHECKSUM = 0x5169 };

static const struct monarc_flow_arc arcs[] = {
    {0, 1, MONARC_ARC_ON_TREE}, {1, 2, 0}, {1, 3, 0}, {2, 4, MONARC_ARC_ON_TREE},
    {3, 4, MONARC_ARC_ON_TREE},
};
static const uint32_t numbers[] = {2, 3, 4};
static const struct monarc_block_lines lines[] = {
    {1, "sign.fun", &numbers[0], 1},
    {2, "sign.fun", &numbers[1], 1},
    {3, "sign.fun", &numbers[2], 1},
};
static const uint64_t counts[] = {7, 35}; /* of arcs 1 and 2: negative, not negative */

static bool write_notes(struct monarc_notes *n, const char *path, struct monarc_error *e)
{
    struct monarc_target out = monarc_target_to_path(path);
    struct monarc_function f;
    memset(&f, 0, sizeof f);
    f.name = "sign";
    f.lineno_checksum = CHECKSUM;
    f.blocks = 5;
    return monarc_notes_add_function(n, &f, arcs, sizeof arcs / sizeof *arcs, lines,
                                     sizeof lines / sizeof *lines, e) &&
           monarc_notes_write(n, MONARC_BBG, NULL, &out, e);
}

static bool write_counters(struct monarc_counters *c, const struct monarc_notes *n,
                           const char *path, struct monarc_error *e)
{
    struct monarc_target out = monarc_target_to_path(path);
    struct monarc_counted_function f;
    memset(&f, 0, sizeof f);
    f.name = "sign";
    f.lineno_checksum = CHECKSUM;
    return monarc_counters_add_function(c, &f, counts, 2, e) && monarc_counters_check(c, n, e) &&
           monarc_counters_write(c, MONARC_DA, NULL, NULL, &out, e);
}

int main(int argc, char **argv)
{
    struct monarc_error e;
    if (argc != 3) {
        fprintf(stderr, "usage: make_da NOTES.bbg COUNTERS.da\n");
        return 2;
    }
    struct monarc_notes *n = monarc_notes_new(NULL, &e);
    struct monarc_counters *c = n ? monarc_counters_new(NULL, &e) : NULL;
    bool ok = c && write_notes(n, argv[1], &e) && write_counters(c, n, argv[2], &e);
    if (!ok)
        fprintf(stderr, "%s\n", e.text);
    monarc_counters_free(c);
    monarc_notes_free(n);
    return !ok;
}
