/* Coverage as commands open it: which notes, counters, tracefiles and profiles there are below what
 * was named, which belong together, and what is said of those that do not. Files are seeds of the
 * corpus: one object of gcc 12, of 23 lines, of which a run executed 20. */
#include "cases.h"
#include "program.h"

#include "session/arcs_file.h"
#include "session/arcs_profile.h"
#include "session/coverage.h"
#include "session/llvm_file.h"
#include "session/use_counters.h"

#include <elf.h>

/* Opens what is named, with sources wherever they are; the rest is the case's. */
static bool open_named(struct coverage_session *s, struct coverage_options *o, char **names,
                       size_t len, struct err *e)
{
    static struct source_search search;
    search = (struct source_search){.arena = &s->arena};
    o->filter.maps = o->result.search = &search;
    *s = (struct coverage_session){0};
    o->paths = names;
    o->paths_len = len;
    o->filter.root = session_folder;
    o->filter.keeps_system = true;
    o->read.threads = 2;
    return coverage_session_open(s, o, e);
}

/* The text of all problems, "; " between them. */
static const char *problems_of(const struct coverage_session *s)
{
    static char text[2000];
    *text = '\0';
    for (size_t i = 0; i < s->reading.problems.at.len; i++) {
        strcat(text, i ? "; " : "");
        strcat(text, s->reading.problems.at.at[i].text);
    }
    return text;
}

/* The counts of all lines together. */
static uint64_t counts_of(const struct coverage_session *s)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < s->result.lines.len; i++)
        sum += s->result.lines.at[i].count;
    return sum;
}

/* What operands, blanks between them, amount to; or why not. */
static const char *found_in(const char *operands, struct coverage_options o)
{
    static char text[3000];
    struct coverage_session s;
    struct err e = {0};
    char copy[200], *names[8], *rest = copy;
    size_t len = 0;
    strcpy(copy, operands);
    for (char *name; (name = strsep(&rest, " "));)
        names[len++] = name;
    if (open_named(&s, &o, names, len, &e))
        snprintf(text, sizeof text,
                 "%d objects (%d unrun), %d counters, %d traces: %d lines, %d hit, counts %d%s%s",
                 (int)s.reading.objects, (int)s.reading.unrun, (int)s.reading.counters,
                 (int)s.reading.traces, (int)s.result.sums.lines.all, (int)s.result.sums.lines.hit,
                 (int)counts_of(&s), s.reading.problems.at.len ? "; " : "", problems_of(&s));
    else
        snprintf(text, sizeof text, "%s", e.line);
    coverage_session_close(&s);
    return text;
}

static const struct coverage_options PLAIN = {0};

/* The one object with the counters of one run, and without any. */
#define ONE_RUN                  "1 objects (0 unrun), 1 counters, 0 traces: 23 lines, 20 hit, counts 123"
#define NO_RUN                   "1 objects (1 unrun), 0 counters, 0 traces: 23 lines, 0 hit, counts 0"
#define TWO_RUNS                 "1 objects (0 unrun), 2 counters, 0 traces: 23 lines, 20 hit, counts 246"
#define EXPECT(operands, wanted) assert_string_equal(found_in(operands, PLAIN), wanted)

/* A section of a program that is nothing else. */
struct part {
    const char *name;
    const void *bytes;
    size_t len;
    uint64_t flags;
};

