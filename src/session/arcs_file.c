/* One arc-profiling file of any family, converting and merging such files, and pairs of notes and
 * counters for the commands that read many.
 *
 *           GCC's files          the proposal's files of 2002
 *   notes   gcno                 bbg   (+ bb, its lines, before gcc 3.4)
 *   counts  gcda                 da
 *
 * The first four bytes distinguish the families. Files of gcc before 3.4 have no magic; they are
 * believed when the name ends as theirs do and all numbers inside are possible. Everything is read
 * into `struct notes` or `struct counters`, which know no family, and written from there; what a
 * family cannot express is refused by its writer.
 *
 * To change the family of counters, their notes are needed: gcda identifies a function by
 * checksums, da by its name, so one is looked up in the notes beside the other.
 *
 * Texts of notes and counters point into the file's buffer: it must outlive them, also in a sum of
 * several files. */
#include "session/arcs_file.h"

#include "base/path.h"
#include "coverage/analysis/coverage_table.h"
#include "coverage/analysis/flow.h"
#include "coverage/format/format.h"
#include "coverage/model/coverage.h"
#include "profile/format/format.h"
#include "objfile/object.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* By enum arcs_kind. */
static const char *const NAMES[] = {"none", "gcno", "gcda", "bbg", "da"};

enum { KINDS_LEN = sizeof NAMES / sizeof *NAMES };

/* In this order: what has a magic first, then what is recognised by all of its numbers. */
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

/* Without a magic, only the whole file can speak for itself. */
static enum arcs_kind arcs_kind_of_whole(const char *path)
{
    struct file_buffer b = {0};
    struct err e;
    enum arcs_kind kind = file_read(path, &b, &e) ? arcs_kind_of(file_bytes(&b)) : ARCS_NONE;
    file_buffer_deinit(&b);
    return kind;
}

/* Reads four bytes of a regular file; of a pipe they would be gone. */
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

/* The kind is the caller's where it knows better than the bytes, such as for a file without a
 * magic. */
static bool arcs_file_read_as(struct arcs_file *f, enum arcs_kind kind, const char *name,
                              struct err *e)
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

bool arcs_file_read(struct arcs_file *f, const char *name, struct err *e)
{
    return arcs_file_read_as(f, arcs_kind_of(file_bytes(&f->buffer)), name, e);
}

/* gcc 3.3 and older wrote lines into a bb file of their own; bbg has nothing but the graph. */
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

static bool arcs_may_be_arcs(struct bytes first)
{
    return arcs_kind_of(first) != ARCS_NONE;
}

/* What cannot be such a file is read no further than its first block. */
static bool arcs_file_fetch(struct arcs_file *f, const char *path, struct err *e)
{
    return arcs_file_may_lack_magic(path) ? file_read(path, &f->buffer, e)
                                          : file_read_if(path, arcs_may_be_arcs, &f->buffer, e);
}

bool arcs_file_load(struct arcs_file *f, const char *path, struct err *e)
{
    return arcs_file_fetch(f, path, e) && arcs_file_read(f, path, e);
}

/* `lock`: of the file that is rewritten in place, as programs that wait for it have it open; -1: a
 * new one takes its name. */
static bool arcs_file_put(const struct arcs_file *f, const char *path, int lock, struct err *e)
{
    struct writer w = {0};
    struct err why = {0};
    /* The bytes are complete before the old file is replaced. */
    bool ok = f->kind == ARCS_GCNO   ? gcno_write(&w, &f->notes, &why)
              : f->kind == ARCS_GCDA ? gcda_write(&w, &f->counters, &why)
              : f->kind == ARCS_BBG  ? bbg_write(&w, &f->notes, &why)
                                     : da_write(&w, &f->counters, &why);
    struct bytes bytes = {w.out.at, w.out.len};
    ok = ok ? (lock < 0 ? file_replace(path, bytes, e) : file_rewrite(path, lock, bytes, e))
            : err_in(e, path, "cannot be written as %s: %s", NAMES[f->kind], why.line);
    writer_deinit(&w);
    return ok;
}

