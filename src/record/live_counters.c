/* Coverage of a program that need not write it: the counters of clang and rustc are read from
 * outside, out of the living process (`monarc run --coverage`).
 *
 * What a runtime would write lies in memory as it is written: descriptions, counters and names are
 * sections of the program and of each shared object, and a raw profile is a header in front of
 * them. So nothing is linked or called, and it does not matter how a process ends:
 *
 *     exit, _exit, abort, fatal signal   read while the last thread is stopped in its exit (ptrace)
 *     exec                               read before the C library makes the call (x86); one that
 *                                        the program makes itself, as of the last reading
 *     SIGKILL, the machine's OOM killer  as of the last reading, at most an interval ago, where the
 *                                        kernel does not stop the thread in its exit
 *     fork                               the copy begins with zeros, which are written into it
 *     vfork, clone(CLONE_VM)             counts where its parent does, and is not read by itself
 *     dlclose                            read when the linker says so, by a breakpoint as debuggers
 *                                        set it; elsewhere than on x86 as of the last reading
 *
 * What is counted belongs to a space (space.h), so nothing is counted twice: it is read and written
 * once, when the last thread in it ends, while that is stopped, so that files are there before any
 * process sees the end. The program's own writing goes to /dev/null. Costs a copy of the counters
 * an interval, and two at each dlopen and dlclose. An object that is gone keeps its last reading;
 * loaded again, it begins at 0, and both add up. Sections count as far as they are mapped; one that
 * claims more is left out. Not read: counters of the optimiser; objects that are stripped of the
 * symbol which says their version. */
#include "record/live_counters.h"

#include "base/file.h"
#include "coverage/format/llvm.h"
#include "objfile/object.h"
#include "record/counter_files.h"
#include "record/follow.h"
#include "record/gcc_counters.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

/* Addresses of a section: in the file, or in a space. */
struct range {
    uint64_t at, len;
};

enum section { SECTION_DATA, SECTION_COUNTERS, SECTION_BITMAP, SECTION_NAMES, SECTIONS };

/* What a file has that counts; all 0: nothing. */
struct counted_file {
    struct range sections[SECTIONS];
    uint64_t version_at, gcc_root;
    uint8_t word;
    bool is_big_endian, is_stripped;
    bool calls_before_exec; /* libgcov writes before the program executes another one */
    VEC(uint8_t) id;
};

typedef VEC(uint8_t) byte_list;

/* An object with counters that a space has, or had, mapped. */
struct image {
    const struct counted_file *file;
    const char *path;
    uint64_t start, bias;
    bool is_mapped; /* still */
    struct range sections[SECTIONS];
    byte_list bytes[SECTIONS]; /* as last read */
    uint64_t version;          /* 0: not read yet */
    struct gcc_counters gcc;
};

/* Of a space. */
struct counted {
    VEC(struct image) images;
    struct counter_place place;
    bool is_read;    /* for the last time: it is going to an end, or may */
    bool is_written; /* the raw profile */
};

struct watching {
    const struct live_counters_request *request;
    struct live_counters_result *result;
    VEC(struct counted_file *) files;
    struct map names; /* process number -> raw profiles of this run that have it */
};

/* --- files ----------------------------------------------------------------------------------- */

/* What of the object counts, and where. */
static void *watching_file(void *context, struct object *o, const char *path, bool *keeps)
{
    static const char *const NAMES[SECTIONS] = {"__llvm_prf_data", "__llvm_prf_cnts",
                                                "__llvm_prf_bits", "__llvm_prf_names"};
    struct watching *w = context;
    struct counted_file *f = o ? calloc(1, sizeof *f) : NULL;
    size_t len = 0;
    (void)path, (void)keeps;
    if (!o)
        return NULL;
    if (!f)
        memory_exhausted(sizeof *f);
    const struct object_section *sections = object_sections(o, &len);
    for (size_t k = 0; k < len; k++)
        for (int n = 0; n < SECTIONS; n++)
            if (!strcmp(sections[k].name, NAMES[n]))
                f->sections[n] = (struct range){sections[k].address, sections[k].size};
    const struct object_symbol *symbols = object_symbols(o, &len, NULL);
    for (size_t k = 0; k < len; k++) {
        const char *name = symbols[k].name;
        if (!strcmp(name, "__llvm_profile_raw_version"))
            f->version_at = symbols[k].address;
        else if (!strcmp(name, "__gcov_root"))
            f->gcc_root = symbols[k].address;
        else if (!strncmp(name, "__gcov_exec", 11))
            f->calls_before_exec = true;
    }
    f->is_stripped = f->sections[SECTION_COUNTERS].len && !f->version_at;
    struct bytes texts = object_section_bytes(o, ".rodata", NULL);
    f->is_stripped |= object_facts(o)->is_stripped && !f->gcc_root && texts.len &&
                      memmem(texts.at, texts.len, ".gcda", sizeof ".gcda");
    f->word = object_word(o);
    f->is_big_endian = object_is_big_endian(o);
    struct bytes id = object_build_id(o);
    for (size_t k = 0; k < id.len; k++)
        vec_push(&f->id, id.at[k]);
    vec_push(&w->files, f);
    return f;
}

