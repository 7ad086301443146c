/* Reading, converting, merging and writing gcno, gcda, bbg and da for the commands. */
#include "session/arcs_file.h"

#include "base/path.h"
#include "coverage/analysis/flow.h"
#include "coverage/format/arcs_convert.h"
#include "coverage/format/bbg.h"
#include "profile/format/format.h"
#include "coverage/format/gcov.h"
#include "coverage/model/coverage_merge.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *const NAMES[] = {"none", "gcno", "gcda", "bbg", "da"};

enum { KINDS_LEN = sizeof NAMES / sizeof *NAMES };

enum arcs_kind arcs_kind_of(struct bytes in)
{
    return gcno_probe(in)   ? ARCS_GCNO
           : gcda_probe(in) ? ARCS_GCDA
           : bbg_probe(in)  ? ARCS_BBG
           : da_probe(in)   ? ARCS_DA
                            : ARCS_NONE;
}

bool arcs_file_may_lack_magic(const char *path)
{
    return path_has_suffix(path, ".bbg") || path_has_suffix(path, ".da");
}

static enum arcs_kind arcs_kind_of_whole(const char *path)
{
    struct file_buffer b = {0};
    struct err e;
    enum arcs_kind kind = file_read(path, &b, &e) ? arcs_kind_of(file_bytes(&b)) : ARCS_NONE;
    file_buffer_deinit(&b);
    return kind;
}

enum arcs_kind arcs_kind_of_path(const char *path)
{
    struct stat st;
    uint8_t magic[4];
    if (stat(path, &st) || !S_ISREG(st.st_mode))
        return ARCS_NONE;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t len = fd < 0 ? -1 : read(fd, magic, sizeof magic);
    if (fd >= 0)
        close(fd);
    enum arcs_kind kind =
        len == sizeof magic ? arcs_kind_of((struct bytes){magic, sizeof magic}) : ARCS_NONE;
    return kind || !arcs_file_may_lack_magic(path) ? kind : arcs_kind_of_whole(path);
}

const char *arcs_kind_name(enum arcs_kind kind)
{
    return NAMES[kind];
}

enum arcs_kind arcs_kind_named(const char *name)
{
    for (int i = 1; i < KINDS_LEN; i++)
        if (!strcmp(NAMES[i], name))
            return (enum arcs_kind)i;
    return ARCS_NONE;
}

const char *arcs_path_beside(const char *path, const char *suffix, struct arena *a)
{
    return arena_printf(a, "%.*s.%s", (int)path_stem_length(path), path, suffix);
}

bool arcs_file_read(struct arcs_file *f, const char *name, struct err *e)
{
    return arcs_file_read_as(f, arcs_kind_of(file_bytes(&f->buffer)), name, e);
}

bool arcs_file_read_lines(struct notes *n, struct file_buffer *lines, const char *name,
                          struct err *e)
{
    struct arena scratch = {0};
    if (!n->origin.is_untagged)
        return true;
    const char *path = arcs_path_beside(name, "bb", &scratch);
    lines->len = 0;
    bool ok = file_read_regular(path, lines, e) && bb_lines_read(file_bytes(lines), path, n, e);
    arena_deinit(&scratch);
    return ok;
}

bool arcs_file_read_as(struct arcs_file *f, enum arcs_kind kind, const char *name, struct err *e)
{
    struct bytes in = file_bytes(&f->buffer);
    f->kind = kind;
    f->is_notes = f->kind == ARCS_GCNO || f->kind == ARCS_BBG;
    switch (f->kind) {
    case ARCS_GCNO: return gcno_read(in, name, &f->notes, e);
    case ARCS_GCDA: return gcda_read(in, name, &f->counters, e);
    case ARCS_BBG:
        return bbg_read(in, name, &f->notes, e) &&
               arcs_file_read_lines(&f->notes, &f->lines, name, e);
    case ARCS_DA: return da_read(in, name, &f->counters, e);
    default: return err_in(e, name, "is not a gcno, gcda, bbg or da file");
    }
}

static bool arcs_may_be_arcs(struct bytes first)
{
    return arcs_kind_of(first) != ARCS_NONE;
}

bool arcs_file_fetch(struct arcs_file *f, const char *path, struct err *e)
{
    return arcs_file_may_lack_magic(path) ? file_read(path, &f->buffer, e)
                                          : file_read_if(path, arcs_may_be_arcs, &f->buffer, e);
}

bool arcs_file_load(struct arcs_file *f, const char *path, struct err *e)
{
    return arcs_file_fetch(f, path, e) && arcs_file_read(f, path, e);
}

