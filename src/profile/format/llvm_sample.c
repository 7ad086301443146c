/* LLVM's sample profiles, which `clang -fprofile-sample-use=FILE` reads: text, and the extensible
 * binary form that llvm-profdata makes of it.
 *
 *     main:184019:2            function, total, head
 *      4: 534                  a blank a level; line from the declaration, count
 *      5.2: 1075 f:1000 g:75   block 2 of the line; whom calls reached
 *      10: clamp:1000          inlined there; what is deeper by one blank is in it
 *       1: 1000
 *
 * In the binary form all numbers are ULEB128 but those of the table of sections, which has four
 * words of 64 bits each: type, flags, where, size.
 *
 *     magic version │ number of sections │ table │ summary │ names │ functions │ where each begins
 *
 * Totals are not read, since they follow from the rest, nor is LLVM's list of symbols. Compressed
 * sections are unpacked; names may be hashes (MD5), which become names of digits. Profiles with
 * contexts of callers in place of inlining (`[main:3 @ f]`) are refused. No recursion: a stack of
 * open instances, as deep as the input's bytes have levels at the most. Source:
 * llvm/lib/ProfileData/SampleProfReader.cpp, SampleProfWriter.cpp. */
#include "profile/format/source_formats.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <zlib.h>

/* Deeper than any compiler inlines: a file that goes on is damaged, or meant to hurt. */
enum { MOST_DEPTH = 1000, MOST_LINE = 0xffff };

/* ---- text: reading */

/* One line of text, bounded. */
struct text_line {
    const char *at, *end;
};

/* What is open while lines are read: instances from the function inwards. */
struct text_reading {
    struct source_profile *p;
    const char *name;
    struct bytes in;
    size_t line;
    uint32_t open[MOST_DEPTH];
    size_t depth;
};

/* A decimal number at the start of the line. */
static bool text_number(struct text_line *l, uint64_t *value)
{
    const char *first = l->at;
    *value = 0;
    for (; l->at < l->end && isdigit((unsigned char)*l->at); l->at++) {
        uint64_t digit = (uint64_t)(*l->at - '0');
        if (*value > (UINT64_MAX - digit) / 10)
            return false;
        *value = *value * 10 + digit;
    }
    return l->at > first;
}

/* Takes `:NUMBER` off the end of the line. */
static bool text_number_behind(struct text_line *l, uint64_t *value)
{
    const char *colon = l->end;
    /* From the end, as names of C++ and Rust have colons of their own. */
    while (colon > l->at && colon[-1] != ':')
        colon--;
    struct text_line number = {colon, l->end};
    if (colon == l->at || !text_number(&number, value) || number.at != number.end)
        return false;
    l->end = colon - 1;
    return true;
}

/* Lines are counted from 1, as editors do. */
static bool text_error(const struct text_reading *r, struct err *e, const char *expected)
{
    return err_in(e, r->name, "line %zu: expected %s", r->line, expected);
}

/* `NAME:TOTAL:HEAD`, not indented. */
static bool text_function(struct text_reading *r, struct text_line l, struct err *e)
{
    uint64_t head, total;
    if (*l.at == '[')
        return err_in(e, r->name, "line %zu: has contexts of callers, which are not read", r->line);
    if (!text_number_behind(&l, &head) || !text_number_behind(&l, &total) || l.at == l.end)
        return text_error(r, e, "NAME:TOTAL:HEAD");
    /* The total is not kept: it follows from the counts. */
    r->open[0] = source_profile_instance(r->p, NO_INSTANCE, (struct source_offset){0}, l.at,
                                         (size_t)(l.end - l.at));
    source_profile_add_head(r->p, r->open[0], head);
    r->depth = 1;
    return true;
}

