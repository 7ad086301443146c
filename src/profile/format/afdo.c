/* gcc's AutoFDO profile, which `gcc -fauto-profile=FILE` reads and create_gcov writes.
 *
 * Words have 32 bits, in the machine's order, which is little-endian here; counts are two words,
 * the lower first.
 *
 *     magic "adcg" │ version │ 0
 *     [3]  0xa8000000 │ summary                           totals, as -fprofile-use has them
 *     0xaa000000 │ words │ [3] files │ names              [3] of each: the number of its file
 *     0xac000000 │ words │ functions                      head, [3] time of the first call,
 * instance 0xae000000 0 0 │ 0xaf000000 384 │ 128 × 12 bytes    no gcc looks at these
 *
 *     instance   name │ positions │ inlined │ each position │ each inlined: place, instance
 *     position   line << 16 | discriminator │ targets │ count │ each: kind 7, name, count
 *
 * What differs between versions is a name (1: padded to words; 2, 3: as long as it is), and what
 * stands in brackets above. gcc refuses a version that is not its own, so that a writer must know
 * which gcc will read. Name 0 is empty and stands for none. No recursion, in memory linear in the
 * file. Sources: gcc/auto-profile.cc, and gcov.cc and profile_writer.cc of google/autofdo. */
#include "profile/format/source_formats.h"

#include <inttypes.h>
#include <string.h>

/* No compiler inlines 1000 deep: the bound keeps the stack of a damaged file's instances small. */
enum { AFDO_MAGIC = 0x67636461, AFDO_VERSIONS = 3, MOST_DEPTH = 1000 };
/* "407*" from the high byte down: gcc 4.7, in the letters that files of counters have. */
enum { CREATE_GCOV_DEFAULT = 0x3430372a };
enum afdo_tag {
    TAG_SUMMARY = 0xa8u << 24,
    TAG_NAMES = 0xaau << 24,
    TAG_FUNCTIONS = 0xacu << 24,
    TAG_MODULES = 0xaeu << 24,
    TAG_WORKING_SET = 0xafu << 24
};
/* Kind 7 is a call by pointer; gcc passes over the word, since there is no other. The working set
 * is one of gcc's old tables: 128 rows of three words. */
enum { TARGET_KIND = 7, WORKING_SET_WORDS = 3 * 128 };
enum { NO_FILE_NUMBER = 0xffffffff };

/* The first release that reads each version, newest first. 0 is for gcc before 5, which has no
 * -fauto-profile. */
uint32_t afdo_version_of_gcc(uint32_t release)
{
    static const struct {
        uint32_t from, version;
    } ROWS[] = {{16, 3}, {12, 2}, {5, 1}};
    for (size_t i = 0; i < sizeof ROWS / sizeof *ROWS; i++)
        if (release >= ROWS[i].from)
            return ROWS[i].version;
    return 0;
}

uint32_t afdo_version(struct bytes in)
{
    struct cursor c = cursor_over(in, "");
    uint32_t magic = cursor_u32(&c), version = cursor_u32(&c);
    return !c.failed && magic == AFDO_MAGIC && version <= 0xff ? version : 0;
}

/* gcc's: versions 1 (gcc 5 to 11), 2 (12 to 15) and 3 (16). What a version has no room for is
 * refused, or, of lines and discriminators beyond 65535, left out and counted in *left_out.
 * Counters (gcda) have the same magic, and a version in letters after it. create_gcov writes such a
 * one, that of gcc 4.7, unless an option names the gcc that is to read the file: then the names'
 * tag decides. */
static bool afdo_probe(struct bytes in)
{
    struct cursor c = cursor_over(in, "");
    uint32_t magic = cursor_u32(&c), version = cursor_u32(&c);
    cursor_u32(&c);
    uint32_t tag = cursor_u32(&c);
    return !c.failed && magic == AFDO_MAGIC &&
           (version <= 0xff || (version == CREATE_GCOV_DEFAULT && tag == TAG_NAMES));
}

/* ---- reading */

/* Texts point into the input; the profile takes copies. */
struct afdo_reading {
    struct source_profile *p;
    struct cursor c;
    uint32_t version;
    VEC(struct bytes) files, names;
    VEC(uint32_t) file_of; /* per name, from version 3 on */
};

static uint64_t read_count(struct cursor *c)
{
    uint64_t low = cursor_u32(c);
    return low | (uint64_t)cursor_u32(c) << 32;
}

