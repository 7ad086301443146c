/* What gcov is about: pairs of notes and counters with the flow of each function, the sources they
 * name, and the names of files that are read and written.
 *
 * An argument is a source, an object or either of the two files; only its stem counts (`-o` may
 * say another folder): `x.c` means x.gcno and x.gcda. What is wrong with a file is said in gcov's
 * words, and changes the status; where gcov would read a damaged file as zeros, the words are
 * ours. What can still be used is used.
 *
 * Sources are known by name as written and by their canonical name, so that `a.c` and `./a.c` are
 * one. A canonical name keeps `..` after a symbolic link, where it leads elsewhere than the text
 * says; that asks the file system.
 *
 * All pairs are kept until the report; of each, what no report needs is given back at once, as a
 * program may have thousands. Texts of notes are moved to one arena, and one buffer serves all
 * files. */
#include "gnu/gcov/gcov.h"

#include "base/path.h"
#include "coverage/format/format.h"
#include "coverage/model/coverage.h"
#include "session/arcs_file.h"

#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- sources */

uint32_t gcov_source_named(const struct gcov_input *in, const char *name)
{
    uint32_t found = intern_find(&in->names, name, strlen(name));
    return found == INTERN_NONE ? (uint32_t)NO_INDEX : in->source_of_name.at[found];
}

/* The time is read once for each source; 0: unknown, or said already. The prefix of -s is taken off
 * only where a slash follows it. */
static uint32_t gcov_add_source(struct gcov_input *in, const char *path)
{
    const char *prefix = in->options->source_prefix;
    size_t len = prefix ? strlen(prefix) : 0;
    bool has_prefix = prefix && !strncmp(prefix, path, len) && path[len] == '/';
    vec_push(&in->sources, (struct gcov_source){path, has_prefix ? path + len + 1 : path, false});
    vec_push(&in->source_times, file_changed(path));
    return (uint32_t)in->sources.len - 1;
}

/* Numbers follow each other from 0, so that a new name's is the length of the list so far. */
static uint32_t gcov_name_number(struct gcov_input *in, const char *name, bool *is_new)
{
    uint32_t number = intern_kept(&in->names, name, strlen(name));
    *is_new = number == in->source_of_name.len;
    if (*is_new)
        vec_push(&in->source_of_name, NO_INDEX);
    return number;
}

/* ./x.c is x.c, but "./" alone stays. */
static const char *gcov_without_dot(const char *path)
{
    while (path[0] == '.' && path[1] == '/' && path[2])
        path += 2;
    return path;
}

/* llvm-cov shows paths as clang wrote them, with `..` in them. Complains once of a source that is
 * newer than its notes: the time becomes 0 then. */
static uint32_t gcov_source_at(struct gcov_input *in, const char *name, time_t notes_time,
                               bool is_llvm)
{
    bool is_new;
    uint32_t number = gcov_name_number(in, name, &is_new);
    if (is_new) {
        const char *path = is_llvm ? gcov_without_dot(name) : gcov_canonical(name, &in->arena);
        uint32_t same = gcov_name_number(in, path, &is_new);
        if (in->source_of_name.at[same] == (uint32_t)NO_INDEX)
            in->source_of_name.at[same] = gcov_add_source(in, path);
        in->source_of_name.at[number] = in->source_of_name.at[same];
    }
    uint32_t source = in->source_of_name.at[number];
    if (in->source_times.at[source] > notes_time) {
        out_printf(in->complaints, "%s:source file is newer than notes file '%s'\n", name,
                   in->notes_name);
        if (!in->has_explained_dates)
            out_str(in->complaints, "(the message is displayed only once per source file)\n");
        in->has_explained_dates = true;
        in->source_times.at[source] = 0;
        in->sources.at[source].is_newer = true;
    }
    return source;
}

/* ---- notes */

/* A status of 0 leaves that of the complaint before. */
static void gcov_complain(struct gcov_input *in, int status, const char *name, const char *what)
{
    out_printf(in->complaints, "%s:%s\n", name, what);
    if (status)
        in->status = status;
}

