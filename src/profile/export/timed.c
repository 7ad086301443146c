/* Exports that know the order of time: speedscope's JSON and Firefox' profiler.
 *
 * A recording counts samples by slice of the run's time, so an exchange that was made for a format
 * that has times has parts: what a thread spent in a frame during a slice. Each thread's parts, by
 * slice, are laid one after the other; where a whole slice or more is empty before the next one,
 * the thread was idle. Within a slice, some milliseconds, the order is that of the frames, which
 * keeps what has callers in common together; the true one is not known. What reaches beyond its
 * slice, since a sample stands for more time than one lasts, pushes the next one on. So figures are
 * those of the exchange, all of them, and moments are as exact as slices.
 *
 * Profiles without times (gmon.out, many imports) are one row of paths in the order of the tree.
 *
 * Cost: linear in the parts and, for speedscope, whose stacks are written out, their depth. */
#include "profile/export/exports.h"

#include "base/map.h"
#include "base/path.h"
#include "base/sort.h"
#include "output/formats.h"

#include <stdio.h>
#include <sys/wait.h>

#define IDLE UINT32_MAX /* instead of a frame: the thread did not run */

/* What a thread did from `at` on. */
struct moment {
    uint32_t frame;
    uint64_t at, amount; /* at: nanoseconds of the run; amount: in the exchange's unit */
};

/* The moments of one thread, or of a profile that knows neither threads nor times. */
struct moments {
    uint32_t thread;
    uint64_t from, to; /* nanoseconds; of what is no time: the amounts' sum */
    VEC(struct moment) all;
};

struct timed {
    const struct exchange *x;
    const struct recording *recording; /* NULL: times are not known */
    bool is_time;                      /* amounts are nanoseconds */
    struct keyed *order;               /* parts by thread, slice, frame */
    size_t next;                       /* of `order` */
};

/* Sorts the parts. Without a length of the run and of slices, as imports may have it, there are no
 * times, and t->recording stays NULL. */
static void timed_open(struct timed *t, const struct exchange *x, struct arena *a)
{
    const struct recording_summary *run = x->summary->run;
    *t = (struct timed){.x = x, .is_time = !strcmp(x->unit, "nanoseconds")};
    if (!x->parts.len || !run->recording->length_ns || !run->recording->slice_ns)
        return;
    t->recording = run->recording;
    t->order = ARENA_NEW(a, struct keyed, x->parts.len);
    for (size_t i = 0; i < x->parts.len; i++)
        t->order[i] =
            (struct keyed){map_two(x->parts.at[i].thread, x->parts.at[i].slice), (uint32_t)i};
    sort_keyed(t->order, x->parts.len); /* stable: parts stand by frame */
}

/* What goes on from slice to slice is one moment: fewer of them, and viewers draw one block. */
static void moments_add(struct moments *m, uint32_t frame, uint64_t at, uint64_t amount)
{
    struct moment *last = m->all.len ? &m->all.at[m->all.len - 1] : NULL;
    if (last && last->frame == frame)
        last->amount += amount;
    else
        vec_push(&m->all, (struct moment){frame, at, amount});
}

/* The next thread's moments, in place of the previous one's; false after the last one. Neighbours
 * of one frame become one. What is no time has no length: it is put where its slice begins, and no
 * moment is idle. */
static bool timed_next(struct timed *t, struct moments *m)
{
    const struct exchange *x = t->x;
    m->all.len = 0;
    if (t->next >= x->parts.len)
        return false;
    m->thread = x->parts.at[t->order[t->next].item].thread;
    uint64_t slice_ns = t->recording->slice_ns, at = 0, sum = 0;
    for (; t->next < x->parts.len; t->next++) {
        const struct exchange_part *part = &x->parts.at[t->order[t->next].item];
        if (part->thread != m->thread)
            break;
        uint64_t begins = part->slice * slice_ns;
        if (!m->all.len)
            m->from = at = begins;
        if (at + slice_ns <= begins && t->is_time)
            moments_add(m, IDLE, at, begins - at);
        at = at + slice_ns <= begins || !t->is_time ? begins : at;
        moments_add(m, part->frame, at, part->self);
        at += t->is_time ? part->self : 0;
        sum += part->self;
    }
    m->to = t->is_time ? at : sum;
    m->from = t->is_time ? m->from : 0;
    return true;
}

