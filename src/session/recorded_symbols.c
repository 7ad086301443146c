/* Excerpts of all objects of a recording.
 *
 * Objects are taken in the order of their samples, so that what matters most gets its lines if
 * there is not time for all. What cannot be had is left out: a recording without symbols is one all
 * the same. The file is written beside and renamed, as all recordings are. */
#include "session/recorded_symbols.h"

#include "base/file.h"
#include "base/sort.h"
#include "profile/analysis/recording/excerpts.h"
#include "profile/format/recording_file.h"
#include "session/recorded.h"

#include <time.h>

static uint64_t symbols_now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* The heaviest first. */
static struct keyed *symbols_order(const struct recording *r, struct arena *a)
{
    struct keyed *order = ARENA_NEW(a, struct keyed, r->objects.len);
    double *weight = ARENA_NEW(a, double, r->objects.len);
    for (size_t i = 0; i < r->samples.len; i++)
        if (r->samples.at[i].node)
            weight[r->nodes.at[r->samples.at[i].node].object] += r->samples.at[i].count;
    for (uint32_t i = 0; i < r->objects.len; i++)
        order[i] = (struct keyed){sort_descending(weight[i]), i};
    sort_keyed(order, r->objects.len);
    return order;
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

/* Adds the excerpt of one object, if there is more to be known than is. */
static void symbols_add(struct recording *r, const struct excerpt_needs *needs, uint32_t object,
                        struct symbol_files *files, uint64_t most_ns, struct recorded_symbols *out)
{
    struct arena scratch = {0};
    struct excerpt_facts facts = {0};
    struct object *known = excerpts_open(r, object, &facts, NULL), *file = NULL;
    bool is_other, is_whole = known && facts.has_debug_info && !facts.ranges_left_out;
    const char *why;
    if (!is_whole)
        file = symbol_files_open(files, &r->objects.at[object], &is_other, &why, &scratch);
    out->objects++;
    if (file && symbols_are_more(file, known, &facts)) {
        struct writer w = {0};
        excerpt_make(&w, needs, object, file, most_ns);
        symbols_replace(r, object, &w);
        writer_deinit(&w);
        out->added++;
        object_close(known);
        known = excerpts_open(r, object, &facts, NULL);
    }
    out->left_out += facts.ranges_left_out;
    if (!known || facts.symbols_source == SYMBOLS_NONE) {
        out->without++;
        out->first_without = out->first_without ? out->first_without : r->objects.at[object].path;
    }
    object_close(known);
    object_close(file);
    arena_deinit(&scratch);
}

void recorded_add_symbols(struct recording *r, struct symbol_files *files, uint64_t most_ns,
                          struct recorded_symbols *out)
{
    struct arena scratch = {0};
    struct excerpt_needs *needs = excerpt_needs_new(r);
    const struct keyed *order = symbols_order(r, &scratch);
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

void recorded_complete(struct recording *r, const char *folder, const struct profile_options *o,
                       struct symbol_files *files, uint64_t most_ns, struct recorded_symbols *out)
{
    struct recording own = {0};
    size_t losses = r->losses.len;
    vec_copy(&own.arcs, &r->arcs);
    vec_copy(&own.blocks, &r->blocks);
    recorded_add_calls(folder, o, r);
    recorded_add_symbols(r, files, most_ns, out);
    vec_free(&r->arcs);
    vec_free(&r->blocks);
    r->arcs.at = own.arcs.at, r->arcs.len = own.arcs.len, r->arcs.cap = own.arcs.cap;
    r->blocks.at = own.blocks.at, r->blocks.len = own.blocks.len, r->blocks.cap = own.blocks.cap;
    r->losses.len = losses;
}

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
