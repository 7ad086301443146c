/* Profiles of a program as commands open them: sums of files, what is refused as another program's,
 * dimensions, pieces of functions, and what is said of bins. They are of a copy of the test itself.
 */
#include "cases.h"
#include "program.h"

#include "profile/format/format.h"

static const uint8_t WORD = sizeof(void *);
static const bool IS_BIG = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;

/* Bins of so many bytes, from a place of the code on. */
static void add_bins(struct profile *p, const char *dimension, uint64_t at, uint64_t bytes,
                     const uint64_t *counts, uint32_t len)
{
    struct histogram h = {.low = link_of_hot + at,
                          .high = link_of_hot + at + bytes * len,
                          .bins = len,
                          .rate = 100,
                          .abbreviation = *dimension};
    strcpy(h.dimension, dimension);
    histogram_alloc(&h);
    for (uint32_t i = 0; i < len; i++)
        histogram_add(&h, i, counts[i]);
    vec_push(&p->histograms, h);
}

/* Writes and frees it. */
static void put_profile(const char *path, struct profile *p)
{
    struct err e = {0};
    p->format = PROFILE_GNU;
    p->version = 1;
    p->word = WORD;
    p->big_endian = IS_BIG;
    CHECK(profile_save(format_named("gmon"), p, WORD, IS_BIG, path, &e));
    profile_deinit(p);
}

static void put_counts(const char *path, uint64_t hot, uint64_t cold, uint64_t piece)
{
    struct profile p = {0};
    add_bins(&p, "seconds", HOT, 64, (const uint64_t[]){hot, cold, 0, piece}, 4);
    put_profile(path, &p);
}

static bool open_prog(struct session *s, struct session_options *o, const char *const *profiles,
                      size_t len, struct err *e)
{
    static char program[] = "prog", *names[64]; /* operands must outlive the session */
    names[0] = program;
    for (size_t i = 0; i < len; i++)
        names[i + 1] = (char *)(uintptr_t)profiles[i];
    return session_operands(o, names, len + 1, e) && session_open(s, o, e);
}

#define OPEN(s, o, ...)                                 \
    open_prog(s, o, (const char *const[]){__VA_ARGS__}, \
              sizeof((const char *[]){__VA_ARGS__}) / sizeof(char *), &e)

CASE_WITH(test_one, session_begin, session_end)
{
    struct session s = {0};
    struct session_options o = {0};
    struct err e = {0};
    (void)state;
    put_counts("gmon.out", 40, 30, 7);
    CHECK(OPEN(&s, &o, "gmon.out"));
    assert_true(self_of(&s, "hot_code") == 47 && self_of(&s, "cold_code") == 30);
    assert_true(s.time.total == 77 && s.time.rate == 100 && s.time.unattributed == 0);
    assert_string_equal(s.summary.program, "prog");
    assert_true(s.summary.profiles_len == 1 && !s.summary.mismatch && !s.summary.was_forced);
    assert_true(s.summary.notes_len == 0 && s.summary.others.len == 0 && !s.summary.run);
    assert_true(session_objects_len(&s) == 1 && session_object(&s, 0) == s.object);
    assert_ptr_equal(session_objects(&s)[0], s.object);
    session_close(&s);
    s = (struct session){0};
    o = (struct session_options){.keeps_pieces = true};
    CHECK(OPEN(&s, &o, "gmon.out"));
    assert_true(self_of(&s, "hot_code") == 40 && self_of(&s, "hot_code.cold") == 7);
    session_close(&s);
}

