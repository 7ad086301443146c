/* Readers of perf maps and jitdumps: bytes in, functions at addresses out. They open nothing.
 *
 * Both kinds of file are written while the program runs, so that they may name a function whose
 * code was freed and used again: of all that were at an address, the last one names it. Only
 * functions that hold one of the given addresses are kept, which bounds memory by what was sampled.
 * Placing takes time in proportion to functions and addresses, but for sorting.
 *
 * Names are the program's: they are cut at JIT_NAME_BYTES, and cannot move a terminal's cursor.
 * Sources: Documentation/jit-interface.txt and jitdump-specification.txt of tools/perf. */
#include "record/jit_names.h"

#include "base/bytes.h"
#include "base/map.h"
#include "base/sort.h"

#include <string.h>

enum {
    DUMP_HEADER_BYTES = 40,
    DUMP_RECORD_BYTES = 16, /* before what its kind has */
    DUMP_VERSION = 1,
    UNSIZED_BYTES = 4096, /* at most, of code whose size is said to be 0 */
};

#define DUMP_MAGIC UINT32_C(0x4a695444) /* "JiTD", most significant byte first */

void jit_names_init(struct jit_names *n, const uint64_t *addresses, uint32_t len)
{
    *n = (struct jit_names){.addresses = addresses, .addresses_len = len};
}

void jit_names_deinit(struct jit_names *n)
{
    intern_deinit(&n->texts);
    vec_free(&n->all);
}

/* The first address that is not below. */
static uint32_t names_first(const struct jit_names *n, uint64_t address)
{
    return PARTITION_POINT(n->addresses_len, i, n->addresses[i] < address);
}

static void names_add(struct jit_names *n, uint64_t start, uint64_t size, const uint8_t *text,
                      size_t len)
{
    struct jit_code code = {.start = start, .end = start + size, .source = n->sources};
    if (!len || code.end <= start || n->all.len >= UINT32_MAX)
        return;
    code.first = names_first(n, start);
    code.behind = names_first(n, code.end);
    if (code.first == code.behind)
        return;
    /* No longer than the limit, not ending within a character of UTF-8, and nothing that moves a
     * terminal's cursor. */
    char clean[JIT_NAME_BYTES];
    len = utf8_cut(text, len, sizeof clean);
    memcpy(clean, text, len);
    hide_controls(clean, len);
    code.name = intern(&n->texts, clean, len);
    vec_push(&n->all, code);
}

/* --- perf maps ------------------------------------------------------------------------------- */

struct map_line {
    uint64_t start, size;
    const uint8_t *name;
    size_t name_len;
};

static bool jit_map_is_blank(uint8_t c)
{
    return c == ' ' || c == '\t';
}

/* Digits with or without 0x, and what separates them from the next word. */
static bool jit_map_number(struct cursor *in, uint64_t *value)
{
    unsigned digits = 0;
    *value = 0;
    if (cursor_left(in) > 2 && in->at[0] == '0' && (in->at[1] | 0x20) == 'x')
        cursor_take(in, 2);
    for (; cursor_left(in) && hex_digit(*in->at) >= 0; digits++) {
        if (*value >> 60)
            return false;
        *value = *value << 4 | (uint64_t)hex_digit(*cursor_take(in, 1));
    }
    const uint8_t *blanks = in->at;
    while (cursor_left(in) && jit_map_is_blank(*in->at))
        cursor_take(in, 1);
    return digits && in->at > blanks;
}

static bool jit_map_parse(struct bytes line, struct map_line *out)
{
    struct cursor in = cursor_over(line, NULL);
    while (cursor_left(&in) && jit_map_is_blank(*in.at))
        cursor_take(&in, 1);
    if (!jit_map_number(&in, &out->start) || !jit_map_number(&in, &out->size))
        return false;
    out->name = in.at;
    out->name_len = cursor_left(&in);
    const uint8_t *nul = memchr(out->name, '\0', out->name_len);
    out->name_len = nul ? (size_t)(nul - out->name) : out->name_len;
    while (out->name_len &&
           (jit_map_is_blank(out->name[out->name_len - 1]) || out->name[out->name_len - 1] == '\r'))
        out->name_len--;
    return out->name_len && out->start + out->size >= out->start;
}

/* The next line that has been written to its end. */
static bool jit_map_next(struct cursor *in, struct bytes *line)
{
    const uint8_t *end = memchr(in->at, '\n', cursor_left(in));
    if (!end)
        return false;
    line->len = (size_t)(end - in->at);
    line->at = cursor_take(in, line->len + 1);
    return true;
}

