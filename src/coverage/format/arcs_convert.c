/* Conversions in place. */
#include "coverage/format/arcs_convert.h"

#include "base/map.h"
#include "coverage/format/arcfile.h"
#include "coverage/format/bbg.h"
#include "coverage/model/coverage_merge.h"

#include <string.h>
#include <zlib.h>

/* Pairs what was the proposal's, which has no stamps: "rfc2". */
enum { RFC_STAMP = 0x32636672 };

uint32_t arcs_version_word(unsigned major, unsigned minor)
{
    if (major < 3 || major > 99 || minor > 9)
        return 0;
    if (major < 7)
        return ('0' + major) << 24 | '0' << 16 | ('0' + minor) << 8 | '*';
    return ('A' + major / 10) << 24 | ('0' + major % 10) << 16 | ('0' + minor) << 8 | '*';
}

/* ---- the exit block */

static uint32_t renumbered(uint32_t block, uint32_t from, uint32_t to)
{
    if (block == from)
        return to;
    if (from < to)
        return block > from && block <= to ? block - 1 : block;
    return block >= to && block < from ? block + 1 : block;
}

/* The runs of block `to` go where they belong: behind, or before, those they have passed. */
static void move_runs(struct cover_run *runs, uint32_t len, uint32_t exit)
{
    uint32_t first = 0, mine = 0, place = 0;
    while (first < len && runs[first].block != exit)
        first++;
    while (first + mine < len && runs[first + mine].block == exit)
        mine++;
    for (uint32_t i = 0; i < len; i++)
        place += runs[i].block < exit;
    struct cover_run *moved = mine ? malloc(mine * sizeof *moved) : NULL;
    if (mine && !moved)
        memory_exhausted(mine * sizeof *moved);
    if (!mine)
        return;
    memcpy(moved, runs + first, mine * sizeof *moved);
    memmove(runs + first, runs + first + mine, (len - first - mine) * sizeof *moved);
    memmove(runs + place + mine, runs + place, (len - mine - place) * sizeof *moved);
    memcpy(runs + place, moved, mine * sizeof *moved);
    free(moved);
}

/* The order of arcs is that of counters: a block with arcs cannot change its place among them. */
static bool move_exit(struct notes *n, struct cover_function *f, uint32_t exit, struct err *e)
{
    struct cover_arc *arcs = n->arcs.at + f->first_arc;
    uint32_t was = f->exit;
    if (was == exit)
        return true;
    for (uint32_t i = 0; i < f->arcs; i++)
        if (arcs[i].source == was)
            return err_set(e, "'%s' has arcs from its exit block, which keep its place",
                           f->name ? f->name : "?");
    for (uint32_t i = 0; i < f->arcs; i++) {
        arcs[i].source = renumbered(arcs[i].source, was, exit);
        arcs[i].target = renumbered(arcs[i].target, was, exit);
    }
    for (uint32_t i = 0; i < f->runs; i++) {
        struct cover_run *run = &n->runs.at[f->first_run + i];
        run->block = renumbered(run->block, was, exit);
    }
    for (uint32_t i = 0; i < f->conditions; i++) {
        struct cover_condition *c = &n->conditions.at[f->first_condition + i];
        c->block = renumbered(c->block, was, exit);
    }
    move_runs(n->runs.at + f->first_run, f->runs, exit);
    f->exit = exit;
    return true;
}

/* ---- checksums and identities */

static uint32_t crc_word(uint32_t crc, uint32_t word)
{
    return (uint32_t)crc32(crc, (const Bytef *)&word, sizeof word);
}

/* CRC-32 of the number of blocks and the arcs, with the exit block last. */
static uint32_t graph_checksum(const struct notes *n, const struct cover_function *f)
{
    uint32_t crc = crc_word((uint32_t)crc32(0, NULL, 0), f->blocks);
    for (uint32_t i = 0; i < f->arcs; i++) {
        const struct cover_arc *arc = &n->arcs.at[f->first_arc + i];
        crc = crc_word(crc, renumbered(arc->source, f->exit, f->blocks - 1));
        crc = crc_word(crc, renumbered(arc->target, f->exit, f->blocks - 1));
        crc = crc_word(crc, arc->flags);
    }
    return crc;
}

/* An identity for a name that nobody in `taken` has; static functions may share a name. */
static uint32_t unique_ident(struct map *taken, const char *name)
{
    uint32_t ident = cover_ident(name ? name : "");
    for (bool is_new = false;; ident = (ident * 0x01000193u + 1) & INT32_MAX) {
        map_at(taken, ident, 0, 0, &is_new);
        if (is_new)
            return ident;
    }
}

bool arcs_notes_to_rfc(struct notes *n, struct err *e)
{
    for (size_t i = 0; i < n->functions.len; i++) {
        struct cover_function *f = &n->functions.at[i];
        if (f->doubt || f->blocks < 2)
            return err_set(e, "function %zu of the notes is damaged or has no blocks", i);
        f->lineno_checksum = graph_checksum(n, f);
        f->cfg_checksum = 0;
        f->ident = cover_ident(f->name ? f->name : "");
        if (!move_exit(n, f, f->blocks - 1, e))
            return false;
    }
    n->origin = (struct cover_origin){
        .family = COVER_RFC, .version = BBG_VERSION, .number = 304, .has_byte_lengths = true};
    return true;
}

