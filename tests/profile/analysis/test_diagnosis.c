/* Each symptom where it is so, and not where it is not: by profiles and summaries made for it, and
 * by programs that the compiler makes here. */
#include "cases.h"
#include "profile/analysis/diagnosis.h"

#include "objfile/workshop.h"

enum { CODE = 0x401000, BINS = 64, BIN_BYTES = 16 };

/* What is known of a program and its profile; the program is missing until a test opens one. */
struct toy_case {
    struct arena arena;
    struct diagnosis_input input;
    struct functions functions;
    struct profile profile;
    struct summary summary;
    struct attribution time;
    struct names names;
    struct diagnosis found;
};

static void begin(struct toy_case *c)
{
    *c = (struct toy_case){
        .input = {.program = "prog", .profile = "gmon.out", .object_error = "cannot read prog"},
        .profile = {.format = PROFILE_GNU, .version = 1, .word = 8}};
    c->input.measured = &c->profile;
}

static struct histogram *add_histogram(struct toy_case *c, uint64_t low)
{
    struct histogram h = {.low = low,
                          .high = low + BINS * BIN_BYTES,
                          .bins = BINS,
                          .rate = 100,
                          .dimension = "seconds",
                          .abbreviation = 's'};
    histogram_alloc(&h);
    vec_push(&c->profile.histograms, h);
    return &c->profile.histograms.at[c->profile.histograms.len - 1];
}

/* `hits` in each of two bins. */
static void add_samples(struct toy_case *c, uint64_t hits)
{
    struct histogram *h = add_histogram(c, CODE);
    histogram_add(h, 3, hits);
    histogram_add(h, 5, hits);
}

static void add_calls(struct toy_case *c, uint64_t count)
{
    vec_push(&c->profile.arcs, ((struct arc){CODE + 8, CODE + 32, count}));
}

static void examine(struct toy_case *c)
{
    diagnosis_deinit(&c->found);
    c->found = (struct diagnosis){0};
    diagnose(&c->found, &c->input, &c->names, &c->arena);
}

static const struct symptom *symptom(const struct toy_case *c, const char *name)
{
    for (size_t i = 0; i < c->found.all.len; i++)
        if (!strcmp(c->found.all.at[i].name, name))
            return &c->found.all.at[i];
    return NULL;
}

static void assert_found(const struct toy_case *c, const char *name, enum severity severity,
                         const char *evidence)
{
    const struct symptom *s = symptom(c, name);
    if (!s)
        print_error("no %s\n", name);
    assert_non_null(s);
    assert_int_equal(s->severity, severity);
    if (!strstr(s->evidence, evidence))
        print_error("%s: %s\n", name, s->evidence);
    assert_non_null(strstr(s->evidence, evidence));
    assert_true(s->finding[0] && s->remedy[0]);
}

static void assert_absent(const struct toy_case *c, const char *name)
{
    if (symptom(c, name))
        print_error("%s: %s\n", name, symptom(c, name)->evidence);
    assert_null(symptom(c, name));
}

static void end(struct toy_case *c)
{
    profile_deinit(&c->profile);
    diagnosis_deinit(&c->found);
    object_close(c->input.object);
    arena_deinit(&c->arena);
}

/* --- the file -------------------------------------------------------------------------------- */

CASE(test_missing)
{
    struct toy_case c;
    enum severity worst;
    begin(&c);
    c.input.measured = NULL;
    c.input.is_missing = true;
    c.input.profile_error = "gmon.out: no such file";
    examine(&c);
    assert_found(&c, "profile-missing", SEVERITY_ERROR, "no such file");
    assert_found(&c, "program-unreadable", SEVERITY_ERROR, "cannot read prog");
    assert_absent(&c, "truncated");
    assert_true(diagnosis_worst(&c.found, &worst) && worst == SEVERITY_ERROR);
    c.input.candidates = "prog.gmon";
    examine(&c);
    assert_found(&c, "profile-missing", SEVERITY_ERROR, "nearby: prog.gmon");
    end(&c);
}

CASE(test_cut_off)
{
    struct toy_case c;
    begin(&c);
    c.input.profile_error = "offset 20: ends early";
    examine(&c);
    assert_found(&c, "not-a-profile", SEVERITY_ERROR, "ends early");
    c.profile.failure.what = READ_SHORT_ARC;
    examine(&c);
    assert_found(&c, "truncated", SEVERITY_ERROR, "ends early");
    c.profile.failure.what = READ_BAD_MAGIC;
    add_calls(&c, 9);
    examine(&c);
    assert_found(&c, "truncated", SEVERITY_ERROR, "0 samples and 9 calls could be read");
    assert_absent(&c, "not-a-profile");
    end(&c);
}

