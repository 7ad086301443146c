/* Opening recordings.
 *
 * Only the files of objects in which something was measured are opened. A file with another
 * build-id than the recorded one is an error: its symbols would give wrong names. */
#include "cli/recorded.h"

#include "format/sidecar.h"

#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool is_folder(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

static bool no_sidecar(const char *folder, const char *live, struct err *e)
{
    if (access(live, F_OK) == 0)
        return err_in(e, folder,
                      "holds a recording that is not finished: the program still runs, or was "
                      "killed; then 'monarc recover %s' completes it",
                      folder);
    return err_in(e, folder, "is a folder without a recording: there is no monarc.side in it");
}

bool recorded_read_sidecar(const char *folder, struct recording *r, struct err *e)
{
    struct arena scratch = {0};
    struct file_buffer buffer = {0};
    const char *path = arena_printf(&scratch, "%s/monarc.side", folder);
    bool ok = access(path, F_OK) == 0
                  ? file_read(path, &buffer, e) && sidecar_read(file_bytes(&buffer), path, r, e)
                  : no_sidecar(folder, arena_printf(&scratch, "%s/monarc.live", folder), e);
    file_buffer_deinit(&buffer);
    arena_deinit(&scratch);
    return ok;
}

/* --- which objects matter -------------------------------------------------------------------- */

static void mark(const struct space *s, uint64_t address, bool *is_used)
{
    uint32_t object;
    if (space_place(s, address, &object))
        is_used[object] = true;
}

static void mark_used(const struct recorded *r, bool *is_used)
{
    is_used[0] = true;
    for (size_t i = 0; i < r->recording.nodes.len; i++)
        mark(&r->space, r->recording.nodes.at[i].address, is_used);
    for (size_t i = 0; i < r->recording.arcs.len; i++) {
        mark(&r->space, r->recording.arcs.at[i].from, is_used);
        mark(&r->space, r->recording.arcs.at[i].self, is_used);
    }
}

/* --- measurements ---------------------------------------------------------------------------- */

/* Adds the gmon.out of object number `i`, if there is one. */
static bool load_gmon(struct recorded *r, const char *folder, const struct recorded_options *o,
                      struct space_object *object, bool *is_used, struct err *e)
{
    const char *name = object->recorded->gmon;
    struct profile_options read = o->read;
    struct file_buffer buffer = {0};
    struct profile p = {0};
    if (!*name || strchr(name, '/'))
        return err_in(e, folder, "the sidecar names '%s' as a file of this folder", name);
    char *path = arena_printf(&r->arena, "%s/%s", folder, name);
    if (access(path, F_OK))
        return true;
    read.hint.word = r->recording.word;
    read.hint.order = r->recording.big_endian ? ORDER_BIG : ORDER_LITTLE;
    bool ok = profile_load(&read, path, &buffer, &p, e);
    if (ok) {
        *is_used |= p.arcs.len || p.blocks.len || profile_samples(&p);
        space_move_profile(object, &p);
        struct err why = {0};
        ok = profile_merge(&r->profile, &p, &why) || err_in(e, path, "%s", why.line);
    }
    profile_deinit(&p);
    file_buffer_deinit(&buffer);
    return ok;
}

static bool load_profiles(struct recorded *r, const char *folder, const struct recorded_options *o,
                          bool *is_used, struct err *e)
{
    for (uint32_t i = 0; i < r->space.len; i++)
        if (!load_gmon(r, folder, o, &r->space.objects[i], &is_used[i], e))
            return false;
    r->profile.word = r->recording.word;
    r->profile.big_endian = r->recording.big_endian;
    space_add_arcs(&r->space, &r->recording, &r->profile);
    return true;
}

/* --- files ----------------------------------------------------------------------------------- */

static const char *hex(struct bytes b, struct arena *a)
{
    char *text = arena_alloc(a, 2 * b.len + 1);
    static const char digits[] = "0123456789abcdef";
    for (size_t i = 0; i < b.len; i++) {
        text[2 * i] = digits[b.at[i] >> 4];
        text[2 * i + 1] = digits[b.at[i] & 15];
    }
    return text;
}

