/* What files hold, for `monarc info`: facts and totals of notes, counters and tracefiles, as text
 * and as JSON, which print the same numbers.
 *
 * Totals are of the file as it stands: nothing is solved or merged, so that a damaged file can be
 * inspected. Damaged functions are listed with the reason, up to MOST_LINES in text and all in
 * JSON.
 *
 *     a.gcda: gcda, 4096 bytes
 *       version B24* (gcc 12.4), little-endian, lengths in bytes, stamp 0x12345678
 *       summary: 3 runs, sum 5000, largest 900, sum of largest 2400
 *       12 functions
 *       arcs: 40 values, 6 of them 0; sum 5000, largest 900
 *       ! parse: why its record is not used
 *       broken: a.gcda: at byte 4000: ...           what is above was read before that
 *
 * Cost: a pass over the list for each kind of counter. */
#include "coverage/report/coverage_report.h"

#include "base/map.h"
#include "coverage/model/coverage.h"
#include "output/out.h"

#include <inttypes.h>
#include <string.h>

/* --- notes and counters ---------------------------------------------------------------------- */

/* Facts and totals of notes and counters. Both forms print the same. */

/* A file of a wrong compiler can be damaged in each of thousands of functions. */
enum { MOST_LINES = 100 }; /* of damaged functions in text; JSON has all */

/* Of all records of one kind of counter in a file. `zero_values` says how much of it never ran. */
struct kind_total {
    uint64_t records, values, zero_values, sum, largest;
};

/* A file is either: one of the two is there. */
static const struct arcs_origin *info_origin_of(const struct arcs_info *file)
{
    return file->notes ? &file->notes->origin : &file->counters->origin;
}

/* A record of zeros alone (newer GCC writes its length as negative) has no values in the list, only
 * their number. Sums stop at the largest number, as gcov's do. */
static struct kind_total info_total_of(const struct counters *c, enum counter_kind kind)
{
    struct kind_total t = {0};
    for (size_t i = 0; i < c->records.len; i++) {
        const struct counted_record *r = &c->records.at[i];
        if (r->what != COUNTED_VALUES || r->kind != kind)
            continue;
        t.records++;
        t.values += r->len;
        for (uint32_t j = 0; j < r->len && !r->is_zero; j++) {
            uint64_t value = c->values.at[r->first + j];
            t.zero_values += !value;
            t.sum = gcov_add_sums(t.sum, value);
            t.largest = value > t.largest ? value : t.largest;
        }
        t.zero_values += r->is_zero ? r->len : 0;
    }
    return t;
}

/* Arcs with a counter; the others' counts follow from those, as flow into a block equals flow out.
 */
static uint64_t info_instrumented(const struct notes *n)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < n->functions.len; i++)
        sum += n->functions.at[i].instrumented;
    return sum;
}

/* --- text ------------------------------------------------------------------------------------ */

/* `seen` counts all, so that the caller can say how many were not shown. Names are known of notes,
 * and of the proposal's counters; gcda has identities alone. */
static void info_text_defect(struct out *out, const char *name, uint32_t ident, uint8_t why,
                             size_t *seen)
{
    if (why && (*seen)++ < MOST_LINES) {
        out_str(out, "  ! ");
        if (name)
            text_name(out, name);
        else
            out_printf(out, "function %" PRIu32, ident);
        out_printf(out, ": %s\n", arcs_defect_text(why));
    }
}

static void info_text_unknown(struct out *out, uint64_t records)
{
    if (records)
        out_printf(out, "  %" PRIu64 " records of unknown kinds\n", records);
}

/* The directory is where the compiler ran, to which paths of sources are relative. */
static void info_text_notes(struct out *out, const struct notes *n)
{
    size_t defects = 0;
    if (n->directory) {
        out_str(out, "  compiled in ");
        text_name(out, n->directory);
        out_char(out, '\n');
    }
    out_printf(out,
               "  %zu functions, %" PRIu64 " blocks, %zu arcs (%" PRIu64
               " with counters), %zu lines in %zu files",
               n->functions.len, n->blocks, n->arcs.len, info_instrumented(n), n->lines.len,
               n->files.len);
    if (n->conditions.len)
        out_printf(out, ", %zu conditions", n->conditions.len);
    out_char(out, '\n');
    for (size_t i = 0; i < n->functions.len; i++)
        info_text_defect(out, n->functions.at[i].name, n->functions.at[i].ident,
                         n->functions.at[i].defect, &defects);
    if (defects > MOST_LINES) {
        out_str(out, "  ");
        text_more(out, defects - MOST_LINES, "", "--json");
    }
    info_text_unknown(out, n->unknown_records);
}

