/* libFuzzer: asks an object image everything src/objfile answers and reads all of every string it
 * gets. Nothing may crash, hang or read outside the image, whatever it claims; a refusal says why
 * in one line. */
#include "objfile/object.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

enum { MOST_ASKED = 64 };

static size_t touch(const char *text)
{
    return text ? strlen(text) : 0;
}

static size_t ask_line(struct object *o, uint64_t address)
{
    const char *file;
    uint32_t line;
    size_t sum = object_line(o, address, &file, &line) ? touch(file) : 0;
    struct object_frame frames[8];
    for (size_t i = object_frames(o, address, frames, 8); i--;)
        sum += touch(frames[i].function) + touch(frames[i].file);
    return sum;
}

static void touch_place(const struct object_place *p, void *context)
{
    if (p->start >= p->end || !p->file)
        abort();
    *(size_t *)context += touch(p->file) + touch(p->function);
}

static size_t ask_symbols(struct object *o)
{
    size_t len, sum = 0;
    const struct object_symbol *symbols = object_symbols(o, &len, NULL);
    for (size_t i = 0; i < len; i++) {
        sum += touch(symbols[i].name);
        if (i >= MOST_ASKED)
            continue;
        char *readable = demangle(symbols[i].name, NULL);
        sum += touch(readable) + ask_line(o, symbols[i].address);
        free(readable);
    }
    return sum;
}

static size_t ask_facts(struct object *o)
{
    const struct object_facts *f = object_facts(o);
    size_t sum = touch(f->interpreter) + touch(f->soname) + touch(f->compiler);
    for (size_t i = 0; i < f->needed_len; i++)
        sum += touch(f->needed[i]);
    for (size_t i = 0; i < f->code_len && i < MOST_ASKED; i++)
        sum += ask_line(o, f->code[i].address);
    return sum;
}

static size_t ask_sections(struct object *o)
{
    size_t len, sum = 0;
    const struct object_section *sections = object_sections(o, &len);
    for (size_t i = 0; i < len; i++) {
        sum += touch(sections[i].name);
        if (i < MOST_ASKED)
            sum += ask_line(o, sections[i].address);
    }
    return sum;
}

static size_t ask_ranges(struct object *o)
{
    size_t len;
    const struct object_range *ranges = object_unwind_ranges(o, &len);
    for (size_t i = 0; i < len; i++)
        if (ranges[i].low >= ranges[i].high || (i && ranges[i - 1].high > ranges[i].low))
            abort();
    return len;
}

static size_t ask_calls(struct object *o)
{
    struct code_range everything = {0, UINT64_MAX};
    struct code_calls found = {0};
    struct code *code = code_open(o);
    if (code)
        code_find_calls(code, &everything, 1, &found);
    size_t sum = found.all.len;
    vec_free(&found.all);
    code_close(code);
    return sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    struct err e = {0};
    enum object_failure why;
    struct object *o = object_open_memory((struct bytes){data, len}, "image", &why, &e);
    if (!o) {
        if (why == OBJECT_OK || !e.line[0] || strchr(e.line, '\n'))
            abort();
        return 0;
    }
    struct bytes id = object_build_id(o);
    size_t sum = id.len ? (size_t)id.at[0] + id.at[id.len - 1] : 0;
    sum += ask_symbols(o) + ask_facts(o) + ask_sections(o) + object_has_debug_info(o);
    sum += object_mentions(o, "mcount") + ask_calls(o) + ask_ranges(o);
    object_each_place(o, 0, UINT64_MAX, touch_place, &sum);
    object_close(o);
    return sum == SIZE_MAX; /* keeps the reads alive */
}
