/* From operands to a profile by source position.
 *
 *     recording, perf.data ─┐
 *     gmon.out, sprof, fdata ┴► samples and calls by address ─► functions, blocks, line table ─┐
 *     gcda, da, profraw ─► counts of lines ─► functions around them ─────────────────────────┼► sum
 *     AutoFDO, LLVM's sample profiles ───────────────────────────────────────────────────────┘
 *
 * Samples of all files are added up before they are mapped, as blocks with more samples are less
 * uncertain. Of a recording only what was sampled in the program itself counts; the rest is
 * reported. Stacks say who called whom where no calls were counted.
 *
 * A program is known by its build-id. Samples of another build have other addresses, and are
 * refused without --force. Counts of lines need no program at all. Memory is the input's and that
 * of the debug information of measured functions. */
#include "session/source_profiles.h"

#include "base/build_id.h"
#include "base/path.h"
#include "session/arcs_profile.h"
#include "session/imported.h"
#include "session/llvm_file.h"
#include "session/recorded.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* The object goes before the arena, in which the table of its functions is. */
void source_inputs_deinit(struct source_inputs *s)
{
    code_measured_deinit(&s->measured);
    source_profile_deinit(&s->profile);
    source_mapping_deinit(&s->mapping);
    if (s->object)
        object_close(s->object);
    arena_deinit(&s->arena);
}

/* ---- profiles by source position */

static bool may_be_source_profile(struct bytes first)
{
    return source_format_probe(first) != NULL;
}

/* The name says nothing: create_gcov's default is fbdata.afdo, clang's users write .prof. Not of
 * standard input, which could not be read again. */
bool is_source_profile(const char *path)
{
    struct file_buffer b = {0};
    struct err ignored;
    bool is_one = !path_is_folder(path) && strcmp(path, "-") != 0 &&
                  file_read_if(path, may_be_source_profile, &b, &ignored) &&
                  source_format_probe(file_bytes(&b));
    file_buffer_deinit(&b);
    return is_one;
}

/* Its bytes say which format it is. */
bool source_profile_load(const char *path, struct source_profile *p,
                         const struct source_format **format, uint32_t *version, struct err *e)
{
    struct file_buffer b = {0};
    /* What was measured is what such a profile is made of: the next step is named. */
    bool ok = !recorded_is_run(path)
                  ? file_read(path, &b, e)
                  : err_in(e, path,
                           "is a recording, not a profile for a compiler; 'monarc optimize --for "
                           "gcc|clang -o FILE %s' makes one of it",
                           path);
    const struct source_format *f = ok ? source_format_probe(file_bytes(&b)) : NULL;
    if (ok && !f)
        ok = err_in(e, path,
                    "is neither an AutoFDO profile of gcc, a sample profile of LLVM, fdata, nor "
                    "a pre-aggregated profile");
    ok = ok && f->read(file_bytes(&b), path, p, e);
    if (format)
        *format = f;
    if (version)
        *version = afdo_version(file_bytes(&b));
    file_buffer_deinit(&b);
    return ok;
}

const struct source_format *source_format_named(const char *name)
{
    for (size_t i = 0; i < SOURCE_FORMATS; i++)
        if (!strcmp(source_formats[i].name, name))
            return &source_formats[i];
    return NULL;
}

/* Profiles by address, into one. fdata with branches and such without, and those of programs before
 * and after BOLT, do not add up: the reader refuses the second kind that it meets. */
static bool merge_by_address(const struct source_output *target, enum source_format_kind kind,
                             char *const *paths, size_t len, struct err *e)
{
    struct fdata fdata = {0};
    struct preaggregated preaggregated = {.pairs = 0};
    struct writer w = {0};
    bool ok = true, is_fdata = kind == SOURCE_FDATA;
    for (size_t i = 0; ok && i < len; i++) {
        struct file_buffer b = {0};
        ok = file_read(paths[i], &b, e);
        const struct source_format *format = ok ? source_format_probe(file_bytes(&b)) : NULL;
        if (ok && (!format || format->kind != kind))
            ok = err_in(e, paths[i], "is no %s profile, as the first input is",
                        is_fdata ? "fdata" : "pre-aggregated");
        ok = ok && (is_fdata ? fdata_read(file_bytes(&b), paths[i], &fdata, e)
                             : preaggregated_read(file_bytes(&b), paths[i], &preaggregated, e));
        file_buffer_deinit(&b);
    }
    if (ok && is_fdata)
        fdata_write(&w, &fdata);
    else if (ok)
        preaggregated_write(&w, &preaggregated);
    ok = ok && file_replace(target->output, (struct bytes){w.out.at, w.out.len}, e);
    writer_deinit(&w);
    fdata_deinit(&fdata);
    preaggregated_deinit(&preaggregated);
    return ok;
}

