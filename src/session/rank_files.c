/* Feeding recordings to a set of ranks.
 *
 * One recording is open at a time. Ranks of one job run the same code, so what an address stands
 * for is found once and kept by the object's identity (kind, path, build-id) and the address in it:
 * a recording whose addresses are all known is not resolved, and its symbols are not read.
 * Generated code has addresses of one process alone, and is looked up anew.
 *
 * A sample counts for the outermost call of MPI on its stack, as the library's inner calls are no
 * imbalance; a sample in one of MPI's libraries of which the call is not known, as the recorder
 * inside a program often leaves it, for those. If there is none, for the innermost function,
 * inlined ones included; or, by total times, for each function that is on the stack outside of MPI,
 * once.
 *
 *     samples -> (rank, node), sorted -> seconds of each region -> rank_set_add()
 *
 * Time is linear in samples and nodes but for the sort, which is by radix; memory is that of the
 * largest recording, and of all different addresses. */
#include "session/rank_files.h"

#include "base/path.h"
#include "base/sort.h"
#include "profile/analysis/names.h"

#include <stdio.h>
#include <string.h>

/* What a place stands for: regions, outermost first. */
struct known_place {
    uint32_t start, len; /* in `regions` */
};

/* An object in all recordings: two of one file name are one, as ranks may run different builds of
 * it, unless they are in one recording. */
struct rank_module {
    uint32_t file; /* the last recording that has it */
    bool is_program;
};

/* Of all recordings. `seconds` and `stamp` are indexed by region: a stamp is the number of the
 * stack that counted there last, so that recursion counts once and nothing has to be cleared
 * between stacks. */
struct rank_files {
    struct rank_set *set;
    const struct rank_files_options *options;
    struct arena arena;
    struct intern builds, objects;   /* as in struct rank_file */
    VEC(uint32_t) module_of;         /* of each build */
    VEC(struct rank_module) modules; /* [0]: of what is in no file */
    struct intern file_names;
    struct map module_named; /* of a number in `file_names`, and 0, 1, 2 ... */
    struct map function_of;  /* of build and address: its region */
    struct map twins;        /* of a region and a build: how many functions there have its key */
    struct map place_of;     /* of object and address */
    VEC(struct known_place) places;
    VEC(uint32_t) regions;
    VEC(double) seconds; /* per region of the set: of the rank that is added */
    VEC(uint32_t) touched, stamp;
    uint32_t stamps, unnumbered, files;
};

/* One recording on its way. Arrays are per node. */
struct rank_file {
    struct recorded recorded;
    const char *name;
    uint32_t *build;  /* per object: the number of its build */
    uint32_t *object; /* ... within which addresses stand for the same places */
    uint32_t *place;  /* the place */
    uint32_t *region; /* where a sample on the node counts by self time */
    uint32_t *mpi;    /* the outermost call of MPI on the way to it; or RANK_NONE */
    uint32_t event;
    struct arena scratch;
};

/* --- what addresses stand for ----------------------------------------------------------------- */

/* The modules of the recording's objects: those that are known, and for each other one the first of
 * its name that nothing else in this recording is. */
static void rank_file_modules(struct rank_files *f, const struct rank_file *file)
{
    const struct recording *r = &file->recorded.recording;
    struct map next = {0}; /* of a name: which of its modules to try */
    f->files++;
    for (uint32_t i = 0; i < r->objects.len; i++)
        if (file->build[i] < f->module_of.len)
            f->modules.at[f->module_of.at[file->build[i]]].file = f->files;
    for (uint32_t i = 0; i < r->objects.len; i++) {
        const struct recording_object *o = &r->objects.at[i];
        if (file->build[i] < f->module_of.len)
            continue;
        uint32_t module = 0;
        if (o->kind == RECORDING_OBJECT_FILE) {
            const char *name = path_base_name(o->path ? o->path : "");
            uint32_t number = intern(&f->file_names, name, strlen(name));
            uint32_t *attempt = map_at(&next, number, 0, 0, NULL);
            do {
                bool is_new;
                module = map_index(&f->module_named, number, (*attempt)++, f->modules.len, &is_new);
                if (is_new)
                    vec_push(&f->modules, (struct rank_module){0});
            } while (f->modules.at[module].file == f->files);
            f->modules.at[module].file = f->files;
        }
        vec_push(&f->module_of, module);
    }
    map_deinit(&next);
}