/* All paths, in the order of the tree, of a profile that has no times: what begins alike stands
 * side by side. */
static void timed_untimed(const struct timed *t, struct moments *m)
{
    const struct exchange *x = t->x;
    *m = (struct moments){.thread = RECORDING_NONE, .to = x->total};
    uint64_t at = 0;
    for (uint32_t i = 1; i < x->frames.len; i++)
        if (x->frames.at[i].self) {
            vec_push(&m->all, (struct moment){i, at, x->frames.at[i].self});
            at += x->frames.at[i].self;
        }
}

static const char *timed_untimed_name(const struct exchange *x, struct arena *a)
{
    return arena_printf(a, "%s%s", x->summary->program,
                        x->has_estimates ? " (paths estimated by call counts)" : "");
}

/* ---- speedscope's own JSON: https://www.speedscope.app/file-format-schema.json. A profile of kind
 * `sampled` for each thread: stacks with weights, in the order of time; an empty stack is idle. */

/* The shared table of frames: one for each function of the exchange, by its number. */
static void speedscope_frames(struct json *j, const struct exchange *x)
{
    json_key(j, "shared"), json_begin(j, '{');
    JSON_ROWS(j, "frames", i, x->functions.len) {
        const struct exchange_function *f = &x->functions.at[i];
        json_pair_str(j, "name", f->name);
        if (f->file)
            json_pair_str(j, "file", f->file);
        if (f->file && f->line)
            json_pair_u64(j, "line", f->line);
    }
    json_end(j);
}

/* The frame's functions, outermost first; none of what is idle. `path` has room for the deepest:
 * the way is known from the frame outwards alone. */
static void speedscope_stack(struct json *j, const struct exchange *x, uint32_t frame,
                             uint32_t *path)
{
    uint32_t depth = frame == IDLE ? 0 : x->frames.at[frame].depth;
    for (uint32_t i = depth; i; i--) {
        path[i] = x->frames.at[frame].function;
        frame = x->frames.at[frame].parent;
    }
    json_begin(j, '[');
    for (uint32_t i = 1; i <= depth; i++)
        json_u64(j, path[i]);
    json_end(j);
}

/* Units that speedscope does not know are "none": numbers without one. The axis is the time of the
 * run where amounts are times, so that threads can be compared; else it counts. */
static void speedscope_profile(struct json *j, const struct timed *t, const struct moments *m,
                               const char *name, uint32_t *path)
{
    const char *unit = t->x->unit;
    json_begin(j, '{');
    json_pair_str(j, "type", "sampled");
    json_pair_str(j, "name", name);
    json_pair_str(j, "unit", t->is_time || !strcmp(unit, "bytes") ? unit : "none");
    json_pair_u64(j, "startValue", m->from);
    json_pair_u64(j, "endValue", m->to);
    JSON_ITEMS(j, "samples", i, m->all.len)
        speedscope_stack(j, t->x, m->all.at[i].frame, path);
    JSON_ITEMS(j, "weights", i, m->all.len)
        json_u64(j, m->all.at[i].amount);
    json_end(j);
}

/* "bash (4711), worker (4712), cpu": the process, the thread if it is not its first, the event. */
static const char *timed_thread_name(const struct timed *t, uint32_t thread, struct arena *a)
{
    const struct recording_thread *of = &t->recording->threads.at[thread];
    const struct recording_process *p = &t->recording->processes.at[of->process];
    const char *name = recording_program_name(t->recording, p);
    const char *process = p->pid ? arena_printf(a, "%s (%u)", name, p->pid) : name;
    if (of->tid == p->pid)
        return arena_printf(a, "%s, %s", process, t->x->event);
    if (!of->tid && !*of->name)
        return arena_printf(a, "%s, short threads, %s", process, t->x->event);
    return arena_printf(a, "%s, %s (%u), %s", process, *of->name ? of->name : "thread", of->tid,
                        t->x->event);
}

/* Threads come as the moments do; the viewer opens with the one that was busiest, whose number is
 * known after the last. */
