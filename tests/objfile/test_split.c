/* Split units: in .dwo files, plain and packed, and in packages. Every byte of code must have the
 * same functions and inlined calls as in a program whose debug information is whole. */
#include "cases.h"
#include "workshop.h"

#include "base/file.h"
#include "objfile/debug_info.h"

#include <inttypes.h>

static void write_sources(void)
{
    FILE *out = fopen("a.c", "w");
    fputs("static inline __attribute__((always_inline)) int twice(int x)\n"
          "{\n    volatile int y = x;\n    return y * 2;\n}\n"
          "static inline __attribute__((always_inline)) int more(int x)\n"
          "{\n    return twice(x) + twice(x + 1);\n}\n"
          "__attribute__((noinline, cold)) void rare(int x)\n{\n"
          "#ifdef __cplusplus\n    [](int y) { return more(y); }(x);\n#endif\n    more(x);\n}\n"
          "int b(int);\n"
          "int main(int c, char **v)\n{\n    (void)v;\n"
          "    for (int i = 0; i < 9; i++)\n        c ^= more(i) + b(i & 3);\n"
          "    if (c == 12345)\n        rare(c);\n    return c;\n}\n",
          out);
    fclose(out);
    out = fopen("b.c", "w");
    fputs("struct pair { int (*first)(int), second; };\n"
          "static inline __attribute__((always_inline)) int thrice(int x)\n"
          "{\n    volatile int y = x;\n    return y * 3;\n}\n"
          "__attribute__((noinline)) int b(int x)\n{\n    return thrice(x) + thrice(x + 1);\n}\n",
          out);
    fclose(out);
}

/* All that is known of all code. */
static char *told(const char *program)
{
    struct object *o = opened(program, NULL);
    size_t len, size, chains = 0;
    char *text;
    FILE *to = open_memstream(&text, &size);
    const struct object_section *sections = object_sections(o, &len);
    for (size_t i = 0; i < len; i++)
        for (uint64_t at = sections[i].address;
             sections[i].is_code && at < sections[i].address + sections[i].size; at++) {
            struct object_frame frames[8];
            size_t found = object_frames(o, at, frames, 8);
            chains += found > 1;
            for (size_t k = 0; k < found; k++)
                fprintf(to, "%" PRIx64 " %s %s:%" PRIu32 "\n", at, frames[k].function,
                        frames[k].file, frames[k].line);
        }
    fprintf(to, "%s", chains ? "inlined\n" : "");
    fclose(to);
    object_close(o);
    return text;
}

static void assert_tells(const char *program, const char *expected)
{
    char *text = told(program);
    if (strcmp(text, expected)) {
        write_text("expected", expected);
        write_text("told", text);
        char *difference = output_of("diff expected told | head");
        print_error("%s", difference);
        free(difference);
    }
    assert_string_equal(text, expected);
    free(text);
}

static bool make(const char *compiler, const char *flags, const char *name)
{
    return run("rm -f *.dwo *.dwp && %s -O2 %s -c a.c -o a.o && %s -O2 %s -c b.c -o b.o && "
               "%s a.o b.o -o %s",
               compiler, flags, compiler, flags, compiler, name);
}

/* The .dwo files packed in each way, then spoilt: less is known, and it is said. */
static void check_packed(const char *expected)
{
    static const char *const WAYS[] = {"zlib", "zlib-gnu", "zstd"};
    for (size_t i = 0; i < 3; i++)
        if (run("for f in a b; do cp $f.dwo $f.whole; objcopy --compress-debug-sections=%s $f.dwo "
                "|| exit 1; done",
                WAYS[i])) {
            assert_tells("split", expected);
            assert_true(run("for f in a b; do mv $f.whole $f.dwo; done"));
        } else {
            print_message("# this objcopy cannot pack with %s\n", WAYS[i]);
        }
}

/* A package holds all; without it and the .dwo files nothing inlined is known. */
static void check_package(const char *tool, const char *expected, const char *bare)
{
    if (!run("rm -f split.dwp && timeout 20 %s -e split -o split.dwp && test -s split.dwp", tool)) {
        print_message("# %s cannot make this package\n", tool);
        return;
    }
    assert_true(run("mkdir -p away && mv *.dwo away"));
    assert_tells("split", expected);
    assert_true(run("ln -sf split linked"));
    assert_tells("linked", expected);
    assert_true(run("rm -rf apart && mkdir apart && objcopy --only-keep-debug split split.debug && "
                    "cp split.dwp split.debug.dwp && objcopy -S --add-gnu-debuglink=split.debug "
                    "split apart/split && mv split.debug split.debug.dwp apart"));
    assert_tells("apart/split", expected);
    if (run("objcopy --compress-debug-sections=zstd split.dwp"))
        assert_tells("split", expected);
    assert_true(run("mv split.dwp gone.dwp"));
    assert_tells("split", bare);
    assert_true(run("mv away/*.dwo ."));
}

