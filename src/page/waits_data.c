/* What threads waited for, and the critical path: the members "locks" and "path" of a profile.
 *
 *     locks    rows     ─┬ waiters   a row's number, stack, waits, ns
 *                        ├ wakers    a row's number, who, waits, ns
 *                        └ holders   a row's number, depth (a tree, depth first), stack, doing
 *              stacks    lists of numbers of names, innermost first
 *     path     steps     from the start to the end: thread, times, how the path came there
 *              threads   those on it, and slack of the others
 *
 * Both are the tables of 'monarc waits', 'monarc waits --files' and 'monarc path', as they are: the
 * page sorts and draws. Rows of locks come first, then files. Times are in nanoseconds. A recording
 * without waits has neither; one whose path cannot be found has no path. */
#include "page/page_private.h"

#include "profile/analysis/recording/locks.h"
#include "profile/analysis/recording/schedule.h"

/* Rows of both tables, with the number that each has on the page. */
struct waits_row {
    const struct locks *table;
    const struct lock *lock;
};

struct waits_rows {
    VEC(struct waits_row) all;
    VEC(uint32_t) first_stack; /* per table: the number of its first stack */
    struct intern names;       /* of functions */
    VEC(struct lock_stack) stacks;
    VEC(const struct locks *) tables; /* of each stack */
};

static void waits_add(struct waits_rows *rows, const struct locks *t)
{
    uint32_t stacks = 0;
    vec_push(&rows->first_stack, (uint32_t)rows->stacks.len);
    for (size_t i = 0; i < t->len; i++) {
        const struct lock *row = &t->rows[i];
        /* Both tables have a row for a pipe; the page shows it once. Files that no thread waited
         * for have bytes alone, which are in 'monarc waits --files'. */
        if (!t->is_io || (row->waiters_len && strcmp(row->kind, "pipe") != 0))
            vec_push(&rows->all, ((struct waits_row){t, row}));
        for (size_t k = 0; k < row->waiters_len; k++)
            if (row->waiters[k].stack != RECORDING_NONE && row->waiters[k].stack >= stacks)
                stacks = row->waiters[k].stack + 1;
        for (size_t k = 0; k < row->holders_len; k++)
            if (row->holders[k].stack != RECORDING_NONE && row->holders[k].stack >= stacks)
                stacks = row->holders[k].stack + 1;
    }
    for (uint32_t i = 0; i < stacks; i++) {
        vec_push(&rows->stacks, t->stacks[i]);
        vec_push(&rows->tables, t);
    }
}

/* The number of a stack on the page; -1: it is not known. */
static int64_t waits_stack(const struct waits_rows *rows, const struct waits_row *row,
                           uint32_t stack)
{
    return stack == RECORDING_NONE ? -1 : (int64_t)rows->first_stack.at[row->table->is_io] + stack;
}

static void waits_stacks_data(struct json *j, struct waits_rows *rows)
{
    json_key(j, "stacks"), json_begin(j, '{');
    JSON_ITEMS(j, "functions", i, rows->stacks.len) {
        json_begin(j, '[');
        const struct locks *t = rows->tables.at[i];
        for (uint32_t at = rows->stacks.at[i].frame; at; at = t->frames[at].caller) {
            const char *name = names_text(t->names, t->frames[at].function);
            json_u64(j, intern(&rows->names, name, strlen(name)));
        }
        json_end(j);
    }
    COLUMN(j, "call", rows->stacks.len, json_str(j, rows->stacks.at[i].call));
    json_end(j);
    COLUMN(j, "names", rows->names.texts.len, json_str(j, rows->names.texts.at[i]));
}

/* Columns of what belongs to rows: the row's number stands first. */
#define EACH_OF(j, key, list, write)                                         \
    do {                                                                     \
        column_begin(j, key);                                                \
        for (size_t row = 0; row < rows.all.len; row++)                      \
            for (size_t k = 0; k < rows.all.at[row].lock->list##_len; k++) { \
                const struct waits_row *of = &rows.all.at[row];              \
                (void)of;                                                    \
                write;                                                       \
            }                                                                \
        json_end(j);                                                         \
    } while (0)

/* Functions stand by name. */
static void waits_json_function(struct json *j, const struct locks *t, uint32_t function)
{
    if (function == NO_FUNCTION)
        json_none(j);
    else
        json_str(j, names_text(t->names, function));
}

