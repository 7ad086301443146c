/* An order of functions for the linker, on assembled programs whose calls and samples are made up:
 * who is put behind whom, who stays where it is, and what it costs where they stand. */
#include "cases.h"
#include "profile/analysis/layout.h"

#include "objfile/workshop.h"

#include <math.h>

struct toy_layout {
    struct arena arena;
    struct object *object;
    struct functions functions;
    struct profile profile;
    struct histogram *histogram;
    struct attribution time;
    struct graph graph;
    struct layout_rules rules;
    struct layout layout;
    struct layout_gain gain;
};

/* A function of so many bytes in a section of its own; lines for the assembler follow it. */
struct part {
    const char *name;
    unsigned bytes;
    const char *more;
};

static void assemble(const struct part *parts, size_t len)
{
    char text[8192] = "";
    size_t at = 0;
    for (size_t i = 0; i < len; i++)
        at += (size_t)snprintf(text + at, sizeof text - at,
                               ".section .text.%s,\"ax\"\n.globl %s\n.type %s, @function\n"
                               "%s: .fill %u, 1, 0x90\n.size %s, %u\n%s",
                               parts[i].name, parts[i].name, parts[i].name, parts[i].name,
                               parts[i].bytes, parts[i].name, parts[i].bytes,
                               parts[i].more ? parts[i].more : "");
    write_text("toy.s", text);
    assert_true(run("gcc -nostdlib -static -no-pie -Wl,-Ttext=0x401000,-e,main toy.s -o toy"));
}

static void begin(struct toy_layout *t, const struct part *parts, size_t len)
{
    *t = (struct toy_layout){.profile = {.format = PROFILE_GNU, .version = 1, .word = 8}};
    assemble(parts, len);
    t->object = opened("toy", NULL);
    functions_native(&t->functions, t->object, &t->arena);
    functions_order_names(&t->functions, &t->arena);
    t->rules = (struct layout_rules){.file = t->object, .cluster_bytes = 4096};
    struct histogram h = {.low = 0x401000,
                          .high = 0x411000,
                          .bins = 0x10000,
                          .rate = 100,
                          .dimension = "seconds",
                          .abbreviation = 's'};
    histogram_alloc(&h);
    vec_push(&t->profile.histograms, h);
    t->histogram = &t->profile.histograms.at[0];
}

static uint64_t address_of(struct toy_layout *t, const char *name)
{
    const struct object_symbol *s = symbol_named(t->object, name);
    assert_non_null(s);
    return s->address;
}

static void sample(struct toy_layout *t, const char *name, uint64_t hits)
{
    histogram_add(t->histogram, (uint32_t)(address_of(t, name) - t->histogram->low), hits);
}

static void call(struct toy_layout *t, const char *caller, const char *callee, uint64_t count)
{
    vec_push(&t->profile.arcs,
             ((struct arc){address_of(t, caller) + 1, address_of(t, callee), count}));
}

static void make(struct toy_layout *t)
{
    attribute_native(&t->time, &t->profile, &t->functions.index, &t->arena);
    graph_build(&t->graph, &t->functions, &t->profile, &t->time, (struct graph_rules){0},
                &t->arena);
    layout_make(&t->layout, &t->gain, &t->functions, &t->graph, &t->rules, &t->arena);
}

/* The names in their new order, and a bar between clusters. */
static void assert_order(const struct toy_layout *t, const char *expected)
{
    char found[512] = "";
    size_t at = 0;
    for (uint32_t i = 0; i < t->layout.len; i++) {
        const struct layout_place *p = &t->layout.places[i];
        const char *between = !i ? "" : p->cluster == p[-1].cluster ? " " : " | ";
        at += (size_t)snprintf(found + at, sizeof found - at, "%s%s", between,
                               t->functions.at[p->function].name);
    }
    assert_string_equal(found, expected);
}

static void end(struct toy_layout *t)
{
    profile_deinit(&t->profile);
    object_close(t->object);
    arena_deinit(&t->arena);
}

static const struct part FIVE[] = {{"main", 64, NULL},
                                   {"never", 64, NULL},
                                   {"hot", 64, NULL},
                                   {"warm", 64, NULL},
                                   {"far", 64, NULL}};

