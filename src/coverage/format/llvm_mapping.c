/* The coverage mapping that clang, rustc and swiftc put into objects: which places of the sources
 * the counters of a function stand for. Versions 2 to 7, of LLVM 3.9 to 23.
 *
 *     __llvm_covmap   units, aligned to 8: { u32 records, u32 files' bytes, u32 mappings' bytes,
 *                     u32 version - 1 }, [before version 4: records], list of files, [mappings]
 *     __llvm_covfun   version 4 on: records, aligned to 8, packed: { u64 name, u32 bytes, u64 hash,
 *                     u64 list of files, mapping }; lists and names are known by MD5
 *
 * A mapping is a sequence of ULEB128 numbers: the files, expressions over counters, then for each
 * file its regions. A region begins with a word that is a counter, or says what else it is:
 *
 *     ...cccc tt   tt > 0: code, counted by counter c          ...eeee 1 00  expansion: file e
 *     ...kkkk 0 00 kind k: code that never runs, skipped, branch, decision, branch of a decision
 *
 * followed by its place, lines relative to the region before. Only records are listed on reading;
 * regions are decoded one function after the other, into memory that is used again. What a number
 * in the bytes says there is, is compared with the bytes that remain before room is made for it.
 * Lists are packed by zlib, and so are names, which profiles hold in the same way.
 * Source: llvm/docs/CoverageMappingFormat.rst, llvm/lib/ProfileData/Coverage. */
#include "coverage/format/llvm.h"

#include "base/path.h"
#include "coverage/model/coverage.h"

#include <inttypes.h>
#include <string.h>
#include <zlib.h>

#define NONE ((uint32_t)NO_INDEX)

enum { VERSION_OLDEST = 2, VERSION_NEWEST = 7 };
enum { RECORD_BYTES = 28, OLD_RECORD_BYTES = 20, UNIT_BYTES = 16 };

/* ---- packed bytes and names */

/* deflate packs up to 1032 bytes into one, of names and lists of files no more than thirty: beyond
 * a megabyte, what claims to be much more has been made to fill memory. */
enum { MOST_RATIO = 200, SLACK_BYTES = 1 << 20 };

/* Bytes that zlib packed, unpacked into `a`; at[NULL] if they are not of that length. */
static struct bytes llvm_unpack(struct bytes packed, uint64_t len, struct arena *a)
{
    if ((len > SLACK_BYTES && len / MOST_RATIO > packed.len) || len > UINT32_MAX)
        return (struct bytes){0};
    uLongf room = (uLongf)len;
    uint8_t *out = arena_alloc(a, (size_t)len + 1);
    bool ok = uncompress(out, &room, packed.at, packed.len) == Z_OK && room == len;
    return (struct bytes){ok ? out : NULL, ok ? (size_t)len : 0};
}

/* { ULEB length, ULEB packed length or 0, bytes }*, with zeros between; names of a blob are joined
 * by the byte 1. */
bool llvm_names_read(struct bytes in, llvm_take_name *take, void *context)
{
    struct cursor c = cursor_over(in, NULL);
    struct arena scratch = {0};
    bool ok = true;
    while (ok && cursor_left(&c)) {
        if (!*c.at) {
            c.at++;
            continue;
        }
        uint64_t len = cursor_uleb(&c), packed = cursor_uleb(&c), stored = packed ? packed : len;
        const uint8_t *at = stored <= cursor_left(&c) ? cursor_take(&c, (size_t)stored) : NULL;
        struct bytes blob = {at, (size_t)len};
        if (at && packed)
            blob = llvm_unpack((struct bytes){at, (size_t)packed}, len, &scratch);
        ok = blob.at && !c.failed;
        for (size_t i = 0, end; ok && i < blob.len; i = end + 1) {
            const uint8_t *mark = memchr(blob.at + i, 1, blob.len - i);
            end = mark ? (size_t)(mark - blob.at) : blob.len;
            take(context, (const char *)blob.at + i, end - i);
        }
    }
    arena_deinit(&scratch);
    return ok;
}

/* ---- files */

/* { ULEB length, bytes }*, relative to the first from version 6 on. */
static bool files_take(struct llvm_mapping *m, struct cursor *in, uint64_t number, bool is_relative)
{
    const char *folder = NULL;
    for (uint64_t i = 0; i < number && !in->failed; i++) {
        uint64_t len = cursor_uleb(in);
        const char *at = len <= cursor_left(in) ? (const char *)cursor_take(in, (size_t)len) : NULL;
        if (!at)
            return false;
        const char *name = arena_copy(&m->arena, at, (size_t)len);
        if (is_relative && !i) {
            folder = name;
        } else if (is_relative && *folder && *name != '/') {
            name = arena_printf(&m->arena, "%s/%s", folder, name);
            /* `./build/./src/a.c`, of two folders that were mapped: the second name may begin
             * elsewhere. */
            if (*folder == '/' || !strstr(name, "/./"))
                name = path_tidy(name, &m->arena);
        }
        vec_push(&m->filenames, name);
    }
    return !in->failed;
}

