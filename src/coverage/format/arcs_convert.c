/* Conversions in place.
 *
 *                          bbg, da (2002)         gcno, gcda
 *     exit block           last                   last; from some version on block 1
 *     function known by    name                   a number, the compiler's or made of the name
 *     checksum             CRC-32 of the graph    of source and of graph, the compiler's
 *     pairing of files     none                   stamp, in both headers
 *     summary              counters, sum, largest runs, sum of largest, by version
 *
 * Notes and counters are converted apart, perhaps in two runs of the program: what one of them
 * makes, the other must make again from what it has. So made numbers depend on names and graphs
 * alone, and on the order of functions, which is the same in both files.
 *
 * Refused: functions with a defect, arcs out of an exit block that has to move, kinds of counters
 * that the target lacks, and zeros by the million that the source states in twelve bytes. Linear in
 * the file. */
#include "coverage/format/format.h"

#include "base/map.h"
#include "coverage/format/arcfile.h"
#include "coverage/model/coverage.h"

#include <string.h>
#include <zlib.h>

/* Pairs what was the proposal's, which has no stamps: "rfc2". */
enum { RFC_STAMP = 0x32636672 };

enum { RFC_SUMMARY_BYTES = 20 };

/* Up to gcc 6 a digit, `0` and a digit; from 7 on a letter for the tens: "408*", "A75*", "B22*". */
uint32_t arcs_version_word(unsigned major, unsigned minor)
{
    if (major < 3 || major > 99 || minor > 9)
        return 0;
    if (major < 7)
        return ('0' + major) << 24 | '0' << 16 | ('0' + minor) << 8 | '*';
    return ('A' + major / 10) << 24 | ('0' + major % 10) << 16 | ('0' + minor) << 8 | '*';
}

/* Majors beyond the table, which are not out, get minor 1. */
uint32_t arcs_version_word_of_major(unsigned major)
{
    static const uint8_t MINOR[] = {
        [3] = 4,  [4] = 9,  [5] = 5,  [6] = 3,  [7] = 5,  [8] = 3,  [9] = 5,
        [10] = 2, [11] = 4, [12] = 2, [13] = 3, [14] = 2, [15] = 2, [16] = 1};
    return arcs_version_word(major, major < sizeof MINOR ? MINOR[major] : 1);
}

/* Snapshots of the proposal ('e', 'p') have no gcov of their own. */
uint32_t arcs_version_word_for(const struct arcs_origin *origin)
{
    if (origin->family == ARCS_GCOV)
        return origin->version;
    if (origin->native.version)
        return origin->native.version;
    bool is_release = origin->version >> 24 == 'r';
    uint32_t own = arcs_version_word(origin->number / 100u, origin->number % 100u);
    return is_release && own && dialect_of_word(own) ? own : arcs_version_word(12, 2);
}

/* The proposal's word for the compiler whose files these were: '*' is a release there. */
static struct arcs_origin arcs_rfc_origin(const struct arcs_origin *was)
{
    char phase = (char)(was->version & 255);
    if (was->family == ARCS_RFC)
        return *was;
    uint32_t word = bbg_version_word(was->number, phase == 'e' || phase == 'p' ? phase : 'r');
    return (struct arcs_origin){.family = ARCS_RFC,
                                .version = word,
                                .number = bbg_version_number(word),
                                .is_llvm = was->is_llvm,
                                .has_byte_lengths = true,
                                .native = {.version = was->version,
                                           .stamp = was->stamp,
                                           .checksum = was->checksum,
                                           .big_endian = was->big_endian,
                                           .lacks_checksum = was->lacks_checksum}};
}

/* ---- checksums and identities */

/* Of the word as this machine has it in memory. */
static uint32_t arcs_crc_word(uint32_t crc, uint32_t word)
{
    return (uint32_t)crc32(crc, (const Bytef *)&word, sizeof word);
}

/* CRC-32 of the number of blocks and the arcs, with the exit block last. Renumbered first, so that
 * the checksum is that of either form. */
static uint32_t arcs_graph_checksum(const struct notes *n, const struct notes_function *f)
{
    uint32_t crc = arcs_crc_word((uint32_t)crc32(0, NULL, 0), f->blocks);
    for (uint32_t i = 0; i < f->arcs; i++) {
        const struct notes_arc *arc = &n->arcs.at[f->first_arc + i];
        crc = arcs_crc_word(crc, notes_renumbered(arc->source, f->exit, f->blocks - 1));
        crc = arcs_crc_word(crc, notes_renumbered(arc->target, f->exit, f->blocks - 1));
        crc = arcs_crc_word(crc, arc->flags);
    }
    return crc;
}