CASE(test_callees_follow_callers)
{
    struct toy_layout t;
    begin(&t, FIVE, 5);
    sample(&t, "main", 10), sample(&t, "hot", 500), sample(&t, "warm", 100), sample(&t, "far", 300);
    call(&t, "main", "far", 100), call(&t, "far", "hot", 90), call(&t, "main", "hot", 10);
    call(&t, "hot", "warm", 5), call(&t, "hot", "hot", 1000);
    make(&t);
    /* far is added to main, hot to far, and warm, the least dense, to hot. */
    assert_order(&t, "main far hot warm");
    assert_int_equal(t.layout.clusters, 1);
    assert_true(t.layout.has_samples && !t.layout.calls_are_samples);
    assert_int_equal(t.layout.size, 4 * 64);
    assert_in_range(t.layout.code_size, 5 * 64, 5 * 64 + 1); /* linkers mark the end */
    assert_int_equal(t.layout.calls_len, 4);
    double heat = 0, calls = 0;
    for (uint32_t i = 0; i < t.layout.len; i++)
        heat += t.layout.places[i].heat;
    for (uint32_t i = 0; i < t.layout.calls_len; i++)
        calls += t.layout.calls[i].count;
    assert_true(fabs(heat - t.layout.heat) < 1e-9 && calls == 205);
    assert_true(fabs(heat - (910 + sqrt(910))) < 1); /* calls as much as samples are uncertain */
    end(&t);
}

/* Two clusters, since nobody calls both; the denser one first. */
CASE(test_denser_first)
{
    struct toy_layout t;
    begin(&t, FIVE, 5);
    sample(&t, "main", 5), sample(&t, "far", 5), sample(&t, "hot", 900), sample(&t, "warm", 800);
    call(&t, "main", "far", 10), call(&t, "warm", "hot", 10);
    make(&t);
    assert_order(&t, "warm hot | main far");
    end(&t);
}

/* One that makes a tenth of the calls and no more does not take the function to it. */
CASE(test_rare_callers)
{
    static const struct part parts[] = {{"main", 64, NULL}, {"a", 64, NULL},  {"b", 64, NULL},
                                        {"c", 64, NULL},    {"d", 64, NULL},  {"e", 64, NULL},
                                        {"f", 64, NULL},    {"g", 64, NULL},  {"h", 64, NULL},
                                        {"i", 64, NULL},    {"hot", 64, NULL}};
    for (uint64_t count = 10; count <= 11; count++) {
        struct toy_layout t;
        begin(&t, parts, 11);
        sample(&t, "hot", 5000);
        call(&t, "main", "hot", count);
        for (size_t i = 1; i < 10; i++)
            call(&t, parts[i].name, "hot", 10);
        make(&t);
        const struct layout_place *first = t.layout.places;
        assert_string_equal(t.functions.at[first[0].function].name, count == 10 ? "hot" : "main");
        assert_int_equal(first[0].cluster == first[1].cluster, count > 10);
        end(&t);
    }
}

CASE(test_limit)
{
    struct toy_layout t;
    begin(&t, FIVE, 5);
    t.rules.cluster_bytes = 127;
    sample(&t, "main", 10), sample(&t, "hot", 500);
    call(&t, "main", "hot", 90);
    make(&t);
    assert_order(&t, "hot | main");
    assert_int_equal(t.layout.cluster_bytes, 127);
    t.rules.cluster_bytes = 128;
    make(&t);
    assert_order(&t, "main hot");
    t.rules.cluster_bytes = 191;
    sample(&t, "warm", 3);
    call(&t, "hot", "warm", 50);
    make(&t);
    assert_order(&t, "main hot | warm");
    end(&t);
}

/* A cluster does not become eight times thinner for a large function that hardly runs. */
CASE(test_thin)
{
    static const struct part parts[] = {
        {"main", 16, NULL}, {"large", 3000, NULL}, {"small", 64, NULL}};
    struct toy_layout t;
    begin(&t, parts, 3);
    sample(&t, "main", 1000), sample(&t, "large", 1), sample(&t, "small", 1);
    call(&t, "main", "large", 1), call(&t, "main", "small", 1);
    make(&t);
    assert_order(&t, "main small | large");
    end(&t);
}