/* Summaries differ: those of the proposal (family RFC) count counters, those of GCC count runs.
 * Bytes after the end mark are unused. */
static void info_text_counters(struct out *out, const struct counters *c)
{
    size_t defects = 0;
    for (size_t i = 0; i < c->summaries.len; i++) {
        const struct counters_summary *s = &c->summaries.at[i];
        if (c->origin.family == ARCS_RFC) {
            out_printf(out, "  summary: %" PRIu32 " counters, sum %" PRIu64 ", largest %" PRIu64,
                       s->counters, s->sum, s->run_max);
            if (c->origin.native.version) /* a record of ours says */
                out_printf(out, ", %" PRIu32 " runs, sum of largest %" PRIu64, s->runs, s->sum_max);
            out_char(out, '\n');
            continue;
        }
        out_printf(out,
                   "  summary: %" PRIu32 " runs, sum %" PRIu64 ", largest %" PRIu64
                   ", sum of largest %" PRIu64 "\n",
                   s->runs, s->sum, s->run_max, s->sum_max);
    }
    if (c->groups > 1)
        out_printf(out, "  %" PRIu32 " groups, summed\n", c->groups);
    out_printf(out, "  %zu functions\n", c->functions.len);
    for (int kind = 0; kind < KINDS; kind++) {
        struct kind_total t = info_total_of(c, kind);
        if (t.records)
            out_printf(out, "  %s: %" PRIu64 " values, %" PRIu64 " of them 0",
                       counter_kind_name(kind), t.values, t.zero_values);
        if (t.records && kind == KIND_ARCS)
            out_printf(out, "; sum %" PRIu64 ", largest %" PRIu64, t.sum, t.largest);
        if (t.records)
            out_char(out, '\n');
    }
    for (size_t i = 0; i < c->functions.len; i++)
        info_text_defect(out, c->functions.at[i].name, c->functions.at[i].ident,
                         c->functions.at[i].defect, &defects);
    info_text_unknown(out, c->unknown_records);
    if (c->trailing_bytes)
        out_printf(out, "  %" PRIu64 " bytes after the end mark\n", c->trailing_bytes);
}

/* Without a version nothing of the file was read: name, size and the error are all there is. */
void arcs_info_text(struct out *out, const struct arcs_info *file, bool is_first)
{
    const struct arcs_origin *o = info_origin_of(file);
    if (!is_first)
        out_char(out, '\n');
    text_name(out, file->name);
    out_printf(out, ": %s, %" PRIu64 " bytes\n", file->format, file->size_bytes);
    if (o->version) {
        if (o->is_untagged)
            out_printf(out, "  left by gcc %s, whose files name no version\n",
                       o->version == UNTAGGED_33 ? "3.3" : "before 3.3");
        else
            out_printf(out, "  version %s (%s %u.%u), %s-endian, lengths in %s",
                       arcs_version_text(o).text, o->is_llvm ? "clang, as gcc" : "gcc",
                       o->number / 100u, o->number % 100u, o->big_endian ? "big" : "little",
                       o->has_byte_lengths ? "bytes" : "words");
        if (!o->is_untagged && o->family == ARCS_GCOV)
            out_printf(out, ", stamp 0x%08" PRIx32, o->stamp);
        out_str(out, o->is_untagged ? "" : "\n");
        if (file->notes)
            info_text_notes(out, file->notes);
        else
            info_text_counters(out, file->counters);
    }
    if (file->error) {
        out_str(out, "  broken: ");
        text_name(out, file->error);
        out_char(out, '\n');
    }
}

/* --- JSON ------------------------------------------------------------------------------------ */

