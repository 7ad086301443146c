/* Names of the kernel's functions, from /proc/kallsyms: the kernel that was recorded must be the
 * one that runs, by its build-id, or by where its code is. Modules are where they were only since
 * the same boot. Nobody but root sees addresses there. */
#include "profile/import/perf_replay.h"

#include "base/file.h"
#include "base/sort.h"

#include <stdlib.h>
#include <string.h>

struct kernel_symbol {
    uint64_t address;
    const char *name, *module; /* module: "" of the kernel itself; no NUL behind either */
    uint32_t name_len, module_len;
};

struct kernel_symbols {
    struct file_buffer text;
    VEC(struct kernel_symbol) all;
};

static uint32_t kernel_word_len(const char *at, const char *end)
{
    const char *start = at;
    while (at < end && *at != ' ' && *at != '\t' && *at != '\n' && *at != ']')
        at++;
    return (uint32_t)(at - start);
}

/* "ffffffff81000000 T _text" or "... t nf_x [nf_tables]". */
static void kernel_take_line(struct kernel_symbols *s, const char *at, const char *end)
{
    struct kernel_symbol symbol = {.module = ""};
    char type;
    for (; at < end && *at != ' '; at++) {
        int digit = *at >= 'a' ? *at - 'a' + 10 : *at - '0';
        if (digit < 0 || digit > 15)
            return;
        symbol.address = symbol.address << 4 | (unsigned)digit;
    }
    if (end - at < 4 || !symbol.address)
        return;
    type = (char)(at[1] | 0x20);
    symbol.name = at + 3;
    symbol.name_len = kernel_word_len(symbol.name, end);
    const char *module = symbol.name + symbol.name_len;
    if (end - module > 2 && module[1] == '[') {
        symbol.module = module + 2;
        symbol.module_len = kernel_word_len(symbol.module, end);
    }
    if (type == 't' || type == 'w')
        vec_push(&s->all, symbol);
}

/* By address; those of one as they stand in the list. */
static void kernel_sort(struct kernel_symbols *s)
{
    struct arena scratch = {0};
    struct keyed *order = ARENA_NEW(&scratch, struct keyed, s->all.len);
    struct kernel_symbol *unsorted = ARENA_NEW(&scratch, struct kernel_symbol, s->all.len);
    for (uint32_t i = 0; i < s->all.len; i++) {
        unsorted[i] = s->all.at[i];
        order[i] = (struct keyed){unsorted[i].address, i};
    }
    sort_keyed(order, s->all.len);
    for (size_t i = 0; i < s->all.len; i++)
        s->all.at[i] = unsorted[order[i].item];
    arena_deinit(&scratch);
}

static bool kernel_read(struct kernel_symbols *s)
{
    if (!file_read("/proc/kallsyms", &s->text, NULL))
        return false;
    const char *at = (const char *)s->text.at, *end = at + s->text.len;
    while (at < end) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        kernel_take_line(s, at, newline ? newline : end);
        at = newline ? newline + 1 : end;
    }
    kernel_sort(s);
    return s->all.len;
}

/* Notes of the kernel that runs: its build-id is in one of type 3, by "GNU". */
static bool kernel_is_this(struct bytes id)
{
    struct file_buffer notes = {0};
    bool is_this = false;
    if (!id.len || !file_read("/sys/kernel/notes", &notes, NULL))
        return false;
    for (size_t i = 0; i + 16 + id.len <= notes.len && !is_this; i += 4)
        is_this =
            !memcmp(notes.at + i, "\3\0\0\0GNU", 8) && !memcmp(notes.at + i + 8, id.at, id.len);
    file_buffer_deinit(&notes);
    return is_this;
}

static uint64_t kernel_address_of(const struct kernel_symbols *s, const char *name)
{
    for (size_t i = 0; i < s->all.len; i++)
        if (s->all.at[i].name_len == strlen(name) &&
            !memcmp(s->all.at[i].name, name, s->all.at[i].name_len) && !s->all.at[i].module_len)
            return s->all.at[i].address;
    return 0;
}

