/* libFuzzer: split debug information, a .dwo file or a package. Besides crashes and endless work it
 * hunts functions that contradict each other:
 * - a function stands in one that came before it, and has a name that ends;
 * - what counts at an address is a function of the unit.
 * Addresses and ranges that a program would have are made up. */
#include "objfile/debug_info.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void check(bool is_true)
{
    if (!is_true)
        abort();
}

static void check_unit(const struct split_unit *u)
{
    struct scopes s;
    uint64_t id;
    split_unit_id(u, &id);
    split_scopes_init(&s, u);
    for (uint32_t i = 0; i < s.scopes.len; i++) {
        uint32_t file, line;
        const char *name = scope_name(&s, i);
        check(!name || strlen(name) < SIZE_MAX);
        check(s.scopes.at[i].parent == NO_SCOPE || s.scopes.at[i].parent < i);
        scope_call(&s, i, &file, &line);
    }
    for (size_t i = 0; i < s.cover.segments.len; i++) {
        uint32_t scope = s.cover.segments.at[i].id;
        check(scope == NO_SCOPE || scope < s.scopes.len);
    }
    scopes_deinit(&s);
}

static void check_units(const struct split_sections *s, bool big_endian)
{
    static const uint8_t made_up[256] = {0, 0x10, 0, 0, 0, 0, 0, 0, 0, 0x20, 0, 0, 0, 0, 0, 0, 9};
    struct bytes left = s->info, program = {made_up, sizeof made_up};
    for (int i = 0; i < 64 && left.len; i++) {
        struct split_unit u = {.abbrevs = s->abbrev,
                               .strings = s->str,
                               .string_offsets = s->str_offsets,
                               .lists = s->rnglists,
                               .addresses = program,
                               .ranges = program,
                               .low = 0x1000};
        if (split_unit_open(&u, &left, big_endian))
            check_unit(&u);
    }
}

/* Every id that the index may have stands behind its header. */
static void check_package(struct bytes index, const struct split_sections *s, bool big_endian)
{
    for (size_t at = 16; at + 8 <= index.len && at < 16 + 8 * 64; at += 8) {
        struct split_sections shares = *s;
        if (split_package_find(index, big_endian, bytes_u64(index.at + at, big_endian), &shares))
            check_units(&shares, big_endian);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    struct image image;
    struct split_sections s;
    struct bytes index;
    if (!image_over((struct bytes){data, len}, "image", &image, NULL, NULL))
        return 0;
    split_sections_read(&image, &s, &index);
    bool big_endian = image_is_big_endian(&image);
    check_units(&s, big_endian);
    check_package(index, &s, big_endian);
    image_close(&image);
    return 0;
}
