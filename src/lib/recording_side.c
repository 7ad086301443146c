/* Sidecars of recorders inside a process, read as a recording of that process.
 *
 * A sidecar has the process, its threads, stacks and the calls between objects. What happened
 * within an object is in a gmon.out that it names, which lies beside it. */
#include "lib/recording.h"

#include "base/path.h"
#include "profile/format/format.h"
#include "profile/format/recording_file.h"
#include "profile/format/sidecar.h"
#include "profile/model/recording_convert.h"

#include <string.h>
#include <unistd.h>

struct side {
    struct monarc_recording *r;
    struct call_input in;
    const char *path; /* of the sidecar, or NULL: then its files are not to be found */
    struct sidecar recording;
    struct arena paths;
    const char **names;       /* of the objects' files, or NULL */
    struct call_input *files; /* what is in them */
    struct profile *profiles;
    size_t unread;
    struct err why;
};

bool recording_is_side(struct bytes in)
{
    return sidecar_probe(in) && !recording_probe(in);
}

/* A file that was loaded again shares the profile of its first load. */
static bool side_is_first_load(const struct sidecar *r, size_t i)
{
    for (size_t k = 0; k < i; k++)
        if (sidecar_object_same(&r->objects.at[k], &r->objects.at[i]))
            return false;
    return true;
}

static bool side_name_file(struct side *s, size_t i)
{
    const char *name = s->recording.objects.at[i].gmon;
    if (!*name || strchr(name, '/'))
        return err_in(&s->why, s->in.name, "the sidecar names '%s' as a file of its folder", name);
    if (!side_is_first_load(&s->recording, i))
        return true;
    const char *slash = s->path ? strrchr(s->path, '/') : NULL;
    int folder = slash ? (int)(slash + 1 - s->path) : 0;
    s->unread += !s->path;
    if (s->path)
        s->names[i] = arena_printf(&s->paths, "%.*s%s", folder, s->path, name);
    return true;
}

static bool side_parse(void *context)
{
    struct side *s = context;
    struct sidecar *r = &s->recording;
    if (!sidecar_read(s->in.bytes, s->in.name, r, &s->why))
        return false;
    if (!sidecar_executable(r))
        return err_in(&s->why, s->in.name, "the recording names no executable");
    s->names = ARENA_NEW(&s->paths, const char *, r->objects.len);
    s->files = ARENA_NEW(&s->paths, struct call_input, r->objects.len);
    s->profiles = ARENA_NEW(&s->paths, struct profile, r->objects.len);
    for (size_t i = 0; i < r->objects.len; i++)
        if (!side_name_file(s, i))
            return false;
    return true;
}

/* An object without a file had nothing to put in it. */
static bool side_open_files(struct side *s, struct monarc_error *e)
{
    for (size_t i = 0; i < s->recording.objects.len; i++) {
        struct monarc_source in = monarc_from_path(s->names[i]);
        if (s->names[i] && !access(s->names[i], F_OK) &&
            !call_read(&in, &s->r->heap, &s->files[i], e))
            return false;
    }
    return true;
}

static bool side_convert(void *context)
{
    struct side *s = context;
    struct sidecar *r = &s->recording;
    struct err why = {0};
    struct format_hint hint = {.word = r->word, .order = r->big_endian ? ORDER_BIG : ORDER_LITTLE};
    for (size_t i = 0; i < r->objects.len; i++)
        if (s->files[i].bytes.at &&
            !format_read(s->files[i].bytes, s->files[i].name, &hint, &s->profiles[i], &s->why))
            return false;
    if (!recording_from_recording(&s->r->recording, r, s->profiles, &why))
        return err_in(&s->why, s->in.name, "%s", why.line);
    if (s->unread)
        vec_push(&s->r->recording.losses,
                 ((struct recording_loss){RECORDING_LOST_OTHER, s->unread, 0,
                                          "profiles of objects, which the sidecar only names"}));
    return true;
}

static void side_forget(struct side *s)
{
    for (size_t i = 0; s->files && i < s->recording.objects.len; i++) {
        profile_deinit(&s->profiles[i]);
        heap_give((void *)s->files[i].bytes.at);
    }
    arena_deinit(&s->paths);
    sidecar_deinit(&s->recording);
}

bool recording_read_side(struct monarc_recording *r, const char *path, const struct call_input *in,
                         struct monarc_error *e)
{
    struct side s = {.r = r, .in = *in, .path = path};
    enum heap_outcome outcome = heap_run(&r->heap, side_parse, &s);
    if (!call_result(outcome, MONARC_BAD_INPUT, &s.why, e) || !side_open_files(&s, e))
        return false;
    outcome = heap_run(&r->heap, side_convert, &s);
    if (!call_result(outcome, MONARC_BAD_INPUT, &s.why, e))
        return false;
    side_forget(&s);
    return true;
}