/* Functions without a defect are not listed. */
static void info_json_defect(struct json *j, const char *name, uint32_t ident, uint8_t why)
{
    if (!why)
        return;
    json_begin(j, '{');
    json_pair_str(j, "name", name);
    json_pair_u64(j, "ident", ident);
    json_pair_str(j, "reason", arcs_defect_text(why));
    json_end(j);
}

static void info_json_notes(struct json *j, const struct notes *n)
{
    json_pair_str(j, "directory", n->directory);
    json_pair_u64(j, "functions", n->functions.len);
    json_pair_u64(j, "blocks", n->blocks);
    json_pair_u64(j, "arcs", n->arcs.len);
    json_pair_u64(j, "instrumented_arcs", info_instrumented(n));
    json_pair_u64(j, "lines", n->lines.len);
    json_pair_u64(j, "conditions", n->conditions.len);
    JSON_ITEMS(j, "sources", i, n->files.len)
        json_str(j, n->files.at[i]);
    JSON_ITEMS(j, "damaged", i, n->functions.len)
        info_json_defect(j, n->functions.at[i].name, n->functions.at[i].ident,
                         n->functions.at[i].defect);
    json_pair_u64(j, "unknown_records", n->unknown_records);
}

/* Members that a family of files does not have are absent: 0 would be a number of runs. */
static void info_json_summaries(struct json *j, const struct counters *c)
{
    JSON_ROWS(j, "summaries", i, c->summaries.len) {
        const struct counters_summary *s = &c->summaries.at[i];
        bool has_runs = c->origin.family == ARCS_GCOV || c->origin.native.version;
        if (has_runs) /* the proposal's do not say, but for our own */
            json_pair_u64(j, "runs", s->runs);
        json_pair_u64(j, "counters", s->counters);
        json_pair_u64(j, "sum", s->sum);
        json_pair_u64(j, "largest", s->run_max);
        if (has_runs)
            json_pair_u64(j, "sum_of_largest", s->sum_max);
    }
}

/* Only kinds that the file has. Sums are of arcs: those of other kinds (times, addresses, indirect
 * targets) add up to nothing. */
static void info_json_kinds(struct json *j, const struct counters *c)
{
    JSON_ITEMS(j, "counters", kind, KINDS) {
        struct kind_total t = info_total_of(c, kind);
        if (!t.records)
            continue;
        json_begin(j, '{');
        json_pair_str(j, "kind", counter_kind_name(kind));
        json_pair_u64(j, "values", t.values);
        json_pair_u64(j, "zero_values", t.zero_values);
        if (kind == KIND_ARCS) {
            json_pair_u64(j, "sum", t.sum);
            json_pair_u64(j, "largest", t.largest);
        }
        json_end(j);
    }
}

static void info_json_counters(struct json *j, const struct counters *c)
{
    info_json_summaries(j, c);
    json_pair_u64(j, "groups", c->groups);
    json_pair_u64(j, "functions", c->functions.len);
    info_json_kinds(j, c);
    JSON_ITEMS(j, "damaged", i, c->functions.len)
        info_json_defect(j, c->functions.at[i].name, c->functions.at[i].ident,
                         c->functions.at[i].defect);
    json_pair_u64(j, "unknown_records", c->unknown_records);
    json_pair_u64(j, "trailing_bytes", c->trailing_bytes);
}

/* The members of notes and counters follow those that all files have. */
void arcs_info_json(struct json *j, const struct arcs_info *file)
{
    const struct arcs_origin *o = info_origin_of(file);
    struct arcs_version_text version = arcs_version_text(o);
    json_begin(j, '{');
    json_pair_str(j, "name", file->name);
    json_pair_u64(j, "size_bytes", file->size_bytes);
    json_pair_str(j, "format", file->format);
    json_pair_str(j, "error", file->error);
    if (o->version) {
        json_pair_str(j, "version", version.text);
        json_pair_u64(j, "version_number", o->number);
        json_pair_bool(j, "is_clang", o->is_llvm);
        json_pair_str(j, "byte_order", o->big_endian ? "big" : "little");
        json_pair_str(j, "length_unit", o->has_byte_lengths ? "byte" : "word");
        json_pair_u64(j, "stamp", o->stamp);
        json_pair_u64(j, "checksum", o->checksum);
        if (file->notes)
            info_json_notes(j, file->notes);
        else
            info_json_counters(j, file->counters);
    }
    json_end(j);
}

