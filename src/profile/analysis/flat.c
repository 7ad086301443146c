/* Flat tables: one row a function, or a row for each object, thread or process of a recording.
 *
 * A row of a function has its own measurements, and those with its callees: where stacks were
 * recorded that is counted, else gprof's model of the call graph estimates it. Rows that a filter
 * or a limit leaves out are summed up in `omitted`, so that the law of tables.h holds for what is
 * printed.
 *
 * Rows are sorted by passes of a stable radix sort, the last key first; demangled names, which are
 * dear, are compared only where all numbers are equal. Shares of threads take each distinct pair of
 * a thread and a stack once, and follow its frames outwards. Cost: linear in functions, in pairs of
 * threads and stacks by their depth. */
#include "profile/analysis/tables.h"

#include "base/map.h"
#include "base/sort.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct flat_sort {
    const struct flat_row *rows;
    struct names *names;
};

/* --- functions ---------------------------------------------------------------------------------
 */

static int by_name(uint32_t left, uint32_t right, const void *context)
{
    const struct flat_sort *o = context;
    return strcmp(names_get(o->names, o->rows[left].function),
                  names_get(o->names, o->rows[right].function));
}

/* A number that sorts like the column, greatest first. */
static uint64_t key_of(const struct flat_row *r, enum view_sort by)
{
    switch (by) {
    case BY_TOTAL: return sort_descending(r->total);
    case BY_CALLS: return ~r->calls;
    default: return sort_descending(r->self);
    }
}

static void sort_rows_by(struct keyed *sorted, uint32_t len, const struct flat_row *rows,
                         enum view_sort by)
{
    for (uint32_t i = 0; i < len; i++)
        sorted[i].key = key_of(&rows[sorted[i].item], by);
    sort_keyed(sorted, len);
}

/* Books a row that is not shown, unless nothing was measured of it. */
static void omit(struct flat_rest *rest, const struct flat_row *r)
{
    if (r->self == 0 && !r->calls && r->total == 0)
        return;
    rest->functions++;
    rest->self += r->self;
    rest->calls += r->calls;
}

/* Samples off the CPU if there are samples on it, too. */
static double flat_off_cpu(const struct summary *s, const struct functions *f)
{
    double off = 0, on = 0;
    if (!s->stacks || !s->measured || !s->measured->off_below)
        return 0;
    for (uint32_t i = 0; i < f->len; i++)
        *(function_is_off_cpu(f, i) ? &off : &on) += s->measured->self[i];
    return on > 0 ? off : 0;
}

/* Of `limit` rows, how many are code: a third is for waits, and what either cannot use is the
 * other's. `kept` of each. */
static uint32_t flat_on_rows(uint32_t on, uint32_t off, uint64_t limit)
{
    uint64_t waits = (limit + 1) / 3;
    if (!limit || on + off <= limit)
        return on;
    waits = waits < off ? waits : off;
    return on < limit - waits ? on : (uint32_t)(limit - waits);
}