/* Up to its first NUL, which ends it within its length. */
static struct bytes read_text(struct afdo_reading *r)
{
    uint32_t length = cursor_u32(&r->c);
    /* Version 1 counts words. Four times a claim may be more than 32 bits hold. */
    uint64_t bytes = r->version == 1 ? (uint64_t)length * 4 : length;
    const uint8_t *at = bytes <= cursor_left(&r->c) ? cursor_take(&r->c, (size_t)bytes) : NULL;
    const uint8_t *end = at ? memchr(at, 0, (size_t)bytes) : NULL;
    r->c.failed |= !end;
    return end ? (struct bytes){at, (size_t)(end - at)} : (struct bytes){(const uint8_t *)"", 0};
}

/* Two words of the section's head; gcc reads the length and does not use it, and writers disagree
 * about what it counts. */
static bool read_tag(struct afdo_reading *r, uint32_t tag, bool has_length, struct err *e)
{
    uint32_t found = cursor_u32(&r->c);
    if (has_length)
        cursor_u32(&r->c);
    return (!r->c.failed && found == tag) ||
           err_at(e, &r->c, "expected section %#" PRIx32 " of AutoFDO, not %#" PRIx32, tag, found);
}

static bool read_names(struct afdo_reading *r, struct err *e)
{
    struct cursor *c = &r->c;
    if (!read_tag(r, TAG_NAMES, true, e))
        return false;
    /* No room is made for what the file claims: lists grow by what is there, and end with it. */
    uint32_t files = r->version >= 3 ? cursor_u32(c) : 0;
    for (uint32_t i = 0; i < files && !c->failed; i++)
        vec_push(&r->files, read_text(r));
    uint32_t names = cursor_u32(c);
    for (uint32_t i = 0; i < names && !c->failed; i++) {
        vec_push(&r->names, read_text(r));
        if (r->version >= 3)
            vec_push(&r->file_of, cursor_u32(c));
    }
    return !c->failed || err_at(e, c, "the list of names ends early");
}

static const struct bytes *name_at(struct afdo_reading *r, uint64_t number, struct err *e)
{
    return source_name_at(r->names.at, r->names.len, &r->c, number, e);
}

/* Both in 16 bits. */
static struct source_offset offset_of(uint32_t word)
{
    return (struct source_offset){word >> 16, word & 0xffff};
}

/* Counts of positions that a file has twice are added up, as gcc does. */
static bool read_positions(struct afdo_reading *r, uint32_t instance, uint32_t len, struct err *e)
{
    for (uint32_t i = 0; i < len; i++) {
        struct source_offset at = offset_of(cursor_u32(&r->c));
        uint32_t targets = cursor_u32(&r->c);
        uint64_t count = read_count(&r->c);
        if (r->c.failed)
            return err_at(e, &r->c, "a function ends early");
        uint32_t position = source_profile_position(r->p, instance, at);
        source_profile_add_count(r->p, position, count);
        /* Each target begins with its kind, which says nothing (see TARGET_KIND). */
        for (uint32_t k = 0; k < targets; k++) {
            cursor_u32(&r->c);
            const struct bytes *name = name_at(r, read_count(&r->c), e);
            if (!name)
                return false;
            source_profile_add_target(r->p, position, (const char *)name->at, name->len,
                                      read_count(&r->c));
        }
    }
    return true;
}

/* One function with all that is inlined in it: `left` counts what each open instance still has. */
static bool read_function(struct afdo_reading *r, struct err *e)
{
    struct {
        uint32_t instance, left;
    } open[MOST_DEPTH];
    size_t depth = 0;
    /* Only functions have a head and a time of the first call; what is inlined has a place
     * instead. */
    uint64_t head = read_count(&r->c);
    uint64_t first_ns = r->version >= 3 ? read_count(&r->c) : 0;
    do {
        struct source_offset at = depth ? offset_of(cursor_u32(&r->c)) : (struct source_offset){0};
        uint32_t number = cursor_u32(&r->c);
        uint32_t positions = cursor_u32(&r->c), inlined = cursor_u32(&r->c);
        const struct bytes *name = name_at(r, number, e);
        if (!name)
            return false;
        if (depth == MOST_DEPTH)
            return err_at(e, &r->c, "is nested too deeply");
        uint32_t instance =
            source_profile_instance(r->p, depth ? open[depth - 1].instance : NO_INSTANCE, at,
                                    (const char *)name->at, name->len);
        /* Holds until the next instance is made: the list may move then. */
        struct source_instance *into = &r->p->instances.at[instance];
        /* NO_FILE_NUMBER is beyond any list, so that it needs no test of its own. */
        if (r->version >= 3 && r->file_of.at[number] < r->files.len) {
            const struct bytes *file = &r->files.at[r->file_of.at[number]];
            source_profile_set_file(r->p, into->name, (const char *)file->at, file->len);
        }
        if (depth)
            open[depth - 1].left--;
        else {
            source_profile_add_head(r->p, instance, head);
            /* 0 is not known. Of several calls the earliest is the first. */
            if (first_ns && (!into->first_ns || first_ns < into->first_ns))
                into->first_ns = first_ns;
        }
        if (!read_positions(r, instance, positions, e))
            return false;
        open[depth].instance = instance;
        open[depth++].left = inlined;
        /* Its last child may end an instance, and that one the instance around it, and so on. */
        while (depth && !open[depth - 1].left)
            depth--;
    } while (depth);
    return true;
}