/* Why one does not become the other: a program is needed, in which addresses have lines; or BOLT,
 * which knows its blocks. */
static bool refuse_conversion(const char *path, const struct source_format *from,
                              const struct source_format *to, struct err *e)
{
    if (!source_format_is_by_address(from))
        return err_in(e, path, "goes by lines of sources, and %s by addresses", to->name);
    if (!source_format_is_by_address(to))
        return err_in(e, path,
                      "goes by addresses: 'monarc optimize --for gcc' or 'clang' finds their lines "
                      "in PROGRAM");
    if (from->kind == SOURCE_FDATA)
        return err_in(e, path, "goes by symbols, and pre-aggregated profiles by addresses");
    return err_in(e, path,
                  "becomes fdata by 'perf2bolt PROGRAM --pa -p %s -o FILE', which knows the "
                  "blocks of PROGRAM",
                  path);
}

/* All inputs are read before the output is begun, so that it may be one of them. BOLT's go by
 * addresses: they and the others do not mix. */
bool source_merge(const struct source_output *target, char *const *paths, size_t len,
                  const char **note, struct arena *a, struct err *e)
{
    struct source_profile sum = {0};
    struct writer w = {0};
    const struct source_format *to = target->to, *format;
    uint32_t version = target->version, found;
    uint64_t left_out = 0;
    bool ok = true;
    *note = NULL;
    for (size_t i = 0; ok && i < len; i++) {
        ok = source_profile_load(paths[i], &sum, &format, &found, e);
        /* The first one decides; positions that were read are not written. */
        if (ok && i == 0 && source_format_is_by_address(format) &&
            (!to || to->kind == format->kind)) {
            source_profile_deinit(&sum);
            return merge_by_address(target, format->kind, paths, len, e);
        }
        if (ok && (source_format_is_by_address(format) || (to && source_format_is_by_address(to))))
            ok = refuse_conversion(paths[i], format, to ? to : format, e);
        /* What was not requested is as in the first input that has it; LLVM's files name no version
         * of gcc, and the default is that of gcc 12. */
        to = to ? to : format;
        version = version ? version : found;
    }
    if (ok && to->kind == SOURCE_AFDO)
        ok = afdo_write(&w, &sum, version ? version : afdo_version_of_gcc(12), &left_out, e);
    else if (ok && to->kind == SOURCE_LLVM_TEXT)
        ok = llvm_text_write(&w, &sum, e);
    else if (ok)
        llvm_binary_write(&w, &sum);
    ok = ok && file_replace(target->output, (struct bytes){w.out.at, w.out.len}, e);
    if (left_out)
        *note = arena_printf(a, "%" PRIu64 " places are left out: the format has 16 bits for lines",
                             left_out);
    writer_deinit(&w);
    source_profile_deinit(&sum);
    return ok;
}

/* ---- who compiled the program */

/* The first number with a dot in `Debian clang version 14.0.6`, `GNU C17 12.2.0 -O2`. */
static uint32_t release_of(const char *producer)
{
    for (const char *at = producer; *at; at++)
        /* Digits within a word are the language's (C17), not the release. */
        if (isdigit((unsigned char)*at) && (at == producer || at[-1] == ' ')) {
            char *end;
            unsigned long release = strtoul(at, &end, 10);
            if (*end == '.' && release < 1000)
                return (uint32_t)release;
            at = end - 1;
            if (!*end)
                break;
        }
    return 0;
}

/* Assemblers and linkers have units, too; the first compiler counts. Without debug information,
 * .comment may have it. */