/* `!CFGChecksum: N`, `!Attributes: N`; others are passed over, as LLVM does. */
static bool text_metadata(struct text_reading *r, struct text_line l, size_t depth)
{
    /* By the checksum LLVM sees that a function has changed since it was measured. */
    static const char CHECKSUM[] = "!CFGChecksum: ", ATTRIBUTES[] = "!Attributes: ";
    struct source_instance *s = &r->p->instances.at[r->open[depth - 1]];
    size_t len = (size_t)(l.end - l.at);
    uint64_t value;
    if (len >= sizeof CHECKSUM && !memcmp(l.at, CHECKSUM, sizeof CHECKSUM - 1)) {
        l.at += sizeof CHECKSUM - 1;
        if (text_number(&l, &value))
            s->checksum = value;
    } else if (len >= sizeof ATTRIBUTES && !memcmp(l.at, ATTRIBUTES, sizeof ATTRIBUTES - 1)) {
        l.at += sizeof ATTRIBUTES - 1;
        if (text_number(&l, &value))
            s->attributes |= (uint32_t)value;
    }
    return true;
}

/* `LINE[.BLOCK]: COUNT [NAME:COUNT]...` or `LINE[.BLOCK]: NAME:TOTAL`, of the instance at
 * `depth`. */
static bool text_body(struct text_reading *r, struct text_line l, size_t depth, struct err *e)
{
    uint64_t line, block = 0, count, total;
    if (!text_number(&l, &line) ||
        (l.at < l.end && *l.at == '.' && (l.at++, !text_number(&l, &block))) || l.end - l.at < 3 ||
        l.at[0] != ':' || l.at[1] != ' ' || block > UINT32_MAX)
        return text_error(r, e, "LINE[.BLOCK]: COUNT or LINE[.BLOCK]: NAME:TOTAL");
    /* As LLVM does: its binary form has 16 bits for it, and what was cut would be another line. */
    if (line > MOST_LINE)
        return text_error(r, e, "a line below 65536");
    l.at += 2;
    struct source_offset at = {(uint32_t)line, (uint32_t)block};
    uint32_t parent = r->open[depth - 1];
    /* LLVM, too, distinguishes the two forms by the first character: a count has a digit, no name
     * begins with one. */
    if (!isdigit((unsigned char)*l.at)) {
        if (!text_number_behind(&l, &total) || l.at == l.end)
            return text_error(r, e, "NAME:TOTAL of what was inlined");
        if (depth == MOST_DEPTH)
            return err_in(e, r->name, "line %zu: is nested too deeply", r->line);
        r->open[depth] = source_profile_instance(r->p, parent, at, l.at, (size_t)(l.end - l.at));
        r->depth = depth + 1;
        return true;
    }
    if (!text_number(&l, &count))
        return text_error(r, e, "a count below 2^64");
    uint32_t position = source_profile_position(r->p, parent, at);
    source_profile_add_count(r->p, position, count);
    /* Instances further in end here: later lines cannot be in them. */
    r->depth = depth;
    while (l.at < l.end && *l.at == ' ') {
        /* Targets have no blanks in them, so that the next blank ends one. */
        struct text_line target = {l.at + 1, l.at + 1};
        while (target.end < l.end && *target.end != ' ')
            target.end++;
        l.at = target.end;
        if (target.at == target.end)
            continue;
        if (!text_number_behind(&target, &count) || target.at == target.end)
            return text_error(r, e, "NAME:COUNT of a call");
        source_profile_add_target(r->p, position, target.at, (size_t)(target.end - target.at),
                                  count);
    }
    return l.at == l.end || text_error(r, e, "a blank and NAME:COUNT, or the end of the line");
}

/* Comments and blank lines say nothing. A line is in the instance that is open one level further
 * out. */
bool llvm_text_read(struct bytes in, const char *name, struct source_profile *p, struct err *e)
{
    struct text_reading r = {.p = p, .name = name, .in = in};
    const char *at = (const char *)in.at, *end = at + in.len;
    while (at < end) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        struct text_line l = {at, newline ? newline : end};
        at = newline ? newline + 1 : end;
        r.line++;
        if (l.end > l.at && l.end[-1] == '\r')
            l.end--;
        const char *first = l.at;
        while (l.at < l.end && *l.at == ' ')
            l.at++;
        size_t depth = (size_t)(l.at - first);
        if (l.at == l.end || *l.at == '#')
            continue;
        /* Names become texts that end in NUL; one with a NUL within would be another's name. */
        if (memchr(l.at, 0, (size_t)(l.end - l.at)))
            return text_error(&r, e, "text");
        if (depth && *l.at == '!' && depth <= r.depth) {
            text_metadata(&r, l, depth);
            continue;
        }
        /* One level deeper than what is open at the most: nothing else says what a line is in. */
        if (depth > r.depth)
            return err_in(e, name,
                          "line %zu: is indented by %zu, below nothing that it could be in", r.line,
                          depth);
        if (depth ? !text_body(&r, l, depth, e) : !text_function(&r, l, e))
            return false;
    }
    return p->instances.len || err_in(e, name, "has no function");
}