/* The version word as it stands in the file, in its byte order. */
static void gcov_complain_of_version(struct gcov_input *in, const char *name, struct bytes bytes,
                                     const char *what)
{
    char word[5] = "";
    for (unsigned i = 0; i < 4 && bytes.len >= 8; i++)
        word[i] = (char)bytes.at[bytes.at[0] == 'g' ? 4 + i : 7 - i];
    out_printf(in->complaints, "%s:version '%s', %s 'B22*'\n", name, word, what);
    in->status = GCOV_OTHER_VERSION;
}

/* Our own words, without the name, which `e` has as well. */
static void gcov_complain_of_damage(struct gcov_input *in, const struct err *e)
{
    out_printf(in->complaints, "%s\n", e->line);
    in->status = GCOV_DAMAGED;
}

static void gcov_complain_of_trouble(struct gcov_input *in, const char *name)
{
    struct err e;
    err_errno(&e, name, errno);
    gcov_complain_of_damage(in, &e);
}

static bool gcov_may_be_arcs(struct bytes first)
{
    return arcs_kind_of(first) != ARCS_NONE;
}

/* What cannot be notes or counters is read no further than its first block. */
static bool gcov_fetch(struct gcov_input *in, const char *name, struct err *e)
{
    return arcs_file_may_lack_magic(name) ? file_read(name, &in->buffer, e)
                                          : file_read_if(name, gcov_may_be_arcs, &in->buffer, e);
}

/* Each step that fails ends with its complaint; a pair without notes has no functions, and reports
 * nothing. Words are GNU's but for damage: gcov reads on with zeros there, which is worse than to
 * say so. */
static void read_notes(struct gcov_input *in, struct gcov_pair *p)
{
    struct stat status;
    struct err e = {0};
    const char *name = in->notes_name;
    if (!gcov_fetch(in, name, &e) && errno_is_trouble(e.system))
        return gcov_complain_of_damage(in, &e);
    if (e.line[0])
        return gcov_complain(in, GCOV_NO_NOTES, name, "cannot open notes file");
    bool has_time = !stat(name, &status);
    if (!has_time && errno_is_trouble(errno))
        return gcov_complain_of_trouble(in, name);
    time_t time = has_time ? status.st_mtime : 0;
    struct bytes bytes = file_bytes(&in->buffer);
    bool is_rfc = bbg_probe(bytes);
    if (!is_rfc && !gcno_probe(bytes))
        return gcov_complain(in, GCOV_OTHER_FILE, name, "not a gcov notes file");
    bool is_whole = is_rfc ? bbg_read(bytes, name, &p->notes, &e)
                           : gcno_read_as_gnu(bytes, name, &p->notes, &e);
    is_whole = is_whole && arcs_file_read_lines(&p->notes, &in->lines, name, &e);
    if (!p->notes.origin.version)
        return gcov_complain_of_version(in, name, bytes, "prefer");
    notes_keep_texts(&p->notes, &in->texts);
    for (size_t i = 0; i < p->notes.files.len; i++)
        vec_push(&p->sources,
                 gcov_source_at(in, p->notes.files.at[i], time, p->notes.origin.is_llvm));
    if (!is_whole)
        gcov_complain_of_damage(in, &e);
    else if (!p->notes.functions.len)
        gcov_complain(in, 0, name, "no functions found");
}

/* ---- counters */

/* Up to gcc 4.6, and clang 10, an object's summary comes before those of programs. */
static uint32_t gcov_count_runs(const struct counters *c)
{
    bool is_of_object = !dialect_of(&c->origin)->has_program_runs;
    for (size_t i = 0; i < c->records.len && is_of_object; i++)
        if (c->records.at[i].what == COUNTED_OBJECT_SUMMARY)
            return c->summaries.at[c->records.at[i].index].runs;
    return c->summaries.len ? c->summaries.at[c->summaries.len - 1].runs : 0;
}