/* An identity for a name that is not in `taken` yet; static functions may share a name. Collisions
 * step on by FNV's prime, the same in notes and counters as the order of functions is. They keep to
 * 31 bits. */
static uint32_t arcs_unique_ident(struct map *taken, const char *name)
{
    uint32_t ident = name_ident(name ? name : "");
    for (bool is_new = false;; ident = (ident * 0x01000193u + 1) & INT32_MAX) {
        map_at(taken, ident, 0, 0, &is_new);
        if (is_new)
            return ident;
    }
}

/* Whether a function of notes can be written in another form. */
static bool arcs_has_blocks(const struct notes_function *f, size_t number, struct err *e)
{
    return (!f->defect && f->blocks >= 2) ||
           err_set(e, "function %zu of the notes is damaged or has no blocks", number);
}

/* Blocks keep their numbers, as when the bbg is read again: in the file the exit is the last, which
 * must be possible. */
bool arcs_notes_to_rfc(struct notes *n, struct err *e)
{
    for (size_t i = 0; i < n->functions.len; i++) {
        struct notes_function *f = &n->functions.at[i];
        if (!arcs_has_blocks(f, i, e))
            return false;
        f->native = (struct arcs_identity){f->ident, f->lineno_checksum, f->cfg_checksum};
        f->has_native = n->origin.family == ARCS_GCOV;
        f->lineno_checksum = arcs_graph_checksum(n, f);
        f->cfg_checksum = 0;
        f->ident = name_ident(f->name ? f->name : "");
        uint32_t exit = f->exit;
        if (!notes_move_exit(n, f, f->blocks - 1, e) || !notes_move_exit(n, f, exit, e))
            return false;
    }
    n->origin = arcs_rfc_origin(&n->origin);
    return true;
}

/* A function of the notes with this identity and these checksums. */
static const struct notes_function *arcs_owner(const struct notes *n, struct map *idents,
                                               const struct counted_function *c)
{
    uint64_t checksums = (uint64_t)c->lineno_checksum << 32 | c->cfg_checksum;
    uint32_t *at = map_find(idents, c->ident, checksums);
    return at ? &n->functions.at[*at] : NULL;
}

/* Summaries, placeholders, and what a version of its own has. */
static bool arcs_is_of_version(const struct counted_record *r)
{
    return r->what == COUNTED_OBJECT_SUMMARY || r->what == COUNTED_PROGRAM_SUMMARY ||
           r->what == COUNTED_OTHER || r->what == COUNTED_ABSENT;
}

static bool arcs_is_of_values(const struct counted_record *r)
{
    return r->what == COUNTED_VALUES && r->kind != KIND_ARCS;
}

/* Functions own the records of values that follow them. */
static void arcs_count_records(struct counters *c)
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

/* Functions get their first record anew. */
static void arcs_remove(struct counters *c, bool (*is_to_go)(const struct counted_record *))
{
    size_t kept = 0;
    for (size_t i = 0; i < c->records.len; i++) {
        struct counted_record r = c->records.at[i];
        if (is_to_go(&r))
            continue;
        if (r.what == COUNTED_FUNCTION) {
            c->functions.at[r.index].first_record = (uint32_t)kept + 1;
            c->functions.at[r.index].records = 0;
        }
        c->records.at[kept++] = r;
    }
    c->records.len = kept;
    arcs_count_records(c);
}

/* For a target that has arcs alone, where the user agreed to lose the others. */
void arcs_counters_reduce(struct counters *c)
{
    arcs_remove(c, arcs_is_of_values);
}

/* Other kinds are refused, not dropped: losses need the user's consent. */
static bool arcs_has_only_arcs(const struct counters *c, struct err *e)
{
    for (size_t i = 0; i < c->records.len; i++)
        if (c->records.at[i].what == COUNTED_VALUES && c->records.at[i].kind != KIND_ARCS)
            return err_set(e, "the target format cannot hold %s counters",
                           counter_kind_name(c->records.at[i].kind));
    return true;
}

/* Zeros that the source states in twelve bytes, however many, and the target one by one. Allowed
 * are a million, and 64 for each byte of the file. */
static bool arcs_is_growth_sane(const struct counters *c, struct err *e)
{
    enum { MOST_GROWTH = 64, ALWAYS_FINE = 1 << 20 };
    uint64_t zeros = 0;
    for (size_t i = 0; i < c->records.len; i++)
        zeros += c->records.at[i].is_zero ? c->records.at[i].len : 0;
    return zeros <= ALWAYS_FINE + MOST_GROWTH * (uint64_t)c->bytes.len ||
           err_set(e, "it claims so many zero counters that a file of this version would be "
                      "absurdly large");
}