/* The first line that says something ends in two numbers, and the next one is indented. */
bool llvm_text_probe(struct bytes in)
{
    if (!in.len)
        return false;
    const char *at = (const char *)in.at, *end = at + in.len;
    uint64_t number;
    while (at < end) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        struct text_line l = {at, newline ? newline : end};
        at = newline ? newline + 1 : end;
        if (l.at == l.end || *l.at == '#' || (l.end - l.at == 1 && *l.at == '\r'))
            continue;
        l.end -= l.end[-1] == '\r';
        bool is_one = *l.at != ' ' && text_number_behind(&l, &number) &&
                      text_number_behind(&l, &number) && l.at < l.end;
        /* No name has blanks in it. A context has, and is let through: the reader says why it is
         * refused. */
        for (const char *c = l.at; c < l.end; c++)
            is_one &= (unsigned char)*c > ' ' || *l.at == '[';
        return is_one && (at == end || *at == ' ' || newline);
    }
    return false;
}

/* ---- writing, both forms */

/* `w` is the file where text is written, and the section of functions in the binary form. */
struct source_writing {
    struct writer *w;
    const struct source_profile *p;
    struct source_order order;
    struct source_walk walk;
    const uint32_t *index; /* per name: in the binary's table */
};

static void write_name(struct source_writing *s, uint32_t name)
{
    writer_bytes(s->w, s->p->names.texts.at[name], s->p->names.lengths.at[name]);
}

/* A blank for each level, and the place with its block if that is not the first. */
static void text_put_place(struct source_writing *s, struct source_offset at, size_t depth)
{
    for (size_t i = 0; i < depth; i++)
        writer_u8(s->w, ' ');
    writer_printf(s->w, "%" PRIu32, at.line);
    if (at.discriminator)
        writer_printf(s->w, ".%" PRIu32, at.discriminator);
    writer_printf(s->w, ": ");
}

/* The positions of an instance, and its metadata last, as LLVM wants it; those of instances in it
 * come between. */
static void text_put_positions(struct source_writing *s, uint32_t instance, size_t depth)
{
    const struct source_order *o = &s->order;
    for (uint32_t i = o->first_position[instance]; i < o->first_position[instance + 1]; i++) {
        uint32_t position = o->positions[i];
        text_put_place(s, s->p->positions.at[position].at, depth);
        writer_printf(s->w, "%" PRIu64, s->p->positions.at[position].count);
        for (uint32_t k = o->first_target[position]; k < o->first_target[position + 1]; k++) {
            const struct source_target *t = &s->p->targets.at[o->targets[k]];
            writer_u8(s->w, ' ');
            write_name(s, t->name);
            writer_printf(s->w, ":%" PRIu64, t->count);
        }
        writer_u8(s->w, '\n');
    }
}

/* Only what was read from such a file has any. */
static void text_put_metadata(struct source_writing *s, uint32_t instance, size_t depth)
{
    const struct source_instance *at = &s->p->instances.at[instance];
    for (int i = 0; i < 2; i++) {
        if (!(i ? at->attributes : at->checksum))
            continue;
        for (size_t k = 0; k < depth; k++)
            writer_u8(s->w, ' ');
        writer_printf(s->w, i ? "!Attributes: %" PRIu64 "\n" : "!CFGChecksum: %" PRIu64 "\n",
                      i ? (uint64_t)at->attributes : at->checksum);
    }
}

/* What of a name would be read as something else. */
static bool text_holds_name(const char *name, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if ((unsigned char)name[i] <= ' ')
            return false;
    /* A comment, metadata, a context, a count. */
    return len && !strchr("#![0123456789", *name);
}

/* Each function is written whole before the next; the open instances are a stack, so that the depth
 * of inlining does not matter. */
