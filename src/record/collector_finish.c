/* A run out of what was collected, and names of files that nobody will find later. */
#include "base/search.h"
#include "base/sort.h"
#include "objfile/object.h"
#include "record/collector_private.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *finish_text(struct recording *out, const char *text)
{
    return arena_copy(&out->arena, text, strlen(text));
}

/* --- files that nobody will find later ------------------------------------------------------- */

/* Addresses of an object that were sampled, in ascending order. */
struct sampled {
    VEC(uint64_t) all;
};

static int finish_by_value(const void *left, const void *right)
{
    uint64_t l = *(const uint64_t *)left, r = *(const uint64_t *)right;
    return (l > r) - (l < r);
}

static struct sampled finish_sampled(const struct collector *c, uint32_t object)
{
    struct sampled s = {0};
    for (size_t i = 1; i < c->tally.nodes.len; i++)
        if (c->tally.nodes.at[i].object == object)
            vec_push(&s.all, c->tally.nodes.at[i].address);
    if (s.all.len)
        qsort(s.all.at, s.all.len, sizeof *s.all.at, finish_by_value);
    return s;
}

static bool finish_has_one(const struct sampled *s, uint64_t start, uint64_t size)
{
    size_t first = PARTITION_POINT(s->all.len, i, s->all.at[i] < start);
    return first < s->all.len && s->all.at[first] - start < size;
}

static void finish_name_file(struct collector *c, uint32_t image, struct recording *out)
{
    struct object *o = c->images.all.at[image]->file;
    struct sampled sampled = finish_sampled(c, image);
    size_t len;
    const struct object_symbol *symbols = object_symbols(o, &len, NULL);
    for (size_t i = 0; i < len && sampled.all.len; i++) {
        const struct object_symbol *s = &symbols[i];
        if ((s->type == SYMBOL_FUNC || s->type == SYMBOL_IFUNC) && s->size &&
            finish_has_one(&sampled, s->address, s->size))
            vec_push(&out->symbols,
                     (struct recording_symbol){image, s->address, s->size,
                                               arena_copy(&out->arena, s->name, strlen(s->name))});
    }
    vec_free(&sampled.all);
}

/* --- the run --------------------------------------------------------------------------------- */

/* Reports compare build-ids of programs, also of those of which no code was sampled. */
static void finish_open_programs(struct collector *c)
{
    for (size_t i = 0; i < c->processes.len; i++) {
        uint32_t program = c->processes.at[i].program;
        if (program != RECORDING_NONE && !c->images.all.at[program]->object.build_id_bytes)
            images_open(&c->images, program);
    }
}

static void finish_objects(struct collector *c, struct recording *out)
{
    finish_open_programs(c);
    for (uint32_t i = 0; i < c->images.all.len; i++) {
        images_look_again(&c->images, i);
        const struct image *image = c->images.all.at[i];
        struct recording_object o = image->object;
        o.path = finish_text(out, o.path);
        vec_push(&out->objects, o);
        bool is_listed =
            o.kind == RECORDING_OBJECT_VDSO || (o.kind == RECORDING_OBJECT_FILE && o.is_deleted);
        if (is_listed && image->file)
            finish_name_file(c, i, out);
    }
    for (size_t i = 1; i < out->nodes.len; i++) {
        struct recording_object *o = &out->objects.at[out->nodes.at[i].object];
        uint64_t address = out->nodes.at[i].address;
        o->low = address < o->low ? address : o->low;
        o->high = address + 1 > o->high ? address + 1 : o->high;
    }
    for (size_t i = 0; i < c->images.all.len; i++) {
        struct recording_object *o = &out->objects.at[i];
        const struct image *image = c->images.all.at[i];
        for (size_t k = 0; k < image->segments.len; k++) {
            const struct image_segment *s = &image->segments.at[k];
            o->low = s->address < o->low ? s->address : o->low;
            o->high = s->address + s->size > o->high ? s->address + s->size : o->high;
        }
        if (o->low > o->high)
            o->low = o->high = 0;
    }
}

static int finish_by_place(const void *left, const void *right)
{
    const struct recording_symbol *l = left, *r = right;
    if (l->object != r->object)
        return l->object < r->object ? -1 : 1;
    return (l->start > r->start) - (l->start < r->start);
}