/* Most files do not, and get no image. */
static bool file_counts(const struct counted_file *f)
{
    return f && (f->sections[SECTION_COUNTERS].len || f->gcc_root || f->is_stripped);
}

/* --- images ---------------------------------------------------------------------------------- */

static void image_deinit(struct image *i)
{
    for (int n = 0; n < SECTIONS; n++)
        vec_free(&i->bytes[n]);
    gcc_counters_deinit(&i->gcc);
}

static void counted_free(struct counted *c)
{
    for (size_t k = 0; c && k < c->images.len; k++)
        image_deinit(&c->images.at[k]);
    if (!c)
        return;
    vec_free(&c->images);
    counter_place_deinit(&c->place);
    free(c);
}

/* What is known of a space, from the first question on. */
static struct counted *counted_of(struct space *s)
{
    if (!s->state && !(s->state = calloc(1, sizeof(struct counted))))
        memory_exhausted(sizeof(struct counted));
    return s->state;
}

/* Adds what a mapping of the object that is gone had counted to what another one has. */
static void image_add(struct image *into, const struct image *from)
{
    bool is_single = into->version >> 60 & 1, is_big = into->file->is_big_endian;
    byte_list *to = &into->bytes[SECTION_COUNTERS];
    const byte_list *more = &from->bytes[SECTION_COUNTERS];
    for (size_t k = 0; k < to->len && is_single; k++)
        to->at[k] &= more->at[k];
    for (size_t k = 0; k + 8 <= to->len && !is_single; k += 8) {
        uint64_t sum = bytes_u64(to->at + k, is_big) + bytes_u64(more->at + k, is_big);
        sum = is_big ? __builtin_bswap64(sum) : sum;
        memcpy(to->at + k, &sum, 8);
    }
    for (size_t k = 0; k < into->bytes[SECTION_BITMAP].len; k++)
        into->bytes[SECTION_BITMAP].at[k] |= from->bytes[SECTION_BITMAP].at[k];
}

/* What is no longer mapped keeps its counts. Of an object that comes and goes often one is kept,
 * with the sum. */
static void counted_part(struct counted *c)
{
    for (size_t k = c->images.len; k-- > 0;) {
        struct image *i = &c->images.at[k];
        for (size_t n = 0; n < k && !i->is_mapped && i->version && !i->gcc.root; n++) {
            struct image *other = &c->images.at[n];
            if (other->is_mapped || other->file != i->file || other->version != i->version ||
                other->bytes[SECTION_COUNTERS].len != i->bytes[SECTION_COUNTERS].len ||
                other->bytes[SECTION_BITMAP].len != i->bytes[SECTION_BITMAP].len)
                continue;
            image_add(other, i);
            image_deinit(i);
            c->images.at[k] = c->images.at[--c->images.len];
            break;
        }
    }
}

/* Sections that are not mapped as the file says are none. */
static void image_place(struct watching *w, struct image *i, const struct space *s)
{
    bool is_whole = true;
    for (int n = 0; n < SECTIONS; n++) {
        i->sections[n] = i->file->sections[n];
        i->sections[n].at += i->bias;
        is_whole &= space_holds(s, i->sections[n].at, i->sections[n].len, false);
    }
    w->result->unmapped += !is_whole;
    if (!is_whole)
        memset(i->sections, 0, sizeof i->sections);
    i->gcc.root = i->file->gcc_root ? i->file->gcc_root + i->bias : 0;
    i->gcc.word = i->file->word;
}

