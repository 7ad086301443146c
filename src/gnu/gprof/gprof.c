/* `monarc gprof`: GNU gprof's reports, options, messages and exit statuses.
 *
 *   options ─► image ─► functions ─┐
 *                                  ├─► self times ─► graph ─► reports, in GNU's order
 *   profiles ──────────────────────┘       └ selections (symspecs) decide at each step
 *
 * The work is that of the native commands with GNU's rules in place of ours: functions_gnu.c for
 * functions_native(), attribute_gnu.c for attribute_native(), a filter made of symspecs for the
 * graph. The reports print tables and compute nothing.
 *
 * Two threads share steps that have nothing to do with each other; what either may change is said
 * above each pair. Sums are made in GNU's order on one thread, as the last bit of a double depends
 * on it.
 *
 * With -l, a table of a large program holds millions of lines in which nothing was measured. They
 * are left out of it and only counted, where all that is printed is what was measured. Messages,
 * the image's errors first, appear where GNU's do: straight on standard error, or as the one line
 * that ends the command with status 1. */
#include "gnu/gprof/gprof.h"

#include "gnu/gprof/functions_gnu.h"
#include "profile/analysis/graph/graph.h"
#include "profile/analysis/names.h"
#include "base/file.h"
#include "base/parallel.h"
#include "command/command.h"
#include "base/sort.h"
#include "gnu/gnu_compat.h"

#include <elf.h>
#include <string.h>

enum { GNU_FAILED = 1 };

/* Everything one invocation holds. Two arenas, since two threads may allocate at a time:
 * names_arena is that of the order of names. */
struct gprof {
    struct gprof_options options;
    struct arena arena, names_arena;
    struct selection selection;
    struct object *image;
    struct order_map files; /* -R */
    struct gnu_functions functions;
    struct gprof_input input;
    struct attribution time;
    double scale; /* as attribute_gnu() says */
    struct static_calls calls;
    struct graph_filter filter;
    struct graph_rules rules;
    struct graph graph;
    struct gnu_blocks blocks;
    struct gnu_functions only_functions; /* without lines, if line_calls is used */
    struct selection function_selection;
    struct line_calls line_calls;
    struct names names;
};

static bool gprof_has_symbols(const struct gprof *g, const char *file, size_t len, struct err *e)
{
    return len || err_set(e, "%s: file `%s' has no symbols", g->options.whoami, file);
}

/* From -S, or the image's table of symbols: GNU gprof knows no other source, so an image that has
 * only dynamic symbols has none. -S is read in nm's format, without any look at the image's
 * symbols. */
static bool gprof_read_functions(struct gprof *g, struct err *e)
{
    const struct gprof_options *o = &g->options;
    if (o->symbol_map) {
        struct file_buffer text = {0};
        bool ok = file_read(g->options.symbol_map, &text, e);
        if (ok)
            functions_from_map(&g->functions, file_bytes(&text), g->image, &g->arena);
        file_buffer_deinit(&text);
        return ok && gprof_has_symbols(g, o->symbol_map, g->functions.table.len, e);
    }
    size_t len;
    enum object_symbol_source source;
    object_symbols(g->image, &len, &source);
    if (!gprof_has_symbols(g, o->image, source == SYMBOLS_SYMTAB ? len : 0, e))
        return false;
    functions_gnu(&g->functions, g->image,
                  &(struct gnu_symbol_rules){o->no_static, o->only_functions, &g->files},
                  &g->arena);
    return gprof_has_symbols(g, o->image, g->functions.table.len, e);
}

/* What a profile allows, unless reports were requested; without those named as unwanted. GNU's
 * rule: the flat profile and the graph if there is something for them, otherwise execution counts.
 * -P and -Q alone leave the other one. */
static unsigned gprof_choose_styles(const struct gprof *g)
{
    unsigned styles = g->options.styles;
    if (styles)
        return styles;
    if (g->time.has_histogram)
        styles |= STYLE_FLAT;
    if (g->input.has_arcs)
        styles |= STYLE_GRAPH;
    return (styles ? styles : STYLE_COUNTS) & ~g->options.mentioned;
}