void flat_make(struct flat *t, const struct summary *s, const struct graph *g, struct names *names,
               const struct view_rules *rules, struct arena *a)
{
    struct arena scratch = {0};
    *t = (struct flat){.summary = s, .shows_model = rules->shows_model && s->stacks};
    struct flat_row *rows = ARENA_NEW(&scratch, struct flat_row, g->functions->len);
    struct keyed *sorted = ARENA_NEW(&scratch, struct keyed, g->functions->len);
    /* Rows in table order that pass everything but the limit. */
    uint32_t kept = 0, waits = 0;
    t->off = rules->sets_waits_apart ? flat_off_cpu(s, g->functions) : 0;
    for (uint32_t i = 0; i < g->functions->len; i++) {
        const struct graph_node *n = &g->nodes[i];
        bool is_inlined = g->functions->at[i].is_inlined; /* no call was counted: no model */
        double model = is_inlined ? -1 : n->self + n->children;
        double self = s->measured ? s->measured->self[i] : n->self;
        struct flat_row r = {.function = i,
                             .is_profiler = function_is_profiler(g->functions, i),
                             .self = self,
                             .total = s->stacks    ? s->stacks->inclusive[i]
                                      : is_inlined ? self
                                                   : model,
                             .model = model,
                             .calls = n->calls + n->self_calls,
                             .recursive_calls = n->self_calls,
                             .interval = summary_self_interval(s, i, self)};
        bool is_wait = t->off > 0 && function_is_off_cpu(g->functions, i);
        /* CPU time without a place is no wait's. */
        if (is_wait)
            r.interval = summary_wait_interval(s, i, self);
        else if (t->off > 0)
            r.total = fmax(0, r.total - s->measured->off_below[i]);
        bool is_idle = r.self == 0 && !r.calls && r.total == 0;
        for (size_t k = 0; k < s->others.len && is_idle; k++)
            is_idle = !(s->others.at[k].self[i] > 0);
        if (is_idle && !rules->shows_all)
            continue;
        t->has_fractions |= !s->run && r.self != floor(r.self);
        double whole = is_wait ? t->off : s->samples - t->off;
        double percent = whole > 0 ? 100 * r.self / whole : 0;
        bool is_brief = percent < rules->idle_percent && !r.calls && !rules->shows_all;
        bool is_kept_out = percent < rules->min_percent || !filter_admits(rules->filter, names, i);
        struct flat_rest *rest = is_wait ? &t->omitted_waits : &t->omitted;
        rest->idle += is_brief && !is_kept_out;
        waits += is_wait && !is_kept_out && !is_brief;
        if (is_kept_out || is_brief)
            omit(rest, &r);
        else
            rows[kept++] = r;
    }
    for (uint32_t i = 0; i < kept; i++)
        sorted[i].item = i;
    enum view_sort sort = rules->has_sort ? rules->sort : s->has_samples ? BY_SELF : BY_CALLS;
    /* Ties go to self, calls, then name: names are compared last, and only where all else is equal.
     */
    uint64_t ties = 0;
    if (sort != BY_NAME) {
        sort_rows_by(sorted, kept, rows, BY_CALLS);
        sort_rows_by(sorted, kept, rows, BY_SELF);
    }
    if (sort == BY_TOTAL || sort == BY_CALLS)
        sort_rows_by(sorted, kept, rows, sort);
    for (uint32_t i = 0; i < kept; i++) {
        const struct flat_row *r = &rows[sorted[i].item],
                              *before = &rows[sorted[i ? i - 1 : 0].item];
        if (sort != BY_NAME)
            ties += key_of(before, sort) != key_of(r, sort) || before->self != r->self ||
                    before->calls != r->calls;
        sorted[i].key = ties;
    }
    sort_equals(sorted, kept, by_name, &(struct flat_sort){rows, names});

    t->rows = ARENA_NEW(a, struct flat_row, kept);
    uint32_t on = flat_on_rows(kept - waits, waits, rules->limit);
    for (int part = 0; part < 2; part++) {
        uint64_t most = !rules->limit ? UINT64_MAX : part ? rules->limit : on;
        double running = 0;
        for (uint32_t i = 0; i < kept; i++) {
            struct flat_row *r = &rows[sorted[i].item];
            if (part != (t->off > 0 && function_is_off_cpu(g->functions, r->function)))
                continue;
            if (t->len >= most) {
                omit(part ? &t->omitted_waits : &t->omitted, r);
                continue;
            }
            r->running = running += r->self;
            t->rows[t->len++] = *r;
        }
        t->on_len = part ? t->on_len : t->len;
    }
    arena_deinit(&scratch);
}

void flat_locate(struct flat *t, const struct functions *f, struct object *const *objects)
{
    enum { READ = 100 };
    for (uint32_t i = 0; i < t->len && i < READ; i++) {
        struct flat_row *r = &t->rows[i];
        function_program_place(f, r->function, objects, &r->file, &r->line);
    }
}

double flat_total(const struct flat *t, uint32_t function)
{
    const struct summary *s = t->summary;
    double off = t->off > 0 ? s->measured->off_below[function] : 0;
    return fmax(0, s->stacks->inclusive[function] - off);
}

/* The most first, by insertion into the few that are kept: debug information is asked about those
 * alone that would be among them. */
