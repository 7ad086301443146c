/* Two walks over lines that ascend in both files, as a patch does not change their order. */
#include "coverage/analysis/line_changes.h"

#include "base/search.h"

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

static bool changes_is_added(const struct patched_source *p, uint32_t line)
{
    for (uint32_t i = 0; p->now && i < p->now->ranges; i++)
        if (line - p->patch->ranges.at[p->now->first_range + i].first <
            p->patch->ranges.at[p->now->first_range + i].lines)
            return true;
    return false;
}

static const struct result_line *changes_line(const struct coverage_result *r,
                                              const struct result_source *s, uint32_t line)
{
    if (!s)
        return NULL;
    const struct result_line *lines = vec_from(&r->lines, s->first_line);
    uint32_t at = PARTITION_POINT(s->lines, i, lines[i].line < line);
    return at < s->lines && lines[at].line == line ? &lines[at] : NULL;
}

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

static enum line_change changes_of_new(const struct result_line *now, bool is_added)
{
    if (now->state == RESULT_UNKNOWN)
        return CHANGE_NONE;
    if (now->state == RESULT_HIT)
        return is_added ? CHANGE_NEW_RUNS : CHANGE_COUNTED_RUNS;
    return is_added ? CHANGE_NEW_MISSED : CHANGE_COUNTED_MISSED;
}

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