/* -r or -R, after all other reports, as linkers read it. */
static void gprof_print_order(struct gprof *g, unsigned styles, struct out *out)
{
    const struct graph *graph = g->input.has_arcs ? &g->graph : NULL;
    struct gnu_layout order;
    if (styles & STYLE_FUNCTION_ORDER)
        gnu_layout_functions(&order, &g->functions.table, graph, &g->selection,
                             (struct gnu_printed){graph && (styles & STYLE_GRAPH),
                                                  g->options.show_all, g->options.lines},
                             &g->arena);
    else
        gnu_layout_files(&order, &g->functions.table, graph, &g->selection, &g->files, &g->arena);
    gprof_layout(&order, out);
}

/* Annotated source and execution counts alone need neither times nor an order of names. */
static bool gprof_needs_counts_alone(const struct gprof *g)
{
    unsigned styles = g->options.styles;
    return styles && !(styles & ~(unsigned)(STYLE_COUNTS | STYLE_ANNOTATED));
}

/* The reports that need every function's file and line. False: a file was not written. */
MUST_CHECK static bool print_sources(struct gprof *g, struct gprof_report *r, unsigned styles,
                                     struct out *out)
{
    if (!(styles & (STYLE_COUNTS | STYLE_ANNOTATED)))
        return true;
    functions_locate(&g->functions.table, g->image);
    if (styles & STYLE_COUNTS) {
        uint32_t len,
            *order = gnu_counts_order(&g->functions.table, &g->selection, &len, &g->arena);
        gprof_counts(r, order, len, out);
    }
    return !(styles & STYLE_ANNOTATED) || gprof_annotate(&g->options, r, &g->arena, out);
}

/* GNU's order: in BSD's layout the graph comes first, in its own the flat profile.
 *
 *    GNU    flat, graph, index, counts, annotated source, ordering
 *    BSD    graph, flat, index, counts, annotated source, ordering */
MUST_CHECK static bool print(struct gprof *g, unsigned styles, struct out *out)
{
    bool has_graph = g->input.has_arcs;
    struct gprof_report r = {.functions = &g->functions.table,
                             .symbols = g->functions.symbols,
                             .time = &g->time,
                             .scale = g->scale,
                             .selection = &g->selection,
                             .graph = has_graph ? &g->graph : NULL,
                             .names = &g->names,
                             .blocks = &g->blocks,
                             .bsd = g->options.traditional,
                             .brief = g->options.brief,
                             .show_all = g->options.show_all,
                             .full_paths = g->options.full_paths,
                             .places = g->options.lines               ? PLACE_WITH_ADDRESS
                                       : g->options.inline_file_names ? PLACE
                                                                      : NO_PLACE,
                             .width = g->options.width,
                             .has_output = styles & STYLE_INFO};
    bool wants_graph = has_graph && (styles & STYLE_GRAPH);
    if ((wants_graph || r.bsd) && !gprof_needs_counts_alone(g))
        gprof_make_labels(&r, &g->arena);
    if (wants_graph && r.bsd)
        gprof_graph(&r, out);
    if (styles & STYLE_FLAT) {
        /* The table of -p, then its layout. */
        struct gnu_flat table;
        struct gnu_flat_input in = {.functions = &g->functions.table,
                                    .time = &g->time,
                                    .selection = &g->selection,
                                    .graph = r.graph,
                                    .node_of = g->line_calls.node_of,
                                    .shows_idle = r.show_all};
        gnu_flat_make(&table, &in, &g->arena);
        gprof_flat(&r, &table, out);
    }
    if (wants_graph && !r.bsd)
        gprof_graph(&r, out);
    if (wants_graph)
        gprof_index(&r, out);
    bool ok = print_sources(g, &r, styles, out);
    if (styles & (STYLE_FUNCTION_ORDER | STYLE_FILE_ORDER))
        gprof_print_order(g, styles, out);
    return ok;
}

/* Pairs of threads: each comment says what either may change; what both read, neither changes.
 *
 * Reading the profiles, and sorting names or finding the functions' lines. The first thread has the
 * input, `out`, `e` and standard error, and asks the image for word size and byte order alone; the
 * second has the functions, g->arena and the rest of the image. */