static void finish_symbols(struct collector *c, struct recording *out)
{
    collector_code_finish(c, out);
    if (out->symbols.len)
        qsort(out->symbols.at, out->symbols.len, sizeof *out->symbols.at, finish_by_place);
}

#define TOO_FEW "too few for a sample, so that nothing says where they were"

/* Samples say where, the counter how many: each sample stands for its part of the sum. */
static void finish_totals(struct collector *c, struct recording *out)
{
    struct arena scratch = {0};
    uint64_t *sampled = ARENA_NEW(&scratch, uint64_t, c->events.len);
    uint64_t *passed = ARENA_NEW(&scratch, uint64_t, c->events.len);
    uint64_t *given = ARENA_NEW(&scratch, uint64_t, c->events.len);
    for (size_t i = 0; i < out->samples.len; i++)
        if (out->samples.at[i].event < c->events.len)
            sampled[out->samples.at[i].event] += out->samples.at[i].weight;
    for (size_t i = 0; i < out->samples.len; i++) {
        struct recording_sample *s = &out->samples.at[i];
        uint64_t total = s->event < c->events.len ? c->totals.at[s->event] : 0;
        if (!total || !s->weight)
            continue;
        passed[s->event] += s->weight;
        double part = (double)passed[s->event] / (double)sampled[s->event];
        uint64_t so_far =
            passed[s->event] == sampled[s->event] ? total : (uint64_t)((double)total * part);
        s->weight = so_far - given[s->event];
        given[s->event] = so_far;
    }
    for (uint32_t i = 0; i < c->events.len; i++)
        if (c->totals.at[i] && !sampled[i])
            vec_push(&out->losses,
                     (struct recording_loss){
                         RECORDING_LOST_OTHER, c->totals.at[i], 0,
                         arena_printf(&out->arena, "%s: %s", c->events.at[i].name, TOO_FEW)});
    arena_deinit(&scratch);
}

void collector_finish(struct collector *c, uint64_t end_ns, struct recording *out)
{
    c->kernel_unseen =
        tally_node(&c->tally, tally_node(&c->tally, RECORDING_ROOT, c->cut, RECORDING_CUT_NO_STACK),
                   c->kernel, RECORDING_KERNEL_UNKNOWN);
    tally_copy(&c->tally, c->young_factor, out);
    finish_totals(c, out);
    finish_objects(c, out);
    finish_symbols(c, out);
    for (size_t i = 0; i < c->processes.len; i++) {
        struct recording_process p = c->processes.at[i];
        p.name = finish_text(out, p.name);
        vec_push(&out->processes, p);
    }
    for (size_t i = 0; i < c->threads.len; i++)
        vec_push(&out->threads, c->threads.at[i]);
    for (size_t i = 0; i < c->events.len; i++) {
        struct recording_event event = c->events.at[i];
        event.name = finish_text(out, event.name);
        vec_push(&out->events, event);
    }
    for (size_t i = 0; i < c->marks.len; i++) {
        struct recording_mark mark = c->marks.at[i];
        mark.name = finish_text(out, mark.name);
        vec_push(&out->marks, mark);
    }
    for (size_t i = 0; i < c->losses.len; i++)
        vec_push(&out->losses, (struct recording_loss){c->losses.at[i].kind, c->losses.at[i].count,
                                                       c->losses.at[i].ns,
                                                       finish_text(out, c->losses.at[i].text)});
    collector_kernel_time(c, out);
    out->stacks = c->stacks;
    out->whole = c->whole;
    out->length_ns = end_ns > c->options.start_ns ? end_ns - c->options.start_ns : 0;
}

/* Time in the kernel where a user may sample user code alone.
 *
 * Its amount is known: what the kernel's counters have of each process, less what samples of user
 * code say, and what was lost of these; it is no more than the kernel's own accounts allow. Its
 * places are estimated from looks, all that is known of them:
 *
 *   - Threads that ran were met in user code or in system calls. The share of the latter in the
 *     CPU time is the share of these looks, and it is divided as they are.
 *   - Page faults were counted, with their stacks. What is left belongs to them, as far as a fault
 *     may reasonably take so long, in proportion to their numbers.
 *
 * Both are taken by program, as many processes are too short to be looked at. What neither of the
 * two explains has no place, and is told as such. It refuses to give a program more than the amount
 * that is known. */

