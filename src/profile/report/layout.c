/* An order of functions: what it is expected to bring, as text and JSON
 * (docs/schema/optimize_order.schema.json), and the files that linkers read.
 *
 * What it brings is counted in pages before and after: how many of 4 KiB hold 50, 90 or 99 % of
 * what ran, how many of 2 MiB all of it, and where calls are known, how many leave their page and
 * how often a table of translations of usual size would miss. The file for the linker has the same
 * table as a comment.
 *
 *                                             before       after
 *     pages of 4 KiB with 50 % of what ran        12           3
 *     ...
 *     pages of 2 MiB with all of it                4           1
 *     calls that leave their page of 4 KiB, %   81.0        22.5
 *
 * Five formats for linkers, and one of bare names for whatever else orders functions:
 *
 *     lld     parse                                  symbols
 *     gold    .text.parse                            sections, one a line
 *     ld      SECTIONS { .text.ordered : { *( .text.parse ... ) } } INSERT AFTER .text;
 *     calls   main parse 3                           for lld, which then makes the order itself
 *     mold    SECTIONS { .text 0 : { ... *(.text .text.*) } }      for `ld -r`
 *
 * Sources: the manuals of ld (INSERT, wildcards of sections) and gold; lld's
 * --symbol-ordering-file. */
#include "profile/report/writers.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Columns of the table above, in text and in the comment of a file alike. */
enum { LABEL = 40, COLUMN = 12 };

static double kib(double bytes)
{
    return bytes / 1024;
}

/* `prefix` begins each line: empty in text, `# ` in files that have such comments. */
static void row(struct out *out, const char *prefix, const char *label, double before, double after,
                int decimals, const char *unit)
{
    out_printf(out, "%s%-*s%*.*f%s%*.*f%s\n", prefix, LABEL, label, COLUMN, decimals, before, unit,
               COLUMN, decimals, after, unit);
}

/* How many pages hold how much, of what is `of`. */
static void layout_page_rows(struct out *out, const struct locality *before,
                             const struct locality *after, const char *of, const char *prefix)
{
    for (int i = 0; i < 4; i++) {
        char label[LABEL + 1];
        snprintf(label, sizeof label, "pages of 4 KiB with %u %% of %s", locality_shares[i], of);
        row(out, prefix, label, (double)before->pages[i], (double)after->pages[i], 0, "");
    }
    row(out, prefix, "page faults, of 64 KiB each", (double)before->faults, (double)after->faults,
        0, "");
    row(out, prefix, "pages of 2 MiB with all of it", (double)before->large_pages,
        (double)after->large_pages, 0, "");
}

/* The same of other dimensions, which the order was not made by. */
static void layout_other_rows(struct out *out, const struct layout_gain *gain, const char *prefix)
{
    for (size_t i = 0; i < gain->others_len; i++) {
        const struct layout_other *other = &gain->others[i];
        out_printf(out, "%s\n%s", prefix, prefix);
        /* In a linker script these are lines of a comment, which nothing may end. */
        if (!strchr(other->name, '*'))
            text_name(out, other->name);
        else
            out_printf(out, "dimension %zu", i + 2);
        out_printf(out, ": %.2f %% in these functions\n", 100 * other->share);
        layout_page_rows(out, &other->before, &other->after, "it", prefix);
    }
}

/* Rows about calls exist only where calls are known. Misses are those of two tables of
 * translations: 64 entries for small pages, 8 for large ones. */
static void layout_gain_rows(struct out *out, const struct layout *t,
                             const struct layout_gain *gain, const char *prefix)
{
    const struct locality *before = &gain->before, *after = &gain->after;
    out_printf(out, "%s%-*s%*s%*s\n", prefix, LABEL, "", COLUMN, "before", COLUMN, "after");
    layout_page_rows(out, before, after, "what ran", prefix);
    if (!t->calls_len) {
        layout_other_rows(out, gain, prefix);
        return;
    }
    row(out, prefix, "calls that leave their page of 4 KiB, %", 100 * before->leaving,
        100 * after->leaving, 1, "");
    row(out, prefix, "KiB from caller to callee, mean", kib(before->distance_bytes),
        kib(after->distance_bytes), 1, "");
    row(out, prefix, "iTLB misses per 1000 calls, 64 x 4 KiB", 1000 * before->misses,
        1000 * after->misses, 1, "");
    row(out, prefix, "iTLB misses per 1000 calls, 8 x 2 MiB", 1000 * before->large_misses,
        1000 * after->large_misses, 1, "");
    layout_other_rows(out, gain, prefix);
}