/* Builds of files by path and build-id. The same address is the same place in recordings of one
 * build, but not of generated code and of what a recording lists itself. */
static void rank_file_objects(struct rank_files *f, struct rank_file *file)
{
    const struct recording *r = &file->recorded.recording;
    file->build = ARENA_NEW(&file->scratch, uint32_t, r->objects.len);
    file->object = ARENA_NEW(&file->scratch, uint32_t, r->objects.len);
    for (uint32_t i = 0; i < r->objects.len; i++) {
        const struct recording_object *o = &r->objects.at[i];
        /* A path is not enough: hosts of one job may have different builds in the same place. */
        char id[2 * RECORDING_BUILD_ID_BYTES + 1];
        bytes_hex(id, o->build_id, o->build_id_bytes);
        bool is_own = o->kind == RECORDING_OBJECT_GENERATED || o->is_listed;
        const char *build =
            arena_printf(&file->scratch, "%u %s %s", o->kind, id, o->path ? o->path : "");
        const char *key = arena_printf(&file->scratch, "%s %s %u", build, is_own ? file->name : "",
                                       is_own ? i : 0);
        file->build[i] = intern(&f->builds, build, strlen(build));
        file->object[i] = intern(&f->objects, key, strlen(key));
    }
}

/* Whether the places of all nodes are known; `place` is filled as far as they are. */
static bool rank_file_is_known(struct rank_files *f, struct rank_file *file)
{
    const struct recording *r = &file->recorded.recording;
    file->place = ARENA_NEW(&file->scratch, uint32_t, r->nodes.len);
    for (uint32_t i = 1; i < r->nodes.len; i++) {
        const struct recording_node *n = &r->nodes.at[i];
        const uint32_t *found = map_find(&f->place_of, file->object[n->object], n->address);
        /* One unknown address is enough: rank_file_resolve() then fills in all places. */
        if (!found)
            return false;
        file->place[i] = *found;
    }
    return true;
}

/* A call of MPI is one region in whichever library it was found. Functions are known by object and
 * address; those of other builds by module and name, static ones by their source, too, and in the
 * order in which they are met if that does not distinguish them. */
static uint32_t rank_region_of(struct rank_files *f, const struct rank_file *file,
                               struct names *names, uint32_t function, struct arena *scratch)
{
    const struct functions *all = names->functions;
    const struct function *at = &all->at[function];
    const struct recording_object *object = &file->recorded.recording.objects.at[at->object];
    const char *call = rank_mpi_call(at->name, scratch),
               *label = function_object_label(all, function);
    if (call)
        return rank_set_region(f->set,
                               &(struct rank_region_key){.kind = RANK_REGION_MPI, .name = call});
    uint32_t build = file->build[at->object], module = f->module_of.at[build];
    struct rank_region_key key = {.kind = RANK_REGION_FUNCTION,
                                  .name = names_get(names, function),
                                  .object = module ? path_base_name(object->path) : label,
                                  .module = module,
                                  .is_inlined = at->is_inlined};
    uint32_t line;
    struct object *symbols = file->recorded.space.objects[at->object].file;
    if (at->is_static && !at->is_made && symbols)
        function_place(all, function, symbols, &key.source, &line);
    uint32_t region = rank_set_region(f->set, &key);
    if (!at->is_made && !at->is_inlined) {
        bool is_new;
        uint32_t *known =
            map_at(&f->function_of, build, function_link_address(all, function), 0, &is_new);
        /* Addresses of what a recording lists itself may stand for other names elsewhere. */
        if (is_new || strcmp(f->set->regions.at[*known].key.name, key.name)) {
            key.twin = (*map_at(&f->twins, region, build, 0, NULL))++;
            *known = rank_set_region(f->set, &key);
        }
        region = *known;
    }
    f->set->regions.at[region].is_of_library |= label != NULL;
    if (!label && module && !f->modules.at[module].is_program) {
        f->modules.at[module].is_program = true;
        f->set->programs++;
    }
    return region;
}

/* Files of Open MPI, MPICH and what they bring to talk to networks. */
static bool rank_is_mpi_library(const struct recording_object *o)
{
    static const char *const LIBRARIES[] = {
        "libmpi",  "libpmpi", "libmonarc_mpi", "libopen-pal", "libopen-rte", "libpmix.", "libucp.",
        "libuct.", "libucs.", "libucm.",       "libfabric.",  "libpsm2.",    "mca_",     NULL};
    const char *name = o->kind == RECORDING_OBJECT_FILE ? path_base_name(o->path) : "";
    return path_begins_with(name, LIBRARIES);
}