static void find_producer(struct source_inputs *s)
{
    const char *found = NULL;
    for (uint32_t i = 0; i < s->functions.len && !found; i++) {
        const char *producer = object_producer(s->object, s->functions.at[i].start);
        if (producer && strncmp(producer, "GNU AS", 6) != 0 &&
            (!strncmp(producer, "GNU ", 4) || strstr(producer, "clang") ||
             strstr(producer, "rustc") || strstr(producer, "LLVM")))
            found = producer;
    }
    const char *comment = object_facts(s->object)->compiler;
    s->producer = found ? found : comment;
    if (!s->producer)
        return;
    s->is_gcc = !strncmp(s->producer, "GNU ", 4) || !strncmp(s->producer, "GCC:", 4);
    /* Whoever is not gcc and was let through above builds on LLVM: clang, rustc and others. */
    s->is_llvm = !s->is_gcc;
    s->release = release_of(s->producer);
}

/* ---- samples and calls by address */

/* Samples of a bin are spread over its bytes, of wide ones over so many places. */
static void add_histogram(struct source_inputs *s, const struct histogram *h)
{
    enum { MOST_PLACES = 16 };
    for (uint32_t i = histogram_next(h, 0); i < h->bins; i = histogram_next(h, i + 1)) {
        uint64_t low = histogram_bin_ceiling(h, i), high = histogram_bin_ceiling(h, i + 1);
        uint64_t bytes = high > low ? high - low : 1;
        uint64_t places = bytes < MOST_PLACES ? bytes : MOST_PLACES;
        /* Parts of a sample: the places of a bin add up to the bin again. */
        double part = (double)histogram_get(h, i) / (double)places;
        for (uint64_t k = 0; k < places; k++)
            vec_push(&s->measured.hits, (struct code_hit){low + bytes * k / places, part});
    }
}

/* Calls are known by their return address: the byte before it is in the call. */
static bool add_profile(struct source_inputs *s, const struct source_request *r, const char *path,
                        struct err *e)
{
    struct profile p = {0};
    struct profile_options hinted = profile_options_of(&r->session->read, s->object);
    struct fit fit;
    char *const paths[] = {(char *)path};
    bool ok = profiles_load(&hinted, paths, 1, &p, e);
    if (ok && profile_has_dimensions(&p))
        ok = err_in(e, path, "holds samples of several dimensions; --dimension chooses one");
    if (ok) {
        /* Such a file has no build-id. Whether its addresses fit the functions is all the
         * evidence. */
        fit_judge(&fit, &p, s->object, &s->functions);
        ok = fit.kind == FIT_WELL || r->session->is_forced ||
             err_set(e, "%s was not recorded by %s: %s (--force takes it anyway)", path, s->program,
                     fit_evidence(&fit, &p, s->object, &s->arena));
    }
    for (size_t i = 0; ok && i < p.histograms.len; i++)
        add_histogram(s, &p.histograms.at[i]);
    for (size_t i = 0; ok && i < p.arcs.len; i++) {
        const struct arc *a = &p.arcs.at[i];
        vec_push(&s->measured.calls,
                 (struct code_called){a->from ? a->from - 1 : 0, a->self, (double)a->count});
        s->measured.has_counted_calls = true;
    }
    profile_deinit(&p);
    return ok;
}

/* ---- profiles of BOLT */

/* Distinguished from profiles by source position, as they have none, and need the program to become
 * one. NULL for another file. Standard input could not be read again. */
static const struct source_format *format_by_address(const char *path)
{
    struct file_buffer b = {0};
    struct err ignored;
    const struct source_format *f = NULL;
    if (!path_is_folder(path) && strcmp(path, "-") != 0 &&
        file_read_if(path, may_be_source_profile, &b, &ignored))
        f = source_format_probe(file_bytes(&b));
    file_buffer_deinit(&b);
    return f && source_format_is_by_address(f) ? f : NULL;
}

