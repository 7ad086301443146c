/* Opening recordings: what is chosen of them, the files of their objects, and what they lack.
 *
 * recorded_resolve() is the whole way from a `struct recording`, where a sample is a weight on a
 * node of a tree of addresses, to functions with times:
 *
 *   events, threads, windows  ─► choice ─► weights   one number for each node of the tree
 *   objects ─► excerpts, files ─► space ─► functions one range of addresses over all objects
 *   weights on functions      ─► stacks              self and total times, with their errors
 *
 * Names come from the recording itself, if they are in it; else from the files of objects in which
 * something was measured. A file with another build-id than the recorded one would give wrong
 * names, and is never taken. An object without any file keeps its samples: they are shown as the
 * object's, and a note says what is missing.
 *
 * The cost is linear in nodes, samples and symbols. All results live in the arena of the
 * recording. */
#include "session/recorded.h"

#include "objfile/object.h"
#include "profile/analysis/diagnosis.h"
#include "profile/analysis/recording/excerpts.h"
#include "profile/analysis/recording/schedule.h"
#include "profile/analysis/summary.h"
#include "base/sort.h"
#include "profile/model/recording.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* --- files ----------------------------------------------------------------------------------- */

/* Whether the recorder listed function names of an object as it ran (JIT, perf maps), so that only
 * lines are missing without its file. */
static bool recorded_has_symbols(const struct recorded *r, const struct space_object *object)
{
    for (size_t i = 0; i < r->recording.symbols.len; i++)
        if (r->recording.symbols.at[i].object == (uint32_t)(object - r->space.objects))
            return true;
    return false;
}

/* Whether a file is to be taken instead of the excerpt. With equal knowledge, it is when the
 * report wants whole tables, which an excerpt does not have, or when the excerpt is not complete.
 */
static bool recorded_is_more(struct object *file, const struct excerpt_facts *told, bool wants_file)
{
    enum object_symbol_source source;
    size_t len;
    object_symbols(file, &len, &source);
    unsigned more = symbols_richness(source, object_has_debug_info(file));
    unsigned has = symbols_richness(told->symbols_source, told->has_debug_info);
    return more > has || (more == has && (wants_file || told->ranges_left_out));
}

/* Looks for the object's file. What is looked through (--symbols) is read once, when the first
 * object needs it. False for trouble with that alone: a file that is not there is no failure. One
 * that could not be read makes the report less than whole, unless the recording has the object's
 * symbols itself and only the system is to blame. */
static bool recorded_find_file(struct recorded *r, struct space_object *object,
                               const struct recorded_options *o, bool is_told, struct object **file,
                               struct err *e)
{
    struct symbol_files_options options = {.debug_dir = o->debug_dir, .from = o->symbols};
    struct err why = {0};
    if (!r->files)
        r->files = symbol_files_new(&options, e);
    if (!r->files)
        return false;
    *file = symbol_files_open(r->files, object->recorded, &object->is_other, &why);
    if (*file)
        return true;
    object->why_missing = why.line[0] ? arena_copy(&r->arena, why.line, strlen(why.line)) : NULL;
    if (!r->unread.system && (is_told ? errno_is_trouble : errno_hides_file)(why.system))
        r->unread = why;
    return true;
}

/* The recording's own names count, unless the user has a file that knows more. */
static bool recorded_open_file(struct recorded *r, struct space_object *object,
                               const struct recorded_options *o, struct err *e)
{
    struct excerpt_facts facts = {0};
    struct object *file = NULL;
    /* An excerpt that is damaged is as good as none, but is mentioned. */
    struct err damage = {0};
    struct object *told =
        excerpts_open(&r->recording, (uint32_t)(object - r->space.objects), &facts, &damage);
    bool wants_file = o->wants_files || o->wants_code;
    bool is_asked = o->debug_dir || o->symbols || wants_file || facts.ranges_left_out;
    if (damage.line[0])
        r->damaged = arena_printf(&r->arena, "%s", damage.line);
    if (object->recorded->is_listed) { /* all that is known of it is in the recording */
        object->file = told;
        return true;
    }
    if ((!told || is_asked) && !recorded_find_file(r, object, o, told, &file, e)) {
        object_close(told);
        return false;
    }
    if (told && file && !recorded_is_more(file, &facts, wants_file)) {
        object_close(file);
        file = NULL;
    }
    /* The better one of the two stays open; the other is closed at once. */
    if (file) {
        object_close(told);
        object->file = file;
        return true;
    }
    object->file = told;
    const char *path = object->recorded->path;
    if (told) {
        /* What is missing is noted for recorded_take_notes(); the last object of each kind stands
         * for all. */
        r->left_out = facts.ranges_left_out ? path : r->left_out;
        if (o->wants_code && !object_has_code(told))
            r->without_code = path;
    } else if (object->is_other) {
        if (!space_is_recorder(object)) /* an upgrade; its code is the profiler's with any names */
            r->replaced = path;
    } else if (strchr(path, '/')) { /* linux-vdso.so.1 is no file */
        r->missing = path;
        r->missing_has_names = recorded_has_symbols(r, object);
        r->missing_why = object->why_missing;
    }
    return true;
}

