/* Counts of lines on programs that are compiled here: each is on code of its line in its function,
 * nothing is lost on the way, and what has no place is named. */
#include "bridge/bridge.h"
#include "cases.h"

#include "objfile/workshop.h"

static const char PROGRAM[] = "static int other(int x)\n"         /* 1 */
                              "{\n"                               /* 2 */
                              "    return x * 3;\n"               /* 3 */
                              "}\n"                               /* 4 */
                              "int work(int x)\n"                 /* 5 */
                              "{\n"                               /* 6 */
                              "    int sum = 0;\n"                /* 7 */
                              "    for (int i = 0; i < x; i++)\n" /* 8 */
                              "        sum += other(i);\n"        /* 9 */
                              "    return sum;\n"                 /* 10 */
                              "}\n"                               /* 11 */
                              "int main(void)\n"                  /* 12 */
                              "{\n"                               /* 13 */
                              "    return work(4);\n"             /* 14 */
                              "}\n";                              /* 15 */
enum { GONE_LINE = 100 };

struct toy {
    struct arena arena;
    struct functions functions;
    struct line_counts counts;
    struct source_search maps;
    struct placing in;
    struct profile profile;
    struct placed placed;
    char file[256]; /* as the program's debug information has it */
};

static void begin(struct toy *t, const char *text, const char *flags)
{
    char folder[200];
    *t = (struct toy){.maps.arena = &t->arena};
    assert_non_null(getcwd(folder, sizeof folder));
    snprintf(t->file, sizeof t->file, "%s/prog.c", folder);
    write_text("prog.c", text);
    assert_true(run("gcc -g %s %s -o prog", flags, t->file));
    t->in.object = opened("prog", NULL);
    functions_native(&t->functions, t->in.object, &t->arena);
    t->in.functions = &t->functions;
    t->in.maps = &t->maps;
    t->in.counts = &t->counts;
}

static struct line_count *add(struct toy *t, const char *file, uint32_t line, const char *function,
                              uint64_t count)
{
    struct line_count c = {.file = intern(&t->counts.files, file, strlen(file)),
                           .line = line,
                           .function = intern(&t->counts.names, function, strlen(function)),
                           .ordinal = (uint32_t)t->counts.at.len,
                           .count = count};
    vec_push(&t->counts.at, c);
    return &t->counts.at.at[t->counts.at.len - 1];
}

static void add_function(struct toy *t, const char *file, const char *name, uint64_t count)
{
    struct called_function f = {.name = intern(&t->counts.names, name, strlen(name)),
                                .file = intern(&t->counts.files, file, strlen(file)),
                                .count = count};
    vec_push(&t->counts.functions, f);
}

static void place(struct toy *t)
{
    line_counts_settle(&t->counts);
    place_counts(&t->in, &t->profile, &t->placed, &t->arena);
}

static void end(struct toy *t)
{
    profile_deinit(&t->profile);
    line_counts_deinit(&t->counts);
    object_close(t->in.object);
    source_search_deinit(&t->maps);
    arena_deinit(&t->arena);
}

struct records {
    uint64_t sum;
    uint32_t len, zeros;
    uint64_t low, high; /* the first and the last one's address */
};

/* The records on code of a line in a function. */
static struct records records_of(const struct toy *t, uint32_t line, const char *function)
{
    struct records found = {0};
    for (size_t i = 0; i < t->profile.blocks.len; i++) {
        const struct block *block = &t->profile.blocks.at[i];
        const char *file;
        uint32_t at_line, at = functions_find(&t->functions, block->address);
        assert_true(object_line(t->in.object, block->address, &file, &at_line));
        if (at_line != line || at == NO_FUNCTION || strcmp(t->functions.at[at].name, function))
            continue;
        found.low = found.len ? found.low : block->address;
        found.high = block->address;
        found.len++;
        found.sum += block->count;
        found.zeros += !block->count;
    }
    return found;
}

static void assert_complete(const struct toy *t, uint64_t lines)
{
    assert_int_equal(t->placed.lines, lines);
    assert_int_equal(t->placed.no_code, 0);
    assert_int_equal(t->placed.missing_functions, 0);
    assert_int_equal(t->placed.missing_files, 0);
}

CASE(test_lines)
{
    need("gcc");
    struct toy t;
    begin(&t, PROGRAM, "-O0");
    add(&t, t.file, 3, "other", 6), add(&t, t.file, 9, "work", 4), add(&t, t.file, 10, "work", 1);
    add(&t, t.file, 8, "work", 1), add(&t, t.file, 8, "work", 2);
    add(&t, t.file, 8, "work", 3);
    add(&t, t.file, 14, "main", 0);
    add_function(&t, t.file, "work", 3);
    place(&t);
    assert_complete(&t, 5);
    assert_int_equal(records_of(&t, 3, "other").sum, 6);
    assert_int_equal(records_of(&t, 9, "work").sum, 4);
    assert_int_equal(records_of(&t, 10, "work").sum, 1);
    assert_int_equal(records_of(&t, 8, "work").sum, 6);
    struct records loop = records_of(&t, 8, "work");
    assert_int_equal(loop.len, 3);
    assert_true(loop.high < records_of(&t, 9, "work").low); /* rows behind that do not touch */
    assert_int_equal(records_of(&t, 14, "main").zeros, 1);
    assert_int_equal(t.profile.blocks.len, 7);
    assert_int_equal(t.profile.arcs.len, 0);
    end(&t);
}