bool arcs_file_save(const struct arcs_file *f, const char *path, struct err *e)
{
    return arcs_file_put(f, path, -1, e);
}

void arcs_file_deinit(struct arcs_file *f)
{
    notes_deinit(&f->notes);
    counters_deinit(&f->counters);
    file_buffer_deinit(&f->buffer);
    file_buffer_deinit(&f->lines);
}

/* The notes of counters, as a compiler's: named, or beside them with the other suffix. A bbg
 * becomes what it was made of. */
static bool arcs_load_notes(struct arcs_file *notes, const struct arcs_request *request,
                            const char *path, struct err *e)
{
    struct arena scratch = {0};
    struct err why = {0};
    const char *name = request->notes ? request->notes : arcs_path_beside(path, "gcno", &scratch);
    const char *other = arcs_path_beside(path, "bbg", &scratch);
    if (!request->notes && arcs_kind_of_path(name) != ARCS_GCNO &&
        arcs_kind_of_path(other) == ARCS_BBG)
        name = other;
    bool ok = arcs_file_load(notes, name, e) &&
              (notes->is_notes || err_in(e, name, "is not a gcno or bbg file"));
    if (ok && notes->kind == ARCS_BBG)
        ok = arcs_notes_to_gcov(&notes->notes, arcs_version_word_for(&notes->notes.origin), &why) ||
             err_in(e, name, "%s", why.line);
    arena_deinit(&scratch);
    return ok;
}

/* --- converting ------------------------------------------------------------------------------ */

/* da names functions, gcda does not: the names come from the notes. */
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

/* To GCC's family, or to another version within it. Counters of da get the identities that their
 * notes have; then nothing is left to be changed unless a version was requested. */
static bool arcs_change_version(struct arcs_file *f, struct arcs_file *notes, enum arcs_kind to,
                                const struct arcs_request *request, const char *path, struct err *e)
{
    struct err why = {0};
    if (f->kind == ARCS_DA) {
        /* The notes that say who the functions of a da file are, if there are any: named, or beside
         * it. */
        struct arena scratch = {0};
        const char *beside = arcs_path_beside(path, "gcno", &scratch);
        bool has_notes = request->notes || arcs_kind_of_path(beside) == ARCS_GCNO;
        arena_deinit(&scratch);
        if (has_notes) {
            if (!(arcs_load_notes(notes, request, path, e) &&
                  (arcs_counters_adopt(&f->counters, &notes->notes, &why) ||
                   err_in(e, path, "%s", why.line))))
                return false;
        }
    }
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
    /* Notes stay notes and counters stay counters; the family and the version may change. */
    enum arcs_kind to = request->to ? request->to : f->kind;
    if (!f->is_notes && bb_counters_lack_names(&f->counters)) {
        /* Counters of gcc before 3.3 are the functions' of the notes, in their order. */
        struct arena scratch = {0};
        const char *beside = arcs_path_beside(path, "bbg", &scratch);
        bool ok = arcs_file_load(notes, request->notes ? request->notes : beside, e) &&
                  ((notes->is_notes && bb_counters_share(&f->counters, &notes->notes, &why)) ||
                   err_in(e, path, "%s",
                          notes->is_notes ? why.line : "the other file is not a notes file"));
        arena_deinit(&scratch);
        if (!ok)
            return false;
    }
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

/* Of counters that contradict each other, as threads without atomic updates leave them, makes the
 * nearest that do not (flow_repair.c). The notes are dropped afterwards, as converting may want
 * others. */
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

/* The lock of counters that programs are writing, as their runtimes take it. Ours belongs to the
 * open file, since a process that closes any other descriptor of the file gives its own locks up.
 * -1 where there is no such file, or nothing to lock it with: then no other process can either. */
static int arcs_lock(const char *path)
{
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    struct stat named, locked;
    while (strcmp(path, "-") && !stat(path, &named) && S_ISREG(named.st_mode)) {
        int fd = open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK);
        if (fd < 0)
            return -1;
        int status;
        do
            status = fcntl(fd, F_OFD_SETLKW, &whole);
        while (status && errno == EINTR);
        if (status || fstat(fd, &locked) || stat(path, &named) ||
            (named.st_dev == locked.st_dev && named.st_ino == locked.st_ino))
            return fd;
        close(fd); /* it was replaced while we waited */
    }
    return -1;
}

