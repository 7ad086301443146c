/* Reads what gcc before 3.4 left: bbg, bb and da. Does not write them: they become bbg and da of
 * the proposal. Does not read gcc 2.7's, whose numbers are in the form of the machine.
 *
 * A number is little-endian; its highest bit is the sign and the rest the magnitude. What is
 * negative is a delimiter, never a quantity. The bytes: docs/formats/bb.md.
 *
 *     bb      { -2 function -2 { [-1 file -1] line... 0 } a block } a function
 *     bbg     { [-1 name -1 checksum] blocks arcs { n { target flags } } a block, -1 } a function
 *     da      up to 3.2: n (8 bytes), n counts of 8 bytes
 *             3.3: -123 functions 40 statistics { -1 name -1 checksum n counts } a function
 *
 * In brackets of bbg: gcc 3.3 alone; of bb: where the file changes. There is no magic but -123, so
 * that a probe must weigh numbers against each other, and names of files have the last word. What
 * comes out has family ARCS_RFC and flows on as the proposal's files do. Everything is checked
 * against the bytes left before memory is taken. Linear. */
#include "coverage/format/format.h"

#include "base/bytes.h"
#include "base/map.h"
#include "coverage/model/coverage.h"

#include <inttypes.h>

enum { SUMMARY_BYTES = 20 };

#define MINUS(n) (UINT32_C(0x80000000) | (n))
static const uint32_t TEXT = MINUS(1);  /* around a file's name in bb, a function's elsewhere */
static const uint32_t NAMED = MINUS(2); /* around a function's name in bb */
static const uint32_t END = MINUS(1);   /* after a function's graph */
static const uint32_t DA_33 = MINUS(123);

/* The sign bit, of a number in sign and magnitude. */
static bool bb_is_negative(uint32_t word)
{
    return word >> 31;
}

/* 0 at the end, which no delimiter is. */
static uint32_t bb_peek(const struct cursor *in)
{
    return cursor_left(in) >= 4 ? bytes_u32(in->at, false) : 0;
}

/* Versions are a guess by the form: all before 3.3 are said to be 3.2. */
static struct arcs_origin bb_origin(bool is_33)
{
    return (struct arcs_origin){.family = ARCS_RFC,
                                .has_byte_lengths = true,
                                .is_untagged = true,
                                .version = is_33 ? UNTAGGED_33 : UNTAGGED_OLDER,
                                .number = is_33 ? 303 : 302};
}

/* gcc 3.3's: delimiter, length, characters, NUL, NULs up to a multiple of 4, delimiter. */
static const char *bb_name(struct cursor *in)
{
    bool is_text = cursor_u32(in) == TEXT;
    const char *name = bbg_string(in);
    if (cursor_u32(in) != TEXT || !is_text || in->failed || strlen(name) + 1 > INT32_MAX)
        in->failed = true;
    return in->failed ? NULL : name;
}

/* ---- the graph */

/* One graph on its way into `out`. */
struct bb_graph {
    struct notes *out;
    bool is_33;
};

/* The arc from the exit back to the entry makes the flow a circle, which `flow` does itself: it is
 * left out, unless it is counted, which would be needed to solve the rest. `left`: arcs that the
 * function has not used yet; no block may have more. They were checked against the bytes left. */
static bool bb_graph_arcs(struct cursor *in, struct notes *n, struct notes_function *f,
                          uint32_t block, uint32_t *left)
{
    uint32_t arcs = cursor_u32(in);
    if (in->failed || arcs > *left)
        return false;
    *left -= arcs;
    for (uint32_t i = 0; i < arcs; i++) {
        struct notes_arc arc = {.source = block, .target = cursor_u32(in)};
        arc.flags = cursor_u32(in);
        if (arc.target >= f->blocks || bb_is_negative(arc.flags))
            return false;
        if (block == f->exit && !arc.target && arc.flags & NOTES_ARC_ON_TREE)
            continue;
        if (block == f->exit)
            f->defect = DEFECT_BAD_RECORD;
        f->instrumented += !(arc.flags & NOTES_ARC_ON_TREE);
        vec_push(&n->arcs, arc);
    }
    return true;
}