/* Where code says that it has no size, it ends at the next function, and no further than a page: so
 * the starts of all are needed, in order. They are taken in a first pass over the file. */
void jit_names_read_map(struct jit_names *n, struct bytes map)
{
    VEC(struct keyed) starts = {0};
    bool is_sizeless = false;
    struct map_line parsed;
    struct cursor in = cursor_over(map, NULL);
    for (struct bytes line; jit_map_next(&in, &line);)
        if (jit_map_parse(line, &parsed)) {
            vec_push(&starts, (struct keyed){.key = parsed.start});
            is_sizeless |= !parsed.size;
        }
    if (is_sizeless)
        sort_keyed(starts.at, starts.len);
    in = cursor_over(map, NULL);
    for (struct bytes line; jit_map_next(&in, &line);) {
        if (!jit_map_parse(line, &parsed))
            continue;
        if (!parsed.size) {
            size_t above = PARTITION_POINT(starts.len, i, starts.at[i].key <= parsed.start);
            parsed.size = UNSIZED_BYTES;
            if (above < starts.len && starts.at[above].key - parsed.start < UNSIZED_BYTES)
                parsed.size = starts.at[above].key - parsed.start;
        }
        names_add(n, parsed.start, parsed.size, parsed.name, parsed.name_len);
    }
    vec_free(&starts);
    n->sources++;
}

/* --- jitdumps -------------------------------------------------------------------------------- */

enum { JIT_CODE_LOAD = 0, JIT_CODE_MOVE = 1 };

/* A function that may be moved. */
struct dump_function {
    const uint8_t *name;
    size_t name_len;
};

struct dump_reader {
    struct jit_names *names;
    uint32_t maker, pid; /* whose records count */
    VEC(struct dump_function) functions;
    struct map by_index; /* the number that the runtime gave it */
};

/* One record of a function, and what of it matters here:
 *
 *     LOAD  pid tid  vma       address size index name\0 code
 *     MOVE  pid tid  vma  old  address size index
 *
 * `vma` is where the code was written, which may be elsewhere. Of a record that is not whole, what
 * there is of it counts if its name is. */
static void jit_dump_function(struct dump_reader *d, struct cursor *in, bool is_move)
{
    uint32_t pid = cursor_u32(in);
    cursor_take(in, 4 + 8 + (is_move ? 8 : 0));
    uint64_t start = cursor_u64(in), size = cursor_u64(in), index = cursor_u64(in);
    if (in->failed || (pid != d->maker && pid != d->pid))
        return;
    const uint32_t *found = map_find(&d->by_index, index, pid);
    struct dump_function function;
    if (is_move) {
        if (!found)
            return;
        function = d->functions.at[*found];
    } else {
        const uint8_t *end = memchr(in->at, '\0', cursor_left(in));
        if (!end)
            return;
        function = (struct dump_function){in->at, (size_t)(end - in->at)};
        if (d->functions.len < UINT32_MAX)
            map_set(&d->by_index, index, pid, d->functions.len);
        vec_push(&d->functions, function);
    }
    names_add(d->names, start, size, function.name, function.name_len);
}

/* A record: its kind, its length, its time, and what the kind has. Records stand in the order of
 * time. False at the end: of the file, or of what makes sense. */
static bool jit_dump_next(struct dump_reader *d, struct cursor *in)
{
    const uint8_t *begin = in->at;
    uint32_t kind = cursor_u32(in), size = cursor_u32(in);
    cursor_take(in, 8);
    if (in->failed || size < DUMP_RECORD_BYTES)
        return false;
    size_t left = cursor_left(in), len = size - DUMP_RECORD_BYTES;
    struct cursor record = *in;
    record.end = record.at + (len < left ? len : left);
    if (kind == JIT_CODE_LOAD || kind == JIT_CODE_MOVE)
        jit_dump_function(d, &record, kind == JIT_CODE_MOVE);
    in->at = begin;
    return cursor_take(in, size) != NULL;
}

bool jit_names_read_dump(struct jit_names *n, struct bytes dump, uint32_t pid, struct err *e)
{
    struct cursor in = cursor_over(dump, "jitdump");
    uint32_t magic = cursor_u32(&in);
    in.big_endian = magic == __builtin_bswap32(DUMP_MAGIC);
    if (in.failed || (magic != DUMP_MAGIC && !in.big_endian))
        return err_at(e, &in, "this is not a jitdump");
    uint32_t version = cursor_u32(&in), header = cursor_u32(&in);
    cursor_take(&in, 4 + 4); /* machine, padding */
    uint32_t maker = cursor_u32(&in);
    if (in.failed || version != DUMP_VERSION || header < DUMP_HEADER_BYTES)
        return err_at(e, &in, "a jitdump of a version that is not known");
    struct dump_reader d = {.names = n, .maker = maker, .pid = pid};
    in.at = in.base;
    if (cursor_take(&in, header))
        while (jit_dump_next(&d, &in))
            ;
    vec_free(&d.functions);
    map_deinit(&d.by_index);
    n->sources++;
    return true;
}

