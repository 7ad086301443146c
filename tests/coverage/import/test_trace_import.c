/* What stands in the place of tracefiles: each row of the table has seeds, a line in the docs and a
 * fuzz target; small files say what they were made to say; broken ones say what is wrong. */
#include "base/file.h"
#include "cases.h"
#include "coverage/import/import.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void expect_mentioned(const char *file, const char *text)
{
    char path[4096];
    struct file_buffer b = {0};
    struct err e = {0};
    snprintf(path, sizeof path, "%s/%s", getenv("MONARC_SOURCE"), file);
    assert_true(file_read(path, &b, &e));
    if (!memmem(b.at, b.len, text, strlen(text)))
        fail_msg("%s does not mention %s", file, text);
    file_buffer_deinit(&b);
}

static void expect_own_seeds(const struct trace_importer *importer)
{
    char folder[4096], path[8192];
    unsigned own = 0;
    snprintf(folder, sizeof folder, "%s/tests/corpus/%s", getenv("MONARC_SOURCE"), importer->name);
    DIR *directory = opendir(folder);
    assert_non_null(directory);
    for (struct dirent *entry; (entry = readdir(directory));) {
        struct file_buffer b = {0};
        struct err e = {0};
        if (entry->d_name[0] == '.')
            continue;
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        assert_true(file_read(path, &b, &e));
        const struct trace_importer *found = trace_importer_of(file_bytes(&b));
        if (found && found != importer)
            fail_msg("%s is taken for %s", path, found->title);
        own += found == importer;
        file_buffer_deinit(&b);
    }
    closedir(directory);
    assert_true(own > 0);
}

CASE(rows_are_complete)
{
    for (size_t i = 0; i < trace_importers_len; i++) {
        char text[64];
        expect_own_seeds(&trace_importers[i]);
        expect_mentioned("docs/coverage.md", trace_importers[i].title);
        snprintf(text, sizeof text, "'%s'", trace_importers[i].name);
        expect_mentioned("tests/fuzz/meson.build", text);
    }
}

/* "SOURCE FUNCTION@START-END=COUNT LINE=COUNT LINE?BLOCK.BRANCH=COUNT -NUMBER WHAT;" */
static void print(const struct tracefile *t, FILE *to)
{
    for (size_t i = 0; i < t->sections.len; i++) {
        const struct trace_section *s = &t->sections.at[i];
        fprintf(to, "%s", s->source);
        for (uint32_t k = 0; k < s->functions; k++) {
            const struct trace_function *f = &t->functions.at[s->first_function + k];
            fprintf(to, " %s@%u-%u=%" PRIu64, f->name, f->start_line, f->end_line, f->count);
        }
        for (uint32_t k = 0; k < s->lines; k++) {
            const struct trace_line *l = &t->lines.at[s->first_line + k];
            fprintf(to, " %u=%" PRIu64, l->line, l->count);
        }
        for (uint32_t k = 0; k < s->branches; k++) {
            const struct trace_branch *b = &t->branches.at[s->first_branch + k];
            fprintf(to, " %u?%u.%u=%" PRIu64 "%s", b->line, b->block, b->branch, b->count,
                    b->is_exception ? "e" : "");
        }
        fprintf(to, ";");
    }
    for (size_t i = 0; i < t->losses.len; i++)
        fprintf(to, " -%" PRIu64 " %s", t->losses.at[i].number, t->losses.at[i].what);
}

/* `expected`: what was read, and behind a `!` a part of the message. */
static void expect_read(const char *text, const char *expected)
{
    struct bytes in = {(const uint8_t *)text, strlen(text)};
    const struct trace_importer *importer = trace_importer_of(in);
    struct tracefile t = {0};
    struct err e = {0};
    char got[4096] = "";
    FILE *to = fmemopen(got, sizeof got, "w");
    if (!importer)
        fail_msg("no format takes %s", text);
    bool ok = importer->read(in, "x", &t, &e);
    print(&t, to);
    fclose(to);
    const char *message = strchr(expected, '!');
    size_t len = message ? (size_t)(message - expected) : strlen(expected);
    if (ok == !!message || strlen(got) != len || memcmp(got, expected, len) ||
        (message && !strstr(e.line, message + 1)))
        fail_msg("%s\n gives '%s'%s%s\n not '%s'", text, got, ok ? "" : "!", e.line, expected);
    tracefile_deinit(&t);
}

#define GCOVR(files)       "{\"gcovr/format_version\": \"0.3\", \"files\": [" files "]}"
#define GCOVR_LINES(lines) GCOVR("{\"file\": \"a.c\", \"lines\": [" lines "]}")