/* Merging keeps a summary of each program that left counts. */
static uint32_t gcov_count_programs(const struct counters *c)
{
    uint32_t programs = 0;
    for (size_t i = 0; i < c->records.len; i++)
        programs += c->records.at[i].what == COUNTED_PROGRAM_SUMMARY;
    return programs;
}

/* The proposal's counters go with notes of their version, or get the identities of a gcno. */
static bool gcov_is_fitting(struct gcov_input *in, struct gcov_pair *p)
{
    const struct arcs_origin *notes = &p->notes.origin, *counters = &p->counters.origin;
    struct err e = {0};
    bool is_row = bb_counters_lack_names(&p->counters);
    bool is_adopted =
        counters->family == ARCS_RFC && notes->family == ARCS_GCOV && notes->version && !is_row;
    if ((is_row && !bb_counters_share(&p->counters, &p->notes, &e)) ||
        (is_adopted && !arcs_counters_adopt(&p->counters, &p->notes, &e))) {
        out_printf(in->complaints, "%s:%s\n", in->counters_name, e.line);
        in->status = GCOV_OTHER_STAMP;
        return false;
    }
    if (pair_is_possible(notes, counters))
        return true;
    out_printf(in->complaints, "%s:version '%s' does not go with '%s' of the notes file\n",
               in->counters_name, arcs_version_text(counters).text, arcs_version_text(notes).text);
    in->status = GCOV_OTHER_VERSION;
    return false;
}

/* Missing counters are nothing bad: the code was not run. Checks in the order of gcov's: readable,
 * magic, version, stamp. */
static void read_counters(struct gcov_input *in, struct gcov_pair *p)
{
    struct err e = {0};
    const char *name = in->counters_name;
    in->has_counters = false;
    in->runs = in->programs = 0;
    in->has_unknown_runs = false;
    if (!gcov_fetch(in, name, &e) && errno_is_trouble(e.system))
        return gcov_complain_of_damage(in, &e);
    if (e.line[0])
        return gcov_complain(in, 0, name, "cannot open data file, assuming not executed");
    in->has_counters = true;
    struct bytes bytes = file_bytes(&in->buffer);
    bool is_rfc = da_probe(bytes);
    if (!is_rfc && !gcda_probe(bytes))
        return gcov_complain(in, GCOV_OTHER_FILE, name, "not a gcov data file");
    bool is_whole =
        is_rfc ? da_read(bytes, name, &p->counters, &e) : gcda_read(bytes, name, &p->counters, &e);
    if (!p->counters.origin.version)
        return gcov_complain_of_version(in, name, bytes, "prefer version");
    in->has_unknown_runs = is_rfc && !p->counters.origin.native.version;
    if (!gcov_is_fitting(in, p))
        return;
    if (p->counters.origin.stamp != p->notes.origin.stamp)
        return gcov_complain(in, GCOV_OTHER_STAMP, name, "stamp mismatch with notes file");
    in->runs = gcov_count_runs(&p->counters);
    in->programs = gcov_count_programs(&p->counters);
    p->has_counters = true;
    if (!is_whole)
        gcov_complain_of_damage(in, &e);
}

static const char *gcov_function_name(const struct notes_function *f)
{
    return f->name ? f->name : "";
}

/* A second argument of the same object would add its counts again. */
static bool gcov_is_done(struct gcov_input *in, const char *argument)
{
    for (size_t i = 0; i < in->done.len; i++)
        if (!strcmp(in->done.at[i], in->counters_name)) {
            out_printf(in->complaints, "'%s' file is already processed\n", argument);
            return true;
        }
    vec_push(&in->done, in->counters_name);
    return false;
}

/* The proposal's file if it was named, or is all that there is; GNU's otherwise, there or not. */
static const char *gcov_one_of(struct gcov_input *in, const char *stem, bool is_rfc,
                               const char *rfc, const char *gnu)
{
    const char *first = arena_printf(&in->arena, "%s.%s", stem, is_rfc ? rfc : gnu);
    const char *other = arena_printf(&in->arena, "%s.%s", stem, is_rfc ? gnu : rfc);
    bool is_other = access(first, F_OK) && !access(other, F_OK);
    return is_other ? other : first;
}