/* --- what was measured ----------------------------------------------------------------------- */

CASE(test_emptiness)
{
    struct toy_case c;
    begin(&c);
    examine(&c);
    assert_found(&c, "empty", SEVERITY_ERROR, "0 samples, 0 calls");
    add_calls(&c, 5);
    examine(&c);
    assert_found(&c, "no-histogram", SEVERITY_WARNING, "5 calls");
    assert_absent(&c, "empty");
    struct histogram *h = add_histogram(&c, CODE);
    examine(&c);
    assert_found(&c, "clock-stopped", SEVERITY_WARNING, "5 calls");
    c.profile.arcs.len = 0;
    examine(&c);
    assert_found(&c, "no-samples", SEVERITY_WARNING, "0 calls");
    histogram_add(h, 0, 1);
    examine(&c);
    assert_absent(&c, "no-samples");
    assert_absent(&c, "no-rate");
    assert_int_equal(c.found.all.len, 1); /* there is no program */
    h->rate = 0;
    examine(&c);
    assert_found(&c, "no-rate", SEVERITY_WARNING, "histogram 0");
    end(&c);
}

CASE(test_bins)
{
    struct toy_case c;
    begin(&c);
    struct histogram *h = add_histogram(&c, CODE);
    histogram_add(h, 3, 19);
    examine(&c);
    assert_absent(&c, "one-bin");
    histogram_add(h, 3, 1);
    examine(&c);
    assert_found(&c, "one-bin", SEVERITY_WARNING, "20 samples");
    histogram_add(h, 4, 65534);
    examine(&c);
    assert_absent(&c, "one-bin");
    assert_absent(&c, "full-bins");
    histogram_add(h, 4, 1);
    examine(&c);
    assert_found(&c, "full-bins", SEVERITY_WARNING, "1 counters");
    histogram_widen(h, 4); /* such a counter is not full */
    examine(&c);
    assert_absent(&c, "full-bins");
    end(&c);
}

/* Calls of a nanosecond each, against the seconds that were sampled. */
CASE(test_more_calls_than_time)
{
    struct toy_case c;
    begin(&c);
    add_samples(&c, 100);
    c.summary = (struct summary){.has_samples = true,
                                 .samples = 200, /* two seconds */
                                 .rate = 100,
                                 .dimension = "seconds",
                                 .calls = 3000000000};
    c.input.summary = &c.summary;
    examine(&c);
    assert_absent(&c, "wrapped-bins");
    c.summary.calls += 1000;
    examine(&c);
    assert_found(&c, "wrapped-bins", SEVERITY_WARNING, "3000001000 calls in 2.000 seconds");
    c.summary.dimension = "cycles";
    examine(&c);
    assert_absent(&c, "wrapped-bins");
    end(&c);
}

CASE(test_overhead)
{
    struct toy_case c;
    begin(&c);
    add_samples(&c, 500);
    c.summary = (struct summary){.has_samples = true,
                                 .samples = 1000,
                                 .profiler = 99,
                                 .rate = 100,
                                 .dimension = "seconds",
                                 .calls = 1000000};
    c.input.summary = &c.summary;
    examine(&c);
    assert_absent(&c, "profiling-overhead");
    c.summary.profiler = 100;
    examine(&c);
    assert_found(&c, "profiling-overhead", SEVERITY_WARNING, "10.0 %");
    c.summary.profiler = 0;
    examine(&c);
    assert_absent(&c, "hidden-overhead"); /* 7 ms of 10 s */
    c.summary.calls = 200000000;
    examine(&c);
    assert_found(&c, "hidden-overhead", SEVERITY_WARNING, "some 1.400 seconds beside the 10.000");
    c.summary.profiler = 1; /* then it is not hidden */
    examine(&c);
    assert_absent(&c, "hidden-overhead");
    end(&c);
}

CASE(test_oddities)
{
    struct toy_case c;
    begin(&c);
    add_samples(&c, 30);
    c.profile.trailing_bytes = 3;
    examine(&c);
    assert_found(&c, "trailing-bytes", SEVERITY_WARNING, "3");
    c.profile.trailing_bytes = 0;
    struct histogram *h = add_histogram(&c, CODE + 8);
    histogram_add(h, 1, 1);
    examine(&c);
    assert_absent(&c, "trailing-bytes");
    assert_int_equal(c.found.all.at[c.found.all.len - 1].severity, SEVERITY_WARNING);
    assert_int_equal(c.found.all.len, 2); /* the overlap */
    end(&c);
}