/* --- choosing -------------------------------------------------------------------------------- */

/* Without a name, the first event. The list in the message helps when a name is misspelt. */
static bool recorded_choose_event(struct recorded *r, const char *name, struct err *e)
{
    const char *all = "";
    uint32_t found = recording_find_event(&r->recording, name);
    if (found != RECORDING_NONE)
        r->choice.event = found;
    if (found != RECORDING_NONE || !name)
        return true;
    for (uint32_t i = 0; i < r->recording.events.len; i++)
        all = arena_printf(&r->arena, "%s%s%s", all, i ? ", " : "", r->recording.events.at[i].name);
    return err_set(e, "the event '%s' was not recorded; there is %s", name, *all ? all : "none");
}

/* By the name that the kernel has for the process, or by the path of its executable. */
static bool recorded_is_program(const struct recorded *r, const struct recording_process *p,
                                const char *name)
{
    bool is_path = p->program != RECORDING_NONE && strchr(name, '/') &&
                   !strcmp(r->recording.objects.at[p->program].path, name);
    return is_path || !strcmp(recording_program_name(&r->recording, p), name);
}

/* By name, or by the system's number. */
static bool recorded_is_thread(const struct recording_thread *t, const char *wanted)
{
    char number[16];
    snprintf(number, sizeof number, "%" PRIu32, t->tid);
    return !strcmp(t->name, wanted) || (t->tid && !strcmp(number, wanted));
}

/* A phase lasts until the next one of its process. */
static uint64_t recorded_end_of_phase(const struct recording *r, size_t mark)
{
    const struct recording_mark *from = &r->marks.at[mark];
    uint64_t end = UINT64_MAX;
    for (size_t i = 0; i < r->marks.len; i++) {
        const struct recording_mark *m = &r->marks.at[i];
        bool is_later = m->at_ns > from->at_ns || (m->at_ns == from->at_ns && i > mark);
        if (!m->kind && is_later && m->process == from->process && m->at_ns < end)
            end = m->at_ns;
    }
    return end;
}

/* A region lasts until its end, after the ends of those of its name that began in it: regions nest
 * in themselves where functions recurse. Marks of one thread stand in the order of time. */
static uint64_t recorded_end_of_region(const struct recording *r, size_t mark)
{
    const struct recording_mark *from = &r->marks.at[mark];
    size_t depth = 1;
    for (size_t i = mark + 1; i < r->marks.len; i++) {
        const struct recording_mark *m = &r->marks.at[i];
        if (m->process != from->process || m->tid != from->tid || strcmp(m->name, from->name))
            continue;
        if (m->kind == 1)
            depth++;
        else if (m->kind == 2 && !--depth)
            return m->at_ns;
    }
    return UINT64_MAX;
}

/* --- windows of a series
 *
 * Its runs follow each other in time, and a requested time is one of each run's: --from 2 is what
 * came later than 2 s after the start of every run. */

/* When a part began: its processes have the times of the sum. */
static uint64_t recorded_part_begin(const struct recording *r, size_t part)
{
    uint32_t first = r->parts.at[part].process;
    size_t end = part + 1 < r->parts.len ? r->parts.at[part + 1].process : r->processes.len;
    uint64_t begin = part ? UINT64_MAX : 0;
    for (size_t i = first; i < end; i++)
        begin = r->processes.at[i].start_ns < begin ? r->processes.at[i].start_ns : begin;
    return begin;
}