/* Branches, stretches of code and samples, at addresses as linked. */
static bool add_preaggregated(struct source_inputs *s, const char *path, struct err *e)
{
    struct file_buffer b = {0};
    struct preaggregated p = {.pairs = 0};
    bool ok = file_read(path, &b, e) && preaggregated_read(file_bytes(&b), path, &p, e);
    for (size_t i = 0; ok && i < p.lines.len; i++) {
        const struct preaggregated_line *l = &p.lines.at[i];
        uint64_t at[PREAGGREGATED_PLACES] = {0};
        /* Of a line of fewer addresses the others are place 0; they are not read. */
        for (size_t k = 0; k < PREAGGREGATED_PLACES; k++) {
            const struct preaggregated_place *place = &p.places.at[l->places[k]];
            /* -1, -2 and -3 stand for what is not known, or not ours. */
            at[k] = place->is_elsewhere || place->address > UINT64_MAX - 3 ? 0 : place->address;
        }
        struct code_branch branch = {.count = l->count, .missed = l->missed};
        if (l->kind == 'S') {
            if (at[0])
                vec_push(&s->measured.hits, (struct code_hit){at[0], (double)l->count});
            continue;
        }
        bool is_stretch = l->kind == 'F' || l->kind == 'f' || l->kind == 'r';
        branch.is_stretch = is_stretch;
        branch.from = is_stretch ? 0 : at[0];
        branch.to = is_stretch ? at[0] : at[1];
        branch.end = is_stretch ? at[1] : l->kind == 'B' ? 0 : at[2];
        if (branch.from || branch.to)
            vec_push(&s->measured.branches, branch);
    }
    preaggregated_deinit(&p);
    file_buffer_deinit(&b);
    return ok;
}

/* Where symbols begin, by name and number: 0, or of static functions which of that name, by
 * address. BOLT writes "often/2"; "often/twin.c/1" is one of a file, and known if there is no
 * other. */
static bool fdata_symbol(const struct source_inputs *s, const struct map *of_name,
                         const struct intern *names, const char *name, uint64_t *address)
{
    const char *slash = strchr(name, '/'), *last = strrchr(name, '/');
    char *end = NULL;
    unsigned long number = slash ? strtoul(last + 1, &end, 10) : 0;
    uint32_t text = intern_find(names, name, slash ? (size_t)(slash - name) : strlen(name));
    if ((slash && (!number || *end)) || text == INTERN_NONE ||
        (slash != last && map_find(of_name, text, 2)))
        return false;
    const uint32_t *found = map_find(of_name, text, number);
    size_t len;
    if (found)
        *address = object_symbols(s->object, &len, NULL)[*found].address;
    return found;
}

/* Edges and samples, at addresses.
 *
 *     1 work 47 1 work 4a 3 90000    an edge within work: from its address + 47 to + 4a
 *     1 work 5d 1 often/1 0 0 75     a call, of the first static function of that name
 *     0 [unknown] 0 1 main 0 0 1     main was entered from elsewhere: one end alone
 *     1 other 47 1 other 4a 0 12     no function of ours: a stranger's, which is reported
 *     1 work 23 7                    a sample, in a file that says so in its first line
 *
 * Symbols are numbered first, those of a name by address, so that each line finds its own at once;
 * all names that an address has are known, as BOLT chooses another one of them than reports do.
 * Sorting symbols is what it costs. */
