/* Counters for gcc's -fprofile-use.
 *
 *     gcda, da of runs ─► one sum an object: counts, runs, largest counts of single runs
 *     notes beside     ─► which function each is, what ran in it
 *     new notes        ─► which of these functions are the same code ──► FOLDER/#dir#x.gcda
 *                                          │                             FOLDER/dir/x.gcda
 *                                          └► changed, gone: named ───► FOLDER/drifted.afdo
 *
 * gcc finds the counters of a function by a number and believes them if the checksum of its graph
 * agrees. The number of a static function is made of its line and of the object's name, so that a
 * comment above it is enough to lose its counters. Here functions are known by their names and
 * graphs: what only moved gets the numbers of the new build, also as a target of calls through
 * pointers.
 *
 * What changed cannot be counted by arcs any more. Its lines still have counts, which an AutoFDO
 * profile carries by name and line: it is written for the objects that lost functions, as gcc takes
 * only one of the two for an object.
 *
 * Objects are read one after the other, the old notes twice. */
#include "session/use_counters.h"

#include "base/path.h"
#include "base/sort.h"
#include "bridge/bridge.h"
#include "coverage/analysis/coverage_table.h"
#include "coverage/format/format.h"
#include "profile/format/source_formats.h"
#include "session/arcs_file.h"
#include "session/coverage.h"

#include <stdlib.h>
#include <string.h>

#define NONE ((uint32_t)NO_INDEX)

/* Of one call. Texts of results are in the result's arena. */
struct use_job {
    const struct use_request *request;
    struct use_counters *out;
    struct coverage_files found, against;
    VEC(const char *) matched; /* by object of `found`: its new notes, or NULL */
    struct problems problems;
    struct map renumbered; /* numbers of moved functions: old -> new */
    struct line_counts drifted;
    uint32_t release; /* of the gcc that wrote the notes */
    bool has_counts;  /* of drifted objects */
};

void use_counters_deinit(struct use_counters *u)
{
    vec_free(&u->functions);
    arena_deinit(&u->arena);
}

/* ---- the new build */

/* How long an end two paths have in common. */
static size_t use_common_end(const char *x, const char *y)
{
    size_t a = strlen(x), b = strlen(y), common = 0;
    while (common < a && common < b && x[a - common - 1] == y[b - common - 1])
        common++;
    return common;
}

/* The new notes of each object: those of the same file name whose path has the longest end in
 * common with it. Of several objects that would take the same notes, as those of a file that was
 * removed would take another folder's, the one with the longest end gets them. */
static void use_match(struct use_job *j)
{
    struct intern names = {0};
    VEC(uint32_t) last = {0}, before = {0}; /* new notes by file name */
    struct taker {
        uint32_t object;
        size_t common;
    } *takers = calloc(j->against.objects.len + 1, sizeof *takers);
    if (!takers)
        memory_exhausted(sizeof *takers);
    for (uint32_t i = 0; i < j->against.objects.len; i++) {
        const char *name = path_base_name(j->against.objects.at[i].notes);
        uint32_t number = intern(&names, name, strlen(name));
        if (number == last.len)
            vec_push(&last, NONE);
        vec_push(&before, last.at[number]);
        last.at[number] = i;
    }
    for (uint32_t i = 0; i < j->found.objects.len; i++) {
        const char *path = j->found.objects.at[i].notes, *name = path_base_name(path);
        uint32_t number = intern_find(&names, name, strlen(name)), found = NONE;
        size_t best = 0;
        for (uint32_t k = number == INTERN_NONE ? NONE : last.at[number]; k != NONE;
             k = before.at[k]) {
            size_t common = use_common_end(j->against.objects.at[k].notes, path);
            found = common >= best ? k : found; /* the first of equal ones: they come backwards */
            best = common >= best ? common : best;
        }
        vec_push(&j->matched, NULL);
        if (found != NONE && best > takers[found].common)
            takers[found] = (struct taker){i, best};
    }
    for (uint32_t k = 0; k < j->against.objects.len; k++)
        if (takers[k].common)
            j->matched.at[takers[k].object] = j->against.objects.at[k].notes;
    /* One file was named for one object: whatever it is called. */
    if (j->against.objects.len == 1 && j->found.objects.len == 1)
        j->matched.at[0] = j->against.objects.at[0].notes;
    intern_deinit(&names);
    vec_free(&last);
    vec_free(&before);
    free(takers);
}

/* A function of the new notes: `key` is its name and graph, its way of counting, and its line with
 * its index. */
struct use_place {
    uint64_t key[3];
};

