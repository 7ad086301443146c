/* From counters of arc profiling to a profile: counts of blocks at addresses (arcs_profile()), or
 * calls between functions (arcs_calls()).
 *
 * Pairs of notes and counters are found as `monarc cover` finds them, read and solved one after
 * the other; of each only the counts of its lines stay (bridge/line_counts.c). With all of them,
 * the program's line tables say at which addresses those lines begin (bridge/placing.c).
 *
 *   gcno + gcda ─► flow ─► counts of lines ─┐
 *                                           ├─► block records ─► gmon.out
 *   program ─► line table ──────────────────┘
 *
 * clang's and rustc's own coverage counts lines already: what coverage_read_llvm() makes of the
 * program's mapping and the profiles joins the counts of lines, each in the function that it stands
 * in.
 *
 * Nothing is written if no count found a place. What found none is summed up in one sentence with
 * an example of each kind: lines without code, functions and sources that the program does not
 * have. Memory is one pair, the lines, and the program's tables. */
#include "session/arcs_profile.h"

#include "base/path.h"
#include "base/sort.h"
#include "coverage/analysis/coverage_table.h"
#include "bridge/bridge.h"
#include "session/coverage.h"
#include "session/arcs_file.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct pair {
    const char *notes, *counters;
};

/* One call of arcs_profile() or arcs_calls(). */
struct job {
    const struct arcs_profile_request *request;
    struct arena arena;
    struct coverage_files found;
    struct problems problems;
    VEC(struct pair) pairs;
    uint64_t unrun;   /* notes without counters */
    bool names_llvm;  /* one of the profiles of LLVM's was named, not found in a folder */
    bool passes_llvm; /* others may be passed over, if they do not fit */
    const char *passed_over;
    struct line_counts counts;
    const char *program; /* whose mapping LLVM's profiles are read with */
    struct object *object;
    struct functions functions;
    struct profile profile;
    struct placed placed;
};

/* ---- which files */

/* One operand: a folder, counters, or the notes of such. */
static bool arcs_look(struct job *j, const char *path, struct err *e)
{
    const char *notes = j->request->notes;
    const struct find_rules rules = {0};
    enum arcs_kind kind = arcs_kind_of_path(path);
    bool is_counters = kind == ARCS_GCDA || kind == ARCS_DA;
    bool has_suffix = path_has_suffix(path, ".gcda") || path_has_suffix(path, ".gcno") ||
                      path_has_suffix(path, ".da") || path_has_suffix(path, ".bbg");
    /* Both were named, so nothing needs to be looked for. */
    if (is_counters && notes && !path_is_folder(notes))
        vec_push(&j->pairs, ((struct pair){notes, path}));
    else if (!has_suffix && kind == ARCS_DA)
        vec_push(&j->pairs, ((struct pair){arcs_path_beside(path, "bbg", &j->arena), path}));
    else if (!has_suffix && kind == ARCS_GCDA)
        vec_push(&j->pairs, ((struct pair){arcs_path_beside(path, "gcno", &j->arena), path}));
    else if (!has_suffix && kind == ARCS_BBG)
        vec_push(&j->pairs, ((struct pair){path, arcs_path_beside(path, "da", &j->arena)}));
    else
        return coverage_files_look(&j->found, path, &rules, e) &&
               (!j->found.traces.len ||
                err_in(e, path, "is neither counters (gcda, da, profraw) nor a folder of them"));
    return true;
}

/* From operands to pairs. A folder of notes is looked through for those that have counters only.
 */