/* --- tracefiles ------------------------------------------------------------------------------ */

/* Totals of a tracefile, as it has them: a source of two tests counts twice but among the sources.
 * Both forms print the same. */

/* How much of one kind of thing there is, and how much of it has a count above 0. */
struct trace_total {
    const char *what;
    uint64_t all, ran;
};

enum { TOTAL_FUNCTIONS, TOTAL_LINES, TOTAL_BRANCHES, TOTAL_CONDITIONS, TOTALS };

struct trace_totals {
    struct trace_total at[TOTALS];
    uint32_t sources, tests;
};

/* Of named tests, or of sources. Sections without a name do not count. */
static uint32_t trace_distinct(const struct tracefile *t, bool is_of_tests)
{
    struct intern texts = {0};
    for (size_t i = 0; i < t->sections.len; i++) {
        const struct trace_section *s = &t->sections.at[i];
        const char *text = is_of_tests ? s->test : s->source;
        if (*text)
            intern(&texts, text, strlen(text));
    }
    uint32_t len = (uint32_t)texts.texts.len;
    intern_deinit(&texts);
    return len;
}

#define COUNT_RAN(total, list)                  \
    for (size_t i = 0; i < (list).len; i++) {   \
        (total).all++;                          \
        (total).ran += (list).at[i].count != 0; \
    }

/* Nothing is merged: each section is counted as it stands. */
static struct trace_totals trace_totals_of(const struct tracefile *t)
{
    struct trace_totals totals = {.at = {{.what = "functions"},
                                         {.what = "lines"},
                                         {.what = "branches"},
                                         {.what = "conditions"}},
                                  .sources = trace_distinct(t, false),
                                  .tests = trace_distinct(t, true)};
    COUNT_RAN(totals.at[TOTAL_FUNCTIONS], t->functions);
    COUNT_RAN(totals.at[TOTAL_LINES], t->lines);
    COUNT_RAN(totals.at[TOTAL_BRANCHES], t->branches);
    COUNT_RAN(totals.at[TOTAL_CONDITIONS], t->conditions);
    return totals;
}

/* --- text ------------------------------------------------------------------------------------ */

/* What the file has none of gets no line. `left out` are kinds of data that the format can hold and
 * monarc does not use. */
void trace_info_text(struct out *out, const struct trace_info *file, bool is_first)
{
    const struct tracefile *t = file->found;
    struct trace_totals totals = trace_totals_of(t);
    out_str(out, is_first ? "" : "\n");
    text_name(out, file->name);
    out_printf(out, ": %s, %" PRIu64 " bytes\n", file->title, file->size_bytes);
    out_printf(out, "  %" PRIu32 " source%s", totals.sources, text_plural(totals.sources));
    if (totals.tests)
        out_printf(out, ", %" PRIu32 " named test%s", totals.tests, text_plural(totals.tests));
    out_char(out, '\n');
    for (size_t i = 0; i < TOTALS; i++)
        if (totals.at[i].all)
            out_printf(out, "  %s: %" PRIu64 ", %" PRIu64 " of them ran\n", totals.at[i].what,
                       totals.at[i].all, totals.at[i].ran);
    if (t->negative)
        out_printf(out, "  %" PRIu64 " counts below 0, taken as 0\n", t->negative);
    info_text_unknown(out, t->unknown_records);
    for (size_t i = 0; i < t->losses.len; i++)
        out_printf(out, "  left out: %" PRIu64 " %s\n", t->losses.at[i].number,
                   t->losses.at[i].what);
    if (file->error)
        out_printf(out, "  error: %s\n", file->error);
}

/* --- JSON ------------------------------------------------------------------------------------ */