/* The last line of one file has the number of the first of the next. */
CASE(test_one_number_in_two_files)
{
    need("gcc");
    struct toy t;
    begin(&t, PROGRAM, "-O0");
    add(&t, t.file, 14, "main", 5);
    add(&t, "/gone/elsewhere.c", 14, "main", 7);
    place(&t);
    assert_int_equal(records_of(&t, 14, "main").sum, 5);
    assert_int_equal(t.placed.missing_files, 1);
    end(&t);
}

/* The line of a declaration whose brace is on the next one has no code: it is the entry. */
CASE(test_declaration)
{
    need("gcc");
    struct toy t;
    begin(&t, PROGRAM, "-O0");
    add(&t, t.file, 1, "other", 7)->is_start = true;
    place(&t);
    assert_complete(&t, 1);
    assert_int_equal(t.profile.blocks.len, 1);
    assert_int_equal(t.profile.blocks.at[0].address, symbol_named(t.in.object, "other")->address);
    assert_int_equal(t.profile.blocks.at[0].count, 7);
    end(&t);
}

CASE(test_declaration_whose_entry_is_taken)
{
    need("gcc");
    struct toy t;
    begin(&t, PROGRAM, "-O0");
    add(&t, t.file, 1, "other", 7)->is_start = true;
    add(&t, t.file, 2, "other", 9);
    place(&t);
    assert_int_equal(records_of(&t, 2, "other").sum, 9);
    assert_int_equal(t.placed.no_code, 1);
    assert_int_equal(t.placed.line, 1);
    end(&t);
}

CASE(test_no_code)
{
    need("gcc");
    struct toy t;
    begin(&t, PROGRAM, "-O0");
    add(&t, t.file, GONE_LINE, "work", 0), add(&t, t.file, GONE_LINE + 1, "work", 2);
    add(&t, t.file, GONE_LINE + 2, "work", 3)->is_end = true; /* an exit needs none */
    add(&t, t.file, 14, "work", 3)->is_end = true;            /* and takes nobody else's */
    place(&t);
    assert_int_equal(t.profile.blocks.len, 0);
    assert_int_equal(t.placed.lines, 2);
    assert_int_equal(t.placed.no_code, 2);
    assert_int_equal(t.placed.executed, 1);
    assert_int_equal(t.placed.line, GONE_LINE + 1); /* the first that ran */
    assert_string_equal(t.placed.line_function, "work");
    assert_string_equal(t.placed.line_file, t.file);
    end(&t);
}

CASE(test_missing)
{
    need("gcc");
    struct toy t;
    begin(&t, PROGRAM, "-O0");
    add(&t, t.file, 3, "other", 6);
    add(&t, t.file, GONE_LINE, "gone", 5);
    add(&t, "/elsewhere/none.c", 3, "none", 5), add(&t, "/elsewhere/prog.c", 3, "other", 5);
    add_function(&t, t.file, "other", 6), add_function(&t, t.file, "gone", 1);
    add_function(&t, t.file, "gone", 1), add_function(&t, "/elsewhere/none.c", "none", 1);
    place(&t);
    assert_int_equal(t.profile.blocks.len, 1);
    assert_int_equal(t.placed.lines, 1); /* of functions that are there */
    assert_int_equal(t.placed.missing_functions, 1);
    assert_string_equal(t.placed.function, "gone");
    assert_int_equal(t.placed.missing_files, 2);
    assert_string_equal(t.placed.file, "/elsewhere/prog.c"); /* the one that may be meant */
    assert_string_equal(t.placed.similar, t.file);
    end(&t);
}

/* Old notes do not say where the compiler ran. */
CASE(test_relative_path)
{
    need("gcc");
    struct toy t;
    begin(&t, PROGRAM, "-O0");
    add(&t, "prog.c", 3, "other", 6);
    place(&t);
    assert_complete(&t, 1);
    assert_int_equal(records_of(&t, 3, "other").sum, 6);
    end(&t);
}

CASE(test_mapped_path)
{
    need("gcc");
    struct toy t;
    char rule[256];
    struct err e = {0};
    begin(&t, PROGRAM, "-O0");
    snprintf(rule, sizeof rule, "%.*s=/built/here", (int)(strrchr(t.file, '/') - t.file), t.file);
    assert_true(source_search_map(&t.maps, rule, &e));
    add(&t, "/built/here/prog.c", 3, "other", 6);
    place(&t);
    assert_complete(&t, 1);
    assert_int_equal(t.profile.blocks.len, 1);
    end(&t);
}