/* One that was not named is gmon.out, and the recording that is older is mentioned. */
CASE_WITH(test_default, session_begin, session_end)
{
    struct session s = {0};
    struct session_options o = {0};
    struct err e = {0};
    char program[] = "prog", *names[] = {program};
    (void)state;
    put_plain("prog.monarc");
    CHECK(session_operands(&o, names, 1, &e) && session_open(&s, &o, &e));
    assert_true(o.is_recording && self_of(&s, "hot_code") == 5);
    session_close(&s);
    put_counts("gmon.out", 40, 30, 7);
    assert_int_equal(system("touch -d 2020-01-01 prog.monarc/monarc.side"), 0);
    s = (struct session){0};
    o = (struct session_options){0};
    CHECK(session_operands(&o, names, 1, &e) && session_open(&s, &o, &e));
    assert_true(!o.is_recording && self_of(&s, "hot_code") == 47);
    assert_int_equal(s.summary.notes_len, 1);
    assert_int_equal(strncmp(s.summary.notes[0], "gmon.out is newer than the recording of ", 40),
                     0);
    session_close(&s);
    assert_int_equal(system("touch -d 2020-01-01 gmon.out; touch prog.monarc/monarc.side"), 0);
    s = (struct session){0};
    o = (struct session_options){0};
    CHECK(session_operands(&o, names, 1, &e) && session_open(&s, &o, &e));
    assert_true(o.is_recording && s.summary.notes_len == 2);
    assert_int_equal(strncmp(s.summary.notes[0], "the recording is newer than gmon.out ", 37), 0);
    session_close(&s);
}

/* As many files as some threads share, and the first of them that is damaged. */
CASE_WITH(test_many, session_begin, session_end)
{
    struct session s = {0};
    struct session_options o = {0};
    struct err e = {0};
    char names[40][16];
    const char *paths[40];
    (void)state;
    for (size_t i = 0; i < 40; i++) {
        snprintf(names[i], sizeof names[i], "g%zu", i);
        put_counts(names[i], i + 1, i ? 0 : 1000, 0);
        paths[i] = names[i];
    }
    for (size_t len = 1; len <= 40; len += len < 10 ? 1 : 30) {
        s = (struct session){0};
        o = (struct session_options){0};
        CHECK(open_prog(&s, &o, paths, len, &e));
        assert_true(self_of(&s, "hot_code") == (double)(len * (len + 1) / 2));
        assert_true(self_of(&s, "cold_code") == 1000);
        session_close(&s);
    }
    put_text("g20", "gmon");
    put_text("g30", "no profile");
    s = (struct session){0};
    o = (struct session_options){0};
    assert_false(open_prog(&s, &o, paths, 40, &e));
    assert_int_equal(strncmp(e.line, "g20: ", 5), 0);
    session_close(&s);
    s = (struct session){0};
    o = (struct session_options){0};
    assert_false(OPEN(&s, &o, "g1", "missing", "g20"));
    assert_string_equal(e.line, "missing: No such file or directory");
    session_close(&s);
}

CASE_WITH(test_of_another_program, session_begin, session_end)
{
    struct session s = {0};
    struct session_options o = {0};
    struct err e = {0};
    (void)state;
    struct profile p = {0};
    add_bins(&p, "seconds", UINT64_C(1) << 40, 64, (const uint64_t[]){5}, 1);
    put_profile("gmon.out", &p);
    assert_false(OPEN(&s, &o, "gmon.out"));
    assert_int_equal(strncmp(e.line, "gmon.out was not recorded by prog: ", 35), 0);
    assert_non_null(strstr(e.line, " (--force reports anyway)"));
    session_close(&s);
    s = (struct session){0};
    o = (struct session_options){0};
    assert_false(OPEN(&s, &o, "gmon.out", "gmon.out"));
    assert_int_equal(strncmp(e.line, "the profile was not recorded by prog: ", 38), 0);
    session_close(&s);
    s = (struct session){0};
    o = (struct session_options){.is_forced = true};
    CHECK(OPEN(&s, &o, "gmon.out"));
    assert_true(s.summary.was_forced && s.summary.mismatch && s.time.unattributed == 5);
    session_close(&s);
    /* Written with the other word size: read as what it is, then judged. */
    p = (struct profile){0};
    p.format = PROFILE_GNU;
    p.version = 1;
    struct histogram h = {
        .low = 0x1000, .high = 0x1010, .bins = 4, .rate = 100, .dimension = "seconds"};
    h.abbreviation = 's';
    histogram_alloc(&h);
    histogram_add(&h, 0, 3);
    vec_push(&p.histograms, h);
    CHECK(profile_save(format_named("gmon"), &p, WORD == 8 ? 4 : 8, IS_BIG, "other.out", &e));
    profile_deinit(&p);
    s = (struct session){0};
    o = (struct session_options){0};
    assert_false(OPEN(&s, &o, "other.out"));
    assert_int_equal(strncmp(e.line, "other.out was not recorded by prog: ", 36), 0);
    session_close(&s);
}

