/* What files hold, for `monarc info`: facts and totals of notes, counters and tracefiles, as text
 * and as JSON, which print the same numbers.
 *
 * Totals are of the file as it stands: nothing is solved or merged, so that a damaged file can be
 * inspected. Damaged functions are listed with the reason: a file of a wrong compiler can be
 * damaged in each of thousands of them.
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

/* Of all records of one kind of counter in a file. `zero_values` says how much of it never ran. */
struct kind_total {
    uint64_t records, values, zero_values, sum, largest;
};

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

/* A row of a function that is not used, with the reason. Names are known of notes, and of the
 * proposal's counters; gcda has identities alone. */
static void damaged_facts(struct facts *w, const char *name, uint32_t ident, uint8_t why)
{
    fact(w, "name", field_text(name), "  ! *");
    fact(w, "ident", field_u64(ident), name ? NULL : "  ! function *");
    fact(w, "reason", field_text(arcs_defect_text(why)), ": *\n");
}

/* The directory is where the compiler ran, to which paths of sources are relative. */
static void notes_facts(struct facts *w, const struct notes *n)
{
    /* Arcs with a counter; the others' counts follow from those, as flow into a block equals flow
     * out. */
    uint64_t instrumented = 0;
    for (size_t i = 0; i < n->functions.len; i++)
        instrumented += n->functions.at[i].instrumented;
    fact(w, "directory", field_text(n->directory), "  compiled in *\n");
    fact(w, "functions", field_u64(n->functions.len), "  * functions, ");
    fact(w, "blocks", field_u64(n->blocks), "* blocks, ");
    fact(w, "arcs", field_u64(n->arcs.len), "* arcs ");
    fact(w, "instrumented_arcs", field_u64(instrumented), "(* with counters), ");
    fact(w, "lines", field_u64(n->lines.len), "* lines ");
    fact(w, NULL, field_u64(n->files.len), "in * files");
    fact_nonzero(w, "conditions", n->conditions.len, ", * conditions");
    fact_text(w, "\n");
    if (w->json)
        JSON_ITEMS(w->json, "sources", i, n->files.len)
            json_str(w->json, n->files.at[i]);
    size_t damaged = facts_rows(w, "damaged");
    for (size_t i = 0; i < n->functions.len; i++) {
        const struct notes_function *f = &n->functions.at[i];
        if (f->defect && facts_row(w, &damaged))
            damaged_facts(w, f->name, f->ident, f->defect);
    }
    facts_rows_end(w, 2, damaged);
    fact_nonzero(w, "unknown_records", n->unknown_records, "  * records of unknown kinds\n");
}

/* Summaries differ: those of the proposal (family RFC) count counters, those of GCC count runs.
 * Members that a family of files does not have are absent: 0 would be a number of runs. Of counters
 * only kinds that the file has; sums are of arcs: those of other kinds (times, addresses, indirect
 * targets) add up to nothing. Bytes after the end mark are unused. */
static void counters_facts(struct facts *w, const struct counters *c)
{
    bool is_proposal = c->origin.family == ARCS_RFC;
    /* The proposal's do not say, but for our own. */
    bool has_runs = !is_proposal || c->origin.native.version;
    FACT_ROWS(w, "summaries", 2, i, c->summaries.len) {
        const struct counters_summary *s = &c->summaries.at[i];
        struct field runs = field_u64(s->runs);
        runs.kind = has_runs ? FIELD_U64 : FIELD_ABSENT;
        fact(w, "runs", runs, is_proposal ? NULL : "  summary: * runs");
        fact(w, "counters", field_u64(s->counters), is_proposal ? "  summary: * counters" : NULL);
        fact(w, "sum", field_u64(s->sum), ", sum *");
        fact(w, "largest", field_u64(s->run_max), ", largest *");
        fact(w, NULL, runs, is_proposal ? ", * runs" : NULL);
        if (has_runs)
            fact(w, "sum_of_largest", field_u64(s->sum_max), ", sum of largest *");
        fact_text(w, "\n");
    }
    fact(w, "groups", field_u64(c->groups), c->groups > 1 ? "  * groups, summed\n" : NULL);
    fact(w, "functions", field_u64(c->functions.len), "  * functions\n");
    size_t kinds = facts_rows(w, "counters");
    for (int kind = 0; kind < KINDS; kind++) {
        struct kind_total t = info_total_of(c, kind);
        if (!t.records || !facts_row(w, &kinds))
            continue;
        fact(w, "kind", field_text(counter_kind_name(kind)), "  *: ");
        fact(w, "values", field_u64(t.values), "* values, ");
        fact(w, "zero_values", field_u64(t.zero_values), "* of them 0");
        if (kind == KIND_ARCS) {
            fact(w, "sum", field_u64(t.sum), "; sum *");
            fact(w, "largest", field_u64(t.largest), ", largest *");
        }
        fact_text(w, "\n");
    }
    facts_rows_end(w, 2, kinds);
    size_t damaged = facts_rows(w, "damaged");
    for (size_t i = 0; i < c->functions.len; i++) {
        const struct counted_function *f = &c->functions.at[i];
        if (f->defect && facts_row(w, &damaged))
            damaged_facts(w, f->name, f->ident, f->defect);
    }
    facts_rows_end(w, 2, damaged);
    fact_nonzero(w, "unknown_records", c->unknown_records, "  * records of unknown kinds\n");
    fact_nonzero(w, "trailing_bytes", c->trailing_bytes, "  * bytes after the end mark\n");
}