static void check(const char *compiler, const char *flags, bool packs)
{
    char with_split[256];
    print_message("# %s %s\n", compiler, flags);
    assert_true(make(compiler, flags, "whole"));
    char *expected = told("whole");
    assert_non_null(strstr(expected, "inlined"));
    snprintf(with_split, sizeof with_split, "%s -gsplit-dwarf", flags);
    assert_true(make(compiler, with_split, "split"));
    assert_tells("split", expected);
    check_packed(expected);
    assert_true(run("mkdir -p away && mv *.dwo away"));
    char *bare = told("split");
    assert_true(run("mv away/*.dwo ."));
    if (packs) {
        check_package("dwp", expected, bare);
        check_package("llvm-dwp-14", expected, bare);
    }
    free(bare);
    free(expected);
}

CASE(test_gcc)
{
    need("gcc");
    write_sources();
    check("gcc", "-gdwarf-4", true);
    check("gcc", "-gdwarf-5", false); /* Debian 12's dwp and llvm-dwp cannot read what it makes */
}

CASE(test_gcc_slow)
{
    need("gcc");
    write_sources();
    check("gcc", "-gdwarf-5 -ffunction-sections -O0", false);
    check("g++", "-x c++ -gdwarf-5 -O0", false); /* a member of a class in a function */
}

/* gcc 10, whose range lists of DWARF 5 stay in the program. */
CASE(test_lists_in_the_program)
{
#ifndef __x86_64__
    SKIPPED("gcc10.s is for x86-64");
#endif
    need("gcc");
    assert_true(run("cp %s/tests/data/split/gcc10.* . && gcc -c gcc10.s -o gcc10.o && "
                    "objcopy --extract-dwo gcc10.o gcc10.dwo && objcopy --strip-dwo gcc10.o && "
                    "gcc -nostdlib -static -Wl,-e,rare,-Ttext,0x401000 gcc10.o -o split",
                    getenv("MONARC_SOURCE")));
    char *text = told("split");
    assert_non_null(strstr(text, "401003 twice ./gcc10.c:3\n401003 more ./gcc10.c:8\n"
                                 "401003 rare ./gcc10.c:12\n401004 more"));
    assert_non_null(strstr(text, "401006 rare ./gcc10.c:12\n401007 twice ./gcc10.c:4\n"));
    free(text);
}

CASE(test_clang)
{
    need("clang");
    write_sources();
    check("clang", "-gdwarf-5 -ffunction-sections", true);
}

CASE(test_clang_slow)
{
    need("clang");
    write_sources();
    check("clang", "-gdwarf-4", true);
    check("clang", "-gdwarf-5", true);
}

CASE(test_other_machines_slow)
{
    static const char *const PREFIXES[] = {"i686-linux-gnu-", "powerpc64-linux-gnu-",
                                           "s390x-linux-gnu-"};
    write_sources();
    for (size_t i = 0; i < sizeof PREFIXES / sizeof PREFIXES[0]; i++) {
        char compiler[64];
        snprintf(compiler, sizeof compiler, "%sgcc", PREFIXES[i]);
        if (!have(compiler)) {
            print_message("# %s is not installed\n", compiler);
            continue;
        }
        check(compiler, "-gdwarf-4", false);
        if (strncmp(compiler, "s390x", 5)) /* test_another_machine */
            check(compiler, "-gdwarf-5", false);
    }
}

/* In the other byte order. */
CASE(test_another_machine)
{
    need("s390x-linux-gnu-gcc");
    write_sources();
    check("s390x-linux-gnu-gcc", "-gdwarf-5", false);
}

/* The package of another build has none of the ids. */
CASE(test_another_build)
{
    need("clang");
    need("llvm-dwp-14");
    write_sources();
    assert_true(make("clang", "-gdwarf-5 -gsplit-dwarf", "split"));
    if (!run("timeout 20 llvm-dwp-14 -e split -o other.package && test -s other.package")) {
        SKIPPED("llvm-dwp-14 cannot make this package"); /* it fails now and then */
    }
    assert_true(make("clang", "-gdwarf-5 -DOTHER=1 -O1 -gsplit-dwarf", "split"));
    char *expected = told("split");
    assert_true(run("mv other.package split.dwp"));
    assert_tells("split", expected);
    assert_true(run("rm *.dwo"));
    char *bare = told("split");
    assert_string_not_equal(bare, expected);
    free(bare);
    free(expected);
}

/* What cannot be unpacked is said. */
CASE(test_damaged)
{
    need("clang");
    write_sources();
    assert_true(make("clang", "-gdwarf-5 -gsplit-dwarf -fno-split-dwarf-inlining", "split"));
    assert_true(run("objcopy --compress-debug-sections=zlib a.dwo"));
    struct file_buffer whole = {0};
    assert_true(file_read("a.dwo", &whole, NULL));
    uint8_t *bytes = whole.at;
    for (size_t i = 0; i + 4 < whole.len; i++)
        if (bytes[i] == 0x78 && bytes[i + 1] >= 0x5e) /* a zlib stream */
            bytes[i + 2] ^= 0xff;
    assert_true(file_write("a.dwo", file_bytes(&whole), NULL));
    file_buffer_deinit(&whole);
    struct object *o = opened("split", NULL);
    const char *why;
    struct object_frame frames[8];
    size_t len;
    const struct object_symbol *symbols = object_symbols(o, &len, NULL);
    for (size_t i = 0; i < len; i++)
        if (!strcmp(symbols[i].name, "main"))
            object_frames(o, symbols[i].address, frames, 8);
    assert_true(object_debug_refused(o, &why));
    assert_non_null(strstr(why, "a.dwo"));
    object_close(o);
}

