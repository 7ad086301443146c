/* What gcov says of each file, in its words; where it would read a damaged file as zeros, ours. */
#include "gnu/gcov/gcov_read.h"

#include "gnu/gcov/gcov_names.h"
#include "coverage/format/gcda.h"
#include "coverage/format/gcno.h"

#include <sys/stat.h>

/* ---- sources */

static uint64_t hash_name(const char *name, size_t len)
{
    uint64_t h = 0xcbf29ce484222325u;
    for (size_t i = 0; i < len; i++)
        h = (h ^ (uint8_t)name[i]) * 0x100000001b3u;
    return h;
}

/* The index in `named`, which is added if `may_add`. */
static uint32_t find_name(struct gcov_input *in, const char *name, bool may_add, bool *is_new)
{
    size_t len = strlen(name);
    for (uint64_t hash = hash_name(name, len);; hash++) {
        uint32_t *found = map_find(&in->names, hash, len);
        *is_new = !found;
        if (!found && may_add) {
            map_at(&in->names, hash, len, (uint32_t)in->named.len, NULL);
            vec_push(&in->named, name);
            vec_push(&in->named_source, COVER_NONE);
        }
        if (!found)
            return may_add ? (uint32_t)in->named.len - 1 : (uint32_t)COVER_NONE;
        if (!strcmp(in->named.at[*found], name))
            return *found;
    }
}

uint32_t gcov_source_named(const struct gcov_input *in, const char *name)
{
    bool is_new;
    uint32_t found = find_name((struct gcov_input *)in, name, false, &is_new);
    return found == (uint32_t)COVER_NONE ? found : in->named_source.at[found];
}

static void warn_of_date(struct gcov_input *in, const char *name, uint32_t source, time_t notes)
{
    if (in->source_times.at[source] <= notes)
        return;
    out_printf(in->complaints, "%s:source file is newer than notes file '%s'\n", name,
               in->notes_name);
    if (!in->has_explained_dates)
        out_str(in->complaints, "(the message is displayed only once per source file)\n");
    in->has_explained_dates = true;
    in->source_times.at[source] = 0;
    in->sources.at[source].is_newer = true;
}

static uint32_t add_source(struct gcov_input *in, const char *path)
{
    const char *prefix = in->options->source_prefix;
    size_t len = prefix ? strlen(prefix) : 0;
    struct stat status;
    bool has_prefix = prefix && !strncmp(prefix, path, len) && path[len] == '/';
    vec_push(&in->sources, (struct gcov_source){path, has_prefix ? path + len + 1 : path, false});
    vec_push(&in->source_times, stat(path, &status) ? 0 : status.st_mtime);
    return (uint32_t)in->sources.len - 1;
}

static uint32_t source_at(struct gcov_input *in, const char *name, time_t notes_time)
{
    bool is_new;
    uint32_t index = find_name(in, name, true, &is_new);
    if (is_new) {
        const char *path = gcov_canonical(name, &in->arena);
        uint32_t same = find_name(in, path, true, &is_new);
        if (in->named_source.at[same] == (uint32_t)COVER_NONE)
            in->named_source.at[same] = add_source(in, path);
        in->named_source.at[index] = in->named_source.at[same];
    }
    warn_of_date(in, name, in->named_source.at[index], notes_time);
    return in->named_source.at[index];
}

/* ---- notes */

static void complain(struct gcov_input *in, int status, const char *name, const char *what)
{
    out_printf(in->complaints, "%s:%s\n", name, what);
    if (status)
        in->status = status;
}

static void complain_of_version(struct gcov_input *in, const char *name, struct bytes bytes,
                                const char *what)
{
    char word[5] = "";
    for (unsigned i = 0; i < 4 && bytes.len >= 8; i++)
        word[i] = (char)bytes.at[bytes.at[0] == 'g' ? 4 + i : 7 - i];
    out_printf(in->complaints, "%s:version '%s', %s 'B22*'\n", name, word, what);
    in->status = GCOV_OTHER_VERSION;
}

/* Our own words, without the name, which `e` has as well. */
static void complain_of_damage(struct gcov_input *in, const struct err *e)
{
    out_printf(in->complaints, "%s\n", e->line);
    in->status = GCOV_DAMAGED;
}

static void read_notes(struct gcov_input *in, struct gcov_pair *p)
{
    struct stat status;
    struct err e;
    const char *name = in->notes_name;
    if (!file_read(name, &in->buffer, &e))
        return complain(in, GCOV_NO_NOTES, name, "cannot open notes file");
    time_t time = stat(name, &status) ? 0 : status.st_mtime;
    struct bytes bytes = file_bytes(&in->buffer);
    if (!gcno_probe(bytes))
        return complain(in, GCOV_OTHER_FILE, name, "not a gcov notes file");
    bool is_whole = gcno_read(bytes, name, &p->notes, &e);
    if (!p->notes.origin.version)
        return complain_of_version(in, name, bytes, "prefer");
    notes_keep_texts(&p->notes, &in->texts);
    for (size_t i = 0; i < p->notes.files.len; i++)
        vec_push(&p->sources, source_at(in, p->notes.files.at[i], time));
    if (!is_whole)
        complain_of_damage(in, &e);
    else if (!p->notes.functions.len)
        complain(in, 0, name, "no functions found");
}