static void put_elf(const char *path, const struct part *parts, uint16_t len)
{
    enum { MOST = 8 };
    char names[200] = "";
    size_t names_len = 1;
    uint16_t sections_len = (uint16_t)(len + 2);
    Elf64_Shdr sections[MOST] = {0};
    Elf64_Ehdr head = {.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
                       .e_type = ET_DYN,
                       .e_machine = EM_X86_64,
                       .e_version = EV_CURRENT,
                       .e_ehsize = sizeof head,
                       .e_shoff = sizeof head,
                       .e_shentsize = sizeof(Elf64_Shdr),
                       .e_shnum = sections_len,
                       .e_shstrndx = (uint16_t)(len + 1)};
    size_t at = sizeof head + sections_len * sizeof *sections;
    assert_true(sections_len <= MOST);
    for (uint16_t i = 0; i < len; at += parts[i].len, i++) {
        sections[i + 1] = (Elf64_Shdr){.sh_name = (uint32_t)names_len,
                                       .sh_type = SHT_PROGBITS,
                                       .sh_flags = parts[i].flags,
                                       .sh_offset = at,
                                       .sh_size = parts[i].len,
                                       .sh_addralign = 1};
        strcpy(names + names_len, parts[i].name);
        names_len += strlen(parts[i].name) + 1;
    }
    sections[len + 1] = (Elf64_Shdr){
        .sh_type = SHT_STRTAB, .sh_offset = at, .sh_size = sizeof names, .sh_addralign = 1};
    FILE *out = fopen(path, "w");
    assert_non_null(out);
    fwrite(&head, sizeof head, 1, out);
    fwrite(sections, sizeof *sections, sections_len, out);
    for (size_t i = 0; i < len; i++)
        fwrite(parts[i].bytes, 1, parts[i].len, out);
    fwrite(names, sizeof names, 1, out);
    fclose(out);
}

/* A program of clang's, after a seed of its mapping; its profile goes to `profile`. */
static void put_llvm_program(const char *seed, const char *path, const char *profile)
{
    static uint8_t bytes[8192];
    char from[300];
    uint32_t sizes[3];
    snprintf(from, sizeof from, "%s/tests/corpus/llvm_mapping/%s", getenv("MONARC_SOURCE"), seed);
    FILE *in = fopen(from, "r");
    assert_non_null(in);
    assert_int_equal(fread(sizes, sizeof sizes, 1, in), 1);
    size_t len = fread(bytes, 1, sizeof bytes, in), end = sizes[0] + sizes[1] + sizes[2];
    fclose(in);
    assert_true(end < len);
    put_elf(path,
            (const struct part[]){{"__llvm_covmap", bytes, sizes[0], 0},
                                  {"__llvm_covfun", bytes + sizes[0], sizes[1], 0},
                                  {"__llvm_prf_names", bytes + sizes[0] + sizes[1], sizes[2], 0}},
            3);
    FILE *out = fopen(profile, "w");
    assert_non_null(out);
    fwrite(bytes + end, 1, len - end, out);
    fclose(out);
}

/* A folder with notes, counters or both of the object. */
static void put_object(const char *folder, const char *notes, const char *counters)
{
    char path[100], seed[100];
    mkdir(folder, 0700);
    for (int i = 0; i < 2; i++) {
        const char *release = i ? counters : notes, *kind = i ? "gcda" : "gcno";
        snprintf(path, sizeof path, "%s/a.%s", folder, kind);
        snprintf(seed, sizeof seed, "%s/%s", kind, release);
        if (release)
            put_seed(seed, path);
    }
}

