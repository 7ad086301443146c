/* Pairs are read and solved one after the other; only the counts of their lines are kept. */
#include "session/arcs_profile.h"

#include "coverage/analysis/table_add_pair.h"
#include "coverage/analysis/problems.h"
#include "bridge/placing.h"
#include "session/arcs_file.h"
#include "session/coverage_files.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

struct pair {
    const char *notes, *counters;
};

struct job {
    const struct arcs_profile_request *request;
    struct arena arena;
    struct cover_found found;
    struct cover_problems problems;
    VEC(struct pair) pairs;
    uint64_t unrun; /* notes without counters */
    struct line_counts counts;
    struct object *object;
    struct functions functions;
    struct profile profile;
    struct placed placed;
};

static bool is_folder(const char *path)
{
    struct stat st;
    return path && !stat(path, &st) && S_ISDIR(st.st_mode);
}

/* ---- which files */

static const char *beside(struct job *j, const char *path, const char *suffix)
{
    const char *dot = strrchr(path, '.');
    size_t stem = dot && !strchr(dot, '/') ? (size_t)(dot - path) : strlen(path);
    return arena_printf(&j->arena, "%.*s.%s", (int)stem, path, suffix);
}

static bool has_suffix(const char *path, const char *suffix)
{
    size_t len = strlen(path), end = strlen(suffix);
    return len > end && !strcmp(path + len - end, suffix);
}

/* One operand: a folder, counters, or the notes of such. */
static bool look(struct job *j, const char *path, struct err *e)
{
    const char *notes = j->request->notes;
    const struct find_rules rules = {0};
    enum arcs_kind kind = arcs_kind_of_path(path);
    bool is_counters = kind == ARCS_GCDA || kind == ARCS_DA;
    struct stat st;
    if (is_counters && notes && !is_folder(notes))
        vec_push(&j->pairs, ((struct pair){notes, path}));
    else if (kind == ARCS_DA)
        vec_push(&j->pairs, ((struct pair){beside(j, path, "bbg"), path}));
    else if (kind == ARCS_GCDA && !has_suffix(path, ".gcda"))
        vec_push(&j->pairs, ((struct pair){beside(j, path, "gcno"), path}));
    else if (kind == ARCS_BBG)
        vec_push(&j->pairs, ((struct pair){path, beside(j, path, "da")}));
    else if (is_folder(path) || has_suffix(path, ".gcda") || has_suffix(path, ".gcno") ||
             stat(path, &st))
        return cover_look(&j->found, path, &rules, e);
    else
        return err_in(e, path, "is neither counters (gcda, da) nor a folder of them");
    return true;
}

/* From pairs of files as cover finds them. */
static void list_pairs(struct job *j)
{
    const struct cover_found *found = &j->found;
    for (size_t i = 0; i < found->objects.len; i++) {
        const struct cover_object *object = &found->objects.at[i];
        j->unrun += object->first_counters == (uint32_t)COVER_NONE;
        for (uint32_t k = object->first_counters; k != (uint32_t)COVER_NONE;
             k = found->counters.at[k].next)
            vec_push(&j->pairs, ((struct pair){object->notes, found->counters.at[k].path}));
    }
    for (size_t i = 0; i < found->counters.len; i++)
        if (!found->counters.at[i].is_paired)
            problem_add(&j->problems, PROBLEM_LOST,
                        "%s: has no notes of that name and stamp; --notes says where they are",
                        found->counters.at[i].path);
    for (size_t i = 0; i < found->unreadable.len; i++)
        problem_add(&j->problems, PROBLEM_LOST, "%s", found->unreadable.at[i]);
}

static bool find(struct job *j, char *const *paths, size_t len, struct err *e)
{
    const struct find_rules rules = {0};
    for (size_t i = 0; i < len; i++)
        if (!look(j, paths[i], e))
            return false;
    if (is_folder(j->request->notes)) {
        size_t own = j->found.objects.len;
        if (!cover_look(&j->found, j->request->notes, &rules, e))
            return false;
        cover_pair_files(&j->found, &rules);
        /* What lies there without counters was not asked about. */
        size_t kept = own;
        for (size_t i = own; i < j->found.objects.len; i++)
            if (j->found.objects.at[i].first_counters != (uint32_t)COVER_NONE)
                j->found.objects.at[kept++] = j->found.objects.at[i];
        j->found.objects.len = kept;
    } else {
        cover_pair_files(&j->found, &rules);
    }
    list_pairs(j);
    return j->pairs.len ||
           err_set(e, "%s%s",
                   j->problems.at.len ? j->problems.at.at[0].text
                                      : "there are no counters (.gcda) in what was named",
                   j->problems.at.len ? "" : ": was the program run, and did it end normally?");
}