/* Functions of the new notes, sorted: those of one name and graph side by side, by their lines.
 * Notes may have as many of one name as they like, so that none is looked for among all the others.
 */
struct use_names {
    struct intern names;
    VEC(struct use_place) places;
    const struct notes *notes;
};

/* Without a checksum of the graph, that of the source says what is the same code. */
static struct use_place use_place_of(uint32_t name, const struct notes_function *f, uint32_t index)
{
    uint32_t lineno = f->cfg_checksum ? 0 : f->lineno_checksum;
    return (struct use_place){{(uint64_t)name << 32 | f->cfg_checksum,
                               (uint64_t)lineno << 32 | f->instrumented,
                               (uint64_t)f->start_line << 32 | index}};
}

static int use_place_compare(const void *left, const void *right)
{
    const uint64_t *a = ((const struct use_place *)left)->key;
    const uint64_t *b = ((const struct use_place *)right)->key;
    size_t i = 0;
    while (i < 2 && a[i] == b[i])
        i++;
    return (a[i] > b[i]) - (a[i] < b[i]);
}

static void use_names_make(struct use_names *u, const struct notes *n)
{
    u->notes = n;
    for (size_t i = 0; i < n->functions.len; i++) {
        const char *name = n->functions.at[i].name ? n->functions.at[i].name : "";
        uint32_t number = intern(&u->names, name, strlen(name));
        vec_push(&u->places, use_place_of(number, &n->functions.at[i], (uint32_t)i));
    }
    if (u->places.len)
        qsort(u->places.at, u->places.len, sizeof *u->places.at, use_place_compare);
}

static void use_names_deinit(struct use_names *u)
{
    intern_deinit(&u->names);
    vec_free(&u->places);
}

/* The first place that is not before this one. */
static size_t use_first_at(const struct use_names *u, struct use_place wanted)
{
    return PARTITION_POINT(u->places.len, i, use_place_compare(&u->places.at[i], &wanted) < 0);
}

/* The function at a place if it is of that name, graph and way of counting; NULL: it is not. */
static const struct notes_function *use_at(const struct use_names *u, size_t at,
                                           struct use_place wanted)
{
    const struct use_place *p = at < u->places.len ? &u->places.at[at] : NULL;
    if (!p || p->key[0] != wanted.key[0] || p->key[1] != wanted.key[1])
        return NULL;
    return &u->notes->functions.at[(uint32_t)p->key[2]];
}

/* The same function in the new notes: of those with its name and graph the one that is nearest in
 * its lines, and of equally near ones the first in the file. *is_named: one of that name is there.
 */
static const struct notes_function *use_find(const struct use_names *u,
                                             const struct notes_function *f, bool *is_named)
{
    const char *name = f->name ? f->name : "";
    uint32_t number = intern_find(&u->names, name, strlen(name));
    *is_named = number != INTERN_NONE;
    if (!*is_named)
        return NULL;
    struct use_place wanted = use_place_of(number, f, 0);
    size_t at = use_first_at(u, wanted);
    const struct notes_function *after = use_at(u, at, wanted), *before = NULL;
    if (at && use_at(u, at - 1, wanted)) { /* the last of its line: the first is wanted */
        before = use_at(u, at - 1, wanted);
        before = use_at(u, use_first_at(u, use_place_of(number, before, 0)), wanted);
    }
    if (!after || !before)
        return after ? after : before;
    uint32_t down = f->start_line - before->start_line, up = after->start_line - f->start_line;
    return down < up || (down == up && before < after) ? before : after;
}

/* ---- one object */

static bool use_load(struct use_job *j, struct object_pair *p, const char *notes, struct err *e)
{
    return object_pair_load_notes(p, notes, ARCS_NONE, &j->problems) ||
           err_set(e, "%s", j->problems.at.at[j->problems.at.len - 1].text);
}

/* The numbers of functions that moved, of all objects, before any is written: a call through a
 * pointer in one may have reached a function of another. */
static bool use_renumber(struct use_job *j, struct object_pair *old, struct object_pair *new,
                         struct err *e)
{
    for (size_t i = 0; i < j->found.objects.len && j->request->against; i++) {
        const struct coverage_object *object = &j->found.objects.at[i];
        const char *path = j->matched.at[i];
        if (object->first_counters == NONE || !path)
            continue;
        if (!use_load(j, old, object->notes, e) || !use_load(j, new, path, e))
            return false;
        struct use_names names = {0};
        use_names_make(&names, &new->notes.notes);
        for (size_t k = 0; k < old->notes.notes.functions.len; k++) {
            const struct notes_function *f = &old->notes.notes.functions.at[k];
            bool is_named;
            const struct notes_function *g = use_find(&names, f, &is_named);
            if (g && g->ident != f->ident)
                *map_at(&j->renumbered, f->ident, 0, 0, NULL) = g->ident;
        }
        use_names_deinit(&names);
    }
    return true;
}