/* Finds the functions of all nodes, and keeps those of new places. */
static bool rank_file_resolve(struct rank_files *f, struct rank_file *file, struct err *e)
{
    struct recorded *recorded = &file->recorded;
    struct functions functions = {0};
    struct names names;
    if (!recorded_resolve(recorded, file->name, &f->options->recorded, &functions, e))
        return false;
    names_init(&names, &functions, f->options->no_demangle ? NULL : "auto", &file->scratch);
    const struct call_frames *frames = &recorded->named.frames;
    const struct recording *r = &recorded->recording;
    for (uint32_t i = 1; i < r->nodes.len; i++) {
        const struct recording_node *n = &r->nodes.at[i];
        bool is_new;
        uint32_t at =
            map_index(&f->place_of, file->object[n->object], n->address, f->places.len, &is_new);
        file->place[i] = at;
        /* Known from this recording or one before, with the same regions. */
        if (!is_new)
            continue;
        struct known_place place = {(uint32_t)f->regions.len, 0};
        uint32_t from = frames->start[frames->place[i]], to = frames->start[frames->place[i] + 1];
        for (uint32_t k = from; k < to && !space_is_cut(&recorded->space, i); k++, place.len++)
            vec_push(&f->regions,
                     rank_region_of(f, file, &names, frames->frame[k], &file->scratch));
        bool is_call = false;
        for (uint32_t k = place.start; k < f->regions.len; k++)
            is_call |= f->set->regions.at[f->regions.at[k]].key.kind == RANK_REGION_MPI;
        if (!is_call && rank_is_mpi_library(&r->objects.at[n->object])) {
            f->regions.len = place.start;
            vec_push(&f->regions,
                     rank_set_region(
                         f->set, &(struct rank_region_key){RANK_REGION_MPI, "[MPI's libraries]"}));
            place.len = 1;
        }
        vec_push(&f->places, place);
    }
    return true;
}

/* Parents precede their children, so one pass is enough. */
static void rank_file_regions(struct rank_files *f, struct rank_file *file)
{
    const struct recording *r = &file->recorded.recording;
    file->region = ARENA_NEW(&file->scratch, uint32_t, r->nodes.len);
    file->mpi = ARENA_NEW(&file->scratch, uint32_t, r->nodes.len);
    file->region[0] = file->mpi[0] = RANK_NONE;
    for (uint32_t i = 1; i < r->nodes.len; i++) {
        const struct known_place *p = &f->places.at[file->place[i]];
        uint32_t mpi = file->mpi[r->nodes.at[i].parent];
        for (uint32_t k = p->start; k < p->start + p->len && mpi == RANK_NONE; k++)
            if (f->set->regions.at[f->regions.at[k]].key.kind == RANK_REGION_MPI)
                mpi = f->regions.at[k];
        file->mpi[i] = mpi;
        /* Where nothing is known of an address, its caller answers for it. */
        file->region[i] = mpi != RANK_NONE ? mpi
                          : p->len         ? f->regions.at[p->start + p->len - 1]
                                           : file->region[r->nodes.at[i].parent];
    }
}

/* --- seconds ---------------------------------------------------------------------------------- */

/* Adds to a region of the rank, or with `stamp` only if the same stack has not yet. */
static void rank_file_add(struct rank_files *f, uint32_t region, double seconds, uint32_t stamp)
{
    while (f->seconds.len <= region) {
        vec_push(&f->seconds, 0);
        vec_push(&f->stamp, 0);
    }
    if (stamp && f->stamp.at[region] == stamp)
        return;
    f->stamp.at[region] = stamp;
    if (f->seconds.at[region] == 0)
        vec_push(&f->touched, region);
    f->seconds.at[region] += seconds;
}

/* To each function on the stack that is not inside of MPI, and to the call of MPI. */
static void rank_file_add_stack(struct rank_files *f, const struct rank_file *file, uint32_t node,
                                double seconds)
{
    const struct recording *r = &file->recorded.recording;
    uint32_t stamp = ++f->stamps;
    for (; node; node = r->nodes.at[node].parent) {
        const struct known_place *p = &f->places.at[file->place[node]];
        /* Within MPI: the call of it, further out on this stack, stands for all of it. */
        if (file->mpi[r->nodes.at[node].parent] != RANK_NONE)
            continue;
        for (uint32_t k = p->start; k < p->start + p->len; k++) {
            rank_file_add(f, f->regions.at[k], seconds, stamp);
            if (f->regions.at[k] == file->mpi[node])
                break;
        }
    }
}