enum {
    SHORTEST_FAULT_NS = 100,
    LONGEST_FAULT_NS = 5000,
    TICK_NS = 10 * 1000 * 1000, /* at most: how often the kernel asks whose time it is */
    TICK_ERRORS = 3,            /* standard errors of that */
    ERRORS = 2                  /* standard errors of the looks that are chance */
};

#define KERNEL_UNSEEN                                                                              \
    "time in the kernel, by amount: this user may sample user code only; 'setcap cap_perfmon=ep' " \
    "on monarc, or the sysctl kernel.perf_event_paranoid=1, shows what asked for it"

#define KERNEL_PLACED                                                                          \
    "time in the kernel, which this user may not sample: the amount is the kernel's own, its " \
    "places are estimated from %" PRIu64 " looks, %" PRIu64 " of them in system calls"

#define KERNEL_FAULTS ", and from page faults"

/* The kernel's accounts of the first process, which include what it waited for, and so on; NULL:
 * there are none. */
static const struct recording_process *kernel_accounts(const struct recording *out)
{
    const struct recording_process *first = out->processes.len ? &out->processes.at[0] : NULL;
    const struct recording_process *last = NULL;
    for (size_t i = 0; first && i < out->processes.len; i++)
        if (out->processes.at[i].pid == first->pid && out->processes.at[i].has_cpu)
            last = &out->processes.at[i];
    return last;
}

/* How much of what the counters have is CPU time: they run on while the machine's host runs
 * something else. */
static double kernel_running_share(const struct recording *out)
{
    const struct recording_process *first = kernel_accounts(out);
    uint64_t accounts = first ? first->user_ns + first->system_ns : 0;
    uint64_t counted = recording_cpu(out).others_ns;
    return accounts && accounts < counted ? (double)accounts / (double)counted : 1;
}

/* What the threads of a pid had by the kernel's counters, less what samples of user code say. */
struct kernel_left {
    double ns, user_ns;
    uint32_t thread; /* RUN_NONE: none has told */
    uint32_t last;   /* entry of the pid: programs that it executed share its threads */
};

/* What of the amounts is not the kernel's: samples of user code that were lost, whose time has its
 * own line; and what the kernel itself does not have in its accounts, which a lack of samples is
 * the cause of. Nobody knows in which processes that was. */
static void kernel_leave_out(const struct collector *c, const struct recording *out,
                             struct kernel_left *left)
{
    const struct recording_process *accounts = kernel_accounts(out);
    double all = 0, lost = 0;
    for (size_t i = 0; i < out->processes.len; i++)
        all += left[i].ns;
    for (size_t i = 0; i < c->losses.len; i++)
        lost += (double)c->losses.at[i].ns;
    double rest = all - lost;
    if (accounts && recording_cpu(out).orphans_ns == 0) {
        double system = (double)accounts->system_ns;
        rest = fmin(rest, system + TICK_ERRORS * sqrt((system + TICK_NS) * TICK_NS));
    }
    for (size_t i = 0; i < out->processes.len && all > 0 && rest < all; i++)
        left[i].ns *= fmax(rest, 0) / all;
}

/* Threads that have told, by number; and processes, by the last entry of their pid. */
static struct kernel_left *kernel_left(struct collector *c, const struct recording *out,
                                       struct arena *a)
{
    struct kernel_left *left = ARENA_NEW(a, struct kernel_left, out->processes.len);
    struct map last = {0}, told = {0};
    double running = kernel_running_share(out);
    for (uint32_t i = 0; i < out->processes.len; i++)
        map_set(&last, out->processes.at[i].pid, 0, i);
    for (uint32_t i = 0; i < out->processes.len; i++) {
        left[i].thread = RECORDING_NONE;
        left[i].last = *map_find(&last, out->processes.at[i].pid, 0);
    }
    for (uint32_t i = 0; i < out->threads.len; i++) {
        const struct recording_thread *t = &out->threads.at[i];
        struct kernel_left *l = &left[left[t->process].last];
        if (!t->has_cpu)
            continue;
        map_at(&told, t->tid, out->processes.at[t->process].pid, i, NULL);
        l->ns += (double)t->cpu_ns * running;
        l->thread = l->thread == RECORDING_NONE ? i : l->thread;
    }
    for (size_t i = 0; i < out->samples.len; i++) {
        const struct recording_sample *s = &out->samples.at[i];
        const struct recording_thread *t = &out->threads.at[s->thread];
        if (s->event == 0 && out->nodes.at[s->node].object != c->wait &&
            map_find(&told, t->tid, out->processes.at[t->process].pid)) {
            left[left[t->process].last].ns -= (double)s->weight;
            left[left[t->process].last].user_ns += (double)s->weight;
        }
    }
    map_deinit(&last);
    map_deinit(&told);
    kernel_leave_out(c, out, left);
    return left;
}

