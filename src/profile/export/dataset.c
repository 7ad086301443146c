/* A file of a dataset: the samples of one recording as rows that stand for themselves among
 * millions of others.
 *
 * A row is a stack with what one thread spent in it in one slice of time. The stack is a list of
 * names, outermost first, so that a name may hold any character, and engines can ask for an
 * element. Service, build and date are in the path of the file (Hive's way), not in the rows:
 * engines make columns of them, and read no file whose path does not match.
 *
 * Profiles that do not tell threads have rows with process and thread 0. What is not known is an
 * empty text or 0. One pass over the parts, which are in the
 * order of frames. */
#include "profile/export/exports.h"

#include "output/formats.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum {
    ROW_HOST,
    ROW_PROCESS,
    ROW_THREAD,
    ROW_RANK,
    ROW_EVENT,
    ROW_UNIT,
    ROW_TIME,
    ROW_FUNCTION,
    ROW_OBJECT,
    ROW_BUILD_ID,
    ROW_FILE,
    ROW_LINE,
    ROW_STACK,
    ROW_SELF
};

/* `rank` is a number as a text, empty outside of parallel jobs; `time_ns` nanoseconds since 1970 of
 * the slice's start; `line` where the function begins. */
static const struct parquet_column COLUMNS[] = {
    [ROW_HOST] = {"host", PARQUET_TEXT},       [ROW_PROCESS] = {"process", PARQUET_NUMBER},
    [ROW_THREAD] = {"thread", PARQUET_NUMBER}, [ROW_RANK] = {"rank", PARQUET_TEXT},
    [ROW_EVENT] = {"event", PARQUET_TEXT},     [ROW_UNIT] = {"unit", PARQUET_TEXT},
    [ROW_TIME] = {"time_ns", PARQUET_NUMBER},  [ROW_FUNCTION] = {"function", PARQUET_TEXT},
    [ROW_OBJECT] = {"object", PARQUET_TEXT},   [ROW_BUILD_ID] = {"build_id", PARQUET_TEXT},
    [ROW_FILE] = {"file", PARQUET_TEXT},       [ROW_LINE] = {"line", PARQUET_NUMBER},
    [ROW_STACK] = {"stack", PARQUET_TEXTS},    [ROW_SELF] = {"self", PARQUET_NUMBER}};

static void dataset_word(struct parquet *p, size_t column, const char *text)
{
    parquet_text(p, column, text ? text : "", text ? strlen(text) : 0);
}

/* Who ran it and when: of a part, or of a profile that tells neither. */
static void dataset_who(struct parquet *p, const struct exchange *x,
                        const struct exchange_part *part, const struct dataset_facts *facts)
{
    const struct recording *r = x->summary->run ? x->summary->run->recording : NULL;
    const struct recording_thread *t = r && part ? &r->threads.at[part->thread] : NULL;
    const struct recording_rank *rank = t ? recording_rank_of(r, t->process) : NULL;
    dataset_word(p, ROW_HOST, facts->host ? facts->host : rank ? rank->host : "");
    parquet_number(p, ROW_PROCESS, t ? r->processes.at[t->process].pid : 0);
    parquet_number(p, ROW_THREAD, t ? t->tid : 0);
    char number[16] = "";
    if (rank)
        snprintf(number, sizeof number, "%" PRIu32, rank->rank);
    dataset_word(p, ROW_RANK, number);
    parquet_number(p, ROW_TIME, r ? r->start_real_ns + (part ? part->slice * r->slice_ns : 0) : 0);
}

/* What ran: the innermost function, and the way to it. */
static void dataset_what(struct parquet *p, const struct exchange *x, const uint32_t *path,
                         uint32_t depth)
{
    const struct exchange_function *f = &x->functions.at[x->frames.at[path[depth]].function];
    const struct exchange_object *o = f->object < x->objects.len ? &x->objects.at[f->object] : NULL;
    char id[2 * RECORDING_BUILD_ID_BYTES + 1] = "";
    for (size_t i = 0; o && i < o->build_id_len && i < RECORDING_BUILD_ID_BYTES; i++)
        snprintf(id + 2 * i, 3, "%02x", o->build_id[i]);
    dataset_word(p, ROW_EVENT, x->event);
    dataset_word(p, ROW_UNIT, x->unit);
    dataset_word(p, ROW_FUNCTION, f->name);
    dataset_word(p, ROW_OBJECT, o ? o->path : "");
    dataset_word(p, ROW_BUILD_ID, id);
    dataset_word(p, ROW_FILE, f->file);
    parquet_number(p, ROW_LINE, f->line);
    parquet_list(p, ROW_STACK, depth);
    for (uint32_t i = 1; i <= depth; i++)
        dataset_word(p, ROW_STACK, x->functions.at[x->frames.at[path[i]].function].name);
}

/* Frames stand in preorder, so that path[1 .. depth] is always the way to the current one; its
 * parts stand together. */
void parquet_dataset_export(struct out *out, const struct exchange *x,
                            const struct dataset_facts *facts)
{
    struct arena scratch = {0};
    struct parquet p;
    uint32_t *path = ARENA_NEW(&scratch, uint32_t, x->frames.len + 1);
    size_t at = 0;
    parquet_begin(&p, out, COLUMNS, sizeof COLUMNS / sizeof *COLUMNS);
    for (uint32_t i = 1; i < x->frames.len; i++) {
        const struct exchange_frame *frame = &x->frames.at[i];
        path[frame->depth] = i;
        if (!x->parts.len && frame->self) {
            dataset_who(&p, x, NULL, facts);
            dataset_what(&p, x, path, frame->depth);
            parquet_number(&p, ROW_SELF, frame->self);
            parquet_row(&p);
        }
        for (; at < x->parts.len && x->parts.at[at].frame <= i; at++) {
            if (x->parts.at[at].frame < i || !x->parts.at[at].self)
                continue;
            dataset_who(&p, x, &x->parts.at[at], facts);
            dataset_what(&p, x, path, frame->depth);
            parquet_number(&p, ROW_SELF, x->parts.at[at].self);
            parquet_row(&p);
        }
    }
    parquet_end(&p);
    arena_deinit(&scratch);
}