CASE_WITH(test_pairs, session_begin, session_end)
{
    struct coverage_options leaves = {.read.leaves_unrun = true};
    (void)state;
    put_object("notes", "gcc-12-c", NULL);
    put_object("both", "gcc-12-c", "gcc-12-c");
    put_object("counters", NULL, "gcc-12-c");
    put_object("older", NULL, "gcc-10-c");
    put_object("mixed", "gcc-12-c", "gcc-10-c");
    mkdir("empty", 0700);
    EXPECT("notes", NO_RUN "; notes/a.gcno: has no counters");
    EXPECT("both", ONE_RUN);
    EXPECT("both both", ONE_RUN);
    EXPECT("both/a.gcno", ONE_RUN);
    EXPECT("both/a.gcda", ONE_RUN);
    EXPECT("both/a.gcda both", ONE_RUN);
    EXPECT("notes counters", ONE_RUN);
    EXPECT("both counters", TWO_RUNS);
    EXPECT("notes older", NO_RUN "; older/a.gcda: has no notes: no .gcno of that name and stamp; "
                                 "notes/a.gcno: has no counters");
    EXPECT("counters", "counters: has counters (.gcda) but no notes (.gcno); they are next to the "
                       "object files: also name the build folder");
    EXPECT("empty", "empty: has no notes (.gcno); was the program compiled with --coverage, and is "
                    "this the folder of its object files?");
    EXPECT("missing", "missing: No such file or directory");
    /* Beside each other they are a pair by name, whatever their stamps say. */
    EXPECT("mixed", "1 objects (0 unrun), 1 counters, 0 traces: 23 lines, 16 hit, counts 81; "
                    "mixed/a.gcda: 3 functions are unknown, the first of them die: notes and "
                    "counters are from different builds; mixed/a.gcda: counts 3 functions that "
                    "mixed/a.gcno does not have; mixed/a.gcda: was made by another compiler's "
                    "program than mixed/a.gcno");
    assert_true(coverage_files_is_pair("both/a.gcno", "counters/a.gcda"));
    assert_false(coverage_files_is_pair("both/a.gcno", "older/a.gcda"));
    assert_string_equal(found_in("notes both", leaves),
                        "1 objects (1 unrun), 1 counters, 0 traces: 23 lines, 20 hit, counts 123");
}

/* Files of the proposal of 2002, alone and beside gcc's. */
CASE_WITH(test_families, session_begin, session_end)
{
    put_object("both", "gcc-12-c", "gcc-12-c");
    put_seed("da/gcc-12-c", "both/a.da");
    mkdir("own", 0700);
    put_seed("bbg/gcc-12-c", "own/a.bbg");
    EXPECT("own", "1 objects (1 unrun), 0 counters, 0 traces: 23 lines, 0 hit, counts 0; "
                  "own/a.bbg: has no counters");
    put_seed("da/gcc-12-c", "own/a.da");
    EXPECT("own", ONE_RUN);
    EXPECT("own/a.da", ONE_RUN);
    EXPECT("own/a.bbg", ONE_RUN);
    EXPECT("both/a.da", ONE_RUN);
    EXPECT("both/a.gcno", ONE_RUN);
    EXPECT("both", ONE_RUN "; both/a.da: left out, as a gcda of that name lies beside it; `monarc "
                           "merge` adds runs");
    assert_int_equal(unlink("both/a.gcda"), 0);
    EXPECT("both", ONE_RUN);
    EXPECT("both/a.gcno", ONE_RUN);
    /* Notes of both families: counters go to those of theirs. */
    put_seed("bbg/gcc-12-c", "both/a.bbg");
    EXPECT("both", ONE_RUN);
    assert_int_equal(unlink("both/a.da"), 0);
    assert_int_equal(unlink("own/a.bbg"), 0);
    assert_int_equal(unlink("both/a.bbg"), 0);
    EXPECT("own both", NO_RUN "; own/a.da: has no notes: no .bbg of that name; both/a.gcno: has no "
                              "counters");
}