/* The list of a unit; two units with the same list share it.
 * Packed lists are unpacked for as long as names are copied out of them. */
static bool files_read(struct llvm_mapping *m, struct bytes list, uint32_t version)
{
    uint8_t digest[8 + 8];
    struct cursor in = cursor_over(list, NULL);
    struct arena scratch = {0};
    md5(list, digest);
    struct llvm_filenames unit = {
        .ref = bytes_u64(digest, false), .first = (uint32_t)m->filenames.len, .version = version};
    uint64_t number = cursor_uleb(&in);
    if (version >= 4) {
        uint64_t len = cursor_uleb(&in), packed = cursor_uleb(&in);
        struct bytes rest = {in.at, cursor_left(&in)};
        if (packed && packed <= rest.len)
            rest = llvm_unpack((struct bytes){rest.at, (size_t)packed}, len, &scratch);
        else if (packed || len > rest.len)
            rest = (struct bytes){0};
        in = cursor_over(rest, NULL);
        in.failed = !rest.at;
    }
    bool ok = !in.failed && number <= cursor_left(&in) && files_take(m, &in, number, version >= 6);
    unit.len = (uint32_t)(m->filenames.len - unit.first);
    vec_push(&m->units, unit);
    arena_deinit(&scratch);
    return ok;
}

/* ---- functions */

/* What the compiler writes for a function that it did not compile: one region that never runs. */
static bool mapping_is_dummy(const struct llvm_mapped *f)
{
    struct cursor in = cursor_over(f->code, NULL);
    if (f->hash || cursor_uleb(&in) != 1)
        return false;
    (void)cursor_uleb(&in);
    return !cursor_uleb(&in) && cursor_uleb(&in) == 1 && !cursor_uleb(&in) && !in.failed;
}

/* Of several of one name the first is kept, unless it is a dummy. */
static void mapping_add(struct llvm_mapping *m, const struct llvm_mapped *f)
{
    bool is_new;
    uint32_t place = map_index(&m->by_name, f->name_ref, 0, m->functions.len, &is_new);
    if (is_new)
        vec_push(&m->functions, *f);
    else if (mapping_is_dummy(&m->functions.at[place]) && !mapping_is_dummy(f))
        m->functions.at[place] = *f;
}

/* Before version 4: the records of a unit precede its files, their mappings follow.
 * Records and mappings go side by side; a mapping that is cut off ends both. */
static void mapping_take_old(struct llvm_mapping *m, struct cursor *records, struct cursor *code)
{
    while (cursor_left(records) && !code->failed) {
        struct llvm_mapped f = {.name_ref = cursor_u64(records),
                                .filenames = (uint32_t)m->units.len - 1};
        f.code.len = cursor_u32(records);
        f.hash = cursor_u64(records);
        f.code.at = cursor_take(code, f.code.len);
        if (f.code.at)
            mapping_add(m, &f);
    }
}

/* Bytes after the last unit that are no unit are padding of the linker. */
static bool mapping_read_units(struct llvm_mapping *m, struct cursor *in, struct err *e)
{
    while (cursor_left(in) >= UNIT_BYTES) {
        struct cursor start = *in;
        uint32_t records = cursor_u32(in), files = cursor_u32(in), code = cursor_u32(in);
        uint32_t version = cursor_u32(in) + 1;
        if (version < VERSION_OLDEST || version > VERSION_NEWEST)
            return err_at(e, &start,
                          "coverage mapping of version %" PRIu32 "; versions %d to %d are known",
                          version, VERSION_OLDEST, VERSION_NEWEST);
        bool is_old = version < 4;
        struct bytes own = {in->at, is_old ? (size_t)records * OLD_RECORD_BYTES : 0};
        (void)cursor_take(in, own.len);
        const uint8_t *list = cursor_take(in, files);
        if (!list || !files_read(m, (struct bytes){list, files}, version))
            return err_at(e, &start, "the list of files of a coverage mapping is damaged");
        struct bytes mappings = {cursor_take(in, code), code};
        if (!mappings.at)
            return err_at(e, &start, "a coverage mapping ends early");
        if (is_old) {
            struct cursor r = cursor_over(own, NULL), c = cursor_over(mappings, NULL);
            r.big_endian = in->big_endian;
            mapping_take_old(m, &r, &c);
        }
        size_t pad = -cursor_offset(in) & 7, left = cursor_left(in);
        (void)cursor_take(in, pad < left ? pad : left);
    }
    return true;
}

