/* Coverage as the page wants it, but for its sources.
 *
 * Totals are the ratios of the result, so that the page says what `monarc cover` says. The list of
 * covered functions is a block of its own: a large program has more functions than a reader wants
 * at first. Who wrote the lines, and how old they are, is summed up where git was asked: an
 * author's covered and uncovered lines, and the same by age, in the steps that genhtml has and one
 * of a year. */
#include "page/page_private.h"

#include "base/sort.h"

/* --- totals, inputs, gates, the patch -------------------------------------------------------- */

/* Three counts rather than a percentage: the page adds them up by folder, and percentages cannot be
 * added. */
static void ratio(struct json *j, const char *key, const struct coverage_ratio *r)
{
    json_key(j, key), json_begin(j, '{');
    json_pair_u64(j, "all", r->all);
    json_pair_u64(j, "hit", r->hit);
    json_pair_u64(j, "unknown", r->unknown);
    json_end(j);
}

static void totals_data(struct json *j, const char *key, const struct coverage_ratios *s)
{
    json_key(j, key), json_begin(j, '{');
    ratio(j, "lines", &s->lines);
    ratio(j, "functions", &s->functions);
    ratio(j, "branches", &s->branches);
    ratio(j, "conditions", &s->conditions);
    ratio(j, "regions", &s->regions);
    json_end(j);
}

/* What reading met, then what the analysis has to say, which is never worse than a note. */
static void problems_data(struct json *j, const struct page_coverage *c)
{
    static const char *const WORDS[PROBLEM_KINDS] = {"error", "warning", "note"};
    column_begin(j, "problems");
    for (size_t i = 0; i < c->problems->at.len; i++) {
        json_begin(j, '{');
        json_pair_str(j, "severity", WORDS[c->problems->at.at[i].kind]);
        json_pair_str(j, "text", c->problems->at.at[i].text);
        json_end(j);
    }
    for (size_t i = 0; i < c->result->notes.len; i++) {
        json_begin(j, '{');
        json_pair_str(j, "severity", WORDS[PROBLEM_NOTE]);
        json_pair_str(j, "text", c->result->notes.at[i]);
        json_end(j);
    }
    json_end(j);
}

/* The patch's files: lines that it adds, how many of these have code, the numbers of those, and of
 * those of them that never ran. A
 * file of the patch that has no source on the page is -1. */
static void diff_data(struct json *j, const struct page_coverage *c,
                      const struct measured_sources *files)
{
    json_key(j, "diff");
    if (!c->diff) {
        json_none(j);
        return;
    }
    json_begin(j, '{');
    json_pair_str(j, "patch", c->patch);
    ratio(j, "lines", &c->diff->sum);
    ratio(j, "branches", &c->diff->branches);
    JSON_ITEMS(j, "files", i, c->diff->files.len) {
        const struct diff_file *f = &c->diff->files.at[i];
        json_begin(j, '{');
        json_pair_str(j, "path", f->path);
        uint32_t file = UINT32_MAX;
        for (uint32_t k = 0; k < files->all.len && f->source != UINT32_MAX; k++)
            if (files->all.at[k].coverage == f->source)
                file = k;
        json_key(j, "file"), column_index(j, file);
        json_pair_u64(j, "added", f->added);
        ratio(j, "lines", &f->lines);
        column_begin(j, "changed");
        for (uint32_t k = f->first_line; k < f->first_line + f->len; k++)
            json_u64(j, c->result->lines.at[c->diff->lines.at[k]].line);
        json_end(j);
        column_begin(j, "never_ran");
        for (uint32_t k = f->first_line; k < f->first_line + f->len; k++) {
            const struct result_line *line = &c->result->lines.at[c->diff->lines.at[k]];
            if (line->state == RESULT_MISSED)
                json_u64(j, line->line);
        }
        json_end(j);
        json_end(j);
    }
    json_end(j);
}

/* --- who wrote it ---------------------------------------------------------------------------- */

enum { DAY = 24 * 60 * 60 };

/* As genhtml has them, and a year. */
static const struct {
    int64_t days;
    const char *name;
} BLAME_AGES[] = {{7, "up to 7 days"},
                  {30, "7 to 30 days"},
                  {180, "30 to 180 days"},
                  {365, "180 days to a year"},
                  {INT64_MAX, "more than a year"}};
enum { AGES = sizeof BLAME_AGES / sizeof *BLAME_AGES };

/* Covered and uncovered lines by who wrote them and by when. Authors are numbered as they are met,
 * over all sources; numbers in a struct blame are of that source alone. */
