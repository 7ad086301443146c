/* Handles of notes: their life, reading, converting and writing, what is in them, building.
 *
 * As with counters, texts point into the bytes that were read, which the handle keeps; those of
 * functions that are added are copied into an arena beside them. Converting is writing in another
 * family or for another compiler; what a layout cannot hold is an error, never left out.
 *
 * Functions can be added to notes of the proposal's family (bbg) alone. Arguments are checked in
 * full before the first row is appended; if memory ends in the middle, lists are cut back to their
 * old lengths. Getters hand out pointers into the model, valid until the handle is changed. */
#include "lib/handles.h"

#include "coverage/format/format.h"
#include "coverage/model/coverage.h"

#include <string.h>

_Static_assert(sizeof(struct monarc_flow_arc) == sizeof(struct notes_arc) &&
                   (int)MONARC_ARC_ON_TREE == NOTES_ARC_ON_TREE &&
                   (int)MONARC_ARC_FAKE == NOTES_ARC_FAKE &&
                   (int)MONARC_ARC_FALLTHROUGH == NOTES_ARC_FALLTHROUGH,
               "arcs are the same");

/* Zeroed: no notes, of no origin. */
struct monarc_notes *monarc_notes_new(const struct monarc_memory *memory, struct monarc_error *e)
{
    struct monarc_notes *n = handle_alloc(memory, sizeof *n);
    if (!n) {
        call_fail_memory(e);
        return NULL;
    }
    memset(n, 0, sizeof *n);
    heap_init(&n->heap, memory);
    return n;
}

/* Arena and lists lie in the heap that is given back: they are forgotten, not freed. */
void monarc_notes_clear(struct monarc_notes *n)
{
    heap_release(&n->heap);
    n->texts = (struct arena){0};
    n->bytes = (struct bytes){0};
    memset(&n->notes, 0, sizeof n->notes);
}

/* The memory functions are copied first: they are in the handle that is given back. */
void monarc_notes_free(struct monarc_notes *n)
{
    if (!n)
        return;
    struct monarc_memory memory = n->heap.memory;
    heap_release(&n->heap);
    memory_loose_free(&memory, n);
}

/* ---- files */

/* A read that is going on. */
struct notes_reading {
    struct monarc_notes *n;
    struct call_input in;
    bool is_known;
    struct err why;
};

/* By the bytes: each family has its magic. */
static bool notes_read_notes(void *context)
{
    struct notes_reading *r = context;
    bool is_bbg = bbg_probe(r->in.bytes);
    r->is_known = is_bbg || gcno_probe(r->in.bytes);
    if (!r->is_known)
        return err_in(&r->why, r->in.name, "is not a gcno or bbg file");
    return is_bbg ? bbg_read(r->in.bytes, r->in.name, &r->n->notes, &r->why)
                  : gcno_read(r->in.bytes, r->in.name, &r->n->notes, &r->why);
}

/* On MONARC_BAD_INPUT the functions that were whole are kept. Texts point into the bytes, so that
 * these stay, copied if they were the caller's. */
bool monarc_notes_read(struct monarc_notes *n, const struct monarc_source *in,
                       struct monarc_error *e)
{
    struct notes_reading r = {.n = n};
    monarc_notes_clear(n);
    if (!coverage_read_own(in, &n->heap, &r.in, e)) {
        monarc_notes_clear(n);
        return false;
    }
    enum heap_outcome outcome = heap_run(&n->heap, notes_read_notes, &r);
    if (outcome == HEAP_EXHAUSTED)
        monarc_notes_clear(n);
    return call_result(outcome, r.is_known ? MONARC_BAD_INPUT : MONARC_UNKNOWN_FORMAT, &r.why, e);
}

/* Fills in the lines of functions that the notes have already. */
static bool notes_read_lines(void *context)
{
    struct notes_reading *r = context;
    return bb_lines_read(r->in.bytes, r->in.name, &r->n->notes, &r->why);
}

/* GCC before 3.3 kept lines in a file of their own (.bb beside .bbg): this adds them. */
bool monarc_notes_read_lines(struct monarc_notes *n, const struct monarc_source *in,
                             struct monarc_error *e)
{
    struct notes_reading r = {.n = n};
    if (!n->notes.origin.is_untagged || n->notes.runs.len)
        return call_fail(e, MONARC_MISUSE, "these notes have no lines in another file");
    if (!coverage_read_own(in, &n->heap, &r.in, e))
        return false;
    enum heap_outcome outcome = heap_run(&n->heap, notes_read_lines, &r);
    if (outcome == HEAP_EXHAUSTED)
        monarc_notes_clear(n);
    return call_result(outcome, MONARC_BAD_INPUT, &r.why, e);
}

