/* Objects over excerpts against objects over their files: every answer, at every byte of the code;
 * parts of it; excerpts put together; and what is cut off, changed or contradicts itself. */
#include "cases.h"
#include "objfile/workshop.h"

#include "objfile/object.h"

#include <stdlib.h>

enum { MOST = 16 };

static const char SOURCE[] =
    "#include \"deep.h\"\n"
    "static inline __attribute__((always_inline)) int outer(int x)\n"
    "{\n"
    "    return deep(x) + deep(x + 1);\n"
    "}\n"
    "__attribute__((noinline)) int worker(int n)\n"
    "{\n"
    "    int sum = 0;\n"
    "    for (int i = 0; i < n; i++)\n"
    "        sum += outer(i) ^ outer(sum);\n"
    "    return sum;\n"
    "}\n"
    "static __attribute__((noinline)) int idle(int n) { return n * 3; }\n"
    "int main(int argc, char **argv) { return worker(argc) + idle(argc) + !argv; }\n";

static const char HEADER[] = "static inline __attribute__((always_inline)) int deep(int x)\n"
                             "{\n"
                             "    volatile int y = x * x;\n"
                             "    return y + 3;\n"
                             "}\n";

/* All functions with code, by address; the texts are the object's. */
static size_t functions_of(struct object *o, struct excerpt_function *out, size_t most)
{
    size_t len, kept = 0;
    const struct object_symbol *symbols = object_symbols(o, &len, NULL);
    for (uint32_t i = 0; i < len && kept < most; i++)
        if (symbols[i].type == SYMBOL_FUNC && symbols[i].size)
            out[kept++] = (struct excerpt_function){symbols[i].address,
                                                    symbols[i].address + symbols[i].size - 1,
                                                    symbols[i].name,
                                                    i,
                                                    symbols[i].binding == BIND_LOCAL,
                                                    false,
                                                    false};
    for (size_t i = 0; i < kept; i++)
        for (size_t k = i + 1; k < kept; k++)
            if (out[k].start < out[i].start) {
                struct excerpt_function swapped = out[i];
                out[i] = out[k];
                out[k] = swapped;
            }
    return kept;
}

struct made {
    struct object *file;
    struct excerpt_function functions[64];
    size_t functions_len;
    struct excerpt_range ranges[64];
    struct writer w;
};

/* An excerpt with all lines of the functions for which `is_wanted` says so. */
static void make(struct made *m, bool (*is_wanted)(const char *name))
{
    struct err e = {0};
    write_text("deep.h", HEADER);
    write_text("excerpt.c", SOURCE);
    assert_true(run("gcc -O2 -g -Wl,--build-id excerpt.c -o excerpt"));
    char path[256];
    assert_non_null(getcwd(path, sizeof path - 16));
    strcat(path, "/excerpt");
    *m = (struct made){.file = object_open(path, NULL, NULL, &e)};
    assert_non_null(m->file);
    m->functions_len = functions_of(m->file, m->functions, 64);
    assert_true(m->functions_len >= 3);
    size_t len = 0;
    for (size_t i = 0; i < m->functions_len; i++)
        if (is_wanted(m->functions[i].name))
            m->ranges[len++] =
                (struct excerpt_range){m->functions[i].start, m->functions[i].last + 1, (double)i};
    excerpt_write(&m->w, m->file,
                  &(struct excerpt_request){m->functions, m->functions_len, m->ranges, len, 0});
}

static void unmake(struct made *m)
{
    writer_deinit(&m->w);
    object_close(m->file);
}

static bool is_any(const char *name)
{
    (void)name;
    return true;
}

static bool is_main(const char *name)
{
    return !strcmp(name, "main");
}

static bool is_other(const char *name)
{
    return !is_main(name);
}

static struct object *open_over(const struct made *m, struct bytes bytes,
                                struct excerpt_facts *facts, struct err *e)
{
    return object_open_excerpts(&bytes, 1, object_path(m->file), object_build_id(m->file), facts,
                                e);
}