/* All totals, those of 0 too. */
void trace_info_json(struct json *j, const struct trace_info *file)
{
    const struct tracefile *t = file->found;
    struct trace_totals totals = trace_totals_of(t);
    json_begin(j, '{');
    json_pair_str(j, "name", file->name);
    json_pair_u64(j, "size_bytes", file->size_bytes);
    json_pair_str(j, "format", file->format);
    json_pair_str(j, "error", file->error);
    json_pair_u64(j, "sources", totals.sources);
    json_pair_u64(j, "tests", totals.tests);
    for (size_t i = 0; i < TOTALS; i++) {
        json_key(j, totals.at[i].what), json_begin(j, '{');
        json_pair_u64(j, "all", totals.at[i].all);
        json_pair_u64(j, "ran", totals.at[i].ran);
        json_end(j);
    }
    json_pair_u64(j, "negative", t->negative);
    json_pair_u64(j, "unknown_records", t->unknown_records);
    JSON_ROWS(j, "left_out", i, t->losses.len) {
        json_pair_str(j, "what", t->losses.at[i].what);
        json_pair_u64(j, "number", t->losses.at[i].number);
    }
    json_end(j);
}

/* --- profiles of clang and rustc ------------------------------------------------------------- */

static const char *const CONTAINERS[] = {[LLVM_RAW] = "raw profile of LLVM",
                                         [LLVM_INDEXED] = "indexed profile of LLVM",
                                         [LLVM_TEXT] = "text profile of LLVM"};

/* Words for the bits of a version, in their order: the same in text and in JSON. Which of them a
 * profile has says what made it: the compiler's front end, its optimiser, or a sampler. */
static const struct variant_name {
    uint32_t bit;
    const char *name;
} VARIANTS[] = {
    {LLVM_LOOP_ENTRIES, "loop_entries"}, {LLVM_IR_LEVEL, "optimiser"},
    {LLVM_CONTEXT_SENSITIVE, "context"}, {LLVM_ENTRY_FIRST, "entry_first"},
    {LLVM_CORRELATED, "correlated"},     {LLVM_SINGLE_BYTE, "single_bytes"},
    {LLVM_ENTRY_ONLY, "entries_only"},   {LLVM_MEMORY, "memory"},
    {LLVM_TEMPORAL, "temporal"},
};

/* What `llvm-profdata show` prints of a profile, and how many counters are above 0. Sums stop at
 * the largest number. */
struct llvm_totals {
    uint64_t functions_run, counters_above, sum, largest;
    uint64_t functions_with_values, sites[VALUE_KINDS], values[VALUE_KINDS];
};

/* A walk over all sites of values: function by function, kind by kind. */
struct site_walk {
    const struct llvm_function *function;
    const struct llvm_site *site;
    uint32_t kind, number; /* of the site among those of its kind in the function */

    size_t next; /* function, and site in it */
    uint64_t next_site;
};

/* False at the end. Functions without sites are passed over; sites without values are not, as an
 * optimiser knows by them that nothing was met there. */
static bool next_site(const struct llvm_profile *p, struct site_walk *w)
{
    while (w->next < p->functions.len &&
           w->next_site == llvm_function_sites(&p->functions.at[w->next])) {
        w->next++;
        w->next_site = 0;
    }
    if (w->next == p->functions.len)
        return false;
    w->function = &p->functions.at[w->next];
    w->site = &p->sites.at[w->function->first_site + w->next_site];
    uint64_t number = w->next_site++;
    for (w->kind = 0; number >= w->function->sites[w->kind]; w->kind++)
        number -= w->function->sites[w->kind];
    w->number = (uint32_t)number;
    return true;
}

/* The name of a function; NULL: it has none, or the profile does not have the function. */
static const char *llvm_name_of(const struct llvm_profile *p, const uint32_t *name)
{
    return name && *name != LLVM_NO_NAME ? intern_text(&p->names, *name) : NULL;
}

/* Names of functions by what values refer to them with: the first of several of one name, as of
 * static functions under another control flow. Empty where there are no sites. */
static struct map llvm_called(const struct llvm_profile *p)
{
    struct map names = {0};
    for (size_t i = 0; i < p->functions.len && p->sites.len; i++)
        map_at(&names, p->functions.at[i].name_ref, 0, p->functions.at[i].name, NULL);
    return names;
}