struct blame_sums {
    const struct page_coverage *c;
    struct intern authors;
    VEC(struct coverage_ratio) of_author;
    struct coverage_ratio of_age[AGES], unknown; /* unknown: git does not know the line */
};

static void blame_add(struct coverage_ratio *sum, const struct result_line *l)
{
    sum->all++;
    sum->hit += l->state == RESULT_HIT;
    sum->unknown += l->state == RESULT_UNKNOWN;
}

/* A line that git does not know (not committed, or past the end of the file as git has it) counts
 * as unknown. A commit from the future is 0 days old. */
static void blame_add_line(struct blame_sums *s, const struct blame *b, const struct result_line *l)
{
    const struct blame_commit *commit =
        l->line && l->line <= b->lines.len ? &b->commits.at[b->lines.at[l->line - 1]] : NULL;
    if (!commit || commit->author == INTERN_NONE) {
        blame_add(&s->unknown, l);
        return;
    }
    const char *name = intern_text(&b->authors, commit->author);
    uint32_t author = intern(&s->authors, name, strlen(name));
    if (author == s->of_author.len)
        vec_push(&s->of_author, (struct coverage_ratio){0});
    blame_add(&s->of_author.at[author], l);
    int64_t days = commit->time < s->c->blamed_at ? (s->c->blamed_at - commit->time) / DAY : 0;
    int age = 0;
    while (days > BLAME_AGES[age].days)
        age++;
    blame_add(&s->of_age[age], l);
}

static void blame_ratio(struct json *j, const char *name, const struct coverage_ratio *r)
{
    json_begin(j, '{');
    json_pair_str(j, "name", name);
    json_pair_u64(j, "all", r->all);
    json_pair_u64(j, "hit", r->hit);
    json_pair_u64(j, "unknown", r->unknown);
    json_end(j);
}

/* The member "blame": sums by author and by age; null where not requested. */
static void blame_sums_data(struct json *j, const struct page_coverage *c)
{
    const struct coverage_result *r = c->result;
    struct blame_sums sums = {.c = c};
    json_key(j, "blame");
    if (!c->blames) {
        json_none(j);
        return;
    }
    for (uint32_t i = 0; i < r->sources.len; i++) {
        const struct result_source *s = &r->sources.at[i];
        for (uint32_t k = 0; k < s->lines; k++)
            blame_add_line(&sums, &c->blames[i], &r->lines.at[s->first_line + k]);
    }
    json_begin(j, '{');
    /* Authors with most lines that never ran first. */
    struct arena scratch = {0};
    struct keyed *order = ARENA_NEW(&scratch, struct keyed, sums.of_author.len + 1);
    for (uint32_t i = 0; i < sums.of_author.len; i++) {
        const struct coverage_ratio *a = &sums.of_author.at[i];
        order[i] = (struct keyed){UINT64_MAX - (a->all - a->unknown - a->hit), i};
    }
    sort_keyed(order, sums.of_author.len);
    COLUMN(j, "authors", sums.of_author.len,
           blame_ratio(j, intern_text(&sums.authors, order[i].item),
                       &sums.of_author.at[order[i].item]));
    arena_deinit(&scratch);
    JSON_ITEMS(j, "ages", i, AGES)
        if (sums.of_age[i].all)
            blame_ratio(j, BLAME_AGES[i].name, &sums.of_age[i]);
    json_pair_u64(j, "unknown", sums.unknown.all);
    json_end(j);
    vec_free(&sums.of_author);
    intern_deinit(&sums.authors);
}

/* Calls for each line that has another commit than the one before. */
#define BLAME_COLUMN(j, b, key, write)                                              \
    do {                                                                            \
        column_begin(j, key);                                                       \
        for (size_t i = 0; i < (b)->lines.len; i++) {                               \
            if (i && (b)->lines.at[i] == (b)->lines.at[i - 1])                      \
                continue;                                                           \
            const struct blame_commit *commit = &(b)->commits.at[(b)->lines.at[i]]; \
            (void)commit;                                                           \
            write;                                                                  \
        }                                                                           \
        json_end(j);                                                                \
    } while (0)

/* Runs of lines of one commit are one row, with the first line's number: a row holds until the next
 * one begins. */
