/* `monarc gcov`: GNU gcov 12's reports, options, messages and exit statuses, for the files of
 * every version.
 *
 *   for each argument    notes, counters ─► gcov_read() ─► flow of each function
 *   at the end           all pairs ─► line_coverage_build() ─► one table
 *   for each source      X.gcov (gcov_text.c), or all in one JSON document (gcov_json.c)
 *
 * With text, gcov 12 reads all arguments into one table and prints the last argument's name; with
 * JSON, each argument has a table and a document of its own. A notes file of another version is
 * reported as the gcov of that version does: what differs is in `struct gcov_dialect`, never
 * queried by number here.
 *
 * A report's file is written beside and renamed. A missing source, a date, a stamp that does not
 * match are complaints on standard error; the last of them decides the status. */
#include "gnu/gcov/gcov.h"

#include "base/map.h"
#include "command/command.h"
#include "coverage/model/coverage.h"
#include "gnu/gnu_compat.h"
#include "objfile/object.h"
#include "output/out.h"

#include <getopt.h>
#include <unistd.h>

/* --- the command line ------------------------------------------------------------------------ */

/* gcov's command line: getopt_long with gcov 12's names and letters. The usage text is ours.
 * Unknown options end the command with the usage text and status 1, after getopt's complaint. */
enum { AS_GCOV_RUN = -1 }; /* go on; any other result of as_gcov_parse() is an exit status */

/* gcov 12's letters, and -e and -g of later versions. */
static const char short_options[] = "abcdDefghHijklmno:pqrs:tuvwx";

/* -i is -j, and --object-file is --object-directory, as gcov has them. */
static const struct option long_options[] = {
    {"help", no_argument, NULL, 'h'},
    {"version", no_argument, NULL, 'v'},
    {"verbose", no_argument, NULL, 'w'},
    {"all-blocks", no_argument, NULL, 'a'},
    {"branch-probabilities", no_argument, NULL, 'b'},
    {"branch-counts", no_argument, NULL, 'c'},
    {"conditions", no_argument, NULL, 'g'},
    {"prime-paths", no_argument, NULL, 'e'},
    {"json-format", no_argument, NULL, 'j'},
    {"human-readable", no_argument, NULL, 'H'},
    {"no-output", no_argument, NULL, 'n'},
    {"long-file-names", no_argument, NULL, 'l'},
    {"function-summaries", no_argument, NULL, 'f'},
    {"demangled-names", no_argument, NULL, 'm'},
    {"preserve-paths", no_argument, NULL, 'p'},
    {"relative-only", no_argument, NULL, 'r'},
    {"object-directory", required_argument, NULL, 'o'},
    {"object-file", required_argument, NULL, 'o'},
    {"source-prefix", required_argument, NULL, 's'},
    {"stdout", no_argument, NULL, 't'},
    {"unconditional-branches", no_argument, NULL, 'u'},
    {"display-progress", no_argument, NULL, 'd'},
    {"hash-filenames", no_argument, NULL, 'x'},
    {"use-colors", no_argument, NULL, 'k'},
    {"use-hotness-colors", no_argument, NULL, 'q'},
    {"debug", no_argument, NULL, 'D'},
    {NULL, 0, NULL, 0},
};

static const char usage[] =
    "Usage: gcov [OPTION...] SOURCE|OBJECT|NOTES|COUNTERS...\n"
    "Reports of GNU gcov, printed by monarc, for the files of any compiler from gcc 3.4 and\n"
    "clang on.\n"
    "\n"
    "What to show:\n"
    "  -a, --all-blocks                each block of a line\n"
    "  -b, --branch-probabilities      branches, calls and functions\n"
    "  -c, --branch-counts             counts of them in place of percentages\n"
    "  -g, --conditions                outcomes of conditions (gcc 14 and later)\n"
    "  -e, --prime-paths               how many paths were taken (gcc 15 and later)\n"
    "  -u, --unconditional-branches    unconditional branches too\n"
    "  -w, --verbose                   numbers of blocks\n"
    "  -f, --function-summaries        a summary of each function\n"
    "  -m, --demangled-names           names as in the source\n"
    "  -H, --human-readable            1.5k in place of 1500\n"
    "  -k, --use-colors                colour for lines that did not run\n"
    "  -q, --use-hotness-colors        colour for lines that ran most\n"
    "  -D, --debug                     what was read\n"
    "\n"
    "Where to:\n"
    "  -j, -i, --json-format           NAME.gcov.json.gz in place of text\n"
    "  -t, --stdout                    to standard output\n"
    "  -n, --no-output                 the summaries only\n"
    "  -l, --long-file-names           name the including file as well\n"
    "  -p, --preserve-paths            whole paths as names, '/' as '#', '..' as '^'\n"
    "  -x, --hash-filenames            the path's MD5 in the name\n"
    "  -d, --display-progress          say which file is read\n"
    "\n"
    "Where from:\n"
    "  -o, --object-directory DIR|FILE where notes and counters are\n"
    "  -s, --source-prefix DIR         take this off the names of sources\n"
    "  -r, --relative-only             only sources with relative names\n"
    "\n"
    "  --compat VERSION print what this version of gcov prints, such as 14.2, whatever compiler "
    "the\n"
    "                   files are of\n"
    "  -h, --help       this text\n"
    "  -v, --version    the version\n";