static bool arcs_find(struct job *j, char *const *paths, size_t len, struct err *e)
{
    const struct find_rules rules = {0};
    for (size_t i = 0; i < len; i++) {
        if (!arcs_look(j, paths[i], e))
            return false;
        j->names_llvm |= !path_is_folder(paths[i]) && is_llvm_profile(paths[i]);
    }
    if (path_is_folder(j->request->notes)) {
        size_t own = j->found.objects.len;
        if (!coverage_files_look(&j->found, j->request->notes, &rules, e))
            return false;
        coverage_files_pair(&j->found, &rules);
        /* What lies there without counters was not asked about. */
        size_t kept = own;
        for (size_t i = own; i < j->found.objects.len; i++)
            if (j->found.objects.at[i].first_counters != (uint32_t)NO_INDEX)
                j->found.objects.at[kept++] = j->found.objects.at[i];
        j->found.objects.len = kept;
    } else {
        coverage_files_pair(&j->found, &rules);
    }
    /* From pairs of files as cover finds them. */
    const struct coverage_files *files = &j->found;
    for (size_t i = 0; i < files->objects.len; i++) {
        const struct coverage_object *object = &files->objects.at[i];
        j->unrun += object->first_counters == (uint32_t)NO_INDEX && !object->is_known;
        for (uint32_t k = object->first_counters; k != (uint32_t)NO_INDEX;
             k = files->counters.at[k].next)
            vec_push(&j->pairs, ((struct pair){object->notes, files->counters.at[k].path}));
    }
    for (size_t i = 0; i < files->counters.len; i++)
        if (!files->counters.at[i].is_paired)
            problem_add(&j->problems, PROBLEM_LOST,
                        "%s: has no notes of that name and stamp; --notes says where they are",
                        files->counters.at[i].path);
    for (size_t i = 0; i < files->unreadable.len; i++)
        problem_add(&j->problems, PROBLEM_LOST, "%s", files->unreadable.at[i]);
    return j->pairs.len || files->profiles.len ||
           err_set(e, "%s%s",
                   j->problems.at.len ? j->problems.at.at[0].text
                                      : "no counters (.gcda) were found",
                   j->problems.at.len ? "" : ": was the program run, and did it end normally?");
}

/* ---- one pair */

/* A source's number. Its name in the notes is relative to where the compiler ran, which newer
 * notes say; --path-map then moves it to where it is now. */
static uint32_t arcs_file_number(struct job *j, const struct notes *n, const char *name)
{
    bool is_below = name[0] != '/' && n->directory && n->directory[0] == '/';
    const char *whole = is_below ? arena_printf(&j->arena, "%s/%s", n->directory, name) : name;
    const char *path = source_mapped(&j->request->maps, whole, &j->arena);
    return intern(&j->counts.files, path, strlen(path));
}

/* Damaged functions are repaired or left out, and said either way. */
static void arcs_add_pair(struct job *j, const struct pair *pair)
{
    struct object_pair p = {0};
    VEC(uint32_t) files = {0};
    if (object_pair_load_notes(&p, pair->notes, ARCS_NONE, &j->problems) &&
        object_pair_load_counters(&p, pair->counters, ARCS_NONE, &j->problems)) {
        const struct notes *n = &p.notes.notes;
        object_pair_solve(&p, j->request->repairs);
        object_pair_report_pairing(&p, pair->notes, pair->counters, &j->problems);
        object_pair_report_unknown(&p, pair->counters, "left out", &j->problems);
        for (size_t i = 0; i < n->files.len; i++)
            vec_push(&files, arcs_file_number(j, n, n->files.at[i] ? n->files.at[i] : ""));
        line_counts_add(&j->counts, n, &p.flow, files.at);
    }
    vec_free(&files);
    object_pair_deinit(&p);
}

/* ---- clang's and rustc's own */

/* A function of one source: the lines from its first brace to its last. Spans are sorted by where
 * they begin, and a span that another one encloses comes after it. */
struct span {
    uint32_t start, end, name;
};

static int by_span_start(const void *left, const void *right)
{
    const struct span *a = left, *b = right;
    if (a->start != b->start)
        return a->start < b->start ? -1 : 1;
    return a->end > b->end ? -1 : a->end < b->end;
}

/* From a line's count to an entry of its function:
 *
 *     12  int f(int n) {           f, is_start: how often it was entered
 *     13      auto g = [](int x) { f
 *     14          return x; };     the lambda, which has a span of its own
 *     15      return g(n); }       f
 *
 * The lines of one source, by number. A line is of the innermost function that has it, as lambdas
 * and closures stand in others: of those on the stack, the last one that has not ended. */
static void arcs_add_llvm_lines(struct job *j, const struct coverage_table *t, uint32_t file,
                                const struct keyed *lines, size_t len, const struct span *spans,
                                size_t spans_len)
{
    VEC(const struct span *) open = {0};
    size_t next = 0;
    for (size_t i = 0; i < len; i++) {
        const struct table_line *l = &t->lines.at[lines[i].item];
        for (; next < spans_len && spans[next].start <= l->line; next++)
            vec_push(&open, &spans[next]);
        while (open.len && open.at[open.len - 1]->end < l->line)
            open.len--;
        const struct span *in = open.len ? open.at[open.len - 1] : NULL;
        if (l->is_known && in)
            vec_push(&j->counts.at, ((struct line_count){.file = file,
                                                         .line = l->line,
                                                         .function = in->name,
                                                         .is_start = l->line == in->start,
                                                         .count = l->count,
                                                         .ran = l->count}));
    }
    vec_free(&open);
}