/* An index of two units with four columns, of which macros are not asked for. */
enum { SLOTS = 4, COLUMNS = 4, ROWS = 2, INDEX_BYTES = 16 + SLOTS * 12 + COLUMNS * 4 + ROWS * 32 };

static void put(uint8_t **at, uint64_t value, size_t size, bool big_endian)
{
    for (size_t i = 0; i < size; i++)
        *(*at)++ = (uint8_t)(value >> 8 * (big_endian ? size - 1 - i : i));
}

static void make_index(uint8_t out[INDEX_BYTES], uint64_t version, bool big_endian)
{
    /* Both ids begin at slot 1; the second goes on by 3 to slot 0. */
    static const uint64_t ids[SLOTS] = {UINT64_C(0x200000005), 1};
    static const uint32_t rows[SLOTS] = {2, 1}, kinds[COLUMNS] = {1, 3, 6, 8};
    static const uint32_t offsets[ROWS][COLUMNS] = {{0, 4, 0, 1}, {10, 0, 8, 2}};
    static const uint32_t sizes[ROWS][COLUMNS] = {{10, 6, 8, 2}, {22, 10, 24, 30}};
    uint8_t *at = out;
    put(&at, version, version == 2 ? 4 : 2, big_endian);
    put(&at, 0, version == 2 ? 0 : 2, big_endian);
    put(&at, COLUMNS, 4, big_endian);
    put(&at, ROWS, 4, big_endian);
    put(&at, SLOTS, 4, big_endian);
    for (size_t i = 0; i < SLOTS; i++)
        put(&at, ids[i], 8, big_endian);
    for (size_t i = 0; i < SLOTS; i++)
        put(&at, rows[i], 4, big_endian);
    for (size_t i = 0; i < COLUMNS; i++)
        put(&at, kinds[i], 4, big_endian);
    for (size_t i = 0; i < ROWS * COLUMNS; i++)
        put(&at, offsets[i / COLUMNS][i % COLUMNS], 4, big_endian);
    for (size_t i = 0; i < ROWS * COLUMNS; i++)
        put(&at, sizes[i / COLUMNS][i % COLUMNS], 4, big_endian);
    assert_ptr_equal(at, out + INDEX_BYTES);
}

static struct split_sections sections_of(const uint8_t *bytes)
{
    struct bytes all = {bytes, 32};
    return (struct split_sections){
        .info = all, .abbrev = all, .str = all, .str_offsets = all, .rnglists = all};
}

static void check_share(struct bytes share, const uint8_t *all, size_t offset, size_t len)
{
    assert_ptr_equal(share.at, all + offset);
    assert_int_equal(share.len, len);
}

static void check_index(uint64_t version, bool big_endian)
{
    static const uint8_t bytes[32] = {0};
    uint8_t index[INDEX_BYTES];
    struct bytes whole = {index, sizeof index};
    make_index(index, version, big_endian);
    struct split_sections s = sections_of(bytes);
    assert_true(split_package_find(whole, big_endian, 1, &s));
    check_share(s.info, bytes, 0, 10);
    check_share(s.abbrev, bytes, 4, 6);
    check_share(s.str, bytes, 0, 32);
    check_share(s.rnglists, bytes, version == 5 ? 1 : 0, version == 5 ? 2 : 32);
    s = sections_of(bytes);
    assert_true(split_package_find(whole, big_endian, UINT64_C(0x200000005), &s));
    check_share(s.info, bytes, 10, 22);
    check_share(s.str_offsets, bytes, 8, 24);
    s = sections_of(bytes);
    assert_false(split_package_find(whole, big_endian, 9, &s)); /* the same first slot */
    assert_false(split_package_find(whole, big_endian, 2, &s));
    for (size_t len = 0; len < sizeof index; len++) {
        s = sections_of(bytes);
        assert_false(split_package_find((struct bytes){index, len}, big_endian, 1, &s));
    }
    s = sections_of(bytes);
    s.info.len = 9; /* a share that is not in its section */
    assert_false(split_package_find(whole, big_endian, 1, &s));
}

CASE(test_index)
{
    for (int order = 0; order < 2; order++) {
        check_index(2, order);
        check_index(5, order);
    }
    static const uint8_t bytes[32] = {0};
    uint8_t index[INDEX_BYTES];
    struct split_sections s = sections_of(bytes);
    make_index(index, 3, false);
    assert_false(split_package_find((struct bytes){index, sizeof index}, false, 1, &s));
    make_index(index, 5, false);
    index[12] = 3; /* slots: no power of two */
    assert_false(split_package_find((struct bytes){index, sizeof index}, false, 1, &s));
}

int main(void)
{
    return run_cases(workshop_open, workshop_close);
}