bool llvm_text_write(struct writer *w, const struct source_profile *p, struct err *e)
{
    struct source_writing s = {.w = w, .p = p, .walk.order = &s.order};
    for (size_t i = 0; i < p->names.texts.len; i++)
        if (!text_holds_name(p->names.texts.at[i], p->names.lengths.at[i]))
            return err_set(e, "the name '%s' has no place in LLVM's text: write it as binary",
                           p->names.texts.at[i]);
    source_profile_sort(p, &s.order);
    const struct source_order *o = &s.order;
    for (size_t f = 0; f < o->functions_len; f++) {
        uint32_t function = o->functions[f];
        write_name(&s, p->instances.at[function].name);
        writer_printf(w, ":%" PRIu64, o->total[function]);
        writer_printf(w, ":%" PRIu64 "\n", p->instances.at[function].head);
        text_put_positions(&s, function, 1);
        source_walk_enter(&s.walk, function);
        while (s.walk.open.len) {
            uint32_t at;
            if (!source_walk_next(&s.walk, &at)) {
                /* After all children: LLVM takes nothing but metadata once it has seen some of an
                 * instance. */
                text_put_metadata(&s, at, s.walk.open.len + 1);
                continue;
            }
            text_put_place(&s, p->instances.at[at].at, s.walk.open.len);
            write_name(&s, p->instances.at[at].name);
            writer_printf(w, ":%" PRIu64 "\n", o->total[at]);
            text_put_positions(&s, at, s.walk.open.len + 1);
            source_walk_enter(&s.walk, at);
        }
    }
    vec_free(&s.walk.open);
    source_order_deinit(&s.order);
    return true;
}

/* ---- binary */

#define SAMPLE_MAGIC UINT64_C(0x5350524f46343204) /* "SPROF42" and the form: 4 is extensible */
enum { SAMPLE_VERSION = 103 };
/* As in llvm/ProfileData/SampleProf.h. Of the flags, the lower 32 bits mean the same in all
 * sections; the upper ones are of the section's type: bit 33 is something else in names and in the
 * summary. */
enum { SECTION_SUMMARY = 1, SECTION_NAMES = 2, SECTION_OFFSETS = 4, SECTION_PROFILE = 32 };
enum { FLAG_COMPRESSED = 1 };
#define NAMES_MD5          (UINT64_C(1) << 32)
#define NAMES_FIXED_LENGTH (UINT64_C(2) << 32)
#define SUMMARY_CONTEXTS   (UINT64_C(2) << 32)
#define SUMMARY_VTABLES    (UINT64_C(32) << 32)

/* Total, positions with their targets, and how many instances follow. */
static void binary_put_instance(struct source_writing *s, uint32_t instance)
{
    const struct source_order *o = &s->order;
    writer_leb128(s->w, o->total[instance]);
    writer_leb128(s->w, o->first_position[instance + 1] - o->first_position[instance]);
    for (uint32_t i = o->first_position[instance]; i < o->first_position[instance + 1]; i++) {
        uint32_t position = o->positions[i];
        const struct source_position *at = &s->p->positions.at[position];
        writer_leb128(s->w, at->at.line & 0xffff); /* beyond it LLVM refuses the file */
        writer_leb128(s->w, at->at.discriminator);
        writer_leb128(s->w, at->count);
        writer_leb128(s->w, o->first_target[position + 1] - o->first_target[position]);
        for (uint32_t k = o->first_target[position]; k < o->first_target[position + 1]; k++) {
            const struct source_target *t = &s->p->targets.at[o->targets[k]];
            writer_leb128(s->w, s->index[t->name]);
            writer_leb128(s->w, t->count);
        }
    }
    writer_leb128(s->w, o->first_child[instance + 1] - o->first_child[instance]);
}

/* All functions into s->w; in `offsets` where each begins, from the start on. */
static void binary_put_functions(struct source_writing *s, uint64_t *offsets)
{
    const struct source_order *o = &s->order;
    for (size_t f = 0; f < o->functions_len; f++) {
        uint32_t function = o->functions[f];
        offsets[f] = s->w->out.len;
        writer_leb128(s->w, s->p->instances.at[function].head);
        writer_leb128(s->w, s->index[s->p->instances.at[function].name]);
        binary_put_instance(s, function);
        source_walk_enter(&s->walk, function);
        while (s->walk.open.len) {
            uint32_t child;
            if (!source_walk_next(&s->walk, &child))
                continue;
            const struct source_instance *at = &s->p->instances.at[child];
            writer_leb128(s->w, at->at.line & 0xffff);
            writer_leb128(s->w, at->at.discriminator);
            writer_leb128(s->w, s->index[at->name]);
            binary_put_instance(s, child);
            source_walk_enter(&s->walk, child);
        }
    }
}