CASE(test_gcovr)
{
    expect_read(GCOVR(""), "");
    expect_read(GCOVR_LINES("{\"line_number\": 2, \"count\": 7}"), "a.c 2=7;");
    expect_read(
        GCOVR_LINES("{\"count\": -7, \"x\": [{}, [1e3, \"\\\"]\"], null], \"line_number\": 2}"),
        "a.c 2=0;");
    expect_read(GCOVR_LINES("{\"line_number\": 2, \"count\": 7, \"gcovr/noncode\": true}"), "a.c;");
    expect_read(GCOVR_LINES("{\"branches\": [{\"count\": 1}], \"line_number\": 2, \"count\": 7, "
                            "\"gcovr/excluded\": true}"),
                "a.c; -1 excluded lines");
    expect_read(GCOVR_LINES("{\"branches\": [{\"count\": 1}, {\"count\": 2, \"throw\": true}], "
                            "\"line_number\": 2, \"count\": 3}"),
                "a.c 2=3 2?0.0=1 2?0.1=2e;");
    expect_read(
        GCOVR_LINES("{\"branches\": [{\"count\": 1, \"branchno\": 4, \"source_block_id\": 9},"
                    "{\"count\": 2, \"gcovr/excluded\": true}], \"line_number\": 2, "
                    "\"count\": 3, \"calls\": [1, 2], \"conditions\": [{}], "
                    "\"gcovr/decision\": {}}"),
        "a.c 2=3 2?9.4=1; -1 excluded branches -2 calls -1 conditions -1 decisions");
    expect_read(GCOVR("{\"functions\": [{\"name\": \"f\", \"lineno\": 3, \"execution_count\": 5}, "
                      "{\"demangled_name\": \"g()\", \"lineno\": 4, \"execution_count\": 0}], "
                      "\"file\": \"\\u00e9\\ud83d\\ude00\\ud800\\/\\t\"}"),
                "\u00e9\U0001f600\ufffd/\t f@3-0=5 g()@4-0=0;");
}

CASE(test_broken_gcovr)
{
    expect_read("{\"gcovr/format_version\": \"0.3\"}", "!has no \"files\"");
    expect_read(GCOVR("") "x", "!expected the end of the file");
    expect_read(GCOVR("{}"), "!names no \"file\"");
    expect_read(GCOVR("{\"file\": \"a\\u0000b\"}"), "!NUL");
    expect_read(GCOVR("{\"file\": \"a\\qb\"}"), "!invalid escape");
    expect_read(GCOVR("{\"file\": \"a\\u12g4\"}"), "!invalid escape");
    expect_read(GCOVR("{\"file\": \"a\nb\"}"), "!unterminated string");
    expect_read(GCOVR("{\"file\": 5}"), "!at offset 51: expected a string");
    expect_read(GCOVR_LINES("{\"line_number\": 5000000000}"), "!not a line number");
    expect_read(GCOVR_LINES("{\"line_number\": 5, \"count\": 1-1}"), "!is invalid");
    expect_read(GCOVR_LINES("{\"line_number\" 5}"), "!expected a colon");
    expect_read(GCOVR_LINES("{\"x\": nul}"), "!expected null");
    expect_read(GCOVR_LINES("5"), "!expected an object");
    expect_read("{\"gcovr/x\": 1, \"files\": [{\"file\": \"a\"}, {\"file\": \"b\", \"lines\": [",
                "a;!expected an object");
    expect_read("{\"gcovr/x\": 1, \"files\": [{\"file\": \"a\"} {", "a;!expected a comma");
}

CASE(test_depth)
{
    char text[4096] = "{\"gcovr/x\": 1, \"x\": ";
    (void)state;
    memset(text + strlen(text), '[', 1000);
    expect_read(text, "!nested more than 512 deep");
}

#define LLVM(files, functions) \
    "{\"data\": [{\"files\": [" files "], \"functions\": [" functions "]}], \"segments\": 0}"
#define LLVM_SEGMENTS(segments) LLVM("{\"filename\": \"a.c\", \"segments\": [" segments "]}", "")

CASE(test_llvm_cov)
{
    /* a function of lines 1 to 5 that ran 4 times, lines 3 and 4 of it never */
    expect_read(LLVM_SEGMENTS("[1,9,4,true,true,false],[3,5,0,true,true,false],"
                              "[4,9,4,true,false,false],[5,2,0,false,false,false]"),
                "a.c 1=4 2=4 3=4 4=0 5=4;");
    /* a gap counts for nothing where it begins, but holds on the lines within */
    expect_read(LLVM_SEGMENTS("[1,1,3,true,true,false],[1,9,0,true,true,true],[3,1,3,true,false,"
                              "false],[4,1,0,false,false]"),
                "a.c 1=3 2=0 3=0 4=3;");
    expect_read(LLVM_SEGMENTS("[1,1,3,true,true,false],[3,9,9,true,true,true],[4,1,0,false,false]"),
                "a.c 1=3 2=3 3=3 4=9;");
    /* skipped by the preprocessor; between two functions there is no code */
    expect_read(LLVM_SEGMENTS("[1,1,3,true,true],[2,1,0,false,true],[3,1,3,true,false],"
                              "[4,1,0,false,false],[7,1,0,true,true],[7,5,0,false,false]"),
                "a.c 1=3 4=3 7=0;");
    expect_read(
        LLVM("{\"filename\": \"a.c\", \"branches\": [[1,2,1,9,5,6,0,0,4],[1,2,1,9,1,0,0,0,4],"
             "[9,1,9,2,7,8,1,0,4],[1,12,1,13,0,1]], \"expansions\": [{\"branches\": "
             "[[9,1,9,2,7,8,1,0,4]], "
             "\"source_region\": [1,20,1,25,3,0,1,1]}], \"mcdc_records\": [[1],[2]]}",
             ""),
        "a.c 1?0.0=5 1?0.1=6 1?0.0=1 1?0.1=0 1?1.0=0 1?1.1=1 1?2.0=7 1?2.1=8; "
        "-2 conditions (MC/DC)");
    expect_read(LLVM("", "{\"name\": \"d/a.c:f\", \"count\": 2, \"filenames\": [\"a.c\", \"b.h\"], "
                         "\"regions\": [[3,1,7,2,2,0,0,0],[4,1,4,2,1,0,0,0]]},"
                         "{\"name\": \"-[A b:]\", \"count\": 1, \"filenames\": [\"a.m\"], "
                         "\"regions\": [[1,1,1,2,1,0,0,0]]}"),
                "a.c f@3-7=2;a.m -[A b:]@1-1=1; -3 regions");
}