/* A function of the notes with this identity and these checksums. */
static const struct cover_function *owner(const struct notes *n, struct map *idents,
                                          const struct counted_function *c)
{
    uint64_t checksums = (uint64_t)c->lineno_checksum << 32 | c->cfg_checksum;
    uint32_t *at = map_find(idents, c->ident, checksums);
    return at ? &n->functions.at[*at] : NULL;
}

/* Leaves functions and values alone: what else there is belongs to the old version. */
static void remove_summaries(struct counters *c)
{
    size_t kept = 0;
    for (size_t i = 0; i < c->records.len; i++) {
        struct counted_record r = c->records.at[i];
        if (r.what == COUNTED_OBJECT_SUMMARY || r.what == COUNTED_PROGRAM_SUMMARY ||
            r.what == COUNTED_OTHER || r.what == COUNTED_ABSENT)
            continue;
        if (r.what == COUNTED_FUNCTION) {
            c->functions.at[r.index].first_record = (uint32_t)kept + 1;
            c->functions.at[r.index].records = 0;
        }
        c->records.at[kept++] = r;
    }
    c->records.len = kept;
    c->summaries.len = 0;
}

/* Functions own the records of values that follow them. */
static void count_records(struct counters *c)
{
    struct counted_function *f = NULL;
    for (size_t i = 0; i < c->records.len; i++)
        if (c->records.at[i].what == COUNTED_FUNCTION)
            f = &c->functions.at[c->records.at[i].index];
        else if (f && c->records.at[i].what == COUNTED_VALUES)
            f->records++;
        else
            f = NULL;
}

void arcs_counters_reduce(struct counters *c)
{
    size_t kept = 0;
    for (size_t i = 0; i < c->records.len; i++) {
        struct counted_record r = c->records.at[i];
        if (r.what == COUNTED_VALUES && r.kind != KIND_ARCS)
            continue;
        if (r.what == COUNTED_FUNCTION) {
            c->functions.at[r.index].first_record = (uint32_t)kept + 1;
            c->functions.at[r.index].records = 0;
        }
        c->records.at[kept++] = r;
    }
    c->records.len = kept;
    count_records(c);
}

static bool has_only_arcs(const struct counters *c, struct err *e)
{
    for (size_t i = 0; i < c->records.len; i++)
        if (c->records.at[i].what == COUNTED_VALUES && c->records.at[i].kind != KIND_ARCS)
            return err_set(e, "the target has no place for %s counters",
                           cover_kind_name(c->records.at[i].kind));
    return true;
}

/* Zeros that the source states in twelve bytes, however many, and the target one by one. */
static bool is_growth_sane(const struct counters *c, struct err *e)
{
    enum { MOST_GROWTH = 64, ALWAYS_FINE = 1 << 20 };
    uint64_t zeros = 0;
    for (size_t i = 0; i < c->records.len; i++)
        zeros += c->records.at[i].is_zero ? c->records.at[i].len : 0;
    return zeros <= ALWAYS_FINE + MOST_GROWTH * (uint64_t)c->bytes.len ||
           err_set(e, "it claims so many counters that are zero that this version's file would be "
                      "absurdly large");
}

bool arcs_counters_to_rfc(struct counters *c, const struct notes *n, struct err *e)
{
    struct map idents = {0};
    bool ok = has_only_arcs(c, e) && is_growth_sane(c, e);
    for (size_t i = 0; i < n->functions.len; i++) {
        const struct cover_function *f = &n->functions.at[i];
        uint64_t checksums = (uint64_t)f->lineno_checksum << 32 | f->cfg_checksum;
        map_at(&idents, f->ident, checksums, (uint32_t)i, NULL);
    }
    for (size_t i = 0; i < c->functions.len && ok; i++) {
        struct counted_function *counted = &c->functions.at[i];
        const struct cover_function *f = owner(n, &idents, counted);
        if (!f || f->doubt || f->blocks < 2)
            ok = err_set(e, "the notes do not have function %u of the counters", counted->ident);
        else
            *counted = (struct counted_function){.name = f->name,
                                                 .offset = counted->offset,
                                                 .ident = cover_ident(f->name ? f->name : ""),
                                                 .lineno_checksum = graph_checksum(n, f),
                                                 .doubt = counted->doubt};
    }
    map_deinit(&idents);
    if (!ok)
        return false;
    remove_summaries(c);
    count_records(c);
    c->origin = (struct cover_origin){
        .family = COVER_RFC, .version = BBG_VERSION, .number = 304, .has_byte_lengths = true};
    return true;
}

