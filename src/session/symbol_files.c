/* Finding files by build-id, and putting what they say into recordings.
 *
 * A file that the recorder still has open is the object. Else candidates are the recorded path,
 * with the separate debug file that belongs to it, then FROM/.build-id/xx/yyy.debug and any ELF
 * file below FROM, then what a debuginfod server has. The first of those that know most is taken.
 * Folders are walked once, and of each ELF file in them the headers are read; links to folders are
 * not followed, so that the walk ends. The network is asked only if the caller wants that, through
 * elfutils' libdebuginfod, which is loaded then, and which keeps what it got in a cache of its own.
 *
 * recorded_add_symbols() makes an excerpt of each object's file: the names, lines and inlined
 * functions at the addresses that were measured, some kilobytes instead of some hundred megabytes.
 * Objects are taken in the order of their samples, so that what matters most gets its lines if
 * there is not time for all. What cannot be had is left out: a recording without symbols is one
 * all the same. */
#include "session/symbol_files.h"

#include "base/build_id.h"
#include "base/file.h"
#include "base/map.h"
#include "base/late.h"
#include "base/path.h"
#include "base/sort.h"
#include "profile/analysis/recording/excerpts.h"
#include "profile/format/recording_file.h"

#include <dlfcn.h>
#include <errno.h>
#include <fts.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { DEBUGINFOD_ABI = 1 };

/* Of <elfutils/debuginfod.h>, as late_find() finds it. */
struct debuginfod {
    void *library, *client;
    void *(*begin)(void);
    void (*end)(void *client);
    int (*find_debuginfo)(void *client, const unsigned char *id, int len, char **path);
    int (*find_executable)(void *client, const unsigned char *id, int len, char **path);
};

/* An ELF file below FROM. */
struct symbol_file {
    uint32_t id; /* number of its build-id */
    const char *path;
};

struct symbol_files {
    struct symbol_files_options options;
    const char *debug_dirs; /* both of the options together, or NULL */
    struct arena arena;
    struct intern ids;
    VEC(struct symbol_file) found;
    struct debuginfod server;
    struct object *const *held; /* by object of the recording that is completed */
    size_t held_len;
    const char *trouble;
    struct err unread;
};

static struct bytes symbol_recorded_id(const struct recording_object *o)
{
    return (struct bytes){o->build_id, o->build_id_bytes};
}

/* --- folders --------------------------------------------------------------------------------- */

/* The first of the files that may be there and may know more. */
static void symbol_note_unread(struct symbol_files *f, const struct err *why)
{
    if (!f->unread.system && errno_hides_file(why->system))
        f->unread = *why;
}

/* Notes the build-id of every ELF file below `from`. Only headers are read. */
static bool symbol_walk(struct symbol_files *f, const char *from, struct err *e)
{
    char *roots[] = {arena_copy(&f->arena, from, strlen(from)), NULL};
    struct stat st;
    if (stat(from, &st))
        return err_errno(e, from, errno);
    FTS *walk = fts_open(roots, FTS_PHYSICAL | FTS_COMFOLLOW | FTS_NOCHDIR, NULL);
    if (!walk)
        return err_errno(e, from, errno);
    for (FTSENT *at; (at = fts_read(walk));) {
        struct err why = {0};
        if (at->fts_info == FTS_DNR || at->fts_info == FTS_ERR || at->fts_info == FTS_NS)
            err_errno(&why, at->fts_path, at->fts_errno);
        bool is_link = at->fts_info == FTS_SL && !stat(at->fts_path, &st) && S_ISREG(st.st_mode);
        if (at->fts_info == FTS_F || is_link) {
            struct object *o = object_open(at->fts_path, NULL, NULL, &why);
            if (o) {
                struct bytes id = object_build_id(o), key = build_id_key(id);
                if (id.len)
                    vec_push(&f->found,
                             ((struct symbol_file){
                                 intern(&f->ids, (const char *)key.at, key.len),
                                 arena_copy(&f->arena, at->fts_path, strlen(at->fts_path))}));
                object_close(o);
            }
        }
        symbol_note_unread(f, &why);
    }
    fts_close(walk);
    return true;
}

/* --- debuginfod ------------------------------------------------------------------------------ */

/* Which of the three reasons it was is what the user has to know: no server, no library, an old
 * library. */