/* From the last dot of the last component on; a dot in a folder's name does not count. */
static char *cut_extension(char *path)
{
    char *dot = strrchr(path + (path_base_name(path) - path), '.');
    if (dot)
        *dot = 0;
    return path;
}

/*    x.c                 x
 *    -o dir x.c          dir/x
 *    -o dir/y.o x.c      dir/y */
static char *gcov_stem(const struct gcov_options *o, const char *argument, struct arena *a)
{
    char *stem;
    if (!o->object || !o->object[0]) {
        stem = arena_printf(a, "%s", argument);
    } else if (path_is_folder(o->object)) {
        const char *slash = o->object[strlen(o->object) - 1] == '/' ? "" : "/";
        stem = arena_printf(a, "%s%s%s", o->object, slash, path_base_name(argument));
    } else {
        stem = arena_printf(a, "%s", o->object);
    }
    return cut_extension(stem);
}

/* A pair joins the table even if it is empty, so that the last one's names are known. Everything
 * about one argument happens here: names, notes, counters, flow, complaints, and giving back what
 * the report will not need. */
void gcov_read(struct gcov_input *in, const char *argument)
{
    const char *stem = gcov_stem(in->options, argument, &in->arena);
    bool is_rfc = path_has_suffix(argument, ".bbg") || path_has_suffix(argument, ".da");
    in->notes_name = gcov_one_of(in, stem, is_rfc, "bbg", "gcno");
    in->counters_name = gcov_one_of(in, stem, is_rfc, "da", "gcda");
    if (gcov_is_done(in, argument))
        return;
    struct gcov_pair *p = calloc(1, sizeof *p);
    if (!p)
        memory_exhausted(sizeof *p);
    vec_push(&in->pairs, p);
    read_notes(in, p);
    read_counters(in, p);
    flow_solve(&p->notes, p->has_counters ? &p->counters : NULL, &p->flow);
    /* Functions of which something is amiss. The loss by a cut file is reported once, with how many
     * are missing. */
    size_t missing = 0;
    for (size_t i = 0; i < p->flow.functions.len; i++) {
        const struct flow_function *what = &p->flow.functions.at[i];
        const struct notes_function *f = &p->notes.functions.at[i];
        if (what->state != FLOW_UNKNOWN)
            continue;
        in->status = in->status ? in->status : GCOV_DAMAGED;
        if (what->reason == FLOW_COUNTERS_CUT)
            missing++;
        else if (what->reason == FLOW_OTHER_CODE || what->reason == FLOW_COUNTER_COUNT)
            out_printf(in->complaints, "%s:profile mismatch for '%s'\n", in->counters_name,
                       gcov_function_name(f));
        else
            out_printf(in->complaints, "%s:'%s' is not known: %s%s\n", in->notes_name,
                       gcov_function_name(f), flow_reason_text(what->reason),
                       arcs_defect_text(what->defect));
    }
    if (missing)
        out_printf(in->complaints, "%s:%zu functions are missing, assuming not executed\n",
                   in->counters_name, missing);
    /* All pairs are kept until the report; the next one can use what this one needs no more. */
    notes_trim(&p->notes);
    flow_trim(&p->flow);
    if (!dialect_of(&p->notes.origin)->has_masks)
        counters_deinit(&p->counters);
}

/* Names that were shown stay in in->arena until the end. */
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
    in->source_of_name.len = 0;
    intern_deinit(&in->names);
}

void gcov_input_deinit(struct gcov_input *in)
{
    gcov_input_clear(in);
    vec_free(&in->pairs);
    vec_free(&in->sources);
    vec_free(&in->source_times);
    vec_free(&in->source_of_name);
    vec_free(&in->done);
    file_buffer_deinit(&in->buffer);
    file_buffer_deinit(&in->lines);
    arena_deinit(&in->arena);
}