struct reading_job {
    struct gprof *g;
    struct out *out;
    struct err *e;
    bool ok;
};

/* Part 0 reads, part 1 sorts or locates: of a large program both take long. */
static void gprof_read_or_sort(size_t part, void *context)
{
    struct reading_job *job = context;
    struct gprof *g = job->g;
    if (part == 0)
        job->ok = gprof_read_profiles(&g->options, g->image, &g->input, job->out, job->e);
    else if (!gprof_needs_counts_alone(g))
        functions_order_names(&g->functions.table, &g->arena);
    else
        functions_locate(&g->functions.table, g->image);
}

/* The graph's times, and the places of functions in the sources. The first thread has the graph,
 * but for its counts of calls, and g->arena; the second the image, and `file` of the functions. */
static void gprof_propagate_or_locate(size_t part, void *context)
{
    struct gprof *g = context;
    if (part == 0)
        graph_propagate(&g->graph, g->rules, &g->arena);
    else if (!g->options.traditional) {
        /* The index names the files of static functions; only those it lists are looked up. */
        for (uint32_t i = 0; i < g->functions.table.len && !g->functions.table.is_located; i++) {
            struct function *f = &g->functions.table.at[i];
            bool is_listed = g->options.show_all || g->graph.nodes[i].calls || g->time.self[i] != 0;
            if (f->is_static && is_listed)
                f->file = object_file(g->image, f->start);
        }
    }
}

/* BFD's names of machines for which GNU gprof has no -c. */
static const char *gprof_machine_name(const struct object *o)
{
    bool is_64 = object_word(o) == 8;
    switch (object_machine(o)) {
    case EM_ARM: return "arm";
    case EM_PPC: return "powerpc:common";
    case EM_PPC64: return "powerpc:common64";
    case EM_RISCV: return is_64 ? "riscv:rv64" : "riscv:rv32";
    case EM_S390: return is_64 ? "s390:64-bit" : "s390:31-bit";
    default: return "UNKNOWN!";
    }
}

/* -s: written before anything is printed, so that a failure is the only message. */
static bool gprof_write_sum_file(struct gprof *g, struct err *e)
{
    return !(g->options.styles & STYLE_SUMMARY) ||
           gprof_write_sum(&g->options, g->image, &g->input.profile, &g->functions.table,
                           g->input.has_arcs ? &g->graph : NULL, e);
}

/* Selections, and the order of names. The first thread has the selection with its arena and the
 * image; the second the functions' order of names and g->names_arena. */
static void gprof_select_or_sort(size_t part, void *context)
{
    struct gprof *g = context;
    if (part == 0)
        selection_resolve(&g->selection, &g->functions, g->image);
    else
        functions_order_names(&g->functions.table, &g->names_arena);
}

/* The ranges of the first `len` histograms by address; false if there is none. */
static bool gprof_sampled(const struct profile *p, size_t len, struct gnu_line_ranges *out,
                          struct arena *a)
{
    struct keyed *order = ARENA_NEW(a, struct keyed, len);
    *out = (struct gnu_line_ranges){ARENA_NEW(a, struct object_range, len), len};
    for (uint32_t i = 0; i < out->len; i++)
        order[i] = (struct keyed){p->histograms.at[i].low, i};
    sort_keyed(order, out->len);
    for (size_t i = 0; i < out->len; i++) {
        const struct histogram *h = &p->histograms.at[order[i].item];
        out->at[i] = (struct object_range){h->low, h->high};
    }
    return out->len > 0;
}

/* With lines, what was measured must be known before they are added, so profiles are read first;
 * without, while names are sorted.
 *
 *    without -l    select | read profiles || sort names
 *    with -l       read profiles | add measured lines | select || sort names */