/* All runs of an object, summed; of da the identities are those of the notes. */
static bool use_sum(struct use_job *j, struct object_pair *p, const struct coverage_object *object,
                    struct err *e)
{
    size_t before = j->problems.at.len;
    bool is_first = true;
    for (uint32_t i = object->first_counters; i != NONE; i = j->found.counters.at[i].next) {
        const char *path = j->found.counters.at[i].path;
        if (!object_pair_load_counters(p, path, ARCS_NONE, &j->problems) ||
            j->problems.at.len > before) {
            if (!j->request->is_forced)
                return err_set(e, "%s", j->problems.at.at[before].text);
            before = j->problems.at.len;
            continue;
        }
        if (!object_pair_add_run(p, is_first))
            return err_in(e, path, "is of another build than the other runs of this object");
        is_first = false;
    }
    object_pair_take_sum(p);
    const struct arcs_origin *origin = &p->counters.counters.origin;
    if (origin->is_llvm)
        return err_in(e, object->notes,
                      "is of clang, whose -fprofile-use takes no gcda: optimize --for clang");
    return !is_first || err_in(e, object->notes, "none of its counters can be used");
}

/* Functions that were called by pointer are known by their numbers: values of the lists
 * {total, n, n * (number, count)}. Before gcc 10 they had other forms, which stay as they are. */
static void use_renumber_targets(const struct use_job *j, struct counters *c)
{
    for (size_t i = 0; i < c->records.len && dialect_of(&c->origin)->has_lists; i++) {
        const struct counted_record *r = &c->records.at[i];
        if (r->what != COUNTED_VALUES || r->kind != KIND_INDIRECT_TOPN || r->is_zero || !r->len)
            continue;
        uint64_t *at = c->values.at + r->first, *end = at + r->len;
        while (end - at >= 2 && at[1] <= (uint64_t)(end - at - 2) / 2) {
            uint64_t *next = at + 2 + 2 * at[1];
            for (at += 2; at < next; at += 2) {
                const uint32_t *new = *at <= UINT32_MAX ? map_find(&j->renumbered, *at, 0) : NULL;
                *at = new ? *new : *at;
            }
        }
    }
}

/* Leaves the functions that are kept, and the summary, which is of whole runs. */
static void use_drop(struct counters *c, const bool *is_kept)
{
    size_t kept = 0;
    bool keeps = true;
    for (size_t i = 0; i < c->records.len; i++) {
        const struct counted_record *r = &c->records.at[i];
        if (r->what == COUNTED_FUNCTION)
            keeps = is_kept[r->index];
        else if (r->what != COUNTED_VALUES && r->what != COUNTED_OTHER)
            keeps = true;
        if (keeps)
            c->records.at[kept++] = *r;
    }
    c->records.len = kept;
}

/* The result for one function of the old notes. */
static void use_report(struct use_job *j, const struct notes *n, const struct notes_function *f,
                       const struct notes_function *now, enum use_state state, uint64_t count)
{
    struct use_counters *u = j->out;
    const char *source = f->file < n->files.len ? n->files.at[f->file] : NULL;
    u->moved += state == USE_MOVED;
    u->changed += state == USE_CHANGED;
    u->gone += state == USE_GONE;
    u->lost += state == USE_MOVED ? 0 : count;
    vec_push(&u->functions,
             ((struct use_function){.name = arena_printf(&u->arena, "%s", f->name ? f->name : ""),
                                    .source = arena_printf(&u->arena, "%s", source ? source : ""),
                                    .line = f->start_line,
                                    .new_line = now ? now->start_line : 0,
                                    .state = state,
                                    .count = count}));
}

/* How often its blocks ran, all together. */
static uint64_t use_count(const struct flow *flow, const struct notes_function *f)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < f->blocks; i++)
        sum = add_saturating(sum, (uint64_t)flow_known_count(flow->blocks.at[f->first_block + i]));
    return sum;
}

/* Compares each function that has counters with the new notes, and gives those that are kept the
 * new build's numbers. Returns how many lost theirs. */