/* The members of notes and counters follow those that all files have. Without a version nothing of
 * the file was read: name, size and the error are all there is. */
void arcs_facts(struct facts *w, const struct arcs_info *file)
{
    const struct arcs_origin *o = file->notes ? &file->notes->origin : &file->counters->origin;
    fact(w, "name", field_text(file->name), "*: ");
    fact(w, NULL, field_text(file->format), "*, ");
    fact(w, "size_bytes", field_u64(file->size_bytes), "* bytes\n");
    fact(w, "format", field_text(file->format), NULL);
    fact(w, "error", field_text(file->error), NULL);
    if (o->version) {
        struct arcs_version_text version = arcs_version_text(o);
        if (w->out && o->is_untagged) {
            out_printf(w->out, "  left by gcc %s, whose files name no version\n",
                       o->version == UNTAGGED_33 ? "3.3" : "before 3.3");
        } else {
            fact(w, "version", field_text(version.text), "  version *");
            if (w->out)
                out_printf(w->out, " (%s %u.%u), ", o->is_llvm ? "clang, as gcc" : "gcc",
                           o->number / 100u, o->number % 100u);
            fact(w, "version_number", field_u64(o->number), NULL);
            fact(w, "is_clang", field_bool(o->is_llvm), NULL);
            fact(w, "byte_order", field_text(o->big_endian ? "big" : "little"), "*-endian, ");
            fact(w, "length_unit", field_text(o->has_byte_lengths ? "byte" : "word"),
                 "lengths in *s");
            if (w->out && o->family == ARCS_GCOV)
                out_printf(w->out, ", stamp 0x%08" PRIx32, o->stamp);
            fact(w, "stamp", field_u64(o->stamp), "\n");
            fact(w, "checksum", field_u64(o->checksum), NULL);
        }
    }
    if (o->version && file->notes)
        notes_facts(w, file->notes);
    else if (o->version)
        counters_facts(w, file->counters);
    fact(w, NULL, field_text(file->error), "  broken: *\n");
}

/* --- tracefiles ------------------------------------------------------------------------------ */

/* Totals of a tracefile, as it has them: a source of two tests counts twice but among the sources.
 */

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

/* What the file has none of gets no line of text. `left out` are kinds of data that the format can
 * hold and monarc does not use. */