static bool read_file(struct afdo_reading *r, struct err *e)
{
    struct cursor *c = &r->c;
    if (cursor_u32(c) != AFDO_MAGIC || c->failed)
        return err_at(e, c, "is no AutoFDO profile of gcc");
    r->version = cursor_u32(c);
    cursor_u32(c); /* stamp */
    if (c->failed || !r->version || r->version > AFDO_VERSIONS)
        return err_at(e, c,
                      "is version %" PRIu32 " of gcc's AutoFDO profile; 1 to %d are known, of "
                      "gcc 5 to 17%s",
                      r->version, AFDO_VERSIONS,
                      r->version == CREATE_GCOV_DEFAULT
                          ? " (create_gcov writes such a file unless it has --gcov_version=2)"
                          : "");
    if (r->version >= 3) {
        /* Five totals, then a share (4 bytes) with two counts (8 each) for each cutoff. None is
         * kept: all of it follows from the counts, and is computed again when a file is written. */
        enum { CUTOFF_BYTES = 20 };
        if (!read_tag(r, TAG_SUMMARY, false, e))
            return false;
        for (int i = 0; i < 5; i++)
            read_count(c);
        uint64_t cutoffs = read_count(c);
        if (cutoffs > cursor_left(c) / CUTOFF_BYTES)
            return err_at(e, c, "claims %" PRIu64 " shares, %zu bytes remain", cutoffs,
                          cursor_left(c));
        cursor_take(c, (size_t)cutoffs * CUTOFF_BYTES);
    }
    if (!read_names(r, e) || !read_tag(r, TAG_FUNCTIONS, true, e))
        return false;
    uint32_t functions = cursor_u32(c);
    for (uint32_t i = 0; i < functions; i++)
        if (!read_function(r, e))
            return false;
    return !c->failed || err_at(e, c, "the list of functions ends early");
}

bool afdo_read(struct bytes in, const char *name, struct source_profile *p, struct err *e)
{
    struct afdo_reading r = {.p = p, .c = cursor_over(in, name)};
    bool ok = read_file(&r, e);
    vec_free(&r.files);
    vec_free(&r.names);
    vec_free(&r.file_of);
    return ok;
}

/* ---- writing */

struct afdo_writing {
    struct writer *w;
    const struct source_profile *p;
    struct source_order order;
    const uint32_t *index; /* per name: its number in the file */
    uint64_t left_out;
};

/* gcc's counters are signed: beyond, a count would be less than nothing. */
static uint64_t limited(uint64_t count)
{
    return count < INT64_MAX ? count : INT64_MAX;
}

/* limit_counts has limited what the profile holds; what is left are its sums. */
static void write_count(struct writer *w, uint64_t value)
{
    value = limited(value);
    writer_u32(w, (uint32_t)value);
    writer_u32(w, (uint32_t)(value >> 32));
}

static void write_text(struct writer *w, uint32_t version, const char *text, size_t len)
{
    static const char ZEROS[4] = "";
    /* A NUL belongs to the text in each version: len + 1 bytes, in version 1 rounded up to
     * words. */
    size_t words = (len + 4) / 4, bytes = version == 1 ? words * 4 : len + 1;
    writer_u32(w, (uint32_t)(version == 1 ? words : bytes));
    writer_bytes(w, text, len);
    writer_bytes(w, ZEROS, bytes - len);
}

/* A section begins with its tag and its length in words, which is known at its end. */
static size_t section_begin(struct writer *w, uint32_t tag)
{
    writer_u32(w, tag);
    writer_u32(w, 0);
    return w->out.len;
}

static void section_end(struct writer *w, size_t start)
{
    /* Rounded up: names of versions 2 and 3 end anywhere within a word. */
    uint32_t words = (uint32_t)((w->out.len - start + 3) / 4);
    memcpy(w->out.at + start - 4, &words, sizeof words);
}