/* An arc takes 8 bytes, so that those of a function need no more memory than its file. A block
 * takes no memory: the first that is not there is the end. On failure the arcs of this function are
 * taken back. */
static bool bb_graph_function(struct cursor *in, struct bb_graph *g, struct err *e)
{
    struct notes *n = g->out;
    struct cursor where = *in;
    struct notes_function f = {
        .offset = cursor_offset(in), .file = NO_INDEX, .first_arc = (uint32_t)n->arcs.len};
    f.name = g->is_33 ? bb_name(in) : NULL;
    f.lineno_checksum = g->is_33 ? cursor_u32(in) : 0;
    f.ident = f.name ? name_ident(f.name) : 0;
    f.blocks = cursor_u32(in);
    uint32_t left = cursor_u32(in);
    bool ok = !in->failed && f.blocks && !bb_is_negative(f.blocks) && left <= cursor_left(in) / 8;
    f.exit = f.blocks - 1;
    for (uint32_t b = 0; ok && b < f.blocks; b++)
        ok = bb_graph_arcs(in, n, &f, b, &left);
    if (!ok || left || cursor_u32(in) != END) {
        n->arcs.len = f.first_arc;
        return err_at(e, &where, "incomplete function in a graph of gcc before 3.4");
    }
    if (f.defect)
        n->arcs.len = f.first_arc;
    f.arcs = (uint32_t)n->arcs.len - f.first_arc;
    f.is_arcs_sorted = true;
    f.first_block = (uint32_t)n->blocks;
    n->blocks += f.blocks;
    vec_push(&n->functions, f);
    return true;
}

/* Old graphs begin with a number of blocks. It is believed where the first three numbers, and the
 * first target, fit together in a function of less than 2^24 blocks. */
bool bb_graph_probe(struct bytes in)
{
    struct cursor at = cursor_over(in, "");
    if (bb_peek(&at) == TEXT) {
        bb_name(&at);
        cursor_u32(&at);
        return !at.failed && !bb_is_negative(bb_peek(&at));
    }
    uint32_t blocks = cursor_u32(&at), arcs = cursor_u32(&at), first = cursor_u32(&at);
    return !at.failed && blocks >= 2 && arcs && first && first <= arcs && arcs < 1u << 24 &&
           blocks < 1u << 24 && blocks <= 2 * arcs && bb_peek(&at) < blocks;
}

/* Functions before the one that fails stay. */
bool bb_graph_read(struct bytes in, const char *name, struct notes *out, struct err *e)
{
    struct cursor at = cursor_over(in, name);
    struct bb_graph g = {out, bb_peek(&at) == TEXT};
    out->origin = bb_origin(g.is_33);
    notes_prepare(out);
    while (cursor_left(&at)) {
        uint64_t offset = cursor_offset(&at);
        if (!bb_graph_function(&at, &g, e)) {
            out->failure = (struct arcs_failure){DEFECT_CUT, offset};
            return false;
        }
    }
    return true;
}

/* ---- names and lines */

/* State of a bb file; its names and rows are given to the notes only once all of them fit. */
struct bb_lines {
    struct notes *n; /* rows are added; functions stay as they are until all is read */
    struct intern names;
    VEC(const char *) functions;
    VEC(struct notes_run) firsts; /* first: of each function's runs; block: its last one */
    uint32_t file, block;
    size_t runs_before;
};

/* Delimiter, characters, NUL, NULs up to a multiple of 4, delimiter. The text stays in the bytes.
 * Padding includes the NUL: a name of 4 letters takes 8 bytes. */
static const char *bb_text(struct cursor *in, uint32_t delimiter)
{
    cursor_u32(in);
    const char *text = (const char *)in->at;
    const uint8_t *nul = memchr(in->at, 0, cursor_left(in));
    if (!nul || !cursor_take(in, ((size_t)(nul - in->at) & ~(size_t)3) + 4))
        in->failed = true;
    if (cursor_u32(in) != delimiter)
        in->failed = true;
    return in->failed ? NULL : text;
}