CASE_WITH(test_dimensions, session_begin, session_end)
{
    struct session s = {0};
    struct session_options o = {0};
    struct err e = {0};
    (void)state;
    struct profile p = {0};
    add_bins(&p, "seconds", HOT, 64, (const uint64_t[]){4, 2, 0, 1}, 4);
    add_bins(&p, "faults", HOT, 64, (const uint64_t[]){0, 8, 0, 9}, 4);
    add_bins(&p, "misses", COLD, 64, (const uint64_t[]){6}, 1);
    vec_push(&p.arcs, (struct arc){link_of_hot + MAIN + 8, link_of_hot + COLD, 3});
    put_profile("gmon.out", &p);
    assert_false(OPEN(&s, &o, "gmon.out"));
    assert_string_equal(e.line,
                        "gmon.out: holds samples of several dimensions; --dimension chooses one");
    session_close(&s);
    s = (struct session){0};
    o = (struct session_options){.read.dimension = "faults"};
    CHECK(OPEN(&s, &o, "gmon.out"));
    assert_true(self_of(&s, "cold_code") == 8 && self_of(&s, "hot_code") == 9);
    assert_string_equal(s.time.dimension, "faults");
    session_close(&s);
    s = (struct session){0};
    o = (struct session_options){.read.dimension = "none"};
    assert_false(OPEN(&s, &o, "gmon.out"));
    assert_int_equal(strncmp(e.line, "gmon.out: ", 10), 0);
    session_close(&s);
    for (int totals = 0; totals < 2; totals++) {
        s = (struct session){0};
        o = (struct session_options){.others = totals ? OTHERS_TOTAL : OTHERS_SELF};
        CHECK(OPEN(&s, &o, "gmon.out"));
        const struct other_measures *others = &s.summary.others;
        assert_int_equal(others->len, 2);
        double most = 0, of_all = 0;
        bool has_faults = false;
        for (size_t i = 0; i < 2; i++)
            for (uint32_t f = 0; f < s.functions.len; f++) {
                bool is_faults = !strcmp(others->at[i].name, "faults");
                has_faults |= is_faults && others->at[i].samples == 17;
                if (!strcmp(s.functions.at[f].name, "cold_code"))
                    assert_true(others->at[i].self[f] == (is_faults ? 8 : 6));
                if (!strcmp(s.functions.at[f].name, "hot_code"))
                    assert_true(others->at[i].self[f] == (is_faults ? 9 : 0));
                if (totals && !strcmp(s.functions.at[f].name, "main_code"))
                    most = others->at[i].totals[f] > most ? others->at[i].totals[f] : most;
            }
        assert_true(has_faults);
        assert_true(most == (totals ? 8 : 0));
        assert_true(!others->all == !totals);
        for (uint32_t n = 0; totals && n < others->all->len; n++)
            of_all += others->all->nodes[n].self;
        if (totals) {
            assert_true(others->all_samples == 3);
            assert_true(of_all > 2.999 && of_all < 3.001);
        }
        session_close(&s);
    }
}