static uint64_t use_compare(struct use_job *j, struct object_pair *p, const struct notes *new,
                            bool *is_kept)
{
    const struct notes *n = &p->notes.notes;
    struct counters *c = &p->counters.counters;
    struct use_names names = {0};
    uint64_t lost = 0;
    use_names_make(&names, new);
    for (size_t i = 0; i < n->functions.len; i++) {
        const struct notes_function *f = &n->functions.at[i], *now = NULL;
        uint32_t counted = p->flow.pairing.counted.at[i];
        bool is_named = true;
        if (counted == NONE)
            continue;
        struct counted_function *of = &c->functions.at[counted];
        uint64_t count = use_count(&p->flow, f);
        j->out->count = add_saturating(j->out->count, count);
        if (of->cfg_checksum == f->cfg_checksum && !of->defect)
            now = use_find(&names, f, &is_named);
        if (!now) {
            lost++;
            use_report(j, n, f, NULL, is_named ? USE_CHANGED : USE_GONE, count);
            continue;
        }
        if (now->ident != of->ident || now->lineno_checksum != of->lineno_checksum)
            use_report(j, n, f, now, USE_MOVED, count);
        is_kept[counted] = true;
        j->out->kept++;
        of->ident = now->ident;
        of->lineno_checksum = now->lineno_checksum;
    }
    use_names_deinit(&names);
    return lost;
}

/* Where gcc looks for it depends on how the object is named when it is compiled, which notes do not
 * say: a relative name becomes the whole path with '#' for '/', an absolute one a path below the
 * folder. So both are written. */
static bool use_save(struct use_job *j, const struct arcs_file *counters, const char *notes,
                     struct err *e)
{
    struct arena *a = &j->out->arena;
    const char *output = j->request->output;
    if (path_has_suffix(output, ".gcda"))
        return arcs_file_save(counters, output, e);
    char *whole = realpath(notes, NULL);
    char *stem = arena_printf(a, "%.*s", (int)path_stem_length(whole ? whole : notes),
                              whole ? whole : notes);
    free(whole);
    const char *below = arena_printf(a, "%s/%s.gcda", output, *stem == '/' ? stem + 1 : stem);
    for (char *at = stem; *at; at++)
        *at = *at == '/' ? '#' : *at;
    return file_make_folders(below, e) && arcs_file_save(counters, below, e) &&
           arcs_file_save(counters, arena_printf(a, "%s/%s.gcda", output, stem), e);
}

/* The lines of an object that lost functions: of all its functions, as gcc will read no gcda for
 * it. */
static void use_add_drifted(struct use_job *j, const struct object_pair *p)
{
    const struct notes *n = &p->notes.notes;
    VEC(uint32_t) files = {0};
    for (size_t i = 0; i < n->files.len; i++) {
        const char *name = n->files.at[i] ? n->files.at[i] : "";
        vec_push(&files, intern(&j->drifted.files, name, strlen(name)));
    }
    line_counts_add(&j->drifted, n, &p->flow, files.at);
    vec_free(&files);
    j->out->drifted_objects++;
    j->has_counts = true;
}

static bool use_object(struct use_job *j, struct object_pair *p, struct object_pair *new,
                       const struct coverage_object *object, struct err *e)
{
    const char *path =
        j->request->against ? j->matched.at[object - j->found.objects.at] : object->notes;
    struct use_counters *u = j->out;
    if (!path) {
        u->unmatched_path =
            u->unmatched++ ? u->unmatched_path : arena_printf(&u->arena, "%s", object->notes);
        return true;
    }
    if (!use_load(j, p, object->notes, e) || !use_sum(j, p, object, e) ||
        (j->request->against && !use_load(j, new, path, e)))
        return false;
    const struct notes *now = j->request->against ? &new->notes.notes : &p->notes.notes;
    struct counters *c = &p->counters.counters;
    if (now->origin.version != c->origin.version)
        return err_in(e, path, "is of version %s, the counters of %s: another compiler's",
                      arcs_version_text(&now->origin).text, arcs_version_text(&c->origin).text);
    u->objects++;
    j->release = c->origin.number / 100u;
    for (size_t i = 0; i < c->summaries.len; i++) {
        const struct counters_summary *s = &c->summaries.at[i];
        u->runs = s->runs > u->runs ? s->runs : u->runs;
        u->sum_max = s->sum_max > u->sum_max ? s->sum_max : u->sum_max;
    }
    /* Counts that threads damaged are repaired: gcc would pass over the function. */
    object_pair_solve(p, true);
    flow_store(&p->notes.notes, &p->flow, c);
    bool *is_kept = calloc(c->functions.len + 1, sizeof *is_kept);
    if (!is_kept)
        memory_exhausted(c->functions.len + 1);
    uint64_t lost = use_compare(j, p, now, is_kept);
    if (lost)
        use_add_drifted(j, p);
    use_drop(c, is_kept);
    free(is_kept);
    use_renumber_targets(j, c);
    /* gcov pairs by it; gcc does not ask. */
    c->origin.stamp = now->origin.stamp;
    p->counters.kind = ARCS_GCDA;
    u->written++;
    return !j->request->output || use_save(j, &p->counters, path, e);
}