/* The window of a part that `w` is in a run alone, cut to the part. */
static struct recording_window recorded_part_window(const struct recording *r, size_t part,
                                                    struct recording_window w)
{
    uint64_t begin = recorded_part_begin(r, part);
    uint64_t end = part + 1 < r->parts.len ? recorded_part_begin(r, part + 1) : UINT64_MAX;
    w.from_ns = w.from_ns < end - begin ? begin + w.from_ns : end;
    w.to_ns = w.to_ns < end - begin ? begin + w.to_ns : end;
    return w;
}

/* One window, or one for each run of a series. */
static void recorded_choose_window(struct recorded *r, struct recording_window w)
{
    const struct recording *recording = &r->recording;
    size_t len = recording->parts.len ? recording->parts.len : 1;
    struct recording_window *kept = ARENA_NEW(&r->arena, struct recording_window, len);
    *kept = w;
    for (size_t i = 0; i < recording->parts.len; i++)
        kept[i] = recorded_part_window(recording, i, w);
    r->choice.windows = kept;
    r->choice.windows_len = len;
}

/* A window of time for each occurrence of the phase, cut to --from and --to. */
static bool recorded_choose_phase(struct recorded *r, const struct recorded_filter *f,
                                  struct recording_window limits, struct err *e)
{
    struct recording_window *windows =
        ARENA_NEW(&r->arena, struct recording_window, r->recording.marks.len);
    size_t len = 0;
    for (size_t i = 0; i < r->recording.marks.len; i++) {
        const struct recording_mark *m = &r->recording.marks.at[i];
        /* Kinds of marks: 0 a phase begins, 1 a region begins, 2 a region ends. */
        if (m->kind > 1 || strcmp(m->name, f->phase))
            continue;
        uint64_t end = m->kind ? recorded_end_of_region(&r->recording, i)
                               : recorded_end_of_phase(&r->recording, i);
        struct recording_window w = {m->at_ns, end, m->process}, of = limits;
        if (r->recording.parts.len)
            of = recorded_part_window(&r->recording, recording_part_of(&r->recording, m->process),
                                      limits);
        w.from_ns = w.from_ns < of.from_ns ? of.from_ns : w.from_ns;
        w.to_ns = w.to_ns > of.to_ns ? of.to_ns : w.to_ns;
        windows[len++] = w;
    }
    r->choice.windows = windows;
    r->choice.windows_len = len;
    return len || err_set(e, "the recording has no phase or region '%s'", f->phase);
}

/* What was chosen, as a phrase for the head of a report ("process 12, phase load"), or NULL for
 * everything. Samples lie in slices of time, so windows are as exact as those. */
static const char *recorded_chosen_text(struct recorded *r, const struct recorded_filter *f)
{
    const char *text = NULL;
    if (f->pid)
        text = arena_printf(&r->arena, "process %" PRIu32, f->pid);
    if (f->has_thread && f->thread)
        text = arena_printf(&r->arena, "thread %" PRIu32 " of %s", f->thread, text);
    else if (f->has_thread)
        text = arena_printf(&r->arena, "short-lived threads of %s", text);
    if (f->program)
        text = arena_printf(&r->arena, "%s%sprogram %s", text ? text : "", text ? ", " : "",
                            f->program);
    if (f->named_thread)
        text = arena_printf(&r->arena, "%s%sthread %s", text ? text : "", text ? ", " : "",
                            f->named_thread);
    if (f->phase)
        text =
            arena_printf(&r->arena, "%s%sphase %s", text ? text : "", text ? ", " : "", f->phase);
    for (size_t i = 0; i < f->labels_len; i++)
        text = arena_printf(&r->arena, "%s%s%s", text ? text : "", text ? ", " : "", f->labels[i]);
    if (f->has_from)
        text =
            arena_printf(&r->arena, "%s%sfrom %.9g s", text ? text : "", text ? ", " : "", f->from);
    if (f->has_to)
        text = arena_printf(&r->arena, "%s%sto %.9g s", text ? text : "", text ? ", " : "", f->to);
    if (r->choice.windows_len)
        text = arena_printf(&r->arena, "%s (in steps of %.3g s)", text,
                            (double)r->recording.slice_ns / 1e9);
    return text;
}