/* Names in the order of the profile's, each ended by a NUL. */
void llvm_binary_write(struct writer *w, const struct source_profile *p)
{
    struct arena scratch = {0};
    /* The table says where each section begins, so all four are made before any is written. */
    struct writer parts[4] = {0}; /* summary, names, offsets, functions */
    struct source_summary sum;
    struct source_writing s = {.w = &parts[3], .p = p, .walk.order = &s.order};
    uint32_t *index = ARENA_NEW(&scratch, uint32_t, p->names.texts.len + 1);
    source_profile_sort(p, &s.order);
    source_profile_summarize(p, &sum);
    const uint64_t numbers[] = {sum.total,  sum.max_count, sum.max_head,
                                sum.counts, sum.functions, SOURCE_CUTOFFS};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        writer_leb128(&parts[0], numbers[i]);
    for (size_t i = 0; i < SOURCE_CUTOFFS; i++) {
        writer_leb128(&parts[0], sum.cutoffs[i].parts);
        writer_leb128(&parts[0], sum.cutoffs[i].least);
        writer_leb128(&parts[0], sum.cutoffs[i].counts);
    }
    writer_leb128(&parts[1], p->names.texts.len);
    for (uint32_t i = 0; i < p->names.texts.len; i++) {
        index[i] = i;
        writer_bytes(&parts[1], p->names.texts.at[i], strlen(p->names.texts.at[i]) + 1);
    }
    s.index = index;
    uint64_t *offsets = ARENA_NEW(&scratch, uint64_t, s.order.functions_len + 1);
    binary_put_functions(&s, offsets);
    writer_leb128(&parts[2], s.order.functions_len);
    for (size_t i = 0; i < s.order.functions_len; i++) {
        writer_leb128(&parts[2], index[p->instances.at[s.order.functions[i]].name]);
        writer_leb128(&parts[2], offsets[i]);
    }
    writer_leb128(w, SAMPLE_MAGIC);
    writer_leb128(w, SAMPLE_VERSION);
    /* In LLVM's own order; readers go by the table. */
    static const uint64_t TYPES[] = {SECTION_SUMMARY, SECTION_NAMES, SECTION_OFFSETS,
                                     SECTION_PROFILE};
    enum { SECTIONS = 4, ENTRY_BYTES = 32 };
    writer_u64(w, SECTIONS);
    /* Places count from the start of the file: nothing may be in `w` before it. */
    uint64_t at = w->out.len + SECTIONS * ENTRY_BYTES;
    /* Flags are 0: names are texts, and nothing is compressed. */
    for (size_t i = 0; i < SECTIONS; i++) {
        const uint64_t entry[] = {TYPES[i], 0, at, parts[i].out.len};
        for (size_t k = 0; k < 4; k++)
            writer_u64(w, entry[k]);
        at += parts[i].out.len;
    }
    for (size_t i = 0; i < SECTIONS; i++) {
        writer_bytes(w, parts[i].out.at, parts[i].out.len);
        writer_deinit(&parts[i]);
    }
    vec_free(&s.walk.open);
    source_order_deinit(&s.order);
    arena_deinit(&scratch);
}

bool llvm_binary_probe(struct bytes in)
{
    struct cursor c = cursor_over(in, "");
    return cursor_uleb(&c) == SAMPLE_MAGIC && !c.failed;
}

/* What one call of llvm_binary_read() works with. */
struct binary_reading {
    struct source_profile *p;
    const char *name;
    VEC(struct bytes) names;
    struct arena arena; /* of names that are hashes, and of unpacked sections */
};

