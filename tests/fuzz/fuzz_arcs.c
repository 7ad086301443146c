/* Fuzzes the reader FUZZ_KIND of arc-profiling files (gcno, gcda, bbg, da, gcfn, bb) and, through
 * what it reads, writing, converting, merging, solving and `monarc info`. Built once for each.
 *
 * Laws: what is written is read back the same; what is solved conserves flow, what is repaired too;
 * merging commutes and keeps sums; a failure has a message, and is never a function of zeros. */
#include "coverage/analysis/flow.h"
#include "coverage/format/format.h"
#include "coverage/model/coverage.h"
#include "coverage/report/coverage_report.h"
#include "law.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MOST_ARCS = 4000 };

/* bbg has one form for an empty text and none. */
static bool same_text(const char *a, const char *b)
{
    return !strcmp(a ? a : "", b ? b : "");
}

static bool same_runs(const struct notes *a, const struct notes_function *f, const struct notes *b,
                      const struct notes_function *g)
{
    for (uint32_t i = 0; i < f->runs; i++) {
        const struct notes_run *r = &a->runs.at[f->first_run + i],
                               *s = &b->runs.at[g->first_run + i];
        const char *names[] = {r->file < a->files.len ? a->files.at[r->file] : NULL,
                               s->file < b->files.len ? b->files.at[s->file] : NULL};
        if (r->block != s->block || r->lines != s->lines || !same_text(names[0], names[1]) ||
            (r->lines &&
             memcmp(a->lines.at + r->first, b->lines.at + s->first, r->lines * sizeof(uint32_t))))
            return false;
    }
    return true;
}

static bool same_notes(const struct notes *a, const struct notes *b)
{
    if (a->functions.len != b->functions.len || a->arcs.len != b->arcs.len ||
        a->blocks != b->blocks)
        return false;
    for (size_t i = 0; i < a->functions.len; i++) {
        const struct notes_function *f = &a->functions.at[i], *g = &b->functions.at[i];
        if (f->ident != g->ident || f->lineno_checksum != g->lineno_checksum ||
            f->cfg_checksum != g->cfg_checksum || f->exit != g->exit || f->arcs != g->arcs ||
            f->runs != g->runs || f->instrumented != g->instrumented || g->defect ||
            !same_text(f->name, g->name) || !same_runs(a, f, b, g) ||
            (f->arcs && memcmp(a->arcs.at + f->first_arc, b->arcs.at + g->first_arc,
                               f->arcs * sizeof(struct notes_arc))))
            return false;
    }
    return true;
}

static bool is_doubtless(const struct notes *n)
{
    for (size_t i = 0; i < n->functions.len; i++)
        if (n->functions.at[i].defect)
            return false;
    return true;
}

/* Counters made up for all functions that could have been run. */
static void make_counters(const struct notes *n, struct counters *c, uint64_t seed)
{
    c->origin = n->origin;
    for (size_t i = 0; i < n->functions.len; i++) {
        const struct notes_function *f = &n->functions.at[i];
        struct counted_record head = {.what = COUNTED_FUNCTION, .index = (uint32_t)i};
        struct counted_record values = {.what = COUNTED_VALUES,
                                        .kind = KIND_ARCS,
                                        .len = f->instrumented,
                                        .first = c->values.len};
        struct counted_function counted = {.name = n->origin.family == ARCS_RFC ? f->name : NULL,
                                           .ident = f->ident,
                                           .lineno_checksum = f->lineno_checksum,
                                           .cfg_checksum = f->cfg_checksum,
                                           .first_record = (uint32_t)c->records.len + 1,
                                           .records = 1};
        vec_push(&c->records, head);
        vec_push(&c->records, values);
        vec_push(&c->functions, counted);
        for (uint32_t j = 0; j < f->instrumented; j++) {
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            vec_push(&c->values, seed >> 40);
        }
    }
}

/* Thunks, which are artificial, leave by jumps for which the notes have no arc. */
static void check_conserved(const struct notes *n, const struct flow *flow)
{
    for (size_t i = 0; i < n->functions.len; i++)
        if (flow->functions.at[i].state == FLOW_SOLVED && !flow->functions.at[i].has_late_splits &&
            !n->functions.at[i].is_artificial)
            expect(flow_is_conserved(n, flow, i), "flow in is flow out");
        else if (flow->functions.at[i].state == FLOW_UNKNOWN)
            for (uint32_t b = 0; b < n->functions.at[i].blocks; b++)
                expect(flow->blocks.at[n->functions.at[i].first_block + b] == FLOW_NO_COUNT,
                       "what is unknown has no count");
}

static void check_flow(const struct notes *n)
{
    struct flow flow = {0};
    struct counters c = {0};
    flow_solve(n, NULL, &flow);
    check_conserved(n, &flow);
    make_counters(n, &c, n->arcs.len);
    flow_solve(n, &c, &flow);
    check_conserved(n, &flow);
    if (n->arcs.len < MOST_ARCS) {
        flow_repair(n, &flow);
        check_conserved(n, &flow);
    }
    for (size_t i = 0; i < n->functions.len; i++)
        expect(flow.functions.at[i].state != FLOW_ABSENT, "counters are found");
    counters_deinit(&c);
    flow_deinit(&flow);
}