/* --- samples by place ------------------------------------------------------------------------ */

/* What stands for no code of a file is at the start of its function. */
static uint64_t recorded_place_of(const struct recorded *r, const struct functions *f,
                                  uint32_t node)
{
    const struct recording_node *n = &r->recording.nodes.at[node];
    const struct function *function = &f->at[space_function_of(&r->space, node)];
    return function_has_code(function) ? space_place(&r->space, n->object, n->address)
                                       : function->start;
}

/* Puts the samples into histograms of one byte a bin, for reports that go by address. Nodes are
 * sorted by place; those within GAP bytes of the next share a histogram, so that the few hot
 * places of a large program do not make a histogram of all its text. Weights become whole counts
 * of the event's unit. */
static void recorded_place_samples(struct recorded *r, const struct functions *f)
{
    enum { GAP = 64, LARGEST = 1 << 16 };
    struct arena scratch = {0};
    const struct recording *recording = &r->recording;
    struct keyed *places = ARENA_NEW(&scratch, struct keyed, recording->nodes.len);
    size_t len = 0;
    for (uint32_t i = 1; i < recording->nodes.len; i++)
        if (r->weights.node[i] > 0 && !space_is_cut(&r->space, i))
            places[len++] = (struct keyed){recorded_place_of(r, f, i), i};
    sort_keyed(places, len);
    double counts = r->summary.event ? (double)r->summary.event->period : 1;
    r->profile.counts_a_sample = counts;
    for (size_t i = 0; i < len;) {
        size_t end = i + 1;
        while (end < len && places[end].key - places[end - 1].key < GAP &&
               places[end].key - places[i].key < LARGEST)
            end++;
        struct histogram h = {.low = places[i].key, .high = places[end - 1].key + 1, .width = 8};
        h.bins = (uint32_t)(h.high - h.low);
        strcpy(h.dimension, "seconds");
        h.abbreviation = 's';
        histogram_alloc(&h);
        for (; i < end; i++)
            histogram_add(&h, (uint32_t)(places[i].key - h.low),
                          (uint64_t)llround(r->weights.node[places[i].item] * counts));
        vec_push(&r->profile.histograms, h);
    }
    arena_deinit(&scratch);
}

/* --- all together ---------------------------------------------------------------------------- */

/* All keys that the recording has, for a message about a missing one. */
static const char *recorded_label_keys(struct recorded *r)
{
    const struct recording *recording = &r->recording;
    struct intern keys = {0};
    const char *text = NULL;
    for (size_t i = 0; i < recording->labels.len; i++)
        intern_kept(&keys, recording->labels.at[i].key, strlen(recording->labels.at[i].key));
    for (size_t i = 0; i < keys.texts.len; i++)
        text =
            arena_printf(&r->arena, "%s%s%s", text ? text : "", text ? ", " : "", keys.texts.at[i]);
    intern_deinit(&keys);
    return text;
}

/* Sets of labels; fails if the recording has none with such a key, or none with all of the values.
 */
static bool recorded_choose_labels(struct recorded *r, const struct recorded_filter *f,
                                   struct err *e)
{
    const struct recording *recording = &r->recording;
    size_t len = f->labels_len;
    struct recording_label *asked = ARENA_NEW(&r->arena, struct recording_label, len + 1);
    for (size_t i = 0; i < len; i++) {
        const char *equals = strchr(f->labels[i], '=');
        asked[i].key = arena_copy(&r->arena, f->labels[i], (size_t)(equals - f->labels[i]));
        asked[i].value = equals + 1;
    }
    asked[len].key = f->by_label;
    for (size_t i = 0; i < len + (f->by_label != NULL); i++) {
        bool has_key = false;
        for (uint32_t k = 0; k < recording->label_sets.len && !has_key; k++)
            has_key = recording_label_value(recording, k, asked[i].key) != NULL;
        if (has_key)
            continue;
        const char *keys = recorded_label_keys(r);
        return keys ? err_set(e, "the recording has no label '%s'; it has %s", asked[i].key, keys)
                    : err_set(e, "the recording has no labels: its programs published none");
    }
    if (!len)
        return true;
    bool has_any = false;
    r->choice.labels = recording_choose_labels(recording, asked, len, &r->arena);
    for (uint32_t k = 0; k < recording->label_sets.len; k++)
        has_any |= r->choice.labels[k];
    return has_any || err_set(e, "no sample of the recording has the label %s; see --by-label %s",
                              f->labels[len - 1], asked[len - 1].key);
}