/* --- which function was last at which address ------------------------------------------------- */

/* In a list of functions: none. */
#define NO_CODE UINT32_MAX

/* The first address from `i` on that is free, or the number of all: links are shortened as they are
 * followed. */
static uint32_t place_free(uint32_t *next, uint32_t i)
{
    while (next[i] != i) {
        next[i] = next[next[i]];
        i = next[i];
    }
    return i;
}

/* For each address the function that was there last, or NO_CODE. From the last function back, each
 * takes those of its addresses that are still free; what is taken is stepped over at once, so that
 * a million functions on one page take no longer than on many. */
static uint32_t *place_last(const struct jit_names *n, struct arena *a)
{
    uint32_t *last = ARENA_NEW(a, uint32_t, n->addresses_len);
    uint32_t *next = ARENA_NEW(a, uint32_t, (size_t)n->addresses_len + 1);
    for (uint32_t i = 0; i < n->addresses_len; i++) {
        last[i] = NO_CODE;
        next[i] = i;
    }
    next[n->addresses_len] = n->addresses_len;
    for (size_t k = n->all.len; k-- > 0;) {
        const struct jit_code *code = &n->all.at[k];
        for (uint32_t i = place_free(next, code->first); i < code->behind;
             i = place_free(next, i + 1)) {
            last[i] = (uint32_t)k;
            next[i] = i + 1;
        }
    }
    return last;
}

/* How many addresses functions of different names had, of [from, to), which one file lists, where
 * that file names the address. A sweep over the addresses: `here` counts the functions of each name
 * that have begun and not ended; it is zero before and after. */
static uint32_t place_reused(const struct jit_names *n, const uint32_t *last, uint32_t *here,
                             size_t from, size_t to)
{
    struct arena scratch = {0};
    size_t len = to - from, begun = 0, ended = 0;
    struct keyed *begins = ARENA_NEW(&scratch, struct keyed, len);
    struct keyed *ends = ARENA_NEW(&scratch, struct keyed, len);
    for (size_t i = 0; i < len; i++) {
        const struct jit_code *code = &n->all.at[from + i];
        begins[i] = (struct keyed){code->first, code->name};
        ends[i] = (struct keyed){code->behind, code->name};
    }
    sort_keyed(begins, len);
    sort_keyed(ends, len);
    uint32_t source = n->all.at[from].source, names = 0, reused = 0;
    for (uint32_t i = 0; i <= n->addresses_len && ended < len; i++) {
        for (; begun < len && begins[begun].key <= i; begun++)
            names += here[begins[begun].item]++ == 0;
        for (; ended < len && ends[ended].key <= i; ended++)
            names -= --here[ends[ended].item] == 0;
        reused += names > 1 && last[i] != NO_CODE && n->all.at[last[i]].source == source;
    }
    arena_deinit(&scratch);
    return reused;
}

void jit_names_place(const struct jit_names *n, struct jit_pieces *out)
{
    struct arena scratch = {0};
    uint32_t *last = place_last(n, &scratch), before = NO_CODE;
    for (uint32_t i = 0; i < n->addresses_len; i++) {
        if (last[i] == NO_CODE || (i && last[i] == last[i - 1]))
            continue;
        const struct jit_code *code = &n->all.at[last[i]];
        struct jit_piece piece = {code->start, code->end, intern_text(&n->texts, code->name)};
        struct jit_piece *below = out->all.len ? &out->all.at[out->all.len - 1] : NULL;
        if (below && below->end > piece.start) { /* they are cut where the newer begins or ends */
            if (last[i] > before)
                below->end = piece.start;
            else
                piece.start = below->end;
        }
        vec_push(&out->all, piece);
        before = last[i];
    }
    uint32_t *here = ARENA_NEW(&scratch, uint32_t, n->texts.texts.len);
    for (size_t from = 0, to = 0; from < n->all.len; from = to) {
        while (to < n->all.len && n->all.at[to].source == n->all.at[from].source)
            to++;
        out->reused += place_reused(n, last, here, from, to);
    }
    arena_deinit(&scratch);
}