/* Programs take the first number of the first line for the version of gcov. */
static const char version[] = "gcov (monarc) %s\n" STANDS_IN;

/* What changes the contents of reports. */
static bool take_style(struct gcov_style *s, int code)
{
    switch (code) {
    case 'a': return s->all_blocks = true;
    case 'b': return s->branches = true;
    case 'c': return s->counts = true;
    case 'e': return s->paths = true;
    case 'g': return s->conditions = true;
    case 'u': return s->unconditional = true;
    case 'w': return s->verbose = true;
    case 'H': return s->human = true;
    case 'k': return s->has_colours = true;
    case 'q': return s->has_hotness = true;
    default: return false;
    }
}

/* What changes where they go. */
static bool take(struct gcov_options *o, int code)
{
    switch (code) {
    case 'd': return o->progress = true;
    case 'D': return o->debug = true;
    case 'f': return o->functions = true;
    case 'i':
    case 'j': o->no_output = false; return o->json = true; /* undoes an earlier -n */
    case 'l': return o->long_names = true;
    case 'm': return o->demangled = true;
    case 'n': return o->no_output = true;
    case 'o': o->object = optarg; return true;
    case 'p': return o->preserve_paths = true;
    case 'r': return o->relative_only = true;
    case 's': o->source_prefix = optarg; return true;
    case 't': return o->to_stdout = true;
    case 'x': return o->hash_names = true;
    default: return take_style(&o->style, code);
    }
}

static int fail_with_usage(void)
{
    lookalike_say("%s", usage);
    return 1;
}

/* No file at all is a mistake in use, as for gcov. */
static int as_gcov_parse(int argc, char **argv, struct gcov_options *o, struct out *out,
                         struct err *e)
{
    *o = (struct gcov_options){0};
    o->expanded = lookalike_expand(&argc, &argv);
    if (!lookalike_take_compat(&argc, argv, GNU_GCC, &o->compat, e))
        return 1;
    optind = 0;
    for (int code; (code = getopt_long(argc, argv, short_options, long_options, NULL)) != -1;) {
        if (code == 'h') {
            out_str(out, usage);
            return 0;
        }
        if (code == 'v') {
            lookalike_version(&o->compat, GNU_GCC, "gcov");
            out_printf(out, version, o->compat.text);
            /* gcovr asks for JSON only where this line is there, as it is from gcc 14 on. */
            const struct arcs_origin as = {.number = (uint16_t)o->compat.number};
            if (dialect_of(&as)->has_block_numbers)
                out_str(out, "JSON format version: 2\n");
            return 0;
        }
        if (!take(o, code))
            return fail_with_usage();
    }
    if (optind >= argc)
        return fail_with_usage();
    o->files = argv + optind;
    o->files_len = argc - optind;
    return AS_GCOV_RUN;
}

/* --- the command ----------------------------------------------------------------------------- */

/* What of a name is wanted. */
struct known_name {
    const char *readable;             /* -m */
    const struct gcov_quoted *quoted; /* -j */
};

/* One invocation. `input` gathers what is read, `report` is the table that is made of it; with JSON
 * both begin anew for each argument. */
struct gcov {
    struct gcov_options options;
    struct gcov_input input;
    struct gcov_report report;
    struct out *out;
    struct arena table; /* of one report */
    bool *is_wanted;    /* sources that -r leaves */
    uint64_t lines, executed;
    struct intern names;          /* that have been demangled; objects share most of those of C++ */
    VEC(struct known_name) known; /* by number of the name */
    struct out scratch;
};

/* ---- the table */

/* A function without a name (in damaged notes) is shown as "". Names of instances are made once
 * each; those of templates are long, and thousands of objects repeat them. */
