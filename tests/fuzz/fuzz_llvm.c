/* Fuzzes what clang and rustc leave: profiles, or, with FUZZ_MAPPING, coverage mappings with a
 * profile behind them (tests/corpus/make_llvm_seeds.py says how).
 *
 * Laws: every function owns a slice of the profile's counts; a profile added to itself doubles each
 * count and keeps the bits; the sum is the same by layout and by name, function by function, also
 * where functions share names; what is written of it, in each container, is read back with the same
 * counts, or refused with a reason. Of a mapping: no more is hit than there is; no count is below
 * 0, which would be one above 2^63; added twice, every line has twice its count; of what two halves
 * of the functions have, the union has no less and not more than both; what cannot be used has a
 * reason. How counts of regions follow from each other is the mapping's own business: expressions
 * of hostile ones say anything, and those of compilers are held against programs that count for
 * themselves (tests/cli/test_llvm_truth.py). */
#include "coverage/analysis/coverage_result.h"
#include "coverage/analysis/llvm_coverage.h"
#include "coverage/format/llvm.h"
#include "law.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_profile(const struct llvm_profile *p)
{
    for (size_t i = 0; i < p->functions.len; i++) {
        const struct llvm_function *f = &p->functions.at[i];
        expect(f->first_count + f->counts <= p->counts.len, "counts are in the profile");
        expect(f->first_bit + f->bits <= p->bits.len, "bits are in the profile");
        expect(f->name == LLVM_NO_NAME || f->name < p->names.texts.len, "names are there");
    }
}

/* Whether each function of `a` is in `b` with the same counters and bits. */
static bool is_part_of(const struct llvm_profile *a, struct llvm_profile *b)
{
    for (size_t i = 0; i < a->functions.len; i++) {
        const struct llvm_function *f = &a->functions.at[i];
        bool has_name;
        const struct llvm_function *g = llvm_profile_find(b, f->name_ref, f->hash, &has_name);
        if (!g || f->counts != g->counts || f->bits != g->bits ||
            (f->counts && memcmp(a->counts.at + f->first_count, b->counts.at + g->first_count,
                                 f->counts * sizeof *a->counts.at)) ||
            (f->bits && memcmp(a->bits.at + f->first_bit, b->bits.at + g->first_bit, f->bits)))
            return false;
    }
    return true;
}

/* By layout: the list is the same. By name: the sum has one more function in front, which no
 * profile has. */
static void check_sums(const struct llvm_profile *p)
{
    struct llvm_profile once = {0}, twice = {0};
    struct llvm_function other = {.name_ref = 0x12345, .name = LLVM_NO_NAME};
    llvm_profile_add(&once, p);
    llvm_profile_add(&once, p);
    for (size_t i = 0; i < p->functions.len; i++) {
        const struct llvm_function *f = &p->functions.at[i], *g = &once.functions.at[i];
        for (uint32_t k = 0; k < f->counts; k++) {
            uint64_t count = p->counts.at[f->first_count + k];
            expect(once.counts.at[g->first_count + k] == add_saturating(count, count),
                   "a profile added to itself is its double");
        }
    }
    uint64_t misfits = llvm_profile_join(&once);
    for (bool has_name; llvm_profile_find(&once, other.name_ref, other.hash, &has_name);)
        other.hash++;
    vec_push(&twice.functions, other);
    vec_reserve(&twice.counts, 1);
    vec_reserve(&twice.bits, 1);
    llvm_profile_add(&twice, p);
    llvm_profile_add(&twice, p);
    expect(llvm_profile_join(&twice) == misfits, "the same functions are misfits");
    expect(twice.functions.len == once.functions.len + 1 && is_part_of(&once, &twice),
           "sums by layout and by name are the same");
    llvm_profile_deinit(&once);
    llvm_profile_deinit(&twice);
}

static bool read_profiles(struct bytes in, bool wants_names, struct llvm_profile *sum)
{
    struct llvm_reader r = llvm_reader_over(in, "fuzz");
    struct llvm_profile p = {0};
    struct err e = {0};
    bool is_end = false;
    r.wants_names = wants_names;
    while (llvm_profile_next(&r, &p, &is_end, &e) && !is_end) {
        check_profile(&p);
        check_sums(&p);
        llvm_profile_add(sum, &p);
    }
    expect(is_end || *e.line, "what is refused is refused with a reason");
    llvm_profile_deinit(&p);
    llvm_profile_join(sum);
    return is_end;
}