bool arcs_file_save(const struct arcs_file *f, const char *path, struct err *e)
{
    struct writer w = {0};
    struct err why = {0};
    bool ok = f->kind == ARCS_GCNO   ? gcno_write(&w, &f->notes, &why)
              : f->kind == ARCS_GCDA ? gcda_write(&w, &f->counters, &why)
              : f->kind == ARCS_BBG  ? bbg_write(&w, &f->notes, &why)
                                     : da_write(&w, &f->counters, &why);
    ok = ok ? file_replace(path, (struct bytes){w.out.at, w.out.len}, e)
            : err_in(e, path, "cannot be written as %s: %s", NAMES[f->kind], why.line);
    writer_deinit(&w);
    return ok;
}

void arcs_file_deinit(struct arcs_file *f)
{
    notes_deinit(&f->notes);
    counters_deinit(&f->counters);
    file_buffer_deinit(&f->buffer);
    file_buffer_deinit(&f->lines);
}

/* The notes of counters: named, or beside them with the other suffix. */
static bool arcs_load_notes(struct arcs_file *notes, const struct arcs_request *request,
                            const char *path, struct err *e)
{
    struct arena scratch = {0};
    const char *name = request->notes ? request->notes : arcs_path_beside(path, "gcno", &scratch);
    bool ok = arcs_file_load(notes, name, e) &&
              (notes->kind == ARCS_GCNO || err_in(e, name, "is not a gcno file"));
    arena_deinit(&scratch);
    return ok;
}

static bool arcs_counters_to_da(struct arcs_file *f, struct arcs_file *notes,
                                const struct arcs_request *request, const char *path, struct err *e)
{
    struct err why = {0};
    if (f->kind == ARCS_DA)
        return true;
    if (!arcs_load_notes(notes, request, path, e))
        return false;
    return arcs_counters_to_rfc(&f->counters, &notes->notes, &why) ||
           err_in(e, path, "%s", why.line);
}

/* The notes that say who the functions of a da file are, if there are any: named, or beside it. */
static bool arcs_adopt_notes(struct arcs_file *f, struct arcs_file *notes,
                             const struct arcs_request *request, const char *path, struct err *e)
{
    struct err why = {0};
    struct arena scratch = {0};
    const char *beside = arcs_path_beside(path, "gcno", &scratch);
    bool has_notes = request->notes || arcs_kind_of_path(beside) == ARCS_GCNO;
    arena_deinit(&scratch);
    if (!has_notes)
        return true;
    return arcs_load_notes(notes, request, path, e) &&
           (arcs_counters_adopt(&f->counters, &notes->notes, &why) ||
            err_in(e, path, "%s", why.line));
}

/* Counters of gcc before 3.3 are the functions' of the notes, in their order. */
static bool arcs_share_counters(struct arcs_file *f, struct arcs_file *notes,
                                const struct arcs_request *request, const char *path, struct err *e)
{
    struct err why = {0};
    struct arena scratch = {0};
    const char *beside = arcs_path_beside(path, "bbg", &scratch);
    bool ok =
        arcs_file_load(notes, request->notes ? request->notes : beside, e) &&
        ((notes->is_notes && bb_counters_share(&f->counters, &notes->notes, &why)) ||
         err_in(e, path, "%s", notes->is_notes ? why.line : "the other file is not a notes file"));
    arena_deinit(&scratch);
    return ok;
}

static bool arcs_change_version(struct arcs_file *f, struct arcs_file *notes, enum arcs_kind to,
                                const struct arcs_request *request, const char *path, struct err *e)
{
    struct err why = {0};
    if (f->kind == ARCS_DA && !arcs_adopt_notes(f, notes, request, path, e))
        return false;
    const struct arcs_origin *origin = f->is_notes ? &f->notes.origin : &f->counters.origin;
    uint32_t version = request->version ? request->version : arcs_version_word_for(origin);
    bool is_adopted = f->kind == ARCS_DA && origin->family == ARCS_GCOV;
    return (is_adopted && !request->version) ||
           (to == ARCS_GCNO ? arcs_notes_to_gcov(&f->notes, version, &why)
                            : arcs_counters_to_gcov(&f->counters, version, &why)) ||
           err_in(e, path, "%s", why.line);
}