CASE(test_sorting)
{
    static const enum severity given[] = {SEVERITY_NOTE, SEVERITY_ERROR, SEVERITY_WARNING,
                                          SEVERITY_ERROR, SEVERITY_NOTE};
    static const char *const names[] = {"a", "b", "c", "d", "e"};
    static const char sorted[] = "bdcae";
    struct diagnosis d = {0};
    enum severity worst;
    assert_false(diagnosis_worst(&d, &worst));
    for (size_t i = 0; i < 5; i++)
        vec_push(&d.all, ((struct symptom){.name = names[i], .severity = given[i]}));
    diagnosis_sort(&d);
    for (size_t i = 0; i < 5; i++)
        assert_int_equal(d.all.at[i].name[0], sorted[i]);
    assert_true(diagnosis_worst(&d, &worst) && worst == SEVERITY_ERROR);
    diagnosis_deinit(&d);
}

/* --- the program ----------------------------------------------------------------------------- */

static void open_program(struct toy_case *c, const char *path)
{
    c->input.object = opened(path, NULL);
    functions_native(&c->functions, c->input.object, &c->arena);
    c->input.functions = &c->functions;
    names_init(&c->names, &c->functions, NULL, &c->arena);
}

/* A symptom of a program without any profile. */
static void expect_of(const char *flags, const char *expected, const char *evidence)
{
    struct toy_case c;
    assert_true(run("gcc -O0 program.c -o program %s", flags));
    begin(&c);
    c.input.measured = NULL;
    c.input.is_missing = true;
    c.input.profile_error = "none";
    open_program(&c, "program");
    examine(&c);
    static const char *const all[] = {"not-instrumented", "not-linked-with-pg",
                                      "not-compiled-with-pg", "threads", "shared-objects"};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (strcmp(all[i], expected))
            assert_absent(&c, all[i]);
    if (expected[0])
        assert_found(&c, expected,
                     strstr("threads shared-objects", expected) ? SEVERITY_NOTE : SEVERITY_WARNING,
                     evidence);
    assert_absent(&c, "program-unreadable");
    end(&c);
}

CASE(test_instrumentation)
{
    need("gcc");
    write_text("program.c", "int main(void) { return 0; }\n");
    expect_of("-pg", "", "");
    expect_of("", "not-instrumented", "neither mcount");
    assert_true(run("gcc -pg -c program.c -o half.o"));
    write_text("start.c", "extern void __monstartup(long, long);\n"
                          "int main(void) { __monstartup(0, 0); return 0; }\n");
    assert_true(run("gcc -c start.c -o start.o"));
    write_text("program.c", "extern void mcount(void); int main(void) { mcount(); return 0; }\n");
    expect_of("", "not-linked-with-pg", "mcount");
    assert_true(run("mv start.c program.c"));
    expect_of("", "not-compiled-with-pg", "__monstartup");
}

CASE(test_surroundings)
{
    need("gcc");
    write_text("program.c", "#include <math.h>\n"
                            "int main(int n, char **v) { (void)v; return (int)sin(n); }\n");
    expect_of("-pg -Wl,--no-as-needed -lm", "shared-objects", "libm.so");
    write_text("program.c",
               "#include <pthread.h>\n"
               "int main(void) { pthread_t t; return pthread_create(&t, 0, 0, 0); }\n");
    expect_of("-pg -pthread", "threads", "pthread_create");
    /* As it is linked before glibc 2.34. */
    write_text("part.c", "");
    assert_true(run("gcc -shared part.c -Wl,-soname,libpthread.so.0 -o libpart.so"));
    write_text("program.c", "int main(void) { return 0; }\n");
    expect_of("-pg -Wl,--no-as-needed libpart.so", "", "");
}