void flat_find_own(struct flat *t, const struct functions *f, struct object *const *objects)
{
    static const double LEAST = 0.01, MOST = 0.95;
    const struct summary *s = t->summary;
    if (!t->len || !s->stacks || function_is_own(f, t->rows[0].function, objects))
        return;
    for (uint32_t i = 0; i < f->len; i++) {
        double total = flat_total(t, i), share = total / (s->samples - t->off);
        uint32_t at = t->own_len;
        if (!(share >= LEAST && share <= MOST) ||
            (at == FLAT_OWN && total <= flat_total(t, t->own[at - 1])) ||
            !function_is_own(f, i, objects))
            continue;
        at = at < FLAT_OWN ? at : FLAT_OWN - 1;
        for (; at && flat_total(t, t->own[at - 1]) < total; at--)
            t->own[at] = t->own[at - 1];
        t->own[at] = i;
        t->own_len += t->own_len < FLAT_OWN;
    }
}

/* --- shares -------------------------------------------------------------------------------------
 */

/* Most samples first, then most calls; equals by name and number, so that the order is the same
 * each time. */
static int shares_by_samples(const void *left, const void *right)
{
    const struct share_row *l = left, *r = right;
    if (l->samples != r->samples)
        return l->samples < r->samples ? 1 : -1;
    if (l->calls != r->calls)
        return l->calls < r->calls ? 1 : -1;
    int by = strcmp(l->name, r->name);
    if (!by)
        by = (l->pid > r->pid) - (l->pid < r->pid);
    return by ? by : (l->thread > r->thread) - (l->thread < r->thread);
}

/* Sorts the rows, but for processes, which stand as they started; the rest is what no row has. */
static void shares_finish(struct shares *t)
{
    double covered = 0;
    if (t->len && t->kind != SHARES_PROCESSES)
        qsort(t->rows, t->len, sizeof *t->rows, shares_by_samples);
    for (uint32_t i = 0; i < t->len; i++)
        covered += t->rows[i].samples;
    t->rest = t->summary->samples > covered ? t->summary->samples - covered : 0;
    if (t->rest < t->summary->samples * 1e-9) /* of rounding */
        t->rest = 0;
}

/* --- objects --------------------------------------------------------------------------------- */

void shares_by_object(struct shares *t, const struct summary *s, const struct space *space,
                      const struct graph *g, struct arena *a)
{
    struct arena scratch = {0};
    struct share_row *all = ARENA_NEW(&scratch, struct share_row, space->len);
    for (uint32_t i = 0; i < g->functions->len; i++) {
        struct share_row *row = &all[g->functions->at[i].object];
        row->samples += g->nodes[i].self;
        row->calls += g->nodes[i].calls + g->nodes[i].self_calls;
    }
    *t = (struct shares){.summary = s, .rows = ARENA_NEW(a, struct share_row, space->len)};
    for (uint32_t i = 0; i < space->len; i++) {
        all[i].name = space_object_name(space, i);
        if (all[i].samples > 0 || all[i].calls)
            t->rows[t->len++] = all[i];
    }
    shares_finish(t);
    arena_deinit(&scratch);
}

/* --- threads --------------------------------------------------------------------------------- */

/* Samples of one thread with one stack. */
struct thread_node {
    uint32_t thread, node;
    double samples;
};

/* What one thread ran, gathered stack by stack; emptied for the next thread. */
struct thread_walk {
    const struct space *space;
    const struct call_frames *frames; /* functions of nodes, inlined ones too; NULL: one a node */
    VEC(struct thread_node) all;
    uint32_t *row;           /* per function: its share of the thread at hand, plus one */
    uint32_t *stamp, stamps; /* per function: the stack it was last counted in */
    VEC(struct thread_share) shares;
};

static int shares_compare_threads(const void *left, const void *right)
{
    const struct thread_node *l = left, *r = right;
    if (l->thread != r->thread)
        return l->thread < r->thread ? -1 : 1;
    return (l->node > r->node) - (l->node < r->node);
}