static bool add_fdata(struct source_inputs *s, const char *path, struct err *e)
{
    struct file_buffer b = {0};
    struct fdata f = {0};
    struct intern names = {0};
    struct map of_name = {0};
    size_t len;
    const struct object_symbol *symbols = object_symbols(s->object, &len, NULL);
    bool ok = file_read(path, &b, e) && fdata_read(file_bytes(&b), path, &f, e);
    if (ok && f.head.is_bolted)
        ok =
            err_in(e, path, "has addresses of a program that BOLT made, and not of %s", s->program);
    struct arena scratch = {0};
    struct keyed *order = ARENA_NEW(&scratch, struct keyed, len + 1);
    /* Per name: how many static functions of it were met so far. */
    uint32_t *statics = ARENA_NEW(&scratch, uint32_t, len + 1);
    bool is_new;
    for (size_t i = 0; i < len; i++)
        order[i] = (struct keyed){symbols[i].address, (uint32_t)i};
    sort_keyed(order, len);
    for (size_t i = 0; ok && i < len; i++) {
        const struct object_symbol *symbol = &symbols[order[i].item];
        if (symbol->type != SYMBOL_FUNC && symbol->type != SYMBOL_IFUNC)
            continue;
        uint32_t text = intern(&names, symbol->name, strlen(symbol->name));
        bool is_static = symbol->binding == BIND_LOCAL;
        map_index(&of_name, text, is_static ? ++statics[text] : 0, order[i].item, &is_new);
    }
    /* Both ends of each line. What has no symbol, "[unknown]", is of kind 0; memory of 3 and above.
     */
    for (size_t i = 0; ok && i < f.lines.len; i++) {
        const struct fdata_line *l = &f.lines.at[i];
        uint64_t at[2] = {0, 0};
        for (int k = 0; k < 2; k++) {
            uint32_t number = k ? l->to : l->from;
            const struct fdata_place *place = number == FDATA_NONE ? NULL : &f.places.at[number];
            bool is_ours = place && (place->kind == 1 || place->kind == 2) &&
                           fdata_symbol(s, &of_name, &names, f.names.texts.at[place->name], &at[k]);
            at[k] = is_ours ? at[k] + place->offset : 0;
        }
        if (f.head.is_samples && at[0])
            vec_push(&s->measured.hits, (struct code_hit){at[0], (double)l->count});
        else if (at[0] || at[1])
            vec_push(&s->measured.branches,
                     (struct code_branch){at[0], at[1], 0, l->count, l->missed, true});
        else if (f.places.at[l->from].kind)
            s->strangers = add_saturating(s->strangers, l->count);
    }
    arena_deinit(&scratch);
    map_deinit(&of_name);
    intern_deinit(&names);
    fdata_deinit(&f);
    file_buffer_deinit(&b);
    return ok;
}

/* ---- recordings */

/* Both have one, and it is the same. */
static bool is_same_id(const struct recording_object *o, struct bytes id)
{
    return o->build_id_bytes && build_id_same((struct bytes){o->build_id, o->build_id_bytes}, id);
}

/* Marks the objects of the recording that are the program: those of its build-id, or of its name
 * where one of the two has none. */
static bool find_program(struct source_inputs *s, const struct source_request *r, const char *path,
                         const struct recording *rec, bool *is_program, struct err *e)
{
    struct bytes id = object_build_id(s->object);
    /* For the messages: a namesake of another build; any file that ran. */
    const char *other = NULL, *ran = NULL;
    bool found = false;
    for (uint32_t i = 0; i < rec->objects.len; i++) {
        const struct recording_object *o = &rec->objects.at[i];
        if (o->kind != RECORDING_OBJECT_FILE || !o->path)
            continue;
        bool is_named = !strcmp(path_base_name(o->path), path_base_name(s->program));
        bool has_ids = o->build_id_bytes && id.len;
        is_program[i] =
            has_ids ? is_same_id(o, id) || (r->session->is_forced && is_named) : is_named;
        found |= is_program[i];
        if (is_named && !is_program[i])
            other = o->path;
        ran = ran ? ran : o->path;
    }
    if (found)
        return true;
    return other ? err_set(e,
                           "%s: %s was another build of %s (its build-id differs), whose addresses "
                           "are not those of this one; name the build that ran, or --force",
                           path, other, s->program)
                 : err_in(e, path, "has nothing of %s; %s ran", s->program,
                          ran ? ran : "no file that is known");
}

/* Branches that the CPU noted, as far as one of their ends is in the program. They are of the whole
 * recording: of a requested part, only its samples are known. */
static void add_branches(struct source_inputs *s, const struct recording *rec,
                         const bool *is_program)
{
    for (size_t i = 0; i < rec->branches.len; i++) {
        const struct recording_branch *b = &rec->branches.at[i];
        bool has_from = b->from_object != RECORDING_NONE && is_program[b->from_object];
        bool has_to = b->to_object != RECORDING_NONE && is_program[b->to_object];
        if (has_from || has_to)
            vec_push(&s->measured.branches,
                     (struct code_branch){has_from ? b->from : 0, has_to ? b->to : 0,
                                          has_to ? b->end : 0, b->count, b->missed});
    }
}

