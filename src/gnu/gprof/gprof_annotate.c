/* Which files -A is about, and where they go. Nothing that is a source of the program is written
 * to. */
#include "gnu/gprof/gprof_annotate.h"

#include "base/file.h"
#include "base/map.h"
#include "base/path.h"
#include "gnu/gnu_compat.h"
#include "source/text.h"

#include <sys/stat.h>
#include <unistd.h>

/* One call of -A. */
struct annotating {
    const struct gprof_options *options;
    struct gprof_report *report;
    struct gprof_source_style style;
    struct gnu_sources sources;
    const char **found; /* where each file is, or NULL */
    struct map inodes;  /* of all that were found */
    struct map written; /* likewise, of results */
    struct source_text text;
    bool was_refused;
};

static bool is_printed(const struct annotating *t, const struct gnu_source *s)
{
    return s->len && (s->calls || t->report->show_all);
}

/* Finds all files before the first result is written. */
static void find_sources(struct annotating *t, struct arena *a)
{
    t->found = ARENA_NEW(a, const char *, t->sources.len);
    for (uint32_t i = 0; i < t->sources.len; i++) {
        struct stat st;
        bool is_wanted = is_printed(t, &t->sources.files[i]) || t->options->separate_files;
        if (is_wanted)
            t->found[i] = source_find_gnu(&t->options->search, t->sources.files[i].path);
        if (t->found[i] && t->options->separate_files && !stat(t->found[i], &st))
            map_at(&t->inodes, st.st_dev, st.st_ino, i, NULL);
    }
}

/* Directories are empty files, as for GNU gprof; pipes and devices are not read. */
static bool read_source(struct annotating *t, const char *recorded, const char *path)
{
    struct err why;
    struct stat st;
    if (!path && access(recorded, F_OK) == 0)
        lookalike_say("%s: Permission denied\n", recorded);
    else if (!path)
        lookalike_say("%s: could not locate `%s'\n", t->options->whoami, recorded);
    if (!path)
        return false;
    if (source_text_read(&t->text, path, &why) || (!stat(path, &st) && S_ISDIR(st.st_mode)))
        return true;
    lookalike_say("%s\n", why.line);
    t->was_refused |= errno_is_trouble(why.system);
    return false;
}

static bool replaces_source(struct annotating *t, const char *target)
{
    struct stat st;
    return !stat(target, &st) && map_find(&t->inodes, st.st_dev, st.st_ino);
}

/* Two sources of one name share one result, in which the last one stays, as with GNU gprof; not
 * without a word. */
static void warn_of_earlier(struct annotating *t, const char *target, const char *source)
{
    struct stat st;
    if (!stat(target, &st) && map_find(&t->written, st.st_dev, st.st_ino))
        lookalike_say("%s: warning: %s held another source of that name; now it is %s\n",
                      t->options->whoami, target, source);
}

static void note_written(struct annotating *t, const char *target, uint32_t file)
{
    struct stat st;
    if (!stat(target, &st))
        map_at(&t->written, st.st_dev, st.st_ino, file, NULL);
}

/* FILE-ann in the current folder. */
static void write_beside(struct annotating *t, uint32_t file, struct arena *a)
{
    const struct gnu_source *s = &t->sources.files[file];
    const char *target = arena_printf(a, "%s-ann", path_base_name(s->path));
    struct out text;
    struct err why;
    if (replaces_source(t, target)) {
        lookalike_say("%s: %s: is a source file of the program; not overwritten\n",
                      t->options->whoami, target);
        t->was_refused = true;
        return;
    }
    out_init(&text, -1);
    gprof_annotated(t->report, s, t->text.bytes, &t->style, &text);
    warn_of_earlier(t, target, s->path);
    if (file_replace(target, (struct bytes){(const uint8_t *)text.at, text.len}, &why))
        note_written(t, target, file);
    else {
        lookalike_say("%s\n", why.line);
        t->was_refused = true;
    }
    out_deinit(&text);
}

bool gprof_annotate(const struct gprof_options *o, struct gprof_report *r, struct arena *a,
                    struct out *out)
{
    struct annotating t = {
        .options = o, .report = r, .style = {o->min_count, o->table_length, o->all_lines}};
    gnu_sources_make(&t.sources, r->functions, r->symbols, r->graph, r->selection, a);
    find_sources(&t, a);
    for (uint32_t i = 0; i < t.sources.len; i++) {
        const struct gnu_source *s = &t.sources.files[i];
        if (!is_printed(&t, s) || !read_source(&t, s->path, t.found[i]))
            continue;
        if (o->separate_files) {
            write_beside(&t, i, a);
            continue;
        }
        gprof_annotated_head(r, s->path, out);
        gprof_annotated(r, s, t.text.bytes, &t.style, out);
    }
    source_text_deinit(&t.text);
    map_deinit(&t.inodes);
    map_deinit(&t.written);
    return !t.was_refused;
}
