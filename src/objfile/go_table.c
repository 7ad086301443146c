/* Functions and lines of Go programs by the table that their own runtime reads. It stays in the
 * file when `strip` or `go build -ldflags='-s -w'` takes symbols and debug information away.
 *
 *     header     magic, 2 zeros, size of instructions, size of a word, then words, by version:
 *
 *       1.2      functions; the table of functions, then the offset of the files
 *       1.16     functions, files; offsets of names, units, files, values, functions
 *       1.18     the same, with the address of the text after the files
 *       1.20     the same under another magic number
 *
 *     functions  address, record; address, record; ...; address of the end
 *     record     address, name, arguments, stack, frames, files, lines, count, unit
 *     values     change, length; change, length; ...; 0: what holds from the function's start on
 *
 * Addresses are words, and numbers of 4 bytes from the start of the text since Go 1.18. In
 * position-independent programs the linker may leave that start to a relocation, which has it then.
 * Where such a relocation stands for each address, as up to Go 1.17, nothing is taken.
 *
 * A function's file is a number: of a list of all files, or since Go 1.16 of those of its unit.
 * Code that was inlined has its own line, in the function that it was inlined into.
 *
 * Nothing is allocated by a number that the bytes do not bear out, functions that make no sense are
 * left out, and values are read for no more steps than two for each byte of the table. Names are
 * pointers into the file.
 *
 * Source: debug/gosym/pclntab.go and runtime/symtab.go of Go 1.2 to 1.22. Cost: a pass over the
 * functions, and one over all values when a caller wants a line. */
#include "objfile/private.h"

#include "base/vec.h"

#include <string.h>

/* Indices of words of the header after the first 8 bytes; 0: absent. */
struct go_layout {
    uint32_t magic;
    uint8_t text, names, units, files, values, functions;
};

static const struct go_layout LAYOUTS[] = {
    {0xfffffffb, 0, 0, 0, 0, 0, 0},
    {0xfffffffa, 0, 2, 3, 4, 5, 6},
    {0xfffffff0, 2, 3, 4, 5, 6, 7},
    {0xfffffff1, 2, 3, 4, 5, 6, 7},
};

struct go_table {
    struct bytes all, functions, records, names, units, files, values;
    uint64_t text; /* what addresses count from */
    size_t len;
    uint8_t width; /* of an address, and of the offset after it */
    uint8_t quantum;
    bool is_big, has_units;
};

/* A function; `record` is its place in the records, and there is room for its numbers. */
struct go_function {
    uint64_t start, end, record;
    const char *name;
    uint32_t section;
};

static uint64_t go_number(const struct go_table *t, const uint8_t *at)
{
    return t->width == 4 ? bytes_u32(at, t->is_big) : bytes_u64(at, t->is_big);
}

/* What a relocation puts at an address; 0: there is none. */
static uint64_t go_relocated(const struct object *o, uint64_t address)
{
    GElf_Shdr header;
    Elf_Scn *section;
    GElf_Rela r;
    for (size_t i = 1; i < o->self.sections_len; i++) {
        if (!image_section(&o->self, i, &section, &header) || header.sh_type != SHT_RELA)
            continue;
        Elf_Data *data = elf_getdata(section, NULL);
        for (int k = 0; data && gelf_getrela(data, k, &r); k++)
            if (r.r_offset == address && !GELF_R_SYM(r.r_info))
                return (uint64_t)r.r_addend;
    }
    return 0;
}

/* The start of the text where the header leaves it open. Code of C may stand in front of Go's in a
 * program that is linked with it. */
static uint64_t go_text(struct object *o, uint64_t address)
{
    uint64_t text = go_relocated(o, address);
    if (text || object_facts(o)->interpreter)
        return text;
    (void)object_section_bytes(o, ".text", &text);
    return text;
}

/* From an offset on; empty at the end and beyond it. */
static struct bytes go_from(struct bytes all, uint64_t offset)
{
    struct bytes from = {0};
    if (offset < all.len)
        from = (struct bytes){all.at + offset, all.len - offset};
    return from;
}

/* A number of 4 bytes; 0 beyond the end. */
static uint32_t go_u32(const struct go_table *t, struct bytes all, uint64_t offset)
{
    return offset <= all.len && all.len - offset >= 4 ? bytes_u32(all.at + offset, t->is_big) : 0;
}