void waits_data(struct json *j, const struct page_profile *p)
{
    const struct locks *tables[] = {p->locks, p->io};
    struct waits_rows rows = {0};
    json_key(j, "locks");
    for (size_t i = 0; i < sizeof tables / sizeof *tables && p->locks; i++)
        if (tables[i])
            waits_add(&rows, tables[i]);
    if (!rows.all.len) {
        json_none(j);
    } else {
        json_begin(j, '{');
        json_pair_u64(j, "waited_ns", p->locks->waited_ns);
        json_pair_u64(j, "ready_ns", p->locks->ready_ns);
        json_pair_u64(j, "unseen_ns", p->locks->unseen_ns);
        COLUMN(j, "kind", rows.all.len, json_str(j, rows.all.at[i].lock->kind));
        COLUMN(j, "name", rows.all.len, json_str(j, rows.all.at[i].lock->name));
        COLUMN(j, "function", rows.all.len,
               waits_json_function(j, rows.all.at[i].table, rows.all.at[i].lock->function));
        COLUMN(j, "objects", rows.all.len, json_u64(j, rows.all.at[i].lock->objects));
        COLUMN(j, "is_io", rows.all.len, json_u64(j, rows.all.at[i].table->is_io));
        COLUMN(j, "is_lock", rows.all.len, json_u64(j, rows.all.at[i].lock->is_lock));
        COLUMN(j, "is_shared", rows.all.len, json_u64(j, rows.all.at[i].lock->is_shared));
        COLUMN(j, "unheld", rows.all.len, json_str(j, rows.all.at[i].lock->unheld));
        COLUMN(j, "waits", rows.all.len, json_u64(j, rows.all.at[i].lock->waits));
        COLUMN(j, "ns", rows.all.len, json_u64(j, rows.all.at[i].lock->ns));
        COLUMN(j, "held_ns", rows.all.len, json_u64(j, rows.all.at[i].lock->held_ns));
        COLUMN(j, "read", rows.all.len, json_u64(j, rows.all.at[i].lock->read));
        COLUMN(j, "written", rows.all.len, json_u64(j, rows.all.at[i].lock->written));
        COLUMN(j, "read_error", rows.all.len,
               json_u64(j, (uint64_t)rows.all.at[i].lock->read_error));
        COLUMN(j, "written_error", rows.all.len,
               json_u64(j, (uint64_t)rows.all.at[i].lock->written_error));
        json_key(j, "waiters"), json_begin(j, '{');
        EACH_OF(j, "row", waiters, json_u64(j, row));
        EACH_OF(j, "stack", waiters,
                json_i64(j, waits_stack(&rows, of, of->lock->waiters[k].stack)));
        EACH_OF(j, "waits", waiters, json_u64(j, of->lock->waiters[k].waits));
        EACH_OF(j, "ns", waiters, json_u64(j, of->lock->waiters[k].ns));
        json_end(j);
        json_key(j, "wakers"), json_begin(j, '{');
        EACH_OF(j, "row", wakers, json_u64(j, row));
        EACH_OF(j, "woken", wakers, json_u64(j, of->lock->wakers[k].woken));
        EACH_OF(j, "function", wakers,
                waits_json_function(j, of->table, of->lock->wakers[k].function));
        EACH_OF(j, "threads", wakers, json_u64(j, of->lock->wakers[k].threads));
        EACH_OF(j, "tid", wakers, json_u64(j, of->lock->wakers[k].tid));
        EACH_OF(j, "thread", wakers, json_str(j, of->lock->wakers[k].thread));
        EACH_OF(j, "waits", wakers, json_u64(j, of->lock->wakers[k].waits));
        EACH_OF(j, "ns", wakers, json_u64(j, of->lock->wakers[k].ns));
        json_end(j);
        json_key(j, "holders"), json_begin(j, '{');
        EACH_OF(j, "row", holders, json_u64(j, row));
        EACH_OF(j, "depth", holders, json_u64(j, of->lock->holders[k].depth));
        EACH_OF(j, "stack", holders,
                json_i64(j, waits_stack(&rows, of, of->lock->holders[k].stack)));
        EACH_OF(j, "doing", holders, json_u64(j, of->lock->holders[k].doing));
        EACH_OF(j, "tid", holders, json_u64(j, of->lock->holders[k].tid));
        EACH_OF(j, "thread", holders, json_str(j, of->lock->holders[k].thread));
        EACH_OF(j, "waits_for", holders, json_str(j, of->lock->holders[k].waits_for));
        EACH_OF(j, "ns", holders, json_u64(j, of->lock->holders[k].ns));
        EACH_OF(j, "error", holders, json_u64(j, (uint64_t)of->lock->holders[k].error_ns));
        json_end(j);
        waits_stacks_data(j, &rows);
        json_end(j);
    }
    vec_free(&rows.all);
    vec_free(&rows.first_stack);
    vec_free(&rows.stacks);
    vec_free(&rows.tables);
    intern_deinit(&rows.names);
}

/* Steps in the order of time. Slack of a thread: how much longer it could have lasted; -1: no
 * thread waits for its end. */
void path_data(struct json *j, const struct page_profile *p)
{
    const struct schedule_path *path = p->path;
    json_key(j, "path");
    if (!path || !path->len) {
        json_none(j);
        return;
    }
    size_t threads = p->space->recording->threads.len;
    json_begin(j, '{');
    COLUMN(j, "thread", path->len, json_u64(j, path->steps[i].thread));
    COLUMN(j, "from", path->len, json_u64(j, path->steps[i].from_ns));
    COLUMN(j, "to", path->len, json_u64(j, path->steps[i].to_ns));
    COLUMN(j, "why", path->len, json_u64(j, path->steps[i].why));
    COLUMN(j, "cpu", path->len, json_u64(j, (uint64_t)path->steps[i].cpu_ns));
    COLUMN(j, "ready", path->len, json_u64(j, (uint64_t)path->steps[i].ready_ns));
    COLUMN(j, "waits", path->len, json_u64(j, (uint64_t)path->steps[i].waits_ns));
    COLUMN(j, "call", path->len, json_str(j, path->steps[i].call));
    json_key(j, "threads"), json_begin(j, '{');
    COLUMN(j, "on_path", threads, json_u64(j, (uint64_t)path->on_path_ns[i]));
    COLUMN(j, "slack", threads, json_i64(j, (int64_t)path->slack_ns[i]));
    COLUMN(j, "cpu", threads, json_u64(j, (uint64_t)path->thread_cpu_ns[i]));
    json_end(j);
    json_end(j);
}