/* ---- counters */

static uint32_t count_runs(const struct counters *c)
{
    return c->summaries.len ? c->summaries.at[c->summaries.len - 1].runs : 0;
}

static void read_counters(struct gcov_input *in, struct gcov_pair *p)
{
    struct err e;
    const char *name = in->counters_name;
    in->has_counters = false;
    in->runs = in->programs = 0;
    if (!file_read(name, &in->buffer, &e))
        return complain(in, 0, name, "cannot open data file, assuming not executed");
    in->has_counters = true;
    struct bytes bytes = file_bytes(&in->buffer);
    if (!gcda_probe(bytes))
        return complain(in, GCOV_OTHER_FILE, name, "not a gcov data file");
    bool is_whole = gcda_read(bytes, name, &p->counters, &e);
    if (!p->counters.origin.version)
        return complain_of_version(in, name, bytes, "prefer version");
    if (p->counters.origin.stamp != p->notes.origin.stamp)
        return complain(in, GCOV_OTHER_STAMP, name, "stamp mismatch with notes file");
    in->runs = count_runs(&p->counters);
    in->programs = (uint32_t)p->counters.summaries.len;
    p->has_counters = true;
    if (!is_whole)
        complain_of_damage(in, &e);
}

static const char *function_name(const struct cover_function *f)
{
    return f->name ? f->name : "";
}

/* Functions of which something is amiss. What the end of a cut file took away is said once, with
 * how many are missing. */
static void judge_functions(struct gcov_input *in, const struct gcov_pair *p)
{
    size_t missing = 0;
    for (size_t i = 0; i < p->flow.functions.len; i++) {
        const struct flow_function *what = &p->flow.functions.at[i];
        const struct cover_function *f = &p->notes.functions.at[i];
        if (what->state != FLOW_UNKNOWN)
            continue;
        in->status = in->status ? in->status : GCOV_DAMAGED;
        if (what->reason == FLOW_COUNTERS_CUT)
            missing++;
        else if (what->reason == FLOW_OTHER_CODE || what->reason == FLOW_COUNTER_COUNT)
            out_printf(in->complaints, "%s:profile mismatch for '%s'\n", in->counters_name,
                       function_name(f));
        else
            out_printf(in->complaints, "%s:'%s' is not known: %s%s\n", in->notes_name,
                       function_name(f), flow_reason_text(what->reason),
                       cover_doubt_text(what->doubt));
    }
    if (missing)
        out_printf(in->complaints, "%s:%zu functions are missing, assuming not executed\n",
                   in->counters_name, missing);
}

static bool is_done(struct gcov_input *in, const char *argument)
{
    for (size_t i = 0; i < in->done.len; i++)
        if (!strcmp(in->done.at[i], in->counters_name)) {
            out_printf(in->complaints, "'%s' file is already processed\n", argument);
            return true;
        }
    vec_push(&in->done, in->counters_name);
    return false;
}

/* All pairs are kept until the report; the next one can use what this one needs no more. */
static void trim(struct gcov_pair *p)
{
    enum { CONDITIONS_AND_PATHS = 1400 };
    notes_trim(&p->notes);
    flow_trim(&p->flow);
    if (p->notes.origin.number < CONDITIONS_AND_PATHS)
        counters_deinit(&p->counters);
}

void gcov_read(struct gcov_input *in, const char *argument)
{
    const char *stem = gcov_stem(in->options, argument, &in->arena);
    in->notes_name = arena_printf(&in->arena, "%s.gcno", stem);
    in->counters_name = arena_printf(&in->arena, "%s.gcda", stem);
    if (is_done(in, argument))
        return;
    struct gcov_pair *p = calloc(1, sizeof *p);
    if (!p)
        memory_exhausted(sizeof *p);
    vec_push(&in->pairs, p);
    read_notes(in, p);
    read_counters(in, p);
    flow_solve(&p->notes, p->has_counters ? &p->counters : NULL, &p->flow);
    judge_functions(in, p);
    trim(p);
}

void gcov_input_clear(struct gcov_input *in)
{
    for (size_t i = 0; i < in->pairs.len; i++) {
        struct gcov_pair *p = in->pairs.at[i];
        notes_deinit(&p->notes);
        counters_deinit(&p->counters);
        flow_deinit(&p->flow);
        vec_free(&p->sources);
        free(p);
    }
    arena_deinit(&in->texts);
    in->pairs.len = in->sources.len = in->source_times.len = 0;
    in->named.len = in->named_source.len = 0;
    map_deinit(&in->names);
    in->names = (struct map){0};
}

void gcov_input_deinit(struct gcov_input *in)
{
    gcov_input_clear(in);
    vec_free(&in->pairs);
    vec_free(&in->sources);
    vec_free(&in->source_times);
    vec_free(&in->named);
    vec_free(&in->named_source);
    vec_free(&in->done);
    file_buffer_deinit(&in->buffer);
    arena_deinit(&in->arena);
}