/* Names, by gcov's rules. */

/* A path being built: `floor` bytes are not to be taken back, as they end in ".." or a link.
 *
 *    a/./b/../c    a/c        a/link/../c    a/link/../c        ../a    ../a */
struct canonical {
    char *text;
    size_t len, floor;
    bool needs_slash;
};

/* The slash is written before the next part, so that none is left at the end. */
static void append(struct canonical *c, const char *part, size_t len)
{
    if (c->needs_slash)
        c->text[c->len++] = '/';
    memcpy(c->text + c->len, part, len);
    c->len += len;
    c->needs_slash = true;
}

/* Takes back the last part of the path, unless it is `..` or a link. */
static void go_up(struct canonical *c)
{
    struct stat status;
    c->text[c->len] = 0;
    if (c->len == c->floor || lstat(c->text, &status) || S_ISLNK(status.st_mode)) {
        append(c, "..", 2);
        c->floor = c->len;
        return;
    }
    while (c->len != c->floor && c->text[c->len] != '/')
        c->len--;
    c->needs_slash = c->len != 0;
}

/* Parts are copied or left out, so the result is never longer than the path. */
char *gcov_canonical(const char *path, struct arena *a)
{
    struct canonical c = {.text = arena_alloc_text(a, strlen(path) + 2)};
    while (*path) {
        size_t len = strcspn(path, "/");
        if (len == 2 && path[0] == '.' && path[1] == '.')
            go_up(&c);
        else if (len != 1 || path[0] != '.')
            append(&c, path, len);
        path += len;
        path += strspn(path, "/");
    }
    c.text[c.len] = 0;
    return c.text;
}

/* The name alone or, with -p, all of the path in one. Slashes become #, and ".." becomes ^; "." is
 * left out. */
static char *mangle(const struct gcov_options *o, const char *path, struct arena *a)
{
    if (!o->preserve_paths)
        return arena_printf(a, "%s", path_base_name(path));
    char *name = arena_alloc_text(a, strlen(path) + 1), *to = name;
    for (const char *at = path; *at;) {
        size_t len = strcspn(at, "/");
        bool is_up = len == 2 && !memcmp(at, "..", 2), is_here = len == 1 && *at == '.';
        if (is_up) {
            *to++ = '^';
        } else if (!is_here) {
            memcpy(to, at, len);
            to += len;
        }
        at += len;
        if (*at == '/' && !is_here)
            *to++ = '#';
        at += *at == '/';
    }
    *to = 0;
    return name;
}

/* MD5 in 32 hexadecimal digits, as gcov's -x has it. */
static char *hash(const char *path, struct arena *a)
{
    uint8_t digest[16];
    char *text = arena_alloc_text(a, 33);
    md5((struct bytes){(const uint8_t *)path, strlen(path)}, digest);
    bytes_hex(text, digest, sizeof digest);
    return text;
}

/* -x goes before -l, as in gcov. */
char *gcov_report_name(const struct gcov_options *o, const char *argument, const char *source,
                       struct arena *a)
{
    char *name = mangle(o, source, a);
    if (o->hash_names)
        return arena_printf(a, "%s##%s.gcov", name, hash(source, a));
    if (o->long_names && strcmp(source, argument))
        return arena_printf(a, "%s##%s.gcov", mangle(o, argument, a), name);
    return arena_printf(a, "%s.gcov", name);
}

/* Without the argument's extension: x.c and x.gcda have one document. */
char *gcov_json_name(const struct gcov_options *o, const char *argument, struct arena *a)
{
    const char *base = path_base_name(argument);
    const char *name = cut_extension(arena_printf(a, "%s", base));
    if (o->hash_names)
        return arena_printf(a, "%s##%s.gcov.json.gz", name, hash(argument, a));
    if (o->preserve_paths && base != argument)
        return arena_printf(a, "%s##%s.gcov.json.gz", name, cut_extension(mangle(o, argument, a)));
    return arena_printf(a, "%s.gcov.json.gz", name);
}