/* Lines and functions of the table, source by source: both are sorted by source, lines by number
 * as well, and walked side by side. How often functions were entered is kept for calls. */
static void arcs_add_llvm_table(struct job *j, const struct coverage_table *t)
{
    VEC(struct keyed) lines = {0}, functions = {0};
    VEC(struct span) spans = {0};
    for (uint32_t i = 0; i < t->lines.len; i++)
        vec_push(&lines, (struct keyed){map_two(t->lines.at[i].source, t->lines.at[i].line), i});
    for (uint32_t i = 0; i < t->functions.len; i++)
        vec_push(&functions, (struct keyed){t->functions.at[i].source, i});
    sort_keyed(lines.at, lines.len);
    sort_keyed(functions.at, functions.len);
    for (size_t i = 0, end, f = 0; i < lines.len; i = end) {
        uint32_t source = (uint32_t)(lines.at[i].key >> 32);
        const char *path = intern_text(&t->paths, source);
        uint32_t file = intern(&j->counts.files, path, strlen(path));
        for (end = i; end < lines.len && lines.at[end].key >> 32 == source; end++)
            ;
        spans.len = 0;
        for (; f < functions.len && functions.at[f].key <= source; f++) {
            const struct table_function *row = &t->functions.at[functions.at[f].item];
            const char *name = intern_text(&t->names, row->name);
            uint32_t number = intern(&j->counts.names, name, strlen(name));
            if (row->source != source)
                continue;
            vec_push(&spans, ((struct span){row->start_line, row->end_line, number}));
            if (row->is_known)
                vec_push(&j->counts.functions,
                         ((struct called_function){number, file, row->count, row->start_line,
                                                   row->end_line}));
        }
        if (spans.len)
            qsort(spans.at, spans.len, sizeof *spans.at, by_span_start);
        arcs_add_llvm_lines(j, t, file, lines.at + i, end - i, spans.at, spans.len);
    }
    vec_free(&lines);
    vec_free(&functions);
    vec_free(&spans);
}

/* The program, unless another build is named that was covered: counts are placed by lines. */
static void arcs_add_llvm(struct job *j)
{
    struct coverage_reading reading = {0};
    struct source_search maps = j->request->maps;
    const struct source_filter all = {.root = "/", .maps = &maps, .keeps_system = true};
    const struct read_rules rules = {0};
    if (!j->found.programs.len)
        vec_push(&j->found.programs, ((struct llvm_program){j->program, true}));
    coverage_read_llvm(&j->found, &all, &rules, &reading);
    size_t lines = 0;
    for (size_t i = 0; i < reading.tables.len; i++) {
        lines += reading.tables.at[i].lines.len;
        arcs_add_llvm_table(j, &reading.tables.at[i]);
    }
    /* Where gcc's counters are there, a profile that another program left beside them is none of
     * this one's. */
    if (j->passes_llvm && !j->names_llvm && j->pairs.len && !lines)
        j->passed_over = j->found.profiles.at[0].path;
    else
        problems_merge(&j->problems, &reading.problems);
    coverage_reading_deinit(&reading);
}

/* All that was found becomes counts of lines. Pairs come first, one in memory at a time. */
static void arcs_add_found(struct job *j)
{
    for (size_t i = 0; i < j->pairs.len; i++)
        arcs_add_pair(j, &j->pairs.at[i]);
    if (j->found.profiles.len)
        arcs_add_llvm(j);
    problems_sort(&j->problems);
}

/* ---- all */

/* Opens the program and insists on line numbers: without, no count could be placed. */
static bool arcs_open_program(struct job *j, struct err *e)
{
    const struct arcs_profile_request *r = j->request;
    j->object =
        object_open(r->program, &(struct object_options){.debug_dir = r->debug_dir}, NULL, e);
    if (!j->object)
        return false;
    if (!object_has_debug_info(j->object))
        return object_lacks_lines(j->object, r->program, ", so counts cannot be given addresses",
                                  e);
    functions_native(&j->functions, j->object, &j->arena);
    return true;
}