void speedscope_export(struct out *out, const struct exchange *x)
{
    struct json j = {.out = out, .is_compact = true};
    struct arena scratch = {0};
    struct moments m = {0};
    struct timed t;
    uint32_t deepest = 0;
    for (size_t i = 0; i < x->frames.len; i++)
        deepest = x->frames.at[i].depth > deepest ? x->frames.at[i].depth : deepest;
    uint32_t *path = ARENA_NEW(&scratch, uint32_t, deepest + 1);
    timed_open(&t, x, &scratch);
    json_begin(&j, '{');
    json_pair_str(&j, "$schema", "https://www.speedscope.app/file-format-schema.json");
    json_pair_str(&j, "exporter", "monarc " MONARC_VERSION);
    json_pair_str(&j, "name", x->summary->program);
    speedscope_frames(&j, x);
    json_key(&j, "profiles"), json_begin(&j, '[');
    uint64_t number = 0, busiest = 0, most = 0;
    if (!t.recording) {
        timed_untimed(&t, &m);
        speedscope_profile(
            &j, &t, &m, arena_printf(&scratch, "%s, %s", timed_untimed_name(x, &scratch), x->event),
            path);
        /* Other dimensions are profiles of their own, of the same frames. */
        for (size_t i = 0; i < x->others_len; i++) {
            struct timed other;
            timed_open(&other, &x->others[i], &scratch);
            vec_free(&m.all);
            timed_untimed(&other, &m);
            speedscope_profile(&j, &other, &m,
                               arena_printf(&scratch, "%s, %s", timed_untimed_name(x, &scratch),
                                            x->others[i].event),
                               path);
        }
    }
    for (; t.recording && timed_next(&t, &m); number++) {
        uint64_t sum = 0;
        for (size_t i = 0; i < m.all.len; i++)
            sum += m.all.at[i].frame == IDLE ? 0 : m.all.at[i].amount;
        busiest = sum > most ? number : busiest;
        most = sum > most ? sum : most;
        speedscope_profile(&j, &t, &m, timed_thread_name(&t, m.thread, &scratch), path);
    }
    json_end(&j);
    json_pair_u64(&j, "activeProfileIndex", busiest);
    json_end(&j);
    vec_free(&m.all);
    arena_deinit(&scratch);
}

/* ---- Firefox' profiler, https://profiler.firefox.com: the processed format, version 46, which
 * newer ones upgrade when they load it.
 *
 * Each thread has tables of its own, in columns, whose rows name each other by number:
 *
 *     samples       stack, time, weight, CPU time     one for each moment
 *     stackTable    prefix (a stack), frame           a node of the tree of the thread's stacks
 *     frameTable    func, category
 *     funcTable     name and file (of stringArray), resource
 *     resourceTable lib (of the file's libs)
 *     markers       name, start, end, phase (0 instant, 1 interval, 2 begins, 3 ends)
 *
 * Frames and functions have one number here, since a frame is a whole function. Samples weigh what
 * they stand for, in milliseconds; one without a stack ends what ran. Times are milliseconds from
 * the start of the run. Columns that every version demands and that say nothing here are written
 * all the same: as nulls or zeros.
 *
 * Source: docs-developer/processed-profile-format.md and src/types/profile.js of the profiler. */

/* What code is, which the viewer colours by: of a function, by the object that it is in. */
enum firefox_category {
    CATEGORY_OTHER,
    CATEGORY_PROGRAM,
    CATEGORY_LIBRARY,
    CATEGORY_KERNEL,
    CATEGORY_GENERATED,
    CATEGORY_WAITING,
    CATEGORIES
};

/* "Other" must be grey: it is what Firefox takes where there is none. */
static const struct {
    const char *name, *color;
} FIREFOX_CATEGORIES[CATEGORIES] = {
    {"Other", "grey"},    {"Program", "yellow"},  {"Libraries", "blue"},
    {"Kernel", "orange"}, {"Generated", "green"}, {"Waiting", "transparent"},
};

/* Tables of the thread that is being written. `stack_of` leads from frames of the exchange to rows
 * here, the others likewise from its lists, one more than their number; 0: not met. */
struct firefox {
    struct json j;
    struct timed t;
    struct arena scratch;
    uint32_t *stack_of, *place_of, *function_of, *resource_of;
    VEC(uint32_t) stacks, places, functions, resources; /* their frames, places, functions... */
    struct intern texts;
    uint32_t process; /* of the thread before */
};

