/* `monarc run` for coverage: the program is not sampled, but it is found out which lines run.
 *
 *     --coverage       a program with counters of gcc, clang or rustc: they are read from outside
 *                      and written as its own runtime would have done
 *     --cover-blocks   a program that counts nothing: blocks that ran, by breakpoints, become lines
 *                      by the debug information, and those a tracefile
 *
 * A line ran if any block did that has code of it: a block runs from its start to its end, but for
 * a signal or a fault in its middle. A function ran if its first block did. Each has the count 1,
 * since a breakpoint is gone after its first hit. Lines are those of blocks that are known: code
 * that is reached through tables alone, and in which no row of the line table begins, is not. */
#include "cli/run.h"

#include "base/path.h"
#include "base/sort.h"
#include "coverage/report/coverage_report.h"
#include "record/cover_blocks.h"
#include "record/live_counters.h"
#include "source/source.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Both ways look into the processes by their files there. */
static bool proc_is_mounted(struct err *e)
{
    return !access("/proc/self/maps", F_OK) ||
           err_set(e, "coverage is read out of processes through /proc, which is not mounted here");
}

/* What could not be had, or was found in the way of it. */
static void counters_tell_rest(const struct live_counters_result *r, uint64_t interval_ms,
                               struct out *aside)
{
    if (r->killed + r->replaced)
        out_printf(aside,
                   "monarc run: %" PRIu64
                   " ended by SIGKILL or ran another program by exec: what it "
                   "counted in the last %" PRIu64 " ms may be missing\n",
                   r->killed + r->replaced, interval_ms);
    if (r->gcc_aside)
        out_printf(aside,
                   "monarc run: %" PRIu64
                   " counter files were damaged or of another build; they were renamed to "
                   "FILE.damaged-N or FILE.other-N\n",
                   r->gcc_aside);
    if (r->unmapped)
        out_printf(aside,
                   "monarc run: %" PRIu64 " times counters of an object were left out: their "
                   "memory does not match the object's file\n",
                   r->unmapped);
    if (r->unreadable)
        out_printf(aside, "monarc run: %" PRIu64 " processes could not be read\n", r->unreadable);
    if (r->with_rights)
        out_printf(aside,
                   "monarc run: %" PRIu64
                   " programs with rights of their files (set-user-ID) ran without being "
                   "followed\n",
                   r->with_rights);
    if (r->was_stopped)
        out_printf(aside, "monarc run: stopped by a signal while some processes of the program "
                          "were still running: counts end there\n");
}

/* Runs the program without recording, and reports its counters on standard error, as its own output
 * goes to standard output.
 *
 * The status is the program's, unless it ended well and nothing could be read: a test that passes
 * without leaving its coverage would look like one that covers nothing. What cannot be had, by
 * SIGKILL and by exec, is no failure, but said. */
int run_with_coverage(const struct run_request *r, struct err *e)
{
    struct live_counters_result result;
    struct live_counters_request request = {
        .argv = r->argv,
        .output = r->coverage ? r->coverage : path_base_name(r->argv[0]),
        .interval_ms = r->coverage_interval ? r->coverage_interval : 200};
    struct out aside;
    struct err ignored;
    if (!proc_is_mounted(e))
        return EXIT_BAD;
    bool ok = live_counters_run(&request, &result, e);
    out_init(&aside, STDERR_FILENO);
    bool has_gcc = result.gcc_files + result.gcc_written;
    if (ok && !result.written && !has_gcc && !result.with_rights)
        ok = err_set(e,
                     "%s: %s; compile it with -fprofile-instr-generate -fcoverage-mapping (clang), "
                     "-Cinstrument-coverage (rustc) or --coverage (gcc)",
                     r->argv[0],
                     result.stripped ? "has counters, but is stripped of the symbol that says "
                                       "their version, or where they are"
                     : result.gcc_foreign
                         ? "has counters of a gcc before 9, or of one that is not known"
                         : "has no counters that can be read from outside");
    else if (ok && result.written)
        out_printf(&aside,
                   "monarc run: counters of %" PRIu64 " process%s are in %s%s; 'monarc cover' "
                   "shows them\n",
                   result.written, result.written == 1 ? "" : "es", result.example,
                   result.written > 1 ? " and others" : "");
    if (ok && has_gcc)
        out_printf(&aside,
                   "monarc run: %" PRIu64 " counter file%s (.gcda) written from outside, %" PRIu64
                   " by libgcov itself\n",
                   result.gcc_files, text_plural(result.gcc_files), result.gcc_written);
    counters_tell_rest(&result, request.interval_ms, &aside);
    (void)!out_finish(&aside, "standard error", &ignored);
    out_deinit(&aside);
    free(result.example);
    return ok || result.status ? result.status : EXIT_BAD;
}

