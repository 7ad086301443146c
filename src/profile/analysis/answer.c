/* The sentence that every report on a profile opens with: how much was measured, in what time, and
 * which functions lead.
 *
 *     0.262 s of CPU in 0.567 s: 29 % in memmove [libc.so.6], called by copy; 9 % in hash (a.c:7)
 *     0.079 s of CPU and 0.684 s off it (all threads) in 0.347 s: of the CPU, 43 % in parse;
 *     off it, 93 % waiting in futex, called by worker
 *     12.40 s of CPU a run, mean of 5 runs of 12.61 s: 3 % in parse
 *     19.325 s of CPU in 21.073 s, 83 % of it by cc1: 17 % in the kernel (faults and interrupts)
 *
 *     0.007 s of CPU in 0.010 s; too few samples to tell: 3 of 7 in parse (a.c:12)
 *
 * A share has its uncertainty where that is more than a tenth of it. Where it is nearly as large as
 * the share, no share is said, and no second function. Where more waits than works, both are told
 * apart: threads that idle would hide the work. Who called a leading function
 * is the nearest function of the project's own code through which more than half of its time came:
 * from the function up, always to the caller with the most time, as long as the product of their
 * parts says so. What is own, function_is_own() says, as it does for --mine. Cost: a pass over the
 * functions, and one over the calls. */
#include "profile/analysis/summary.h"

#include "base/arena.h"
#include "base/path.h"
#include "profile/analysis/diagnosis.h"
#include "profile/analysis/names.h"
#include "profile/analysis/recording/stacks.h"
#include "profile/analysis/tables.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { MOST_STEPS = 30, NAME_COLUMNS = 50, MOST_BYTES = 100 };
static const double LEADS = 0.05; /* share from which a second function is named */

enum answer_part { ANSWER_ALL, ANSWER_ON_CPU, ANSWER_OFF_CPU };

/* The function with the most self time of a part, but for one; NO_FUNCTION if none has any. */
static uint32_t answer_leader(const struct summary *s, const double *self,
                              const struct functions *f, uint32_t but, enum answer_part part)
{
    uint32_t most = NO_FUNCTION;
    for (uint32_t i = 0; i < f->len; i++) {
        bool counts = i != but && self[i] > 0 && (s->run || !function_is_profiler(f, i));
        if (counts && (most == NO_FUNCTION || self[i] > self[most]) &&
            (part == ANSWER_ALL || (part == ANSWER_OFF_CPU) == function_is_off_cpu(f, i)))
            most = i;
    }
    return most;
}

/* Who called whom, and in which objects. */
struct answer_calls {
    const struct stack_call **most; /* of each function the call with most of its time; or NULL */
    struct object *const *objects;  /* by function.object */
};

/* NO_FUNCTION: none of the project stands out. */
static uint32_t answer_caller(const struct stacks *m, const struct functions *f,
                              const struct answer_calls *c, uint32_t function)
{
    double part = 1;
    for (int step = 0; step < MOST_STEPS && c->most[function] && m->inclusive[function] > 0;
         step++) {
        part *= c->most[function]->inclusive / m->inclusive[function];
        function = c->most[function]->caller;
        if (part <= 0.5)
            return NO_FUNCTION;
        if (function_is_own(f, function, c->objects))
            return function;
    }
    return NO_FUNCTION;
}

/* "parse [libx.so]" */
static const char *answer_name(struct names *names, uint32_t function, struct arena *a)
{
    const char *object = names->functions->at[function].is_made
                             ? NULL
                             : function_object_label(names->functions, function);
    const struct function *at = &names->functions->at[function];
    const char *whole = names_get(names, function);
    bool is_demangled = !at->is_made && strcmp(whole, at->name) != 0;
    const char *name =
        names_within(is_demangled ? names_short_call(whole, a) : whole, NAME_COLUMNS, a);
    size_t len = strlen(name), head = MOST_BYTES / 2, tail = len - head;
    if (len > MOST_BYTES) { /* of a compiler's making: the sentence goes on behind it */
        while (head && (name[head] & 0xc0) == 0x80)
            head--;
        while (tail < len && (name[tail] & 0xc0) == 0x80)
            tail++;
        name = arena_printf(a, "%.*s...%s", (int)head, name, name + tail);
    }
    return object ? arena_printf(a, "%s [%s]", name, object) : name;
}