static bool choose_version(struct cover_origin *origin, uint32_t version, struct err *e)
{
    const struct arcfile_layout *layout = arcfile_layout_of(version);
    if (!layout)
        return err_set(e, "there is no such version");
    if (origin->family == COVER_RFC)
        origin->stamp = RFC_STAMP;
    origin->family = COVER_GCOV;
    origin->version = version;
    origin->number = arcfile_version_number(version);
    origin->has_byte_lengths = layout->has_byte_lengths;
    origin->is_llvm = false;
    if (!layout->has_byte_lengths)
        origin->checksum = 0;
    return true;
}

/* The last line of a function that does not say. gcov takes memory for all of a template's lines,
 * so it must not be before the first. */
static uint32_t last_line(const struct notes *n, const struct cover_function *f)
{
    uint32_t last = f->start_line;
    for (uint32_t i = f->first_run; i < f->first_run + f->runs; i++)
        for (uint32_t j = 0; j < n->runs.at[i].lines && n->runs.at[i].file == f->file; j++) {
            uint32_t line = n->lines.at[n->runs.at[i].first + j];
            last = line > last ? line : last;
        }
    return last;
}

bool arcs_notes_to_gcov(struct notes *n, uint32_t version, struct err *e)
{
    bool is_rfc = n->origin.family == COVER_RFC;
    struct map taken = {0};
    if (!choose_version(&n->origin, version, e))
        return false;
    const struct arcfile_layout *layout = arcfile_layout_of(version);
    bool ok = true;
    for (size_t i = 0; i < n->functions.len && ok; i++) {
        struct cover_function *f = &n->functions.at[i];
        if (f->doubt || f->blocks < 2)
            ok = err_set(e, "function %zu of the notes is damaged or has no blocks", i);
        if (is_rfc)
            f->ident = unique_ident(&taken, f->name);
        if (f->end_line < f->start_line)
            f->end_line = last_line(n, f);
        ok = ok && move_exit(n, f, layout->has_exit_second ? 1 : f->blocks - 1, e);
    }
    if (layout->has_directory && !n->directory)
        n->directory = ".";
    map_deinit(&taken);
    return ok;
}

/* Versions within which kinds other than arcs keep their form. */
static bool is_same_form(uint16_t a, uint16_t b)
{
    static const uint16_t CHANGES[] = {407, 700, 1000, 1100, 1400};
    for (size_t i = 0; i < sizeof CHANGES / sizeof *CHANGES; i++)
        if ((a < CHANGES[i]) != (b < CHANGES[i]))
            return false;
    return true;
}

/* One summary in front, in the target's form. */
static void put_summary(struct counters *c, const struct arcfile_layout *layout, uint32_t runs,
                        uint64_t sum_max)
{
    static const uint8_t NO_BUCKETS[8 * 4];
    struct cover_summary s = {.runs = runs, .sum_max = sum_max, .len = 8};
    struct counted_record record = {.what = COUNTED_OBJECT_SUMMARY, .tag = TAG_OBJECT_SUMMARY};
    if (!layout->has_directory) {
        record.what = COUNTED_PROGRAM_SUMMARY;
        record.tag = TAG_PROGRAM_SUMMARY;
        s.sum = counters_sum(c);
        s.run_max = counters_max(c);
        for (size_t i = 0; i < c->records.len; i++)
            s.counters += c->records.at[i].what == COUNTED_VALUES ? c->records.at[i].len : 0;
        s.rest = (struct bytes){NO_BUCKETS, layout->has_histogram ? sizeof NO_BUCKETS : 0};
        s.len = 36 + (uint32_t)s.rest.len;
    }
    vec_push(&c->summaries, s);
    vec_push(&c->records, record);
    memmove(c->records.at + 1, c->records.at, (c->records.len - 1) * sizeof record);
    c->records.at[0] = record;
    for (size_t i = 0; i < c->functions.len; i++)
        c->functions.at[i].first_record++;
}

bool arcs_counters_to_gcov(struct counters *c, uint32_t version, struct err *e)
{
    bool is_rfc = c->origin.family == COVER_RFC;
    uint16_t was = c->origin.number;
    struct map taken = {0};
    uint32_t runs = is_rfc ? c->groups : 0;
    uint64_t sum_max = 0;
    if (!choose_version(&c->origin, version, e))
        return false;
    if (!is_same_form(was, c->origin.number) && !has_only_arcs(c, e))
        return false;
    if (!arcfile_layout_of(version)->has_zero_runs && !is_growth_sane(c, e))
        return false;
    for (size_t i = 0; i < c->summaries.len; i++) {
        uint64_t max = is_rfc ? c->summaries.at[i].run_max : c->summaries.at[i].sum_max;
        sum_max = max > sum_max ? max : sum_max;
        runs = c->summaries.at[i].runs > runs ? c->summaries.at[i].runs : runs;
    }
    for (size_t i = 0; i < c->functions.len && is_rfc; i++)
        c->functions.at[i].ident = unique_ident(&taken, c->functions.at[i].name);
    map_deinit(&taken);
    remove_summaries(c);
    count_records(c);
    put_summary(c, arcfile_layout_of(version), runs, sum_max);
    c->end_words = 1;
    counters_settle(c);
    return true;
}
