/* A run out of what was collected, and names of files that nobody will find later. */
#include "record/collector_private.h"

#include "base/sort.h"
#include "objfile/object.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *finish_text(struct run *out, const char *text)
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
    size_t low = 0, high = s->all.len;
    while (low < high) { /* the first that is not below the start */
        size_t middle = low + (high - low) / 2;
        if (s->all.at[middle] < start)
            low = middle + 1;
        else
            high = middle;
    }
    return low < s->all.len && s->all.at[low] - start < size;
}

static void finish_name_file(struct collector *c, uint32_t image, struct run *out)
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
                     (struct run_symbol){image, s->address, s->size,
                                         arena_copy(&out->arena, s->name, strlen(s->name))});
    }
    vec_free(&sampled.all);
}

/* --- time in the kernel that nobody let us see ----------------------------------------------- */

#define KERNEL_UNSEEN                                                                              \
    "time in the kernel, by amount: this user may sample user code only; 'setcap cap_perfmon=ep' " \
    "on monarc, or the sysctl kernel.perf_event_paranoid=1, shows what asked for it"

/* How much of what the counters have is CPU time: they run on while the machine's host runs
 * something else. The accounts of the first process include what it waited for, and so on. */
static double finish_running_share(const struct run *out)
{
    const struct run_process *first = out->processes.len ? &out->processes.at[0] : NULL;
    uint64_t accounts = 0, counted = run_cpu(out).others_ns;
    for (size_t i = 0; first && i < out->processes.len; i++)
        if (out->processes.at[i].pid == first->pid && out->processes.at[i].has_cpu)
            accounts = out->processes.at[i].user_ns + out->processes.at[i].system_ns;
    return accounts && accounts < counted ? (double)accounts / (double)counted : 1;
}

/* What the threads of a pid had by the kernel's counters, less what samples of user code say. */
struct finish_left {
    double ns;
    uint32_t thread; /* RUN_NONE: none has told */
    uint32_t last;   /* entry of the pid: programs that it executed share its threads */
};

/* Threads that have told, by number; and processes, by the last entry of their pid. */
static struct finish_left *finish_left(struct collector *c, const struct run *out, struct arena *a)
{
    struct finish_left *left = ARENA_NEW(a, struct finish_left, out->processes.len);
    struct map last = {0}, told = {0};
    double running = finish_running_share(out);
    for (uint32_t i = 0; i < out->processes.len; i++)
        *map_at(&last, out->processes.at[i].pid, 0, i, NULL) = i;
    for (uint32_t i = 0; i < out->processes.len; i++) {
        left[i].thread = RUN_NONE;
        left[i].last = *map_find(&last, out->processes.at[i].pid, 0);
    }
    for (uint32_t i = 0; i < out->threads.len; i++) {
        const struct run_thread *t = &out->threads.at[i];
        struct finish_left *l = &left[left[t->process].last];
        if (!t->has_cpu)
            continue;
        map_at(&told, t->tid, out->processes.at[t->process].pid, i, NULL);
        l->ns += (double)t->cpu_ns * running;
        l->thread = l->thread == RUN_NONE ? i : l->thread;
    }
    for (size_t i = 0; i < out->samples.len; i++) {
        const struct run_sample *s = &out->samples.at[i];
        const struct run_thread *t = &out->threads.at[s->thread];
        if (s->event == 0 && out->nodes.at[s->node].object != c->wait &&
            map_find(&told, t->tid, out->processes.at[t->process].pid))
            left[left[t->process].last].ns -= (double)s->weight;
    }
    map_deinit(&last);
    map_deinit(&told);
    return left;
}

/* Chance makes what is left of a short process too much or too little; only of all processes that
 * ran a program it means something. Of that each gets its part. */