/* --- blocks ------------------------------------------------------------------------------------
 */

/* The table that grows, while rows of an object come in the order of addresses, as blocks do:
 *
 *     blocks   ├──ran──┤├────────┤    ├──ran──┤
 *     rows     ├─12─┤├──13──┤├─14─┤├─15─┤├─12─┤    15 has no block and is not listed
 *
 * so that both lists are walked once. */
struct block_lines {
    struct coverage_table *table;
    const struct covered_object *object;
    size_t next; /* block that may have code of the next row */
    struct arena *arena;
    const char *file, *tidy; /* of the row before */
};

/* One source has one name, from whichever folder a unit includes it. Pointers distinguish files;
 * neighbouring rows share them. */
static uint32_t block_lines_source(struct block_lines *b, const char *file)
{
    if (file != b->file)
        b->file = file, b->tidy = path_tidy(file, b->arena);
    return coverage_table_source(b->table, b->tidy);
}

/* An object_visitor. A row is known if a block has code of it. A line has many rows: it is counted
 * once for that it is there, and once for that it ran. */
static void block_lines_add(const struct object_place *row, void *context)
{
    struct block_lines *b = context;
    const struct covered_object *o = b->object;
    bool is_known = false, has_run = false;
    while (b->next < o->blocks.all.len && o->blocks.all.at[b->next].end <= row->start)
        b->next++;
    for (size_t i = b->next; i < o->blocks.all.len && o->blocks.all.at[i].start < row->end; i++) {
        is_known = true;
        has_run |= o->has_run[i];
    }
    if (!is_known || !row->line || !row->file)
        return;
    uint32_t line = coverage_table_line(b->table, block_lines_source(b, row->file), row->line);
    if (has_run ? !b->table->lines.at[line].count : !b->table->lines.at[line].is_known)
        coverage_table_count(b->table, line, has_run);
}

/* Functions by their symbols, and lines by the rows. Aliases of a function are functions, as each
 * is called by its name; one that was inlined everywhere has no symbol, but its lines are there. */
static void blocks_to_table(const struct covered_object *o, struct coverage_table *t,
                            struct arena *a)
{
    struct block_lines lines = {.table = t, .object = o, .arena = a};
    size_t len;
    const struct object_symbol *symbols = object_symbols(o->object, &len, NULL);
    for (size_t i = 0; i < len; i++) {
        const struct object_symbol *s = &symbols[i];
        size_t at = PARTITION_POINT(o->blocks.all.len, k, o->blocks.all.at[k].end <= s->address);
        const char *file = NULL;
        uint32_t line = 0;
        if (s->type != SYMBOL_FUNC || at == o->blocks.all.len ||
            o->blocks.all.at[at].start > s->address ||
            !object_line(o->object, s->address, &file, &line) || !file || !line)
            continue;
        coverage_table_function(t,
                                &(struct table_function){.name = coverage_table_name(t, s->name),
                                                         .source = block_lines_source(&lines, file),
                                                         .start_line = line,
                                                         .end_line = line,
                                                         .count = o->has_run[at],
                                                         .is_known = true});
    }
    VEC(struct object_range) ranges = {0};
    for (size_t i = 0; i < o->blocks.all.len; i++) {
        const struct code_block *b = &o->blocks.all.at[i];
        if (ranges.len && ranges.at[ranges.len - 1].high == b->start)
            ranges.at[ranges.len - 1].high = b->end;
        else
            vec_push(&ranges, (struct object_range){b->start, b->end});
    }
    object_each_row_within(o->object, ranges.at, ranges.len, block_lines_add, &lines);
    vec_free(&ranges);
}

/* An output_writer. Paths are those of the debug information, so that any `monarc cover` finds the
 * sources. */
static bool blocks_write(void *result, struct out *out, struct err *e)
{
    struct problems problems = {0};
    (void)e;
    coverage_lcov(out, &(struct coverage_report){.result = result, .problems = &problems},
                  &(struct coverage_style){0});
    return true;
}

/* The tracefile of all objects; `*what` it has. Markers in sources are left to who reads it:
 * `cover` applies them, as it does to any tracefile. */