/* What a conversion changes; texts stay where they are. */
static void notes_copy_notes(struct notes *to, const struct notes *from)
{
    struct notes copy = {.origin = from->origin,
                         .directory = from->directory,
                         .has_unexecuted = from->has_unexecuted,
                         .blocks = from->blocks,
                         .failure = from->failure};
    vec_copy(&copy.functions, &from->functions);
    vec_copy(&copy.arcs, &from->arcs);
    vec_copy(&copy.runs, &from->runs);
    vec_copy(&copy.lines, &from->lines);
    vec_copy(&copy.conditions, &from->conditions);
    vec_copy(&copy.files, &from->files);
    vec_copy(&copy.block_flags, &from->block_flags);
    *to = copy;
}

/* How notes are to be written; is_changed: for another compiler, or out of the other family. */
struct notes_writing {
    const struct notes *notes;
    enum monarc_format format;
    uint32_t version;
    uint8_t byte_order;
    bool is_changed;
};

/* Works on a copy, since conversion changes the model. */
static bool notes_encode_notes(struct call_writing *writing)
{
    const struct notes_writing *how = writing->what;
    struct notes copy;
    notes_copy_notes(&copy, how->notes);
    if (how->format == MONARC_BBG)
        return (copy.origin.family == ARCS_RFC || arcs_notes_to_rfc(&copy, &writing->why)) &&
               bbg_write(&writing->w, &copy, &writing->why);
    if (how->is_changed && !arcs_notes_to_gcov(&copy, how->version, &writing->why))
        return false;
    if (how->byte_order)
        copy.origin.big_endian = how->byte_order == MONARC_BIG_ENDIAN;
    return gcno_write(&writing->w, &copy, &writing->why);
}

/* Without a format, the family that the notes are of. */
bool monarc_notes_write(const struct monarc_notes *n, enum monarc_format format,
                        const struct monarc_arcs_form *form, struct monarc_target *to,
                        struct monarc_error *e)
{
    const struct arcs_origin *origin = &n->notes.origin;
    struct notes_writing how = {.notes = &n->notes,
                                .byte_order = form ? form->byte_order : 0,
                                .is_changed = (form && form->gcc_version) ||
                                              origin->family == ARCS_RFC || !origin->version};
    struct call_writing writing = {.encode = notes_encode_notes, .what = &how};
    how.format = format ? format : origin->family == ARCS_RFC ? MONARC_BBG : MONARC_GCNO;
    if (how.format != MONARC_GCNO && how.format != MONARC_BBG)
        return call_fail(e, MONARC_MISUSE, "this is not a format of notes");
    return coverage_version(origin, form, &how.version, e) &&
           call_write(&writing, &n->heap.memory, to, e);
}

/* ---- what is in them */

/* Of an empty handle, everything is 0. */
void monarc_notes_get_facts(const struct monarc_notes *n, struct monarc_arcs_facts *out)
{
    coverage_facts(&n->notes.origin, true, out);
    out->functions = n->notes.functions.len;
    out->unknown_records = n->notes.unknown_records;
}

/* NULL where the notes name no file. */
static const char *notes_file_of(const struct notes *n, uint32_t file)
{
    return file < n->files.len ? n->files.at[file] : NULL;
}

/* A copy whose texts live until the handle is changed. */
bool monarc_notes_get_function(const struct monarc_notes *n, size_t i, struct monarc_function *out)
{
    if (i >= n->notes.functions.len)
        return false;
    const struct notes_function *f = &n->notes.functions.at[i];
    *out = (struct monarc_function){.name = f->name,
                                    .file = notes_file_of(&n->notes, f->file),
                                    .ident = f->ident,
                                    .lineno_checksum = f->lineno_checksum,
                                    .cfg_checksum = f->cfg_checksum,
                                    .start_line = f->start_line,
                                    .end_line = f->end_line,
                                    .blocks = f->blocks,
                                    .exit = f->exit,
                                    .counters = f->instrumented,
                                    .defect = coverage_defect(f->defect)};
    return true;
}

/* Arcs of one function stand together in the model's list, and have the library's layout: see the
 * assertion above. */
const struct monarc_flow_arc *monarc_notes_get_arcs(const struct monarc_notes *n, size_t function,
                                                    size_t *len)
{
    *len = 0;
    if (function >= n->notes.functions.len)
        return NULL;
    const struct notes_function *f = &n->notes.functions.at[function];
    *len = f->arcs;
    return f->arcs ? (const struct monarc_flow_arc *)(n->notes.arcs.at + f->first_arc) : NULL;
}