static void check_json(const struct arcs_info *info)
{
    struct out out;
    out_init(&out, -1);
    arcs_facts(&(struct facts){.out = &out}, info);
    out.len = 0;
    struct json j = {.out = &out};
    json_begin(&j, '{');
    arcs_facts(&(struct facts){.json = &j}, info);
    json_end(&j);
    json_error_t why;
    json_t *parsed = json_loadb(out.at, out.len, JSON_DECODE_INT_AS_REAL, &why);
    expect(parsed != NULL, "the report is JSON");
    json_decref(parsed);
    out_deinit(&out);
}

typedef bool notes_writer(struct writer *w, const struct notes *n, struct err *e);
typedef bool notes_reader(struct bytes in, const char *name, struct notes *out, struct err *e);

static void check_notes_round_trip(const struct notes *n, notes_writer *write, notes_reader *read)
{
    struct writer w = {0};
    struct notes back = {0};
    struct err e = {0};
    if (write(&w, n, &e)) {
        struct bytes bytes = {w.out.at, w.out.len};
        expect(read(bytes, "back", &back, &e), "notes that are written can be read");
        expect(same_notes(n, &back), "notes are read back the same");
    }
    notes_deinit(&back);
    writer_deinit(&w);
}

__attribute__((unused)) static void check_notes(struct bytes in, notes_reader *read,
                                                notes_writer *write)
{
    struct notes n = {0};
    struct err e = {0};
    bool ok = read(in, "fuzz", &n, &e);
    expect(ok == !e.line[0] && ok == !n.failure.what, "a failure has a message");
    struct arcs_info info = {"fuzz\n", "fuzz", in.len, ok ? NULL : e.line, &n, NULL};
    check_json(&info);
    check_flow(&n);
    if (ok && is_doubtless(&n)) {
        check_notes_round_trip(&n, write, read);
        if (n.origin.family == ARCS_GCOV && arcs_notes_to_rfc(&n, &e))
            check_notes_round_trip(&n, bbg_write, bbg_read);
        else if (n.origin.family == ARCS_RFC &&
                 arcs_notes_to_gcov(&n, arcs_version_word(12, 2), &e))
            check_flow(&n);
    }
    notes_deinit(&n);
}

static struct counters copy_of(const struct counters *c)
{
    struct counters copy = {0};
    if (!counters_merge(&copy, c, NULL))
        counters_clear(&copy);
    return copy;
}

/* Whether all counts are such as programs have. */
static bool is_plain(const struct counters *c)
{
    for (size_t i = 0; i < c->values.len; i++)
        if (c->values.at[i] > UINT32_MAX)
            return false;
    return true;
}

static bool is_parallel(const struct counters *a, const struct counters *b)
{
    bool is_same = a->functions.len == b->functions.len;
    for (size_t i = 0; i < a->functions.len && is_same; i++) {
        const struct counted_function *f = &a->functions.at[i], *g = &b->functions.at[i];
        is_same = f->ident == g->ident && f->lineno_checksum == g->lineno_checksum &&
                  f->cfg_checksum == g->cfg_checksum && f->records == g->records;
        for (uint32_t j = 0; j < f->records && is_same; j++)
            is_same =
                a->records.at[f->first_record + j].kind == b->records.at[g->first_record + j].kind;
    }
    return is_same;
}

static void check_merging(const struct counters *a, const struct counters *b)
{
    struct counters ab = copy_of(a), ba = copy_of(b);
    struct err e = {0};
    uint64_t sum = gcov_add_sums(counters_sum(a), counters_sum(b));
    bool ok = counters_merge(&ab, b, &e), other = counters_merge(&ba, a, &e);
    expect(ok == other || !a->origin.version || !b->origin.version, "merging fails both ways");
    if (ok && other) {
        arcs_counters_reduce(&ab);
        arcs_counters_reduce(&ba);
        expect(counters_sum(&ab) == counters_sum(&ba), "sums commute");
        expect(counters_sum(&ab) == sum || sum == INT64_MAX || !is_plain(a) || !is_plain(b),
               "sums are kept");
        if (is_parallel(a, b))
            expect(counters_same(&ab, &ba), "merging commutes");
    }
    counters_deinit(&ab);
    counters_deinit(&ba);
}

typedef bool counters_writer(struct writer *w, const struct counters *c, struct err *e);
typedef bool counters_reader(struct bytes in, const char *name, struct counters *out,
                             struct err *e);

static void check_counters_round_trip(const struct counters *c, counters_writer *write,
                                      counters_reader *read)
{
    struct writer w = {0};
    struct counters back = {0};
    struct err e = {0};
    if (write(&w, c, &e)) {
        struct bytes bytes = {w.out.at, w.out.len};
        expect(read(bytes, "back", &back, &e), "counters that are written can be read");
        expect(counters_same(c, &back), "counters are read back the same");
    }
    counters_deinit(&back);
    writer_deinit(&w);
}