/* The processes of a rank: when they ran, how the first one ended. */
static void rank_file_span(const struct recording *r, uint32_t process, struct rank_info *info)
{
    const struct recording_process *p = &r->processes.at[process];
    /* By the clock on the wall, since recordings of several hosts have no other in common. */
    uint64_t start = r->start_real_ns + p->start_ns;
    uint64_t after = p->end_ns ? p->end_ns : r->length_ns; /* 0: killed, and recovered */
    uint64_t end = after ? r->start_real_ns + after : 0;
    info->start_ns = start < info->start_ns ? start : info->start_ns;
    info->end_ns = end > info->end_ns ? end : info->end_ns;
}

/* The samples of one rank, sorted by node, into the set. */
static void rank_file_feed(struct rank_files *f, const struct rank_file *file,
                           const struct keyed *samples, size_t len, struct rank_info *info)
{
    const struct recording *r = &file->recorded.recording;
    for (size_t i = 0, end; i < len; i = end) {
        uint32_t node = (uint32_t)samples[i].key;
        uint64_t weight = 0;
        for (end = i; end < len && (uint32_t)samples[end].key == node; end++) {
            weight += r->samples.at[samples[end].item].weight;
            f->set->samples += r->samples.at[samples[end].item].count;
        }
        double seconds = (double)weight / 1e9;
        bool is_mpi = file->mpi[node] != RANK_NONE;
        info->total += seconds;
        info->mpi += is_mpi ? seconds : 0;
        /* What MPI waits for is MPI's already: the two must not overlap. */
        info->waiting += !is_mpi && recording_is_wait(r, node) ? seconds : 0;
        if (f->options->by_total)
            rank_file_add_stack(f, file, node, seconds);
        else if (file->region[node] != RANK_NONE)
            rank_file_add(f, file->region[node], seconds, 0);
    }
    rank_set_open(f->set, info);
    /* Only what this rank touched is added and cleared, so that a rank costs what it did, not what
     * all ranks did. */
    for (size_t i = 0; i < f->touched.len; i++) {
        rank_set_add(f->set, f->touched.at[i], f->seconds.at[f->touched.at[i]]);
        f->seconds.at[f->touched.at[i]] = 0;
    }
    f->touched.len = 0;
    rank_set_close(f->set);
}

/* --- a recording ------------------------------------------------------------------------------ */

/* Which rank of the recording a process is of: places in `infos`, or RANK_NONE. Without any rank,
 * all processes are one. */
static size_t rank_file_infos(struct rank_files *f, struct rank_file *file, struct rank_info *infos,
                              uint32_t *info_of)
{
    const struct recording *r = &file->recorded.recording;
    struct map seen = {0};
    size_t len = 0;
    for (uint32_t i = 0; i < r->processes.len; i++) {
        const struct recording_rank *rank = recording_rank_of(r, i);
        const struct recording_process *p = &r->processes.at[i];
        bool is_new;
        info_of[i] = RANK_NONE;
        if (r->ranks.len && !rank)
            continue;
        uint32_t number = rank ? rank->rank : f->unnumbered;
        uint32_t at = info_of[i] = map_index(&seen, number, 0, len, &is_new);
        if (is_new)
            infos[len++] = (struct rank_info){.rank = number,
                                              .size = rank ? rank->size : 0,
                                              .host = rank ? rank->host : "",
                                              .source = file->name,
                                              .start_ns = UINT64_MAX};
        rank_file_span(r, i, &infos[at]);
        if (p->has_ended && (is_new || !infos[at].has_status)) {
            infos[at].has_status = true;
            infos[at].status = p->status;
        }
    }
    f->unnumbered += !r->ranks.len;
    map_deinit(&seen);
    return len;
}

/* The requested event, or the first; times alone can be compared with runtimes. */
static bool rank_file_event(struct rank_file *file, const char *wanted, struct err *e)
{
    const struct recording *r = &file->recorded.recording;
    file->event = recording_find_event(r, wanted);
    if (file->event == RECORDING_NONE)
        return err_in(e, file->name, wanted ? "the event '%s' was not recorded" : "has no samples",
                      wanted);
    return r->events.at[file->event].unit == RECORDING_UNIT_NS ||
           err_in(e, file->name, "'%s' is no time: ranks are compared by times, as of --event cpu",
                  r->events.at[file->event].name);
}