/* Unpacks a section if need be: its size unpacked, packed, and zlib's bytes. */
static bool binary_unpack(struct binary_reading *r, struct cursor *c, uint64_t flags, struct err *e)
{
    /* Of what is no bomb: deflate's limit is 1032. */
    enum { MOST_RATIO = 200, SLACK_BYTES = 1 << 20 };
    if (!(flags & FLAG_COMPRESSED))
        return true;
    uint64_t size = cursor_uleb(c), packed = cursor_uleb(c);
    /* Refused before it gets memory. */
    if (c->failed || packed > cursor_left(c) || (size > SLACK_BYTES && size / MOST_RATIO > packed))
        return err_at(e, c, "a compressed section claims %" PRIu64 " bytes", size);
    uint8_t *bytes = arena_alloc(&r->arena, (size_t)size + 1);
    uLongf len = (uLongf)size;
    if (uncompress(bytes, &len, c->at, (uLong)packed) != Z_OK || len != size)
        return err_at(e, c, "a compressed section is damaged");
    *c = cursor_over((struct bytes){bytes, (size_t)size}, r->name);
    return true;
}

/* Texts that end by a NUL, or hashes of names, of which the digits are the name then. */
static bool binary_read_names(struct binary_reading *r, struct cursor *c, uint64_t flags,
                              struct err *e)
{
    uint64_t len = cursor_uleb(c);
    bool is_fixed = flags & NAMES_FIXED_LENGTH;
    if (c->failed || len > cursor_left(c))
        return err_at(e, c, "claims %" PRIu64 " names, %zu bytes remain", len, cursor_left(c));
    for (uint64_t i = 0; i < len && !c->failed; i++) {
        /* A hash stands for the name from here on: digits, as LLVM itself shows them. Fixed length
         * means eight bytes each instead of ULEB128. */
        if (flags & (NAMES_MD5 | NAMES_FIXED_LENGTH)) {
            uint64_t hash = is_fixed ? cursor_u64(c) : cursor_uleb(c);
            char *text = arena_printf(&r->arena, "%" PRIu64, hash);
            vec_push(&r->names, (struct bytes){(const uint8_t *)text, strlen(text)});
            continue;
        }
        const uint8_t *end = memchr(c->at, 0, cursor_left(c));
        size_t size = end ? (size_t)(end - c->at) : 0;
        c->failed |= !end;
        if (end) {
            vec_push(&r->names, (struct bytes){c->at, size});
            cursor_take(c, size + 1);
        }
    }
    return !c->failed || err_at(e, c, "the list of names ends early");
}

const struct bytes *source_name_at(const struct bytes *names, size_t len, const struct cursor *c,
                                   uint64_t number, struct err *e)
{
    if (!c->failed && number < len && names[number].len)
        return &names[number];
    err_at(e, c, "names function %" PRIu64 " of %zu", number, len);
    return NULL;
}

static const struct bytes *binary_name(struct binary_reading *r, struct cursor *c, struct err *e)
{
    uint64_t number = cursor_uleb(c);
    return source_name_at(r->names.at, r->names.len, c, number, e);
}

/* LLVM refuses lines of more than 16 bits, and so does this. */
static bool binary_offset(struct cursor *c, struct source_offset *at, struct err *e)
{
    uint64_t line = cursor_uleb(c), discriminator = cursor_uleb(c);
    *at = (struct source_offset){(uint32_t)line, (uint32_t)discriminator};
    return (!c->failed && line <= MOST_LINE && discriminator <= UINT32_MAX) ||
           err_at(e, c, "expected a line below 65536 and a discriminator");
}

/* The positions of an instance; *inlined: how many instances follow. */
static bool binary_read_instance(struct binary_reading *r, struct cursor *c, uint32_t instance,
                                 uint64_t *inlined, struct err *e)
{
    struct source_offset at;
    cursor_uleb(c); /* total */
    uint64_t len = cursor_uleb(c);
    for (uint64_t i = 0; i < len; i++) {
        /*     line │ block │ count │ targets │ each: name, count */
        if (!binary_offset(c, &at, e))
            return false;
        uint64_t count = cursor_uleb(c), targets = cursor_uleb(c);
        if (c->failed)
            return err_at(e, c, "a function ends early");
        uint32_t position = source_profile_position(r->p, instance, at);
        source_profile_add_count(r->p, position, count);
        for (uint64_t k = 0; k < targets; k++) {
            const struct bytes *name = binary_name(r, c, e);
            if (!name)
                return false;
            count = cursor_uleb(c);
            if (!c->failed)
                source_profile_add_target(r->p, position, (const char *)name->at, name->len, count);
        }
    }
    *inlined = cursor_uleb(c);
    return !c->failed || err_at(e, c, "a function ends early");
}