static void finish_kernel_time(struct collector *c, struct run *out)
{
    struct arena scratch = {0};
    struct finish_left *left = finish_left(c, out, &scratch);
    double *sum = ARENA_NEW(&scratch, double, out->objects.len + 1), all = 0;
    double *above = ARENA_NEW(&scratch, double, out->objects.len + 1);
    uint32_t slice = out->samples.len ? out->samples.at[out->samples.len - 1].slice : 0;
    for (size_t i = 0; i < out->processes.len; i++) {
        uint32_t program = out->processes.at[i].program + 1; /* none: 0 */
        sum[program] += left[i].ns;
        above[program] += left[i].ns > 0 ? left[i].ns : 0;
    }
    for (size_t i = 0; i < out->processes.len; i++) {
        uint32_t program = out->processes.at[i].program + 1;
        if (left[i].ns <= 0 || sum[program] <= 0 || left[i].thread == RUN_NONE)
            continue;
        double ns = left[i].ns * sum[program] / above[program];
        all += ns;
        vec_push(&out->samples, (struct run_sample){.slice = slice,
                                                    .thread = left[i].thread,
                                                    .node = c->kernel_unseen,
                                                    .weight = (uint64_t)ns,
                                                    .count = 1});
    }
    if (all >= 1)
        vec_push(&out->losses, (struct run_loss){RUN_LOST_KERNEL, 0, (uint64_t)all,
                                                 finish_text(out, KERNEL_UNSEEN)});
    arena_deinit(&scratch);
}

/* --- the run --------------------------------------------------------------------------------- */

/* Reports compare build-ids of programs, also of those of which no code was sampled. */
static void finish_open_programs(struct collector *c)
{
    for (size_t i = 0; i < c->processes.len; i++) {
        uint32_t program = c->processes.at[i].program;
        if (program != RUN_NONE && !c->images.all.at[program]->object.build_id_bytes)
            images_open(&c->images, program);
    }
}

static void finish_objects(struct collector *c, struct run *out)
{
    finish_open_programs(c);
    for (uint32_t i = 0; i < c->images.all.len; i++) {
        images_look_again(&c->images, i);
        const struct image *image = c->images.all.at[i];
        struct run_object o = image->object;
        o.path = finish_text(out, o.path);
        vec_push(&out->objects, o);
        bool is_listed = o.kind == RUN_OBJECT_VDSO || (o.kind == RUN_OBJECT_FILE && o.is_deleted);
        if (is_listed && image->file)
            finish_name_file(c, i, out);
    }
    for (size_t i = 1; i < out->nodes.len; i++) {
        struct run_object *o = &out->objects.at[out->nodes.at[i].object];
        uint64_t address = out->nodes.at[i].address;
        o->low = address < o->low ? address : o->low;
        o->high = address + 1 > o->high ? address + 1 : o->high;
    }
    for (size_t i = 0; i < c->images.all.len; i++) {
        struct run_object *o = &out->objects.at[i];
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
    const struct run_symbol *l = left, *r = right;
    if (l->object != r->object)
        return l->object < r->object ? -1 : 1;
    return (l->start > r->start) - (l->start < r->start);
}

static void finish_symbols(struct collector *c, struct run *out)
{
    collector_code_finish(c, out);
    if (out->symbols.len)
        qsort(out->symbols.at, out->symbols.len, sizeof *out->symbols.at, finish_by_place);
}

void collector_finish(struct collector *c, uint64_t end_ns, struct run *out)
{
    c->kernel_unseen =
        tally_node(&c->tally, tally_node(&c->tally, RUN_ROOT, c->cut, RUN_CUT_NO_STACK), c->kernel,
                   RUN_KERNEL_UNKNOWN);
    tally_copy(&c->tally, c->young_factor, out);
    finish_objects(c, out);
    finish_symbols(c, out);
    for (size_t i = 0; i < c->processes.len; i++) {
        struct run_process p = c->processes.at[i];
        p.name = finish_text(out, p.name);
        vec_push(&out->processes, p);
    }
    for (size_t i = 0; i < c->threads.len; i++)
        vec_push(&out->threads, c->threads.at[i]);
    for (size_t i = 0; i < c->events.len; i++) {
        struct run_event event = c->events.at[i];
        event.name = finish_text(out, event.name);
        vec_push(&out->events, event);
    }
    for (size_t i = 0; i < c->marks.len; i++) {
        struct run_mark mark = c->marks.at[i];
        mark.name = finish_text(out, mark.name);
        vec_push(&out->marks, mark);
    }
    for (size_t i = 0; i < c->losses.len; i++)
        vec_push(&out->losses,
                 (struct run_loss){c->losses.at[i].kind, c->losses.at[i].count, c->losses.at[i].ns,
                                   finish_text(out, c->losses.at[i].text)});
    if (c->events.len && c->events.at[0].user_only && c->events.at[0].unit == RUN_UNIT_NS)
        finish_kernel_time(c, out);
    out->stacks = c->stacks;
    out->whole = c->whole;
    out->length_ns = end_ns > c->options.start_ns ? end_ns - c->options.start_ns : 0;
}