/* Whether the share says anything: 43 +- 30 % does not. */
static bool answer_is_unsure(const struct summary *s, double self, struct interval i)
{
    return 3 * interval_half(i) >= 2 * summary_share(s, self);
}

static struct interval answer_interval(const struct summary *s, const struct functions *f,
                                       uint32_t function, double self)
{
    bool was_measured = s->measured && s->measured->off_below && function_is_off_cpu(f, function);
    return was_measured ? summary_wait_interval(s, function, self)
                        : summary_self_interval(s, function, self);
}

/* What a share is of: all samples, or those of them on the CPU, or off it. */
struct answer_whole {
    double samples;
    const char *before; /* the share */
};

/* ": 29 % in parse, called by main". Names that were made up for what is no function are words.
 * What cannot be told is too few samples, or else as much time without a place, or a bin of several
 * functions: then the ends of the interval are all that is known. */
static const char *answer_share(const struct summary *s, struct names *names,
                                const struct answer_calls *c, uint32_t function, double self,
                                struct answer_whole whole, struct arena *a)
{
    static const struct {
        const char *name, *words, *also;
    } WORDS[] = {{"[waiting] ", "waiting in ", ""},
                 {"[waiting]", "waiting", ""},
                 {"[ready to run]", "ready to run, without a CPU", ""},
                 {"[stopped]", "stopped", ""},
                 {"[kernel] ", "in the kernel (", ")"},
                 {"[kernel]", "in the kernel", ""}};
    struct interval i = answer_interval(s, names->functions, function, self);
    bool is_unsure = answer_is_unsure(s, self, i);
    double scale = s->samples / whole.samples, share = scale * summary_share(s, self);
    i = (struct interval){scale * i.low, fmin(1, scale * i.high)};
    double half = 100 * interval_half(i);
    const char *name = answer_name(names, function, a), *where = NULL;
    for (size_t k = 0; k < sizeof WORDS / sizeof *WORDS && !where; k++) {
        size_t len = strlen(WORDS[k].name);
        bool is_prefix = WORDS[k].name[len - 1] == ' ';
        if (names->functions->at[function].is_made && !strncmp(name, WORDS[k].name, len) &&
            (is_prefix || !name[len]))
            where = arena_printf(a, "%s%s%s", WORDS[k].words, name + len, WORDS[k].also);
    }
    const char *file;
    uint32_t line;
    if (!where && function_program_place(names->functions, function, c->objects, &file, &line))
        where = arena_printf(a, "in %s (%s:%" PRIu32 ")", name, path_base_name(file), line);
    where = where ? where : arena_printf(a, "in %s", name);
    if (is_unsure && answer_is_unsure(s, self, summary_interval(s, self)))
        return arena_printf(a, "; too few samples to tell: %.0f of %.0f %s", self, whole.samples,
                            where);
    if (is_unsure)
        return arena_printf(a, ": %.0f to %.0f %% %s", 100 * i.low, 100 * i.high, where);
    const char *about =
        interval_matters(i, share) && half >= 0.5 ? arena_printf(a, " +- %.0f", half) : "";
    uint32_t caller =
        c->most ? answer_caller(s->measured, names->functions, c, function) : NO_FUNCTION;
    const char *called = caller == NO_FUNCTION
                             ? ""
                             : arena_printf(a, ", called by %s", answer_name(names, caller, a));
    return arena_printf(a, "%s%.0f%s %% %s%s", whole.before, 100 * share, about, where, called);
}