/* The text's number in the thread's list. */
static uint32_t firefox_text(struct firefox *f, const char *text)
{
    return intern(&f->texts, text, strlen(text));
}

/* Functions of no object are ours: what is too small, or in no function. Stacks that were cut begin
 * with a frame that says why, which is no code either. */
static enum firefox_category firefox_category(const struct exchange *x, uint32_t function)
{
    uint32_t object = x->functions.at[function].object;
    if (object >= x->objects.len)
        return CATEGORY_OTHER;
    switch (x->objects.at[object].kind) {
    case RECORDING_OBJECT_KERNEL: return CATEGORY_KERNEL;
    case RECORDING_OBJECT_WAIT: return CATEGORY_WAITING;
    case RECORDING_OBJECT_GENERATED: return CATEGORY_GENERATED;
    case RECORDING_OBJECT_CUT: return CATEGORY_OTHER;
    default: return object == x->program ? CATEGORY_PROGRAM : CATEGORY_LIBRARY;
    }
}

/* The row of a frame's stack; those of its callers are made first, from the outermost on. */
static uint32_t firefox_stack(struct firefox *f, uint32_t frame)
{
    const struct exchange *x = f->t.x;
    size_t missing = 0;
    for (uint32_t at = frame; at && !f->stack_of[at]; at = x->frames.at[at].parent)
        missing++;
    size_t first = f->stacks.len;
    for (size_t i = 0; i < missing; i++)
        vec_push(&f->stacks, 0);
    for (uint32_t at = frame; missing; at = x->frames.at[at].parent) {
        f->stacks.at[first + --missing] = at;
        f->stack_of[at] = (uint32_t)(first + missing + 1);
    }
    for (size_t i = first; i < f->stacks.len; i++) {
        uint32_t place = x->frames.at[f->stacks.at[i]].place;
        uint32_t function = x->places.at[place].function;
        uint32_t object = x->functions.at[function].object;
        if (f->place_of[place])
            continue;
        vec_push(&f->places, place);
        f->place_of[place] = (uint32_t)f->places.len;
        if (f->function_of[function])
            continue;
        vec_push(&f->functions, function);
        f->function_of[function] = (uint32_t)f->functions.len;
        if (object < x->objects.len && !f->resource_of[object]) {
            vec_push(&f->resources, object);
            f->resource_of[object] = (uint32_t)f->resources.len;
        }
    }
    return f->stack_of[frame] - 1;
}

/* A column: `write` for each i below `len`. A whole table begins with its length. */
#define FIREFOX_COLUMN(j, key, len, write) \
    JSON_ITEMS(j, key, i, len) {           \
        write;                             \
    }

/* The caller ends it, after its columns. */
static void firefox_table(struct json *j, const char *key, size_t len)
{
    json_key(j, key), json_begin(j, '{');
    json_pair_u64(j, "length", len);
}

/* Columns of which nothing is known here. */
static void firefox_unknown(struct json *j, const char *key, size_t len)
{
    FIREFOX_COLUMN(j, key, len, json_none(j));
}

/* A list of which there is nothing to say. */
static void firefox_empty(struct json *j, const char *key)
{
    json_key(j, key), json_begin(j, '['), json_end(j);
}

/* Of subcategories and depths of inlined frames: there is one of each. */
static void firefox_zeros(struct json *j, const char *key, size_t len)
{
    FIREFOX_COLUMN(j, key, len, json_u64(j, 0));
}

/* What the samples lead to. Frames are lines, of which none has an address; that at which a
 * function begins stands for no line of its code. Texts get their numbers as they are met, and the
 * list of them is written last. */