/* Objects that were mapped since the last look, and those that are gone. */
static void counted_look(struct watching *w, struct counted *c, const struct space *s)
{
    size_t before = c->images.len;
    bool has_gone = false;
    for (size_t i = 0; i < before; i++) {
        struct image *old = &c->images.at[i];
        bool is_there = false;
        for (size_t k = 0; k < s->images.len; k++)
            is_there |=
                s->images.at[k].file->facts == old->file && s->images.at[k].bias == old->bias;
        has_gone |= old->is_mapped && !is_there;
        old->is_mapped &= is_there;
    }
    for (size_t k = 0; k < s->images.len; k++) {
        const struct space_image *m = &s->images.at[k];
        struct image image = {.file = m->file->facts,
                              .path = m->file->path,
                              .start = m->start,
                              .bias = m->bias,
                              .is_mapped = true};
        bool is_known = !file_counts(image.file);
        for (size_t i = 0; i < c->images.len && !is_known; i++)
            is_known = c->images.at[i].is_mapped && c->images.at[i].file == image.file &&
                       c->images.at[i].bias == image.bias;
        if (is_known)
            continue;
        image_place(w, &image, s);
        vec_push(&c->images, image);
    }
    if (has_gone)
        counted_part(c);
}

/* Into bytes that are kept if it fails: a space that is gone leaves its last reading. */
static bool section_read(struct image *i, int n, const struct space *s)
{
    byte_list *bytes = &i->bytes[n];
    vec_reserve(bytes, i->sections[n].len + 1);
    bool is_read = space_read(s, i->sections[n].at, bytes->at, i->sections[n].len);
    if (is_read)
        bytes->len = i->sections[n].len;
    return is_read;
}

/* Reads all that was counted in the space by now. */
static void counted_read(struct watching *w, struct space *s, pid_t tid)
{
    struct counted *c = counted_of(s);
    counted_look(w, c, s);
    w->result->unreadable += s->memory < 0 && !c->is_read;
    for (size_t k = 0; k < c->images.len; k++) {
        struct image *i = &c->images.at[k];
        if (!i->is_mapped)
            continue;
        gcc_counters_read(&i->gcc, s, tid);
        if (i->gcc.is_known && !c->place.is_known)
            counter_place_take(&c->place, tid);
        if (!i->sections[SECTION_COUNTERS].len || i->file->is_stripped)
            continue;
        if (!i->version &&
            !(space_read(s, i->file->version_at + i->bias, &i->version, sizeof i->version) &&
              section_read(i, SECTION_NAMES, s)))
            i->version = 0;
        (void)section_read(i, SECTION_DATA, s);
        (void)section_read(i, SECTION_COUNTERS, s);
        (void)section_read(i, SECTION_BITMAP, s);
    }
}

/* --- what is written ------------------------------------------------------------------------- */

/* One raw profile for each object, one after the other, as a runtime would have written them. */
static bool counted_profile(struct watching *w, const struct counted *c, struct writer *out,
                            struct err *e)
{
    for (size_t k = 0; k < c->images.len; k++) {
        const struct image *i = &c->images.at[k];
        struct err why = {0};
        w->result->stripped += i->file->is_stripped;
        if (!i->version || !i->bytes[SECTION_COUNTERS].len ||
            i->bytes[SECTION_DATA].len != i->sections[SECTION_DATA].len)
            continue;
        struct bytes parts[SECTIONS];
        for (int n = 0; n < SECTIONS; n++)
            parts[n] = (struct bytes){i->bytes[n].at, i->bytes[n].len};
        struct llvm_memory m = {.version = i->version,
                                .word = i->file->word,
                                .is_big_endian = i->file->is_big_endian,
                                .id = {i->file->id.at, i->file->id.len},
                                .data = parts[SECTION_DATA],
                                .counters = parts[SECTION_COUNTERS],
                                .bitmap = parts[SECTION_BITMAP],
                                .names = parts[SECTION_NAMES],
                                .data_at = i->sections[SECTION_DATA].at,
                                .counters_at = i->sections[SECTION_COUNTERS].at,
                                .bitmap_at = i->sections[SECTION_BITMAP].at,
                                .names_at = i->sections[SECTION_NAMES].at};
        if (!llvm_raw_from_memory(out, &m, &why))
            return err_in(e, i->path, "%s", why.line);
    }
    return true;
}