static bool symbol_load_debuginfod(struct symbol_files *f, struct err *e)
{
    struct debuginfod *s = &f->server;
    const char *urls = getenv("DEBUGINFOD_URLS");
    if (!urls || !urls[strspn(urls, " ")])
        return err_set(e, "--debuginfod asks the servers that the environment variable "
                          "DEBUGINFOD_URLS names, and it is not set");
    s->library = late_open(LATE_NAME("libdebuginfod", 1));
    if (!s->library)
        return err_set(e, "--debuginfod needs elfutils' library (Debian: libdebuginfod1): "
                          "libdebuginfod.so.1 " LATE_MISSING);
    if (!late_find(s->library, "debuginfod_begin", &s->begin) ||
        !late_find(s->library, "debuginfod_end", &s->end) ||
        !late_find(s->library, "debuginfod_find_debuginfo", &s->find_debuginfo) ||
        !late_find(s->library, "debuginfod_find_executable", &s->find_executable))
        return err_set(e, "libdebuginfod.so.1 lacks functions that monarc needs");
    s->client = s->begin();
    return s->client || err_set(e, "libdebuginfod.so.1 cannot be started");
}

/* The path of what a server has, or NULL. */
static const char *symbol_ask_server(struct symbol_files *f, const struct recording_object *o)
{
    struct debuginfod *s = &f->server;
    char *path = NULL;
    if (!s->client || !o->build_id_bytes)
        return NULL;
    struct bytes id = symbol_recorded_id(o);
    int fd = -1, why = 0;
    for (size_t len = id.len; len && fd < 0; len = build_id_shorter(id, len)) {
        fd = s->find_debuginfo(s->client, o->build_id, (int)len, &path);
        if (fd < 0)
            fd = s->find_executable(s->client, o->build_id, (int)len, &path);
        why = why ? why : -fd; /* of the build-id as it was recorded */
    }
    if (fd < 0) {
        /* Not a failure of the command: the object may do without. */
        f->trouble = arena_printf(&f->arena, "%s: %s", path_base_name(o->path), strerror(why));
        return NULL;
    }
    close(fd);
    const char *kept = path ? arena_copy(&f->arena, path, strlen(path)) : NULL;
    free(path);
    return kept;
}

/* --- all ------------------------------------------------------------------------------------- */

struct symbol_files *symbol_files_new(const struct symbol_files_options *o, struct err *e)
{
    struct symbol_files *f = memory_zeroed(1, sizeof *f);
    f->options = *o;
    f->debug_dirs = o->debug_dir;
    if (o->from)
        f->debug_dirs = o->debug_dir ? arena_printf(&f->arena, "%s:%s", o->debug_dir, o->from)
                                     : arena_copy(&f->arena, o->from, strlen(o->from));
    if ((o->from && !symbol_walk(f, o->from, e)) ||
        (o->asks_debuginfod && !symbol_load_debuginfod(f, e))) {
        symbol_files_free(f);
        return NULL;
    }
    return f;
}

void symbol_files_hold(struct symbol_files *f, struct object *const *files, size_t len)
{
    f->held = files;
    f->held_len = len;
}

void symbol_files_free(struct symbol_files *f)
{
    if (!f)
        return;
    if (f->server.client) /* the library stays: what it loads in turn cannot be unloaded cleanly */
        f->server.end(f->server.client);
    vec_free(&f->found);
    intern_deinit(&f->ids);
    arena_deinit(&f->arena);
    memory_free(f);
}

/* By how many functions the table has, and before that by whether there are lines. */
unsigned symbols_richness(enum object_symbol_source source, bool has_debug_info)
{
    static const unsigned rank[] = {[SYMBOLS_NONE] = 0,
                                    [SYMBOLS_DYNSYM] = 1,
                                    [SYMBOLS_GNU_DEBUGDATA] = 2,
                                    [SYMBOLS_SYMTAB] = 3,
                                    [SYMBOLS_DEBUG_FILE] = 3};
    return rank[source] + (has_debug_info ? 4 : 0);
}

static unsigned symbol_richness_of(struct object *o)
{
    enum object_symbol_source source;
    size_t len;
    object_symbols(o, &len, &source);
    return symbols_richness(source, object_has_debug_info(o));
}