/* Word size and byte order are the program's, unless the user wants another machine's. */
static bool arcs_write(struct job *j, struct err *e)
{
    const struct arcs_profile_request *r = j->request;
    const char *why;
    if (object_debug_refused(j->object, &why))
        return err_in(e, r->program, "%s", why);
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
/* Adds a part to a sentence whose parts are separated by semicolons. */
static void arcs_say(struct job *j, char **said, const char *format, ...)
{
    char text[700];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    *said = arena_printf(&j->arena, "%s%s%s", *said ? *said : "", *said ? "; " : "", text);
}

/* What the program has no place for, as one text, or NULL. */
static char *arcs_unplaced(struct job *j)
{
    const struct placed *p = &j->placed;
    const char *program = j->program;
    char *said = NULL;
    if (p->no_code)
        arcs_say(j, &said,
                 "%" PRIu64 " of %" PRIu64 " lines have no code in %s, %" PRIu64
                 " of them executed, such as %s:%" PRIu32 " of %s",
                 p->no_code, p->lines, program, p->executed, p->line_file, p->line,
                 p->line_function);
    if (p->missing_functions)
        arcs_say(j, &said, "%" PRIu64 " function%s not in %s, such as %s", p->missing_functions,
                 p->missing_functions == 1 ? " is" : "s are", program, p->function);
    if (p->missing_files && p->similar)
        arcs_say(j, &said, "%" PRIu64 " source%s not in %s, such as %s (it has %s: --path-map?)",
                 p->missing_files, p->missing_files == 1 ? " is" : "s are", program, p->file,
                 p->similar);
    else if (p->missing_files)
        arcs_say(j, &said, "%" PRIu64 " source%s not in %s, such as %s", p->missing_files,
                 p->missing_files == 1 ? " is" : "s are", program, p->file);
    if (j->found.left_out.len)
        arcs_say(j, &said, COVERAGE_LEFT_OUT, j->found.left_out.at[0]);
    if (j->unrun)
        arcs_say(j, &said, "%" PRIu64 " notes file%s no counters", j->unrun,
                 j->unrun == 1 ? " has" : "s have");
    return said;
}

/* Lost input changes the status; what the program has no place for is only reported, as a build
 * without tests always has some. */
static int arcs_conclude(struct job *j, struct err *e)
{
    const struct problems *p = &j->problems;
    uint64_t bad = p->of_kind[PROBLEM_LOST] + p->of_kind[PROBLEM_PARTIAL];
    char *left = arcs_unplaced(j);
    if (bad)
        err_set(e, "%s%s%s%s", p->at.at[0].text, COVERAGE_AND_MORE(bad), left ? "; " : "",
                left ? left : "");
    else if (left)
        err_set(e, "%s", left);
    return bad ? EXIT_DIFFERS : EXIT_FINE;
}

static int profile_convert(struct job *j, char *const *paths, size_t len, struct err *e)
{
    if (!arcs_open_program(j, e) || !arcs_find(j, paths, len, e))
        return EXIT_BAD;
    arcs_add_found(j);
    /* All pairs are in: lines that several objects share (headers) get their sums. */
    line_counts_settle(&j->counts);
    struct placing in = {.counts = &j->counts,
                         .object = j->object,
                         .functions = &j->functions,
                         .maps = &j->request->maps,
                         .adds_calls = j->request->adds_calls};
    place_counts(&in, &j->profile, &j->placed, &j->arena);
    if (!j->profile.blocks.len) {
        arcs_conclude(j, e);
        struct err why = *e;
        err_set(e, "nothing was written: %s",
                why.line[0] ? why.line : "none of the functions were run or are known");
        return EXIT_BAD;
    }
    return arcs_write(j, e) ? arcs_conclude(j, e) : EXIT_BAD;
}

static void arcs_release(struct job *j)
{
    profile_deinit(&j->profile);
    line_counts_deinit(&j->counts);
    problems_deinit(&j->problems);
    coverage_files_deinit(&j->found);
    vec_free(&j->pairs);
    if (j->object)
        object_close(j->object);
    arena_deinit(&j->arena);
}

int arcs_profile(const struct arcs_profile_request *request, char *const *paths, size_t len,
                 struct err *e)
{
    struct job j = {.request = request, .program = request->program};
    int status = profile_convert(&j, paths, len, e);
    arcs_release(&j);
    return status;
}

/* ---- calls */

/* Whether all that was found is used. A pair that cannot be means times or counts that are too
 * small: refused without --force. */
static bool arcs_is_whole(const struct job *j, const struct arcs_calls_request *r, struct err *e)
{
    uint64_t bad = j->problems.of_kind[PROBLEM_LOST] + j->problems.of_kind[PROBLEM_PARTIAL];
    return !bad || r->is_forced ||
           err_set(e, "%s%s (--force continues without)", j->problems.at.at[0].text,
                   COVERAGE_AND_MORE(bad));
}

static bool arcs_put_calls(struct job *j, const struct arcs_calls_request *r, struct profile *out,
                           struct err *e)
{
    problems_sort(&j->problems);
    if (!arcs_is_whole(j, r, e))
        return false;
    /* Callers are found by their code: what of it cannot be read would leave calls without any, and
     * all others with too many. */
    const char *unread;
    uint64_t unknown = counted_calls_put(&j->counts, r->functions, r->object, out, &unread);
    if (unread && !r->is_forced)
        return err_in(
            e, object_path(r->object),
            "who calls whom takes all of its instructions: %s (--force continues without)", unread);
    return out->arcs.len ||
           err_in(e, object_path(r->object),
                  unknown ? "has none of the functions that ran" : "none of its functions ran");
}

bool arcs_calls(const struct arcs_calls_request *request, char *const *paths, size_t len,
                struct profile *out, struct err *e)
{
    const struct arcs_profile_request whole = {0};
    struct job j = {.request = &whole, .program = object_path(request->object)};
    bool ok = arcs_find(&j, paths, len, e);
    if (ok)
        arcs_add_found(&j);
    out->format = PROFILE_GNU;
    out->version = 1;
    out->word = object_word(request->object);
    out->big_endian = object_is_big_endian(request->object);
    ok = ok && arcs_put_calls(&j, request, out, e);
    arcs_release(&j);
    return ok;
}

/* ---- counts by line */

/* Without a program: only profiles of clang and rustc need it, for its mapping. */
bool arcs_positions(const struct arcs_calls_request *request, char *const *paths, size_t len,
                    enum source_compiler target, struct source_profile *out,
                    struct line_positions_report *report, struct err *e)
{
    const struct arcs_profile_request whole = {0};
    struct job j = {.request = &whole,
                    .program = object_path(request->object),
                    .passes_llvm = request->passed_over};
    bool ok = arcs_find(&j, paths, len, e);
    if (ok) {
        arcs_add_found(&j);
        ok = arcs_is_whole(&j, request, e);
    }
    if (ok && j.passed_over)
        *request->passed_over = arena_printf(request->arena, "%s", j.passed_over);
    if (ok) {
        line_counts_settle(&j.counts);
        const struct line_positions_program program = {request->object, request->functions};
        line_counts_to_positions(&j.counts, target, &program, out, report);
        if (report->file)
            report->file = arena_printf(request->arena, "%s", report->file);
    }
    arcs_release(&j);
    return ok;
}

/* ---- blocks */

/* What cannot be used is refused without --force, as for calls. The profile may hold samples
 * already; without any it becomes one of GNU's, as those that are converted are. */
bool arcs_blocks(const struct arcs_calls_request *request, char *const *paths, size_t len,
                 struct profile *out, const char **left, struct arena *a, struct err *e)
{
    const struct arcs_profile_request whole = {0};
    struct job j = {.request = &whole, .program = object_path(request->object)};
    bool ok = arcs_find(&j, paths, len, e);
    if (ok) {
        arcs_add_found(&j);
        ok = arcs_is_whole(&j, request, e);
    }
    if (ok) {
        line_counts_settle(&j.counts);
        struct placing in = {.counts = &j.counts,
                             .object = request->object,
                             .functions = request->functions,
                             .maps = &whole.maps};
        place_counts(&in, out, &j.placed, &j.arena);
        const char *said = arcs_unplaced(&j);
        *left = said ? arena_printf(a, "%s", said) : NULL;
        if (!out->format) {
            out->format = PROFILE_GNU;
            out->version = 1;
        }
        out->word = object_word(request->object);
        out->big_endian = object_is_big_endian(request->object);
        profile_normalize(out);
    }
    arcs_release(&j);
    return ok;
}