static void gcov_name_instances(struct gcov *g)
{
    struct gcov_report *r = &g->report;
    size_t len = r->lines.instances.len;
    r->shown_names = ARENA_NEW(&g->table, const char *, len);
    r->quoted_names = ARENA_NEW(&g->table, const struct gcov_quoted *, len);
    for (uint32_t i = 0; i < len; i++) {
        const char *name = gcov_function(r, i)->name;
        r->shown_names[i] = name ? name : "";
        if (!g->options.demangled && !g->options.json)
            continue;
        uint32_t index = intern(&g->names, r->shown_names[i], strlen(r->shown_names[i]));
        if (index == g->known.len) {
            /* Demangles a name once: objects of C++ share most of theirs. */
            const char *linkage = intern_text(&g->names, index);
            struct known_name known = {0};
            char *readable = demangle(linkage, NULL);
            if (g->options.demangled)
                known.readable =
                    readable ? arena_copy(&g->names.arena, readable, strlen(readable)) : linkage;
            if (g->options.json)
                known.quoted = gcov_quote(linkage, readable ? readable : linkage, &g->scratch,
                                          &g->names.arena);
            free(readable);
            vec_push(&g->known, known);
        }
        const struct known_name *known = &g->known.at[index];
        r->quoted_names[i] = known->quoted;
        if (g->options.demangled)
            r->shown_names[i] = known->readable;
    }
}

/* By source and line, for the line of each function in the text; gcov's unstable sort decides among
 * those of one line. Keys are source and line, so all functions of a source are a stretch of the
 * list. */
static void gcov_list_starts(struct gcov_report *r)
{
    r->starts.len = 0;
    for (uint32_t i = 0; i < r->lines.instances.len; i++) {
        const struct function_instance *at = &r->lines.instances.at[i];
        if (at->source != (uint32_t)NO_INDEX)
            vec_push(
                &r->starts,
                (struct keyed){(uint64_t)at->source << 32 | gcov_function(r, i)->start_line, i});
    }
    sort_keyed(r->starts.at, r->starts.len);
    /* Functions that begin at one line, by column. */
    struct keyed *starts = r->starts.at;
    for (size_t i = 0, end; i < r->starts.len; i = end) {
        uint64_t key = starts[i].key;
        for (end = i; end < r->starts.len && starts[end].key == key; end++)
            starts[end].key = gcov_function(r, starts[end].item)->start_column;
        gcov_order(starts + i, end - i);
        for (size_t k = i; k < end; k++)
            starts[k].key = key;
    }
}

/* What heads a report: of the last notes that could be read, as gcov keeps it in globals. Where no
 * notes could be read, the machine's gcov is what speaks. */
static void gcov_describe(struct gcov *g)
{
    struct gcov_input *in = &g->input;
    struct gcov_report *r = &g->report;
    r->style = g->options.style;
    r->sources = in->sources.at;
    r->has_heading = g->options.files_len == 1;
    r->notes_name = in->notes_name;
    r->counters_name = in->has_counters ? in->counters_name : "-";
    r->runs = in->runs;
    r->has_unknown_runs = in->has_unknown_runs;
    r->programs = in->programs;
    const struct notes *last = NULL;
    for (size_t i = in->pairs.len; !last && i-- > 0;)
        last = in->pairs.at[i]->notes.origin.version ? &in->pairs.at[i]->notes : NULL;
    struct arcs_origin as = {0};
    if (last) {
        as = last->origin;
        r->is_llvm = as.is_llvm;
        r->has_unexecuted = last->has_unexecuted;
        if (last->directory)
            in->directory = arena_printf(&in->arena, "%s", last->directory);
    }
    if (!last || g->options.compat.number) {
        lookalike_version(&g->options.compat, GNU_GCC, "gcov");
        as = (struct arcs_origin){.number = (uint16_t)g->options.compat.number};
    }
    r->version = as.number;
    r->dialect = dialect_of(&as);
    r->directory = in->directory; /* or that of an argument before */
}

/* All pairs as units of one table. Rules come from the dialect of the last notes, as gcov's own
 * version decides for all files. */
