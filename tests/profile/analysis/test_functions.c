/* Which functions pieces belong to, by symbols that an assembler writes; and that what is measured
 * there is booked on those. */
#include "../../objfile/workshop.h"
#include "cases.h"

#include "profile/analysis/functions.h"

#define FUNCTION(name) \
    ".type " name ", @function\n" name ": .fill 16, 1, 0x90\n.size " name ", 16\n"

static const char FIRST[] = ".file \"first.c\"\n.text\n.globl start, g, p\n" FUNCTION("start")
    FUNCTION("f") FUNCTION("f.cold") FUNCTION("g") FUNCTION("g.part.0") FUNCTION("g.part.0.cold")
        FUNCTION("h.isra.0") FUNCTION("h.isra.0.cold") FUNCTION("alone.part.0")
            FUNCTION("p.part.1.constprop.0") FUNCTION("p") FUNCTION("q.cold.3") FUNCTION("q")
                FUNCTION("r.constprop.0") FUNCTION("r") FUNCTION("x.coldness") FUNCTION("x");
static const char SECOND[] = ".file \"second.c\"\n.text\n.globl g.cold\n" FUNCTION("f.cold")
    FUNCTION("f") FUNCTION("g.cold") FUNCTION("twice.cold") FUNCTION("q2.cold");
static const char THIRD[] = ".file \"third.c\"\n.text\n" FUNCTION("twice");
static const char FOURTH[] = ".file \"fourth.c\"\n.text\n" FUNCTION("twice");

struct fixture {
    struct arena arena;
    struct object *object;
    struct functions functions;
};

static void begin(struct fixture *b)
{
    need("gcc");
    write_text("first.s", FIRST);
    write_text("second.s", SECOND);
    write_text("third.s", THIRD);
    write_text("fourth.s", FOURTH);
    assert_true(run("gcc -nostdlib -static -Wl,-e,start first.s second.s third.s fourth.s -o p"));
    *b = (struct fixture){.object = opened("p", NULL)};
    functions_native(&b->functions, b->object, &b->arena);
}

static void end(struct fixture *b)
{
    object_close(b->object);
    arena_deinit(&b->arena);
}

/* Functions of a name in the order of addresses: the one with that number. */
static uint32_t nth(const struct fixture *b, const char *name, uint32_t number)
{
    for (uint32_t i = 0; i < b->functions.len; i++)
        if (!strcmp(b->functions.at[i].name, name) && !number--)
            return i;
    fail_msg("no %s", name);
    return 0;
}

static void assert_whole(const struct fixture *b, const char *piece, uint32_t number,
                         const char *whole, uint32_t whole_number)
{
    assert_int_equal(functions_whole(&b->functions, nth(b, piece, number)),
                     nth(b, whole, whole_number));
}

CASE(test_wholes)
{
    struct fixture b;
    begin(&b);
    assert_whole(&b, "f.cold", 0, "f", 0); /* of the same source file */
    assert_whole(&b, "f.cold", 1, "f", 1);
    assert_whole(&b, "g.part.0", 0, "g", 0);
    assert_whole(&b, "g.part.0.cold", 0, "g", 0); /* a piece of a piece */
    assert_whole(&b, "g.cold", 0, "g", 0);        /* another file's, but the only one */
    assert_whole(&b, "h.isra.0.cold", 0, "h.isra.0", 0);
    assert_whole(&b, "p.part.1.constprop.0", 0, "p", 0);
    assert_whole(&b, "q.cold.3", 0, "q", 0);
    static const char *const OWN[] = {"h.isra.0",   "alone.part.0", "r.constprop.0", "x.coldness",
                                      "twice.cold", "q2.cold",      "start",         "x"};
    for (size_t i = 0; i < sizeof OWN / sizeof *OWN; i++)
        assert_whole(&b, OWN[i], 0, OWN[i], 0);
    end(&b);
}

CASE(test_times)
{
    struct fixture b;
    begin(&b);
    double *self = ARENA_NEW(&b.arena, double, b.functions.len), sum = 0;
    for (uint32_t i = 0; i < b.functions.len; i++)
        self[i] = 1;
    functions_join_times(&b.functions, self);
    assert_true(self[nth(&b, "g", 0)] == 4);
    assert_true(self[nth(&b, "g.part.0.cold", 0)] == 0);
    assert_true(self[nth(&b, "f", 1)] == 2);
    for (uint32_t i = 0; i < b.functions.len; i++)
        sum += self[i];
    assert_true(sum == b.functions.len);
    functions_keep_pieces(&b.functions);
    assert_whole(&b, "g.part.0", 0, "g.part.0", 0);
    end(&b);
}

/* Code after a label without a size, and whether that leads to `rest`, whose symbol was stripped.
 */
struct label {
    const char *code;
    bool leads;
};

/* `tools` is what the names of the machine's compiler and objcopy begin with. */
static void check_labels(const char *tools, const char *padding, const struct label *labels,
                         size_t len)
{
    for (size_t i = 0; i < len; i++) {
        char source[512];
        struct fixture b = {0};
        snprintf(source, sizeof source,
                 ".text\n.globl tiny, rest, other\ntiny: %s\n%s\nrest: nop\nret\nother: ret\n",
                 labels[i].code, padding);
        write_text("tiny.s", source);
        assert_true(run("%sgcc -nostdlib -static -Wl,-e,tiny tiny.s -o tiny", tools));
        b.object = opened("tiny", NULL);
        uint64_t rest = symbol_named(b.object, "rest")->address;
        object_close(b.object);
        assert_true(run("%sobjcopy --strip-symbol=rest tiny", tools));
        b.object = opened("tiny", NULL);
        functions_native(&b.functions, b.object, &b.arena);
        uint32_t found = functions_find(&b.functions, rest), tiny = nth(&b, "tiny", 0);
        if (found != (labels[i].leads ? tiny : NO_FUNCTION))
            fail_msg("%s: %d", labels[i].code, (int)found);
        assert_int_equal(functions_find(&b.functions, b.functions.at[tiny].start), tiny);
        end(&b);
    }
}

CASE(test_labels_without_a_size)
{
    static const struct label LABELS[] = {
        {"ret", false},
        {"jmp other", false},
        {"1: dec %ecx; jnz 1b; ret", false},
        {"jz rest; ret", true},
        {"jz 1f; ret; .fill 8, 1, 0x90; 1: jmp rest", true},
        {"nop", true},        /* goes on */
        {"call other", true}, /* likewise, as it may return */
        {"jmp *%rax", true},  /* anywhere */
        {"ud2", true},        /* likewise */
    };
    (void)state;
    need("gcc");
    if (!run("test $(uname -m) = x86_64"))
        SKIPPED("the code is x86-64's");
    check_labels("", ".fill 32, 1, 0x90", LABELS, sizeof LABELS / sizeof *LABELS);
}

CASE(test_labels_of_aarch64)
{
    static const struct label LABELS[] = {
        {"ret", false},
        {"b other", false},
        {"1: subs x0, x0, #1; b.ne 1b; ret", false},
        {"cbz x0, rest; ret", true},
        {"tbz x0, #3, 1f; ret; nop; 1: b rest", true},
        {"nop", true},
        {"bl other", true},
        {"br x16", true},
        {"brk #1", true},
    };
    (void)state;
    need("aarch64-linux-gnu-gcc");
    check_labels("aarch64-linux-gnu-", ".fill 8, 4, 0xd503201f", LABELS,
                 sizeof LABELS / sizeof *LABELS);
}

int main(void)
{
    return run_cases(workshop_open, workshop_close);
}