/* Bins over two functions leave open whose the samples are: said from 5 in a thousand on. */
CASE_WITH(test_shared_bins, session_begin, session_end)
{
    for (uint64_t alone = 2; alone <= 2000; alone *= 10) {
        struct session s = {0};
        struct session_options o = {0};
        struct err e = {0};
        struct profile p = {0};
        add_bins(&p, "seconds", HOT, 96, (const uint64_t[]){2}, 1);
        add_bins(&p, "seconds", MAIN, 64, (const uint64_t[]){alone}, 1);
        put_profile("gmon.out", &p);
        CHECK(OPEN(&s, &o, "gmon.out"));
        assert_true(s.sharing.samples == 2);
        assert_int_equal(s.summary.notes_len, alone < 2000);
        if (alone == 2)
            assert_int_equal(strncmp(s.summary.notes[0],
                                     "50 % of the samples are in bins of 96 bytes that lie over",
                                     57),
                             0);
        assert_non_null(s.summary.sharing);
        session_close(&s);
    }
}

CASE_WITH(test_options, session_begin, session_end)
{
    struct err e = {0};
    const struct format *format = NULL;
    struct profile_options o = {0}, hinted;
    uint8_t word = 0;
    (void)state;
    assert_true(parse_word("word", "32", &word, &e) && word == 4);
    assert_true(parse_word("word", "64", &word, &e) && word == 8);
    assert_false(parse_word("word", "16", &word, &e));
    assert_string_equal(e.line, "option '--word' takes 32 or 64, not '16'");
    assert_true(parse_format("to", "gmon", &format, &e) && format == format_named("gmon"));
    assert_false(parse_format("to", "bsd-alpha", &format, &e));
    assert_int_equal(strncmp(e.line, "option '--to' takes one of gmon, ", 33), 0);
    assert_non_null(strstr(e.line, ", not 'bsd-alpha'"));
    assert_true(parse_read_format("format", "bsd-alpha", &o, &e));
    assert_true(o.format == format_named("bsd") && o.hint.bsd_header == BSD_PADDED_HEADER);
    assert_true(parse_read_format("format", "bsd", &o, &e) && o.hint.bsd_header == BSD_HEADER);
    assert_false(parse_read_format("format", "elf", &o, &e));
    struct object *program = object_open("prog", NULL, NULL, &e);
    assert_non_null(program);
    hinted = profile_options_of(&(struct profile_options){0}, program);
    assert_int_equal(hinted.hint.word, WORD);
    assert_int_equal(hinted.hint.order, IS_BIG ? ORDER_BIG : ORDER_LITTLE);
    hinted = profile_options_of(
        &(struct profile_options){.hint = {.word = 2, .order = IS_BIG ? ORDER_LITTLE : ORDER_BIG}},
        program);
    assert_int_equal(hinted.hint.word, 2);
    assert_int_equal(hinted.hint.order, IS_BIG ? ORDER_LITTLE : ORDER_BIG);
    object_close(program);
}

/* What a program lacks is said before a profile is read; static calls are of one program. */
CASE_WITH(test_programs, session_begin, session_end)
{
    struct session s = {0};
    struct session_options o = {0};
    struct err e = {0};
    char recording[] = "r", text[] = "text", gmon[] = "gmon.out", *names[] = {text, gmon};
    (void)state;
    put_counts("gmon.out", 4, 3, 0);
    put_text("text", "no program");
    assert_true(session_operands(&o, names, 2, &e));
    assert_false(session_open(&s, &o, &e));
    assert_int_equal(strncmp(e.line, "text: ", 6), 0);
    session_close(&s);
    put_plain("r");
    s = (struct session){0};
    o = (struct session_options){.adds_static = true};
    names[0] = recording;
    assert_true(session_operands(&o, names, 1, &e));
    assert_false(session_open(&s, &o, &e));
    assert_string_equal(e.line,
                        "r: --static reads the code of one program; name it, not a recording");
    session_close(&s);
}