static bool rank_file_take(struct rank_files *f, struct rank_file *file, struct err *e)
{
    const struct recording *r = &file->recorded.recording;
    struct arena *a = &file->scratch;
    struct rank_info *infos = ARENA_NEW(a, struct rank_info, r->processes.len + 1);
    uint32_t *info_of = ARENA_NEW(a, uint32_t, r->processes.len + 1);
    struct keyed *samples = ARENA_NEW(a, struct keyed, r->samples.len);
    size_t len = rank_file_infos(f, file, infos, info_of), n = 0;
    for (size_t i = 0; i < len; i++) {
        uint32_t other = rank_set_find(f->set, infos[i].rank);
        if (other != RANK_NONE)
            return err_in(e, file->name, "rank %u is in %s already: name the recordings of one job",
                          infos[i].rank, f->set->ranks.at[other].source);
    }
    for (uint32_t i = 0; i < r->samples.len; i++) {
        const struct recording_sample *s = &r->samples.at[i];
        uint32_t info = info_of[r->threads.at[s->thread].process];
        /* The launcher and its shells belong to no rank. */
        if (s->event == file->event && info == RANK_NONE)
            f->set->outside += (double)s->weight / 1e9;
        else if (s->event == file->event)
            samples[n++] = (struct keyed){map_two(info, s->node), i};
    }
    sort_keyed(samples, n);
    for (size_t i = 0, at = 0, end; i < len; i++, at = end) {
        for (end = at; end < n && samples[end].key >> 32 == i;)
            end++;
        rank_file_feed(f, file, samples + at, end - at, &infos[i]);
    }
    return true;
}

/* Keeps the first reason, as names that are missing in one rank look like functions of its own. */
static void rank_file_is_whole(const struct rank_file *file, struct err *unread)
{
    const struct recorded *r = &file->recorded;
    const char *why;
    if (!unread->line[0] && r->unread.system)
        *unread = r->unread;
    for (size_t i = 0; i < r->space.len && !unread->line[0]; i++) {
        struct object *object = r->space.objects[i].file;
        if (object && object_debug_refused(object, &why))
            err_in(unread, object_path(object), "%s", why);
    }
}

static bool rank_file_read(struct rank_files *f, const char *name, struct err *unread,
                           struct err *e)
{
    struct rank_file file = {.name = name};
    struct err why = {0};
    bool ok = true;
    if (!recorded_read(name, &f->options->recorded.read, &file.recorded.recording, &why)) {
        /* The first reason is kept and the others are read all the same: their ranks are worth a
         * look. */
        if (!unread->line[0])
            *unread = why;
    } else if ((ok = rank_file_event(&file, f->options->recorded.filter.event, e))) {
        rank_file_objects(f, &file);
        rank_file_modules(f, &file);
        ok = rank_file_is_known(f, &file) || rank_file_resolve(f, &file, e);
        if (ok)
            rank_file_regions(f, &file);
        ok = ok && rank_file_take(f, &file, e);
        rank_file_is_whole(&file, unread);
    }
    recorded_close(&file.recorded);
    arena_deinit(&file.scratch);
    return ok;
}

bool rank_files_read(struct rank_set *s, char *const *folders, size_t len,
                     const struct rank_files_options *o, struct err *unread, struct err *e)
{
    struct rank_files f = {.set = s, .options = o};
    bool ok = true;
    vec_push(&f.modules, (struct rank_module){0});
    progress_phase(o->recorded.read.progress, "reading recordings", len);
    for (size_t i = 0; ok && i < len; i++, progress_step(o->recorded.read.progress))
        ok = rank_file_read(&f, folders[i], unread, e);
    rank_set_finish(s);
    /* With nothing read at all, the reason is the error. */
    if (ok && !s->ranks.len && unread->line[0]) {
        *e = *unread;
        ok = false;
    }
    intern_deinit(&f.builds);
    intern_deinit(&f.objects);
    intern_deinit(&f.file_names);
    map_deinit(&f.module_named);
    map_deinit(&f.function_of);
    map_deinit(&f.twins);
    vec_free(&f.module_of);
    vec_free(&f.modules);
    map_deinit(&f.place_of);
    vec_free(&f.places);
    vec_free(&f.regions);
    vec_free(&f.seconds);
    vec_free(&f.touched);
    vec_free(&f.stamp);
    arena_deinit(&f.arena);
    return ok;
}