static void gcov_analyse(struct gcov *g)
{
    struct gcov_input *in = &g->input;
    struct gcov_report *r = &g->report;
    r->units_len = in->pairs.len;
    r->units = ARENA_NEW(&g->table, struct coverage_unit, r->units_len);
    for (size_t i = 0; i < r->units_len; i++) {
        struct gcov_pair *p = in->pairs.at[i];
        r->units[i] = (struct coverage_unit){.notes = &p->notes,
                                             .counters = p->has_counters ? &p->counters : NULL,
                                             .flow = &p->flow,
                                             .sources = p->sources.at};
    }
    for (size_t i = 0; i < r->units_len; i++)
        r->has_conditions |= r->units[i].notes->conditions.len != 0;
    gcov_describe(g);
    /* Versions of gcov differ in these. */
    struct line_coverage_rules rules = {.absent_is_zero = r->dialect->has_absent_zeros,
                                        .unknown_is_zero = true,
                                        .has_no_sums = g->options.json,
                                        .has_no_totals = g->options.to_stdout,
                                        .has_gnu_exit = !r->is_llvm,
                                        .shares_blocks = r->is_llvm,
                                        .keeps_artificial = r->is_llvm,
                                        .has_no_instances = r->is_llvm,
                                        .repeats_blocks = r->is_llvm,
                                        .carries_lines = !r->dialect->has_all_lines && !r->is_llvm,
                                        .sums_blocks = !r->dialect->has_graph_counts &&
                                                       !r->is_llvm && !g->options.style.all_blocks,
                                        .has_last_lines = r->dialect->has_last_lines,
                                        .adds_instances = r->dialect->adds_instances};
    line_coverage_build(r->units, r->units_len, in->sources.len, &rules, &r->lines);
    gcov_list_starts(r);
    gcov_name_instances(g);
}

/* ---- output */

static void gcov_fail_to_write(struct gcov *g, const char *what, const char *name)
{
    out_printf(g->input.complaints, "%s '%s'\n", what, name);
    g->input.status = GCOV_NOT_WRITTEN;
}

/* Without the source there is a heading, and no counts. */
static void gcov_print_text(struct gcov *g, uint32_t source, struct out *out)
{
    struct file_buffer b = {0};
    bool has_text;
    /* The source's text, with *has_text; says if it cannot be read. */
    struct err e;
    const char *path = g->report.sources[source].path;
    has_text = file_read_regular(path, &b, &e);
    if (!has_text && errno_is_trouble(e.system)) {
        out_printf(g->input.complaints, "%s\n", e.line);
        g->input.status = GCOV_DAMAGED;
    } else if (!has_text)
        out_printf(g->input.complaints, "Cannot open source file %s\n", path);
    struct bytes text = file_bytes(&b);
    gcov_text(&g->report, source, has_text ? &text : NULL, out);
    file_buffer_deinit(&b);
}

/* A source in which nothing can run has no file; an old one is removed. The names printed are those
 * of files that are then there, or not any more. */
static void gcov_write_text(struct gcov *g, uint32_t source, const char *argument)
{
    const char *name =
        gcov_report_name(&g->options, argument, g->report.sources[source].name, &g->input.arena);
    if (!g->report.lines.sources.at[source].totals.lines) {
        unlink(name);
        out_printf(g->out, "Removing '%s'\n", name);
        return;
    }
    struct file_replacing file;
    struct err e;
    if (!file_replace_begin(&file, name, &e))
        return gcov_fail_to_write(g, "Could not open output file", name);
    file.is_report = true;
    out_printf(g->out, "Creating '%s'\n", name);
    struct out text;
    out_init(&text, file.fd);
    gcov_print_text(g, source, &text);
    out_flush(&text);
    if (!file_replace_end(&file, text.error, &e))
        gcov_fail_to_write(g, "Error writing output file", name);
    out_deinit(&text);
}

/* The summary, then the file. The empty line between files depends on where the output goes, as
 * with gcov. */
static void gcov_report_source(struct gcov *g, uint32_t source, const char *argument)
{
    const struct gcov_options *o = &g->options;
    const struct source_totals *t = &g->report.lines.sources.at[source].totals;
    if (o->debug)
        gcov_dump(&g->report, source, g->input.complaints);
    if (!o->to_stdout)
        gcov_file_summary(&g->report, source, g->out);
    g->lines += t->lines;
    g->executed += t->lines_executed;
    if (o->no_output)
        return;
    if (o->json) {
        if (!o->to_stdout)
            out_char(g->out, '\n');
    } else if (!o->to_stdout) {
        gcov_write_text(g, source, argument);
        out_char(g->out, '\n');
    } else if (t->lines) {
        gcov_print_text(g, source, g->out);
    }
}