static void firefox_code_tables(struct firefox *f)
{
    struct json *j = &f->j;
    const struct exchange *x = f->t.x;
    size_t len = f->places.len;
#define PLACE (&x->places.at[f->places.at[i]])
    firefox_table(j, "frameTable", len);
    FIREFOX_COLUMN(j, "address", len, json_i64(j, -1));
    firefox_zeros(j, "inlineDepth", len);
    FIREFOX_COLUMN(j, "category", len, json_u64(j, firefox_category(x, PLACE->function)));
    firefox_zeros(j, "subcategory", len);
    FIREFOX_COLUMN(j, "func", len, json_u64(j, f->function_of[PLACE->function] - 1));
    firefox_unknown(j, "nativeSymbol", len);
    firefox_unknown(j, "innerWindowID", len);
    firefox_unknown(j, "implementation", len);
    FIREFOX_COLUMN(j, "line", len,
                   if (f->places.at[i] >= x->functions.len) json_u64(j, PLACE->line);
                   else json_none(j));
    firefox_unknown(j, "column", len);
    json_end(j);
#undef PLACE
    len = f->functions.len;
#define FUNCTION (&x->functions.at[f->functions.at[i]])
    firefox_table(j, "funcTable", len);
    FIREFOX_COLUMN(j, "name", len, json_u64(j, firefox_text(f, FUNCTION->name)));
    FIREFOX_COLUMN(j, "isJS", len, json_bool(j, false));
    FIREFOX_COLUMN(j, "relevantForJS", len, json_bool(j, false));
    FIREFOX_COLUMN(j, "resource", len,
                   json_i64(j, FUNCTION->object < x->objects.len
                                   ? (int64_t)f->resource_of[FUNCTION->object] - 1
                                   : -1));
    FIREFOX_COLUMN(j, "fileName", len,
                   if (FUNCTION->file) json_u64(j, firefox_text(f, FUNCTION->file));
                   else json_none(j));
    FIREFOX_COLUMN(j, "lineNumber", len,
                   if (FUNCTION->file && FUNCTION->line) json_u64(j, FUNCTION->line);
                   else json_none(j));
    firefox_unknown(j, "columnNumber", len);
    json_end(j);
#undef FUNCTION
    len = f->stacks.len;
    firefox_table(j, "stackTable", len);
    FIREFOX_COLUMN(j, "prefix", len, uint32_t parent = x->frames.at[f->stacks.at[i]].parent;
                   if (parent) json_u64(j, f->stack_of[parent] - 1); else json_none(j));
    FIREFOX_COLUMN(j, "frame", len,
                   json_u64(j, f->place_of[x->frames.at[f->stacks.at[i]].place] - 1));
    FIREFOX_COLUMN(j, "category", len,
                   json_u64(j, firefox_category(x, x->frames.at[f->stacks.at[i]].function)));
    firefox_zeros(j, "subcategory", len);
    json_end(j);
    len = f->resources.len;
    firefox_table(j, "resourceTable", len);
    FIREFOX_COLUMN(j, "lib", len, json_u64(j, f->resources.at[i]));
    FIREFOX_COLUMN(
        j, "name", len,
        json_u64(j, firefox_text(f, path_base_name(x->objects.at[f->resources.at[i]].path))));
    firefox_unknown(j, "host", len);
    FIREFOX_COLUMN(j, "type", len, json_u64(j, 1)); /* a library */
    json_end(j);
    firefox_table(j, "nativeSymbols", 0);
    firefox_empty(j, "address");
    firefox_empty(j, "functionSize");
    firefox_empty(j, "libIndex");
    firefox_empty(j, "name");
    json_end(j);
}

/* The CPU time of a moment in microseconds: all of it, unless the thread waited or was idle. */
static uint64_t firefox_cpu_us(const struct firefox *f, const struct moment *m)
{
    const struct exchange *x = f->t.x;
    bool runs = m->frame != IDLE && f->t.is_time &&
                firefox_category(x, x->frames.at[m->frame].function) != CATEGORY_WAITING;
    return runs ? m->amount / 1000 : 0;
}

/* A sample's CPU time is what was used since the one before, from which the viewer draws how busy
 * the thread was. Times that are no time, as of events, have samples where their slices begin. */