void blame_lines_data(struct json *j, const struct page_coverage *c,
                      const struct measured_source *f)
{
    const struct blame *b = c->blames ? &c->blames[f->coverage] : NULL;
    json_key(j, "blame");
    if (!b || !b->lines.len) {
        json_none(j);
        return;
    }
    json_begin(j, '{');
    BLAME_COLUMN(j, b, "line", json_u64(j, i + 1));
    BLAME_COLUMN(j, b, "author", column_index(j, commit->author));
    BLAME_COLUMN(j, b, "time", json_i64(j, commit->time));
    COLUMN(j, "authors", b->authors.texts.len, json_str(j, intern_text(&b->authors, (uint32_t)i)));
    json_end(j);
}

/* --- functions ------------------------------------------------------------------------------- */

/* A function with the lines between its first and its last one. */
struct covered_function {
    uint32_t file; /* of the page */
    const struct result_function *function;
    struct coverage_ratio lines;
};

void covered_functions_data(struct json *j, const struct coverage_result *r,
                            const struct measured_sources *files)
{
    /* In the order of the sources on the page, then of lines. */
    struct arena scratch = {0};
    struct covered_function *all =
        ARENA_NEW(&scratch, struct covered_function, r->functions.len + 1);
    size_t len = 0;
    for (uint32_t i = 0; i < files->all.len; i++) {
        if (files->all.at[i].coverage == UINT32_MAX)
            continue;
        const struct result_source *s = &r->sources.at[files->all.at[i].coverage];
        for (uint32_t k = 0; k < s->functions; k++) {
            const struct result_function *f = &r->functions.at[s->first_function + k];
            /* From the function's first to its last line, where that is known: all that ran in any
             * of the functions there, if this one did. Lines are sorted, so the first one is found
             * in O(log lines). */
            struct coverage_ratio *sum = &all[len].lines;
            const struct result_line *lines = vec_from(&r->lines, s->first_line);
            uint32_t at = PARTITION_POINT(s->lines, n, lines[n].line < f->start_line);
            for (; at < s->lines && lines[at].line <= f->end_line; at++) {
                sum->all++;
                sum->hit += lines[at].state == RESULT_HIT && f->state != RESULT_MISSED;
                sum->unknown += lines[at].state == RESULT_UNKNOWN;
            }
            all[len].file = i;
            all[len++].function = f;
        }
    }
    json_begin(j, '{');
    COLUMN(j, "name", len, json_str(j, all[i].function->name));
    COLUMN(j, "file", len, json_u64(j, all[i].file));
    COLUMN(j, "line", len, json_u64(j, all[i].function->start_line));
    COLUMN(j, "state", len, json_u64(j, all[i].function->state));
    COLUMN(j, "count", len, column_count(j, all[i].function->count));
    COLUMN(j, "all", len, json_u64(j, all[i].lines.all));
    COLUMN(j, "hit", len, json_u64(j, all[i].lines.hit));
    COLUMN(j, "unknown", len, json_u64(j, all[i].lines.unknown));
    json_end(j);
    arena_deinit(&scratch);
}

/* --- all of it -------------------------------------------------------------------------------- */

/* Totals are of the result, not of the sources on the page. "base" is there only if a base was
 * named; "diff" and "blame" are always there, perhaps null. */
void coverage_data(struct json *j, const struct page_coverage *c,
                   const struct measured_sources *files)
{
    const struct coverage_result *r = c->result;
    totals_data(j, "totals", &r->sums);
    if (c->base)
        totals_data(j, "base", &c->base->sums);
    json_key(j, "inputs"), json_begin(j, '{');
    json_pair_u64(j, "objects", c->objects);
    json_pair_u64(j, "unrun", c->unrun);
    json_pair_u64(j, "counters", c->counters);
    json_pair_u64(j, "tracefiles", c->traces);
    json_end(j);
    json_key(j, "left_out"), json_begin(j, '{');
    json_pair_u64(j, "lines", r->left_out.lines);
    json_pair_u64(j, "absent", r->left_out.absent_lines);
    json_pair_u64(j, "behind", r->left_out.lines_behind);
    json_pair_u64(j, "functions", r->left_out.functions);
    json_pair_u64(j, "branches", r->left_out.branches);
    json_pair_u64(j, "exception_branches", r->left_out.exception_branches);
    json_pair_u64(j, "compilers_branches", r->left_out.hidden_branches);
    json_end(j);
    problems_data(j, c);
    JSON_ITEMS(j, "gates", i, c->gates_len) {
        json_begin(j, '{');
        json_pair_str(j, "name", c->gates[i].name);
        json_pair_double(j, "limit", c->gates[i].limit);
        json_pair_double(j, "percent", c->gates[i].percent);
        json_pair_str(j, "verdict", c->gates[i].verdict);
        json_end(j);
    }
    blame_sums_data(j, c);
    diff_data(j, c, files);
}