/* Why the file is not the recorded one, or NULL. A build-id longer than the sidecar holds is
 * compared as far as that. */
static const char *difference(const struct space_object *o, struct arena *a)
{
    struct bytes now = object_build_id(o->file);
    struct bytes then = {o->recorded->build_id, o->recorded->build_id_bytes};
    now.len = now.len < BUILD_ID_BYTES ? now.len : BUILD_ID_BYTES;
    if (now.len == then.len && !memcmp(now.at, then.at, now.len))
        return NULL;
    return arena_printf(a, "the file has build-id %s, recorded was %s",
                        now.len ? hex(now, a) : "(none)", then.len ? hex(then, a) : "(none)");
}

static bool open_file(struct recorded *r, struct space_object *object,
                      const struct recorded_options *o, struct err *e)
{
    const char *path = object->recorded->path;
    struct err why = {0};
    if (path[0] == '/')
        object->file =
            object_open(path, &(struct object_options){.debug_dir = o->debug_dir}, NULL, &why);
    if (!object->file) {
        if (object == r->space.objects && !o->is_forced)
            return err_set(e, "%s (--force reports without names)", why.line);
        r->missing = path[0] == '/' ? path : r->missing;
        return true;
    }
    const char *difference_found = difference(object, &r->arena);
    if (!difference_found)
        return true;
    if (space_is_recorder(object)) { /* an upgrade; its code is the profiler's with any names */
        object_close(object->file);
        object->file = NULL;
        return true;
    }
    r->mismatch = arena_printf(&r->arena, "%s: %s", path, difference_found);
    return o->is_forced ||
           err_in(e, path, "is not the file that was recorded: %s (--force reports all the same)",
                  difference_found);
}

bool recorded_open(struct recorded *r, const char *folder, const struct recorded_options *o,
                   struct functions *f, struct err *e)
{
    struct err why = {0};
    if (!recorded_read_sidecar(folder, &r->recording, e))
        return false;
    if (!space_lay_out(&r->space, &r->recording, &r->arena, &why))
        return err_in(e, folder, "%s", why.line);
    bool *is_used = ARENA_NEW(&r->arena, bool, r->space.len);
    mark_used(r, is_used);
    if (!load_profiles(r, folder, o, is_used, e))
        return false;
    for (uint32_t i = 0; i < r->space.len; i++)
        if (is_used[i] && !open_file(r, &r->space.objects[i], o, e))
            return false;
    space_functions(&r->space, f, &r->arena);
    stacks_measure(&r->stacks, &r->recording, &r->space, f, &r->arena);
    return true;
}

/* --- what is missing ------------------------------------------------------------------------- */

static void note_losses(struct recorded *r)
{
    for (size_t i = 0; i < r->recording.losses.len; i++) {
        const struct recorded_loss *l = &r->recording.losses.at[i];
        if (l->count)
            vec_push(&r->notes,
                     arena_printf(&r->arena, "recorder: %s (%" PRIu64 ")", l->text, l->count));
    }
}

static bool mentions_mcount(struct object *o)
{
    return object_mentions(o, "mcount") || object_mentions(o, "_mcount") ||
           object_mentions(o, "__fentry__") || object_mentions(o, "__cyg_profile_func_enter");
}

void recorded_take_notes(struct recorded *r, const struct profile *p)
{
    struct object *executable = r->space.objects[0].file;
    if (!p->arcs.len && executable && !mentions_mcount(executable))
        vec_push(&r->notes, "calls were not counted: the program is not compiled with -pg");
    if (r->recording.nodes.len && !r->stacks.has_callers)
        vec_push(&r->notes, "no callers are known: record with stacks, compile with -pg or "
                            "-fno-omit-frame-pointer");
    if (r->missing)
        vec_push(&r->notes,
                 arena_printf(&r->arena, "no symbols of %s: there is no such file", r->missing));
    note_losses(r);
}

void recorded_close(struct recorded *r)
{
    vec_free(&r->notes);
    for (uint32_t i = 0; i < r->space.len; i++)
        if (r->space.objects[i].file)
            object_close(r->space.objects[i].file);
    profile_deinit(&r->profile);
    recording_deinit(&r->recording);
    arena_deinit(&r->arena);
}