/* Books a stack's samples on a function, once however often it is on the stack. */
static void shares_count_function(struct thread_walk *w, uint32_t function, double samples,
                                  bool is_innermost)
{
    if (w->stamp[function] == w->stamps)
        return;
    w->stamp[function] = w->stamps;
    if (!w->row[function]) {
        vec_push(&w->shares, (struct thread_share){.function = function});
        w->row[function] = (uint32_t)w->shares.len;
    }
    struct thread_share *share = &w->shares.at[w->row[function] - 1];
    share->total += samples;
    share->self += is_innermost ? samples : 0;
}

/* Books a stack on each of its functions, from the inside out: the innermost one has it itself. */
static void shares_count_stack(struct thread_walk *w, const struct thread_node *at)
{
    const struct space *s = w->space;
    w->stamps++;
    for (uint32_t node = at->node; node; node = s->recording->nodes.at[node].parent) {
        if (space_is_cut(s, node))
            continue;
        uint32_t place = w->frames ? w->frames->place[node] : 0;
        uint32_t first = w->frames ? w->frames->start[place] : 0;
        uint32_t own = w->frames ? w->frames->start[place + 1] - first : 1;
        for (uint32_t k = own; k-- > 0;)
            shares_count_function(w, k ? w->frames->frame[first + k] : space_function_of(s, node),
                                  at->samples, node == at->node && k == own - 1);
    }
}

/* Most self samples first, then most with callees, then by address. */
static int shares_by_self(const void *left, const void *right)
{
    const struct thread_share *l = left, *r = right;
    if (l->self != r->self)
        return l->self < r->self ? 1 : -1;
    if (l->total != r->total)
        return l->total < r->total ? 1 : -1;
    return (l->function > r->function) - (l->function < r->function);
}

/* The functions of one thread; `*next` goes on after its stacks. */
static void shares_take_functions(struct thread_walk *w, struct share_row *row, uint32_t thread,
                                  size_t *next, struct arena *a)
{
    w->shares.len = 0;
    for (; *next < w->all.len && w->all.at[*next].thread == thread; ++*next) {
        row->samples += w->all.at[*next].samples;
        shares_count_stack(w, &w->all.at[*next]);
    }
    for (size_t i = 0; i < w->shares.len; i++)
        w->row[w->shares.at[i].function] = 0;
    if (!w->shares.len)
        return;
    qsort(w->shares.at, w->shares.len, sizeof *w->shares.at, shares_by_self);
    struct thread_share *kept = ARENA_NEW(a, struct thread_share, w->shares.len);
    memcpy(kept, w->shares.at, w->shares.len * sizeof *kept);
    row->functions = kept;
    row->functions_len = w->shares.len;
}

/* Adds up the samples of each pair of a group and a stack, and sorts the pairs by group. A sample's
 * group is its thread, or that of its set of labels. */
static void shares_collect(struct thread_walk *w, const struct recording_choice *c,
                           const uint32_t *group_of_labels)
{
    const struct recording *r = w->space->recording;
    struct map known = {0}; /* (group, node) -> place in `all` */
    for (size_t i = 0; i < r->samples.len; i++) {
        const struct recording_sample *sample = &r->samples.at[i];
        bool is_new;
        if (!recording_choice_admits(c, r, sample))
            continue;
        uint32_t group = group_of_labels ? group_of_labels[sample->labels] : sample->thread;
        uint32_t at = map_index(&known, group, sample->node, w->all.len, &is_new);
        if (is_new)
            vec_push(&w->all, (struct thread_node){group, sample->node, 0});
        w->all.at[at].samples +=
            (double)sample->weight / (double)r->events.at[sample->event].period;
    }
    if (w->all.len)
        qsort(w->all.at, w->all.len, sizeof *w->all.at, shares_compare_threads);
    map_deinit(&known);
}