/* A text that ends within the bytes; or NULL. */
static const char *go_string(struct bytes all, uint64_t offset)
{
    struct bytes from = go_from(all, offset);
    return from.len && memchr(from.at, 0, from.len) ? (const char *)from.at : NULL;
}

/* Finds the parts; false: it is no such table, or too short for what it says. */
static bool go_parts(struct go_table *t, struct object *o, uint64_t address)
{
    const struct go_layout *layout = NULL;
    struct bytes all = t->all;
    size_t word = object_word(o);
    if (all.len < 8 + 8 * word || all.at[4] || all.at[5] || all.at[7] != word)
        return false;
    t->is_big = object_is_big_endian(o);
    t->quantum = all.at[6];
    for (size_t i = 0; i < sizeof LAYOUTS / sizeof *LAYOUTS; i++)
        if (LAYOUTS[i].magic == bytes_u32(all.at, t->is_big))
            layout = &LAYOUTS[i];
    if (!layout)
        return false;
    uint64_t words[8];
    t->width = (uint8_t)word;
    for (size_t i = 0; i < 8; i++)
        words[i] = go_number(t, all.at + 8 + i * word);
    t->has_units = layout->units;
    t->len = words[0];
    words[0] = 0; /* layouts without a part have it at the start of the table */
    t->names = go_from(all, words[layout->names]);
    t->units = go_from(all, words[layout->units]);
    t->files = go_from(all, words[layout->files]);
    t->values = go_from(all, words[layout->values]);
    t->functions = go_from(all, layout->functions ? words[layout->functions] : 8 + word);
    t->records = layout->functions ? t->functions : all;
    if (layout->text) {
        t->text = words[layout->text];
        t->text = t->text ? t->text : go_text(o, address + 8 + layout->text * word);
        t->width = 4;
        if (!t->text)
            return false;
    }
    if (t->functions.len < t->width || t->len > (t->functions.len / t->width - 1) / 2)
        return false;
    /* Without units, a number after the functions locates the files' offsets; [0] counts them. */
    if (!t->has_units)
        t->files = go_from(all, go_u32(t, t->functions, (2 * t->len + 1) * t->width));
    return true;
}

static bool go_open(struct go_table *t, struct object *o)
{
    uint64_t address = 0;
    *t = (struct go_table){.all = object_section_bytes(o, ".gopclntab", &address)};
    if (!t->all.len)
        t->all = object_section_bytes(o, ".data.rel.ro.gopclntab", &address);
    return t->all.len && go_parts(t, o, address);
}

/* A function of the table; false: it makes no sense. */
static bool go_function(const struct go_table *t, const struct object *o, size_t i,
                        struct go_function *f)
{
    const uint8_t *at = t->functions.at + 2 * i * t->width;
    *f = (struct go_function){.start = t->text + go_number(t, at),
                              .end = t->text + go_number(t, at + 2 * t->width),
                              .record = go_number(t, at + t->width)};
    if (f->end <= f->start || f->record > t->records.len ||
        t->records.len - f->record < t->width + 4u)
        return false;
    f->name = go_string(t->names, go_u32(t, t->records, f->record + t->width));
    f->section = section_at(o, f->start);
    return f->name && *f->name && f->section && o->sections[f->section].is_code;
}

bool go_functions_read(struct object *o)
{
    struct go_table t;
    if (!go_open(&t, o))
        return false;
    o->symbols = ARENA_NEW(&o->arena, struct object_symbol, t.len);
    for (size_t i = 0; i < t.len; i++) {
        struct go_function f;
        if (go_function(&t, o, i, &f))
            o->symbols[o->symbols_len++] = (struct object_symbol){.name = f.name,
                                                                  .address = f.start,
                                                                  .size = f.end - f.start,
                                                                  .section = f.section,
                                                                  .type = SYMBOL_FUNC,
                                                                  .binding = BIND_GLOBAL};
    }
    o->symbols_source = o->symbols_len ? SYMBOLS_SYMTAB : SYMBOLS_NONE;
    return o->symbols_len;
}

/* --- lines ------------------------------------------------------------------------------------ */

/* Offsets of a function's numbers in its record, after the address. */
enum { GO_FILES = 16, GO_LINES = 20, GO_UNIT = 28 };