/* The lock again, if the file is one of the inputs, else -1. Programs with libgcov that wait for
 * the lock have the file open and add to that one, whatever its name leads to then: a sum of it
 * must be where they look. An output that is no input is replaced, and so is what they count into
 * it. */
static int arcs_lock_of_input(int lock, char *const *paths, size_t len)
{
    struct stat locked, input;
    for (size_t i = 0; lock >= 0 && !fstat(lock, &locked) && i < len; i++)
        if (!stat(paths[i], &input) && input.st_dev == locked.st_dev &&
            input.st_ino == locked.st_ino)
            return lock;
    return -1;
}

/* Repair comes before any change of version or family: it needs the counters as they were
 * counted. */
bool arcs_convert(const struct arcs_request *request, const char *path, struct err *e)
{
    struct arcs_file f = {0}, notes = {0};
    int lock = arcs_lock(request->output);
    bool ok = arcs_file_load(&f, path, e) &&
              (!request->is_repaired || arcs_repair(&f, &notes, request, path, e)) &&
              arcs_change(&f, &notes, request, path, e);
    if (ok) {
        /* Only the one of the two that is written has any effect. */
        if (request->byte_order != ORDER_UNKNOWN)
            f.notes.origin.big_endian = f.counters.origin.big_endian =
                request->byte_order == ORDER_BIG;
        char *const paths[] = {(char *)path};
        ok = arcs_file_put(&f, request->output, arcs_lock_of_input(lock, paths, 1), e);
    }
    if (lock >= 0)
        close(lock);
    arcs_file_deinit(&f);
    arcs_file_deinit(&notes);
    return ok;
}

/* Adds one file of a merge. All are of one family: sums over families would need the notes of
 * each. The bytes stay, as the sum may point into them. */
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

/* Buffers of all files stay until the sum is written, as its texts may point into any of them;
 * counters of each are freed at once. */
bool arcs_merge(const struct arcs_request *request, char *const *paths, size_t len, struct err *e)
{
    struct arcs_file sum = {0}, notes = {0};
    struct arcs_file *parts = calloc(len ? len : 1, sizeof *parts);
    int lock = arcs_lock(request->output);
    bool ok = true;
    if (!parts)
        memory_exhausted(len * sizeof *parts);
    progress_phase(request->progress, "merging counters", len);
    for (size_t i = 0; i < len && ok; i++) {
        ok = arcs_add_file(&sum, &parts[i], paths[i], e);
        counters_deinit(&parts[i].counters);
        progress_step(request->progress);
    }
    /* Functions that no run entered are written as gcc writes them: a length without values. */
    counters_mark_zeros(&sum.counters);
    ok = ok && arcs_change(&sum, &notes, request, paths[0], e) &&
         arcs_file_put(&sum, request->output, arcs_lock_of_input(lock, paths, len), e);
    if (lock >= 0)
        close(lock);
    for (size_t i = 0; i < len; i++)
        arcs_file_deinit(&parts[i]);
    free(parts);
    arcs_file_deinit(&sum);
    arcs_file_deinit(&notes);
    return ok;
}

/* One loader for notes and counters, for the commands that take many pairs. */

/* --- pairs of notes and counters ------------------------------------------------------------- */

/* What is loaded goes where the last file was: a thousand objects cost the memory of the largest.
 */
static bool load(struct arcs_file *f, const char *path, enum arcs_kind as, struct err *e)
{
    notes_clear(&f->notes);
    counters_clear(&f->counters);
    f->kind = ARCS_NONE;
    return arcs_file_fetch(f, path, e) &&
           (as ? arcs_file_read_as(f, as, path, e) : arcs_file_read(f, path, e));
}