/* Fills r->choice: event, threads, labels and windows of time. An empty choice means all. */
static bool recorded_choose(struct recorded *r, const struct recorded_filter *f, struct err *e)
{
    if (!recorded_choose_event(r, f->has_latency ? PARALLELISM_EVENT : f->event, e))
        return false;
    if (!recorded_choose_labels(r, f, e))
        return false;
    bool *threads = ARENA_NEW(&r->arena, bool, r->recording.threads.len), has_any = false;
    bool has_thread = !f->named_thread;
    if (f->pid || f->program || f->named_thread) {
        bool *processes = ARENA_NEW(&r->arena, bool, r->recording.processes.len);
        for (size_t i = 0; i < r->recording.processes.len; i++) {
            const struct recording_process *p = &r->recording.processes.at[i];
            processes[i] = (!f->pid || p->pid == f->pid) &&
                           (!f->program || recorded_is_program(r, p, f->program));
            has_any |= processes[i];
        }
        for (size_t i = 0; i < r->recording.threads.len; i++) {
            const struct recording_thread *t = &r->recording.threads.at[i];
            threads[i] = processes[t->process] && (!f->has_thread || t->tid == f->thread) &&
                         (!f->named_thread || recorded_is_thread(t, f->named_thread));
            has_thread |= threads[i];
        }
        r->choice.threads = threads;
        if (has_any && !has_thread)
            return err_set(e, "the recording has no thread '%s'; see 'monarc flat --by-thread'",
                           f->named_thread);
        if (!has_any && f->program)
            return err_set(e, "no process of the recording ran '%s'; see --by-process", f->program);
        if (!has_any)
            return err_set(e, "the recording has no process %" PRIu32 "; see --by-process", f->pid);
    }
    struct recording_window w = {0, UINT64_MAX, RECORDING_NONE};
    if (f->has_from)
        w.from_ns = (uint64_t)fmin(f->from * 1e9, 1e18);
    if (f->has_to)
        w.to_ns = (uint64_t)fmin(f->to * 1e9, 1e18);
    if (w.from_ns > w.to_ns)
        return err_set(e, "--from %g is later than --to %g", f->from, f->to);
    if (f->phase)
        return recorded_choose_phase(r, f, w, e);
    if (f->has_from || f->has_to)
        recorded_choose_window(r, w);
    return true;
}

const struct call_frames *recorded_frames(const struct recorded *r)
{
    return r->named.functions.len > r->named.first_inlined ? &r->named.frames : NULL;
}

/* Functions and their callees in another event, by its stacks. Where neither totals nor inlined
 * functions are wanted, one pass over the nodes is enough. */
static void recorded_weigh_other(struct recorded *r, const struct functions *f,
                                 const struct recording_weights *weights, bool has_totals,
                                 struct other_measure *other)
{
    struct stacks stacks;
    other->samples = weights->total;
    if (has_totals || r->named.functions.len) {
        stacks_measure(&stacks, &r->space, f, recorded_frames(r), weights->node, &r->arena);
        other->self = stacks.self;
        other->totals = has_totals ? stacks.inclusive : NULL;
        return;
    }
    other->self = ARENA_NEW(&r->arena, double, f->len);
    for (uint32_t node = 1; node < r->recording.nodes.len; node++)
        if (!space_is_cut(&r->space, node))
            other->self[space_function_of(&r->space, node)] += weights->node[node];
}

/* Counted calls of a mean run: whole numbers, as their sums are to stay sums, and what was called
 * at all is still called. Times are divided where they get their unit (session.c). */
static void recorded_take_mean_of_calls(struct recording *r)
{
    uint64_t runs = recording_count(r);
    /* `(sum % runs >= runs - runs / 2)` rounds half up. */
    if (runs == 1)
        return;
    recording_sum_calls(r);
    for (size_t i = 0; i < r->arcs.len; i++) {
        uint64_t sum = r->arcs.at[i].count, mean = sum / runs + (sum % runs >= runs - runs / 2);
        r->arcs.at[i].count = mean ? mean : sum > 0;
    }
    for (size_t i = 0; i < r->blocks.len; i++) {
        uint64_t sum = r->blocks.at[i].count, mean = sum / runs + (sum % runs >= runs - runs / 2);
        r->blocks.at[i].count = mean ? mean : sum > 0;
    }
}