/* Object and program summary in place of those that there are. The largest count of a run is known
 * if there was one run, and from versions that say it. */
static void arcs_put_rfc_summaries(struct counters *c)
{
    uint64_t most = counters_max(c), run_max = 0;
    struct counters_summary s = {.sum = counters_sum(c), .len = RFC_SUMMARY_BYTES};
    for (size_t i = 0; i < c->summaries.len; i++) {
        const struct counters_summary *theirs = &c->summaries.at[i];
        s.runs = theirs->runs > s.runs ? theirs->runs : s.runs;
        s.sum_max = theirs->sum_max > s.sum_max ? theirs->sum_max : s.sum_max;
        run_max = theirs->run_max > run_max ? theirs->run_max : run_max;
    }
    s.run_max = run_max && run_max < most ? run_max : most;
    for (size_t i = 0; i < c->records.len; i++)
        if (c->records.at[i].what == COUNTED_VALUES && c->records.at[i].kind == KIND_ARCS)
            s.counters += c->records.at[i].len;
    arcs_remove(c, arcs_is_of_version);
    c->summaries.len = 0;
    for (int i = 0; i < 2; i++) {
        struct counted_record record = {.what =
                                            i ? COUNTED_PROGRAM_SUMMARY : COUNTED_OBJECT_SUMMARY,
                                        .tag = i ? BBG_PROGRAM_SUMMARY : BBG_OBJECT_SUMMARY,
                                        .index = (uint32_t)c->summaries.len};
        vec_push(&c->records, record);
        vec_push(&c->summaries, s);
    }
}

/* Checks first and changes then, function by function; where one is not found the counters are no
 * more usable. */
bool arcs_counters_to_rfc(struct counters *c, const struct notes *n, struct err *e)
{
    struct map idents = {0};
    bool ok = arcs_has_only_arcs(c, e) && arcs_is_growth_sane(c, e);
    for (size_t i = 0; i < n->functions.len; i++) {
        const struct notes_function *f = &n->functions.at[i];
        uint64_t checksums = (uint64_t)f->lineno_checksum << 32 | f->cfg_checksum;
        map_index(&idents, f->ident, checksums, i, NULL);
    }
    for (size_t i = 0; i < c->functions.len && ok; i++) {
        struct counted_function *counted = &c->functions.at[i];
        const struct notes_function *f = arcs_owner(n, &idents, counted);
        if (!f || f->defect || f->blocks < 2)
            ok = err_set(e, "the notes do not have function %u of the counters", counted->ident);
        else
            *counted = (struct counted_function){
                .name = f->name,
                .offset = counted->offset,
                .ident = name_ident(f->name ? f->name : ""),
                .lineno_checksum = arcs_graph_checksum(n, f),
                .has_native = true,
                .native = {counted->ident, counted->lineno_checksum, counted->cfg_checksum},
                .defect = counted->defect};
    }
    map_deinit(&idents);
    if (!ok)
        return false;
    arcs_put_rfc_summaries(c);
    c->origin = arcs_rfc_origin(&c->origin);
    return true;
}

/* Notes and counters of the proposal get the header back that they had, or one constant stamp, by
 * which they pair. */
static bool arcs_choose_version(struct arcs_origin *origin, uint32_t version, struct err *e)
{
    const struct gcov_dialect *dialect = dialect_of_word(version);
    if (!dialect)
        return err_set(e, "unknown version");
    const struct arcs_native native = origin->native;
    bool is_back = origin->family == ARCS_RFC && native.version == version;
    if (origin->family == ARCS_RFC) {
        origin->stamp = native.version ? native.stamp : (uint32_t)RFC_STAMP;
        origin->checksum = native.checksum;
        origin->big_endian = native.big_endian;
    }
    origin->native = (struct arcs_native){0};
    origin->family = ARCS_GCOV;
    origin->version = version;
    origin->number = gcov_version_number(version);
    origin->has_byte_lengths = dialect->has_byte_lengths;
    origin->is_llvm = origin->is_llvm && is_back;
    /* Only snapshots lack it: readers take a release's first word for the checksum. */
    origin->lacks_checksum = is_back && native.lacks_checksum && (version & 0xff) != '*';
    if (!dialect->has_byte_lengths)
        origin->checksum = 0;
    return true;
}