static void firefox_samples(struct firefox *f, const struct moments *m)
{
    struct json *j = &f->j;
    size_t len = m->all.len + 1; /* one that is idle ends them */
    const struct moment end = {IDLE, f->t.is_time ? m->to : m->all.at[m->all.len - 1].at, 0};
    bool is_bytes = !strcmp(f->t.x->unit, "bytes");
#define MOMENT (i < m->all.len ? &m->all.at[i] : &end)
    firefox_table(j, "samples", len);
    FIREFOX_COLUMN(j, "stack", len,
                   if (MOMENT->frame != IDLE) json_u64(j, f->stack_of[MOMENT->frame] - 1);
                   else json_none(j));
    FIREFOX_COLUMN(j, "time", len, json_millionths(j, MOMENT->at));
    FIREFOX_COLUMN(j, "weight", len, uint64_t amount = MOMENT->frame == IDLE ? 0 : MOMENT->amount;
                   if (f->t.is_time) json_millionths(j, amount); else json_u64(j, amount));
    json_pair_str(j, "weightType", f->t.is_time ? "tracing-ms" : is_bytes ? "bytes" : "samples");
    FIREFOX_COLUMN(j, "threadCPUDelta", len,
                   json_u64(j, i ? firefox_cpu_us(f, &m->all.at[i - 1]) : 0));
    json_end(j);
#undef MOMENT
}

/* --- markers: phases and regions that the program named, and how processes ended -------------- */

enum { PHASE_INSTANT, PHASE_INTERVAL, PHASE_BEGINS, PHASE_ENDS };

/* `to` is of phases alone: a region's end is a marker of its own, which Firefox pairs by name. */
struct firefox_marker {
    const char *name;
    uint64_t from, to;
    unsigned phase;
};

/* The marks of a process. A phase lasts until the next one, or the end. */
static void firefox_markers(struct firefox *f, uint32_t process, bool has_them)
{
    static const unsigned PHASES[] = {PHASE_INTERVAL, PHASE_BEGINS, PHASE_ENDS, PHASE_INSTANT,
                                      PHASE_INSTANT};
    struct json *j = &f->j;
    const struct recording *r = f->t.recording;
    const struct recording_process *p = &r->processes.at[process];
    uint64_t end = p->end_ns ? p->end_ns : r->length_ns;
    VEC(struct firefox_marker) all = {0};
    for (size_t i = 0, phase = SIZE_MAX; has_them && i < r->marks.len; i++) {
        const struct recording_mark *mark = &r->marks.at[i];
        if (mark->process != process || mark->kind >= sizeof PHASES / sizeof *PHASES)
            continue;
        if (!mark->kind && phase != SIZE_MAX)
            all.at[phase].to = mark->at_ns;
        if (!mark->kind)
            phase = all.len;
        const char *name = mark->kind == 3   ? "recording stopped"
                           : mark->kind == 4 ? "recording resumed"
                                             : mark->name;
        vec_push(&all, (struct firefox_marker){name, mark->at_ns, end, PHASES[mark->kind]});
    }
    if (has_them && p->has_ended)
        vec_push(
            &all,
            (struct firefox_marker){
                WIFSIGNALED(p->status)
                    ? arena_printf(&f->scratch, "killed by signal %d", WTERMSIG(p->status))
                    : arena_printf(&f->scratch, "exited with status %d", WEXITSTATUS(p->status)),
                end, end, PHASE_INSTANT});
    firefox_table(j, "markers", all.len);
    firefox_zeros(j, "category", all.len);
    FIREFOX_COLUMN(j, "data", all.len, json_begin(j, '{'); json_pair_str(j, "type", "Mark");
                   json_end(j));
    FIREFOX_COLUMN(j, "endTime", all.len,
                   if (all.at[i].phase == PHASE_INTERVAL) json_millionths(j, all.at[i].to);
                   else if (all.at[i].phase == PHASE_ENDS) json_millionths(j, all.at[i].from);
                   else json_none(j));
    FIREFOX_COLUMN(j, "name", all.len, json_u64(j, firefox_text(f, all.at[i].name)));
    FIREFOX_COLUMN(j, "phase", all.len, json_u64(j, all.at[i].phase));
    FIREFOX_COLUMN(j, "startTime", all.len,
                   if (all.at[i].phase != PHASE_ENDS) json_millionths(j, all.at[i].from);
                   else json_none(j));
    json_end(j);
    vec_free(&all);
}

/* --- threads --------------------------------------------------------------------------------- */

/* A time that is not known is null. */
static void firefox_end_or_none(struct json *j, const char *key, uint64_t end_ns)
{
    json_key(j, key);
    if (end_ns)
        json_millionths(j, end_ns);
    else
        json_none(j);
}