static struct llvm_totals llvm_totals_of(const struct llvm_profile *p)
{
    struct llvm_totals t = {0};
    for (size_t i = 0; i < p->functions.len; i++) {
        const struct llvm_function *f = &p->functions.at[i];
        bool has_run = false;
        for (uint32_t k = 0; k < f->counts; k++) {
            uint64_t count = p->counts.at[f->first_count + k];
            has_run |= count > 0;
            t.counters_above += count > 0;
            t.sum = add_saturating(t.sum, count);
            t.largest = count > t.largest ? count : t.largest;
        }
        t.functions_run += has_run;
        t.functions_with_values += llvm_function_sites(f) > 0;
    }
    for (struct site_walk w = {0}; next_site(p, &w);) {
        t.sites[w.kind]++;
        t.values[w.kind] += w.site->len;
    }
    return t;
}

/* Words for kinds of values: where they are measured, and what. */
static const struct {
    const char *sites, *values, *json; /* an s goes into the first */
} VALUE_WORDS[VALUE_KINDS] = {
    {"call%s through pointers", "function", "indirect_calls"},
    {"memory operation%s", "size", "memory_operations"},
    {"virtual call%s", "vtable", "virtual_calls"},
};

/* How much there is, then each site that has values, in the order of the file: its number in the
 * function, and what was met there, the most frequent first.
 *
 *     values: 1 call through pointers with 4 functions
 *       step, call 0: 88 x two, 87 x v.c;one, 86 x three, 84 x another */
static void llvm_values_print(struct out *out, const struct llvm_profile *p,
                              const struct llvm_totals *t)
{
    enum { MOST_SITES = 20, MOST_SHOWN = 5 };
    struct map names = llvm_called(p);
    uint64_t sites = 0;
    for (int kind = 0; kind < VALUE_KINDS; kind++) {
        if (!t->sites[kind])
            continue;
        out_printf(out, "  values: %" PRIu64 " ", t->sites[kind]);
        out_printf(out, VALUE_WORDS[kind].sites, text_plural(t->sites[kind]));
        out_printf(out, " with %" PRIu64 " %s%s\n", t->values[kind], VALUE_WORDS[kind].values,
                   text_plural(t->values[kind]));
    }
    for (struct site_walk w = {0}; next_site(p, &w);) {
        if (!w.site->len || ++sites > MOST_SITES)
            continue; /* nothing was met there; or it is only counted */
        const char *function = llvm_name_of(p, &w.function->name);
        out_str(out, "    ");
        text_name(out, function ? function : "?");
        out_printf(out, ", %s %" PRIu32 ":", w.kind == VALUES_SIZES ? "size" : "call", w.number);
        for (uint32_t v = 0; v < w.site->len && v < MOST_SHOWN; v++) {
            const struct llvm_value *value = &p->values.at[w.site->first + v];
            const char *name = llvm_name_of(p, map_find(&names, value->value, 0));
            out_printf(out, "%s%" PRIu64 " x ", v ? ", " : " ", value->count);
            if (w.kind == VALUES_SIZES)
                out_printf(out, "%" PRIu64, value->value);
            else
                text_name(out, name ? name : "another");
        }
        out_str(out, w.site->len > MOST_SHOWN ? ", ...\n" : "\n");
    }
    if (sites > MOST_SITES) {
        out_str(out, "    ");
        text_more(out, sites - MOST_SITES, "site", "--json");
    }
    map_deinit(&names);
}

/* One fact a line, those alone that there are:
 *
 *     p.profraw: raw profile of LLVM, 352 bytes
 *       version 10, little-endian, pointers of 8 bytes
 *       build-id 5b4c...
 *       functions: 12, 9 of them ran
 *       counters: 40, 31 of them above 0; sum 512, largest 100 */