/* One file by several names is one; several objects of a name get those that lie as they do. */
CASE_WITH(test_names, session_begin, session_end)
{
    struct coverage_options follows = {.find.follows_links = true};
    struct coverage_files f = {0};
    struct find_rules rules = {0};
    struct err e = {0};
    char build[] = "build", copy[] = "copy";
    (void)state;
    put_object("both", "gcc-12-c", "gcc-12-c");
    mkdir("more", 0700);
    assert_int_equal(link("both/a.gcda", "more/b.gcda"), 0);
    assert_int_equal(symlink("../both/a.gcda", "more/c.gcda"), 0);
    EXPECT("both more", ONE_RUN);
    mkdir("links", 0700);
    assert_int_equal(symlink("../both", "links/both"), 0);
    EXPECT("links", "links: has no notes (.gcno); was the program compiled with --coverage, and is "
                    "this the folder of its object files?");
    assert_string_equal(found_in("links", follows), ONE_RUN);
    mkdir("build", 0700);
    mkdir("copy", 0700);
    put_object("build/x", "gcc-12-c", NULL);
    put_object("build/y", "gcc-12-c", NULL);
    put_object("copy/y", NULL, "gcc-12-c");
    put_object("copy/x", NULL, "gcc-12-c");
    for (int trusts = 0; trusts < 2; trusts++) {
        rules.trusts_names = trusts;
        CHECK(coverage_files_look(&f, build, &rules, &e) &&
              coverage_files_look(&f, copy, &rules, &e));
        coverage_files_pair(&f, &rules);
        assert_true(f.objects.len == 2 && f.counters.len == 2 && !f.unreadable.len);
        for (size_t i = 0; i < 2; i++) {
            const struct coverage_object *o = &f.objects.at[i];
            assert_true(o->first_counters != (uint32_t)NO_INDEX);
            const struct counters_file *c = &f.counters.at[o->first_counters];
            assert_int_equal(o->notes[strlen("build/")], c->path[strlen("copy/")]);
            assert_true(c->is_paired && c->is_by_name == (trusts != 0) &&
                        c->next == (uint32_t)NO_INDEX);
        }
        if (trusts) {
            coverage_files_pair_by_stamps(&f);
            for (size_t i = 0; i < 2; i++) {
                const struct coverage_object *o = &f.objects.at[i];
                const struct counters_file *c = &f.counters.at[o->first_counters];
                assert_int_equal(o->notes[strlen("build/")], c->path[strlen("copy/")]);
                assert_true(c->is_paired && c->next == (uint32_t)NO_INDEX);
            }
        }
        coverage_files_deinit(&f);
        f = (struct coverage_files){0};
    }
}

/* GCOV_PREFIX has put counters below another folder, under their whole paths or a part of them. */
CASE_WITH(test_prefix, session_begin, session_end)
{
    struct coverage_options o = {.find.prefix = "moved"}, stripped = o;
    char folder[200];
    (void)state;
    put_object("notes", "gcc-12-c", NULL);
    snprintf(folder, sizeof folder, "mkdir -p moved%s/notes", session_folder);
    assert_int_equal(system(folder), 0);
    snprintf(folder, sizeof folder, "moved%s/notes/a.gcda", session_folder);
    put_seed("gcda/gcc-12-c", folder);
    assert_string_equal(found_in("notes", o), ONE_RUN);
    EXPECT("notes", NO_RUN "; notes/a.gcno: has no counters");
    stripped.find.strip = 2; /* /tmp, and the folder in it */
    assert_string_equal(found_in("notes", stripped), NO_RUN "; notes/a.gcno: has no counters");
    mkdir("moved/notes", 0700);
    put_seed("gcda/gcc-12-c", "moved/notes/a.gcda");
    assert_string_equal(found_in("notes", stripped), ONE_RUN);
}

CASE_WITH(test_tracefiles, session_begin, session_end)
{
    put_object("both", "gcc-12-c", "gcc-12-c");
    put_seed("lcov/lcov2.info", "t.info");
    put_text("text", "nothing");
    EXPECT("t.info", "0 objects (0 unrun), 0 counters, 1 traces: 2 lines, 1 hit, counts 4; t.info: "
                     "1 counts are negative, and taken as 0");
    EXPECT("text both",
           ONE_RUN "; text: is neither notes (.gcno, .bbg), counters (.gcda, .da), nor "
                   "a tracefile of lcov, JSON of gcovr or llvm-cov, or Cobertura XML");
    struct trace_file f = {0}, none = {0};
    struct err e = {0};
    static const char TRACE[] = "SF:a.c\nDA:1,2\nend_of_record\n";
    const struct bytes in = {(const uint8_t *)TRACE, strlen(TRACE)}, no = {(const uint8_t *)"x", 1};
    assert_true(trace_file_is(in) && !trace_file_is(no));
    CHECK(trace_file_read(&f, in, "t", &e));
    assert_true(f.found.sections.len == 1);
    assert_string_equal(f.format, "lcov");
    assert_false(trace_file_read(&none, no, "t", &e));
    assert_string_equal(e.line, "t: is not a tracefile");
    tracefile_deinit(&f.found);
}