static int by_text(const void *left, const void *right, void *context)
{
    const struct intern *t = context;
    return strcmp(t->texts.at[*(const uint32_t *)left], t->texts.at[*(const uint32_t *)right]);
}

/* The empty name, then all others in order. Files stand in the order in which they were met. */
static void write_names(struct afdo_writing *s, uint32_t version, uint32_t *index, uint32_t *sorted)
{
    const struct source_profile *p = s->p;
    uint32_t len = (uint32_t)p->names.texts.len;
    size_t start = section_begin(s->w, TAG_NAMES);
    if (version >= 3) {
        writer_u32(s->w, (uint32_t)p->file_names.texts.len);
        for (size_t i = 0; i < p->file_names.texts.len; i++)
            write_text(s->w, version, p->file_names.texts.at[i], p->file_names.lengths.at[i]);
    }
    for (uint32_t i = 0; i < len; i++)
        sorted[i] = i;
    qsort_r(sorted, len, sizeof *sorted, by_text, (void *)&p->names);
    writer_u32(s->w, len + 1);
    write_text(s->w, version, "", 0);
    if (version >= 3)
        writer_u32(s->w, NO_FILE_NUMBER);
    /* Numbers begin at 1, after the empty name. Sorted, so that equal profiles give equal files. */
    for (uint32_t i = 0; i < len; i++) {
        uint32_t name = sorted[i];
        index[name] = i + 1;
        write_text(s->w, version, p->names.texts.at[name], strlen(p->names.texts.at[name]));
        if (version >= 3)
            writer_u32(s->w, name < p->files.len && p->files.at[name] ? p->files.at[name] - 1
                                                                      : NO_FILE_NUMBER);
    }
    section_end(s->w, start);
}

/* Whether gcc could ask for it: it looks at 16 bits of each. */
static bool offset_fits(struct source_offset at)
{
    return at.line <= 0xffff && at.discriminator <= 0xffff;
}

/* Who calls this has asked offset_fits(). */
static void write_offset(struct writer *w, struct source_offset at)
{
    writer_u32(w, at.line << 16 | at.discriminator);
}

/* The head of an instance and its positions; those inlined in it follow, as many as it says. */
static void write_instance(struct afdo_writing *s, uint32_t instance)
{
    const struct source_order *o = &s->order;
    /* Numbers precede what they count, so that what does not fit is counted out first. An instance
     * that does not fit takes along what is inlined in it, and is one place left out. */
    uint32_t positions = 0, inlined = 0;
    for (uint32_t i = o->first_position[instance]; i < o->first_position[instance + 1]; i++)
        positions += offset_fits(s->p->positions.at[o->positions[i]].at);
    for (uint32_t i = o->first_child[instance]; i < o->first_child[instance + 1]; i++)
        inlined += offset_fits(s->p->instances.at[o->children[i]].at);
    s->left_out += o->first_position[instance + 1] - o->first_position[instance] - positions;
    s->left_out += o->first_child[instance + 1] - o->first_child[instance] - inlined;
    writer_u32(s->w, s->index[s->p->instances.at[instance].name]);
    writer_u32(s->w, positions);
    writer_u32(s->w, inlined);
    for (uint32_t i = o->first_position[instance]; i < o->first_position[instance + 1]; i++) {
        uint32_t position = o->positions[i];
        const struct source_position *at = &s->p->positions.at[position];
        if (!offset_fits(at->at))
            continue;
        write_offset(s->w, at->at);
        writer_u32(s->w, o->first_target[position + 1] - o->first_target[position]);
        write_count(s->w, at->count);
        for (uint32_t k = o->first_target[position]; k < o->first_target[position + 1]; k++) {
            const struct source_target *t = &s->p->targets.at[o->targets[k]];
            writer_u32(s->w, TARGET_KIND);
            write_count(s->w, s->index[t->name]);
            write_count(s->w, t->count);
        }
    }
}

/* Most counts first, as in LLVM's files; gcc does not mind. The stack holds instances whose
 * children are still to come. */
static void write_functions(struct afdo_writing *s, uint32_t version)
{
    const struct source_order *o = &s->order;
    struct source_walk walk = {.order = o};
    uint32_t at;
    size_t start = section_begin(s->w, TAG_FUNCTIONS);
    writer_u32(s->w, (uint32_t)o->functions_len);
    for (size_t f = 0; f < o->functions_len; f++) {
        const struct source_instance *function = &s->p->instances.at[o->functions[f]];
        write_count(s->w, function->head);
        if (version >= 3)
            write_count(s->w, function->first_ns);
        write_instance(s, o->functions[f]);
        source_walk_enter(&walk, o->functions[f]);
        while (walk.open.len) {
            if (!source_walk_next(&walk, &at) || !offset_fits(s->p->instances.at[at].at))
                continue;
            write_offset(s->w, s->p->instances.at[at].at);
            write_instance(s, at);
            source_walk_enter(&walk, at);
        }
    }
    vec_free(&walk.open);
    section_end(s->w, start);
}