/* Makes *f a file of the wanted family and version. */
static bool arcs_change(struct arcs_file *f, struct arcs_file *notes,
                        const struct arcs_request *request, const char *path, struct err *e)
{
    struct err why = {0};
    if (request->is_arcs_only)
        arcs_counters_reduce(&f->counters);
    enum arcs_kind to = request->to ? request->to : f->kind;
    if (!f->is_notes && bb_counters_lack_names(&f->counters) &&
        !arcs_share_counters(f, notes, request, path, e))
        return false;
    bool to_notes = to == ARCS_GCNO || to == ARCS_BBG, ok = true;
    if (to_notes != f->is_notes)
        return err_in(e, path, "%s cannot become %s: the one has notes, the other counters",
                      NAMES[f->kind], NAMES[to]);
    if (to == ARCS_DA)
        ok = arcs_counters_to_da(f, notes, request, path, e);
    else if (to == ARCS_BBG && f->kind == ARCS_GCNO)
        ok = arcs_notes_to_rfc(&f->notes, &why) || err_in(e, path, "%s", why.line);
    else if (to != f->kind || request->version)
        ok = arcs_change_version(f, notes, to, request, path, e);
    f->kind = to;
    return ok;
}

/* Of counters that contradict each other, makes the nearest that do not. */
static bool arcs_repair(struct arcs_file *f, struct arcs_file *notes,
                        const struct arcs_request *request, const char *path, struct err *e)
{
    struct flow flow = {0};
    if (f->kind != ARCS_GCDA)
        return err_in(e, path, "only gcda files can be repaired");
    if (!arcs_load_notes(notes, request, path, e))
        return false;
    flow_solve(&notes->notes, &f->counters, &flow);
    flow_repair(&notes->notes, &flow);
    flow_store(&notes->notes, &flow, &f->counters);
    uint64_t left = flow.states[FLOW_DAMAGED], unknown = flow.states[FLOW_UNKNOWN];
    flow_deinit(&flow);
    notes_clear(&notes->notes);
    notes->buffer.len = 0;
    return !(left + unknown) ||
           err_in(e, path,
                  "%" PRIu64 " functions cannot be repaired, %" PRIu64 " do not fit the notes",
                  left, unknown);
}

static void arcs_set_order(struct arcs_file *f, uint8_t order)
{
    if (order != ORDER_UNKNOWN)
        f->notes.origin.big_endian = f->counters.origin.big_endian = order == ORDER_BIG;
}

bool arcs_convert(const struct arcs_request *request, const char *path, struct err *e)
{
    struct arcs_file f = {0}, notes = {0};
    bool ok = arcs_file_load(&f, path, e) &&
              (!request->is_repaired || arcs_repair(&f, &notes, request, path, e)) &&
              arcs_change(&f, &notes, request, path, e);
    if (ok) {
        arcs_set_order(&f, request->byte_order);
        ok = arcs_file_save(&f, request->output, e);
    }
    arcs_file_deinit(&f);
    arcs_file_deinit(&notes);
    return ok;
}

/* Adds one file; its bytes stay, as the sum may point into them. */
static bool arcs_add_file(struct arcs_file *sum, struct arcs_file *one, const char *path,
                          struct err *e)
{
    struct err why = {0};
    if (!arcs_file_load(one, path, e))
        return false;
    if (one->is_notes)
        return err_in(e, path, "is a %s file; only counters can be summed", NAMES[one->kind]);
    if (!sum->kind)
        sum->kind = one->kind;
    if (sum->kind != one->kind)
        return err_in(e, path, "is a %s file, the first is %s; convert one", NAMES[one->kind],
                      NAMES[sum->kind]);
    return counters_merge(&sum->counters, &one->counters, &why) || err_in(e, path, "%s", why.line);
}

bool arcs_merge(const struct arcs_request *request, char *const *paths, size_t len, struct err *e)
{
    struct arcs_file sum = {0}, notes = {0};
    struct arcs_file *parts = calloc(len ? len : 1, sizeof *parts);
    bool ok = true;
    if (!parts)
        memory_exhausted(len * sizeof *parts);
    progress_phase(request->progress, "merging counters", len);
    for (size_t i = 0; i < len && ok; i++) {
        ok = arcs_add_file(&sum, &parts[i], paths[i], e);
        counters_deinit(&parts[i].counters);
        progress_step(request->progress);
    }
    counters_mark_zeros(&sum.counters);
    ok = ok && arcs_change(&sum, &notes, request, paths[0], e) &&
         arcs_file_save(&sum, request->output, e);
    for (size_t i = 0; i < len; i++)
        arcs_file_deinit(&parts[i]);
    free(parts);
    arcs_file_deinit(&sum);
    arcs_file_deinit(&notes);
    return ok;
}