/* --- programs -------------------------------------------------------------------------------- */

struct kernel_program {
    double ns;    /* in the kernel: chance makes what is left of a short process too much or too
                     little; only of all processes that ran a program it means something */
    double above; /* what is left of those that have something left */
    double user_ns;
    double looks[COLLECTOR_LOOKS]; /* their weights */
    uint64_t counts[COLLECTOR_LOOKS];
    double placed[COLLECTOR_LOOKS]; /* of `ns`, at the places of such looks */
};

/* The rows of all programs; 0 is for none. */
static struct kernel_program *kernel_programs(const struct recording *out,
                                              const struct kernel_left *left, struct arena *a)
{
    struct kernel_program *all = ARENA_NEW(a, struct kernel_program, out->objects.len + 1);
    for (size_t i = 0; i < out->processes.len; i++) {
        struct kernel_program *p = &all[out->processes.at[i].program + 1];
        p->ns += left[i].ns;
        p->above += left[i].ns > 0 ? left[i].ns : 0;
        p->user_ns += left[i].user_ns;
    }
    return all;
}

static struct kernel_program *kernel_program_of(struct kernel_program *all,
                                                const struct recording *out,
                                                const struct recording_sample *s)
{
    return &all[out->processes.at[out->threads.at[s->thread].process].program + 1];
}

/* How much of a program's time is at the places of either kind. */
static void kernel_divide(struct kernel_program *p)
{
    double seen = p->looks[COLLECTOR_LOOK_CALL] + p->looks[COLLECTOR_LOOK_USER];
    double n = (double)(p->counts[COLLECTOR_LOOK_CALL] + p->counts[COLLECTOR_LOOK_USER]);
    double faults = p->looks[COLLECTOR_LOOK_FAULTS], all_ns = p->ns + p->user_ns;
    if (p->ns <= 0)
        return;
    double share = seen > 0 ? p->looks[COLLECTOR_LOOK_CALL] / seen : 0;
    double chance = n > 0 ? ERRORS * sqrt((share * (1 - share) + 1 / n) / n) * all_ns : 0;
    double calls_ns = fmin(share * all_ns, p->ns);
    double faults_ns = fmax(p->ns - calls_ns, faults * SHORTEST_FAULT_NS);
    faults_ns = fmin(fmin(faults_ns, faults * LONGEST_FAULT_NS), p->ns);
    if (calls_ns > 0 && p->ns - faults_ns <= calls_ns + chance)
        calls_ns = p->ns - faults_ns;
    p->placed[COLLECTOR_LOOK_CALL] = fmin(calls_ns, p->ns - faults_ns);
    p->placed[COLLECTOR_LOOK_FAULTS] = faults_ns;
}

/* --- looks ----------------------------------------------------------------------------------- */

struct kernel_looks {
    VEC(struct recording_sample) at; /* `event` is enum collector_probe */
};

static struct kernel_looks kernel_take_looks(struct recording *out)
{
    struct kernel_looks looks = {0};
    size_t kept = 0;
    for (size_t i = 0; i < out->samples.len; i++) {
        struct recording_sample s = out->samples.at[i];
        if (s.event < COLLECTOR_LOOK_EVENT) {
            out->samples.at[kept++] = s;
            continue;
        }
        s.event -= COLLECTOR_LOOK_EVENT;
        vec_push(&looks.at, s);
    }
    out->samples.len = kept;
    return looks;
}