/* One list of values: what holds up to `end`. */
struct go_values {
    struct cursor in;
    uint64_t end;
    uint32_t value;
    bool has_begun;
};

/* Values of a function begin at -1. Those of no length make no sense. */
static bool go_step(struct go_values *v, uint8_t quantum, size_t *steps)
{
    uint32_t change = (uint32_t)cursor_leb128(&v->in);
    uint64_t length = cursor_leb128(&v->in) & UINT32_MAX;
    if (!*steps || v->in.failed || (!change && v->has_begun) || !length || !quantum)
        return false;
    --*steps;
    v->has_begun = true;
    v->value += change & 1 ? ~(change >> 1) : change >> 1;
    v->end += length * quantum;
    return true;
}

static struct go_values go_values(const struct go_table *t, const struct go_function *f,
                                  uint32_t number)
{
    uint32_t offset = go_u32(t, t->records, f->record + t->width + number);
    struct bytes list = offset ? go_from(t->values, offset) : (struct bytes){0};
    return (struct go_values){.in = cursor_over(list, ""), .end = f->start, .value = UINT32_MAX};
}

static const char *go_file(const struct go_table *t, const struct go_function *f, uint32_t number)
{
    if (!t->has_units)
        return number && number < go_u32(t, t->files, 0)
                   ? go_string(t->all, go_u32(t, t->files, 4 * (uint64_t)number))
                   : NULL;
    uint64_t unit = go_u32(t, t->records, f->record + t->width + GO_UNIT);
    uint32_t offset = go_u32(t, t->units, 4 * (unit + number));
    return offset == UINT32_MAX ? NULL : go_string(t->files, offset);
}

struct go_lines {
    VEC(struct excerpt_read_place) places;
    VEC(struct excerpt_read_scope) scopes;
};

/* Both lists side by side: a place ends where either value does. */
static void go_lines_of(const struct go_table *t, const struct go_function *f, struct go_lines *out,
                        size_t *steps)
{
    struct go_values files = go_values(t, f, GO_FILES), lines = go_values(t, f, GO_LINES);
    const char *file = NULL;
    uint32_t number = UINT32_MAX;
    vec_push(&out->scopes, (struct excerpt_read_scope){.name = f->name});
    for (uint64_t at = f->start, end; at < f->end; at = end) {
        while (files.end <= at || lines.end <= at)
            if (!go_step(files.end <= at ? &files : &lines, t->quantum, steps))
                return;
        end = files.end < lines.end ? files.end : lines.end;
        end = end < f->end ? end : f->end;
        file = files.value == number ? file : go_file(t, f, files.value);
        number = files.value;
        struct excerpt_read_place p = {at, end, file, (uint32_t)out->scopes.len, lines.value};
        if (file && *file && lines.value && lines.value <= INT32_MAX)
            vec_push(&out->places, p);
    }
}

struct excerpt *go_places(struct object *o)
{
    struct go_table t;
    struct go_lines found = {0};
    if (o->go_sought || o->excerpt)
        return o->go;
    o->go_sought = true;
    if (!o->self.elf || o->bfd_version || o->has_symtab_only || !go_open(&t, o) ||
        object_has_dwarf(o))
        return NULL;
    size_t steps = 2 * t.all.len;
    uint64_t end = 0;
    for (size_t i = 0; i < t.len; i++) {
        struct go_function f;
        if (!go_function(&t, o, i, &f) || f.start < end)
            continue;
        end = f.end;
        go_lines_of(&t, &f, &found, &steps);
    }
    if (found.places.len) {
        struct excerpt *x = o->go = ARENA_NEW(&o->arena, struct excerpt, 1);
        x->places = ARENA_NEW(&o->arena, struct excerpt_read_place, found.places.len);
        x->scopes = ARENA_NEW(&o->arena, struct excerpt_read_scope, found.scopes.len);
        x->places_len = found.places.len;
        x->scopes_len = found.scopes.len;
        memcpy(x->places, found.places.at, x->places_len * sizeof *x->places);
        memcpy(x->scopes, found.scopes.at, x->scopes_len * sizeof *x->scopes);
    }
    vec_free(&found.places);
    vec_free(&found.scopes);
    return o->go;
}