/* Times along stacks, and how sure they are, which takes longer. */
static void recorded_measure(struct recorded *r, const struct functions *f, bool no_errors)
{
    const struct call_frames *frames = recorded_frames(r);
    const double *weights = r->weights.node;
    struct stacks *t = &r->stacks;
    if (no_errors) {
        stacks_measure(t, &r->space, f, frames, weights, &r->arena);
        return;
    }
    stacks_measure_both(t, &r->space, f, frames, &r->choice, weights, &r->arena);
    stacks_measure_between(t, &r->space, f, frames, &r->choice, weights, &r->arena);
}

/* Of the objects by number; NULL elements: not to be had. */
static struct object **recorded_object_files(struct recorded *r)
{
    struct object **files = ARENA_NEW(&r->arena, struct object *, r->space.len);
    for (uint32_t i = 0; i < r->space.len; i++)
        files[i] = r->space.objects[i].file;
    return files;
}

/* Reads from top to bottom as the picture above: periods, choice, files, functions, weights,
 * stacks, summary. */
bool recorded_resolve(struct recorded *r, const char *name, const struct recorded_options *o,
                      struct functions *f, struct err *e)
{
    struct err why = {0};
    /* Events whose samples have no usual weight get the mean of what there is, so that a sample is
     * one on average. */
    for (uint32_t i = 0; i < r->recording.events.len; i++) {
        uint64_t weight = 0, count = 0;
        for (size_t k = 0; k < r->recording.samples.len && !r->recording.events.at[i].period; k++) {
            weight += r->recording.samples.at[k].event == i ? r->recording.samples.at[k].weight : 0;
            count += r->recording.samples.at[k].event == i ? r->recording.samples.at[k].count : 0;
        }
        if (!r->recording.events.at[i].period)
            r->recording.events.at[i].period = count && weight > count ? weight / count : 1;
    }
    recorded_take_mean_of_calls(&r->recording);
    if (o->filter.by_label && !o->shows_labels)
        recording_add_label_frames(&r->recording, o->filter.by_label);
    if (o->filter.has_latency && !parallelism_add_event(&r->recording, o->filter.event, &why))
        return err_in(e, name, "%s", why.line);
    if (!recorded_choose(r, &o->filter, &why) ||
        !space_lay_out(&r->space, &r->recording, &r->arena, &why))
        return err_in(e, name, "%s", why.line);
    for (uint32_t i = 0; i < r->space.len; i++) {
        struct space_object *object = &r->space.objects[i];
        if (object->is_used && object->recorded->kind == RECORDING_OBJECT_FILE &&
            !recorded_open_file(r, object, o, e))
            return false;
    }
    /* Old and foreign recordings may not say for which machine they are. */
    const struct object *program =
        r->space.main == RECORDING_NONE ? NULL : r->space.objects[r->space.main].file;
    if (!r->recording.machine && program)
        r->recording.machine = object_machine(program);
    r->space.keeps_pieces = o->keeps_pieces;
    space_functions(&r->space, f, &r->arena);
    recording_weigh(&r->weights, &r->recording, &r->choice, &r->arena);
    /* A monitor outside measures its own recorder inside the program as well; that time is not the
     * program's. */
    if (r->recording.method != RECORDING_METHOD_PROCESS)
        summary_set_profiler_aside(&r->weights, &r->space, f);
    if (o->names_inlined) {
        /* Adds the inlined functions of all nodes to the table. */
        struct functions *found = ARENA_NEW(&r->arena, struct functions, 1);
        *found = *f;
        named_frames_make(&r->named,
                          &(struct call_frames_input){.recording = &r->recording,
                                                      .functions = found,
                                                      .function = r->space.function,
                                                      .files = recorded_object_files(r),
                                                      .is_piece = r->space.is_piece},
                          &r->arena);
        *f = r->named.functions;
    }
    recorded_measure(r, f, o->no_errors);
    /* Code by the functions that have symbols, whatever was inlined into them. */
    r->host_self = r->stacks.self;
    if (r->named.functions.len) {
        r->host_self = ARENA_NEW(&r->arena, double, f->len);
        for (uint32_t node = 1; node < r->recording.nodes.len; node++)
            if (!space_is_cut(&r->space, node))
                r->host_self[space_function_of(&r->space, node)] += r->weights.node[node];
    }
    recording_summarize(&r->summary, &r->recording, &r->choice, &r->weights,
                        recorded_chosen_text(r, &o->filter), &r->arena);
    if (o->filter.has_latency) {
        parallelism_measure(&r->parallelism, &r->recording, &r->choice, &r->arena);
        r->summary.parallelism = &r->parallelism;
    }
    if (o->filter.has_latency || (!o->filter.event && r->recording.events.len >= 2)) {
        r->others.at = ARENA_NEW(&r->arena, struct other_measure, r->recording.events.len);
        for (uint32_t i = 0; i < r->recording.events.len; i++) {
            struct recording_choice other_choice = r->choice;
            struct recording_weights other_weights;
            bool is_known = strcmp(r->recording.events.at[i].name, PARALLELISM_CPU_EVENT) != 0;
            if (i == r->choice.event || (o->filter.has_latency && is_known))
                continue;
            other_choice.event = i;
            recording_weigh(&other_weights, &r->recording, &other_choice, &r->arena);
            struct other_measure *other = &r->others.at[r->others.len++];
            other->name = r->recording.events.at[i].name;
            recorded_weigh_other(r, f, &other_weights, o->totals_others, other);
        }
    }
    /* Of a program whose file is not known its name is, at most. */
    if (r->recording.processes.len && *r->recording.processes.at[0].name)
        name = r->recording.processes.at[0].name;
    r->summary.path =
        r->space.main == RECORDING_NONE ? name : r->recording.objects.at[r->space.main].path;
    space_add_calls(&r->space, &r->profile);
    if (o->places_samples)
        recorded_place_samples(r, f);
    return true;
}

