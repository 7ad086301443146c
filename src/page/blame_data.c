/* Lines of the coverage beside those of git. */
#include "page/blame_data.h"

#include "base/sort.h"
#include "page/columns.h"

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

static int blame_age(const struct page_coverage *c, int64_t time)
{
    int age = 0;
    int64_t days = time < c->blamed_at ? (c->blamed_at - time) / DAY : 0;
    while (days > BLAME_AGES[age].days)
        age++;
    return age;
}

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
    blame_add(&s->of_age[blame_age(s->c, commit->time)], l);
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

/* Authors with most lines that never ran first. */
static void blame_authors(struct json *j, const struct blame_sums *s)
{
    struct arena scratch = {0};
    struct keyed *order = ARENA_NEW(&scratch, struct keyed, s->of_author.len + 1);
    for (uint32_t i = 0; i < s->of_author.len; i++) {
        const struct coverage_ratio *r = &s->of_author.at[i];
        order[i] = (struct keyed){UINT64_MAX - (r->all - r->unknown - r->hit), i};
    }
    sort_keyed(order, s->of_author.len);
    column_begin(j, "authors");
    for (uint32_t i = 0; i < s->of_author.len; i++)
        blame_ratio(j, intern_text(&s->authors, order[i].item), &s->of_author.at[order[i].item]);
    json_end(j);
    arena_deinit(&scratch);
}

void blame_sums_data(struct json *j, const struct page_coverage *c)
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
    blame_authors(j, &sums);
    column_begin(j, "ages");
    for (int i = 0; i < AGES; i++)
        if (sums.of_age[i].all)
            blame_ratio(j, BLAME_AGES[i].name, &sums.of_age[i]);
    json_end(j);
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
    column_begin(j, "authors");
    for (size_t i = 0; i < b->authors.texts.len; i++)
        json_str(j, intern_text(&b->authors, (uint32_t)i));
    json_end(j);
    json_end(j);
}