/* A record whose list of files is not there is counted, and the others are read. */
static bool mapping_read_functions(struct llvm_mapping *m, struct cursor *in,
                                   const struct map *unit_of, struct err *e)
{
    while (cursor_left(in) >= RECORD_BYTES) {
        struct cursor start = *in;
        struct llvm_mapped f = {.name_ref = cursor_u64(in)};
        f.code.len = cursor_u32(in);
        f.hash = cursor_u64(in);
        uint64_t files = cursor_u64(in);
        f.code.at = cursor_take(in, f.code.len);
        if (!f.code.at)
            return err_at(e, &start, "the coverage mapping of a function ends early");
        const uint32_t *unit = map_find(unit_of, files, 0);
        if (unit) {
            f.filenames = *unit;
            mapping_add(m, &f);
        } else {
            m->without_a_unit++;
        }
        size_t pad = -cursor_offset(in) & 7, left = cursor_left(in);
        (void)cursor_take(in, pad < left ? pad : left);
    }
    return true;
}

/* Known by the hash, as records refer to it. */
static void mapping_take_name(void *context, const char *name, size_t len)
{
    struct llvm_mapping *m = context;
    uint32_t number = intern(&m->names, name, len);
    map_at(&m->name_of, llvm_name_ref(name, len), 0, number, NULL);
}

/* What was read before something broke is good, and stays. */
bool llvm_mapping_read(const struct llvm_sections *s, const char *name, struct llvm_mapping *m,
                       struct err *e)
{
    struct cursor in = cursor_over(s->units, name);
    struct map unit_of = {0};
    in.big_endian = s->is_big_endian;
    bool ok = mapping_read_units(m, &in, e);
    for (size_t i = 0; i < m->units.len; i++)
        map_at(&unit_of, m->units.at[i].ref, 0, (uint32_t)i, NULL);
    for (size_t i = 0; i < s->functions_len && ok; i++) {
        struct cursor functions = cursor_over(s->functions[i], name);
        functions.big_endian = s->is_big_endian;
        ok = mapping_read_functions(m, &functions, &unit_of, e);
    }
    map_deinit(&unit_of);
    return ok && (llvm_names_read(s->names, mapping_take_name, m) ||
                  err_in(e, name, "the names of functions (__llvm_prf_names) are damaged"));
}

/* ---- regions */

/* References give the kind of an expression: the last one counts. Compilers refer to each in one
 * way alone. */
static bool regions_counter(struct llvm_regions *r, uint32_t counter)
{
    uint32_t tag = counter & 3, i = counter >> 2;
    if (tag != COUNTER_SUBTRACT && tag != COUNTER_ADD)
        return true;
    if (i >= r->expressions.len)
        return false;
    r->expression_tags.at[i] = (uint8_t)tag;
    return true;
}

/* Counters fit 32 bits: 2 of them say what they are. */
static uint32_t regions_take_counter(struct llvm_regions *r, struct cursor *in)
{
    uint64_t word = cursor_uleb(in);
    if (word > UINT32_MAX || !regions_counter(r, (uint32_t)word))
        in->failed = true;
    return (uint32_t)word;
}

/* A number that has a limit by what it is. */
static uint32_t regions_take_number(struct cursor *in, uint32_t most)
{
    uint64_t value = cursor_uleb(in);
    in->failed |= value > most;
    return in->failed ? 0 : (uint32_t)value;
}

/* What the first word says, and what follows it before the place. */
static bool regions_take_kind(struct llvm_regions *r, struct cursor *in, struct llvm_region *out)
{
    enum { CODE_ZERO = 0, SKIPPED = 2, BRANCH = 4, DECISION = 5, MCDC_BRANCH = 6 };
    uint64_t head = cursor_uleb(in);
    if (head > UINT32_MAX)
        return false;
    if (head & 3) {
        out->count = (uint32_t)head;
        return regions_counter(r, out->count);
    }
    if (head & 4) {
        out->kind = REGION_EXPANSION;
        out->expanded = (uint32_t)(head >> 3);
        return out->expanded < r->files.len;
    }
    switch (head >> 3) {
    case CODE_ZERO: break;
    case SKIPPED: out->kind = REGION_SKIPPED; break;
    case BRANCH:
    case MCDC_BRANCH:
        out->kind = REGION_BRANCH;
        out->count = regions_take_counter(r, in);
        out->if_false = regions_take_counter(r, in);
        if (head >> 3 == BRANCH)
            break;
        out->kind = REGION_MCDC_BRANCH;
        out->id = regions_take_number(in, INT16_MAX);
        out->next_true = regions_take_number(in, INT16_MAX);
        out->next_false = regions_take_number(in, INT16_MAX);
        break;
    case DECISION:
        out->kind = REGION_DECISION;
        out->bitmap = regions_take_number(in, INT32_MAX);
        out->conditions = regions_take_number(in, INT16_MAX);
        break;
    default: return false;
    }
    return !in->failed;
}