#ifndef FUZZ_MAPPING

/* Of what functions own: counters of those that were put together stay in the array as they were,
 * so that its sum says nothing. */
static uint64_t total(const struct llvm_profile *p)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < p->functions.len; i++)
        for (uint32_t k = 0; k < p->functions.at[i].counts; k++)
            sum += p->counts.at[p->functions.at[i].first_count + k];
    return sum;
}

/* Raw files of single bytes hold no sums, so they are not asked. */
static void check_writing(const struct llvm_profile *p)
{
    for (int i = 0; i < 3; i++) {
        bool is_old = p->has_old_bits;
        struct llvm_target to = {.container = (enum llvm_container)i,
                                 .version = i == LLVM_RAW ? is_old ? 9 : 10
                                            : is_old      ? 11
                                                          : 13,
                                 .word = p->counts.len % 2 ? 4 : 8,
                                 .is_big_endian = p->functions.len % 2};
        struct writer w = {0};
        struct err e = {0};
        struct llvm_profile back = {0};
        uint64_t counts = 0, bits = 0, sum = 0;
        for (size_t k = 0; k < p->functions.len; k++) {
            const struct llvm_function *f = &p->functions.at[k];
            counts += f->counts;
            bits += f->counts ? f->bits : 0;
            for (uint32_t n = 0; n < f->counts; n++)
                sum += p->counts.at[f->first_count + n];
        }
        if (!llvm_profile_write(&w, p, &to, &e)) {
            expect(*e.line, "what cannot be written has a reason");
        } else if (counts && !(i == LLVM_RAW && p->variants & LLVM_SINGLE_BYTE)) {
            struct llvm_reader r = llvm_reader_over((struct bytes){w.out.at, w.out.len}, "written");
            bool is_end;
            r.wants_names = true;
            expect(llvm_profile_next(&r, &back, &is_end, &e) && !is_end, "it is read back");
            expect(back.counts.len == counts && back.bits.len == bits, "it has as many counters");
            expect(total(&back) == sum, "it has their sum");
        }
        llvm_profile_deinit(&back);
        writer_deinit(&w);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct bytes in = {data, size};
    struct llvm_profile sum = {0}, named = {0};
    (void)llvm_profile_probe(in);
    /* Damaged names end the reading of those who want them. */
    bool is_whole = read_profiles(in, false, &sum);
    is_whole &= read_profiles(in, true, &named);
    if (is_whole && named.functions.len == sum.functions.len)
        expect(total(&sum) == total(&named), "names do not change counts");
    if (is_whole)
        check_writing(&named);
    llvm_profile_deinit(&sum);
    llvm_profile_deinit(&named);
    return 0;
}

#else

static void check_counts(const struct llvm_coverage *c)
{
    for (size_t i = 0; i < c->regions.len; i++)
        expect(c->regions.at[i].count <= INT64_MAX, "counts of regions are not below 0");
    for (size_t i = 0; i < c->codes.len; i++)
        expect(c->codes.at[i].count <= INT64_MAX, "counts of code are not below 0");
    for (size_t i = 0; i < c->branches.len; i++)
        expect(c->branches.at[i].if_true <= INT64_MAX && c->branches.at[i].if_false <= INT64_MAX,
               "counts of branches are not below 0");
}

/* Adds functions from `first` to `len`; of those without counters nothing ran. */
static void add_functions(const struct llvm_mapping *m, size_t first, size_t len,
                          struct llvm_profile *p, struct coverage_table *t)
{
    struct llvm_coverage c = {.room = 1 << 16};
    struct llvm_regions r = {0};
    VEC(uint32_t) sources = {0};
    for (size_t i = 0; i < m->filenames.len; i++)
        vec_push(&sources, coverage_table_source(t, m->filenames.at[i]));
    for (size_t i = first; i < len; i++) {
        const struct llvm_mapped *f = &m->functions.at[i];
        const char *why = NULL, *name = llvm_mapping_name(m, f->name_ref);
        struct llvm_counters n = {0};
        bool has_name;
        const struct llvm_function *found = llvm_profile_find(p, f->name_ref, f->hash, &has_name);
        n.is_unknown = has_name && !found;
        if (found) {
            n.counts = p->counts.at + found->first_count;
            n.counts_len = found->counts;
            n.bits = p->bits.at + found->first_bit;
            n.bits_len = found->bits;
        }
        if (!llvm_regions_read(m, i, &r, &why) ||
            !llvm_coverage_add(&c, &r, name ? name : "?", &n, sources.at, t, &why))
            expect(why != NULL, "what is left out is left out for a reason");
    }
    check_counts(&c);
    llvm_coverage_finish(&c, t);
    llvm_coverage_deinit(&c);
    llvm_regions_deinit(&r);
    vec_free(&sources);
}

/* Lines are in the order in which they came, which adding once more does not change. */
static uint64_t lines_sum(const struct coverage_table *t)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < t->lines.len; i++)
        sum += t->lines.at[i].count;
    return sum;
}