/* From version 3 on: what -fprofile-use has in its summary, so that gcc knows what is hot. */
static void write_summary(struct writer *w, const struct source_profile *p)
{
    struct source_summary sum;
    source_profile_summarize(p, &sum);
    writer_u32(w, TAG_SUMMARY);
    const uint64_t numbers[] = {sum.total,  sum.max_count, sum.max_head,
                                sum.counts, sum.functions, SOURCE_CUTOFFS};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        write_count(w, numbers[i]);
    for (size_t i = 0; i < SOURCE_CUTOFFS; i++) {
        writer_u32(w, sum.cutoffs[i].parts);
        write_count(w, sum.cutoffs[i].least);
        write_count(w, sum.cutoffs[i].counts);
    }
}

/* Each number of the profile as gcc can hold it, so that order and summary are those of the numbers
 * that are written, and stay the same when the file is read and written again. */
static void limit_counts(struct source_profile *p)
{
    for (size_t i = 0; i < p->instances.len; i++) {
        p->instances.at[i].head = limited(p->instances.at[i].head);
        p->instances.at[i].first_ns = limited(p->instances.at[i].first_ns);
    }
    for (size_t i = 0; i < p->positions.len; i++)
        p->positions.at[i].count = limited(p->positions.at[i].count);
    for (size_t i = 0; i < p->targets.len; i++)
        p->targets.at[i].count = limited(p->targets.at[i].count);
}

/* Sections in gcc's order; the last two are empty, but gcc before 13 wants to see them. */
bool afdo_write(struct writer *w, const struct source_profile *whole, uint32_t version,
                uint64_t *left_out, struct err *e)
{
    if (!version || version > AFDO_VERSIONS)
        return err_set(e, "there is no version %" PRIu32 " of gcc's AutoFDO profile to write",
                       version);
    struct source_profile copy = {0}, *p = &copy;
    source_profile_add(p, whole);
    limit_counts(p);
    struct arena scratch = {0};
    uint32_t *index = ARENA_NEW(&scratch, uint32_t, p->names.texts.len + 1);
    uint32_t *sorted = ARENA_NEW(&scratch, uint32_t, p->names.texts.len + 1);
    struct afdo_writing s = {.w = w, .p = p, .index = index};
    source_profile_sort(p, &s.order);
    writer_u32(w, AFDO_MAGIC);
    writer_u32(w, version);
    writer_u32(w, 0);
    if (version >= 3)
        write_summary(w, p);
    write_names(&s, version, index, sorted);
    write_functions(&s, version);
    /*     0xae000000 0 0 │ 0xaf000000 384 │ 384 zeros */
    const uint32_t tail[] = {TAG_MODULES, 0, 0, TAG_WORKING_SET, WORKING_SET_WORDS};
    for (size_t i = 0; i < sizeof tail / sizeof *tail; i++)
        writer_u32(w, tail[i]);
    for (int i = 0; i < WORKING_SET_WORDS; i++)
        writer_u32(w, 0);
    *left_out = s.left_out;
    source_order_deinit(&s.order);
    arena_deinit(&scratch);
    source_profile_deinit(p);
    return true;
}

/* ---- the table of both compilers' formats */

const struct source_format source_formats[SOURCE_FORMATS] = {
    {"afdo", "AutoFDO profile of gcc", SOURCE_AFDO, afdo_probe, afdo_read},
    {"llvm-sample", "sample profile of LLVM, text", SOURCE_LLVM_TEXT, llvm_text_probe,
     llvm_text_read},
    {"llvm-sample-binary", "sample profile of LLVM, extensible binary", SOURCE_LLVM_BINARY,
     llvm_binary_probe, llvm_binary_read},
    {"fdata", "profile of BOLT", SOURCE_FDATA, fdata_probe, fdata_read_positions},
    {"preaggregated", "pre-aggregated profile for perf2bolt", SOURCE_PREAGGREGATED,
     preaggregated_probe, preaggregated_read_positions},
};

const struct source_format *source_format_probe(struct bytes in)
{
    for (size_t i = 0; i < SOURCE_FORMATS; i++)
        if (source_formats[i].probe(in))
            return &source_formats[i];
    return NULL;
}