/* Run i of the function: lines of one file in one block. */
bool monarc_notes_get_lines(const struct monarc_notes *n, size_t function, size_t i,
                            struct monarc_block_lines *out)
{
    if (function >= n->notes.functions.len || i >= n->notes.functions.at[function].runs)
        return false;
    const struct notes_run *run = &n->notes.runs.at[n->notes.functions.at[function].first_run + i];
    *out = (struct monarc_block_lines){
        .block = run->block,
        .file = notes_file_of(&n->notes, run->file),
        .lines = run->lines ? n->notes.lines.at + run->first : NULL,
        .len = run->lines,
    };
    return true;
}

/* ---- building */

/* A function to be added: its flow graph and, block by block, its lines. */
struct notes_adding {
    struct monarc_notes *n;
    const struct monarc_function *f;
    const struct monarc_flow_arc *arcs;
    size_t arcs_len;
    const struct monarc_block_lines *lines;
    size_t lines_len;
};

/* The number of a source, from the end on, since functions of one file follow each other. */
static uint32_t notes_file_number(struct notes *n, struct arena *texts, const char *file)
{
    for (size_t i = n->files.len; i-- > 0;)
        if (!strcmp(n->files.at[i], file))
            return (uint32_t)i;
    vec_push(&n->files, arena_copy(texts, file, strlen(file)));
    return (uint32_t)n->files.len - 1;
}

/* Lines of blocks, in the caller's order. The first line there is says where the function
 * begins. */
static void notes_add_runs(struct notes_adding *a, struct notes_function *f)
{
    struct notes *n = &a->n->notes;
    f->first_run = (uint32_t)n->runs.len;
    f->file = NO_INDEX;
    for (size_t i = 0; i < a->lines_len; i++) {
        const struct monarc_block_lines *from = &a->lines[i];
        struct notes_run run = {.block = from->block,
                                .first = (uint32_t)n->lines.len,
                                .lines = (uint32_t)from->len,
                                .file = notes_file_number(n, &a->n->texts, from->file)};
        for (size_t k = 0; k < from->len; k++)
            vec_push(&n->lines, from->lines[k]);
        vec_push(&n->runs, run);
        if (f->file == (uint32_t)NO_INDEX && from->len) {
            f->file = run.file;
            f->start_line = from->lines[0];
        }
        f->runs++;
    }
}

/* The arcs off the spanning tree are the ones that have counters: `instrumented` counts them. */
static bool notes_add_function(void *context)
{
    struct notes_adding *a = context;
    struct notes *n = &a->n->notes;
    notes_prepare(n);
    struct notes_function f = {.name = arena_copy(&a->n->texts, a->f->name, strlen(a->f->name)),
                               .lineno_checksum = a->f->lineno_checksum,
                               .ident = name_ident(a->f->name),
                               .blocks = a->f->blocks,
                               .exit = a->f->blocks - 1,
                               .first_block = (uint32_t)n->blocks,
                               .first_arc = (uint32_t)n->arcs.len,
                               .first_condition = (uint32_t)n->conditions.len,
                               .is_arcs_sorted = true};
    for (size_t i = 0; i < a->arcs_len; i++) {
        const struct monarc_flow_arc *from = &a->arcs[i];
        vec_push(&n->arcs, ((struct notes_arc){from->source, from->target, from->flags}));
        f.instrumented += !(from->flags & MONARC_ARC_ON_TREE);
        f.arcs++;
    }
    notes_add_runs(a, &f);
    vec_push(&n->functions, f);
    n->blocks += f.blocks;
    n->origin = (struct arcs_origin){.family = ARCS_RFC,
                                     .version = n->origin.version ? n->origin.version
                                                                  : (uint32_t)BBG_VERSION,
                                     .number = 304,
                                     .has_byte_lengths = true};
    return true;
}

/* Arcs lead from block to block and come in the order of their sources, as the format has them. */
static bool notes_is_graph(const struct notes_adding *a, struct monarc_error *e)
{
    uint32_t before = 0;
    for (size_t i = 0; i < a->arcs_len; i++) {
        if (a->arcs[i].source >= a->f->blocks || a->arcs[i].target >= a->f->blocks)
            return call_fail(e, MONARC_MISUSE, "arc %zu names a block that does not exist", i);
        if (a->arcs[i].source < before)
            return call_fail(e, MONARC_MISUSE, "arc %zu is not in the order of sources", i);
        before = a->arcs[i].source;
    }
    return true;
}