/* The samples of each node go to its address; what was seen below a call, to the call. */
static void add_recording(struct source_inputs *s, const struct recorded *run,
                          const bool *is_program)
{
    struct arena scratch = {0};
    const struct recording *rec = &run->recording;
    const struct recording_weights *w = &run->weights;
    size_t len = rec->nodes.len;
    /* Nodes follow their callers, so that one pass from the end sums up what is below each.
     */
    double *below = ARENA_NEW(&scratch, double, len + 1);
    for (size_t i = len; i-- > 1;) {
        const struct recording_node *n = &rec->nodes.at[i];
        bool is_ours = n->object != RECORDING_NONE && is_program[n->object];
        /* A wait is no work, and no compiler makes it shorter. */
        double self = recording_is_wait(rec, (uint32_t)i) ? 0 : w->node[i];
        below[i] += self;
        below[n->parent] += below[i];
        if (is_ours && self > 0)
            vec_push(&s->measured.hits, (struct code_hit){n->address, self});
        else
            s->elsewhere += self;
        const struct recording_node *caller = &rec->nodes.at[n->parent];
        /* Counted calls are exact. Stacks stand in where there are none; both would count twice. */
        if (is_ours && n->parent && below[i] > 0 && !rec->arcs.len &&
            caller->object != RECORDING_NONE && is_program[caller->object])
            vec_push(&s->measured.calls,
                     (struct code_called){caller->address, n->address, below[i]});
    }
    for (size_t i = 0; i < rec->arcs.len; i++) {
        const struct recording_arc *a = &rec->arcs.at[i];
        if (a->self_object == RECORDING_NONE || !is_program[a->self_object])
            continue;
        bool is_known = a->from_object != RECORDING_NONE && is_program[a->from_object] && a->from;
        vec_push(&s->measured.calls,
                 (struct code_called){is_known ? a->from - 1 : 0, a->self, (double)a->count});
        s->measured.has_counted_calls = true;
    }
    arena_deinit(&scratch);
}

/* ---- all inputs */

/* Reads of recordings what comes before the program is known: its path. */
static bool open_program(struct source_inputs *s, const struct source_request *r,
                         const struct recording *rec, const char *path, struct err *e)
{
    s->program = r->program;
    /* Process 0 is what was started; others may be its children, of any program. */
    if (!s->program && rec && rec->processes.len && rec->processes.at[0].program < rec->objects.len)
        s->program =
            arena_printf(&s->arena, "%s", rec->objects.at[rec->processes.at[0].program].path);
    if (!s->program)
        return err_in(e, path, "does not say which program ran; name it first");
    s->object = object_open(s->program,
                            &(struct object_options){.debug_dir = r->session->debug_dir}, NULL, e);
    if (!s->object)
        return false;
    functions_native(&s->functions, s->object, &s->arena);
    functions_keep_pieces(&s->functions);
    find_producer(s);
    return true;
}

/* The program is opened when the first recording says which it is, unless it was named. */
static bool read_recording(struct source_inputs *s, const struct source_request *r,
                           const char *path, struct err *e)
{
    const struct session_options *o = r->session;
    const struct recorded_options options = {
        .read = o->read, .debug_dir = o->debug_dir, .symbols = o->symbols, .filter = o->recorded};
    struct recorded run = {0};
    struct functions ignored;
    char *paths[] = {(char *)path};
    bool ok = recorded_open(&run, paths, 1, &options, &ignored, e);
    const struct recording *rec = &run.recording;
    bool *is_program = ARENA_NEW(&s->arena, bool, ok ? rec->objects.len + 1 : 1);
    ok = ok && (s->object || open_program(s, r, rec, path, e)) &&
         find_program(s, r, path, rec, is_program, e);
    if (ok && run.unread.system) {
        *e = run.unread;
        ok = false;
    }
    if (ok)
        add_recording(s, &run, is_program);
    if (ok && !recorded_filter_chooses(&o->recorded))
        add_branches(s, rec, is_program);
    recorded_close(&run);
    return ok;
}