CASE(test_calls_alone)
{
    struct toy_layout t;
    begin(&t, FIVE, 5);
    call(&t, "main", "warm", 3), call(&t, "warm", "hot", 40);
    make(&t);
    assert_false(t.layout.has_samples);
    assert_order(&t, "main warm hot");
    assert_true(t.layout.places[2].heat == 40);
    assert_true(t.layout.places[0].heat == 1); /* it calls, so it was called */
    end(&t);
}

/* Pairs on stacks stand in where no calls were counted. */
CASE(test_stacks)
{
    struct toy_layout t;
    begin(&t, FIVE, 5);
    sample(&t, "main", 10), sample(&t, "hot", 500);
    uint32_t caller = functions_find(&t.functions, address_of(&t, "main"));
    uint32_t callee = functions_find(&t.functions, address_of(&t, "hot"));
    struct stack_call pair = {.caller = caller, .callee = callee, .inclusive = 500};
    struct stacks stacks = {.calls = &pair, .calls_len = 1};
    t.rules.stacks = &stacks;
    make(&t);
    assert_order(&t, "main hot");
    assert_true(t.layout.calls_are_samples);
    assert_true(t.layout.calls[0].count == 500);
    call(&t, "warm", "hot", 1); /* counted ones are better */
    make(&t);
    assert_false(t.layout.calls_are_samples);
    assert_int_equal(t.layout.calls_len, 1);
    end(&t);
}

/* Linkers move sections by name: functions of one name move together. */
CASE(test_one_name)
{
    static const struct part parts[] = {
        {"main", 64, NULL},
        {"first", 64,
         ".section .text.twin,\"ax\"\n.local twin\n.type twin, @function\n"
         "twin: .fill 32, 1, 0x90\n.size twin, 32\n"},
    };
    struct toy_layout t;
    assemble(parts, 2);
    assert_true(run("gcc -c toy.s -o one.o"));
    write_text("other.s", ".section .text.twin,\"ax\"\n.type twin, @function\n"
                          "twin: .fill 48, 1, 0x90\n.size twin, 48\n");
    assert_true(run("gcc -c other.s -o two.o && gcc -nostdlib -static -no-pie "
                    "-Wl,-Ttext=0x401000,-e,main one.o two.o -o pair"));
    begin(&t, parts, 2);
    object_close(t.object);
    t.object = opened("pair", NULL);
    t.rules.file = t.object;
    t.functions = (struct functions){0};
    functions_native(&t.functions, t.object, &t.arena);
    functions_order_names(&t.functions, &t.arena);
    for (uint32_t i = 0; i < t.functions.len; i++)
        if (!strcmp(t.functions.at[i].name, "twin"))
            histogram_add(t.histogram, (uint32_t)(t.functions.at[i].start - t.histogram->low), 250);
    sample(&t, "main", 600); /* denser than both together, not than one of them by the sum */
    make(&t);
    assert_order(&t, "main | twin twin");
    assert_true(t.layout.places[1].is_named && !t.layout.places[2].is_named);
    assert_int_equal(t.layout.shared, 1);
    /* What they call each other is within the unit and brings them to nobody. */
    const struct function *twin = &t.functions.at[t.layout.places[1].function];
    const struct function *other = &t.functions.at[t.layout.places[2].function];
    vec_push(&t.profile.arcs, ((struct arc){twin->start + 1, other->start, 1000}));
    call(&t, "main", "twin", 10);
    make(&t);
    assert_order(&t, "main twin twin");
    end(&t);
}

