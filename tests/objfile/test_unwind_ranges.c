/* What .eh_frame says of functions: the same as symbols do, stripped or without section headers;
 * of damaged tables nothing that is out of order or no code. */
#include "cases.h"
#include "workshop.h"

#include "base/file.h"

static void make(const char *options)
{
    write_text("p.c",
               "__attribute__((noinline)) int first(int x) { return x ? x * first(x - 1) : 1; }\n"
               "__attribute__((noinline)) int second(int x) { return first(x) + first(x + 1); }\n"
               "int main(int c, char **v) { (void)v; return second(c); }\n");
    assert_true(run("cc -fasynchronous-unwind-tables %s -o p p.c", options));
}

static void assert_has(struct object *o, const struct object_symbol *s)
{
    size_t len;
    const struct object_range *all = object_unwind_ranges(o, &len);
    for (size_t i = 0; i < len; i++)
        if (all[i].low == s->address) {
            assert_int_equal(all[i].high, s->address + s->size);
            return;
        }
    fail_msg("no range for %s", s->name);
}

static void assert_in_order(struct object *o)
{
    size_t len;
    const struct object_range *all = object_unwind_ranges(o, &len);
    for (size_t i = 0; i < len; i++) {
        assert_true(all[i].low < all[i].high);
        assert_true(!i || all[i - 1].high <= all[i].low);
        if (object_facts(o)->has_sections)
            assert_true(object_code(o, all[i].low, 1).len == 1);
    }
}

static void assert_same_as_symbols(void)
{
    struct object *o = opened("p", NULL);
    assert_true(run("strip -o bare p"));
    struct object *bare = opened("bare", NULL);
    static const char *const NAMES[] = {"first", "second", "main"};
    for (size_t i = 0; i < 3; i++) {
        assert_has(o, symbol_named(o, NAMES[i]));
        assert_has(bare, symbol_named(o, NAMES[i]));
    }
    assert_in_order(o);
    object_close(bare);
    object_close(o);
}

CASE(test_as_symbols)
{
    need("cc");
    make("-O1");
    assert_same_as_symbols();
    make("-O2 -static -no-pie");
    assert_same_as_symbols();
    if (run("echo 'int main(void){return 0;}' | cc -m32 -x c - -o small")) {
        make("-O1 -m32");
        assert_same_as_symbols();
    }
}

CASE(test_none)
{
    need("cc");
    make("-c -O1"); /* a relocatable file's are not at their addresses yet */
    struct object *o = opened("p", NULL);
    size_t len;
    object_unwind_ranges(o, &len);
    assert_int_equal(len, 0);
    object_close(o);
}

/* Where the bytes of .eh_frame are in the file. */
static size_t place_of(struct bytes file, struct bytes section)
{
    const uint8_t *at = memmem(file.at, file.len, section.at, section.len);
    assert_non_null(at);
    return (size_t)(at - file.at);
}

/* Each byte of the section on its own, and everything behind it. */
CASE(test_damaged)
{
    need("cc");
    make("-O1 -s");
    struct object *o = opened("p", NULL);
    struct file_buffer file = {0};
    struct err e;
    assert_true(file_read("p", &file, &e));
    struct bytes all = file_bytes(&file), section = object_section_bytes(o, ".eh_frame", NULL);
    size_t start = place_of(all, section), whole, fewer = 0;
    object_unwind_ranges(o, &whole);
    uint8_t *copy = malloc(all.len);
    assert_non_null(copy);
    for (size_t i = 0; i < 3 * section.len; i++) {
        size_t at = i / 3;
        memcpy(copy, all.at, all.len);
        if (i % 3 == 0)
            copy[start + at] ^= 0xff;
        else if (i % 3 == 1)
            copy[start + at] ^= (uint8_t)(1 << at % 8);
        else
            memset(copy + start + at, 0, section.len - at);
        struct object *damaged = object_open_memory((struct bytes){copy, all.len}, "p", NULL, &e);
        assert_non_null(damaged);
        assert_in_order(damaged);
        size_t len;
        object_unwind_ranges(damaged, &len);
        assert_true(len <= whole + 1);
        fewer += len < whole;
        object_close(damaged);
    }
    assert_true(fewer > section.len / 2);
    free(copy);
    file_buffer_deinit(&file);
    object_close(o);
}

int main(void)
{
    return run_cases(workshop_open, workshop_close);
}
