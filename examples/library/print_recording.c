/* Prints a recording of `monarc run`: its processes, and for each object how long its code ran,
 * alone and with what it called.
 *
 *     cc print_recording.c $(pkg-config --cflags --libs monarc) -o print_recording
 *     ./print_recording prog.monarc/monarc.side */
#include <monarc/recording.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST_FRAMES = 1024 };

struct times {
    uint64_t self, total;
    size_t last; /* sample that counted it, plus 1 */
};

static void print_processes(const struct monarc_recording *r, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        struct monarc_process p;
        if (monarc_recording_get_process(r, i, &p))
            printf("process %" PRIu32 " %s%s\n", p.pid, p.name ? p.name : "?",
                   p.why_unseen ? " (not recorded)" : "");
    }
}

static void add_sample(const struct monarc_recording *r, size_t number, struct times *times)
{
    struct monarc_sample s;
    struct monarc_event event;
    struct monarc_frame frames[MOST_FRAMES];
    if (!monarc_recording_get_sample(r, number, &s) ||
        !monarc_recording_get_event(r, s.event, &event) || !event.is_time)
        return;
    size_t len = monarc_recording_get_stack(r, s.node, frames, MOST_FRAMES);
    for (size_t i = 0; i < len && i < MOST_FRAMES; i++) {
        struct times *t = &times[frames[i].object];
        t->self += i == 0 ? s.weight : 0;
        t->total += t->last != number + 1 ? s.weight : 0;
        t->last = number + 1;
    }
}

static void print_objects(const struct monarc_recording *r, const struct times *times, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        struct monarc_object o;
        if (times[i].total && monarc_recording_get_object(r, i, &o))
            printf("%10.3f ms self %10.3f ms total  %s\n", (double)times[i].self / 1e6,
                   (double)times[i].total / 1e6, o.path ? o.path : "(no file)");
    }
}

int main(int argc, char **argv)
{
    struct monarc_error e;
    struct monarc_recording_facts facts;
    struct monarc_recording *r = monarc_recording_new(NULL, &e);
    struct monarc_source in = monarc_source_from_path(argc > 1 ? argv[1] : "monarc.side");
    if (!r || !monarc_recording_read(r, &in, &e)) {
        fprintf(stderr, "%s\n", e.text);
        monarc_recording_free(r);
        return 1;
    }
    monarc_recording_get_facts(r, &facts);
    printf("%zu processes, %zu threads, %zu samples\n", facts.processes, facts.threads,
           facts.samples);
    print_processes(r, facts.processes);
    struct times *times = (struct times *)calloc(facts.objects + 1, sizeof *times);
    for (size_t i = 0; times && i < facts.samples; i++)
        add_sample(r, i, times);
    if (times)
        print_objects(r, times, facts.objects);
    free(times);
    monarc_recording_free(r);
    return 0;
}