/* Groups are numbers of values, 0 being none. */
void shares_by_label(struct shares *t, const struct summary *s, const struct space *space,
                     const struct functions *f, const struct call_frames *frames,
                     const struct recording_choice *c, const char *key, struct arena *a)
{
    const struct recording *r = space->recording;
    struct arena scratch = {0};
    struct intern values = {0};
    struct thread_walk w = {.space = space,
                            .frames = frames,
                            .row = ARENA_NEW(&scratch, uint32_t, f->len),
                            .stamp = ARENA_NEW(&scratch, uint32_t, f->len)};
    uint32_t *group = ARENA_NEW(&scratch, uint32_t, r->label_sets.len + 1);
    for (uint32_t i = 0; i < r->label_sets.len; i++) {
        const char *value = recording_label_value(r, i, key);
        group[i] = value ? 1 + intern_kept(&values, value, strlen(value)) : 0;
    }
    shares_collect(&w, c, group);
    *t = (struct shares){.summary = s,
                         .kind = SHARES_LABELS,
                         .key = key,
                         .rows = ARENA_NEW(a, struct share_row, values.texts.len + 1)};
    size_t next = 0;
    for (uint32_t i = 0; i <= values.texts.len; i++) {
        struct share_row row = {.name = i ? values.texts.at[i - 1] : "(none)", .is_none = !i};
        shares_take_functions(&w, &row, i, &next, a);
        if (row.samples > 0)
            t->rows[t->len++] = row;
    }
    shares_finish(t);
    intern_deinit(&values);
    vec_free(&w.all);
    vec_free(&w.shares);
    arena_deinit(&scratch);
}

/* Pairs of thread and stack are sorted by thread, and threads come by number, so that one pass
 * takes both. Threads that have ended without a sample are listed, too; a number of 0 stands for
 * several together, which are listed only if they have samples. */
void shares_by_thread(struct shares *t, const struct summary *s, const struct space *space,
                      const struct functions *f, const struct call_frames *frames,
                      const struct recording_choice *c, struct arena *a)
{
    const struct recording *r = space->recording;
    struct arena scratch = {0};
    struct thread_walk w = {.space = space,
                            .frames = frames,
                            .row = ARENA_NEW(&scratch, uint32_t, f->len),
                            .stamp = ARENA_NEW(&scratch, uint32_t, f->len)};
    size_t next = 0;
    shares_collect(&w, c, NULL);
    *t = (struct shares){.summary = s,
                         .kind = SHARES_THREADS,
                         .rows = ARENA_NEW(a, struct share_row, r->threads.len)};
    for (uint32_t i = 0; i < r->threads.len; i++) {
        const struct recording_thread *from = &r->threads.at[i];
        if (c->threads && !c->threads[i])
            continue;
        struct share_row row = {.name = from->name,
                                .thread = from->tid,
                                .pid = r->processes.at[from->process].pid,
                                .cpu_ns = from->cpu_ns,
                                .recording_ns = from->end_ns ? from->end_ns - from->start_ns : 0};
        shares_take_functions(&w, &row, i, &next, a);
        if (from->tid || row.samples > 0)
            t->rows[t->len++] = row;
    }
    shares_finish(t);
    vec_free(&w.all);
    vec_free(&w.shares);
    arena_deinit(&scratch);
}

/* --- processes ------------------------------------------------------------------------------- */

void shares_by_process(struct shares *t, const struct summary *s, const struct recording_choice *c,
                       struct arena *a)
{
    const struct recording *r = s->run->recording;
    double *samples = recording_process_samples(r, c, false, a);
    /* What each had itself: the system's account of a process includes the children it waited for.
     */
    uint64_t *own = ARENA_NEW(a, uint64_t, r->processes.len);
    for (size_t i = 0; i < r->threads.len; i++)
        if (r->threads.at[i].has_cpu)
            own[r->threads.at[i].process] += r->threads.at[i].cpu_ns;
    *t = (struct shares){.summary = s,
                         .kind = SHARES_PROCESSES,
                         .rows = ARENA_NEW(a, struct share_row, r->processes.len)};
    for (size_t i = 0; i < r->processes.len; i++) {
        const struct recording_process *p = &r->processes.at[i];
        t->rows[t->len++] = (struct share_row){.name = recording_program_name(r, p),
                                               .samples = samples[i],
                                               .pid = p->pid,
                                               .cpu_ns = own[i],
                                               .process = p};
    }
    shares_finish(t);
}
