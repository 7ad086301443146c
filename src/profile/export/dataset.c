/* A file of a dataset: the samples of one recording as rows that stand for themselves among
 * millions of others.
 *
 * A row is a stack with what one thread spent in it in one slice of time (output/dataset.c has the
 * columns). Profiles that do not tell threads have rows with process and thread 0. One pass over
 * the parts, which are in the order of frames. */
#include "profile/export/exports.h"

#include "output/formats.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Who ran it and when: of a part, or of a profile that tells neither. `number` has room for a rank
 * as a text. */
static void dataset_who(struct dataset_row *row, const struct exchange *x,
                        const struct exchange_part *part, const struct dataset_facts *facts,
                        char *number, size_t room)
{
    const struct recording *r = x->summary->run ? x->summary->run->recording : NULL;
    const struct recording_thread *t = r && part ? &r->threads.at[part->thread] : NULL;
    const struct recording_rank *rank = t ? recording_rank_of(r, t->process) : NULL;
    row->host = facts->host ? facts->host : rank ? rank->host : "";
    row->process = t ? r->processes.at[t->process].pid : 0;
    row->thread = t ? t->tid : 0;
    row->rank = NULL;
    if (rank) {
        snprintf(number, room, "%" PRIu32, rank->rank);
        row->rank = number;
    }
    row->time_ns = r ? r->start_real_ns + (part ? part->slice * r->slice_ns : 0) : 0;
}

/* What ran: the innermost function, and the way to it. `id` has room for a build-id as text. */
static void dataset_what(struct dataset_row *row, const struct exchange *x, const uint32_t *path,
                         uint32_t depth, char *id)
{
    const struct exchange_function *f = &x->functions.at[x->frames.at[path[depth]].function];
    const struct exchange_object *o = f->object < x->objects.len ? &x->objects.at[f->object] : NULL;
    *id = 0;
    for (size_t i = 0; o && i < o->build_id_len && i < RECORDING_BUILD_ID_BYTES; i++)
        snprintf(id + 2 * i, 3, "%02x", o->build_id[i]);
    row->function = f->name;
    row->object = o ? o->path : NULL;
    row->build_id = id;
    row->file = f->file;
    row->line = f->line;
}

/* Frames stand in preorder, so that path[1 .. depth] is always the way to the current one; its
 * parts stand together. */
void parquet_dataset_export(struct out *out, const struct exchange *x,
                            const struct dataset_facts *facts)
{
    struct arena scratch = {0};
    struct parquet p;
    uint32_t *path = ARENA_NEW(&scratch, uint32_t, x->frames.len + 1);
    const char **stack = ARENA_NEW(&scratch, const char *, x->frames.len + 1);
    char number[16], id[2 * RECORDING_BUILD_ID_BYTES + 1];
    size_t at = 0;
    struct dataset_row row = {.commit = facts->commit,
                              .event = x->event,
                              .unit = x->unit,
                              .period = x->period,
                              .stack = stack + 1};
    parquet_begin(&p, out, dataset_columns, dataset_columns_len);
    for (uint32_t i = 1; i < x->frames.len; i++) {
        const struct exchange_frame *frame = &x->frames.at[i];
        path[frame->depth] = i;
        stack[frame->depth] = x->functions.at[frame->function].name;
        row.depth = frame->depth;
        dataset_what(&row, x, path, frame->depth, id);
        if (!x->parts.len && frame->self) {
            dataset_who(&row, x, NULL, facts, number, sizeof number);
            row.self = frame->self;
            dataset_row_add(&p, &row);
        }
        for (; at < x->parts.len && x->parts.at[at].frame <= i; at++) {
            if (x->parts.at[at].frame < i || !x->parts.at[at].self)
                continue;
            dataset_who(&row, x, &x->parts.at[at], facts, number, sizeof number);
            row.self = x->parts.at[at].self;
            dataset_row_add(&p, &row);
        }
    }
    parquet_end(&p);
    arena_deinit(&scratch);
}