/* The run that a line of the present block and file goes into. */
static struct notes_run *bb_open_run(struct bb_lines *l)
{
    struct notes *n = l->n;
    struct notes_run *last =
        n->runs.len > l->firsts.at[l->firsts.len - 1].first ? &n->runs.at[n->runs.len - 1] : NULL;
    if (last && last->block == l->block && last->file == l->file)
        return last;
    vec_push(&n->runs, (struct notes_run){l->block, l->file, (uint32_t)n->lines.len, 0});
    return &n->runs.at[n->runs.len - 1];
}

/* A 0 ends a block; the file's name is remembered, from function to function too. Lines before the
 * first function, or without a file, are refused. Peek returns 0 where fewer than 4 bytes are left;
 * reading that 0 then fails. */
static bool bb_lines_item(struct cursor *in, struct bb_lines *l)
{
    uint32_t word = bb_peek(in);
    if (word == NAMED) {
        const char *name = bb_text(in, NAMED);
        vec_push(&l->functions, name);
        vec_push(&l->firsts, (struct notes_run){.first = (uint32_t)l->n->runs.len});
        l->block = 0;
    } else if (word == TEXT) {
        const char *name = bb_text(in, TEXT);
        l->file = name ? intern_kept(&l->names, name, strlen(name)) : (uint32_t)NO_INDEX;
        if (name && l->file == l->n->files.len)
            vec_push(&l->n->files, name);
    } else {
        cursor_u32(in);
        if (bb_is_negative(word) || (!l->functions.len && word) ||
            (word && l->file == (uint32_t)NO_INDEX))
            return false;
        l->block += !word;
        if (l->functions.len)
            l->firsts.at[l->firsts.len - 1].block = l->block;
        if (word) {
            bb_open_run(l)->lines++;
            vec_push(&l->n->lines, word);
        }
    }
    return !in->failed;
}

/* The graph's functions and those of the bb file are the same, in one order. gcc 3.3 ends the last
 * block before the exit by a 0, others may not. */
static bool bb_lines_fit(const struct bb_lines *l, const char *name, struct err *e)
{
    const struct notes *n = l->n;
    if (l->functions.len != n->functions.len)
        return err_in(e, name, "names %zu functions, its graph has %zu", l->functions.len,
                      n->functions.len);
    for (size_t i = 0; i < n->functions.len; i++) {
        const struct notes_function *f = &n->functions.at[i];
        uint32_t last = l->firsts.at[i].block;
        if (f->name && strcmp(f->name, l->functions.at[i]))
            return err_in(e, name, "names '%s' where its graph has '%s'", l->functions.at[i],
                          f->name);
        if (last != f->exit && (f->name || last + 1 != f->exit))
            return err_in(e, name, "has %" PRIu32 " blocks of '%s', its graph has %" PRIu32,
                          last + 1, l->functions.at[i], f->blocks);
    }
    return true;
}

/* Functions get names, slices of runs and their first line. A function without lines keeps no file.
 */
static void bb_lines_give(struct bb_lines *l)
{
    struct notes *n = l->n;
    for (size_t i = 0; i < n->functions.len; i++) {
        struct notes_function *f = &n->functions.at[i];
        f->name = l->functions.at[i];
        f->ident = name_ident(f->name);
        f->first_run = l->firsts.at[i].first;
        f->runs = (i + 1 < n->functions.len ? l->firsts.at[i + 1].first : (uint32_t)n->runs.len) -
                  f->first_run;
        if (!f->runs)
            continue;
        f->file = n->runs.at[f->first_run].file;
        f->start_line = n->lines.at[n->runs.at[f->first_run].first];
    }
}

/* A bb file begins with the name of a function. */
bool bb_lines_probe(struct bytes in)
{
    struct cursor at = cursor_over(in, "");
    uint32_t word = bb_peek(&at);
    return word == NAMED && bb_text(&at, word);
}