/* Coverage is read last, all of it at once, as its files belong together. */
static bool read_inputs(struct source_inputs *s, const struct source_request *r, struct err *e)
{
    s->coverage = ARENA_NEW(&s->arena, char *, r->inputs_len + 1);
    if (r->program && !open_program(s, r, NULL, r->program, e))
        return false;
    for (size_t i = 0; i < r->inputs_len; i++) {
        char *path = r->inputs[i];
        if (is_coverage_operand(path)) {
            s->coverage[s->coverage_len++] = path;
            continue;
        }
        const struct source_format *by_address = format_by_address(path);
        bool is_fdata = by_address && by_address->kind == SOURCE_FDATA;
        if (by_address) {
            if (!s->object)
                return err_in(e, path, "is a profile of BOLT, by %s: name its PROGRAM first",
                              is_fdata ? "symbols" : "addresses");
            if (r->keeps_addresses && is_fdata)
                return err_in(e, path, "is BOLT's already; 'monarc merge' adds up such files");
            if (is_fdata ? !add_fdata(s, path, e) : !add_preaggregated(s, path, e))
                return false;
            continue;
        }
        if (is_source_profile(path)) {
            if (!source_profile_load(path, &s->profile, NULL, NULL, e))
                return false;
            continue;
        }
        /* What is nothing of the above must be a profile by address, such as gmon.out. */
        bool is_run = is_recording(path);
        if (!is_run && !s->object && !open_program(s, r, NULL, path, e))
            return false;
        if (is_run ? !read_recording(s, r, path, e) : !add_profile(s, r, path, e))
            return false;
    }
    if (s->coverage_len && !s->object && !open_program(s, r, NULL, s->coverage[0], e))
        return false;
    const struct arcs_calls_request counters = {.object = s->object,
                                                .functions = &s->functions,
                                                .is_forced = r->session->is_forced,
                                                .arena = &s->arena,
                                                .passed_over = &s->passed_over};
    return !s->coverage_len || arcs_positions(&counters, s->coverage, s->coverage_len, r->target,
                                              &s->profile, &s->lines, e);
}

/* Why there is nothing for the compiler: the most frequent reason, or that debug information which
 * the compiler split off is gone. */
static bool say_nothing(const struct source_inputs *s, bool has_code, struct err *e)
{
    const char *program = s->program ? s->program : "the inputs";
    struct object_debug_gaps gaps = {.missing_units = 0};
    int most = 0;
    if (!has_code)
        return err_set(e, "nothing was measured in %s", program);
    if (s->object)
        object_debug_gaps(s->object, &gaps);
    if (gaps.missing_units)
        return err_set(e,
                       "the debug information of %s was split off, and %s is not there: put the "
                       ".dwo files back where they were compiled, or make a package of them by dwp",
                       program, gaps.first_missing ? gaps.first_missing : "some of it");
    for (int i = 1; i < UNMAPPED_REASONS; i++)
        most = s->mapping.why[i] > s->mapping.why[most] ? i : most;
    return err_set(e, "nothing that was measured of %s has a place in its sources: %s", program,
                   s->mapping.samples > 0 ? unmapped_text(most) : "all of it is in other objects");
}

/* Debug information that is missing or damaged is an error only where addresses are to be mapped:
 * counters bring their lines with them. */
bool source_inputs_read(struct source_inputs *s, const struct source_request *r, struct err *e)
{
    if (!read_inputs(s, r, e))
        return false;
    bool has_code = s->measured.hits.len || s->measured.calls.len || s->measured.branches.len;
    if (r->keeps_addresses)
        return s->measured.hits.len || s->measured.branches.len ||
               err_set(e, "nothing was sampled in %s", s->program ? s->program : "the inputs");
    const char *why;
    if (has_code && !object_has_debug_info(s->object))
        return object_lacks_lines(s->object, s->program, ", by which compilers find code", e);
    /* Both compilers number the blocks of a line, each in its own way: the numbers of one would
     * lead the other to wrong blocks. */
    bool is_foreign = r->target == COMPILER_GCC ? s->is_llvm : s->is_gcc;
    const struct source_mapping_input in = {.object = s->object,
                                            .functions = &s->functions,
                                            .measured = &s->measured,
                                            .target = r->target,
                                            .no_discriminators = is_foreign};
    if (has_code)
        source_mapping_make(&s->mapping, &in, &s->profile);
    if (has_code && object_debug_refused(s->object, &why))
        return err_in(e, s->program, "%s", why);
    if (has_code && s->mapping.no_code)
        return err_set(e, "what samples say of blocks takes their instructions: %s",
                       s->mapping.no_code);
    return s->profile.positions.len || s->profile.instances.len || say_nothing(s, has_code, e);
}