static bool kernel_is_of(const struct kernel_symbol *s, const char *object)
{
    if (!strcmp(object, "[kernel.kallsyms]"))
        return !s->module_len;
    return strlen(object) == s->module_len + 2 && !memcmp(object + 1, s->module, s->module_len);
}

static int kernel_by_value(const void *left, const void *right)
{
    uint64_t l = *(const uint64_t *)left, r = *(const uint64_t *)right;
    return (l > r) - (l < r);
}

/* Addresses that stand in nodes of the object, each once. */
static uint64_t *kernel_sampled(const struct recording *r, uint32_t object, size_t *len,
                                struct arena *a)
{
    uint64_t *all = ARENA_NEW(a, uint64_t, r->nodes.len);
    size_t kept = 0;
    for (size_t i = 1; i < r->nodes.len; i++)
        if (r->nodes.at[i].object == object)
            all[kept++] = r->nodes.at[i].address;
    qsort(all, kept, sizeof *all, kernel_by_value);
    *len = kept;
    return all;
}

/* The symbols in which there is one of the addresses; `moved` is what is to be added to where they
 * are to get what stands in nodes. */
static void kernel_name_object(const struct kernel_symbols *s, uint32_t object, uint64_t moved,
                               struct recording *out)
{
    struct arena scratch = {0};
    size_t len, next = 0;
    const uint64_t *sampled = kernel_sampled(out, object, &len, &scratch);
    const char *path = out->objects.at[object].path;
    for (size_t i = 0; i < s->all.len && next < len; i++) {
        const struct kernel_symbol *symbol = &s->all.at[i];
        uint64_t start = symbol->address + moved;
        uint64_t end = i + 1 < s->all.len ? symbol[1].address + moved : start + 4096;
        if (!kernel_is_of(symbol, path) || end <= start)
            continue;
        while (next < len && sampled[next] < start)
            next++;
        if (next == len || sampled[next] >= end)
            continue;
        vec_push(&out->symbols, (struct recording_symbol){
                                    object, start, end - start,
                                    arena_copy(&out->arena, symbol->name, symbol->name_len)});
        struct recording_object *o = &out->objects.at[object];
        o->low = start < o->low ? start : o->low;
        o->high = end > o->high ? end : o->high;
    }
    arena_deinit(&scratch);
}

/* What is to be added to an address now for that of a node; false: nobody knows. */
static bool kernel_moved(const struct perf_kernel *k, uint64_t anchor, const char *object,
                         uint64_t *moved)
{
    *moved = k->anchor - anchor - k->start;
    if (!strcmp(object, "[kernel.kallsyms]"))
        return true;
    for (size_t i = 0; i < k->modules.len && anchor == k->anchor; i++)
        if (!strcmp(k->modules.at[i].name, object)) {
            *moved = -k->modules.at[i].start;
            return true;
        }
    return false;
}

/* Whether a listed object has a node: the list is long, and often nobody needs it. */
static bool kernel_is_sampled(const struct recording *r)
{
    for (size_t i = 1; i < r->nodes.len; i++) {
        uint32_t object = r->nodes.at[i].object;
        if (object < r->objects.len && r->objects.at[object].is_listed)
            return true;
    }
    return false;
}

void perf_kernel_names(const struct perf_replay *p, struct recording *out)
{
    struct kernel_symbols s = {0};
    const struct perf_kernel *k = &p->kernel;
    bool is_here = k->is_told && !p->opens_no_files && kernel_is_sampled(out) && kernel_read(&s);
    uint64_t anchor = is_here ? kernel_address_of(&s, k->symbol) : 0, moved;
    struct bytes id = perf_replay_known_id(p, "[kernel.kallsyms]");
    bool is_it = anchor && (id.len ? kernel_is_this(id) : anchor == k->anchor);
    for (uint32_t i = 0; is_it && i < out->objects.len; i++)
        if (out->objects.at[i].is_listed &&
            kernel_moved(k, anchor, out->objects.at[i].path, &moved))
            kernel_name_object(&s, i, moved, out);
    vec_free(&s.all);
    file_buffer_deinit(&s.text);
}