/* Threads of a process stand together; the first one that was seen has the process's marks. The
 * tables are emptied after it by what they hold, so that a thread costs what it did, not what all
 * threads did. */
static void firefox_thread(struct firefox *f, const struct moments *m)
{
    struct json *j = &f->j;
    const struct recording *r = f->t.recording;
    const struct recording_thread *thread = &r->threads.at[m->thread];
    const struct recording_process *p = &r->processes.at[thread->process];
    const char *program = recording_program_name(r, p);
    bool is_first = thread->process != f->process;
    f->process = thread->process;
    for (size_t i = 0; i < m->all.len; i++)
        if (m->all.at[i].frame != IDLE)
            firefox_stack(f, m->all.at[i].frame);
    json_begin(j, '{');
    firefox_code_tables(f);
    firefox_samples(f, m);
    firefox_markers(f, thread->process, is_first);
    json_pair_str(j, "name", thread->tid == p->pid || !*thread->name ? program : thread->name);
    json_pair_bool(j, "isMainThread", thread->tid == p->pid);
    json_pair_str(j, "processType", "default");
    json_pair_str(j, "processName", program);
    json_key(j, "processStartupTime"), json_millionths(j, p->start_ns);
    firefox_end_or_none(j, "processShutdownTime", p->end_ns);
    json_key(j, "registerTime"), json_millionths(j, thread->start_ns);
    firefox_end_or_none(j, "unregisterTime", thread->end_ns);
    firefox_empty(j, "pausedRanges");
    json_pair_str(j, "pid", arena_printf(&f->scratch, "%u", p->pid));
    json_pair_u64(j, "tid", thread->tid);
    FIREFOX_COLUMN(j, "stringArray", f->texts.texts.len, json_str(j, f->texts.texts.at[i]));
    json_end(j);
    for (size_t i = 0; i < f->stacks.len; i++)
        f->stack_of[f->stacks.at[i]] = 0;
    for (size_t i = 0; i < f->places.len; i++)
        f->place_of[f->places.at[i]] = 0;
    for (size_t i = 0; i < f->functions.len; i++)
        f->function_of[f->functions.at[i]] = 0;
    for (size_t i = 0; i < f->resources.len; i++)
        f->resource_of[f->resources.at[i]] = 0;
    f->stacks.len = f->places.len = f->functions.len = f->resources.len = 0;
    intern_deinit(&f->texts);
    f->texts = (struct intern){0};
}

/* One thread of all there is, for a profile that knows neither threads nor times. */
static struct recording firefox_stand_in(const struct exchange *x, struct recording_process *p,
                                         struct recording_thread *t, struct arena *a)
{
    struct recording r = {.length_ns = x->total};
    *p = (struct recording_process){.program = RECORDING_NONE, .name = timed_untimed_name(x, a)};
    *t = (struct recording_thread){.process = 0};
    r.processes.at = p, r.processes.len = 1;
    r.threads.at = t, r.threads.len = 1;
    return r;
}

/* Facts about the whole. Names of functions are final, so `symbolicated` keeps the viewer from
 * asking a server for them; `version` is that of the raw format, of which this is none. */