/* ---- one pair */

/* A name as it is in the notes, made whole where these say how. */
static uint32_t file_number(struct job *j, const struct notes *n, const char *name)
{
    bool is_below = name[0] != '/' && n->directory && n->directory[0] == '/';
    const char *whole = is_below ? arena_printf(&j->arena, "%s/%s", n->directory, name) : name;
    const char *path = source_mapped(&j->request->maps, whole, &j->arena);
    return intern(&j->counts.files, path, strlen(path));
}

static void report_unknown(struct job *j, const char *path, const struct notes *n,
                           const struct flow *flow)
{
    uint64_t unknown = 0;
    size_t first = 0;
    for (size_t i = 0; i < flow->functions.len; i++) {
        uint8_t state = flow->functions.at[i].state;
        if (state == FLOW_UNKNOWN || state == FLOW_DAMAGED)
            first = unknown++ ? first : i;
    }
    if (!unknown)
        return;
    const struct flow_function *f = &flow->functions.at[first];
    const char *name = n->functions.at[first].name;
    bool has_doubt = f->reason == FLOW_BAD_NOTES || f->reason == FLOW_BAD_COUNTERS;
    problem_add(&j->problems, PROBLEM_PARTIAL, "%s: %" PRIu64 " function%s left out, %s%s: %s%s",
                path, unknown, unknown == 1 ? " is" : "s are",
                unknown == 1 ? "" : "the first of them ", name ? name : "(without a name)",
                flow_reason_text(f->reason), has_doubt ? cover_doubt_text(f->doubt) : "");
}

static void report_pairing(struct job *j, const struct pair *pair, const struct flow *flow)
{
    const struct pairing *p = &flow->pairing;
    if (p->is_other_stamp)
        problem_add(&j->problems, PROBLEM_PARTIAL,
                    "%s: was left by another build than %s; functions that did not change are used",
                    pair->counters, pair->notes);
    if (p->unmatched)
        problem_add(&j->problems, PROBLEM_PARTIAL,
                    "%s: counts %" PRIu32 " function%s that %s does not have", pair->counters,
                    p->unmatched, p->unmatched == 1 ? "" : "s", pair->notes);
}

/* Loads one file; false if nothing of it can be used. */
static bool load(struct job *j, struct arcs_file *f, const char *path, bool is_notes)
{
    struct err e = {0};
    bool ok = arcs_file_load(f, path, &e);
    size_t functions = f->is_notes ? f->notes.functions.len : f->counters.functions.len;
    if (ok && f->is_notes != is_notes) {
        problem_add(&j->problems, PROBLEM_LOST, "%s: is %s file, not %s", path,
                    f->is_notes ? "a notes" : "a counters", is_notes ? "notes" : "counters");
        return false;
    }
    if (!ok)
        problem_add(&j->problems, functions ? PROBLEM_PARTIAL : PROBLEM_LOST, "%s", e.line);
    return ok || functions;
}

static void add_pair(struct job *j, const struct pair *pair)
{
    struct arcs_file notes = {0}, counters = {0};
    struct flow flow = {0};
    VEC(uint32_t) files = {0};
    if (load(j, &notes, pair->notes, true) && load(j, &counters, pair->counters, false)) {
        const struct notes *n = &notes.notes;
        flow_solve(n, &counters.counters, &flow);
        cover_distrust(n, &flow, j->request->repairs);
        report_pairing(j, pair, &flow);
        report_unknown(j, pair->counters, n, &flow);
        for (size_t i = 0; i < n->files.len; i++)
            vec_push(&files, file_number(j, n, n->files.at[i] ? n->files.at[i] : ""));
        line_counts_add(&j->counts, n, &flow, files.at);
    }
    vec_free(&files);
    flow_deinit(&flow);
    arcs_file_deinit(&notes);
    arcs_file_deinit(&counters);
}

/* ---- all */