/* Counters are of the test that the folder is called by. */
CASE_WITH(test_tests, session_begin, session_end)
{
    struct coverage_options by_test = {.read.by_test = true}, only = {.read.only = "two"},
                            runs = {.runs = "runs"};
    struct coverage_session s;
    struct err e = {0};
    char notes[] = "notes", one[] = "one", two[] = "two", *names[] = {notes, one, two};
    (void)state;
    put_object("notes", "gcc-12-c", NULL);
    put_object("one", NULL, "gcc-12-c");
    put_object("two", NULL, "gcc-12-c");
    EXPECT("notes one two", TWO_RUNS);
    assert_string_equal(found_in("notes one two", by_test), TWO_RUNS);
    assert_string_equal(found_in("notes one two", only), ONE_RUN);
    CHECK(open_named(&s, &by_test, names, 3, &e));
    assert_int_equal(s.result.tests.len, 2);
    coverage_session_close(&s);
    mkdir("runs", 0700);
    put_object("runs/r10", NULL, "gcc-12-c");
    put_object("runs/r9", NULL, "gcc-12-c");
    put_object("runs/.no", NULL, "gcc-12-c");
    put_text("runs/text", "is passed over");
    assert_string_equal(found_in("notes", runs), TWO_RUNS);
    runs.read.only = "r9";
    assert_string_equal(found_in("notes", runs), ONE_RUN);
    runs.runs = "gone";
    assert_string_equal(found_in("notes", runs), "gone: No such file or directory");
}

/* Profiles of clang's own counters with a program that has the mapping, named and found. */
CASE_WITH(test_llvm, session_begin, session_end)
{
#define RAN "1 objects (0 unrun), 1 counters, 0 traces: 7 lines, 5 hit, counts 36"
    (void)state;
    put_elf("prog", (const struct part[]){{".comment", "x", 1, 0}}, 1);
    put_llvm_program("v4", "llvm", "c.profraw");
    put_seed("llvm_profile/text", "t.proftext");
    EXPECT("llvm c.profraw", RAN);
    EXPECT("llvm t.proftext", RAN);
    EXPECT("llvm", "1 objects (1 unrun), 0 counters, 0 traces: 7 lines, 0 hit, counts 0; llvm: has "
                   "no counters");
    EXPECT("c.profraw", "0 objects (0 unrun), 1 counters, 0 traces: 0 lines, 0 hit, counts 0; "
                        "c.profraw: no function of it is in the programs that were found; name the "
                        "program that left it");
    EXPECT("prog", "0 objects (0 unrun), 0 counters, 0 traces: 0 lines, 0 hit, counts 0; prog: has "
                   "no coverage mapping; was it compiled with -fprofile-instr-generate "
                   "-fcoverage-mapping (clang) or -Cinstrument-coverage (rustc)?");
    assert_int_equal(chmod("llvm", 0700), 0); /* is found now */
    EXPECT("c.profraw", RAN);
    assert_int_equal(unlink("t.proftext"), 0);
    EXPECT(".", RAN);
    assert_int_equal(rename("c.profraw", "unnamed"), 0); /* known by its bytes */
    assert_true(is_llvm_profile("unnamed") && !is_llvm_profile("llvm") &&
                is_llvm_profile("gone.profdata") && !is_llvm_profile("gone"));
    EXPECT("llvm unnamed", RAN);
}

static const char ONE_COUNTER[] = "f\n24\n1\n7\n";