/* Functions one after the other. */
static bool binary_read_functions(struct binary_reading *r, struct cursor *c, struct err *e)
{
    struct {
        uint32_t instance;
        uint64_t left;
    } open[MOST_DEPTH];
    size_t depth = 0;
    /* The section has no number of functions: it ends where the last one does. */
    while (cursor_left(c) || depth) {
        struct source_offset at = {0};
        /* A function has its head before the name, an inlined instance its place. */
        uint64_t head = depth ? 0 : cursor_uleb(c);
        if (depth && !open[depth - 1].left) {
            depth--;
            continue;
        }
        if (depth && !binary_offset(c, &at, e))
            return false;
        const struct bytes *name = binary_name(r, c, e);
        if (!name)
            return false;
        if (depth == MOST_DEPTH)
            return err_at(e, c, "is nested too deeply");
        uint32_t parent = depth ? open[depth - 1].instance : NO_INSTANCE;
        open[depth].instance =
            source_profile_instance(r->p, parent, at, (const char *)name->at, name->len);
        source_profile_add_head(r->p, open[depth].instance, head);
        if (depth)
            open[depth - 1].left--;
        if (!binary_read_instance(r, c, open[depth].instance, &open[depth].left, e))
            return false;
        depth++;
    }
    return true;
}

/* Names first, wherever they stand in the file. */
static bool binary_read_sections(struct binary_reading *r, struct bytes in, struct err *e)
{
    struct cursor c = cursor_over(in, r->name);
    cursor_uleb(&c);
    uint64_t version = cursor_uleb(&c), sections = cursor_u64(&c);
    if (c.failed || version != SAMPLE_VERSION)
        return err_at(e, &c, "is version %" PRIu64 " of LLVM's sample profile, not %d", version,
                      SAMPLE_VERSION);
    enum { ENTRY_BYTES = 32 };
    if (sections > cursor_left(&c) / ENTRY_BYTES)
        return err_at(e, &c, "claims %" PRIu64 " sections, %zu bytes remain", sections,
                      cursor_left(&c));
    /* Functions refer to names by number, and a file may have the sections in any order: so the
     * table is gone through once for each type. */
    const struct cursor table = c;
    uint64_t taken = 0;
    static const uint64_t WANTED[] = {SECTION_SUMMARY, SECTION_NAMES, SECTION_PROFILE};
    for (size_t k = 0; k < sizeof WANTED / sizeof *WANTED; k++) {
        c = table;
        for (uint64_t i = 0; i < sections; i++) {
            uint64_t type = cursor_u64(&c), flags = cursor_u64(&c), at = cursor_u64(&c),
                     size = cursor_u64(&c);
            if (at > in.len || size > in.len - at)
                return err_at(e, &c, "section %" PRIu64 " lies beyond the file's end", i);
            if (type != WANTED[k] || !size)
                continue;
            /* Sections that overlap would have a small file read, and unpacked, any number of
             * times. */
            if (size > in.len - taken)
                return err_at(e, &c, "section %" PRIu64 " lies over another", i);
            taken += size;
            if (type == SECTION_SUMMARY && (flags & (SUMMARY_CONTEXTS | SUMMARY_VTABLES)))
                return err_at(e, &c,
                              "has contexts of callers or types of objects, which are not "
                              "read");
            struct cursor section = cursor_over((struct bytes){in.at + at, (size_t)size}, r->name);
            /* Errors then have the offset in the file, unless the section has to be unpacked. */
            section.base = in.at;
            if (!binary_unpack(r, &section, flags, e) ||
                (type == SECTION_NAMES && !binary_read_names(r, &section, flags, e)) ||
                (type == SECTION_PROFILE && !binary_read_functions(r, &section, e)))
                return false;
        }
    }
    return true;
}

/* The intact part of a damaged file stays in the profile. */
bool llvm_binary_read(struct bytes in, const char *name, struct source_profile *p, struct err *e)
{
    struct binary_reading r = {.p = p, .name = name};
    bool ok = binary_read_sections(&r, in, e);
    vec_free(&r.names);
    arena_deinit(&r.arena);
    return ok;
}
