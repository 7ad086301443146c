/* libFuzzer: the readers of lines and inlined calls, over an object image with any debug
 * information, whole or cut. Besides crashes and endless work it hunts answers that contradict each
 * other:
 * - places of code ascend, do not overlap, and keep within what was asked for;
 * - asked for in pieces, they cover the same code with the same lines;
 * - frames[0] is the place that the walk gave for the address, as the walk promises;
 * - GNU's table of lines has as many of them whether or not they are all listed.
 * The first byte of the input says whether it is read as GNU gprof reads it. */
#include "gnu/gprof/functions_gnu.h"
#include "objfile/private.h"
#include "profile/analysis/attribution.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

enum { MOST_ASKED = 256 };

struct seen {
    uint64_t low, high; /* what was asked for */
    uint64_t reached, bytes, hash;
    struct object_place asked[MOST_ASKED];
    size_t places;
};

static void check(bool is_true)
{
    if (!is_true)
        abort();
}

static uint64_t hash_text(uint64_t hash, const char *text)
{
    for (; text && *text; text++)
        hash = (hash ^ (unsigned char)*text) * 0x100000001b3;
    return hash;
}

static void see(const struct object_place *p, void *context)
{
    struct seen *s = context;
    check(p->start < p->end && p->file);
    check(p->start >= s->low && p->end <= s->high);
    check(!s->places || p->start >= s->reached);
    s->reached = p->end;
    s->bytes += p->end - p->start;
    uint64_t place =
        hash_text(hash_text(p->line + UINT64_C(0xcbf29ce484222325), p->file), p->function);
    s->hash += place * (p->end - p->start); /* the same however code is cut into places */
    if (s->places < MOST_ASKED)
        s->asked[s->places] = *p;
    s->places++;
}

static bool same_text(const char *left, const char *right)
{
    return left == right || (left && right && !strcmp(left, right));
}

static void compare_frames(struct object *o, const struct seen *s)
{
    for (size_t i = 0; i < s->places && i < MOST_ASKED; i++) {
        struct object_frame frames[8];
        size_t len = object_frames(o, s->asked[i].start, frames, 8);
        check(len);
        check(same_text(frames[0].file, s->asked[i].file) && frames[0].line == s->asked[i].line);
        check(same_text(frames[0].function, s->asked[i].function));
        uint64_t hash = 0;
        for (size_t k = 0; k < len; k++)
            hash = hash_text(hash_text(hash, frames[k].function), frames[k].file);
        check(hash != 1); /* reads all of it */
    }
}

static void compare_walks(struct object *o)
{
    static struct seen whole, halves, inlined;
    whole = (struct seen){.high = UINT64_MAX};
    object_each_place(o, 0, UINT64_MAX, see, &whole);
    uint64_t middle =
        whole.places
            ? whole.asked[whole.places < MOST_ASKED ? whole.places / 2 : MOST_ASKED / 2].start + 1
            : 1;
    const struct object_range ranges[] = {{0, middle}, {middle, UINT64_MAX}};
    halves = (struct seen){.high = UINT64_MAX};
    object_each_place_within(o, ranges, 2, see, &halves);
    inlined = (struct seen){.high = UINT64_MAX};
    object_each_inlining_within(o, ranges, 2, see, &inlined);
    check(halves.bytes == whole.bytes && halves.hash == whole.hash);
    check(inlined.bytes == whole.bytes && inlined.hash == whole.hash);
    compare_frames(o, &whole);
}

static uint64_t count_lines(struct object *o, const struct measured *m)
{
    struct arena a = {0};
    struct gnu_functions f;
    functions_gnu(&f, o, &(struct gnu_symbol_rules){0}, &a);
    if (!f.table.len) {
        arena_deinit(&a);
        return 0;
    }
    functions_add_lines(&f, o, m, NULL, &a);
    uint64_t lines = f.table.len;
    for (uint32_t i = 1; i < f.table.len; i++)
        check(f.table.at[i].start > f.table.at[i - 1].start);
    for (uint32_t i = 0; i < f.unlisted_len; i++)
        lines += f.unlisted[i].count;
    arena_deinit(&a);
    return lines;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    struct err e = {0};
    if (!len)
        return 0;
    struct bytes image = {data + 1, len - 1};
    struct object *o = object_open_memory(image, "image", NULL, &e);
    if (!o)
        return 0;
    o->has_symtab_only = data[0] & 1;
    o->bfd_version = data[0] & 1 ? 240 : 0;
    compare_walks(o);
    struct measured nothing = {0};
    check(count_lines(o, &nothing) == count_lines(o, NULL));
    object_close(o);
    return 0;
}