/* Runs of lines come in the order of blocks; a line number is never 0. */
static bool notes_are_lines(const struct notes_adding *a, struct monarc_error *e)
{
    uint32_t before = 0;
    for (size_t i = 0; i < a->lines_len; i++) {
        const struct monarc_block_lines *run = &a->lines[i];
        if (run->block >= a->f->blocks || run->block < before || !run->file || !run->file[0] ||
            run->len > UINT32_MAX)
            return call_fail(e, MONARC_MISUSE, "lines %zu are of no block or file, or out of order",
                             i);
        for (size_t k = 0; k < run->len; k++)
            if (!run->lines[k])
                return call_fail(e, MONARC_MISUSE, "lines count from 1");
        before = run->block;
    }
    return true;
}

/* Back to where it was; appended parts are not read. */
static void notes_cut_back(struct notes *n, const struct notes *was)
{
    n->functions.len = was->functions.len;
    n->arcs.len = was->arcs.len;
    n->runs.len = was->runs.len;
    n->lines.len = was->lines.len;
    n->files.len = was->files.len;
    n->blocks = was->blocks;
}

/* At least two blocks, entry and exit, and arcs enough to connect all of them. */
bool monarc_notes_add_function(struct monarc_notes *n, const struct monarc_function *f,
                               const struct monarc_flow_arc *arcs, size_t arcs_len,
                               const struct monarc_block_lines *lines, size_t lines_len,
                               struct monarc_error *e)
{
    struct notes_adding a = {n, f, arcs, arcs_len, lines, lines_len};
    if (!f || !f->name || !f->name[0] || f->blocks < 2 || arcs_len > UINT32_MAX / 2 ||
        f->blocks > arcs_len + 1)
        return call_fail(e, MONARC_MISUSE,
                         "a function has a name, two blocks at least, and arcs that connect them");
    if (n->notes.origin.version && n->notes.origin.family != ARCS_RFC)
        return call_fail(e, MONARC_UNFIT, "functions can be added to bbg notes only");
    if (!notes_is_graph(&a, e) || !notes_are_lines(&a, e))
        return false;
    struct notes was = n->notes;
    enum heap_outcome outcome = heap_run(&n->heap, notes_add_function, &a);
    if (outcome == HEAP_EXHAUSTED)
        notes_cut_back(&n->notes, &was);
    return outcome == HEAP_TRUE || call_fail_memory(e);
}

/* ---- Shared by handles of notes and counters. */

/* Bytes that are the caller's are copied: the model points into them for as long as the handle
 * lives. */
bool coverage_read_own(const struct monarc_source *in, struct heap *h, struct call_input *out,
                       struct monarc_error *e)
{
    if (!call_read(in, h, out, e))
        return false;
    if (out->bytes.at != in->bytes)
        return true;
    uint8_t *copy = heap_take(h, out->bytes.len);
    if (!copy)
        return call_fail_memory(e);
    memcpy(copy, out->bytes.at, out->bytes.len);
    out->bytes.at = copy;
    return true;
}

/* An origin without version is that of an empty handle. */
void coverage_facts(const struct arcs_origin *origin, bool is_notes, struct monarc_arcs_facts *out)
{
    bool is_rfc = origin->family == ARCS_RFC;
    *out = (struct monarc_arcs_facts){
        .gcc_version = origin->number,
        .is_clang = origin->is_llvm,
        .byte_order = origin->big_endian ? MONARC_BIG_ENDIAN : MONARC_LITTLE_ENDIAN,
        .stamp = origin->stamp,
        .checksum = origin->checksum,
    };
    if (origin->version)
        out->format =
            is_notes ? (is_rfc ? MONARC_BBG : MONARC_GCNO) : (is_rfc ? MONARC_DA : MONARC_GCDA);
}

/* A version is requested as GCC's major times 100 plus minor. One whose files are unknown is
 * refused. */
bool coverage_version(const struct arcs_origin *origin, const struct monarc_arcs_form *form,
                      uint32_t *word, struct monarc_error *e)
{
    unsigned number = form ? form->gcc_version : 0;
    *word =
        origin->family == ARCS_GCOV && origin->version ? origin->version : arcs_version_word(12, 2);
    if (form && form->byte_order > MONARC_BIG_ENDIAN)
        return call_fail(e, MONARC_MISUSE, "invalid byte order");
    if (number)
        *word = arcs_version_word(number / 100, number % 100);
    return dialect_of_word(*word) ||
           call_fail(e, MONARC_MISUSE, "gcc %u.%u is not a version with known files", number / 100,
                     number % 100);
}

const char *coverage_defect(uint8_t defect)
{
    return defect ? arcs_defect_text((enum arcs_defect)defect) : NULL;
}