/* --- samples --------------------------------------------------------------------------------- */

static uint64_t kernel_place(struct recording *out, struct kernel_program *all,
                             const struct kernel_looks *looks, uint64_t counts[COLLECTOR_LOOKS])
{
    uint64_t placed = 0;
    for (size_t i = 0; i < looks->at.len; i++) {
        struct recording_sample s = looks->at.at[i];
        const struct kernel_program *p = kernel_program_of(all, out, &s);
        counts[s.event] += s.count;
        if (s.event == COLLECTOR_LOOK_USER || !p->looks[s.event])
            continue;
        double ns = (double)s.weight * p->placed[s.event] / p->looks[s.event];
        s.event = 0;
        s.weight = (uint64_t)(ns + 0.5);
        placed += s.weight;
        if (s.weight)
            vec_push(&out->samples, s);
    }
    return placed;
}

/* Of what has no place, each process gets its part. */
static double kernel_leave(struct collector *c, struct recording *out,
                           const struct kernel_left *left, const struct kernel_program *all,
                           uint32_t slice)
{
    double sum = 0;
    for (size_t i = 0; i < out->processes.len; i++) {
        const struct kernel_program *p = &all[out->processes.at[i].program + 1];
        double unplaced = p->ns;
        for (int kind = 0; kind < COLLECTOR_LOOKS; kind++)
            unplaced -= p->placed[kind];
        if (left[i].ns <= 0 || unplaced <= 0 || left[i].thread == RECORDING_NONE)
            continue;
        double ns = left[i].ns * unplaced / p->above;
        sum += ns;
        if (ns >= 1)
            vec_push(&out->samples, (struct recording_sample){.slice = slice,
                                                              .thread = left[i].thread,
                                                              .node = c->kernel_unseen,
                                                              .weight = (uint64_t)ns,
                                                              .count = 1});
    }
    return sum;
}

static void kernel_tell(struct recording *out, uint64_t placed,
                        const uint64_t counts[COLLECTOR_LOOKS], double unplaced)
{
    if (placed)
        vec_push(&out->losses,
                 (struct recording_loss){
                     RECORDING_LOST_KERNEL,
                     counts[COLLECTOR_LOOK_USER] + counts[COLLECTOR_LOOK_CALL], placed,
                     arena_printf(&out->arena, KERNEL_PLACED "%s",
                                  counts[COLLECTOR_LOOK_USER] + counts[COLLECTOR_LOOK_CALL],
                                  counts[COLLECTOR_LOOK_CALL],
                                  counts[COLLECTOR_LOOK_FAULTS] ? KERNEL_FAULTS : "")});
    if (unplaced >= 1)
        vec_push(&out->losses,
                 (struct recording_loss){RECORDING_LOST_KERNEL, 0, (uint64_t)unplaced,
                                         arena_printf(&out->arena, "%s", KERNEL_UNSEEN)});
}

void collector_kernel_time(struct collector *c, struct recording *out)
{
    struct kernel_looks looks = kernel_take_looks(out);
    struct arena scratch = {0};
    if (c->events.len && c->events.at[0].user_only && c->events.at[0].unit == RECORDING_UNIT_NS) {
        uint64_t counts[COLLECTOR_LOOKS] = {0};
        uint32_t slice = out->samples.len ? out->samples.at[out->samples.len - 1].slice : 0;
        struct kernel_left *left = kernel_left(c, out, &scratch);
        struct kernel_program *all = kernel_programs(out, left, &scratch);
        for (size_t i = 0; i < looks.at.len; i++) {
            const struct recording_sample *s = &looks.at.at[i];
            struct kernel_program *p = kernel_program_of(all, out, s);
            p->looks[s->event] += (double)s->weight;
            p->counts[s->event] += s->count;
        }
        for (size_t i = 0; i < out->objects.len + 1; i++)
            kernel_divide(&all[i]);
        uint64_t placed = kernel_place(out, all, &looks, counts);
        kernel_tell(out, placed, counts, kernel_leave(c, out, left, all, slice));
        tally_sum_up(out);
    }
    vec_free(&looks.at);
    arena_deinit(&scratch);
}
