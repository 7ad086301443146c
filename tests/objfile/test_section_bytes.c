/* Sections by name: as they are, packed in each way, from a separate debug file, and without
 * section headers. */
#include "cases.h"
#include "workshop.h"

#include "base/file.h"

#include <elf.h>

static void make(const char *options, const char *name)
{
    FILE *out = fopen("p.c", "w");
    fputs("int f(int x) { return x ? x * f(x - 1) : 1; }\n"
          "int main(int c, char **v) { (void)v; return f(c); }\n",
          out);
    fclose(out);
    assert_true(run("cc -g -fno-asynchronous-unwind-tables -fno-unwind-tables %s -o %s p.c",
                    options, name));
}

static struct bytes section(struct object *o, const char *name)
{
    uint64_t address;
    return object_section_bytes(o, name, &address);
}

static void assert_same(struct bytes a, struct bytes b)
{
    assert_int_equal(a.len, b.len);
    assert_memory_equal(a.at, b.at, a.len);
}

CASE(test_packed)
{
    need("cc");
    make("-gz=none", "plain");
    struct object *plain = opened("plain", NULL);
    struct bytes expected = section(plain, ".debug_frame");
    assert_true(expected.len > 40);
    static const char *const WAYS[] = {"zlib", "zlib-gnu", "zstd"};
    for (size_t i = 0; i < 3; i++) {
        if (!run("objcopy --compress-debug-sections=%s plain packed", WAYS[i])) {
            print_message("# skipped: objcopy without %s\n", WAYS[i]);
            continue;
        }
        struct object *packed = opened("packed", NULL);
        assert_same(section(packed, ".debug_frame"), expected);
        object_close(packed);
    }
    assert_true(run("objcopy --only-keep-debug plain plain.debug && strip -o bare plain && "
                    "objcopy --add-gnu-debuglink=plain.debug bare"));
    struct object *bare = opened("bare", NULL);
    assert_same(section(bare, ".debug_frame"), expected);
    assert_int_equal(section(bare, ".no_such").len, 0);
    object_close(bare);
    object_close(plain);
}

/* A copy of a program that has lost its section headers. */
static void drop_headers(const char *from, const char *to)
{
    struct file_buffer b = {0};
    assert_true(file_read(from, &b, NULL));
    Elf64_Ehdr *header = (Elf64_Ehdr *)b.at;
    header->e_shoff = 0;
    header->e_shnum = header->e_shstrndx = 0;
    assert_true(file_write(to, file_bytes(&b), NULL));
    file_buffer_deinit(&b);
}

CASE(test_without_headers)
{
    need("cc");
    make("-fasynchronous-unwind-tables", "whole");
    drop_headers("whole", "headless");
    struct object *whole = opened("whole", NULL), *headless = opened("headless", NULL);
    static const char *const NAMES[] = {".eh_frame_hdr", ".eh_frame"};
    for (size_t i = 0; i < 2; i++) {
        uint64_t address, expected_address;
        struct bytes expected = object_section_bytes(whole, NAMES[i], &expected_address);
        struct bytes found = object_section_bytes(headless, NAMES[i], &address);
        assert_true(expected.len > 20 && found.len >= expected.len);
        assert_memory_equal(found.at, expected.at, expected.len);
        assert_true(address == expected_address);
    }
    object_close(whole);
    object_close(headless);
}

int main(void)
{
    return run_cases(workshop_open, workshop_close);
}