/* ---- all */

/* Counts of lines of what changed, for -fauto-profile. */
static bool use_write_drifted(struct use_job *j, struct err *e)
{
    struct source_profile profile = {.files = {0}};
    struct line_positions_report ignored;
    struct writer w = {0};
    uint64_t left_out;
    uint32_t version = afdo_version_of_gcc(j->request->gcc ? j->request->gcc : j->release);
    line_counts_settle(&j->drifted);
    line_counts_to_positions(&j->drifted, COMPILER_GCC, NULL, &profile, &ignored);
    const char *output = j->request->output;
    const char *path =
        path_has_suffix(output, ".gcda")
            ? arena_printf(&j->out->arena, "%.*s.afdo", (int)path_stem_length(output), output)
            : arena_printf(&j->out->arena, "%s/drifted.afdo", output);
    bool ok = true;
    if (version && profile.positions.len) {
        ok = afdo_write(&w, &profile, version, &left_out, e) &&
             file_replace(path, (struct bytes){w.out.at, w.out.len}, e);
        j->out->drifted = path;
    }
    writer_deinit(&w);
    source_profile_deinit(&profile);
    return ok;
}

static int by_lost_count(const void *left, const void *right)
{
    const struct use_function *a = left, *b = right;
    if ((a->state == USE_MOVED) != (b->state == USE_MOVED))
        return a->state == USE_MOVED ? 1 : -1;
    if (a->count != b->count)
        return a->count < b->count ? 1 : -1;
    int order = strcmp(a->source, b->source);
    return order ? order : (a->line > b->line) - (a->line < b->line);
}

static bool use_look(struct coverage_files *found, const char *path, struct err *e)
{
    const struct find_rules rules = {0};
    return coverage_files_look(found, path, &rules, e);
}

/* Finds the files. Mistakes are found before anything is written. */
static bool use_find_files(struct use_job *j, struct err *e)
{
    const struct use_request *r = j->request;
    const struct find_rules rules = {0};
    size_t objects = 0;
    for (size_t i = 0; i < r->inputs_len; i++)
        if (!use_look(&j->found, r->inputs[i], e))
            return false;
    coverage_files_pair(&j->found, &rules);
    if (r->against && !use_look(&j->against, r->against, e))
        return false;
    if (r->against)
        use_match(j);
    if (r->against && !j->against.objects.len)
        return err_in(e, r->against,
                      "has no notes: compile the new sources with -ftest-coverage and the same "
                      "options as before");
    for (size_t i = 0; i < j->found.counters.len; i++)
        if (!j->found.counters.at[i].is_paired && !r->is_forced)
            return err_in(e, j->found.counters.at[i].path,
                          "has no notes (gcno) of that name and stamp");
    for (size_t i = 0; i < j->found.objects.len; i++)
        objects += j->found.objects.at[i].first_counters != NONE;
    if (!objects)
        return err_set(e, "no counters (gcda, da) were found, which -fprofile-use takes");
    return !r->output || !path_has_suffix(r->output, ".gcda") || objects == 1 ||
           err_in(e, r->output, "is one file, but %zu objects have counters: name a folder",
                  objects);
}

bool use_counters_write(struct use_counters *u, const struct use_request *r, struct err *e)
{
    struct use_job j = {.request = r, .out = u};
    struct object_pair pair = {.notes_are_whole = false}, new = {.notes_are_whole = false};
    bool ok = use_find_files(&j, e) && use_renumber(&j, &pair, &new, e);
    for (size_t i = 0; ok && i < j.found.objects.len; i++)
        if (j.found.objects.at[i].first_counters != NONE)
            ok = use_object(&j, &pair, &new, &j.found.objects.at[i], e);
    if (ok && !u->written)
        ok = err_in(e, r->against,
                    "has the notes of none of the objects that have counters, such "
                    "as %s",
                    u->unmatched_path);
    if (ok && j.has_counts && r->output)
        ok = use_write_drifted(&j, e);
    if (u->functions.len)
        qsort(u->functions.at, u->functions.len, sizeof *u->functions.at, by_lost_count);
    object_pair_deinit(&pair);
    object_pair_deinit(&new);
    line_counts_deinit(&j.drifted);
    map_deinit(&j.renumbered);
    vec_free(&j.matched);
    problems_deinit(&j.problems);
    coverage_files_deinit(&j.found);
    coverage_files_deinit(&j.against);
    return ok;
}