void llvm_info_text(struct out *out, const struct llvm_info *file, bool is_first)
{
    const struct llvm_profile *p = file->sum;
    struct llvm_totals t = llvm_totals_of(p);
    out_str(out, is_first ? "" : "\n");
    text_name(out, file->name);
    out_printf(out, ": %s, %" PRIu64 " bytes\n", CONTAINERS[p->container], file->size_bytes);
    if (p->container != LLVM_TEXT)
        out_printf(out, "  version %" PRIu32, p->version);
    if (p->container == LLVM_RAW)
        out_printf(out, ", %s-endian, pointers of %u bytes", p->is_big_endian ? "big" : "little",
                   p->word);
    for (size_t i = 0; i < sizeof VARIANTS / sizeof *VARIANTS; i++)
        if (p->variants & VARIANTS[i].bit)
            out_printf(out, ", %s", VARIANTS[i].name);
    out_str(out, p->container == LLVM_TEXT && !p->variants ? "" : "\n");
    if (file->profiles > 1)
        out_printf(out, "  %" PRIu64 " profiles, one after the other\n", file->profiles);
    for (uint32_t i = 0; i < p->ids.texts.len; i++) {
        out_str(out, "  build-id ");
        for (uint32_t k = 0; k < p->ids.lengths.at[i]; k++)
            out_printf(out, "%02x", (unsigned char)p->ids.texts.at[i][k]);
        out_char(out, '\n');
    }
    out_printf(out, "  functions: %zu, %" PRIu64 " of them ran\n", p->functions.len,
               t.functions_run);
    out_printf(
        out, "  counters: %zu, %" PRIu64 " of them above 0; sum %" PRIu64 ", largest %" PRIu64 "\n",
        p->counts.len, t.counters_above, t.sum, t.largest);
    if (p->bits.len)
        out_printf(out, "  MC/DC: %zu bytes\n", p->bits.len);
    llvm_values_print(out, p, &t);
    if (file->error)
        out_printf(out, "  error: %s\n", file->error);
}

/* Every site that has values: its function, kind, number among those of the kind, and its values.
 */
static void llvm_values_json(struct json *j, const struct llvm_profile *p)
{
    struct map names = llvm_called(p);
    json_key(j, "values"), json_begin(j, '[');
    for (struct site_walk w = {0}; next_site(p, &w);) {
        if (!w.site->len)
            continue;
        json_begin(j, '{');
        json_pair_str(j, "function", llvm_name_of(p, &w.function->name));
        json_pair_str(j, "kind", VALUE_WORDS[w.kind].json);
        json_pair_u64(j, "site", w.number);
        JSON_ROWS(j, "values", v, w.site->len) {
            const struct llvm_value *value = &p->values.at[w.site->first + v];
            if (w.kind == VALUES_SIZES)
                json_pair_u64(j, "size", value->value);
            else
                json_pair_str(j, "name", llvm_name_of(p, map_find(&names, value->value, 0)));
            json_pair_u64(j, "count", value->count);
        }
        json_end(j);
    }
    json_end(j);
    map_deinit(&names);
}

/* All facts, those of 0 too; names of functions are those of sites alone. */
void llvm_info_json(struct json *j, const struct llvm_info *file)
{
    static const char *const NAMES[] = {"profraw", "profdata", "proftext"};
    const struct llvm_profile *p = file->sum;
    struct llvm_totals t = llvm_totals_of(p);
    json_begin(j, '{');
    json_pair_str(j, "name", file->name);
    json_pair_u64(j, "size_bytes", file->size_bytes);
    json_pair_str(j, "format", NAMES[p->container]);
    json_pair_str(j, "error", file->error);
    json_pair_u64(j, "version", p->version);
    json_pair_u64(j, "profiles", file->profiles);
    JSON_ITEMS(j, "variants", i, sizeof VARIANTS / sizeof *VARIANTS)
        if (p->variants & VARIANTS[i].bit)
            json_str(j, VARIANTS[i].name);
    json_key(j, "functions"), json_begin(j, '{');
    json_pair_u64(j, "all", p->functions.len);
    json_pair_u64(j, "ran", t.functions_run);
    json_end(j);
    json_key(j, "counters"), json_begin(j, '{');
    json_pair_u64(j, "all", p->counts.len);
    json_pair_u64(j, "ran", t.counters_above);
    json_end(j);
    json_pair_u64(j, "sum", t.sum);
    json_pair_u64(j, "largest", t.largest);
    json_pair_u64(j, "bitmap_bytes", p->bits.len);
    json_pair_u64(j, "functions_with_values", t.functions_with_values);
    llvm_values_json(j, p);
    json_end(j);
}