CASE_WITH(test_llvm_sums, session_begin, session_end)
{
    struct llvm_request r = {.output = "sum.proftext"};
    struct llvm_inputs inputs = {0};
    struct err e = {0};
    enum llvm_container container;
    char text[] = "t.proftext", other[] = "other.proftext", gone[] = "gone.profraw", folder[] = "d",
         *paths[] = {text, text, other};
    (void)state;
    put_seed("llvm_profile/text", text);
    put_text(other, ONE_COUNTER);
    assert_int_equal(llvm_merge(&r, paths, 2, &e), EXIT_FINE);
    assert_string_equal(e.line, "");
    char whole[400] = {0};
    FILE *in = fopen("sum.proftext", "r");
    assert_true(fread(whole, 1, sizeof whole - 1, in) > 0);
    fclose(in);
    assert_non_null(strstr(whole, "\n20\n8\n12\n6\n"));
    e = (struct err){0};
    assert_int_equal(llvm_merge(&r, paths, 3, &e), EXIT_DIFFERS);
    assert_string_equal(e.line, "left out: counters of 1 functions that other files have with "
                                "another number of counters");
    struct llvm_request raw = {.output = "sum.profraw"};
    char raw_text[] = "raw.profraw", *raws[] = {raw_text, raw_text};
    put_seed("llvm_profile/raw10", raw_text);
    e = (struct err){0};
    assert_int_equal(llvm_merge(&raw, raws, 2, &e), EXIT_FINE);
    assert_string_equal(e.line, "");
    assert_true(is_llvm_profile("sum.profraw"));
    paths[2] = gone;
    assert_int_equal(llvm_merge(&r, paths, 3, &e), EXIT_BAD);
    assert_string_equal(e.line, "gone.profraw: No such file or directory");
    assert_true(llvm_container_named("profdata", &container) && container == LLVM_INDEXED);
    assert_false(llvm_container_named("profile", &container));
    /* Inputs: each once, by name, without the sum of an earlier time. */
    mkdir("d", 0700);
    put_seed("llvm_profile/text", "d/b.proftext");
    put_seed("llvm_profile/text", "d/a.proftext");
    put_text("d/text", "is passed over");
    assert_int_equal(link("d/a.proftext", "d/c.proftext"), 0);
    paths[0] = folder;
    paths[1] = text;
    CHECK(llvm_inputs_find(paths, 2, "new", &inputs, &e));
    assert_int_equal(inputs.at.len, 3);
    assert_string_equal(inputs.at.at[0], "d/a.proftext");
    assert_string_equal(inputs.at.at[1], "d/b.proftext");
    assert_string_equal(inputs.at.at[2], "t.proftext");
    llvm_inputs_deinit(&inputs);
    inputs = (struct llvm_inputs){0};
    CHECK(llvm_inputs_find(paths, 1, "d/b.proftext", &inputs, &e));
    assert_int_equal(inputs.at.len, 1);
    llvm_inputs_deinit(&inputs);
    assert_int_equal(unlink("d/a.proftext"), 0);
    assert_int_equal(unlink("d/c.proftext"), 0);
    inputs = (struct llvm_inputs){0};
    assert_false(llvm_inputs_find(paths, 1, "d/b.proftext", &inputs, &e));
    assert_string_equal(e.line, "d/b.proftext: is the only profile among the inputs");
    llvm_inputs_deinit(&inputs);
}