CASE(test_stripped)
{
    need("gcc");
    struct toy_case c;
    write_text("program.c", "__attribute__((noinline)) int f(int x) { return x / 3; }\n"
                            "int main(int argc, char **argv) { return f(argc) + !argv; }\n");
    assert_true(run("gcc -static -s -nostdlib -fno-asynchronous-unwind-tables -Wl,-e,main "
                    "program.c -o program"));
    begin(&c);
    open_program(&c, "program");
    examine(&c);
    assert_found(&c, "stripped", SEVERITY_ERROR, "no .symtab");
    assert_absent(&c, "not-instrumented"); /* it does not tell */
    end(&c);
    assert_true(run("gcc -static -s -nostdlib -fasynchronous-unwind-tables -Wl,-e,main program.c "
                    "-o program"));
    begin(&c);
    open_program(&c, "program");
    examine(&c);
    assert_found(&c, "stripped", SEVERITY_WARNING, "no .symtab");
    assert_non_null(strstr(symptom(&c, "stripped")->finding, "unwind tables"));
    end(&c);
    assert_true(run("gcc -s -rdynamic program.c -o program"));
    begin(&c);
    open_program(&c, "program");
    examine(&c);
    assert_found(&c, "stripped", SEVERITY_WARNING, ".dynsym");
    end(&c);
}

/* --- both ------------------------------------------------------------------------------------ */

/* Two functions of 64 bytes and nothing else, at known addresses. */
static void make_bare(void)
{
    write_text("bare.s", ".text\n.globl one, two\n.type one, @function\n.type two, @function\n"
                         "one: .fill 64, 1, 0x90\n.size one, 64\n"
                         "two: .fill 64, 1, 0x90\n.size two, 64\n"
                         "nobody: .fill 896, 1, 0x90\n");
    assert_true(run("gcc -nostdlib -static -no-pie -Wl,-Ttext=0x401000,-e,one bare.s -o bare && "
                    "strip -N nobody bare"));
}

static void open_bare(struct toy_case *c)
{
    begin(c);
    open_program(c, "bare");
    c->summary = (struct summary){.has_samples = true, .rate = 100, .dimension = "seconds"};
    c->input.summary = &c->summary;
    c->input.time = &c->time;
}

/* `in_one` and `in_two` in the functions, `outside` behind them. */
static void sample_bare(struct toy_case *c, uint64_t in_one, uint64_t in_two, uint64_t outside)
{
    struct histogram *h = add_histogram(c, CODE);
    histogram_add(h, 1, in_one), histogram_add(h, 5, in_two), histogram_add(h, 20, outside);
    attribute_native(&c->time, &c->profile, &c->functions.index, &c->arena);
    c->summary.samples = c->time.total;
    c->summary.unattributed = c->time.unattributed;
}

CASE(test_few_samples)
{
    need("gcc");
    struct toy_case c;
    make_bare();
    open_bare(&c);
    sample_bare(&c, 99, 300, 0);
    examine(&c);
    assert_absent(&c, "other-program");
    assert_found(&c, "few-samples", SEVERITY_WARNING, "399 samples: two has 75.2 %");
    assert_absent(&c, "samples-outside");
    end(&c);
    open_bare(&c);
    sample_bare(&c, 100, 300, 44);
    examine(&c);
    assert_absent(&c, "few-samples");
    assert_absent(&c, "samples-outside"); /* 9.9 % */
    end(&c);
    open_bare(&c);
    sample_bare(&c, 100, 300, 45);
    examine(&c);
    assert_found(&c, "samples-outside", SEVERITY_WARNING, "45 of 445 samples");
    end(&c);
}

/* Functions of another program are not spoken of. */
CASE(test_other_program)
{
    need("gcc");
    struct toy_case c;
    make_bare();
    open_bare(&c);
    c.profile.word = 4;
    sample_bare(&c, 1, 2, 9);
    examine(&c);
    assert_found(&c, "other-program", SEVERITY_ERROR, "32");
    assert_absent(&c, "few-samples");
    assert_absent(&c, "samples-outside");
    assert_int_equal(c.found.all.at[0].severity, SEVERITY_ERROR);
    end(&c);
}

CASE(test_age)
{
    need("gcc");
    struct toy_case c;
    make_bare();
    open_bare(&c);
    add_samples(&c, 1000);
    int64_t built = object_facts(c.input.object)->changed;
    c.input.profile_changed = built;
    examine(&c);
    assert_absent(&c, "older-than-program");
    c.input.profile_changed = built - 90;
    examine(&c);
    assert_found(&c, "older-than-program", SEVERITY_WARNING, "90 seconds before");
    c.input.profile_changed = 0; /* not known */
    examine(&c);
    assert_absent(&c, "older-than-program");
    end(&c);
}

int main(void)
{
    return run_cases(workshop_open, workshop_close);
}
