/* lcov tracefiles: docs/formats/lcov.md, which also says where versions 1 and 2 of lcov differ.
 *
 * A tracefile has one record a source and test, sources in the order of the report. Branches that
 * are left out of the report are left out here, too; so are unknown lines and functions, of which a
 * tracefile cannot say that they are. Sources are printed on several threads, into buffers that are
 * appended in order: the bytes do not depend on the number of threads.
 *
 *     TN:test                          one section a source
 *     SF:/src/a.c
 *     FN:10,parse                      line, name       lcov 2: FNL:0,10,20 place, first, last line
 *     FNDA:5,parse                     count, name              FNA:0,5,parse place, count, name
 *     FNF:1  FNH:1                     functions: found, hit
 *     BRDA:12,0,1,3                    line, block, branch, taken; - where the block never ran
 *     BRF:2  BRH:1                     branches
 *     MCDC:12,2,t,1,0,0                line, terms, sense, seen, index, expression  (lcov 2)
 *     DA:12,5                          line, count
 *     LF:40  LH:30                     lines
 *     end_of_record
 *
 * A source of many lines is cut into parts, since one generated file may be most of a program.
 * Cost: linear; memory is that of the pieces in flight. */
#include "coverage/report/coverage_report.h"

#include "base/bytes.h"
#include "output/out.h"

#include <inttypes.h>

/* Names with line ends would begin a record of their own. Of a tracefile the reader is a program,
 * to which a path with unusual letters must stay that path: text_name() would write numbers for
 * them.
 */
static void lcov_name(struct out *out, const char *text)
{
    size_t left = strlen(text);
    while (left) {
        size_t run = 0, n;
        while (run < left && (n = shown_length((const uint8_t *)text + run, left - run)))
            run += n;
        out_bytes(out, text, run);
        if (run < left) {
            out_char(out, '?');
            run++;
        }
        text += run;
        left -= run;
    }
}

/* Records of numbers are written straight into the buffer: most of a tracefile is these. The
 * longest is a key, four numbers of 20 digits, and what divides them. */
enum { RECORD_ROOM = 128 };

/* Begins a record: room in the buffer, with the key in it. lcov_number() goes on from there, and
 * out_end() takes over what was written. */
static char *lcov_record(struct out *out, const char *key)
{
    size_t len = strlen(key);
    return (char *)memcpy(out_begin(out, RECORD_ROOM), key, len) + len;
}

/* `to` must have room for 21 bytes. */
static char *lcov_number(char *to, uint64_t value, char after)
{
    if (value < 10)
        *to++ = (char)('0' + value); /* blocks, branches, and most counts */
    else
        to = digits_u64(to, value, 0);
    *to = after;
    return to + 1;
}

/* How many were found, and how many hit: `key` is FN, BR, MC or L. */
static void lcov_pair(struct out *out, const char *key, uint64_t all, uint64_t hit)
{
    out_printf(out, "%sF:%" PRIu64 "\n%sH:%" PRIu64 "\n", key, all, key, hit);
}

/* A part of a section: of a source's functions or lines those from `first` to before `end`. In the
 * order of the file. Functions and calls have two stages in version 1, one in version 2. */
enum stage { STAGE_FUNCTIONS, STAGE_CALLS, STAGE_BRANCHES, STAGE_CONDITIONS, STAGE_LINES, STAGES };

struct part {
    uint32_t source;
    enum stage stage;
    uint32_t first, end;
};

/* What all threads read. Parts lie in the order of the file; piece i is the parts from pieces[i] to
 * before pieces[i + 1], and the last of `pieces` closes the last piece. */
struct tracing {
    const struct coverage_result *r;
    const char *test;
    bool is_lcov2;
    VEC(struct part) parts;
    VEC(uint32_t) pieces; /* where in parts each begins, and their end */
};

/* Names are linkage names: what lcov shows of C++ it demangles itself. */
static void lcov_functions1(struct out *out, const struct result_function *f, const struct part *p)
{
    for (uint32_t i = p->first; i < p->end; i++) {
        if (f[i].state == RESULT_UNKNOWN)
            continue;
        out_end(out, lcov_number(lcov_record(out, "FN:"), f[i].start_line, ','));
        lcov_name(out, f[i].linkage);
        out_char(out, '\n');
    }
}

/* Version 1 has counts apart from places, in the same order. */
static void lcov_calls1(struct out *out, const struct result_function *f, const struct part *p)
{
    for (uint32_t i = p->first; i < p->end; i++) {
        if (f[i].state == RESULT_UNKNOWN)
            continue;
        out_end(out, lcov_number(lcov_record(out, "FNDA:"), f[i].count, ','));
        lcov_name(out, f[i].linkage);
        out_char(out, '\n');
    }
}

