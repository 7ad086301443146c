/* Listing what there is to zoom into. */
#include "tui/model/parts.h"

#include "profile/analysis/tables.h"

static void take_shares(struct parts *p, const struct shares *t, enum part_kind kind)
{
    for (uint32_t i = 0; i < t->len; i++) {
        const struct share_row *r = &t->rows[i];
        if (r->samples > 0 || kind == PART_PROCESS)
            vec_push(&p->all, (struct part){kind, r->name, r->samples, r->pid, r->thread});
    }
}

/* A process that executed another program has several rows, and one number. */
static void merge_processes(struct parts *p, size_t first)
{
    size_t kept = first;
    for (size_t i = first; i < p->all.len; i++) {
        size_t same = first;
        while (same < kept && p->all.at[same].pid != p->all.at[i].pid)
            same++;
        if (same < kept)
            p->all.at[same].samples += p->all.at[i].samples;
        else
            p->all.at[kept++] = p->all.at[i];
    }
    p->all.len = kept;
}

void parts_make(struct parts *p, struct measurement *m)
{
    const struct session *s = &m->session;
    const struct recording_summary *run = s->summary.run;
    struct arena *a = &m->session.arena;
    struct shares t;
    if (!run)
        return;
    vec_push(&p->all, (struct part){PART_ALL, "everything", s->summary.samples, 0, 0});
    for (uint32_t i = 0; i < run->programs_len; i++)
        vec_push(&p->all, (struct part){PART_PROGRAM, run->programs[i].name,
                                        run->programs[i].samples, 0, 0});
    size_t first = p->all.len;
    shares_by_process(&t, &s->summary, &s->recorded.choice, a);
    take_shares(p, &t, PART_PROCESS);
    merge_processes(p, first);
    shares_by_thread(&t, &s->summary, &s->recorded.space, &s->functions, &s->recorded.choice, a);
    take_shares(p, &t, PART_THREAD);
    shares_by_object(&t, &s->summary, &s->recorded.space, &s->graph, a);
    take_shares(p, &t, PART_OBJECT);
}

void parts_deinit(struct parts *p)
{
    vec_free(&p->all);
}

void part_filter(const struct part *p, struct recorded_filter *f)
{
    if (p->kind == PART_PROGRAM)
        f->program = p->name;
    if (p->kind == PART_PROCESS || p->kind == PART_THREAD)
        f->pid = p->pid;
    if (p->kind == PART_THREAD) {
        f->has_thread = true;
        f->thread = p->tid;
    }
}