static void assert_same_text(const char *left, const char *right)
{
    if (!left || !right)
        assert_ptr_equal(left, right);
    else
        assert_string_equal(left, right);
}

static void assert_same_frames(struct object *told, struct object *file, uint64_t address)
{
    struct object_frame l[MOST], r[MOST];
    const char *left_file, *right_file;
    uint32_t left_line, right_line;
    size_t len = object_frames(file, address, r, MOST);
    assert_int_equal(object_frames(told, address, l, MOST), len);
    for (size_t i = 0; i < len; i++) {
        assert_same_text(l[i].function, r[i].function);
        assert_same_text(l[i].file, r[i].file);
        assert_int_equal(l[i].line, r[i].line);
    }
    assert_int_equal(object_line(told, address, &left_file, &left_line),
                     object_line(file, address, &right_file, &right_line));
    assert_same_text(left_file, right_file);
    assert_int_equal(left_line, right_line);
}

struct listed {
    struct object_place at[512];
    size_t len;
};

static void list_place(const struct object_place *place, void *context)
{
    struct listed *list = context;
    assert_true(list->len < 512);
    assert_true(place->start < place->end);
    assert_true(!list->len || list->at[list->len - 1].end <= place->start);
    list->at[list->len++] = *place;
}

static void assert_same_places(struct object *told, struct object *file, uint64_t low,
                               uint64_t high)
{
    static struct listed l, r;
    l.len = r.len = 0;
    object_each_place(told, low, high, list_place, &l);
    object_each_place(file, low, high, list_place, &r);
    assert_int_equal(l.len, r.len);
    for (size_t i = 0; i < l.len; i++) {
        assert_int_equal(l.at[i].start, r.at[i].start);
        assert_int_equal(l.at[i].end, r.at[i].end);
        assert_int_equal(l.at[i].line, r.at[i].line);
        assert_same_text(l.at[i].file, r.at[i].file);
        assert_same_text(l.at[i].function, r.at[i].function);
    }
}

static void assert_says_the_same(struct object *told, const struct made *m)
{
    for (size_t i = 0; i < m->functions_len; i++) {
        const struct excerpt_function *f = &m->functions[i];
        const char *file;
        uint32_t line;
        if (!object_line(m->file, f->start, &file, &line))
            continue; /* of the compiler's own: nearest symbols reach beyond functions */
        for (uint64_t at = f->start; at <= f->last; at++)
            assert_same_frames(told, m->file, at);
        assert_same_places(told, m->file, f->start, f->last + 1);
        assert_same_places(told, m->file, f->start + 3, f->last);
    }
}

CASE(test_every_answer)
{
    struct made m;
    struct excerpt_facts facts;
    struct err e = {0};
    size_t len;
    enum object_symbol_source source;
    (void)state;
    make(&m, is_any);
    struct object *told = open_over(&m, (struct bytes){m.w.out.at, m.w.out.len}, &facts, &e);
    assert_non_null(told);
    assert_int_equal(facts.functions, m.functions_len);
    assert_true(facts.places > 10);
    assert_int_equal(facts.ranges_left_out, 0);
    assert_says_the_same(told, &m);
    const struct object_symbol *symbols = object_symbols(told, &len, &source);
    assert_int_equal(len, m.functions_len);
    assert_int_equal(source, SYMBOLS_SYMTAB);
    for (size_t i = 0; i < len; i++)
        assert_true(symbols[i].size && symbols[i].type == SYMBOL_FUNC);
    assert_int_equal(object_machine(told), object_machine(m.file));
    assert_int_equal(object_word(told), object_word(m.file));
    assert_int_equal(object_file_type(told), object_file_type(m.file));
    assert_true(object_has_debug_info(told));
    assert_int_equal(object_facts(told)->is_pie, object_facts(m.file)->is_pie);
    object_close(told);
    unmake(&m);
}