bool recorded_open(struct recorded *r, char *const *folders, size_t len,
                   const struct recorded_options *o, struct functions *f, struct err *e)
{
    return recorded_read_all(folders, len, &o->read, &r->recording, e) &&
           recorded_resolve(r, folders[0], o, f, e);
}

/* --- completing ------------------------------------------------------------------------------- */

/* The calls of recorders inside are needed to know which functions to describe, but they lie in
 * folders of their own and are not to be written twice: what was in the recording is put back
 * afterwards. */
bool recorded_complete(struct recording *r, const char *folder, const struct profile_options *o,
                       struct symbol_files *files, uint64_t most_ns, struct recorded_symbols *out,
                       struct err *e)
{
    struct recording own = {0};
    size_t losses = r->losses.len;
    vec_copy(&own.arcs, &r->arcs);
    vec_copy(&own.blocks, &r->blocks);
    bool ok = recorded_add_calls(folder, o, r, e);
    if (ok)
        recorded_add_symbols(r, files, most_ns, out);
    vec_free(&r->arcs);
    vec_free(&r->blocks);
    r->arcs.at = own.arcs.at, r->arcs.len = own.arcs.len, r->arcs.cap = own.arcs.cap;
    r->blocks.at = own.blocks.at, r->blocks.len = own.blocks.len, r->blocks.cap = own.blocks.cap;
    r->losses.len = losses;
    return ok;
}

/* --- what is missing ------------------------------------------------------------------------- */

/* The advice depends on who took the samples: a file of another profiler may be all there is; one
 * recorder unwinds by tables and the other by frame pointers, which -pg keeps unless it comes with
 * -mfentry (on x86-64, where that is gcc 16's default, the recorder notes what is entered). */
static const char *recorded_why_no_callers(const struct recording *r, const struct object *program)
{
    if (recording_text(r, "perf"))
        return "callers are unknown: perf record --call-graph dwarf records them";
    if (recording_has_names_alone(r))
        return r->arcs.len ? "the file has no stacks: callers are those of the calls it counts"
                           : "callers are unknown: the file has no stacks";
    if (r->method != RECORDING_METHOD_PROCESS)
        return "callers are unknown: record with stacks";
    if (program && !object_has_inside_stacks(program))
        return "callers are unknown: the recorder takes no stacks on 32-bit Arm";
    return "callers are unknown: record with stacks, compile with -fno-omit-frame-pointer";
}