static bool gprof_read_all_profiles(struct gprof *g, struct out *out, struct err *e)
{
    if (!g->options.lines || g->options.symbol_map) {
        struct reading_job job = {g, out, e, false};
        selection_resolve(&g->selection, &g->functions, g->image);
        parallel_for(2, 2, gprof_read_or_sort, &job);
        return job.ok;
    }
    if (!gprof_read_profiles(&g->options, g->image, &g->input, out, e))
        return false;
    /* -l. Lines that nothing was measured in are listed where something asks for more than that. */
    const struct gprof_options *o = &g->options;
    const unsigned measured_only = STYLE_FLAT | STYLE_GRAPH | STYLE_INFO | STYLE_SUMMARY;
    bool lists_all = o->show_all || o->static_graph || (o->styles & ~measured_only) ||
                     selection_needs_lines(&g->selection);
    struct measured measured;
    g->only_functions = g->functions;
    measured_gnu(&measured, &g->input.profile, g->options.dialect->has_half_units);
    struct gnu_line_ranges within;
    bool is_part = o->dialect->has_sampled_lines &&
                   gprof_sampled(&g->input.profile, g->input.sampled, &within, &g->arena);
    functions_add_lines(&g->functions, g->image, lists_all ? NULL : &measured,
                        is_part ? &within : NULL, &g->arena);
    measured_deinit(&measured);
    parallel_for(2, 2, gprof_select_or_sort, g);
    return true;
}

/* Nothing but a flat profile in GNU's layout, in which no ranks appear. */
static bool gprof_is_flat_alone(const struct gprof_options *o)
{
    return o->styles && !(o->styles & ~(unsigned)(STYLE_FLAT | STYLE_INFO)) && !o->traditional;
}

/* Connects functions alone where lines have nothing to say in the graph. The general way connects
 * every entry of the table, lines included: millions of nodes, of which a flat profile uses the
 * counts of calls alone. */
static void gprof_connect(struct gprof *g)
{
    const struct gprof_options *o = &g->options;
    const struct gnu_functions *functions = &g->functions;
    const struct attribution *time = &g->time;
    const struct selection *selection = &g->selection;
    if (o->lines && !o->symbol_map && gprof_is_flat_alone(o) && !o->has_specs && !o->static_graph) {
        functions = &g->only_functions;
        line_calls_make(&g->line_calls, &functions->table, &g->functions, time, &g->input.profile,
                        &g->arena);
        time = &g->line_calls.time;
        g->rules.roots = g->line_calls.roots;
        g->rules.roots_len = g->line_calls.roots_len;
        g->rules.ignores_unknown_callers = false;
        g->function_selection.arena = &g->arena;
        as_gprof_exclude_recorder(&g->function_selection);
        selection_resolve(&g->function_selection, &g->only_functions, g->image);
        selection = &g->function_selection;
    }
    g->filter = selection_graph_filter(selection);
    g->rules.filter = &g->filter;
    g->rules.unlisted = functions->unlisted;
    g->rules.unlisted_len = functions->unlisted_len;
    graph_connect(&g->graph, &functions->table, &g->input.profile, time, g->rules, &g->arena);
}

/* From options to a finished graph. Each warning is said at the point where GNU says it. The
 * profile is freed as soon as the graph has it. */
static bool gprof_analyse(struct gprof *g, struct out *out, struct err *e)
{
    if (!gprof_read_all_profiles(g, out, e))
        return false;
    g->rules.is_unranked = gprof_is_flat_alone(&g->options);
    g->scale = attribute_gnu(&g->time, &g->input.profile, &g->functions.table, &g->selection,
                             g->options.dialect->has_half_units, &g->arena);
    /* Block counts belong to lines; with functions alone they are passed over, which is said. */
    if (g->options.lines)
        gnu_blocks_make(&g->blocks, &g->input.profile, &g->functions.table, &g->arena);
    else if (g->input.profile.blocks.len)
        lookalike_say("%s: warning: ignoring basic-block exec counts (use -l or --line)\n",
                      g->options.whoami);
    if (!g->input.has_arcs)
        return gprof_write_sum_file(g, e);
    /* -c. Where GNU gprof does not know the machine, it says so and goes on. */
    if (g->options.static_graph) {
        if (static_calls_gnu(&g->calls, &g->functions.table, g->image, &g->input.profile,
                             g->options.dialect, &g->arena))
            g->rules.calls = &g->calls;
        else
            lookalike_say("%s: -c not supported on architecture %s\n", g->options.whoami,
                          gprof_machine_name(g->image));
        if (g->calls.unread)
            lookalike_say("%s: -c passes over unusual instructions: %s\n", g->options.whoami,
                          g->calls.unread);
    }
    gprof_connect(g);
    if (!gprof_write_sum_file(g, e))
        return false;
    profile_deinit(&g->input.profile); /* all of it is in the graph now */
    if (!gprof_needs_counts_alone(g))
        parallel_for(2, 2, gprof_propagate_or_locate, g);
    return true;
}