static bool blocks_keep(const struct covered_blocks *blocks, const char *path, struct arena *a,
                        const char **what, struct out *out, struct err *e)
{
    struct coverage_table table = {0};
    struct arena arena = {0};
    struct source_search search = {.arena = &arena};
    struct result_rules rules = {.keeps_all_branches = true,
                                 .ignores_markers = true,
                                 .keeps_unseen = true,
                                 .search = &search};
    struct coverage_result result = {0};
    for (size_t i = 0; i < blocks->objects.len; i++)
        if (blocks->objects.at[i].blocks.all.len)
            blocks_to_table(&blocks->objects.at[i], &table, &arena);
    coverage_result_build(&table, 1, &rules, &result);
    /* Most programs of one source are tried out: its name says more than a number. */
    *what = result.sources.len == 1 ? arena_printf(a, "lines of %s", result.sources.at[0].path)
                                    : arena_printf(a, "lines of %zu sources", result.sources.len);
    bool ok = output_to(path, blocks_write, &result, out, e);
    coverage_result_deinit(&result);
    source_search_deinit(&search);
    coverage_table_deinit(&table);
    arena_deinit(&arena);
    return ok;
}

/* What was found (`what`, in `path`; NULL: nothing, as where a program was left to its rights), and
 * what cannot be known, on standard error: the program's own output goes to standard output. */
static void blocks_tell(const struct covered_blocks *b, const char *what, const char *path)
{
    struct out aside;
    struct err ignored;
    uint64_t all = 0, ran = 0, refused = 0, unset = 0, without = 0;
    for (size_t i = 0; i < b->objects.len; i++) {
        const struct covered_object *o = &b->objects.at[i];
        all += o->blocks.all.len;
        refused += o->blocks.refused;
        unset += o->unset;
        without += o->why && !o->is_left_out;
        for (size_t k = 0; k < o->blocks.all.len; k++)
            ran += o->has_run[k];
    }
    out_init(&aside, STDERR_FILENO);
    if (path)
        out_printf(&aside,
                   "monarc run: %" PRIu64 " of %" PRIu64
                   " blocks of code ran; %s are in %s: 'monarc cover %s' shows them\n",
                   ran, all, what, path, path);
    if (without)
        out_printf(&aside, "monarc run: %" PRIu64 " files have no lines (-g) and are left out\n",
                   without);
    if (refused)
        out_printf(&aside,
                   "monarc run: %" PRIu64
                   " functions are left out: not all in them is code, or it cannot be read\n",
                   refused);
    if (unset)
        out_printf(&aside,
                   "monarc run: %" PRIu64
                   " times a block was not watched: its code in memory is not "
                   "that of the file\n",
                   unset);
    if (b->tracers)
        out_printf(&aside,
                   "monarc run: %" PRIu64
                   " programs have ptrace() in their code, which fails while they are followed: "
                   "they may have behaved differently\n",
                   b->tracers);
    if (b->left_alone)
        out_printf(&aside,
                   "monarc run: %" PRIu64
                   " programs and their children were not followed; the last one %s\n",
                   b->left_alone, b->left_why);
    (void)!out_finish(&aside, "standard error", &ignored);
    out_deinit(&aside);
}

/* The status is the program's, unless it ended well and nothing could be found out. The first
 * object is the program: why it has no blocks is why there is nothing to show. */
int run_with_blocks(const struct run_request *r, struct out *out, struct err *e)
{
    if (!proc_is_mounted(e))
        return EXIT_BAD;
    struct covered_blocks blocks;
    struct arena a = {0};
    const char *path =
        r->coverage ? r->coverage : arena_printf(&a, "%s.info", path_base_name(r->argv[0]));
    bool ok = cover_blocks_run(r->argv, r->covers_libraries, &blocks, e), has_any = false;
    for (size_t i = 0; i < blocks.objects.len; i++)
        has_any |= blocks.objects.at[i].blocks.all.len != 0;
    bool is_let_go = !has_any && blocks.with_rights;
    if (ok && !has_any && !is_let_go && blocks.left_alone) {
        ok = err_set(e, "%s: was left alone: it %s", r->argv[0], blocks.left_why);
    } else if (ok && !has_any && !is_let_go) {
        const char *why = blocks.objects.len ? blocks.objects.at[0].why : NULL;
        ok = err_set(e, "%s: %s", r->argv[0], why ? why : "has no code that could be watched");
    }
    const char *what = "nothing";
    ok = ok && (is_let_go || blocks_keep(&blocks, path, &a, &what, out, e));
    if (ok)
        blocks_tell(&blocks, what, is_let_go ? NULL : path);
    int status = blocks.status;
    covered_blocks_deinit(&blocks);
    arena_deinit(&a);
    return ok || status ? status : EXIT_BAD;
}
