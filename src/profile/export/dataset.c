/* A file of a dataset: the samples of one recording as rows that stand for themselves among
 * millions of others.
 *
 * A row is a stack with what one thread spent in it in one slice of time (output/parquet.c has the
 * columns). Profiles without threads have rows with process and thread 0. One pass over the parts,
 * which are in the order of frames. */
#include "profile/export/exports.h"

#include "output/formats.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Who ran it and when: of a part, or of a profile that has neither. `number` has room for a rank as
 * a text. */
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
    size_t len = !o                                           ? 0
                 : o->build_id_len < RECORDING_BUILD_ID_BYTES ? o->build_id_len
                                                              : RECORDING_BUILD_ID_BYTES;
    bytes_hex(id, o ? o->build_id : NULL, len);
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

/* ---- Datasets of calls: questions about what a function costs with all that it calls need no
 * stacks then, of which a fleet has hundreds of millions of frames.
 *
 *     caller   function   self   total
 *              parse        10       0     one row a function, without a caller: its own time
 *     main     parse         0      70     one row a caller: what it cost, callees included
 *
 * So `self` adds up to all time, and `total` of a function to its time with callees, recursion
 * once: what the callers do not account for, as of main, is in the row without a caller. */

enum {
    CALL_HOST,
    CALL_COMMIT,
    CALL_EVENT,
    CALL_UNIT,
    CALL_CALLER,
    CALL_FUNCTION,
    CALL_OBJECT,
    CALL_SELF,
    CALL_TOTAL
};

static const struct parquet_column CALL_COLUMNS[] = {
    [CALL_HOST] = {"host", PARQUET_TEXT},     [CALL_COMMIT] = {"commit", PARQUET_TEXT},
    [CALL_EVENT] = {"event", PARQUET_TEXT},   [CALL_UNIT] = {"unit", PARQUET_TEXT},
    [CALL_CALLER] = {"caller", PARQUET_TEXT}, [CALL_FUNCTION] = {"function", PARQUET_TEXT},
    [CALL_OBJECT] = {"object", PARQUET_TEXT}, [CALL_SELF] = {"self", PARQUET_NUMBER},
    [CALL_TOTAL] = {"total", PARQUET_NUMBER}};

/* `caller` NULL: the function's own row. */
static void dataset_call(struct parquet *p, const struct exchange *x,
                         const struct dataset_facts *facts, const char *host,
                         const struct exchange_function *caller, const struct exchange_function *f,
                         uint64_t total)
{
    const char *texts[] = {[CALL_HOST] = host,
                           [CALL_COMMIT] = facts->commit,
                           [CALL_EVENT] = x->event,
                           [CALL_UNIT] = x->unit,
                           [CALL_CALLER] = caller ? caller->name : NULL,
                           [CALL_FUNCTION] = f->name,
                           [CALL_OBJECT] =
                               f->object < x->objects.len ? x->objects.at[f->object].path : NULL};
    for (size_t i = CALL_HOST; i <= CALL_OBJECT; i++)
        parquet_text(p, i, texts[i] ? texts[i] : "", texts[i] ? strlen(texts[i]) : 0);
    parquet_number(p, CALL_SELF, caller ? 0 : f->self);
    parquet_number(p, CALL_TOTAL, total);
    parquet_row(p);
}

void parquet_dataset_calls_export(struct out *out, const struct exchange *x,
                                  const struct dataset_facts *facts)
{
    struct arena scratch = {0};
    struct parquet p;
    const struct recording *r = x->summary->run ? x->summary->run->recording : NULL;
    const char *host = facts->host ? facts->host : r && r->ranks.len ? r->ranks.at[0].host : NULL;
    uint64_t *called = ARENA_NEW(&scratch, uint64_t, x->functions.len + 1);
    parquet_begin(&p, out, CALL_COLUMNS, sizeof CALL_COLUMNS / sizeof *CALL_COLUMNS);
    for (size_t i = 0; i < x->arcs.len; i++) {
        const struct exchange_arc *arc = &x->arcs.at[i];
        called[arc->callee] += arc->cost;
        if (arc->cost)
            dataset_call(&p, x, facts, host, &x->functions.at[arc->caller],
                         &x->functions.at[arc->callee], arc->cost);
    }
    for (size_t i = 0; i < x->functions.len; i++) {
        const struct exchange_function *f = &x->functions.at[i];
        uint64_t rest = f->total > called[i] ? f->total - called[i] : 0;
        if (f->self || rest)
            dataset_call(&p, x, facts, host, NULL, f, rest);
    }
    parquet_end(&p);
    arena_deinit(&scratch);
}