static void firefox_meta(struct json *j, const struct exchange *x, const struct recording *r)
{
    bool is_time = !strcmp(x->unit, "nanoseconds");
    json_key(j, "meta"), json_begin(j, '{');
    JSON_ROWS(j, "categories", i, CATEGORIES) {
        json_pair_str(j, "name", FIREFOX_CATEGORIES[i].name);
        json_pair_str(j, "color", FIREFOX_CATEGORIES[i].color);
        json_key(j, "subcategories"), json_begin(j, '['), json_str(j, "Other"), json_end(j);
    }
    json_pair_bool(j, "debug", false);
    json_key(j, "extensions"), json_begin(j, '{');
    json_pair_u64(j, "length", 0);
    firefox_empty(j, "baseURL");
    firefox_empty(j, "id");
    firefox_empty(j, "name");
    json_end(j);
    json_key(j, "interval"), json_millionths(j, is_time && x->period ? x->period : 1000000);
    json_pair_u64(j, "preprocessedProfileVersion", 46);
    json_pair_u64(j, "processType", 0);
    json_pair_str(j, "product", x->summary->program);
    json_pair_str(j, "importedFrom", "monarc " MONARC_VERSION);
    json_key(j, "sampleUnits"), json_begin(j, '{');
    json_pair_str(j, "time", "ms");
    json_pair_str(j, "eventDelay", "ms");
    json_pair_str(j, "threadCPUDelta", "µs");
    json_end(j);
    json_key(j, "startTime"), json_millionths(j, r->start_real_ns);
    json_pair_bool(j, "symbolicated", true);
    firefox_empty(j, "pausedRanges");
    json_pair_u64(j, "version", 24);
    json_pair_bool(j, "usesOnlyOneStackType", true);
    json_pair_bool(j, "doesNotUseFrameImplementation", true);
    json_pair_bool(j, "sourceCodeIsNotOnSearchfox", true);
    json_key(j, "markerSchema"), json_begin(j, '[');
    json_begin(j, '{');
    json_pair_str(j, "name", "Mark");
    json_pair_str(j, "tableLabel", "{marker.name}");
    json_pair_str(j, "chartLabel", "{marker.name}");
    json_key(j, "display"), json_begin(j, '[');
    json_str(j, "marker-chart"), json_str(j, "marker-table"), json_str(j, "timeline-overview");
    json_end(j);
    firefox_empty(j, "data");
    json_end(j);
    json_end(j);
    json_end(j);
}

/* Libraries by the number of the object. The breakpad id is the build-id's first 16 bytes as a GUID
 * and an age of 0; zeros where there is none. */
static void firefox_libs(struct json *j, const struct exchange *x)
{
    static const unsigned GUID[16] = {3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15};
    JSON_ROWS(j, "libs", i, x->objects.len) {
        const struct exchange_object *o = &x->objects.at[i];
        char id[34];
        for (unsigned k = 0; k < 16; k++)
            snprintf(id + 2 * k, 3, "%02X", GUID[k] < o->build_id_len ? o->build_id[GUID[k]] : 0);
        id[32] = '0', id[33] = 0;
        const char *name = path_base_name(o->path);
        json_pair_str(j, "name", name);
        json_pair_str(j, "path", o->path);
        json_pair_str(j, "debugName", name);
        json_pair_str(j, "debugPath", o->path);
        json_pair_str(j, "breakpadId", id);
        json_key(j, "codeId"), json_none(j);
        json_key(j, "arch"), json_none(j);
    }
}

/* Threads come as the moments do, each with its tables, so that memory is that of one thread and of
 * the numbers of frames. */
void firefox_export(struct out *out, const struct exchange *x)
{
    struct firefox f = {.j = {.out = out, .is_compact = true}, .process = RECORDING_NONE};
    struct recording_process process;
    struct recording_thread thread;
    struct recording stand_in = firefox_stand_in(x, &process, &thread, &f.scratch);
    struct moments m = {0};
    timed_open(&f.t, x, &f.scratch);
    bool is_timed = f.t.recording != NULL;
    f.t.recording = is_timed ? f.t.recording : &stand_in;
    f.stack_of = ARENA_NEW(&f.scratch, uint32_t, x->frames.len + 1);
    f.place_of = ARENA_NEW(&f.scratch, uint32_t, x->places.len + 1);
    f.function_of = ARENA_NEW(&f.scratch, uint32_t, x->functions.len + 1);
    f.resource_of = ARENA_NEW(&f.scratch, uint32_t, x->objects.len + 1);
    json_begin(&f.j, '{');
    firefox_meta(&f.j, x, f.t.recording);
    firefox_libs(&f.j, x);
    firefox_empty(&f.j, "pages");
    firefox_empty(&f.j, "profilerOverhead");
    firefox_empty(&f.j, "counters");
    json_key(&f.j, "threads"), json_begin(&f.j, '[');
    if (!is_timed) {
        timed_untimed(&f.t, &m);
        m.thread = 0;
        firefox_thread(&f, &m);
    }
    while (is_timed && timed_next(&f.t, &m))
        firefox_thread(&f, &m);
    json_end(&f.j);
    json_end(&f.j);
    vec_free(&m.all);
    vec_free(&f.stacks);
    vec_free(&f.places);
    vec_free(&f.functions);
    vec_free(&f.resources);
    arena_deinit(&f.scratch);
}