/* Lists of the notes are empty before; where the files do not fit they are emptied again. */
bool bb_lines_read(struct bytes in, const char *name, struct notes *n, struct err *e)
{
    struct cursor at = cursor_over(in, name), where = at;
    struct bb_lines l = {.n = n, .file = NO_INDEX};
    bool ok = true;
    while (ok && cursor_left(&at)) {
        where = at;
        ok = bb_lines_item(&at, &l);
    }
    ok = ok ? bb_lines_fit(&l, name, e)
            : err_at(e, &where, "this is not a line, file or function of a bb file");
    if (ok)
        bb_lines_give(&l);
    else
        n->files.len = n->runs.len = n->lines.len = 0;
    intern_deinit(&l.names);
    vec_free(&l.functions);
    vec_free(&l.firsts);
    return ok;
}

/* ---- counters */

/* With its record, which must precede those of its values. */
static void bb_push_function(struct counters *c, const struct counted_function *f)
{
    vec_push(&c->records, ((struct counted_record){.what = COUNTED_FUNCTION,
                                                   .index = (uint32_t)c->functions.len}));
    vec_push(&c->functions, *f);
    c->functions.at[c->functions.len - 1].first_record = (uint32_t)c->records.len;
}

/* `first`: of the function's counters in `values`. */
static void bb_push_values(struct counters *c, uint64_t first, uint32_t len)
{
    vec_push(&c->records, ((struct counted_record){.what = COUNTED_VALUES,
                                                   .kind = KIND_ARCS,
                                                   .tag = BBG_ARC_COUNTS,
                                                   .len = len,
                                                   .first = first}));
    c->functions.at[c->functions.len - 1].records++;
}

/* Counts that are negative are damage. */
static bool bb_take_values(struct cursor *in, struct counters *c, uint64_t len)
{
    if (in->failed || len > cursor_left(in) / 8 || len > UINT32_MAX)
        return false;
    uint64_t *to;
    vec_reserve(&c->values, c->values.len + len);
    to = c->values.at + c->values.len;
    for (uint64_t i = 0; i < len; i++)
        if ((to[i] = cursor_u64(in)) > INT64_MAX)
            return false;
    c->values.len += len;
    return true;
}

/* 20 bytes: number of counters, sum, largest. */
static void bb_push_summary(struct counters *c, struct cursor *in, enum bbg_tag tag)
{
    struct counters_summary s = {.len = SUMMARY_BYTES};
    s.counters = cursor_u32(in);
    s.sum = cursor_u64(in);
    s.run_max = cursor_u64(in);
    vec_push(&c->records,
             ((struct counted_record){.what = tag == BBG_OBJECT_SUMMARY ? COUNTED_OBJECT_SUMMARY
                                                                        : COUNTED_PROGRAM_SUMMARY,
                                      .tag = tag,
                                      .index = (uint32_t)c->summaries.len}));
    vec_push(&c->summaries, s);
}

/* One function of gcc 3.3: name, checksum, number and counts of its arcs. */
static bool bb_group_function(struct cursor *in, struct counters *c)
{
    struct counted_function f = {.offset = cursor_offset(in)};
    f.name = bb_name(in);
    f.lineno_checksum = cursor_u32(in);
    uint32_t len = cursor_u32(in);
    size_t first = c->values.len;
    if (in->failed || !bb_take_values(in, c, len))
        return false;
    f.ident = name_ident(f.name);
    bb_push_function(c, &f);
    bb_push_values(c, first, len);
    return true;
}

/* The output of one program: gcc 3.3 appends to a file what another program of the same object did.
 * Statistics precede the functions, the program's first; both are 20 bytes, or are passed over. */