CASE(test_broken_llvm_cov)
{
    expect_read("{\"dat\": [], \"x\": \"\\\"data\\\"\", \"y\": {\"data\": 1, \"segments\": 2}}",
                "!has no \"data\"");
    expect_read(LLVM("{}", ""), "!has no \"filename\"");
    expect_read(LLVM_SEGMENTS("[1,9,4,true]"), "!too few elements");
    expect_read(LLVM_SEGMENTS("[1,9,4,1,1]"), "!expected true or false");
    expect_read(LLVM_SEGMENTS("[4,9,4,true,true],[3,1,0,false,false]"), "!not ordered by line");
    expect_read(LLVM_SEGMENTS("[1,9,4,true,true],[4000000000,1,0,false,false]"),
                "!more lines than a file of this size has");
}

#define COBERTURA(sources, lines)                                              \
    "<?xml version='1.0'?><coverage line-rate='1'><sources>" sources           \
    "</sources><packages><package><classes><class filename='a&amp;b.c'>" lines \
    "</class></classes></package></packages></coverage>"

CASE(test_cobertura)
{
    expect_read(COBERTURA("<source>.</source>", "<lines><line number='3' hits='7'/></lines>"),
                "a&b.c 3=7;");
    expect_read(COBERTURA("<source>/s&#x72;c</source><source>/o</source>", "<lines/>"),
                "/src/a&b.c; -1 further folders of sources");
    expect_read(COBERTURA("<source/>",
                          "<!-- </class> --><methods><method name='f' signature=''><lines>"
                          "<line number='5' hits='1'/><line number='4' hits='2'/></lines></method>"
                          "<method name='g' signature='(I)V'><lines><line number='9' hits='0'/>"
                          "</lines></method><method name='h'/></methods>"
                          "<lines><line hits='2' number='4' branch='true' "
                          "condition-coverage='66% (2/3)'/>"
                          "<line hits='0' number='5' condition-coverage=\"0%\"/></lines>"),
                "a&b.c f@4-0=2 g(I)V@9-0=0 4=2 5=0 4?0.0=1 4?0.1=1 4?0.2=0; -3 counts of branches "
                "-1 branches without numbers");
}

CASE(test_broken_cobertura)
{
    expect_read("<x line-rate='1' y='<coverage'></x>", "!has no <coverage>");
    expect_read("<coverage line-rate='1'>", "!a tag is still open");
    expect_read("<coverage line-rate='1'></cover>", "!matches no open tag");
    expect_read("<coverage line-rate='1'", "!unterminated tag");
    expect_read("<coverage line-rate='1'>< /></coverage>", "!a tag has no name");
    expect_read("<coverage line-rate='1'><!--", "!unterminated comment");
    expect_read("<!DOCTYPE coverage [<coverage line-rate='1'>", "!unterminated document type");
    expect_read("<?xml encoding='UTF-16'?><coverage line-rate='1'/>", "!not in UTF-8");
    expect_read(COBERTURA("<source>&file;</source>", ""), "!unknown entity");
    expect_read(COBERTURA("", "<lines><line number='3'/></lines>"), "!lacks a valid number");
    expect_read(COBERTURA("", "<lines><line number='3' hits='x'/></lines>"),
                "!lacks a valid number");
    expect_read(COBERTURA("", "<lines><line number='3' hits='1' "
                              "condition-coverage='0% (0/4000000000)'/></lines>"),
                "!more branches than fit into a file of this size");
    expect_read("<coverage line-rate='1'><class/>", "!has no filename");
}

CASE(test_deep_xml)
{
    char text[4096] = "<coverage line-rate='1'>";
    (void)state;
    for (size_t i = 0; i < 300; i++)
        strcat(text, "<a>");
    expect_read(text, "!nested more than 256 deep");
}