static bool open_program(struct job *j, struct err *e)
{
    const struct arcs_profile_request *r = j->request;
    j->object =
        object_open(r->program, &(struct object_options){.debug_dir = r->debug_dir}, NULL, e);
    if (!j->object)
        return false;
    if (!object_has_debug_info(j->object))
        return err_in(e, r->program,
                      "has no line numbers, so counts cannot be given addresses; compile it with "
                      "-g, or name the folder of its separate debug file with --debug-dir");
    functions_native(&j->functions, j->object, &j->arena);
    return true;
}

static bool write(struct job *j, struct err *e)
{
    const struct arcs_profile_request *r = j->request;
    bool is_big = r->order ? r->order == ORDER_BIG : object_is_big_endian(j->object);
    uint8_t word = r->word ? r->word : object_word(j->object);
    j->profile.format = PROFILE_GNU;
    j->profile.version = 1;
    j->profile.word = word;
    j->profile.big_endian = is_big;
    profile_normalize(&j->profile);
    return profile_save(r->to, &j->profile, word, is_big, r->output, e);
}

PRINTF_LIKE(3, 4)
static void say(struct job *j, char **said, const char *format, ...)
{
    char text[700];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    *said = arena_printf(&j->arena, "%s%s%s", *said ? *said : "", *said ? "; " : "", text);
}

/* What the program has no place for, as one text, or NULL. */
static char *unplaced(struct job *j)
{
    const struct placed *p = &j->placed;
    const char *program = j->request->program;
    char *said = NULL;
    if (p->no_code)
        say(j, &said,
            "%" PRIu64 " of %" PRIu64 " lines have no code in %s, %" PRIu64
            " of them executed, such as %s:%" PRIu32 " of %s",
            p->no_code, p->lines, program, p->executed, p->line_file, p->line, p->line_function);
    if (p->missing_functions)
        say(j, &said, "%" PRIu64 " function%s not in %s, such as %s", p->missing_functions,
            p->missing_functions == 1 ? " is" : "s are", program, p->function);
    if (p->missing_files && p->similar)
        say(j, &said, "%" PRIu64 " source%s not in %s, such as %s (it has %s: --path-map?)",
            p->missing_files, p->missing_files == 1 ? " is" : "s are", program, p->file,
            p->similar);
    else if (p->missing_files)
        say(j, &said, "%" PRIu64 " source%s not in %s, such as %s", p->missing_files,
            p->missing_files == 1 ? " is" : "s are", program, p->file);
    if (j->unrun)
        say(j, &said, "%" PRIu64 " notes file%s no counters", j->unrun,
            j->unrun == 1 ? " has" : "s have");
    return said;
}

static int conclude(struct job *j, struct err *e)
{
    const struct cover_problems *p = &j->problems;
    uint64_t bad = p->of_kind[PROBLEM_LOST] + p->of_kind[PROBLEM_PARTIAL];
    char *left = unplaced(j);
    if (bad)
        err_set(e, "%s%s%s%s", p->at.at[0].text, bad > 1 ? ", and more like it" : "",
                left ? "; " : "", left ? left : "");
    else if (left)
        err_set(e, "%s", left);
    return bad ? EXIT_DIFFERS : EXIT_FINE;
}

static int convert(struct job *j, char *const *paths, size_t len, struct err *e)
{
    if (!open_program(j, e) || !find(j, paths, len, e))
        return EXIT_BAD;
    for (size_t i = 0; i < j->pairs.len; i++)
        add_pair(j, &j->pairs.at[i]);
    problems_sort(&j->problems);
    line_counts_settle(&j->counts);
    struct placing in = {.counts = &j->counts,
                         .object = j->object,
                         .functions = &j->functions,
                         .maps = &j->request->maps,
                         .adds_calls = j->request->adds_calls};
    place_counts(&in, &j->profile, &j->placed, &j->arena);
    if (!j->profile.blocks.len) {
        conclude(j, e);
        struct err why = *e;
        err_set(e, "nothing was written: %s",
                why.line[0] ? why.line : "none of the functions were run or are known");
        return EXIT_BAD;
    }
    return write(j, e) ? conclude(j, e) : EXIT_BAD;
}

int arcs_profile(const struct arcs_profile_request *request, char *const *paths, size_t len,
                 struct err *e)
{
    struct job j = {.request = request};
    int status = convert(&j, paths, len, e);
    profile_deinit(&j.profile);
    line_counts_deinit(&j.counts);
    problems_deinit(&j.problems);
    cover_found_deinit(&j.found);
    vec_free(&j.pairs);
    if (j.object)
        object_close(j.object);
    arena_deinit(&j.arena);
    return status;
}