/* Code comes from the file, while that is the same one. */
CASE(test_code)
{
    struct made m;
    struct excerpt_facts facts;
    struct err e = {0};
    (void)state;
    make(&m, is_any);
    struct bytes bytes = {m.w.out.at, m.w.out.len};
    uint64_t start = m.functions[0].start;
    struct object *told = open_over(&m, bytes, &facts, &e);
    assert_true(object_has_code(told));
    assert_int_equal(object_code(told, start, 4).len, 4);
    object_close(told);
    struct bytes other = {(const uint8_t *)"another build-id 123", 20};
    told = object_open_excerpts(&bytes, 1, object_path(m.file), other, &facts, &e);
    assert_false(object_has_code(told));
    assert_int_equal(object_code(told, start, 4).len, 0);
    object_close(told);
    unmake(&m);
}

/* Two halves say what the whole says, and so does what is made of them. */
CASE(test_together)
{
    struct made one, two;
    struct excerpt_facts facts;
    struct err e = {0};
    struct writer w = {0};
    (void)state;
    make(&one, is_main);
    make(&two, is_other);
    struct bytes both[] = {{one.w.out.at, one.w.out.len}, {two.w.out.at, two.w.out.len}};
    struct object *told =
        object_open_excerpts(both, 2, object_path(one.file), object_build_id(one.file), &facts, &e);
    assert_non_null(told);
    assert_int_equal(facts.functions, one.functions_len);
    assert_says_the_same(told, &one);
    excerpt_rewrite(&w, told);
    object_close(told);
    told = open_over(&one, (struct bytes){w.out.at, w.out.len}, &facts, &e);
    assert_non_null(told);
    assert_says_the_same(told, &one);
    object_close(told);
    writer_deinit(&w);
    unmake(&one);
    unmake(&two);
}

/* No time at all: functions are there, lines are not, and it says so. */
CASE(test_no_time)
{
    struct made m;
    struct excerpt_facts facts;
    struct err e = {0};
    struct writer w = {0};
    const char *file;
    uint32_t line;
    (void)state;
    make(&m, is_any);
    for (size_t i = 0; i < m.functions_len; i++)
        m.ranges[i] = (struct excerpt_range){m.functions[i].start, m.functions[i].last + 1, 1};
    excerpt_write(
        &w, m.file,
        &(struct excerpt_request){m.functions, m.functions_len, m.ranges, m.functions_len, 1});
    struct object *told = open_over(&m, (struct bytes){w.out.at, w.out.len}, &facts, &e);
    assert_non_null(told);
    assert_int_equal(facts.ranges_left_out, m.functions_len);
    assert_int_equal(facts.functions, m.functions_len);
    assert_false(object_line(told, m.functions[0].start, &file, &line));
    object_close(told);
    writer_deinit(&w);
    unmake(&m);
}

/* Cut at every byte it is no excerpt; with any byte changed it is none, or one that keeps the
 * rules, whatever it says. */
CASE(test_damage)
{
    struct made m;
    struct excerpt_facts facts;
    static struct listed list;
    (void)state;
    make(&m, is_any);
    size_t len = m.w.out.len;
    uint8_t *copy = malloc(len);
    assert_non_null(copy);
    for (size_t cut = 0; cut < len; cut++) {
        struct err e = {0};
        memcpy(copy, m.w.out.at, cut);
        assert_null(open_over(&m, (struct bytes){copy, cut}, &facts, &e));
        assert_true(e.line[0]);
    }
    for (size_t i = 0; i < len; i++)
        for (unsigned bit = 0; bit < 8; bit++) {
            memcpy(copy, m.w.out.at, len);
            copy[i] ^= (uint8_t)(1u << bit);
            struct object *told = open_over(&m, (struct bytes){copy, len}, &facts, NULL);
            struct object_frame frames[MOST];
            if (!told)
                continue;
            list.len = 0;
            object_each_place(told, 0, UINT64_MAX, list_place, &list);
            for (size_t k = 0; k < list.len; k++)
                assert_true(object_frames(told, list.at[k].start, frames, MOST) > 0);
            object_close(told);
        }
    free(copy);
    unmake(&m);
}

int main(void)
{
    return run_cases(workshop_open, workshop_close);
}