void trace_facts(struct facts *w, const struct trace_info *file)
{
    const struct tracefile *t = file->found;
    /* Nothing is merged: each section is counted as it stands. */
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
    fact(w, "name", field_text(file->name), "*: ");
    fact(w, NULL, field_text(file->title), "*, ");
    fact(w, "size_bytes", field_u64(file->size_bytes), "* bytes\n");
    fact(w, "format", field_text(file->format), NULL);
    fact(w, "error", field_text(file->error), NULL);
    fact(w, "sources", field_u64(totals.sources), "  * source~");
    fact_nonzero(w, "tests", totals.tests, ", * named test~");
    fact_text(w, "\n");
    for (size_t i = 0; i < TOTALS; i++) {
        const struct trace_total *total = &totals.at[i];
        if (w->out && !total->all)
            continue;
        facts_begin(w, total->what);
        fact(w, NULL, field_text(total->what), "  *: ");
        fact(w, "all", field_u64(total->all), "*, ");
        fact(w, "ran", field_u64(total->ran), "* of them ran\n");
        facts_end(w);
    }
    fact_nonzero(w, "negative", t->negative, "  * counts below 0, taken as 0\n");
    fact_nonzero(w, "unknown_records", t->unknown_records, "  * records of unknown kinds\n");
    FACT_ROWS(w, "left_out", 2, i, t->losses.len) {
        fact(w, NULL, field_u64(t->losses.at[i].number), "  left out: * ");
        fact(w, "what", field_text(t->losses.at[i].what), "*\n");
        fact(w, "number", field_u64(t->losses.at[i].number), NULL);
    }
    fact(w, NULL, field_text(file->error), "  error: *\n");
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

/* Of each kind how much there is, then each site that has values, in the order of the file: its
 * function, kind and number among those of the kind, and what was met there, the most frequent
 * first.
 *
 *     values: 1 call through pointers with 4 functions
 *       step, call 0: 88 x two, 87 x v.c;one, 86 x three, 84 x another */
static void sites_facts(struct facts *w, const struct llvm_profile *p, const struct llvm_totals *t)
{
    enum { MOST_SITES = 20, MOST_SHOWN = 5 };
    /* Names of functions by what values refer to them with: the first of several of one name, as of
     * static functions under another control flow. Empty where there are no sites. */
    struct map names = {0};
    for (size_t i = 0; i < p->functions.len && p->sites.len; i++)
        map_at(&names, p->functions.at[i].name_ref, 0, p->functions.at[i].name, NULL);
    for (int kind = 0; kind < VALUE_KINDS && w->out; kind++) {
        if (!t->sites[kind])
            continue;
        out_printf(w->out, "  values: %" PRIu64 " ", t->sites[kind]);
        out_printf(w->out, VALUE_WORDS[kind].sites, text_plural(t->sites[kind]));
        out_printf(w->out, " with %" PRIu64 " %s%s\n", t->values[kind], VALUE_WORDS[kind].values,
                   text_plural(t->values[kind]));
    }
    size_t sites = facts_rows(w, "values");
    for (struct site_walk s = {0}; next_site(p, &s);) {
        if (!s.site->len)
            continue; /* nothing was met there */
        facts_row(w, &sites);
        if (w->out && sites > MOST_SITES)
            continue;
        const char *function = llvm_name_of(p, &s.function->name);
        bool is_size = s.kind == VALUES_SIZES;
        fact(w, NULL, field_text(function ? function : "?"), "    *");
        fact(w, "function", field_text(function), NULL);
        fact(w, "kind", field_text(VALUE_WORDS[s.kind].json), is_size ? ", size" : ", call");
        fact(w, "site", field_u64(s.number), " *:");
        size_t values = facts_rows(w, "values");
        for (uint32_t v = 0; v < s.site->len && (w->json || v < MOST_SHOWN); v++) {
            const struct llvm_value *value = &p->values.at[s.site->first + v];
            const char *name = is_size ? NULL : llvm_name_of(p, map_find(&names, value->value, 0));
            facts_row(w, &values);
            fact(w, NULL, field_u64(value->count), v ? ", * x " : " * x ");
            if (is_size)
                fact(w, "size", field_u64(value->value), "*");
            else
                fact(w, "name", field_text(name), "*");
            fact(w, "count", field_u64(value->count), is_size || name ? NULL : "another");
        }
        facts_rows_end(w, 0, values);
        fact_text(w, s.site->len > MOST_SHOWN ? ", ...\n" : "\n");
    }
    if (w->json)
        facts_rows_end(w, 0, sites);
    else if (sites > MOST_SITES) {
        out_str(w->out, "    ");
        text_more(w->out, sites - MOST_SITES, "site", "--json");
    }
    map_deinit(&names);
}

/* What the compiler and the program have said of themselves: version, byte order, variants, build
 * ids. */
static void llvm_head_text(struct out *out, const struct llvm_info *file)
{
    const struct llvm_profile *p = file->sum;
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
}

/* One fact a line of text, those alone that there are; names of functions are those of sites:
 *
 *     p.profraw: raw profile of LLVM, 352 bytes
 *       version 10, little-endian, pointers of 8 bytes
 *       build-id 5b4c...
 *       functions: 12, 9 of them ran
 *       counters: 40, 31 of them above 0; sum 512, largest 100 */
void llvm_facts(struct facts *w, const struct llvm_info *file)
{
    static const char *const NAMES[] = {"profraw", "profdata", "proftext"};
    const struct llvm_profile *p = file->sum;
    struct llvm_totals t = llvm_totals_of(p);
    fact(w, "name", field_text(file->name), "*: ");
    fact(w, NULL, field_text(CONTAINERS[p->container]), "*, ");
    fact(w, "size_bytes", field_u64(file->size_bytes), "* bytes\n");
    fact(w, "format", field_text(NAMES[p->container]), NULL);
    fact(w, "error", field_text(file->error), NULL);
    fact(w, "version", field_u64(p->version), NULL);
    fact(w, "profiles", field_u64(file->profiles), NULL);
    if (w->out)
        llvm_head_text(w->out, file);
    else
        JSON_ITEMS(w->json, "variants", i, sizeof VARIANTS / sizeof *VARIANTS)
            if (p->variants & VARIANTS[i].bit)
                json_str(w->json, VARIANTS[i].name);
    facts_begin(w, "functions");
    fact(w, "all", field_u64(p->functions.len), "  functions: *, ");
    fact(w, "ran", field_u64(t.functions_run), "* of them ran\n");
    facts_end(w);
    facts_begin(w, "counters");
    fact(w, "all", field_u64(p->counts.len), "  counters: *, ");
    fact(w, "ran", field_u64(t.counters_above), "* of them above 0; ");
    facts_end(w);
    fact(w, "sum", field_u64(t.sum), "sum *, ");
    fact(w, "largest", field_u64(t.largest), "largest *\n");
    fact_nonzero(w, "bitmap_bytes", p->bits.len, "  MC/DC: * bytes\n");
    fact(w, "functions_with_values", field_u64(t.functions_with_values), NULL);
    sites_facts(w, p, &t);
    fact(w, NULL, field_text(file->error), "  error: *\n");
}
