/* Frames of inlined code: what the debug information of a compiled program says of each address of
 * a function, as a tree. */
#include "base/path.h"
#include "cases.h"
#include "objfile/workshop.h"
#include "profile/analysis/recording/call_tree.h"

static const char SOURCE[] =
    "static volatile int sum;\n"
    "static inline __attribute__((always_inline)) void inner(int n) { sum += n; }\n"
    "static inline __attribute__((always_inline)) void outer(int n) { inner(n); sum /= n; }\n"
    "__attribute__((noinline)) void both(int n) { outer(n); inner(n + 1); }\n"
    "void (*volatile pointer)(int) = inner;\n"
    "void elsewhere(int n), third(int n);\n"
    "int main(int argc, char **argv) { (void)argv; both(argc); pointer(argc); elsewhere(argc);\n"
    "    third(argc); return sum; }\n";

/* Another file with a function of that name, all of which is inlined; and a function of C++'s,
 * whose name stands for one, though its code is in two files. */
static const char OTHER[] =
    "static volatile int product;\n"
    "static inline __attribute__((always_inline)) void inner(int n) { product *= n; }\n"
    "void elsewhere(int n) { inner(n); }\n";
static const char CPLUS[] = "static volatile int difference;\n"
                            "__attribute__((always_inline)) inline void unique(int n) {\n"
                            "#include \"half.h\"\n"
                            "    difference = difference - n;\n}\n"
                            "extern \"C\" void third(int n) { unique(n); }\n";

struct fixture {
    struct arena arena;
    struct object *object;
    struct functions functions;
    struct recording recording;
    uint32_t *function;
    double *samples;
};

static uint32_t function_named(const struct functions *f, const char *name, uint32_t from)
{
    for (uint32_t i = from; i < f->len; i++)
        if (!strcmp(f->at[i].name, name))
            return i;
    return NO_FUNCTION;
}

static uint32_t add(struct fixture *b, uint32_t parent, uint32_t function, uint64_t address)
{
    uint32_t node = (uint32_t)b->recording.nodes.len;
    vec_push(&b->recording.nodes, (struct recording_node){parent, 0, address});
    b->function[node] = function;
    b->samples[node] = 1;
    return node;
}

/* main, and below it each address of `both` and of the copy of `inner` that is no inlined one. */
static void open_fixture(struct fixture *b)
{
    enum { MOST = 4096 };
    struct err e = {0};
    need("gcc");
    need("g++");
    write_text("inline.c", SOURCE);
    write_text("other.c", OTHER);
    write_text("unique.cc", CPLUS);
    write_text("half.h", "    difference = 2 * n;\n");
    assert_true(run("gcc -O2 -g -c inline.c other.c && g++ -O2 -g -c unique.cc && "
                    "gcc -o inline inline.o other.o unique.o"));
    b->object = object_open("inline", NULL, NULL, &e);
    assert_non_null(b->object);
    functions_native(&b->functions, b->object, &b->arena);
    b->function = ARENA_NEW(&b->arena, uint32_t, MOST);
    b->samples = ARENA_NEW(&b->arena, double, MOST);
    vec_push(&b->recording.objects, (struct recording_object){.kind = RECORDING_OBJECT_FILE});
    add(b, 0, NO_FUNCTION, 0);
    b->samples[0] = 0;
    uint32_t main_function = function_named(&b->functions, "main", 0);
    uint32_t top = add(b, 0, main_function, b->functions.at[main_function].start);
    static const char *const BELOW[] = {"both", "inner", "elsewhere", "third"};
    for (size_t i = 0; i < 4; i++) {
        uint32_t function = function_named(&b->functions, BELOW[i], 0);
        assert_int_not_equal(function, NO_FUNCTION);
        const struct function *f = &b->functions.at[function];
        for (uint64_t at = f->start; at <= f->last && b->recording.nodes.len < MOST; at++)
            add(b, top, function, at);
    }
}

