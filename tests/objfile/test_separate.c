/* Stripped programs: where their symbols are found, and which files are not believed. */
#include "cases.h"
#include "objfile/workshop.h"

#include <elf.h>

static const char PROGRAM[] =
    "static int __attribute__((noinline)) hidden_away(int x) { return x; }\n"
    "int main(int c, char **v) { return hidden_away(c) + !v; }\n";

/* p: the whole program; p.debug: its symbols and debug information; q: stripped, linked to that. */
static void make_parts(const char *flags)
{
    need("gcc");
    need("objcopy");
    assert_true(run("rm -rf p q p.debug .debug d"));
    write_text("p.c", PROGRAM);
    assert_true(run("gcc -g -O1 -rdynamic %s -o p p.c && objcopy --only-keep-debug p p.debug && "
                    "objcopy -S --add-gnu-debuglink=p.debug p q",
                    flags));
}

static enum object_symbol_source source_of(struct object *o)
{
    size_t len;
    enum object_symbol_source source;
    object_symbols(o, &len, &source);
    assert_int_equal(len == 0, source == SYMBOLS_NONE);
    return source;
}

static void expect(const char *path, const struct object_options *options,
                   enum object_symbol_source source)
{
    struct object *o = opened(path, options);
    assert_int_equal(source_of(o), source);
    bool whole =
        source == SYMBOLS_SYMTAB || source == SYMBOLS_DEBUG_FILE || source == SYMBOLS_GNU_DEBUGDATA;
    const struct object_symbol *s = symbol_named(o, "hidden_away");
    assert_int_equal(s != NULL, whole);
    if (s) {
        assert_string_equal(object_section(o, s->section)->name, ".text");
        assert_true(object_section(o, s->section)->has_bytes);
    }
    object_close(o);
}

CASE(test_beside)
{
    make_parts("-Wl,--build-id=none");
    expect("p", NULL, SYMBOLS_SYMTAB);
    expect("q", NULL, SYMBOLS_DEBUG_FILE);
    assert_true(run("mkdir .debug && mv p.debug .debug"));
    expect("q", NULL, SYMBOLS_DEBUG_FILE);
    assert_true(run("mkdir elsewhere && ln -s ../q elsewhere/q"));
    expect("elsewhere/q", NULL, SYMBOLS_DEBUG_FILE);
    expect("q", &(struct object_options){.has_symtab_only = true}, SYMBOLS_NONE);
    assert_true(run("rm -r .debug"));
    expect("q", NULL, SYMBOLS_DYNSYM);
}

/* Under a debug directory, by the absolute path of the program. */
CASE(test_debug_dir)
{
    make_parts("-Wl,--build-id=none");
    assert_true(run("mkdir -p d/$(pwd -P) && mv p.debug d/$(pwd -P)"));
    expect("q", NULL, SYMBOLS_DYNSYM);
    expect("q", &(struct object_options){.debug_dir = "nowhere::d"}, SYMBOLS_DEBUG_FILE);
}

CASE(test_build_id)
{
    make_parts("-Wl,--build-id=0x0123456789abcdef");
    assert_true(run("mkdir -p d/.build-id/01 && mv p.debug d/.build-id/01/23456789abcdef.debug"));
    struct object *o = opened("q", NULL);
    struct bytes id = object_build_id(o);
    assert_int_equal(id.len, 8);
    assert_memory_equal(id.at, "\x01\x23\x45\x67\x89\xab\xcd\xef", 8);
    object_close(o);
    expect("q", &(struct object_options){.debug_dir = "d"}, SYMBOLS_DEBUG_FILE);
    /* a file of another build in that place */
    assert_true(run("gcc -g -Wl,--build-id=0xfedc -o d/.build-id/01/23456789abcdef.debug p.c"));
    expect("q", &(struct object_options){.debug_dir = "d"}, SYMBOLS_DYNSYM);
}

CASE(test_wrong_crc)
{
    make_parts("-Wl,--build-id=none");
    assert_true(run("printf x >> p.debug"));
    expect("q", NULL, SYMBOLS_DYNSYM);
    /* the same build-id needs no CRC: dwz and others rewrite debug files */
    make_parts("-Wl,--build-id=sha1");
    assert_true(run("printf x >> p.debug"));
    expect("q", NULL, SYMBOLS_DEBUG_FILE);
    assert_true(run("gcc -g -Wl,--build-id=sha1 -DX -O0 -o p.debug p.c"));
    expect("q", NULL, SYMBOLS_DYNSYM);
}

/* A link that names the program itself, or a path, leads nowhere. */
CASE(test_odd_links)
{
    make_parts("-Wl,--build-id=sha1");
    assert_true(run("objcopy -S --add-gnu-debuglink=p.debug p q && mv q p.debug"));
    expect("p.debug", NULL, SYMBOLS_DYNSYM);
    make_parts("-Wl,--build-id=sha1");
    assert_true(run("printf '../p\\0\\0\\0\\0\\0\\0\\0' > link && "
                    "objcopy -S --add-section .gnu_debuglink=link p q && mkdir -p e && mv q e"));
    expect("e/q", NULL, SYMBOLS_DYNSYM);
}

CASE(test_mini_debug)
{
    need("xz");
    make_parts("-Wl,--build-id=none");
    assert_true(run("echo hidden_away > keep && objcopy -S --keep-symbols=keep p.debug mini && "
                    "rm -f mini.xz && xz mini && "
                    "objcopy -S --add-section .gnu_debugdata=mini.xz p q"));
    struct object *o = opened("q", NULL);
    enum object_symbol_source source = source_of(o);
    if (source == SYMBOLS_DYNSYM) {
        object_close(o);
        SKIPPED("built without liblzma");
    }
    assert_int_equal(source, SYMBOLS_GNU_DEBUGDATA);
    object_close(o);
    expect("q", NULL, SYMBOLS_GNU_DEBUGDATA);
    assert_true(run("gcc -g -O1 -rdynamic -Wl,--build-id=none -o p p.c && "
                    "objcopy -S --add-section .gnu_debugdata=mini.xz p q"));
    o = opened("q", NULL);
    assert_non_null(symbol_named(o, "main")); /* from .dynsym, which the section complements */
    object_close(o);
}

/* A few kilobytes that claim to be gigabytes, and nonsense. */
CASE(test_bad_mini_debug)
{
    need("xz");
    make_parts("-Wl,--build-id=none");
    assert_true(run("rm -f p.debug; head -c 140000000 /dev/zero | xz -1 > bomb.xz && "
                    "objcopy -S --add-section .gnu_debugdata=bomb.xz p q"));
    expect("q", NULL, SYMBOLS_DYNSYM);
    assert_true(run("objcopy -S --add-section .gnu_debugdata=p.c p q"));
    expect("q", NULL, SYMBOLS_DYNSYM);
}

CASE(test_lines_from_debug_file)
{
    make_parts("-Wl,--build-id=sha1");
    struct object *o = opened("q", NULL);
    const char *file;
    uint32_t line;
    assert_true(object_has_debug_info(o));
    assert_true(object_line(o, symbol_named(o, "hidden_away")->address, &file, &line));
    assert_string_equal(strrchr(file, '/'), "/p.c");
    assert_int_equal(line, 1);
    object_close(o);
    assert_true(run("rm p.debug"));
    o = opened("q", NULL);
    assert_false(object_has_debug_info(o));
    assert_false(object_line(o, object_facts(o)->entry, &file, &line));
    object_close(o);
}

int main(void)
{
    return run_cases(workshop_open, workshop_close);
}
