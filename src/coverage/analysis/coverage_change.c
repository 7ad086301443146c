/* Comparing results.
 *
 * Everything here is a walk over lines that ascend on both sides. Which lines of two results are
 * the same is decided once per function (change_lie_alike): the distances of its lines with code
 * from its first one are equal, which moving a function keeps and editing it nearly always breaks.
 * A function that was edited without that showing compares its lines pairwise all the same; the
 * report says "compared", not "unchanged".
 *
 * Sources of two results are matched by whole name, then by the last three, two, one parts of it,
 * each time only where a tail is unique on both sides. Files of a patch are matched likewise; among
 * several sources the one with the fewest folders above is meant. Linear but for the search of a
 * source by a patch's file name, which looks at every source.
 *
 *     old    10 f() {   11 a;   13 b;   14 }            distances 0 1 3 4
 *     new    50 f() {   51 a;   53 b;   54 }            the same: line 51 is line 11
 *     new    50 f() {   51 a;   52 b;   53 }            not the same: lines are not compared */
#include "coverage/analysis/coverage_change.h"

#include "base/map.h"
#include "base/path.h"
#include "base/sort.h"
#include "coverage/model/coverage.h"

#include <string.h>

#define NONE ((uint32_t)NO_INDEX)

/* --- sources --------------------------------------------------------------------------------- */

static const struct result_source *change_side(const struct coverage_result *r, uint32_t source)
{
    return source == NO_SOURCE ? NULL : &r->sources.at[source];
}

/* --- lines ----------------------------------------------------------------------------------- */

/* Lines of a source between two numbers, as a slice of the result's. Nothing is owned. */
struct line_slice {
    const struct result_line *at;
    uint32_t len;
};

/* `last` UINT32_MAX: to the end of the source. */
static struct line_slice change_lines(const struct coverage_result *r,
                                      const struct result_source *s, uint32_t first, uint32_t last)
{
    uint32_t from = result_line_from(r, s, first);
    uint32_t to = last == UINT32_MAX ? s->first_line + s->lines : result_line_from(r, s, last + 1);
    return (struct line_slice){r->lines.at + from, to > from ? to - from : 0};
}

/* Two functions without lines with code are not alike: nothing says so. */
static bool change_lie_alike(struct line_slice old, struct line_slice new)
{
    if (!old.len || old.len != new.len)
        return false;
    for (uint32_t i = 0; i < old.len; i++)
        if (old.at[i].line - old.at[0].line != new.at[i].line - new.at[0].line)
            return false;
    return true;
}

/* `is_done`: per line of the new source, those that an earlier function had. Both slices are as
 * long. Lines that are unknown on a side are compared and have not changed. */
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

/* Functions inlined into each other share lines; `is_done` gives each line to the first. */
static void change_compare_functions(struct coverage_change *c, struct source_change *s,
                                     const struct coverage_result *old,
                                     const struct coverage_result *new, bool *is_done)
{
    const struct result_source *o = &old->sources.at[s->old], *n = &new->sources.at[s->new];
    struct intern names = {0};
    struct arena scratch = {0};
    uint32_t *of_name = ARENA_NEW(&scratch, uint32_t, o->functions);
    /* Of a name the first function alone: instances of a template share their lines. */
    uint32_t len = 0;
    for (uint32_t i = o->first_function; i < o->first_function + o->functions; i++) {
        const char *linkage = old->functions.at[i].linkage;
        if (intern_kept(&names, linkage, strlen(linkage)) == len)
            of_name[len++] = i;
    }

    for (uint32_t i = n->first_function; i < n->first_function + n->functions; i++) {
        const struct result_function *f = &new->functions.at[i];
        uint32_t name = intern_find(&names, f->linkage, strlen(f->linkage));
        if (name == INTERN_NONE)
            continue;
        const struct result_function *older = &old->functions.at[of_name[name]];
        struct line_slice before = change_lines(old, o, older->start_line, older->end_line);
        struct line_slice after = change_lines(new, n, f->start_line, f->end_line);
        if (change_lie_alike(before, after))
            change_compare_lines(c, s, before, after,
                                 is_done + (after.at - (new->lines.at + n->first_line)));
    }
    intern_deinit(&names);
    arena_deinit(&scratch);
}