/* The last line of a function that does not say. gcov takes memory for all of a template's lines,
 * so it must not be before the first. */
static uint32_t arcs_last_line(const struct notes *n, const struct notes_function *f)
{
    uint32_t last = f->start_line;
    for (uint32_t i = f->first_run; i < f->first_run + f->runs; i++)
        for (uint32_t j = 0; j < n->runs.at[i].lines && n->runs.at[i].file == f->file; j++) {
            uint32_t line = n->lines.at[n->runs.at[i].first + j];
            last = line > last ? line : last;
        }
    return last;
}

/* What the proposal lacks is filled in: identities, last lines, the compiler's folder. */
bool arcs_notes_to_gcov(struct notes *n, uint32_t version, struct err *e)
{
    bool is_rfc = n->origin.family == ARCS_RFC, has_native = n->origin.native.version;
    struct map taken = {0};
    if (!arcs_choose_version(&n->origin, version, e))
        return false;
    const struct gcov_dialect *dialect = dialect_of_word(version);
    bool ok = true;
    for (size_t i = 0; i < n->functions.len && ok; i++) {
        struct notes_function *f = &n->functions.at[i];
        ok = arcs_has_blocks(f, i, e);
        if (is_rfc && has_native && f->has_native) {
            f->ident = f->native.ident;
            f->lineno_checksum = f->native.lineno_checksum;
            f->cfg_checksum = f->native.cfg_checksum;
        } else if (is_rfc) {
            f->ident = arcs_unique_ident(&taken, f->name);
        }
        if (f->end_line < f->start_line && !f->has_native)
            f->end_line = arcs_last_line(n, f);
        ok = ok && notes_move_exit(n, f, dialect->has_exit_second ? 1 : f->blocks - 1, e);
    }
    if (dialect->has_directory && !n->directory)
        n->directory = ".";
    map_deinit(&taken);
    return ok;
}

/* One summary in front, in the target's form. Before gcc 9 it has sums and largest counts too,
 * which must be true. The histogram of gcc 4.8 to 8 gets no entries. */
static void arcs_put_summary(struct counters *c, const struct gcov_dialect *dialect, uint32_t runs,
                             uint64_t sum_max)
{
    static const uint8_t NO_BUCKETS[GCOV_HISTOGRAM_WORDS * 4];
    struct counters_summary s = {.runs = runs, .sum_max = sum_max, .len = GCOV_SHORT_SUMMARY_BYTES};
    struct counted_record record = {.what = COUNTED_OBJECT_SUMMARY, .tag = GCOV_TAG_OBJECT_SUMMARY};
    if (dialect->summary != GCOV_SUMMARY_OBJECT) {
        record.what = COUNTED_PROGRAM_SUMMARY;
        record.tag = GCOV_TAG_PROGRAM_SUMMARY;
        s.sum = counters_sum(c);
        s.run_max = counters_max(c);
        for (size_t i = 0; i < c->records.len; i++)
            s.counters += c->records.at[i].what == COUNTED_VALUES ? c->records.at[i].len : 0;
        s.rest = (struct bytes){
            NO_BUCKETS, dialect->summary == GCOV_SUMMARY_PROGRAM_HISTOGRAM ? sizeof NO_BUCKETS : 0};
        s.len = GCOV_SUMMARY_BYTES + (uint32_t)s.rest.len;
    }
    vec_push(&c->summaries, s);
    vec_push(&c->records, record);
    memmove(c->records.at + 1, c->records.at, (c->records.len - 1) * sizeof record);
    c->records.at[0] = record;
    for (size_t i = 0; i < c->functions.len; i++)
        c->functions.at[i].first_record++;
}

/* All but identities. Groups of the proposal are runs: their number is the number of runs that gcov
 * prints. */
static bool arcs_become_gcov(struct counters *c, uint32_t version, struct err *e)
{
    bool is_rfc = c->origin.family == ARCS_RFC;
    const struct gcov_dialect *was = dialect_of(&c->origin), *becomes = dialect_of_word(version);
    uint32_t runs = is_rfc && !c->summaries.len ? c->groups : 0;
    uint64_t sum_max = 0;
    if (!arcs_choose_version(&c->origin, version, e))
        return false;
    /* Kinds other than arcs pass only if they have the same form in both. */
    if ((was->values_form != becomes->values_form || was->has_masks != becomes->has_masks) &&
        !arcs_has_only_arcs(c, e))
        return false;
    if (!becomes->has_zero_runs && !arcs_is_growth_sane(c, e))
        return false;
    for (size_t i = 0; i < c->summaries.len; i++) {
        uint64_t max = c->summaries.at[i].sum_max;
        sum_max = max > sum_max ? max : sum_max;
        runs = c->summaries.at[i].runs > runs ? c->summaries.at[i].runs : runs;
    }
    arcs_remove(c, arcs_is_of_version);
    c->summaries.len = 0;
    arcs_put_summary(c, becomes, runs, sum_max);
    c->end_words = 1;
    counters_mark_zeros(c);
    return true;
}