/* Fewer pages look like a faster start; whether it is one depends on the faults, of which there are
 * few in a small program whatever the order. */
static void layout_start_up(struct out *out, const struct layout_gain *gain)
{
    enum { HARDLY = 2 };
    uint64_t before = gain->before.faults, after = gain->after.faults;
    if (before > after + HARDLY)
        return;
    out_printf(
        out,
        "\nStart-up hardly gains by this order: a page fault maps 64 KiB, and all of this code "
        "takes\n%" PRIu64 " now and %" PRIu64
        " in order. Most faults at a start are the loader's and for data.\n",
        before, after);
}

/* What could be ordered, what could not, and why, then the table. Functions that share a name
 * (static functions of several files) are one to a linker and move together. */
void layout_text(struct out *out, const struct report_input *in)
{
    const struct layout *t = in->layout;
    const struct layout_gain *gain = in->gain;
    const struct summary *s = in->summary;
    const char *path = in->layout_path;
    text_summary(out, s);
    text_notes(out, s);
    out_printf(out,
               "%" PRIu32 " function%s in %" PRIu32
               " cluster%s of up to %.0f KiB, %.1f of %.1f KiB of code: ",
               t->len, text_plural(t->len), t->clusters, text_plural(t->clusters),
               kib((double)t->cluster_bytes), kib((double)t->size), kib((double)t->code_size));
    text_name(out, path);
    out_char(out, '\n');
    if (t->calls_are_samples)
        out_str(out, "No calls were counted; calls on sampled stacks are used instead.\n");
    else if (!t->calls_len)
        out_str(out, "No calls among these functions: they are ordered by samples alone.\n");
    if (t->shared)
        out_printf(out, "%" PRIu32 " of them share their name with another and move with it.\n",
                   t->shared);
    if (t->fixed)
        out_printf(out, "%" PRIu32 " more with %.2f %% of the time cannot be moved by name.\n",
                   t->fixed, 100 * t->fixed_heat / (t->heat + t->fixed_heat));
    out_char(out, '\n');
    layout_gain_rows(out, t, gain, "");
    layout_start_up(out, gain);
}

/* --- JSON ------------------------------------------------------------------------------------ */

/* The figures of the table above, for one of the two orders. */
static void json_locality(struct json *j, const char *key, const struct layout *t,
                          const struct locality *l)
{
    json_key(j, key), json_begin(j, '{');
    for (int i = 0; i < 4; i++) {
        char name[16];
        snprintf(name, sizeof name, "pages_%u", locality_shares[i]);
        json_pair_u64(j, name, l->pages[i]);
    }
    json_pair_u64(j, "large_pages", l->large_pages);
    json_pair_u64(j, "faults", l->faults);
    if (t->calls_len) {
        json_pair_double(j, "leaving_share", l->leaving);
        json_pair_double(j, "distance_bytes", l->distance_bytes);
        json_pair_double(j, "itlb_misses_per_call", l->misses);
        json_pair_double(j, "large_itlb_misses_per_call", l->large_misses);
    }
    json_end(j);
}

/* A function, where it goes, and the names that move with it. `expected_address` is where the
 * function would be if nothing else of the program moved; `names` of a place has at least one, the
 * aliases are the others. */
static void json_place(struct json *j, const struct layout *t, const struct layout_place *p,
                       struct names *names)
{
    json_pair_function(j, names, p->function);
    json_pair_u64(j, "size_bytes", p->size);
    json_pair_double(j, "heat", p->heat);
    json_pair_u64(j, "cluster", p->cluster);
    json_pair_bool(j, "is_named", p->is_named);
    json_pair_address(j, "expected_address",
                      function_link_address(t->functions, p->function) + p->after -
                          t->functions->at[p->function].start);
    JSON_ITEMS(j, "aliases", i, p->names_len - 1) /* the first is the name */
        json_str(j, p->names[i + 1]);
}