/* Opens a file if it is the one; *best is the one that knows most so far. */
static void symbol_try(struct symbol_files *f, const char *path, const struct recording_object *o,
                       struct object **best)
{
    struct err why = {0};
    struct object *next =
        object_open(path, &(struct object_options){.debug_dir = f->debug_dirs}, NULL, &why);
    symbol_note_unread(f, &why);
    bool is_it = next && build_id_same(object_build_id(next), symbol_recorded_id(o)) &&
                 (!*best || symbol_richness_of(next) > symbol_richness_of(*best));
    if (!is_it) {
        object_close(next);
        return;
    }
    object_close(*best);
    *best = next;
}

/* The file that ran, if it still is where it was. Another build in its place is not taken. */
static struct object *symbol_open_recorded(struct symbol_files *f, const struct recording_object *o,
                                           bool *is_other, struct err *why)
{
    if (o->path[0] != '/' || o->is_deleted)
        return NULL;
    struct object *file =
        object_open(o->path, &(struct object_options){.debug_dir = f->debug_dirs}, NULL, why);
    if (!file)
        return NULL;
    *is_other = !build_id_same(object_build_id(file), symbol_recorded_id(o));
    if (*is_other) {
        object_close(file);
        return NULL;
    }
    return file;
}

/* What `perf record` has copied of it, or what `perf archive` has packed and the user unpacked:
 * ~/.debug/.build-id/AB/CDEF.../elf. */
static void symbol_try_kept(struct symbol_files *f, const struct recording_object *o,
                            struct object **best)
{
    struct bytes id = symbol_recorded_id(o);
    for (size_t len = id.len; len; len = build_id_shorter(id, len)) {
        const char *path = build_id_kept_path(&f->arena, id, len);
        if (path)
            symbol_try(f, path, o, best);
    }
}

struct object *symbol_files_open(struct symbol_files *f, const struct recording_object *o,
                                 bool *is_other, struct err *why)
{
    *is_other = false;
    *why = (struct err){0};
    struct object *best = symbol_open_recorded(f, o, is_other, why);
    struct bytes id = symbol_recorded_id(o), key = build_id_key(id);
    uint32_t number = id.len ? intern_find(&f->ids, (const char *)key.at, key.len) : INTERN_NONE;
    for (size_t i = 0; i < f->found.len && number != INTERN_NONE; i++)
        if (f->found.at[i].id == number)
            symbol_try(f, f->found.at[i].path, o, &best);
    if (!best)
        symbol_try_kept(f, o, &best);
    bool is_whole = best && object_has_debug_info(best);
    const char *served = is_whole ? NULL : symbol_ask_server(f, o);
    if (served)
        symbol_try(f, served, o, &best);
    return best;
}

const char *symbol_files_trouble(const struct symbol_files *f)
{
    return f->trouble;
}

/* Why one of the searched files could not be read; .system is 0: all could. */
static const struct err *symbol_files_unread(const struct symbol_files *f)
{
    return &f->unread;
}

/* Excerpts of all objects of a recording.
 *
 * Objects are taken in the order of their samples, so that what matters most gets its lines if
 * there is not time for all. What cannot be had is left out: a recording without symbols is one all
 * the same. The file is written beside and renamed, as all recordings are. */

static uint64_t symbols_now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void symbols_replace(struct recording *r, uint32_t object, const struct writer *w)
{
    recording_drop_excerpts(r, object);
    recording_add_excerpt(r, object, (struct bytes){w->out.at, w->out.len});
}

/* What a file would add to an excerpt. */
static bool symbols_are_more(struct object *file, const struct object *known,
                             const struct excerpt_facts *facts)
{
    enum object_symbol_source source;
    size_t len;
    if (!known || facts->ranges_left_out)
        return true;
    object_symbols(file, &len, &source);
    return symbols_richness(source, object_has_debug_info(file)) >
           symbols_richness(facts->symbols_source, facts->has_debug_info);
}

/* Adds the excerpt of one object, if there is more to be known than is. At most `most_ns` are
 * spent on its lines; names always fit. */