/* What stands outside of .text, or has a name that an order file cannot hold, stays. */
CASE(test_fixed)
{
    static const struct part parts[] = {
        {"main", 64, NULL},
        {"hot", 64,
         ".section .fixed,\"ax\"\n.globl start\n.type start, @function\n"
         "start: .fill 16, 1, 0x90\n.size start, 16\n"
         ".section .textual,\"ax\"\n.globl textual\n.type textual, @function\n"
         "textual: .fill 16, 1, 0x90\n.size textual, 16\n"
         ".section .text.odd,\"ax\"\n.globl \"o*d\"\n.type \"o*d\", @function\n"
         "\"o*d\": .fill 16, 1, 0x90\n.size \"o*d\", 16\n"
         ".globl \"d\177l\"\n.type \"d\177l\", @function\n"
         "\"d\177l\": .fill 16, 1, 0x90\n.size \"d\177l\", 16\n"},
    };
    struct toy_layout t;
    begin(&t, parts, 2);
    sample(&t, "main", 10), sample(&t, "o*d", 4), sample(&t, "textual", 3);
    sample(&t, "d\177l", 5);
    make(&t);
    assert_order(&t, "main");
    assert_int_equal(t.layout.fixed, 3);
    assert_true(t.layout.fixed_heat == 12);
    call(&t, "main", "start", 4);
    make(&t);
    assert_int_equal(t.layout.fixed, 4);
    t.rules.object = 1; /* none of these is in that one */
    make(&t);
    assert_int_equal(t.layout.len, 0);
    end(&t);
}

CASE(test_other_names)
{
    static const struct part parts[] = {
        {"main", 64, ".section .text.hot,\"ax\"\n.globl label\nlabel:\n"},
        {"hot", 64,
         ".globl alias\n.type alias, @function\n.set alias, hot\n"
         ".section .text.unlikely,\"ax\"\n.type hot.cold, @function\n"
         "hot.cold: .fill 8, 1, 0x90\n.size hot.cold, 8\n"},
    };
    struct toy_layout t;
    begin(&t, parts, 2);
    sample(&t, "main", 10), sample(&t, "hot", 500);
    make(&t);
    const struct layout_place *hot = &t.layout.places[0], *rest = &t.layout.places[1];
    assert_int_equal(hot->names_len, 2);
    bool is_first = !strcmp(hot->names[0], "hot");
    assert_string_equal(hot->names[is_first], is_first ? "alias" : "hot");
    assert_int_equal(rest->names_len, 1);
    assert_true(hot->has_cold_part == is_first); /* of the name that the table has */
    assert_false(rest->has_cold_part);
    end(&t);
}

/* Addresses of the new order: from the first one on, aligned as before. */
CASE(test_addresses)
{
    static const struct part parts[] = {{"main", 30, NULL}, {"hot", 50, NULL}, {"warm", 64, NULL}};
    struct toy_layout t;
    begin(&t, parts, 3);
    sample(&t, "main", 10), sample(&t, "warm", 900);
    call(&t, "main", "warm", 3);
    make(&t);
    assert_order(&t, "main warm");
    assert_int_equal(t.layout.places[0].after, 0x401000);
    uint64_t start = t.functions.at[t.layout.places[1].function].start;
    uint64_t alignment = start & -start, after = t.layout.places[1].after;
    alignment = alignment < 16 ? alignment : 16;
    assert_true(after >= 0x401000 + 30 && after < 0x401000 + 30 + alignment &&
                after % alignment == 0);
    end(&t);
}

/* Two functions that call each other, 40 KiB apart, stand on one page afterwards. */
CASE(test_gain)
{
    static const struct part parts[] = {
        {"main", 64, NULL}, {"never", 40960, NULL}, {"other", 64, NULL}};
    struct toy_layout t;
    begin(&t, parts, 3);
    t.rules.cluster_bytes = 0; /* find the best one out */
    sample(&t, "main", 100), sample(&t, "other", 100);
    call(&t, "main", "other", 1000);
    make(&t);
    assert_order(&t, "main other");
    assert_true(t.gain.before.leaving == 1 && t.gain.after.leaving == 0);
    assert_int_equal(t.gain.before.pages[3], 2);
    assert_int_equal(t.gain.after.pages[3], 1);
    assert_true(t.gain.before.distance_bytes > 40000 && t.gain.after.distance_bytes <= 128);
    assert_int_equal(t.gain.after.large_pages, 1);
    assert_true(t.gain.after.misses <= t.gain.before.misses);
    end(&t);
}

int main(void)
{
    return run_cases(workshop_open, workshop_close);
}