bool arcs_counters_to_gcov(struct counters *c, uint32_t version, struct err *e)
{
    struct map taken = {0};
    bool is_rfc = c->origin.family == ARCS_RFC, has_native = c->origin.native.version;
    for (size_t i = 0; i < c->functions.len && is_rfc; i++) {
        struct counted_function *f = &c->functions.at[i];
        if (has_native && f->has_native) {
            f->ident = f->native.ident;
            f->lineno_checksum = f->native.lineno_checksum;
            f->cfg_checksum = f->native.cfg_checksum;
        } else {
            f->ident = arcs_unique_ident(&taken, f->name);
        }
    }
    map_deinit(&taken);
    return arcs_become_gcov(c, version, e);
}

/* ---- the proposal's counters as those of a compiler's notes */

/* Functions of notes by name and checksum; those with the same follow each other in `next`. `first`
 * leads to the first function not yet taken, `next` from there on. Static functions of one name and
 * one graph are taken in the order of the notes. */
struct adoption {
    struct map first;
    VEC(uint32_t) next;
    struct intern names;
};

/* Backwards, so that each list runs forward. */
static void arcs_list_by_name(struct adoption *a, const struct notes *n)
{
    vec_reserve(&a->next, n->functions.len);
    a->next.len = n->functions.len;
    for (size_t i = n->functions.len; i-- > 0;) {
        const struct notes_function *f = &n->functions.at[i];
        a->next.at[i] = NO_INDEX;
        if (!f->name || f->defect || f->blocks < 2)
            continue;
        uint32_t name = intern_kept(&a->names, f->name, strlen(f->name));
        /* Notes that were made of a bbg kept its checksum, whoever wrote that. */
        bool was_bbg = n->origin.stamp == (uint32_t)RFC_STAMP;
        uint32_t checksum = was_bbg ? f->lineno_checksum : arcs_graph_checksum(n, f);
        uint32_t *first = map_at(&a->first, name, checksum, NO_INDEX, NULL);
        a->next.at[i] = *first;
        *first = (uint32_t)i;
    }
}

/* Takes the next function of that name and checksum. */
static const struct notes_function *arcs_adopter(struct adoption *a, const struct notes *n,
                                                 const struct counted_function *c)
{
    uint32_t name = c->name ? intern_find(&a->names, c->name, strlen(c->name)) : INTERN_NONE;
    uint32_t *first = name == INTERN_NONE ? NULL : map_find(&a->first, name, c->lineno_checksum);
    if (!first || *first == (uint32_t)NO_INDEX)
        return NULL;
    const struct notes_function *f = &n->functions.at[*first];
    *first = a->next.at[*first];
    return f;
}

/* On failure the counters are partly those of the notes, and to be thrown away. */
bool arcs_counters_adopt(struct counters *c, const struct notes *n, struct err *e)
{
    struct adoption a = {0};
    const struct arcs_native native = c->origin.native;
    bool ok = true;
    arcs_list_by_name(&a, n);
    for (size_t i = 0; i < c->functions.len && ok; i++) {
        struct counted_function *counted = &c->functions.at[i];
        const struct notes_function *f = arcs_adopter(&a, n, counted);
        if (!f) {
            ok = err_set(e, "the notes do not have the function '%s' with this control flow",
                         counted->name ? counted->name : "");
            break;
        }
        counted->name = NULL;
        counted->ident = f->ident;
        counted->lineno_checksum = f->lineno_checksum;
        counted->cfg_checksum = f->cfg_checksum;
    }
    map_deinit(&a.first);
    vec_free(&a.next);
    intern_deinit(&a.names);
    if (ok)
        ok = arcs_become_gcov(c, n->origin.version, e);
    if (ok) {
        c->origin.stamp = n->origin.stamp;
        /* Of gcc 12 on, only the counters have it. */
        c->origin.checksum = native.version ? native.checksum : n->origin.checksum;
        c->origin.is_llvm = n->origin.is_llvm;
        c->origin.big_endian = n->origin.big_endian;
    }
    return ok;
}