/* Functions that begin on one line are aliases of one place. Functions come sorted by line, so that
 * aliases are neighbours. `place` is an index that lines of FNA name; it begins anew in each
 * source. */
static void lcov_functions2(struct out *out, const struct result_function *f, const struct part *p)
{
    uint32_t place = UINT32_MAX, last = 0;
    for (uint32_t i = p->first; i < p->end; i++) {
        if (f[i].state == RESULT_UNKNOWN)
            continue;
        if (place == UINT32_MAX || f[i].start_line != last) {
            place++;
            last = f[i].start_line;
            out_printf(out, "FNL:%" PRIu32 ",%" PRIu32, place, last);
            if (f[i].end_line >= last)
                out_printf(out, ",%" PRIu32, f[i].end_line);
            out_char(out, '\n');
        }
        out_printf(out, "FNA:%" PRIu32 ",%" PRIu64 ",", place, f[i].count);
        lcov_name(out, f[i].linkage);
        out_char(out, '\n');
    }
}

/* A branch whose block was never reached has `-`: it could not have been taken. Version 2 marks
 * those of exceptions by an `e` before the block. */
static void lcov_branches(struct out *out, const struct tracing *t, const struct result_line *lines,
                          const struct part *p)
{
    for (uint32_t i = p->first; i < p->end; i++) {
        const struct result_line *l = &lines[i];
        for (uint32_t k = 0; k < l->branches && l->state != RESULT_UNKNOWN; k++) {
            const struct result_branch *b = &t->r->branches.at[l->first_branch + k];
            char *to = lcov_number(lcov_record(out, "BRDA:"), l->line, ',');
            if (t->is_lcov2 && b->flags & OUTCOME_THROW)
                *to++ = 'e';
            to = lcov_number(lcov_number(to, b->block, ','), k, ',');
            if (b->was_reached) {
                to = lcov_number(to, b->count, '\n');
            } else {
                *to++ = '-';
                *to++ = '\n';
            }
            out_end(out, to);
        }
    }
}

/* Terms of all decisions of a line, if two have equally many. lcov knows a decision by its line and
 * its number of terms: such a line has one decision of all terms. 0: each stands by itself. */
static uint32_t lcov_united_terms(const struct result_condition *c, uint32_t len)
{
    enum { MOST = 64 }; /* that readers take */
    uint64_t met = 0;
    uint32_t terms = 0;
    bool has_equals = false;
    for (uint32_t k = 0; k < len; k++) {
        uint64_t size = c[k].terms ? 1ull << ((c[k].terms - 1) & (MOST - 1)) : 0;
        has_equals |= met & size;
        met |= size;
        terms += c[k].terms;
        if (terms > MOST)
            return 0;
    }
    return has_equals ? terms : 0;
}

/* Two records a term, for true and for false. */
static void lcov_conditions(struct out *out, const struct coverage_result *r,
                            const struct result_line *lines, const struct part *p)
{
    for (uint32_t i = p->first; i < p->end; i++) {
        const struct result_line *l = &lines[i];
        if (!l->conditions || l->state == RESULT_UNKNOWN)
            continue;
        const struct result_condition *at = &r->conditions.at[l->first_condition];
        uint32_t united = lcov_united_terms(at, l->conditions), first = 0;
        for (uint32_t k = 0; k < l->conditions; k++) {
            const struct result_condition *c = &at[k];
            for (uint32_t t = 0; t < c->terms; t++)
                for (int sense = 1; sense >= 0; sense--)
                    out_printf(out, "MCDC:%" PRIu32 ",%" PRIu32 ",%c,%d,%" PRIu32 ",%" PRIu32 "\n",
                               l->line, united ? united : c->terms, sense ? 't' : 'f',
                               (int)((sense ? c->on : c->off) >> t & 1), first + t, first + t);
            first += united ? c->terms : 0;
        }
    }
}

/* Most bytes of a tracefile are here: no format string is parsed for them. */
static void lcov_counts(struct out *out, const struct result_line *lines, const struct part *p)
{
    for (uint32_t i = p->first; i < p->end; i++) {
        const struct result_line *l = &lines[i];
        if (l->state == RESULT_UNKNOWN)
            continue;
        out_end(out,
                lcov_number(lcov_number(lcov_record(out, "DA:"), l->line, ','), l->count, '\n'));
    }
}

/* Sums of what is known, as they must equal the records above them. */
static void lcov_known(struct out *out, const char *key, const struct coverage_ratio *ratio)
{
    lcov_pair(out, key, ratio->all - ratio->unknown, ratio->hit);
}

/* How many functions or lines a stage prints. */
static uint32_t lcov_items_of(const struct result_source *s, enum stage stage)
{
    return stage <= STAGE_CALLS ? s->functions : s->lines;
}