/* By the new number, which the lists are printed by. */
static int change_by_line(const void *left, const void *right)
{
    const struct changed_line *l = left, *r = right;
    return (l->line > r->line) - (l->line < r->line);
}

/* Lists of no line have no address, which qsort() must not see. */
static void change_sort(struct changed_line *at, size_t len)
{
    if (len > 1)
        qsort(at, len, sizeof *at, change_by_line);
}

/* A source whose lines all lie alike is compared as a whole: that has lines outside of functions
 * too. */
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

/* Sums are those of the whole source, whichever of its lines could be compared. */
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

/* Of sources that have no partner yet. A tail that comes twice is of no use. */
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

/* One round, for tails of so many parts of a path. */
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

/* Partners by source; none to begin with. */
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

/* Longer tails first: what they match is no candidate for the shorter. */
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

/* A difference of sums alone counts as well, since lines elsewhere may have come or gone. */
bool source_change_is_any(const struct source_change *s)
{
    const struct coverage_ratios *o = &s->old_sums, *n = &s->new_sums;
    return s->old == NO_SOURCE || s->new == NO_SOURCE || s->lost || s->gained ||
           change_ratios_differ(&o->lines, &n->lines) ||
           change_ratios_differ(&o->functions, &n->functions) ||
           change_ratios_differ(&o->regions, &n->regions) ||
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

/* --- the class of each line ------------------------------------------------------------------- */

/* Two walks: removed lines before it pull it up, added ones push it down. Ranges ascend; cost is
 * linear in them. */
uint32_t patch_new_line(const struct patched_source *p, uint32_t old)
{
    uint64_t line = old;
    for (uint32_t i = 0; p->old && i < p->old->ranges; i++) {
        const struct patch_old_range *r = &p->patch->old_ranges.at[p->old->first_range + i];
        if (r->first > old)
            break;
        if (old - r->first < r->lines)
            return 0;
        line -= r->lines < line ? r->lines : line;
    }
    for (uint32_t i = 0; p->now && i < p->now->ranges; i++) {
        const struct patch_range *r = &p->patch->ranges.at[p->now->first_range + i];
        if (r->first > line)
            break;
        line += r->lines;
    }
    return line > UINT32_MAX ? UINT32_MAX : (uint32_t)line;
}

/* Unsigned differences: a line before the range is far beyond it. */
static bool changes_is_added(const struct patched_source *p, uint32_t line)
{
    for (uint32_t i = 0; p->now && i < p->now->ranges; i++)
        if (line - p->patch->ranges.at[p->now->first_range + i].first <
            p->patch->ranges.at[p->now->first_range + i].lines)
            return true;
    return false;
}

/* NULL where the source has no code on that line; halves the source's lines. */
static const struct result_line *changes_line(const struct coverage_result *r,
                                              const struct result_source *s, uint32_t line)
{
    if (!s)
        return NULL;
    const struct result_line *lines = vec_from(&r->lines, s->first_line);
    uint32_t at = PARTITION_POINT(s->lines, i, lines[i].line < line);
    return at < s->lines && lines[at].line == line ? &lines[at] : NULL;
}

/* A line of the old result: kept, deleted by the patch, or no longer counted. */
static enum line_change changes_of_old(const struct result_line *then,
                                       const struct result_line *now, bool is_deleted)
{
    bool ran = then->state == RESULT_HIT;
    if (then->state == RESULT_UNKNOWN || (now && now->state == RESULT_UNKNOWN))
        return CHANGE_NONE;
    if (is_deleted)
        return ran ? CHANGE_DELETED_RAN : CHANGE_DELETED_MISSED;
    if (!now)
        return ran ? CHANGE_DROPPED_RAN : CHANGE_DROPPED_MISSED;
    if (now->state == RESULT_HIT)
        return ran ? CHANGE_STILL_RUNS : CHANGE_GAINED;
    return ran ? CHANGE_LOST : CHANGE_STILL_MISSED;
}

/* A line of the new result that no old one became. */
static enum line_change changes_of_new(const struct result_line *now, bool is_added)
{
    if (now->state == RESULT_UNKNOWN)
        return CHANGE_NONE;
    if (now->state == RESULT_HIT)
        return is_added ? CHANGE_NEW_RUNS : CHANGE_COUNTED_RUNS;
    return is_added ? CHANGE_NEW_MISSED : CHANGE_COUNTED_MISSED;
}

/* Both sides ascend, so that new lines are met in between the old ones; what is left at the end is
 * new. */
void line_changes_each(const struct coverage_result *now_result, const struct result_source *now,
                       const struct coverage_result *then_result, const struct result_source *then,
                       const struct patched_source *p, line_change_taker *take, void *context)
{
    uint32_t at = 0; /* of now: the first line that no old one was found for */
    for (uint32_t i = 0; then && i < then->lines; i++) {
        const struct result_line *old = &then_result->lines.at[then->first_line + i];
        uint32_t line = patch_new_line(p, old->line);
        const struct result_line *same = line ? changes_line(now_result, now, line) : NULL;
        enum line_change change = changes_of_old(old, same, !line);
        if (change)
            take(line ? line : old->line, change, context);
        for (; same && now_result->lines.at[now->first_line + at].line < line; at++) {
            const struct result_line *l = &now_result->lines.at[now->first_line + at];
            if ((change = changes_of_new(l, changes_is_added(p, l->line))))
                take(l->line, change, context);
        }
        at += same != NULL;
    }
    for (; now && at < now->lines; at++) {
        const struct result_line *l = &now_result->lines.at[now->first_line + at];
        enum line_change change = changes_of_new(l, changes_is_added(p, l->line));
        if (change)
            take(l->line, change, context);
    }
}

/* --- the lines of a patch -------------------------------------------------------------------- */

void patch_coverage_deinit(struct patch_coverage *d)
{
    vec_free(&d->files);
    vec_free(&d->lines);
}

/* Sources among which a patch's are sought: those of the result, or those that are not here, whose
 * lines the result keeps for gates.
 *
 *     here   found by name, their lines counted       struct diff_file
 *     gone   found by name, their lines missed        patch_coverage.judged
 *     none   nothing is known of the patch's file     patch_coverage.unknown_files
 */
struct source_span {
    const struct result_source *at;
    size_t len;
};

/* By the name that is shown or the whole path; NONE: it is no source's whole name. */
static uint32_t source_of_whole_name(struct source_span in, const char *path)
{
    for (uint32_t i = 0; i < in.len; i++)
        if (!strcmp(in.at[i].path, path) || !strcmp(in.at[i].whole, path))
            return i;
    return NONE;
}

/* Whether it is the whole name of a source, here or gone. */
static bool source_has_whole_name(const struct coverage_result *r, const char *path)
{
    struct source_span here = {r->sources.at, r->sources.len};
    struct source_span gone = {r->unseen.at, r->unseen.len};
    return source_of_whole_name(here, path) != NONE || source_of_whole_name(gone, path) != NONE;
}

/* A patch is made in one folder: if that is the project's, a name that only ends like a source's is
 * another file's, of which nothing was covered. Old names count, as the new side may have none. */
bool patch_has_whole_names(const struct coverage_result *r, const struct patch *p)
{
    for (size_t i = 0; i < p->files.len; i++)
        if (source_has_whole_name(r, p->files.at[i].path) ||
            source_has_whole_name(r, p->files.at[i].whole_path))
            return true;
    for (size_t i = 0; i < p->old_files.len; i++)
        if (source_has_whole_name(r, p->old_files.at[i].path) ||
            source_has_whole_name(r, p->old_files.at[i].whole_path))
            return true;
    return false;
}

/* Shown names are unique; ends may fit several sources, and then the shortest is meant: that which
 * has the fewest folders above the patch's. Looks at every source; whole names win over ends. */
static uint32_t source_named(struct source_span in, const char *path)
{
    uint32_t best = source_of_whole_name(in, path);
    if (best != NONE)
        return best;
    for (uint32_t i = 0; i < in.len; i++)
        if (path_ends_in(in.at[i].whole, path) &&
            (best == NONE || strlen(in.at[i].whole) < strlen(in.at[best].whole)))
            best = i;
    return best;
}

/* A patch made inside a project that is a part of what was covered: the source's shown name is the
 * end of the patch's. The longest such name is meant. */
static uint32_t source_below(struct source_span in, const char *path)
{
    uint32_t best = NONE;
    for (uint32_t i = 0; i < in.len; i++) {
        const char *shown = in.at[i].path;
        if (path_ends_in(path, shown) && (strchr(shown, '/') || !strchr(path, '/')) &&
            (best == NONE || strlen(shown) > strlen(in.at[best].path)))
            best = i;
    }
    return best;
}

/* Sources of a patch's files are disjoint: sums add up. */
static void add(struct coverage_ratio *sum, const struct coverage_ratio *part)
{
    sum->all += part->all;
    sum->hit += part->hit;
    sum->unknown += part->unknown;
}

/* From the surest to the least sure. */
static uint32_t source_of_patch(struct source_span in, const char *path, const char *whole_path,
                                bool is_whole)
{
    if (is_whole) {
        uint32_t whole = source_of_whole_name(in, path);
        return whole == NONE ? source_of_whole_name(in, whole_path) : whole;
    }
    uint32_t source = source_named(in, path);
    if (source == NONE)
        source = source_named(in, whole_path);
    return source == NONE ? source_below(in, path) : source;
}

/* Of those that are here: what is gone has no number. */
uint32_t patch_source(const struct coverage_result *r, const char *path, const char *whole_path,
                      bool is_whole)
{
    return source_of_patch((struct source_span){r->sources.at, r->sources.len}, path, whole_path,
                           is_whole);
}

/* Lines of the patch's file with code in a source that is not here; each counts once. What lies
 * past the end of a source that is here has no lines in the result, and counts nowhere: the patch
 * is of another state of it. */
static uint64_t patch_absent_lines(const struct coverage_result *r, const struct patch *p,
                                   const struct patch_file *f, bool is_whole, bool *is_in)
{
    struct source_span gone = {r->unseen.at, r->unseen.len};
    uint32_t source = source_of_patch(gone, f->path, f->whole_path, is_whole);
    const struct result_source *s = source == NONE ? NULL : &gone.at[source];
    uint64_t lines = 0;
    for (uint32_t k = 0; s && !s->file && k < f->ranges; k++) {
        const struct patch_range *range = &p->ranges.at[f->first_range + k];
        for (uint32_t j = s->first_line; j < s->first_line + s->lines; j++)
            if (r->lines.at[j].line >= range->first &&
                r->lines.at[j].line - range->first < range->lines && !is_in[j]) {
                is_in[j] = true;
                lines++;
            }
    }
    return lines;
}

/* Lines of a patch without code are in no ratio. A file that is not known is counted, and has none.
 */
void patch_coverage_build(const struct coverage_result *r, const struct patch *p,
                          struct patch_coverage *out)
{
    struct arena scratch = {0};
    bool *is_in = ARENA_NEW(&scratch, bool, r->lines.len + 1); /* by line of the result */
    bool is_whole = patch_has_whole_names(r, p);
    for (size_t i = 0; i < p->files.len; i++) {
        const struct patch_file *from = &p->files.at[i];
        struct diff_file f = {
            .path = from->path,
            .source = from->chosen == NONE ? NONE
                      : from->chosen       ? from->chosen - 1
                                     : patch_source(r, from->path, from->whole_path, is_whole),
            .added = from->added,
            .first_line = (uint32_t)out->lines.len};
        if (f.source != NONE)
            f.path = r->sources.at[f.source].path;
        else
            out->unknown_files++;
        if (f.source == NONE)
            out->judged.all += patch_absent_lines(r, p, from, is_whole, is_in);
        for (uint32_t k = 0; f.source != NONE && k < from->ranges; k++) {
            const struct patch_range *range = &p->ranges.at[from->first_range + k];
            const struct result_source *s = &r->sources.at[f.source];
            uint32_t first = s->first_line, end = first + s->lines;
            first += PARTITION_POINT(s->lines, j, r->lines.at[first + j].line < range->first);
            for (uint32_t j = first; j < end && r->lines.at[j].line - range->first < range->lines;
                 j++) {
                const struct result_line *l = &r->lines.at[j];
                if (is_in[j])
                    continue;
                is_in[j] = true;
                f.lines.all++;
                f.lines.hit += l->state == RESULT_HIT;
                f.lines.unknown += l->state == RESULT_UNKNOWN;
                for (uint32_t m = 0; m < l->branches; m++) {
                    f.branches.all++;
                    f.branches.hit += r->branches.at[l->first_branch + m].count > 0;
                }
                vec_push(&out->lines, j);
                f.len++;
            }
        }

        add(&out->sum, &f.lines);
        add(&out->judged, &f.lines);
        add(&out->branches, &f.branches);
        vec_push(&out->files, f);
    }
    arena_deinit(&scratch);
}