/* The number of a process may have been another's of this run, and it may have run other programs.
 */
static char *profile_path(struct watching *w, pid_t pid)
{
    char again[16] = "", *path;
    uint32_t *count = map_at(&w->names, (uint64_t)pid, 0, 0, NULL);
    if (++*count > 1)
        snprintf(again, sizeof again, "-%u", *count);
    if (asprintf(&path, "%s.%d%s.profraw", w->request->output, (int)pid, again) < 0)
        memory_exhausted(strlen(w->request->output));
    return path;
}

/* Under our own rights: the name is of our making. */
static bool counted_write_profile(struct watching *w, struct counted *c, pid_t pid, struct err *e)
{
    struct writer out = {0};
    if (c->is_written)
        return true;
    c->is_written = true;
    bool ok = counted_profile(w, c, &out, e);
    if (ok && out.out.len) {
        char *path = profile_path(w, pid);
        ok = file_write(path, (struct bytes){out.out.at, out.out.len}, e);
        if (!w->result->example)
            w->result->example = path;
        else
            free(path);
        w->result->written += ok;
    }
    w->result->without += !out.out.len;
    writer_deinit(&out);
    return ok;
}

/* All that the space has counted. What is busy is left for later, unless that never comes. */
static bool counted_write(struct watching *w, struct counted *c, pid_t pid, bool is_last,
                          struct err *e)
{
    bool ok = counted_write_profile(w, c, pid, e);
    struct err ignored = {0};
    for (size_t k = 0; k < c->images.len; k++)
        ok &= gcc_counters_write(&c->images.at[k].gcc, &c->place, is_last, ok ? e : &ignored) ||
              (!is_last && c->images.at[k].gcc.outcome.is_busy);
    return ok;
}

/* --- what follow_program() asks -------------------------------------------------------------- */

/* Whether anything of it could be lost. */
static bool counted_counts(const struct counted *c)
{
    bool does = false;
    for (size_t k = 0; k < c->images.len; k++)
        does |= c->images.at[k].sections[SECTION_COUNTERS].len || c->images.at[k].gcc.root;
    return does;
}

/* Whether files will have to be written where the process is, as it. */
static bool counted_has_gcc(const struct counted *c)
{
    bool has = false;
    for (size_t k = 0; k < c->images.len; k++)
        has |= c->images.at[k].gcc.root != 0;
    return has;
}

/* A copy has counted nothing. */
static void watching_begin(void *context, struct space *s, const struct space *from, pid_t tid)
{
    struct watching *w = context;
    struct counted *c = counted_of(s);
    const struct counted *parent = from ? from->state : NULL;
    static const uint8_t zeros[4096], ones[4096] = {[0 ... 4095] = 0xff};
    counted_look(w, c, s);
    if (counted_has_gcc(c) && parent)
        counter_place_copy(&c->place, &parent->place);
    if (counted_has_gcc(c))
        counter_place_take(&c->place, tid);
    for (size_t k = 0; k < c->images.len; k++) {
        struct image *i = &c->images.at[k];
        const struct gcc_counters *same = NULL;
        for (size_t n = 0; parent && n < parent->images.len; n++)
            if (parent->images.at[n].is_mapped && parent->images.at[n].file == i->file &&
                parent->images.at[n].bias == i->bias)
                same = &parent->images.at[n].gcc;
        gcc_counters_begin(&i->gcc, same, s, tid);
        uint64_t version = 0;
        if (i->sections[SECTION_COUNTERS].len && !i->file->is_stripped)
            (void)space_read(s, i->file->version_at + i->bias, &version, sizeof version);
        for (int n = SECTION_COUNTERS; n <= SECTION_BITMAP && version; n++) {
            const struct range *r = &i->sections[n];
            bool is_inverted = n == SECTION_COUNTERS && version >> 60 & 1;
            for (uint64_t at = 0; at < r->len && space_holds(s, r->at, r->len, true);
                 at += sizeof zeros)
                (void)space_write(s, r->at + at, is_inverted ? ones : zeros,
                                  r->len - at < sizeof zeros ? r->len - at : sizeof zeros);
        }
    }
}