/* Compressed, unless it goes to standard output. */
static void gcov_write_json(struct gcov *g, const char *argument)
{
    struct out text;
    struct err e;
    if (g->options.to_stdout) {
        gcov_json(&g->report, g->is_wanted, g->out);
        out_char(g->out, '\n');
        return;
    }
    const char *name = gcov_json_name(&g->options, argument, &g->input.arena);
    out_init(&text, -1);
    gcov_json(&g->report, g->is_wanted, &text);
    out_printf(g->out, "Creating '%s'\n", name);
    if (!gzip_write(name, (struct bytes){(const uint8_t *)text.at, text.len}, &e)) {
        out_printf(g->input.complaints, "Cannot open JSON output file %s\n", name);
        g->input.status = GCOV_NOT_WRITTEN;
    }
    out_deinit(&text);
}

/* Makes the table of all pairs read so far, prints it, and forgets the pairs. The dialect is kept
 * for the last line, which comes after all reports. */
static void gcov_print_report(struct gcov *g, const char *argument)
{
    gcov_analyse(g);
    for (uint32_t i = 0; i < g->report.lines.instances.len; i++)
        if (!gcov_function(&g->report, i)->runs)
            out_printf(g->input.complaints, "%s:no lines for '%s'\n", g->input.notes_name,
                       g->report.shown_names[i]);
    struct gcov_report *r = &g->report;
    for (uint32_t i = 0; g->options.functions && i < r->lines.instances.len; i++) {
        gcov_function_summary(r, i, g->out);
        out_char(g->out, '\n');
    }
    uint32_t source = gcov_source_named(&g->input, argument);
    const char *shown = source == (uint32_t)NO_INDEX ? gcov_canonical(argument, &g->input.arena)
                                                     : r->sources[source].name;
    r->data_file = shown;
    g->is_wanted = calloc(r->lines.sources.len + 1, sizeof *g->is_wanted);
    if (!g->is_wanted)
        memory_exhausted(r->lines.sources.len);
    for (uint32_t i = 0; i < r->lines.sources.len; i++) {
        g->is_wanted[i] = !g->options.relative_only || r->sources[i].name[0] != '/';
        if (g->is_wanted[i])
            gcov_report_source(g, i, shown);
    }
    if (g->options.json && !g->options.no_output)
        gcov_write_json(g, shown);
    coverage_units_deinit(r->units, r->units_len);
    line_coverage_deinit(&r->lines);
    vec_free(&r->starts);
    arena_deinit(&g->table);
    free(g->is_wanted);
    g->is_wanted = NULL;
    g->report =
        (struct gcov_report){.version = r->version, .dialect = r->dialect, .is_llvm = r->is_llvm};
    gcov_input_clear(&g->input);
}

/* clang's tool never has one. */
static bool gcov_has_total(const struct gcov_report *r, int operands)
{
    return !r->is_llvm &&
           (r->dialect->has_lines_total || (!r->dialect->has_directory && operands > 1));
}

/* Text has one report of all arguments, under the name of the last; JSON has one of each. */
static int gcov_run(const struct command *self, int argc, char **argv, struct out *out,
                    struct err *e)
{
    (void)self;
    struct gcov g = {.out = out, .scratch.fd = -1};
    memory_keep();
    struct out complaints;
    out_init(&complaints, STDERR_FILENO);
    g.input.options = &g.options;
    g.input.complaints = &complaints;
    int status = as_gcov_parse(argc, argv, &g.options, out, e);
    if (status == AS_GCOV_RUN) {
        const struct gcov_options *o = &g.options;
        for (int i = 0; i < o->files_len; i++) {
            if (o->progress)
                out_printf(g.out, "Processing file %d out of %d\n", i + 1, o->files_len);
            gcov_read(&g.input, o->files[i]);
            if (o->json || i == o->files_len - 1)
                gcov_print_report(&g, o->files[i]);
        }
        if (!o->to_stdout && gcov_has_total(&g.report, o->files_len))
            gcov_lines_summary(&g.report, g.lines, g.executed, g.out);
        status = g.input.status;
    }
    (void)!out_finish(&complaints, "standard error", e);
    out_deinit(&complaints);
    gcov_input_deinit(&g.input);
    intern_deinit(&g.names);
    vec_free(&g.known);
    out_deinit(&g.scratch);
    lookalike_release(g.options.expanded);
    return status;
}

const struct command command_gcov = {
    .name = "gcov",
    .synopsis = "[GCOV-OPTION...] SOURCE|OBJECT|NOTES|COUNTERS...",
    .summary = "Print the reports of GNU gcov, byte for byte",
    .is_lookalike = true,
    .run = gcov_run,
};