/* `heat_is` says what places are judged by: samples, or calls where there are no samples. */
void layout_json(struct out *out, const struct report_input *in)
{
    const struct layout *t = in->layout;
    const struct layout_gain *gain = in->gain;
    const struct summary *s = in->summary;
    struct names *names = in->names;
    const struct layout pages = {.calls_len = 0}; /* calls are the same, whatever was sampled */
    struct json j = {.out = out};
    json_report_begin(&j, "optimize_order", s);
    json_pair_str(&j, "heat_is", t->has_samples ? "samples" : "calls");
    json_pair_str(&j, "calls_are",
                  t->calls_are_samples ? "stack_samples"
                  : t->calls_len       ? "counted"
                                       : "none");
    json_pair_u64(&j, "clusters", t->clusters);
    json_pair_u64(&j, "cluster_limit_bytes", t->cluster_bytes);
    json_pair_u64(&j, "ordered_bytes", t->size);
    json_pair_u64(&j, "code_bytes", t->code_size);
    json_pair_u64(&j, "fixed_functions", t->fixed);
    json_pair_double(&j, "fixed_heat", t->fixed_heat);
    json_locality(&j, "before", t, &gain->before);
    json_locality(&j, "after", t, &gain->after);
    if (gain->others_len)
        JSON_ROWS(&j, "events", i, gain->others_len) {
            json_pair_str(&j, "name", gain->others[i].name);
            json_pair_double(&j, "ordered_share", gain->others[i].share);
            json_locality(&j, "before", &pages, &gain->others[i].before);
            json_locality(&j, "after", &pages, &gain->others[i].after);
        }
    JSON_ROWS(&j, "functions", i, t->len)
        json_place(&j, t, &t->places[i], names);
    json_end(&j);
}

/* Order files for linkers.
 *
 * lld orders by symbol. gold and GNU ld order by section: compilers name the section of a function
 * after it (-ffunction-sections), with a word between when they know it to be hot, rarely run, or
 * run at start or end; what is split off of a function as NAME.cold is in the rarely run section of
 * NAME, which then has nothing else. A pattern that no section matches does no harm. */

const char *const layout_format_names[] = {
    [LAYOUT_LLD] = "lld",   [LAYOUT_GOLD] = "gold",   [LAYOUT_LD] = "ld",
    [LAYOUT_MOLD] = "mold", [LAYOUT_CALLS] = "calls", [LAYOUT_NAMES] = "names"};

enum { RARELY_RUN }; /* place in the following */
static const char *const section_prefixes[] = {".text.unlikely.", ".text.", ".text.hot.",
                                               ".text.startup.", ".text.exit."};
static const char *const cold_prefixes[] = {".text.unlikely.", ".text.split."};

/* Linker scripts have C comments and quoted names; the other formats are lists of lines. */
static bool is_script(enum layout_format format)
{
    return format == LAYOUT_LD || format == LAYOUT_MOLD;
}

/* Without a symbol version (`f@@V2`), which objects do not have. A name may begin with `@`, which
 * is then no separator. */
static size_t length_of(const char *name)
{
    const char *version = name[0] ? strchr(name + 1, '@') : NULL;
    return version ? (size_t)(version - name) : strlen(name);
}

/* In a script a name with other characters than `plain` is quoted: an operator or a space would end
 * it, a `*` or `?` would match others. */
static void section(struct out *out, const char *prefix, const char *name, size_t len,
                    enum layout_format format)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.$";
    bool is_quoted = is_script(format) && strspn(name, plain) < len;
    out_str(out, format == LAYOUT_GOLD ? "" : is_quoted ? " \"" : " ");
    out_str(out, prefix);
    out_bytes(out, name, len);
    out_str(out, format == LAYOUT_GOLD ? "\n" : is_quoted ? "\"" : "");
}

/* All sections that a compiler may have put the function into; what is split off as NAME.cold is in
 * the rarely run one. Which one the compiler chose is not known, so that all are named. A function
 * whose cold part was split off has its rarely run section filled by that part, and is itself not
 * there. */