const char *answer_deadlock(const struct recording *r, struct arena *a)
{
    enum { MOST_NAMED = 3 };
    const char *named[MOST_NAMED], *list = "";
    size_t len = 0;
    bool is_deadlock = false;
    for (size_t i = 0; i < r->links.len; i++) {
        const struct recording_link *l = &r->links.at[i];
        const struct recording_resource *of =
            l->resource == RECORDING_NONE ? NULL : &r->resources.at[l->resource];
        bool is_lock =
            of && (of->kind <= RECORDING_RESOURCE_PI && of->kind != RECORDING_RESOURCE_FUTEX);
        if (l->doing != RECORDING_DOING_CIRCLE || !is_lock)
            continue;
        is_deadlock = true;
        bool is_known = !of->name || len == MOST_NAMED;
        for (size_t k = 0; k < len && !is_known; k++)
            is_known = !strcmp(named[k], of->name);
        if (is_known)
            continue;
        list = arena_printf(a, "%s%s%s", list, len ? ", " : " of ", of->name);
        named[len++] = of->name;
    }
    return is_deadlock ? arena_printf(a, "deadlock%s; ", list) : "";
}

/* Nothing is 0.000 s: what took no time that shows took less than can be shown. */
static const char *answer_seconds(double seconds, struct arena *a)
{
    return seconds < 0.0005 ? "less than 1 ms" : arena_printf(a, "%.3f s", seconds);
}

/* Which program worked most, and how much of the CPU time is its, if it is not the one that was
 * started. */
static const char *answer_program(const struct recording_summary *run, const char *format,
                                  struct arena *a)
{
    const struct recording *r = run->recording;
    const struct recording_program *leads = recording_leading_program(run);
    double all = run->weights->total + run->weights->aside, part = leads ? leads->samples : 0;
    for (uint32_t i = 0; i < run->programs_len; i++)
        all -= run->programs[i].off;
    part -= leads ? leads->off : 0;
    bool is_other = run->programs_len > 1 && r->processes.len && leads &&
                    strcmp(leads->name, recording_program_name(r, &r->processes.at[0])) != 0;
    return is_other && part >= LEADS * all ? arena_printf(a, format, 100 * part / all, leads->name)
                                           : "";
}

/* "0.262 s of CPU in 0.567 s", "4.00 s", "1000 cycles", "400 samples". */
static const char *answer_amount(const struct summary *s, double off, struct arena *a)
{
    const struct recording_summary *run = s->run;
    uint32_t runs = run ? recording_count(run->recording) : 1;
    bool is_time = s->rate > 0 && s->abbreviation == 's';
    bool is_bytes = run && run->event && run->event->unit == RECORDING_UNIT_BYTES;
    if (!is_time && s->rate > 0)
        return arena_printf(a, "%.0f %s%s", summary_time(s, s->samples),
                            is_bytes ? "bytes of " : "", s->dimension);
    if (!is_time)
        return arena_printf(a, "%.0f samples", s->samples);
    const char *ran =
        arena_printf(a, "%s%s", answer_seconds(fmax(0, summary_time(s, s->samples - off)), a),
                     run ? " of CPU" : "");
    if (off > 0)
        ran = arena_printf(a, "%s and %.3f s off it (all threads)", ran, summary_time(s, off));
    if (runs > 1)
        return arena_printf(a, "%s a run, mean of %" PRIu32 " runs of %.3f s", ran, runs,
                            run->elapsed.mean);
    if (!run || run->chosen || !run->recording->length_ns)
        return ran;
    const struct recording *r = run->recording;
    const char *rest = recording_hides_waits(r) ? ", and it waited for the rest" : "";
    if (!*rest && !(off > 0))
        rest = answer_program(run, ", %.0f %% of it by %s", a);
    /* Processes that outlived the program are in the sum, and so is the time that they took. */
    return arena_printf(a, "%s%s in %.3f s%s", answer_deadlock(r, a), ran,
                        (double)recording_last_end_ns(r) / 1e9, rest);
}