/* clang's words in gcc 12's version are told by where they end: what was behind that may have
 * decided, and is not written. */
static bool is_sure(const struct counters *c)
{
    if (c->origin.is_llvm && c->origin.number >= 1200 && c->trailing_bytes)
        return false;
    for (size_t i = 0; i < c->functions.len; i++)
        if (c->functions.at[i].defect)
            return false;
    return !c->failure.what;
}

__attribute__((unused)) static void check_counters(struct bytes in, counters_reader *read,
                                                   counters_writer *write)
{
    struct counters c = {0}, twice = {0}, part = {0};
    struct err e = {0};
    bool ok = read(in, "fuzz", &c, &e);
    expect(ok == !e.line[0] && ok == !c.failure.what, "a failure has a message");
    struct arcs_info info = {"fuzz\n", "fuzz", in.len, ok ? NULL : e.line, NULL, &c};
    check_json(&info);
    if (is_sure(&c)) {
        check_counters_round_trip(&c, write, read);
        (void)!read((struct bytes){in.at, in.len / 2}, "half", &part, &e);
        if (is_sure(&part))
            check_merging(&c, &part);
        check_merging(&c, &c);
        twice = copy_of(&c);
        struct count_scale scale = {.numerator = 3, .denominator = 2};
        counters_scale(&twice, &scale);
        counters_mark_zeros(&twice);
        check_merging(&twice, &c);
        /* A da may say that its gcda was clang's, or a snapshot's without a checksum, which are
         * told by how they go on. */
        if (arcs_counters_to_gcov(&twice, arcs_version_word(12, 2), &e) && !twice.origin.is_llvm &&
            !twice.origin.lacks_checksum)
            check_counters_round_trip(&twice, gcda_write, gcda_read);
    }
    counters_deinit(&c);
    counters_deinit(&twice);
    counters_deinit(&part);
}

/* Notes of gcc before 3.4: the length of the graph, the graph, its lines. */
static void check_graph(struct bytes in, struct notes *n)
{
    struct err e = {0};
    struct bytes graph = {in.at + 4, bytes_u32(in.at, false)};
    if (graph.len > in.len - 4)
        graph.len = in.len - 4;
    bool ok = bb_graph_read(graph, "fuzz", n, &e);
    expect(ok == !e.line[0] && ok == !n->failure.what, "a failure has a message");
    struct bytes lines = {graph.at + graph.len, in.len - 4 - graph.len};
    if (ok && bb_lines_read(lines, "fuzz", n, &e) && is_doubtless(n))
        check_notes_round_trip(n, bbg_write, bbg_read);
    check_flow(n);
    struct arcs_info info = {"fuzz\n", "fuzz", in.len, NULL, n, NULL};
    check_json(&info);
}

/* And, as the same bytes, counters, shared out to the functions of the notes if they fit. */
__attribute__((unused)) static void check_untagged(struct bytes in)
{
    struct notes n = {0};
    struct counters c = {0};
    struct flow flow = {0};
    struct err e = {0};
    (void)(bb_graph_probe(in) + bb_lines_probe(in) + bb_counters_probe(in));
    if (in.len >= 4)
        check_graph(in, &n);
    bool ok = bb_counters_read(in, "fuzz", &c, &e);
    expect(ok == !e.line[0] && ok == !c.failure.what, "a failure has a message");
    if (is_sure(&c)) {
        if (!bb_counters_lack_names(&c) || bb_counters_share(&c, &n, &e))
            check_counters_round_trip(&c, da_write, da_read);
        check_merging(&c, &c);
        flow_solve(&n, &c, &flow);
        check_conserved(&n, &flow);
    }
    flow_deinit(&flow);
    notes_deinit(&n);
    counters_deinit(&c);
}

__attribute__((unused)) static void check_stream(struct bytes in)
{
    struct cursor at = cursor_over(in, "fuzz");
    bool ok = gcfn_probe(in);
    while (ok && cursor_left(&at)) {
        struct counters c = {0};
        struct err e = {0};
        const char *name = NULL;
        const uint8_t *before = at.at;
        ok = gcfn_next(&at, &name, &c, &e);
        expect(ok == !e.line[0], "a failure has a message");
        expect(!ok || (name && at.at > before), "a stream goes on");
        counters_deinit(&c);
    }
    struct arena a = {0};
    struct bytes gcda;
    const char *name;
    at = cursor_over(in, "fuzz");
    for (size_t before = in.len + 1; console_next(&at, &a, &name, &gcda); before = cursor_left(&at))
        expect(cursor_left(&at) < before && gcda.len <= in.len / 2, "a console goes on");
    arena_deinit(&a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct bytes in = {data, size};
    FUZZ_KIND;
    return 0;
}