static bool bb_read_group(struct cursor *in, struct counters *c, struct err *e)
{
    struct cursor where = *in;
    uint32_t magic = cursor_u32(in), functions = cursor_u32(in), extra = cursor_u32(in);
    struct cursor statistics = *in;
    counters_prepare(c);
    if (in->failed || magic != DA_33 || !cursor_take(in, extra))
        return err_at(e, &where, "incomplete header of counters of gcc 3.3");
    for (uint32_t i = 0; i < functions; i++) {
        where = *in;
        if (!bb_group_function(in, c))
            return err_at(e, &where, "incomplete counters of a function of gcc 3.3");
    }
    statistics.end = statistics.at + extra;
    if (extra == 2 * SUMMARY_BYTES) {
        struct cursor program = statistics, object = statistics;
        cursor_take(&object, SUMMARY_BYTES);
        bb_push_summary(c, &object, BBG_OBJECT_SUMMARY);
        bb_push_summary(c, &program, BBG_PROGRAM_SUMMARY);
    }
    return true;
}

/* Each is merged into the first as it is read: memory for two groups, however many there are. */
static bool bb_read_groups(struct cursor *at, struct counters *out, struct err *e)
{
    bool ok = bb_read_group(at, out, e);
    for (out->groups = 1; ok && cursor_left(at); out->groups += ok) {
        struct counters group = {.origin = out->origin, .bytes = out->bytes};
        ok = arcs_add_group(out, &group, bb_read_group(at, &group, e), e);
        counters_deinit(&group);
    }
    return ok;
}

/* Up to gcc 3.2: how many, and the counts. One nameless function with all of them;
 * bb_counters_share() cuts it up. */
static bool bb_read_row(struct cursor *in, struct counters *c, struct err *e)
{
    struct cursor where = *in;
    uint64_t len = cursor_u64(in);
    counters_prepare(c);
    c->groups = 1;
    if (in->failed || len != cursor_left(in) / 8 || cursor_left(in) % 8 ||
        !bb_take_values(in, c, len))
        return err_at(e, &where, "the number of counts is not the one that gcc before 3.3 stored");
    bb_push_function(c, &(struct counted_function){0});
    bb_push_values(c, 0, (uint32_t)len);
    return true;
}

/* Old counters say how many they are, which must fill the file exactly. */
bool bb_counters_probe(struct bytes in)
{
    struct cursor at = cursor_over(in, "");
    if (bb_peek(&at) == DA_33)
        return true;
    return in.len >= 16 && in.len % 8 == 0 && cursor_u64(&at) == in.len / 8 - 1;
}

bool bb_counters_read(struct bytes in, const char *name, struct counters *out, struct err *e)
{
    struct cursor at = cursor_over(in, name);
    bool is_33 = bb_peek(&at) == DA_33;
    out->origin = bb_origin(is_33);
    out->bytes = in;
    bool ok = is_33 ? bb_read_groups(&at, out, e) : bb_read_row(&at, out, e);
    if (!ok)
        out->failure = (struct arcs_failure){DEFECT_CUT, cursor_offset(&at)};
    out->size_bytes = cursor_offset(&at);
    out->trailing_bytes = cursor_left(&at);
    return ok;
}

bool bb_counters_lack_names(const struct counters *c)
{
    return c->origin.is_untagged && c->functions.len == 1 && !c->functions.at[0].name;
}

/* By the order of functions, which is that of the graph. */
bool bb_counters_share(struct counters *c, const struct notes *n, struct err *e)
{
    uint64_t arcs = 0, first = 0;
    for (size_t i = 0; i < n->functions.len; i++)
        arcs += n->functions.at[i].instrumented;
    if (arcs != c->values.len)
        return err_set(e, "there are %zu counters, and %" PRIu64 " counted arcs in the notes",
                       c->values.len, arcs);
    c->functions.len = c->records.len = 0;
    for (size_t i = 0; i < n->functions.len; i++) {
        const struct notes_function *f = &n->functions.at[i];
        struct counted_function counted = {
            .name = f->name, .ident = f->ident, .lineno_checksum = f->lineno_checksum};
        bb_push_function(c, &counted);
        bb_push_values(c, first, f->instrumented);
        first += f->instrumented;
    }
    return true;
}