/* The head of a section is printed with the first part of its functions, also if it has none. */
static void lcov_print_records(struct out *out, const struct tracing *t, const struct part *p)
{
    const struct result_source *s = &t->r->sources.at[p->source];
    const struct result_function *functions = vec_from(&t->r->functions, s->first_function);
    const struct result_line *lines = vec_from(&t->r->lines, s->first_line);
    switch (p->stage) {
    case STAGE_FUNCTIONS:
        if (!p->first) {
            out_str(out, "TN:");
            lcov_name(out, t->test);
            out_str(out, "\nSF:");
            lcov_name(out, s->whole);
            out_char(out, '\n');
        }
        (t->is_lcov2 ? lcov_functions2 : lcov_functions1)(out, functions, p);
        return;
    case STAGE_CALLS:
        if (!t->is_lcov2)
            lcov_calls1(out, functions, p);
        return;
    case STAGE_BRANCHES: lcov_branches(out, t, lines, p); return;
    case STAGE_CONDITIONS:
        if (t->is_lcov2)
            lcov_conditions(out, t->r, lines, p);
        return;
    default: lcov_counts(out, lines, p);
    }
}

/* What follows the last part of a stage. Sums of a kind follow its last record; they are absent
 * where the source has nothing of the kind, but for functions and lines. */
static void lcov_print_sums(struct out *out, const struct coverage_ratios *sums, enum stage stage,
                            bool is_lcov2)
{
    if (stage == STAGE_CALLS)
        lcov_known(out, "FN", &sums->functions);
    else if (stage == STAGE_BRANCHES && sums->branches.all)
        lcov_known(out, "BR", &sums->branches);
    else if (stage == STAGE_CONDITIONS && is_lcov2 && sums->conditions.all)
        lcov_known(out, "MC", &sums->conditions);
    else if (stage == STAGE_LINES) {
        lcov_known(out, "L", &sums->lines);
        out_str(out, "end_of_record\n");
    }
}

/* Run by one of several threads; it touches nothing but its own `out`. */
static void lcov_print_piece(size_t i, struct out *out, void *context)
{
    const struct tracing *t = context;
    for (uint32_t k = t->pieces.at[i]; k < t->pieces.at[i + 1]; k++) {
        const struct part *p = &t->parts.at[k];
        const struct result_source *s = &t->r->sources.at[p->source];
        lcov_print_records(out, t, p);
        if (p->end == lcov_items_of(s, p->stage))
            lcov_print_sums(out, &s->sums, p->stage, t->is_lcov2);
    }
}

/* Parts of some 50 kB, by what their records usually take; small ones are printed together. */
enum { PIECE_BYTES = 50000, HEAD_BYTES = 100 };

/* BYTES says what an item of a stage usually prints. An empty stage is a part of no items, which
 * still prints its head and sums. */
static void lcov_cut(struct tracing *t)
{
    static const uint32_t BYTES[STAGES] = {100, 100, 20, 1, 10};
    uint32_t bytes = PIECE_BYTES;
    for (uint32_t i = 0; i < t->r->sources.len; i++)
        for (int stage = 0; stage < STAGES; stage++) {
            uint32_t all = lcov_items_of(&t->r->sources.at[i], stage), first = 0;
            uint32_t most = PIECE_BYTES / BYTES[stage];
            if (t->is_lcov2 && stage == STAGE_FUNCTIONS)
                most = UINT32_MAX; /* places are numbered over all of them */
            do {
                uint32_t end = all - first > most ? first + most : all;
                if (bytes >= PIECE_BYTES) {
                    vec_push(&t->pieces, (uint32_t)t->parts.len);
                    bytes = 0;
                }
                vec_push(&t->parts, (struct part){i, (enum stage)stage, first, end});
                bytes += (end - first) * BYTES[stage] + HEAD_BYTES;
                first = end;
            } while (first < all);
        }
    vec_push(&t->pieces, (uint32_t)t->parts.len);
}

/* Problems that lost data come first, as comments, which lcov passes over. A result of one test has
 * its name as TN; of several, none is true. */
void coverage_lcov(struct out *out, const struct coverage_report *s,
                   const struct coverage_style *style)
{
    const struct coverage_result *r = s->result;
    const char *test = s->test ? s->test : r->tests.len == 1 ? r->tests.at[0] : "";
    struct tracing t = {.r = r, .test = test, .is_lcov2 = style->is_lcov2};
    for (size_t i = 0; i < s->problems->at.len; i++) {
        if (s->problems->at.at[i].kind == PROBLEM_NOTE)
            continue;
        out_str(out, "# ");
        lcov_name(out, s->problems->at.at[i].text);
        out_char(out, '\n');
    }
    lcov_cut(&t);
    out_parallel(out, t.pieces.len - 1, s->threads, lcov_print_piece, &t);
    vec_free(&t.parts);
    vec_free(&t.pieces);
}
