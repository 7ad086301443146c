/* The sources that a measurement is about: those of a profile's lines and those of coverage, each
 * once.
 *
 * The two know sources by different names: debug information by the path that the compiler was
 * given, coverage by that path made whole. One file is one source, however its name is written, so
 * names are compared by their targets (realpath()); where there is no file, by the name itself.
 * Coverage comes first, as its names are shown relative to the project.
 *
 * A source that lies in none of the folders that may be shown is in the list, but has no path: its
 * text is not read. */
#include "bridge/bridge.h"

#include "base/path.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* Links are followed; NULL if there is nothing. */
static const char *resolved(struct measured_sources *f, const char *path)
{
    char whole[PATH_MAX];
    if (!path)
        return NULL;
    return realpath(path, whole) ? arena_printf(&f->arena, "%s", whole) : path;
}

/* What people read: relative to the folder, where it is below it. */
static const char *below(const char *path, const char *folder)
{
    const char *rest = folder ? path_below(path, folder) : NULL;
    return rest && *rest == '/' && rest[1] ? rest + 1 : path;
}

/* The source that the path leads to, or, where there is none, of that name. */
static struct measured_source *file_at(struct measured_sources *f,
                                       const struct measured_sources_input *in, const char *path,
                                       const char *name)
{
    const char *key = path ? path : name;
    uint32_t number = intern(&f->known, key, strlen(key));
    if (number == f->all.len) {
        bool is_outside = path && in->folders && !source_folders_have(in->folders, path);
        f->outside += is_outside;
        vec_push(&f->all, (struct measured_source){.shown = name,
                                                   .path = is_outside ? NULL : path,
                                                   .is_outside = is_outside,
                                                   .coverage = UINT32_MAX,
                                                   .first_listed = UINT32_MAX});
    }
    return &f->all.at[number];
}

void measured_sources_make(struct measured_sources *f, const struct measured_sources_input *in)
{
    *f = (struct measured_sources){0};
    if (in->coverage) {
        for (uint32_t i = 0; i < in->coverage->sources.len; i++) {
            const struct result_source *s = &in->coverage->sources.at[i];
            struct measured_source *file = file_at(f, in, resolved(f, s->file), s->whole);
            file->shown = s->path;
            file->coverage = i;
        }
    }
    if (in->lines) {
        /* A source may be listed several times under different names; they are linked. */
        const struct source_lines *lines = in->lines;
        f->next_listed = ARENA_NEW(&f->arena, uint32_t, lines->files.len);
        for (uint32_t i = 0; i < lines->files.len; i++) {
            const struct source_listed_file *listed = &lines->files.at[i];
            const char *path = resolved(f, source_find(in->search, listed->recorded));
            struct measured_source *file = file_at(f, in, path, listed->recorded);
            if (file->coverage == UINT32_MAX && file->first_listed == UINT32_MAX)
                file->shown =
                    below(path ? path : path_tidy(listed->recorded, &f->arena), in->folder);
            f->next_listed[i] = file->first_listed;
            file->first_listed = i;
            file->self += listed->self;
            uint32_t number = path_number(&f->recorded, listed->recorded);
            while (f->of_recorded.len <= number)
                vec_push(&f->of_recorded, UINT32_MAX);
            f->of_recorded.at[number] = (uint32_t)(file - f->all.at);
        }
    }
}

void measured_sources_deinit(struct measured_sources *f)
{
    vec_free(&f->all);
    vec_free(&f->of_recorded);
    path_numbers_deinit(&f->recorded);
    intern_deinit(&f->known);
    arena_deinit(&f->arena);
}

uint32_t measured_source_of(struct measured_sources *f, const char *recorded)
{
    uint32_t number = path_number(&f->recorded, recorded);
    return number < f->of_recorded.len ? f->of_recorded.at[number] : UINT32_MAX;
}