static void close_fixture(struct fixture *b)
{
    object_close(b->object);
    vec_free(&b->recording.objects);
    vec_free(&b->recording.nodes);
    arena_deinit(&b->arena);
}

static struct call_rows rows_of(const struct named_frames *n, struct fixture *b,
                                enum call_direction direction, uint32_t function)
{
    struct call_tree tree;
    struct call_rows rows;
    struct call_query q = {
        .direction = direction, .function = function, .depth = UINT32_MAX, .limit = UINT64_MAX};
    call_tree_init(&tree, &b->recording, b->samples, &n->frames);
    call_rows_make(&rows, &tree, &q, &b->arena);
    call_tree_deinit(&tree);
    return rows;
}

/* Whether the rows have a way of these names, inlined ones in brackets. */
static bool has_way(const struct named_frames *n, const struct call_rows *r, const char *way)
{
    char at[16][64] = {0};
    for (size_t i = 0; i < r->len; i++) {
        uint32_t function = r->rows[i].function, depth = r->rows[i].depth;
        const char *name = n->functions.at[function].name;
        bool is_inlined = function >= n->first_inlined;
        assert_true(depth < 16);
        snprintf(at[depth], sizeof at[depth], "%.30s %s%.20s%s", depth ? at[depth - 1] : "",
                 is_inlined ? "[" : "", name, is_inlined ? "]" : "");
        if (!strcmp(at[depth] + 1, way))
            return true;
    }
    return false;
}

CASE(test_inlined_code_is_in_the_tree)
{
    struct fixture b = {0};
    struct named_frames n;
    (void)state;
    open_fixture(&b);
    struct object *files[] = {b.object};
    struct call_frames_input in = {&b.recording, &b.functions, b.function, files};
    named_frames_make(&n, &in, &b.arena);
    assert_int_equal(n.functions.len - n.first_inlined, 3); /* outer, the other inner, unique */
    struct call_rows r = rows_of(&n, &b, CALLS_FROM_ROOT, NO_FUNCTION);
    assert_true(has_way(&n, &r, "main both [outer] inner"));
    assert_true(has_way(&n, &r, "main both inner"));
    assert_true(has_way(&n, &r, "main inner"));
    assert_true(has_way(&n, &r, "main elsewhere [inner]"));
    assert_true(has_way(&n, &r, "main third [_Z6uniquei]"));
    assert_false(has_way(&n, &r, "main [inner]"));
    assert_false(has_way(&n, &r, "main both [outer] [outer]"));
    assert_true(r.rows[0].total == (double)b.recording.nodes.len - 1);

    /* What was inlined and what was not are one function. */
    uint32_t inner = function_named(&n.functions, "inner", 0);
    uint32_t other = function_named(&n.functions, "inner", inner + 1);
    assert_int_equal(strcmp(path_base_name(n.functions.at[other].file), "other.c"), 0);
    assert_int_equal(function_named(&n.functions, "inner", other + 1), NO_FUNCTION);
    struct call_rows callers = rows_of(&n, &b, CALLS_OUTWARDS, inner);
    assert_true(has_way(&n, &callers, "inner [outer] both main"));
    assert_true(has_way(&n, &callers, "inner main"));
    assert_false(has_way(&n, &callers, "inner elsewhere"));
    close_fixture(&b);
}

CASE(test_left_out_on_wish)
{
    struct fixture b = {0};
    struct named_frames n;
    (void)state;
    open_fixture(&b);
    struct call_frames_input in = {&b.recording, &b.functions, b.function, NULL};
    named_frames_make(&n, &in, &b.arena);
    assert_int_equal(n.functions.len, n.first_inlined);
    struct call_rows r = rows_of(&n, &b, CALLS_FROM_ROOT, NO_FUNCTION);
    assert_int_equal(r.len, 5);
    struct object *none[] = {NULL}; /* a file that is not to be had */
    in.files = none;
    named_frames_make(&n, &in, &b.arena);
    assert_int_equal(n.functions.len, n.first_inlined);
    close_fixture(&b);
}

int main(void)
{
    return run_cases(workshop_open, workshop_close);
}