void summary_answer(struct summary *s, const struct attribution *t, struct names *names,
                    struct object *const *objects, struct arena *a)
{
    const double *self = s->measured ? s->measured->self : t->self;
    if (!s->has_samples || s->samples <= 0) {
        const struct recording *r = s->run && !s->run->chosen ? s->run->recording : NULL;
        s->answer = s->calls ? arena_printf(a,
                                            "%" PRIu64 " calls along %" PRIu64
                                            " arc%s, and no samples of time",
                                            s->calls, s->arcs, s->arcs == 1 ? "" : "s")
                    : r      ? arena_printf(a, "%s of CPU in %.3f s, and no samples%s",
                                            answer_seconds((double)recording_used_ns(r) / 1e9, a),
                                            (double)r->length_ns / 1e9,
                                       recording_hides_waits(r) ? ": it waited" : "")
                             : "No samples and no calls";
        return;
    }
    const struct functions *f = names->functions;
    double off = 0; /* the CPU */
    for (uint32_t i = 0; s->run && i < f->len; i++)
        off += function_is_off_cpu(f, i) ? self[i] : 0;
    const char *amount = answer_amount(s, off, a);
    uint32_t first = answer_leader(s, self, f, NO_FUNCTION, ANSWER_ALL);
    if (first == NO_FUNCTION) {
        s->answer = arena_printf(a, "%s, none of it in a known function", amount);
        return;
    }
    struct answer_calls calls = {.objects = objects};
    if (s->stacks && s->measured)
        calls.most = ARENA_NEW(a, const struct stack_call *, names->functions->len);
    for (size_t i = 0; calls.most && i < s->measured->calls_len; i++) {
        const struct stack_call *c = &s->measured->calls[i], **known = &calls.most[c->callee];
        if (c->caller != c->callee && (!*known || c->inclusive > (*known)->inclusive))
            *known = c;
    }
    /* As flat has it: shares of the time on the CPU, and of that off it. */
    enum answer_part part = ANSWER_ALL;
    struct answer_whole whole = {s->samples, ": "};
    uint32_t works = answer_leader(s, self, f, NO_FUNCTION, ANSWER_ON_CPU);
    if (off > 0 && works != NO_FUNCTION) {
        const char *program = s->run->chosen ? "" : answer_program(s->run, "%.0f %% by %s, ", a);
        struct answer_whole rest = {off, "; off it, "};
        uint32_t waits = answer_leader(s, self, f, NO_FUNCTION, ANSWER_OFF_CPU);
        bool says_nothing =
            answer_is_unsure(s, self[works], summary_self_interval(s, works, self[works]));
        part = ANSWER_ON_CPU, first = works;
        whole =
            (struct answer_whole){s->samples - off, arena_printf(a, ": of the CPU, %s", program)};
        if (says_nothing && off > whole.samples)
            part = ANSWER_OFF_CPU, first = waits, whole = (struct answer_whole){off, ": off it, "};
        else if (off >= LEADS * s->samples) {
            s->answer = arena_printf(a, "%s%s%s", amount,
                                     answer_share(s, names, &calls, works, self[works], whole, a),
                                     answer_share(s, names, &calls, waits, self[waits], rest, a));
            return;
        }
    }
    s->answer = arena_printf(a, "%s%s", amount,
                             answer_share(s, names, &calls, first, self[first], whole, a));
    uint32_t second = answer_leader(s, self, f, first, part);
    whole.before = "; ";
    if (second != NO_FUNCTION && self[second] >= LEADS * whole.samples &&
        !answer_is_unsure(s, self[first], summary_self_interval(s, first, self[first])) &&
        !answer_is_unsure(s, self[second], summary_self_interval(s, second, self[second])))
        s->answer = arena_printf(a, "%s%s", s->answer,
                                 answer_share(s, names, &calls, second, self[second], whole, a));
}