/* Counters in other families' files, their sums, and those that a next build can use. */
CASE_WITH(test_counters_as_files, session_begin, session_end)
{
    struct arcs_request to_da = {.output = "o/a.da", .to = ARCS_DA}, sum = {.output = "sum/a.gcda"};
    struct err e = {0};
    char own[] = "o/a.gcda", older[] = "older/a.gcda", folder[] = "o", *paths[] = {own, own, older};
    (void)state;
    put_object("o", "gcc-12-c", "gcc-12-c");
    put_object("older", "gcc-10-c", "gcc-10-c");
    put_object("sum", "gcc-12-c", NULL);
    assert_int_equal(arcs_kind_of_path("o/a.gcno"), ARCS_GCNO);
    assert_int_equal(arcs_kind_of_path("o/a.gcda"), ARCS_GCDA);
    assert_int_equal(arcs_kind_of_path("prog"), ARCS_NONE);
    assert_int_equal(arcs_kind_of_path("gone"), ARCS_NONE);
    assert_int_equal(arcs_kind_named("da"), ARCS_DA);
    assert_int_equal(arcs_kind_named("gmon"), ARCS_NONE);
    CHECK(arcs_convert(&to_da, own, &e));
    assert_int_equal(arcs_kind_of_path("o/a.da"), ARCS_DA);
    CHECK(arcs_merge(&sum, paths, 2, &e));
    EXPECT("sum", "1 objects (0 unrun), 1 counters, 0 traces: 23 lines, 20 hit, counts 246");
    assert_false(arcs_merge(&sum, paths, 3, &e));
    assert_int_equal(strncmp(e.line, "older/a.gcda: ", 14), 0);
    assert_int_equal(unlink("o/a.gcno"), 0);
    assert_false(arcs_convert(&to_da, own, &e)); /* whose functions have no names without */
    put_object("o", "gcc-12-c", NULL);
    assert_int_equal(unlink("o/a.da"), 0);
    struct use_counters u = {0};
    paths[0] = folder;
    CHECK(use_counters_write(
        &u, &(struct use_request){.inputs = paths, .inputs_len = 1, .output = "used"}, &e));
    assert_true(u.objects == 1 && u.written == 1 && u.kept == 6 && u.count == 293 && u.runs == 2);
    assert_true(!u.moved && !u.changed && !u.gone && !u.lost && !u.unmatched && !u.functions.len);
    assert_int_equal(system("test -n \"$(find used -name '*.gcda')\""), 0);
    use_counters_deinit(&u);
    u = (struct use_counters){0};
    struct use_request request = {.inputs = paths, .inputs_len = 1, .against = "sum"};
    CHECK(use_counters_write(&u, &request, &e));
    assert_true(u.kept == 6 && !u.unmatched && !u.lost);
    use_counters_deinit(&u);
    u = (struct use_counters){0};
    request.against = "older";
    assert_false(use_counters_write(&u, &request, &e));
    assert_string_equal(
        e.line, "older/a.gcno: is of version B02*, the counters of B22*: another compiler's");
    use_counters_deinit(&u);
}

/* Counts become a profile of a program only if its lines are known. */
CASE_WITH(test_profile_of_counters, session_begin, session_end)
{
    /* That is nothing and says that it is a gigabyte. */
    static const Elf64_Chdr EXCESS = {
        .ch_type = ELFCOMPRESS_ZLIB, .ch_size = 1 << 30, .ch_addralign = 1};
    struct arcs_profile_request r = {
        .program = "bare", .output = "out", .to = format_named("gmon")};
    struct err e = {0};
    char counters[] = "o/a.gcda", *paths[] = {counters};
    (void)state;
    put_object("o", "gcc-12-c", "gcc-12-c");
    put_elf("bare", (const struct part[]){{".comment", "x", 1, 0}}, 1);
    assert_int_equal(arcs_profile(&r, paths, 1, &e), EXIT_BAD);
    assert_string_equal(
        e.line, "bare: has no line numbers, so counts cannot be given addresses; compile it "
                "with -g, or name the folder of its separate debug file with --debug-dir");
    put_elf("damaged",
            (const struct part[]){{".debug_info", &EXCESS, sizeof EXCESS, SHF_COMPRESSED}}, 1);
    r.program = "damaged";
    assert_int_equal(arcs_profile(&r, paths, 1, &e), EXIT_BAD);
    assert_string_equal(e.line, "damaged: debug information is not read: section .debug_info "
                                "claims to unpack to more than a hundred times its size");
    r.program = "gone";
    assert_int_equal(arcs_profile(&r, paths, 1, &e), EXIT_BAD);
    assert_string_equal(e.line, "gone: No such file or directory");
    assert_int_not_equal(access("out", F_OK), 0);
}