/* Bit 31 of the last column makes code a gap; columns 0 and 0 are the whole lines. */
static bool regions_take_place(struct cursor *in, uint32_t *line, struct llvm_region *out)
{
    uint64_t delta = cursor_uleb(in), column = cursor_uleb(in), lines = cursor_uleb(in);
    uint64_t end_column = cursor_uleb(in), first = *line + (delta & UINT32_MAX);
    bool is_gap = end_column & (UINT64_C(1) << 31);
    end_column &= ~(UINT64_C(1) << 31);
    if (in->failed || delta > INT32_MAX || lines > INT32_MAX || first > INT32_MAX ||
        column > INT32_MAX || end_column > INT32_MAX || first + lines > INT32_MAX)
        return false;
    if (is_gap && out->kind == REGION_CODE)
        out->kind = REGION_GAP;
    if (!column && !end_column) {
        column = 1;
        end_column = INT32_MAX;
    }
    *line = out->line = (uint32_t)first;
    out->column = (uint32_t)column;
    out->end_line = (uint32_t)(first + lines);
    out->end_column = (uint32_t)end_column;
    return lines || column <= end_column;
}

/* A region that stands for another file has the count of the first region there; files that stand
 * in others come after them, so that the last is done first. */
static void regions_count_expansions(struct llvm_regions *r)
{
    r->expanded_at.len = 0;
    for (size_t i = 0; i < r->files.len; i++)
        vec_push(&r->expanded_at, NONE);
    uint32_t first = 0;
    VEC(uint32_t) counts = {0};
    for (size_t i = 0; i < r->files.len; i++)
        vec_push(&counts, COUNTER_ZERO);
    for (size_t i = r->at.len; i-- > 0;) {
        struct llvm_region *at = &r->at.at[i];
        if (at->kind == REGION_EXPANSION) {
            at->count = counts.at[at->expanded];
            r->expanded_at.at[at->expanded] = (uint32_t)i;
        }
        if (at->kind <= REGION_GAP)
            counts.at[at->file] = at->count;
    }
    while (first + 1 < r->files.len && r->expanded_at.at[first] != NONE)
        first++;
    r->main_file = r->files.len && r->expanded_at.at[first] == NONE ? first : 0;
    vec_free(&counts);
}

/* Files, expressions, regions, in this order: a counter can only refer to expressions that are
 * there, and a region to files. */
bool llvm_regions_read(const struct llvm_mapping *m, size_t i, struct llvm_regions *r,
                       const char **why)
{
    const struct llvm_mapped *f = &m->functions.at[i];
    const struct llvm_filenames *unit = &m->units.at[f->filenames];
    struct cursor in = cursor_over(f->code, NULL);
    r->files.len = r->expressions.len = r->expression_tags.len = r->at.len = 0;
    uint64_t files = cursor_uleb(&in);
    *why = "its list of files is damaged";
    if (in.failed || files > cursor_left(&in))
        return false;
    for (uint64_t k = 0; k < files; k++) {
        uint64_t number = cursor_uleb(&in);
        if (in.failed || number >= unit->len)
            return false;
        vec_push(&r->files, unit->first + (uint32_t)number);
    }
    uint64_t expressions = cursor_uleb(&in);
    *why = "its expressions are damaged";
    if (in.failed || expressions > cursor_left(&in) / 2)
        return false;
    for (uint64_t k = 0; k < expressions; k++) {
        vec_push(&r->expressions, (struct llvm_expression){0, 0});
        vec_push(&r->expression_tags, COUNTER_SUBTRACT);
    }
    for (uint64_t k = 0; k < expressions && !in.failed; k++) {
        r->expressions.at[k].left = regions_take_counter(r, &in);
        r->expressions.at[k].right = regions_take_counter(r, &in);
    }
    *why = in.failed ? *why : "its regions are damaged";
    for (uint32_t file = 0; file < files && !in.failed; file++) {
        uint64_t regions = cursor_uleb(&in);
        uint32_t line = 0;
        if (in.failed || regions > cursor_left(&in))
            return false;
        for (uint64_t k = 0; k < regions; k++) {
            struct llvm_region region = {.kind = REGION_CODE, .file = file};
            if (!regions_take_kind(r, &in, &region) || !regions_take_place(&in, &line, &region))
                return false;
            vec_push(&r->at, region);
        }
    }
    regions_count_expansions(r);
    return !in.failed && files;
}
