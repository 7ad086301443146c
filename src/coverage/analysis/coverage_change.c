/* Comparing coverage. */
#include "coverage/analysis/coverage_change.h"

#include "base/intern.h"
#include "base/path.h"

#include <string.h>

/* --- sources --------------------------------------------------------------------------------- */

static const struct result_source *change_side(const struct coverage_result *r, uint32_t source)
{
    return source == NO_SOURCE ? NULL : &r->sources.at[source];
}

/* --- lines ----------------------------------------------------------------------------------- */

/* Lines of a source between two numbers, as a slice of the result's. */
struct line_slice {
    const struct result_line *at;
    uint32_t len;
};

/* The first line of a source from number `line` on. */
static uint32_t change_line_from(const struct coverage_result *r, const struct result_source *s,
                                 uint32_t line)
{
    uint32_t low = s->first_line, high = s->first_line + s->lines;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (r->lines.at[middle].line < line)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static struct line_slice change_lines(const struct coverage_result *r,
                                      const struct result_source *s, uint32_t first, uint32_t last)
{
    uint32_t from = change_line_from(r, s, first);
    uint32_t to = last == UINT32_MAX ? s->first_line + s->lines : change_line_from(r, s, last + 1);
    return (struct line_slice){r->lines.at + from, to > from ? to - from : 0};
}

static bool change_lie_alike(struct line_slice old, struct line_slice new)
{
    if (!old.len || old.len != new.len)
        return false;
    for (uint32_t i = 0; i < old.len; i++)
        if (old.at[i].line - old.at[0].line != new.at[i].line - new.at[0].line)
            return false;
    return true;
}

/* `is_done`: per line of the new source, those that an earlier function had. */
static void change_compare_lines(struct coverage_change *c, struct source_change *s,
                                 struct line_slice old, struct line_slice new, bool *is_done)
{
    for (uint32_t i = 0; i < old.len; i++) {
        struct changed_line line = {new.at[i].line, old.at[i].line};
        if (is_done[i])
            continue;
        is_done[i] = true;
        s->compared++;
        if (old.at[i].state == RESULT_HIT && new.at[i].state == RESULT_MISSED)
            vec_push(&c->lost, line);
        if (old.at[i].state == RESULT_MISSED && new.at[i].state == RESULT_HIT)
            vec_push(&c->gained, line);
    }
}

/* --- functions ------------------------------------------------------------------------------- */

/* Of a name the first function alone: instances of a template share their lines. */
static void change_index_functions(const struct coverage_result *r, const struct result_source *s,
                                   struct intern *names, uint32_t *of_name)
{
    uint32_t len = 0;
    for (uint32_t i = s->first_function; i < s->first_function + s->functions; i++) {
        const char *name = r->functions.at[i].linkage;
        if (intern_kept(names, name, strlen(name)) == len)
            of_name[len++] = i;
    }
}

static void change_compare_function(struct coverage_change *c, struct source_change *s,
                                    const struct coverage_result *old,
                                    const struct coverage_result *new,
                                    const struct result_function *old_function,
                                    const struct result_function *new_function, bool *is_done)
{
    const struct result_source *o = &old->sources.at[s->old], *n = &new->sources.at[s->new];
    struct line_slice before =
        change_lines(old, o, old_function->start_line, old_function->end_line);
    struct line_slice after =
        change_lines(new, n, new_function->start_line, new_function->end_line);
    if (change_lie_alike(before, after))
        change_compare_lines(c, s, before, after,
                             is_done + (after.at - (new->lines.at + n->first_line)));
}

static void change_compare_functions(struct coverage_change *c, struct source_change *s,
                                     const struct coverage_result *old,
                                     const struct coverage_result *new, bool *is_done)
{
    const struct result_source *o = &old->sources.at[s->old], *n = &new->sources.at[s->new];
    struct intern names = {0};
    struct arena scratch = {0};
    uint32_t *of_name = ARENA_NEW(&scratch, uint32_t, o->functions);
    change_index_functions(old, o, &names, of_name);
    for (uint32_t i = n->first_function; i < n->first_function + n->functions; i++) {
        const struct result_function *f = &new->functions.at[i];
        uint32_t name = intern_find(&names, f->linkage, strlen(f->linkage));
        if (name != INTERN_NONE)
            change_compare_function(c, s, old, new, &old->functions.at[of_name[name]], f, is_done);
    }
    intern_deinit(&names);
    arena_deinit(&scratch);
}

static int change_by_line(const void *left, const void *right)
{
    const struct changed_line *l = left, *r = right;
    return (l->line > r->line) - (l->line < r->line);
}

static void change_sort(struct changed_line *at, size_t len)
{
    if (len > 1)
        qsort(at, len, sizeof *at, change_by_line);
}

static void change_compare_source(struct coverage_change *c, struct source_change *s,
                                  const struct coverage_result *old,
                                  const struct coverage_result *new)
{
    struct arena scratch = {0};
    const struct result_source *o = &old->sources.at[s->old], *n = &new->sources.at[s->new];
    bool *is_done = ARENA_NEW(&scratch, bool, n->lines);
    struct line_slice before = change_lines(old, o, 0, UINT32_MAX);
    struct line_slice after = change_lines(new, n, 0, UINT32_MAX);
    if (change_lie_alike(before, after))
        change_compare_lines(c, s, before, after, is_done);
    else
        change_compare_functions(c, s, old, new, is_done);
    s->lost = map_value(c->lost.len) - s->first_lost;
    s->gained = map_value(c->gained.len) - s->first_gained;
    change_sort(source_lost(c, s), s->lost);
    change_sort(source_gained(c, s), s->gained);
    arena_deinit(&scratch);
}

/* --- all ------------------------------------------------------------------------------------- */

static void change_add(struct coverage_change *c, const struct coverage_result *old,
                       const struct coverage_result *new, uint32_t old_source, uint32_t new_source)
{
    const struct result_source *o = change_side(old, old_source);
    const struct result_source *n = change_side(new, new_source);
    struct source_change s = {.path = n ? n->path : o->path,
                              .old = old_source,
                              .new = new_source,
                              .first_lost = map_value(c->lost.len),
                              .first_gained = map_value(c->gained.len)};
    if (o)
        s.old_sums = o->sums;
    if (n)
        s.new_sums = n->sums;
    if (o && n)
        change_compare_source(c, &s, old, new);
    vec_push(&c->sources, s);
}

/* Sources whose whole names differ, because the sides stand in different folders, by the end of the
 * names where that is said of one source alone on either side. */
struct tails {
    struct intern names;
    VEC(uint32_t) source; /* per tail: the only one, or NO_SOURCE */
};

static void change_list_tails(struct tails *t, const struct coverage_result *r,
                              const uint32_t *other, unsigned parts)
{
    for (uint32_t i = 0; i < r->sources.len; i++) {
        if (other[i] != NO_SOURCE)
            continue;
        const char *tail = path_tail(r->sources.at[i].path, parts);
        uint32_t number = intern_kept(&t->names, tail, strlen(tail));
        if (number == t->source.len)
            vec_push(&t->source, i);
        else
            t->source.at[number] = NO_SOURCE;
    }
}

static void change_match_tails(const struct coverage_result *old, const struct coverage_result *new,
                               uint32_t *new_of, uint32_t *old_of, unsigned parts)
{
    struct tails olds = {0}, news = {0};
    change_list_tails(&olds, old, new_of, parts);
    change_list_tails(&news, new, old_of, parts);
    for (uint32_t i = 0; i < news.source.len; i++) {
        const char *tail = intern_text(&news.names, i);
        uint32_t found = intern_find(&olds.names, tail, strlen(tail));
        if (found == INTERN_NONE || olds.source.at[found] == NO_SOURCE ||
            news.source.at[i] == NO_SOURCE)
            continue;
        old_of[news.source.at[i]] = olds.source.at[found];
        new_of[olds.source.at[found]] = news.source.at[i];
    }
    intern_deinit(&olds.names), intern_deinit(&news.names);
    vec_free(&olds.source);
    vec_free(&news.source);
}

static uint32_t *change_none(size_t len, struct arena *a)
{
    uint32_t *none = ARENA_NEW(a, uint32_t, len);
    for (size_t i = 0; i < len; i++)
        none[i] = NO_SOURCE;
    return none;
}

static int change_by_shown_path(const void *left, const void *right)
{
    const struct source_change *l = left, *r = right;
    return strcmp(l->path, r->path);
}

void coverage_change_make(struct coverage_change *c, const struct coverage_result *old,
                          const struct coverage_result *new)
{
    enum { MOST_PARTS = 64 }; /* whole names, as good as */
    struct arena scratch = {0};
    uint32_t *new_of = change_none(old->sources.len, &scratch);
    uint32_t *old_of = change_none(new->sources.len, &scratch);
    c->old_sums = old->sums;
    c->new_sums = new->sums;
    change_match_tails(old, new, new_of, old_of, MOST_PARTS);
    for (unsigned parts = 3; parts; parts--)
        change_match_tails(old, new, new_of, old_of, parts);
    for (uint32_t i = 0; i < new->sources.len; i++)
        change_add(c, old, new, old_of[i], i);
    for (uint32_t i = 0; i < old->sources.len; i++)
        if (new_of[i] == NO_SOURCE)
            change_add(c, old, new, i, NO_SOURCE);
    if (c->sources.len)
        qsort(c->sources.at, c->sources.len, sizeof *c->sources.at, change_by_shown_path);
    arena_deinit(&scratch);
}

void coverage_change_deinit(struct coverage_change *c)
{
    vec_free(&c->sources);
    vec_free(&c->lost);
    vec_free(&c->gained);
}

static bool change_ratios_differ(const struct coverage_ratio *l, const struct coverage_ratio *r)
{
    return l->all != r->all || l->hit != r->hit || l->unknown != r->unknown;
}

bool source_change_is_any(const struct source_change *s)
{
    const struct coverage_ratios *o = &s->old_sums, *n = &s->new_sums;
    return s->old == NO_SOURCE || s->new == NO_SOURCE || s->lost || s->gained ||
           change_ratios_differ(&o->lines, &n->lines) ||
           change_ratios_differ(&o->functions, &n->functions) ||
           change_ratios_differ(&o->branches, &n->branches) ||
           change_ratios_differ(&o->conditions, &n->conditions);
}

double source_change_points(const struct source_change *s)
{
    if (s->old == NO_SOURCE || s->new == NO_SOURCE ||
        s->old_sums.lines.all == s->old_sums.lines.unknown ||
        s->new_sums.lines.all == s->new_sums.lines.unknown)
        return 0;
    return ratio_percent(&s->new_sums.lines) - ratio_percent(&s->old_sums.lines);
}