static struct coverage_ratios ratios_of(const struct coverage_table *t)
{
    struct arena a = {0};
    struct source_search search = {.arena = &a};
    struct result_rules rules = {.keeps_all_branches = true, .threads = 1, .search = &search};
    struct coverage_result result = {0};
    coverage_result_build(t, 1, &rules, &result);
    struct coverage_ratios sums = result.sums;
    const struct coverage_ratio *all[] = {&sums.lines, &sums.functions, &sums.branches,
                                          &sums.conditions, &sums.regions};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        expect(all[i]->hit + all[i]->unknown <= all[i]->all, "no more is hit than there is");
    coverage_result_deinit(&result);
    source_search_deinit(&search);
    arena_deinit(&a);
    return sums;
}

static size_t regions_hit(const struct coverage_table *t)
{
    size_t hit = 0;
    for (size_t i = 0; i < t->regions.len; i++)
        hit += t->regions.at[i].count > 0;
    return hit;
}

/* Regions are united by their places, so a part has nothing that the whole lacks. */
static void check_union(const struct llvm_mapping *m, struct llvm_profile *p,
                        const struct coverage_table *whole)
{
    struct coverage_table parts[2] = {{.test = 0}};
    size_t half = m->functions.len / 2, all = 0, hit = 0;
    for (int i = 0; i < 2; i++) {
        add_functions(m, i ? half : 0, i ? m->functions.len : half, p, &parts[i]);
        all += parts[i].regions.len;
        hit += regions_hit(&parts[i]);
        expect(parts[i].regions.len <= whole->regions.len, "a union has the regions of each part");
        expect(regions_hit(&parts[i]) <= regions_hit(whole), "a union covers what each part does");
        coverage_table_deinit(&parts[i]);
    }
    expect(whole->regions.len <= all && regions_hit(whole) <= hit, "a union has no more than all");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct cursor in = cursor_over((struct bytes){data, size}, "fuzz");
    uint32_t units = cursor_u32(&in), functions = cursor_u32(&in), names = cursor_u32(&in);
    struct bytes section = {cursor_take(&in, units), units}, code, text;
    code = (struct bytes){cursor_take(&in, functions), functions};
    text = (struct bytes){cursor_take(&in, names), names};
    if (in.failed)
        return 0;
    struct llvm_profile profile = {0};
    read_profiles((struct bytes){in.at, cursor_left(&in)}, false, &profile);
    for (int order = 0; order < 2; order++) {
        struct llvm_sections s = {section, &code, 1, text, 8, order == 1};
        struct llvm_mapping m = {0};
        struct coverage_table t = {0};
        struct err e = {0};
        if (!llvm_mapping_read(&s, "fuzz", &m, &e))
            expect(*e.line, "what is refused is refused with a reason");
        add_functions(&m, 0, m.functions.len, &profile, &t);
        check_union(&m, &profile, &t);
        struct coverage_ratios once = ratios_of(&t);
        uint64_t sum = lines_sum(&t);
        bool is_small = true;
        for (size_t i = 0; i < t.lines.len; i++)
            is_small &= t.lines.at[i].count < UINT64_MAX / 2;
        add_functions(&m, 0, m.functions.len, &profile, &t);
        struct coverage_ratios twice = ratios_of(&t);
        expect(once.lines.all == twice.lines.all && once.lines.hit == twice.lines.hit &&
                   once.regions.all == twice.regions.all && once.regions.hit == twice.regions.hit,
               "what ran ran when everything is added twice");
        expect(!is_small || lines_sum(&t) == 2 * sum, "added twice, lines have twice their counts");
        coverage_table_deinit(&t);
        llvm_mapping_deinit(&m);
    }
    llvm_profile_deinit(&profile);
    return 0;
}

#endif