/* Opens and reads everything, then prints. The order of the checks is that of GNU's messages:
 * image, map of -R, symbols, format, profiles, then what the reports lack. */
static bool gprof_print_reports(struct gprof *g, struct out *out, struct err *e)
{
    const struct gprof_options *o = &g->options;
    const struct object_options gnu_object = {.has_symtab_only = true,
                                              .bfd_version = o->dialect->bfd_version};
    enum object_failure why;
    struct err reason;
    g->image = object_open(o->image, &gnu_object, &why, &reason);
    if (!g->image && why == OBJECT_UNREADABLE) {
        *e = reason;
        return false;
    }
    if (!g->image)
        return err_set(e, "%s: %s: not in executable format", o->whoami, o->image);
    struct file_buffer text = {0};
    struct err ignored;
    if (o->order_map) {
        bool is_open = strcmp(o->order_map, "-") && file_read(o->order_map, &text, &ignored);
        bool ok = is_open && order_map_read(&g->files, file_bytes(&text), &g->arena);
        file_buffer_deinit(&text);
        if (!is_open)
            return err_set(e, "%s: could not open %s.", o->whoami, o->order_map);
        if (!ok)
            return err_set(e, "%s: unable to parse mapping file %s.", o->whoami, o->order_map);
    }
    if (!gprof_read_functions(g, e))
        return false;
    if (o->format == 'p')
        return err_set(e, "%s: sorry, file format `prof' is not yet supported", o->whoami);
    if (!gprof_analyse(g, out, e))
        return false;

    unsigned styles = gprof_choose_styles(g);
    if ((styles & STYLE_FLAT) && !g->time.has_histogram)
        return err_set(e, "%s: gmon.out file is missing histogram", o->whoami);
    if ((styles & STYLE_GRAPH) && !g->input.has_arcs)
        return err_set(e, "%s: gmon.out file is missing call-graph data", o->whoami);
    if (o->inline_file_names)
        functions_locate(&g->functions.table, g->image);
    const char *style = o->traditional ? NULL : o->demangle;
    if (style && o->dialect->has_d && !strcmp(style, "auto"))
        style = "";
    names_init(&g->names, &g->functions.table, style, &g->arena);
    if (!print(g, styles, out))
        return err_set(e, "%s: not all annotated sources were written", o->whoami);
    return true;
}

/* GNU gprof unpacks a section whatever it claims, and does not report one that it cannot. Debug
 * information that was refused makes files and lines incomplete, which GNU's reports have no place
 * for: it is the last message. */
static bool gprof_debug_is_whole(struct gprof *g, struct err *e)
{
    const char *why;
    return !object_debug_refused(g->image, &why) ||
           err_set(e, "%s: %s: %s", g->options.whoami, g->options.image, why);
}

/* Status 1 for every failure, as GNU's done(1). */
static int gprof_run(const struct command *self, int argc, char **argv, struct out *out,
                     struct err *e)
{
    (void)self;
    struct gprof g = {.rules = {.labels_are_inside = true, .ignores_unknown_callers = true}};
    g.selection.arena = &g.arena;
    int status = as_gprof_parse(argc, argv, &g.options, &g.selection, out, e);
    if (status == AS_GPROF_RUN)
        status = gprof_print_reports(&g, out, e) && gprof_debug_is_whole(&g, e) ? 0 : GNU_FAILED;
    profile_deinit(&g.input.profile);
    if (g.image)
        object_close(g.image);
    arena_deinit(&g.arena);
    arena_deinit(&g.names_arena);
    as_gprof_release(&g.options);
    return status;
}

const struct command command_gprof = {
    .name = "gprof",
    .synopsis = "[GPROF-OPTION...] [PROGRAM [PROFILE...]]",
    .summary = "Print the reports of GNU gprof, byte for byte",
    .is_lookalike = true,
    .run = gprof_run,
};