/* What loading came to: a problem that loses the file, one that loses a part of it, or none.
 * `functions` is how many could be read before the damage. */
static bool judge(const struct arcs_file *f, const char *path, bool is_whole, bool is_notes,
                  size_t functions, const struct err *e, struct problems *problems)
{
    if (f->kind && f->is_notes != is_notes) {
        problem_add(problems, PROBLEM_LOST, "%s: is %s file, not %s", path,
                    f->is_notes ? "a notes" : "a counters", is_notes ? "notes" : "counters");
        return false;
    }
    if (!is_whole)
        problem_add(problems, functions ? PROBLEM_PARTIAL : PROBLEM_LOST, "%s", e->line);
    return is_whole || functions;
}

/* Notes that break off are used as far as they go, and said to be partial. */
bool object_pair_load_notes(struct object_pair *p, const char *path, enum arcs_kind as,
                            struct problems *problems)
{
    struct err e = {0};
    p->notes_are_whole = load(&p->notes, path, as, &e);
    return judge(&p->notes, path, p->notes_are_whole, true, p->notes.notes.functions.len, &e,
                 problems);
}

/* da whose notes are a compiler's own gets their identities, da of gcc before 3.3 the functions of
 * its notes. Without, it is as if it were empty. */
static bool adopt(struct object_pair *p, const char *path, struct problems *problems)
{
    struct err e = {0};
    struct counters *c = &p->counters.counters;
    bool is_row = bb_counters_lack_names(c);
    if (!is_row && (c->origin.family != ARCS_RFC || p->notes.notes.origin.family != ARCS_GCOV))
        return true;
    if (is_row ? bb_counters_share(c, &p->notes.notes, &e)
               : arcs_counters_adopt(c, &p->notes.notes, &e))
        return true;
    problem_add(problems, PROBLEM_LOST, "%s: %s", path, e.line);
    counters_clear(c);
    c->failure.what = DEFECT_CUT;
    return false;
}

/* The defect is kept with the counters: functions that they lack are then unknown, not at 0. */
bool object_pair_load_counters(struct object_pair *p, const char *path, enum arcs_kind as,
                               struct problems *problems)
{
    struct err e = {0};
    struct counters *c = &p->counters.counters;
    bool is_whole = load(&p->counters, path, as, &e);
    if (!is_whole && c->failure.what == DEFECT_NONE)
        c->failure.what = DEFECT_CUT;
    return judge(&p->counters, path, is_whole, false, c->functions.len, &e, problems) &&
           (!is_whole || adopt(p, path, problems));
}

/* Sums may be built before solving as long as all runs are of one build: then solving once gives
 * the same as solving each, and is many times faster. */
bool object_pair_add_run(struct object_pair *p, bool is_first)
{
    struct err e = {0};
    const struct counters *c = &p->counters.counters;
    if (is_first)
        counters_clear(&p->sum);
    size_t len = p->sum.functions.len;
    if ((!is_first &&
         !(c->origin.version == p->sum.origin.version && c->origin.stamp == p->sum.origin.stamp &&
           c->origin.checksum == p->sum.origin.checksum)) ||
        !counters_merge(&p->sum, c, &e))
        return false;
    for (size_t i = len; i < p->sum.functions.len; i++)
        if (p->sum.functions.at[i].name)
            return false; /* its text is freed with the file */
    return true;
}

/* Swapped, not copied: the memory of the last run serves as the sum of the next object. */
void object_pair_take_sum(struct object_pair *p)
{
    struct counters sum = p->sum;
    p->sum = p->counters.counters;
    p->counters.counters = sum;
}

/* Decides whether the quick way (sum, then solve) may be kept. As soon as there is anything to
 * report, runs are taken one by one, so that the message names the file that is at fault. */