static void sections(struct out *out, const char *name, bool has_cold_part,
                     enum layout_format format)
{
    size_t len = length_of(name);
    for (size_t i = has_cold_part ? RARELY_RUN + 1 : 0;
         i < sizeof section_prefixes / sizeof *section_prefixes; i++)
        section(out, section_prefixes[i], name, len, format);
    if (len <= 5 || strncmp(name + len - 5, ".cold", 5))
        return;
    for (size_t i = 0; i < sizeof cold_prefixes / sizeof *cold_prefixes; i++)
        section(out, cold_prefixes[i], name, len - 5, format);
}

/* Symbols have one line for the place: lld moves aliases with the section they are in. Sections are
 * named by every alias, as any of them may have given the section its name. */
static void place(struct out *out, const struct layout_place *p, enum layout_format format)
{
    if (format == LAYOUT_LLD || format == LAYOUT_NAMES) {
        out_bytes(out, p->names[0], length_of(p->names[0]));
        out_char(out, '\n');
        return;
    }
    out_str(out, is_script(format) ? "    *(" : "");
    for (uint32_t i = 0; i < p->names_len; i++)
        sections(out, p->names[i], p->has_cold_part, format);
    out_str(out, is_script(format) ? " )\n" : "");
}

/* lld wants whole numbers; what was called at all counts once. */
static void layout_call(struct out *out, const struct layout *t, const struct layout_call *c)
{
    const char *caller = t->places[c->caller].names[0], *callee = t->places[c->callee].names[0];
    uint64_t count = c->count < 1 ? 1 : (uint64_t)(c->count + 0.5);
    out_bytes(out, caller, length_of(caller));
    out_char(out, ' ');
    out_bytes(out, callee, length_of(callee));
    out_printf(out, " %" PRIu64 "\n", count);
}

/* A comment that says how to use the file, and what it is expected to bring. LAYOUT_NAMES has none:
 * it is names and nothing else. */
static void head(struct out *out, const struct layout *t, const struct layout_gain *gain,
                 enum layout_format format)
{
    static const char *const use[LAYOUT_FORMATS] = {
        [LAYOUT_LLD] = "-fuse-ld=lld -Wl,--symbol-ordering-file=FILE",
        [LAYOUT_GOLD] = "-fuse-ld=gold -Wl,--section-ordering-file=FILE",
        [LAYOUT_LD] = "-Wl,-T,FILE",
        [LAYOUT_CALLS] = "-fuse-ld=lld -Wl,--call-graph-ordering-file=FILE",
        [LAYOUT_MOLD] =
            "ld -r --force-group-allocation -T FILE -o all.o OBJECT..., then mold all.o",
    };
    const char *prefix = is_script(format) ? "" : "# ";
    out_printf(out, "%sOrder of functions, made by monarc optimize. Compile with\n",
               is_script(format) ? "/* " : prefix);
    out_printf(out, "%s-ffunction-sections; link: %s\n", prefix, use[format]);
    layout_gain_rows(out, t, gain, prefix);
    out_str(out, is_script(format) ? "*/\n" : "");
}

/* The script for ld is a fragment that adds a section to the default script; the one for `ld -r`
 * stands for all of it, and so ends by taking whatever code is left. */
void layout_file(struct out *out, const struct layout *t, const struct layout_gain *gain,
                 enum layout_format format)
{
    if (format != LAYOUT_NAMES)
        head(out, t, gain, format);
    if (is_script(format))
        out_printf(out, "SECTIONS\n{\n  %s :\n  {\n",
                   format == LAYOUT_LD ? ".text.ordered" : ".text 0");
    for (uint32_t i = 0; format == LAYOUT_CALLS && i < t->calls_len; i++)
        layout_call(out, t, &t->calls[i]);
    for (uint32_t i = 0; format != LAYOUT_CALLS && i < t->len; i++)
        if (t->places[i].is_named)
            place(out, &t->places[i], format);
    if (format == LAYOUT_LD)
        out_str(out, "  }\n}\nINSERT AFTER .text;\n");
    if (format == LAYOUT_MOLD)
        out_str(out, "    *(.text .text.*)\n  }\n}\n");
}