const bool *recorded_spins(struct recorded *r, const struct functions *f)
{
    return schedule_find_spins(&r->recording, recorded_object_files(r), f, r->space.function,
                               &r->arena);
}

/* Sentences for the foot of a report, the most important first: too few samples, no calls, no
 * callers, then what is missing of each object, then what the recorder itself reported. */
void recorded_take_notes(struct recorded *r, bool has_calls)
{
    struct object *program =
        r->space.main == RECORDING_NONE ? NULL : r->space.objects[r->space.main].file;
    bool is_inside = r->recording.method == RECORDING_METHOD_PROCESS;
    const char *maker = recording_is_import(&r->recording) ? "import" : "recorder";
    /* Advice on recording is for who has no samples at all. */
    bool is_elsewhere =
        !r->weights.weight && r->summary.chosen && recording_weight(&r->recording, r->choice.event);
    if (is_elsewhere)
        vec_push(&r->notes, "no samples in the chosen part of the recording");
    else if (!r->weights.weight && r->recording.rate)
        vec_push(&r->notes, arena_printf(&r->arena, "no samples were taken: %s",
                                         recording_more_samples(&r->recording, &r->arena)));
    else if (r->weights.taken && r->weights.effective < VERY_FEW_SAMPLES)
        vec_push(&r->notes,
                 arena_printf(&r->arena, "%" PRIu64 " sample%s little: %s", r->weights.taken,
                              r->weights.taken == 1 ? " says" : "s say",
                              recording_more_samples(&r->recording, &r->arena)));
    if (is_inside && !has_calls && program &&
        (!object_call_counter(program) && !object_mentions(program, "__cyg_profile_func_enter")))
        vec_push(&r->notes, "calls were not counted: the program is not compiled with -pg");
    if (r->weights.weight && r->recording.nodes.len > 1 && stacks_lack_callers(&r->stacks))
        vec_push(&r->notes, recorded_why_no_callers(&r->recording, program));
    const char *what = r->missing_has_names ? "lines or inlined functions" : "symbols";
    if (r->missing) {
        const char *why = access(r->missing, F_OK)
                              ? "no such file"
                              : "the file that ran is gone or could not be read";
        vec_push(&r->notes,
                 r->missing_why
                     ? arena_printf(&r->arena, "no %s of %s", what, r->missing_why)
                     : arena_printf(&r->arena, "no %s of %s: %s", what, r->missing, why));
    }
    if (r->replaced)
        vec_push(&r->notes,
                 arena_printf(&r->arena,
                              "no symbols of %s: the file is not the one that was recorded, and "
                              "the recording has none (--symbols PATH takes those of the old file)",
                              r->replaced));
    if (r->damaged)
        vec_push(&r->notes, r->damaged);
    if (r->without_code)
        vec_push(&r->notes,
                 arena_printf(&r->arena,
                              "no machine code of %s: the recorded file no longer exists",
                              r->without_code));
    if (r->left_out)
        vec_push(&r->notes, arena_printf(&r->arena,
                                         "not all lines of %s are in the recording: time ran out "
                                         "('monarc symbols' adds them)",
                                         r->left_out));
    for (size_t i = 0; i < r->recording.losses.len; i++) {
        const struct recording_loss *l = &r->recording.losses.at[i];
        if (l->kind == RECORDING_LOST_OTHER)
            vec_push(&r->notes, l->ns ? arena_printf(&r->arena, "%s: %s (%.3f s)", maker, l->text,
                                                     (double)l->ns / 1e9)
                                      : arena_printf(&r->arena, "%s: %s (%" PRIu64 ")", maker,
                                                     l->text, l->count));
    }
}

void recorded_close(struct recorded *r)
{
    vec_free(&r->notes);
    for (uint32_t i = 0; i < r->space.len; i++)
        if (r->space.objects[i].file)
            object_close(r->space.objects[i].file);
    symbol_files_free(r->files);
    profile_deinit(&r->profile);
    recording_deinit(&r->recording);
    arena_deinit(&r->arena);
}