bool object_pair_is_sound(const struct object_pair *p)
{
    const struct flow *flow = &p->flow;
    const struct pairing *pairing = &flow->pairing;
    if (pairing->unmatched || pairing->is_other_version || pairing->is_other_stamp ||
        !pair_is_possible(&p->notes.notes.origin, &p->counters.counters.origin))
        return false;
    for (size_t i = 0; i < flow->functions.len; i++) {
        const struct flow_function *f = &flow->functions.at[i];
        if (f->state == FLOW_UNKNOWN || f->state == FLOW_DAMAGED || f->reason == FLOW_REPAIRED)
            return false;
    }
    return true;
}

/* What is damaged must not pass for a count: it is repaired, or forgotten. */
void object_pair_solve(struct object_pair *p, bool repairs)
{
    flow_solve(&p->notes.notes, &p->counters.counters, &p->flow);
    flow_forget_damaged(&p->notes.notes, &p->flow, repairs);
}

void object_pair_solve_unrun(struct object_pair *p)
{
    flow_solve(&p->notes.notes, NULL, &p->flow);
}

void object_pair_report_pairing(const struct object_pair *p, const char *notes,
                                const char *counters, struct problems *problems)
{
    const struct pairing *pairing = &p->flow.pairing;
    const struct arcs_origin *a = &p->notes.notes.origin, *b = &p->counters.counters.origin;
    /* From the worst to the least: not the same family or version, another compiler, another
     * build, functions that only one side has. */
    if (!pair_is_possible(a, b)) {
        problem_add(problems, PROBLEM_LOST,
                    "%s: is of version %s, %s of %s: they do not belong "
                    "together",
                    counters, arcs_version_text(b).text, notes, arcs_version_text(a).text);
        return;
    }
    if (pairing->is_other_version &&
        p->notes.notes.origin.number != p->counters.counters.origin.number)
        problem_add(problems, PROBLEM_PARTIAL, "%s: was made by another compiler's program than %s",
                    counters, notes);
    else if (pairing->is_other_stamp)
        problem_add(problems, PROBLEM_PARTIAL,
                    "%s: was left by another build than %s; functions that did not change are used",
                    counters, notes);
    if (pairing->unmatched)
        problem_add(problems, PROBLEM_PARTIAL,
                    "%s: counts %" PRIu32 " function%s that %s does not have", counters,
                    pairing->unmatched, text_plural(pairing->unmatched), notes);
}

/* One sentence for the file, however many functions there are: a build of thousands of files may
 * have a defect in each. */
uint64_t object_pair_report_unknown(const struct object_pair *p, const char *path, const char *what,
                                    struct problems *problems)
{
    const struct flow *flow = &p->flow;
    uint64_t unknown = 0;
    size_t first = 0;
    for (size_t i = 0; i < flow->functions.len; i++) {
        uint8_t state = flow->functions.at[i].state;
        if (state == FLOW_UNKNOWN || state == FLOW_DAMAGED)
            first = unknown++ ? first : i;
    }
    if (!unknown)
        return 0;
    const struct flow_function *f = &flow->functions.at[first];
    const char *name = p->notes.notes.functions.at[first].name;
    char *readable = name && *name == '_' ? demangle(name, NULL) : NULL;
    name = readable ? readable : name;
    bool has_defect = f->reason == FLOW_BAD_NOTES || f->reason == FLOW_BAD_COUNTERS;
    problem_add(problems, PROBLEM_PARTIAL, "%s: %" PRIu64 " function%s %s, %s%s: %s%s", path,
                unknown, unknown == 1 ? " is" : "s are", what,
                unknown == 1 ? "" : "the first of them ", name ? name : "(without a name)",
                flow_reason_text(f->reason), has_defect ? arcs_defect_text(f->defect) : "");
    free(readable);
    return unknown;
}

void object_pair_deinit(struct object_pair *p)
{
    arcs_file_deinit(&p->notes);
    arcs_file_deinit(&p->counters);
    counters_deinit(&p->sum);
    flow_deinit(&p->flow);
}
