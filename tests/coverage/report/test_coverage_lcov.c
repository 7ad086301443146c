/* The writer of tracefiles: each record, what is left out, and pieces that are printed apart. */
#include "cases.h"
#include "coverage/report/coverage_report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char *written(const struct coverage_result *r, const char *test, bool is_lcov2,
                     struct problems *problems)
{
    struct coverage_style style = {.is_lcov2 = is_lcov2};
    struct coverage_report report = {.result = r, .problems = problems, .test = test, .threads = 2};
    FILE *file = tmpfile();
    struct out out;
    out_init(&out, fileno(file));
    coverage_lcov(&out, &report, &style);
    out_flush(&out);
    out_deinit(&out);
    off_t len = lseek(fileno(file), 0, SEEK_END);
    char *text = calloc(1, (size_t)len + 1);
    assert_int_equal(pread(fileno(file), text, (size_t)len, 0), len);
    fclose(file);
    return text;
}

static void small_result(struct coverage_result *r)
{
    vec_push(
        &r->functions,
        (struct result_function){
            .linkage = "main", .start_line = 3, .end_line = 9, .count = 1, .state = RESULT_HIT});
    vec_push(&r->functions, (struct result_function){.linkage = "alias", .start_line = 3});
    vec_push(&r->functions,
             (struct result_function){.linkage = "lost", .start_line = 4, .state = RESULT_UNKNOWN});
    vec_push(&r->functions,
             (struct result_function){.linkage = "two\nlines", .start_line = 12, .count = 70});
    vec_push(&r->branches, (struct result_branch){.count = 12, .was_reached = true});
    vec_push(&r->branches, (struct result_branch){.block = 11, .flags = OUTCOME_THROW});
    vec_push(&r->conditions, (struct result_condition){.terms = 2, .on = 1, .off = 2});
    vec_push(
        &r->lines,
        (struct result_line){
            .line = 3, .count = UINT64_MAX, .state = RESULT_HIT, .branches = 2, .conditions = 1});
    vec_push(&r->lines, (struct result_line){.line = 4, .state = RESULT_UNKNOWN});
    vec_push(&r->lines, (struct result_line){.line = 12, .state = RESULT_MISSED});
    vec_push(&r->sources, (struct result_source){.whole = "/src/a.c",
                                                 .lines = 3,
                                                 .functions = 4,
                                                 .sums = {.lines = {3, 1, 1},
                                                          .functions = {4, 2, 1},
                                                          .branches = {2, 1, 0},
                                                          .conditions = {4, 2, 0}}});
}

#define COUNTS "DA:3,18446744073709551615\nDA:12,0\nLF:2\nLH:1\nend_of_record\n"

static void result_free(struct coverage_result *r)
{
    vec_free(&r->sources);
    vec_free(&r->functions);
    vec_free(&r->branches);
    vec_free(&r->conditions);
    vec_free(&r->lines);
}

CASE(test_records)
{
    struct coverage_result r = {0};
    struct problems problems = {0};
    small_result(&r);
    char *text = written(&r, "unit", false, &problems);
    assert_string_equal(text, "TN:unit\nSF:/src/a.c\nFN:3,main\nFN:3,alias\nFN:12,two?lines\n"
                              "FNDA:1,main\nFNDA:0,alias\nFNDA:70,two?lines\nFNF:3\nFNH:2\n"
                              "BRDA:3,0,0,12\nBRDA:3,11,1,-\nBRF:2\nBRH:1\n" COUNTS);
    free(text);
    text = written(&r, NULL, true, &problems);
    assert_string_equal(text, "TN:\nSF:/src/a.c\nFNL:0,3,9\nFNA:0,1,main\nFNA:0,0,alias\n"
                              "FNL:1,12\nFNA:1,70,two?lines\nFNF:3\nFNH:2\n"
                              "BRDA:3,0,0,12\nBRDA:3,e11,1,-\nBRF:2\nBRH:1\n"
                              "MCDC:3,2,t,1,0,0\nMCDC:3,2,f,0,0,0\nMCDC:3,2,t,0,1,1\n"
                              "MCDC:3,2,f,1,1,1\nMCF:4\nMCH:2\n" COUNTS);
    free(text);
    result_free(&r);
}

/* Decisions of as many terms on one line would be one for lcov: they have the records of one with
 * the terms of all, unless those are more than a reader takes. */
CASE(test_equal_decisions)
{
    static const struct {
        uint32_t terms[3];
        const char *expected;
    } CASES[] = {
        {{1, 2},
         "MCDC:3,1,t,1,0,0\nMCDC:3,1,f,0,0,0\nMCDC:3,2,t,1,0,0\nMCDC:3,2,f,0,0,0\n"
         "MCDC:3,2,t,0,1,1\nMCDC:3,2,f,0,1,1\nMCF"},
        {{1, 1}, "MCDC:3,2,t,1,0,0\nMCDC:3,2,f,0,0,0\nMCDC:3,2,t,1,1,1\nMCDC:3,2,f,0,1,1\nMCF"},
        {{1, 2, 1},
         "MCDC:3,4,t,1,0,0\nMCDC:3,4,f,0,0,0\nMCDC:3,4,t,1,1,1\nMCDC:3,4,f,0,1,1\n"
         "MCDC:3,4,t,0,2,2\nMCDC:3,4,f,0,2,2\nMCDC:3,4,t,1,3,3\nMCDC:3,4,f,0,3,3\nMCF"},
        {{63, 1}, "MCDC:3,63,f,0,62,62\nMCDC:3,1,t,1,0,0\n"},
        {{32, 32}, "MCDC:3,64,t,1,0,0\n"},
        {{64, 1, 1}, "MCDC:3,64,t,1,0,0\n"},
    };
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        struct coverage_result r = {0};
        struct problems problems = {0};
        uint32_t len = 0, terms = 0;
        for (; len < 3 && CASES[i].terms[len]; len++) {
            terms += CASES[i].terms[len];
            vec_push(&r.conditions,
                     (struct result_condition){.terms = CASES[i].terms[len], .on = 1});
        }
        vec_push(&r.lines, (struct result_line){.line = 3, .state = RESULT_HIT, .conditions = len});
        vec_push(&r.sources, (struct result_source){.whole = "/a.c",
                                                    .lines = 1,
                                                    .sums = {.conditions = {2 * terms, len, 0}}});
        char *text = written(&r, NULL, true, &problems);
        assert_non_null(strstr(text, CASES[i].expected));
        free(text);
        result_free(&r);
    }
}

/* More lines than a piece has: each once, in their order, and one end of the record. */
CASE(test_pieces)
{
    enum { LINES = 20000 };
    struct coverage_result r = {0};
    struct problems problems = {0};
    for (uint32_t i = 1; i <= LINES; i++)
        vec_push(&r.lines, (struct result_line){.line = i, .count = i % 7});
    vec_push(&r.sources, (struct result_source){.whole = "/b.c", .lines = LINES});
    char *text = written(&r, NULL, false, &problems);
    const char *at = strstr(text, "DA:");
    for (uint32_t i = 1; i <= LINES; i++) {
        char wanted[32];
        int len = snprintf(wanted, sizeof wanted, "DA:%u,%u\n", i, i % 7);
        assert_memory_equal(at, wanted, (size_t)len);
        at += len;
    }
    assert_string_equal(at, "LF:0\nLH:0\nend_of_record\n");
    free(text);
    result_free(&r);
}