CASE(test_calls)
{
    need("gcc");
    struct toy t;
    begin(&t, PROGRAM, "-O0");
    t.in.adds_calls = true;
    add(&t, t.file, 9, "work", 4);
    add_function(&t, t.file, "work", 3), add_function(&t, t.file, "work", 2);
    add_function(&t, t.file, "main", 0), add_function(&t, "/elsewhere/prog.c", "other", 8);
    place(&t);
    assert_int_equal(t.profile.arcs.len, 1);
    assert_int_equal(t.profile.arcs.at[0].from, 0);
    assert_int_equal(t.profile.arcs.at[0].self, symbol_named(t.in.object, "work")->address);
    assert_int_equal(t.profile.arcs.at[0].count, 5);
    end(&t);
}

/* A clone has lines of the function, and is not where it is called. */
CASE(test_clone)
{
    need("gcc");
    struct toy t;
    begin(&t, PROGRAM, "-O0");
    object_close(t.in.object);
    assert_true(run("objcopy --redefine-sym work=work.part.0 prog clone"));
    t.in.object = opened("clone", NULL);
    t.functions = (struct functions){0};
    functions_native(&t.functions, t.in.object, &t.arena);
    t.in.adds_calls = true;
    add(&t, t.file, 9, "work", 4);
    add_function(&t, t.file, "work", 3);
    place(&t);
    assert_complete(&t, 1);
    assert_int_equal(records_of(&t, 9, "work.part.0").sum, 4);
    assert_int_equal(t.profile.arcs.len, 0);
    end(&t);
}

/* Line 2 is in first() and second() alone; the copy without a count of its own says 0. */
CASE(test_inlined_copies)
{
    need("gcc");
    static const char text[] =
        "volatile int global;\n"
        "static inline __attribute__((always_inline)) int square(int x) { return x * x + global; "
        "}\n"
        "__attribute__((noinline)) int first(int x) { return square(x) + 1; }\n"
        "__attribute__((noinline)) int second(int x) { return square(x) + 2; }\n"
        "__attribute__((noinline)) int third(int x) { return square(x) + 3; }\n"
        "int main(int n, char **v) { (void)v; return first(n) + second(n) + third(n); }\n";
    struct toy t;
    begin(&t, text, "-O2 -fno-ipa-icf");
    add(&t, t.file, 2, "square", 7), add(&t, t.file, 3, "first", 3),
        add(&t, t.file, 4, "second", 4);
    place(&t);
    assert_complete(&t, 3);
    struct records one = records_of(&t, 2, "first"), two = records_of(&t, 2, "second");
    assert_int_equal(one.sum + two.sum, 7);
    assert_true((one.sum == 7 && two.len && two.zeros == two.len) ||
                (two.sum == 7 && one.len && one.zeros == one.len));
    assert_int_equal(records_of(&t, 2, "third").len, 0); /* which has no counts at all */
    assert_int_equal(records_of(&t, 3, "first").sum, 3);
    assert_int_equal(records_of(&t, 4, "second").sum, 4);
    end(&t);
}

/* Code of the line in no function of that name: the first code of the line. */
CASE(test_any_function)
{
    need("gcc");
    struct toy t;
    begin(&t, PROGRAM, "-O0");
    add(&t, t.file, 8, "work", 5), add(&t, t.file, 9, "other", 4);
    place(&t);
    assert_complete(&t, 2);
    assert_int_equal(records_of(&t, 9, "work").sum, 4);
    assert_int_equal(records_of(&t, 8, "work").sum, 5);
    end(&t);
}

/* One line of two inlined functions, one of them a constructor, whose bodies have several names. */
CASE(test_several_bodies)
{
    need("g++");
    static const char text[] =
        "volatile int global; struct A { int v; A(int x); };\n"
        "inline __attribute__((always_inline)) A::A(int x) : v(x * global) {} "
        "inline __attribute__((always_inline)) int square(int x) { return x * x + global; }\n"
        "extern \"C\" __attribute__((noinline)) int first(int x) { return square(x) + 1; }\n"
        "extern \"C\" __attribute__((noinline)) int second(int x) { A a(x); return a.v + 2; }\n"
        "int main(int n, char **) { return first(n) + second(n); }\n";
    struct toy t;
    begin(&t, text, "-O2 -x c++");
    add(&t, t.file, 2, "_ZN1AC2Ei", 5), add(&t, t.file, 2, "_Z6squarei", 7);
    place(&t);
    assert_complete(&t, 2);
    assert_int_equal(records_of(&t, 2, "first").sum, 7);
    assert_int_equal(records_of(&t, 2, "second").sum, 5);
    end(&t);
}

int main(void)
{
    return run_cases(workshop_open, workshop_close);
}