/* The program itself: it may not live until the next reading. */
static void watching_exec(void *context, struct space *s, pid_t tid)
{
    struct counted *c = counted_of(s);
    counted_look(context, c, s);
    if (counted_has_gcc(c))
        counter_place_take(&c->place, tid);
}

/* At intervals, and when the linker says that something changes. */
static void watching_look(void *context, struct space *s, pid_t tid)
{
    counted_read(context, s, tid);
    counted_of(s)->is_read = false;
}

/* A process that has its parent's memory makes libgcov write what both have counted, and believe
 * that this was the end of it: so it is made to count anew. */
static void watching_executing(void *context, struct space *s, pid_t tid)
{
    struct counted *c = counted_of(s);
    counted_read(context, s, tid);
    c->is_read = true;
    for (size_t k = 0; k < c->images.len && s->users > 1; k++)
        if (c->images.at[k].gcc.is_written)
            gcc_counters_clear(&c->images.at[k].gcc, s);
    if (counted_has_gcc(c))
        counter_place_take(&c->place, tid);
}

/* Written before the thread goes on, so that whoever waits for the process finds the files. Where
 * other threads have yet to come to their end, that is left to the last one. */
static bool watching_leave(void *context, struct space *s, pid_t pid, pid_t tid, struct err *e)
{
    struct counted *c = counted_of(s);
    counted_read(context, s, tid);
    c->is_read = true;
    if (counted_has_gcc(c))
        counter_place_take(&c->place, tid);
    return s->running || counted_write(context, s->state, pid, false, e);
}

/* What was not read when the space came to its end is as of the last reading; what of gcc was not,
 * is libgcov's, where that writes before an exec. */
static bool watching_left(void *context, struct space *s, pid_t pid, int status, struct err *e)
{
    struct watching *w = context;
    struct counted *c = s->state;
    bool is_exec = status < 0, ok = true;
    if (!c || !s->is_program) {
        counted_free(c);
        s->state = NULL;
        return true;
    }
    if (is_exec && !c->is_read) {
        bool is_replaced = counted_counts(c);
        for (size_t k = 0; k < c->images.len; k++) {
            struct image *i = &c->images.at[k];
            i->gcc.is_written |= i->gcc.root && i->file->calls_before_exec;
            is_replaced &= !i->gcc.is_written;
        }
        w->result->replaced += is_replaced;
    }
    w->result->killed +=
        !is_exec && WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL && counted_counts(c);
    ok = counted_write(w, c, pid, true, e);
    for (size_t k = 0; k < c->images.len; k++) {
        const struct gcc_counters *g = &c->images.at[k].gcc;
        w->result->gcc_written += g->is_written;
        w->result->gcc_foreign += g->is_foreign;
        w->result->gcc_files += g->outcome.written;
        w->result->gcc_aside += g->outcome.aside;
    }
    counted_free(c);
    s->state = NULL;
    return ok;
}

bool live_counters_run(const struct live_counters_request *request,
                       struct live_counters_result *result, struct err *e)
{
    struct watching w = {.request = request, .result = result};
    *result = (struct live_counters_result){0};
    const struct follow_calls calls = {.context = &w,
                                       .began = watching_begin,
                                       .executed = watching_exec,
                                       .mapped = watching_look,
                                       .executing = watching_executing,
                                       .leaving = watching_leave,
                                       .left = watching_left,
                                       .interval = watching_look,
                                       .read_file = watching_file,
                                       .interval_ms = request->interval_ms,
                                       .variable = "LLVM_PROFILE_FILE",
                                       .value = "/dev/null"};
    struct follow_result followed;
    bool ok = follow_program(request->argv, &calls, &followed, e);
    result->status = followed.status;
    result->processes = followed.processes;
    result->with_rights = followed.with_rights;
    result->was_stopped = followed.was_stopped;
    for (size_t i = 0; i < w.files.len; i++) {
        vec_free(&w.files.at[i]->id);
        free(w.files.at[i]);
    }
    vec_free(&w.files);
    map_deinit(&w.names);
    return ok;
}