static void symbols_add(struct recording *r, const struct excerpt_needs *needs, uint32_t object,
                        struct symbol_files *files, uint64_t most_ns, struct recorded_symbols *out)
{
    struct arena scratch = {0};
    struct excerpt_facts facts = {0};
    struct object *known = excerpts_open(r, object, &facts, NULL), *file = NULL;
    bool is_other, is_whole = known && facts.has_debug_info && !facts.ranges_left_out;
    struct err why = {0};
    struct object *held = object < files->held_len && !is_whole ? files->held[object] : NULL;
    if (!is_whole && (!held || r->objects.at[object].build_id_bytes))
        file = symbol_files_open(files, &r->objects.at[object], &is_other, &why);
    if (held && (!file || symbol_richness_of(held) >= symbol_richness_of(file))) {
        object_close(file);
        file = held;
        why = (struct err){0};
    }
    out->objects++;
    if (errno_hides_file(why.system) && !out->unread.system)
        out->unread = why;
    if (file && symbols_are_more(file, known, &facts)) {
        struct writer w = {0};
        excerpt_make(&w, needs, object, file, most_ns);
        symbols_replace(r, object, &w);
        writer_deinit(&w);
        out->added++;
        /* Debug information is read as it is needed. */
        const char *refused;
        if (!out->unread.system && object_debug_refused(file, &refused)) {
            err_in(&out->unread, object_path(file), "%s", refused);
            out->unread.system = object_unread_errno(file);
        }
        object_close(known);
        known = excerpts_open(r, object, &facts, NULL);
    }
    out->left_out += facts.ranges_left_out;
    if (!known || facts.symbols_source == SYMBOLS_NONE) {
        out->without++;
        out->first_without = out->first_without ? out->first_without : r->objects.at[object].path;
    }
    object_close(known);
    if (file != held)
        object_close(file);
    arena_deinit(&scratch);
}

void recorded_add_symbols(struct recording *r, struct symbol_files *files, uint64_t most_ns,
                          struct recorded_symbols *out)
{
    struct arena scratch = {0};
    struct excerpt_needs *needs = excerpt_needs_new(r);
    /* The heaviest first. */
    struct keyed *order = ARENA_NEW(&scratch, struct keyed, r->objects.len);
    double *weight = ARENA_NEW(&scratch, double, r->objects.len);
    for (size_t i = 0; i < r->samples.len; i++)
        if (r->samples.at[i].node)
            weight[r->nodes.at[r->samples.at[i].node].object] += r->samples.at[i].count;
    for (uint32_t i = 0; i < r->objects.len; i++)
        order[i] = (struct keyed){sort_descending(weight[i]), i};
    sort_keyed(order, r->objects.len);
    uint64_t start_ns = symbols_now_ns();
    *out = (struct recorded_symbols){0};
    for (size_t i = 0; i < r->objects.len; i++) {
        const struct recording_object *o = &r->objects.at[order[i].item];
        uint64_t took_ns = symbols_now_ns() - start_ns;
        uint64_t left_ns = most_ns > took_ns ? most_ns - took_ns : 1;
        if (o->kind == RECORDING_OBJECT_FILE && !o->is_listed &&
            excerpt_is_needed(needs, order[i].item))
            symbols_add(r, needs, order[i].item, files, most_ns ? left_ns : 0, out);
    }
    if (!out->unread.system)
        out->unread = *symbol_files_unread(files);
    for (size_t i = 0; i < r->excerpts.len; i++)
        out->bytes += r->excerpts.at[i].bytes.len;
    excerpt_needs_free(needs);
    arena_deinit(&scratch);
}

void recorded_join_symbols(struct recording *r)
{
    for (size_t i = 1; i < r->excerpts.len; i++) {
        uint32_t object = r->excerpts.at[i].object;
        struct object *known =
            r->excerpts.at[i - 1].object == object ? excerpts_open(r, object, NULL, NULL) : NULL;
        struct writer w = {0};
        if (known) {
            excerpt_rewrite(&w, known);
            symbols_replace(r, object, &w);
            i = 0; /* the list is another one now */
        }
        writer_deinit(&w);
        object_close(known);
    }
}

/* The file is written beside and renamed, as all recordings are. */
bool recorded_write(const char *folder, const struct recording *r, struct err *e)
{
    struct arena scratch = {0};
    struct writer w = {.word = 8};
    recording_write(&w, r);
    bool ok = file_replace(arena_printf(&scratch, "%s/monarc.side", folder),
                           (struct bytes){w.out.at, w.out.len}, e);
    writer_deinit(&w);
    arena_deinit(&scratch);
    return ok;
}
