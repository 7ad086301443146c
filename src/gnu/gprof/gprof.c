/* `monarc gprof`: GNU gprof 2.40's reports, options, messages and exit statuses. */
#include "gnu/gprof/gprof.h"

#include "profile/analysis/attribute.h"
#include "gnu/gprof/file_map.h"
#include "profile/analysis/functions.h"
#include "gnu/gprof/gnu_layout.h"
#include "profile/analysis/graph/graph.h"
#include "gnu/gprof/line_calls.h"
#include "profile/analysis/names.h"
#include "base/file.h"
#include "base/parallel.h"
#include "command/command.h"
#include "gnu/gprof/gprof_annotate.h"
#include "gnu/gprof/gprof_sum.h"
#include "gnu/lookalike.h"
#include "gnu/gprof/gprof_text.h"

#include <elf.h>
#include <string.h>

enum { GNU_FAILED = 1 };

/* Everything one invocation holds. */
struct gprof {
    struct gprof_options options;
    struct arena arena, names_arena;
    struct selection selection;
    struct object *image;
    struct file_map files; /* -R */
    struct functions functions;
    struct gprof_input input;
    struct attribution time;
    struct static_calls calls;
    struct graph_rules rules;
    struct graph graph;
    struct gnu_blocks blocks;
    struct functions only_functions; /* without lines, if line_calls is used */
    struct selection function_selection;
    struct line_calls line_calls;
    struct names names;
};

static bool open_image(struct gprof *g, struct err *e)
{
    const struct gprof_options *o = &g->options;
    enum object_failure why;
    struct err reason;
    g->image = object_open(o->image, &(struct object_options){.as_gnu = true}, &why, &reason);
    if (!g->image && why == OBJECT_UNREADABLE) {
        *e = reason;
        return false;
    }
    if (!g->image)
        return err_set(e, "%s: %s: not in executable format", o->whoami, o->image);
    return true;
}

static bool read_map(struct gprof *g, struct err *e)
{
    struct file_buffer text = {0};
    bool ok = file_read(g->options.symbol_map, &text, e);
    if (ok)
        functions_from_map(&g->functions, file_bytes(&text), g->image, &g->arena);
    file_buffer_deinit(&text);
    return ok && (g->functions.len || err_set(e, "%s: file `%s' has no symbols", g->options.whoami,
                                              g->options.symbol_map));
}

static bool read_file_map(struct gprof *g, struct err *e)
{
    const struct gprof_options *o = &g->options;
    struct file_buffer text = {0};
    struct err ignored;
    if (!o->order_map)
        return true;
    bool is_open = strcmp(o->order_map, "-") && file_read(o->order_map, &text, &ignored);
    bool ok = is_open && file_map_read(&g->files, file_bytes(&text), &g->arena);
    file_buffer_deinit(&text);
    if (!is_open)
        return err_set(e, "%s: could not open %s.", o->whoami, o->order_map);
    return ok || err_set(e, "%s: unable to parse mapping file %s.", o->whoami, o->order_map);
}

static bool read_functions(struct gprof *g, struct err *e)
{
    const struct gprof_options *o = &g->options;
    if (o->symbol_map)
        return read_map(g, e);
    size_t len;
    enum object_symbol_source source;
    object_symbols(g->image, &len, &source);
    if (!len || source != SYMBOLS_SYMTAB)
        return err_set(e, "%s: file `%s' has no symbols", o->whoami, o->image);
    functions_gnu(&g->functions, g->image,
                  &(struct gnu_symbol_rules){o->no_static, o->only_functions, &g->files},
                  &g->arena);
    return g->functions.len || err_set(e, "%s: file `%s' has no symbols", o->whoami, o->image);
}

/* What a profile allows, unless reports were asked for; less what was mentioned as unwanted. */
static unsigned choose_styles(const struct gprof *g)
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

static void print_order(struct gprof *g, unsigned styles, struct out *out)
{
    const struct graph *graph = g->input.has_arcs ? &g->graph : NULL;
    struct gnu_order order;
    if (styles & STYLE_FUNCTION_ORDER)
        gnu_order_functions(&order, &g->functions, graph, &g->selection,
                            (struct gnu_printed){graph && (styles & STYLE_GRAPH),
                                                 g->options.show_all, g->options.lines},
                            &g->arena);
    else
        gnu_order_files(&order, &g->functions, graph, &g->selection, &g->files, &g->arena);
    gprof_order(&order, out);
}

/* Annotated source and execution counts alone need neither times nor an order of names. */
static bool needs_counts_alone(const struct gprof *g)
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
    functions_locate(&g->functions, g->image);
    if (styles & STYLE_COUNTS) {
        uint32_t len, *order = gnu_counts_order(&g->functions, &g->selection, &len, &g->arena);
        gprof_counts(r, order, len, out);
    }
    return !(styles & STYLE_ANNOTATED) || gprof_annotate(&g->options, r, &g->arena, out);
}

MUST_CHECK static bool print(struct gprof *g, unsigned styles, struct out *out)
{
    bool has_graph = g->input.has_arcs;
    struct gprof_report r = {.functions = &g->functions,
                             .time = &g->time,
                             .selection = &g->selection,
                             .graph = has_graph ? &g->graph : NULL,
                             .node_of = g->line_calls.node_of,
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
    if ((wants_graph || r.bsd) && !needs_counts_alone(g))
        gprof_make_labels(&r, &g->arena);
    if (wants_graph && r.bsd)
        gprof_graph(&r, out);
    if (styles & STYLE_FLAT)
        gprof_flat(&r, out);
    if (wants_graph && !r.bsd)
        gprof_graph(&r, out);
    if (wants_graph)
        gprof_index(&r, out);
    bool ok = print_sources(g, &r, styles, out);
    if (styles & (STYLE_FUNCTION_ORDER | STYLE_FILE_ORDER))
        print_order(g, styles, out);
    return ok;
}

/* The index names the files of static functions; only those it lists are looked up. */
static void locate_static_functions(struct gprof *g)
{
    for (uint32_t i = 0; i < g->functions.len && !g->functions.is_located; i++) {
        struct function *f = &g->functions.at[i];
        bool is_listed = g->options.show_all || g->graph.nodes[i].calls || g->time.self[i] != 0;
        if (f->is_static && is_listed)
            f->file = object_file(g->image, f->start);
    }
}

/* -l. Lines that nothing was measured in are listed where something asks for more than that. */
static void add_lines(struct gprof *g)
{
    const struct gprof_options *o = &g->options;
    const unsigned measured_only = STYLE_FLAT | STYLE_GRAPH | STYLE_INFO | STYLE_SUMMARY;
    bool lists_all = o->show_all || o->static_graph || (o->styles & ~measured_only) ||
                     selection_needs_lines(&g->selection);
    struct measured measured;
    g->only_functions = g->functions;
    measured_init_gnu(&measured, &g->input.profile);
    functions_add_lines(&g->functions, g->image, lists_all ? NULL : &measured, &g->arena);
    measured_deinit(&measured);
}

/* Reading the profiles and sorting the names, or finding the functions' lines, need nothing of each
 * other: of the image, reading asks for word size and byte order alone. */
struct reading_job {
    struct gprof *g;
    struct out *out;
    struct err *e;
    bool ok;
};

static void read_or_sort(size_t part, void *context)
{
    struct reading_job *job = context;
    struct gprof *g = job->g;
    if (part == 0)
        job->ok = gprof_read_profiles(&g->options, g->image, &g->input, job->out, job->e);
    else if (!needs_counts_alone(g))
        functions_order_names(&g->functions, &g->arena);
    else
        functions_locate(&g->functions, g->image);
}

/* Neither do the graph's times and the places of functions in the sources. */
static const struct selection *graph_selection(const struct gprof *g)
{
    return g->line_calls.node_of ? &g->function_selection : &g->selection;
}

static void propagate_or_locate(size_t part, void *context)
{
    struct gprof *g = context;
    if (part == 0)
        graph_propagate(&g->graph, graph_selection(g), g->rules, &g->arena);
    else if (!g->options.traditional)
        locate_static_functions(g);
}

/* BFD's names of machines for which GNU gprof has no -c. */
static const char *machine_name(const struct object *o)
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

/* -c. Where GNU gprof does not know the machine, it says so and goes on. */
static void find_static_calls(struct gprof *g)
{
    if (!g->options.static_graph)
        return;
    if (static_calls_gnu(&g->calls, &g->functions, g->image, &g->input.profile, &g->arena))
        g->rules.calls = &g->calls;
    else
        lookalike_say("%s: -c not supported on architecture %s\n", g->options.whoami,
                      machine_name(g->image));
}

/* Block counts belong to lines; with functions alone they are passed over, which is said. */
static void take_blocks(struct gprof *g)
{
    if (g->options.lines)
        gnu_blocks_make(&g->blocks, &g->input.profile, &g->functions, &g->arena);
    else if (g->input.profile.blocks.len)
        lookalike_say("%s: warning: ignoring basic-block exec counts (use -l or --line)\n",
                      g->options.whoami);
}

static bool write_sum(struct gprof *g, struct err *e)
{
    return !(g->options.styles & STYLE_SUMMARY) ||
           gprof_write_sum(&g->options, g->image, &g->input.profile, &g->functions,
                           g->input.has_arcs ? &g->graph : NULL, e);
}

/* Neither do selections and names. */
static void select_or_sort(size_t part, void *context)
{
    struct gprof *g = context;
    if (part == 0)
        selection_resolve(&g->selection, &g->functions, g->image);
    else
        functions_order_names(&g->functions, &g->names_arena);
}

static bool read_profiles(struct gprof *g, struct out *out, struct err *e)
{
    if (!g->options.lines || g->options.symbol_map) {
        struct reading_job job = {g, out, e, false};
        selection_resolve(&g->selection, &g->functions, g->image);
        parallel_for(2, 2, read_or_sort, &job);
        return job.ok;
    }
    if (!gprof_read_profiles(&g->options, g->image, &g->input, out, e))
        return false;
    add_lines(g);
    parallel_for(2, 2, select_or_sort, g);
    return true;
}

/* Nothing but a flat profile in GNU's layout, in which no ranks appear. */
static bool is_flat_alone(const struct gprof_options *o)
{
    return o->styles && !(o->styles & ~(unsigned)(STYLE_FLAT | STYLE_INFO)) && !o->traditional;
}

/* Connects functions alone where lines have nothing to say in the graph. */
static void connect(struct gprof *g)
{
    const struct gprof_options *o = &g->options;
    const struct functions *functions = &g->functions;
    const struct attribution *time = &g->time;
    if (o->lines && !o->symbol_map && is_flat_alone(o) && !o->has_specs && !o->static_graph) {
        functions = &g->only_functions;
        line_calls_make(&g->line_calls, functions, &g->functions, time, &g->input.profile,
                        &g->arena);
        time = &g->line_calls.time;
        g->rules.roots = g->line_calls.roots;
        g->rules.roots_len = g->line_calls.roots_len;
        g->rules.counts_unknown = true;
        g->function_selection.arena = &g->arena;
        as_gprof_exclude_recorder(&g->function_selection);
        selection_resolve(&g->function_selection, &g->only_functions, g->image);
    }
    graph_connect(&g->graph, functions, &g->input.profile, time, graph_selection(g), g->rules,
                  &g->arena);
}

static bool analyse(struct gprof *g, struct out *out, struct err *e)
{
    if (!read_profiles(g, out, e))
        return false;
    g->rules.is_unranked = is_flat_alone(&g->options);
    attribute_gnu(&g->time, &g->input.profile, &g->functions, &g->selection, &g->arena);
    take_blocks(g);
    if (!g->input.has_arcs)
        return write_sum(g, e);
    find_static_calls(g);
    connect(g);
    if (!write_sum(g, e))
        return false;
    profile_deinit(&g->input.profile); /* all of it is in the graph now */
    if (!needs_counts_alone(g))
        parallel_for(2, 2, propagate_or_locate, g);
    return true;
}

static bool report(struct gprof *g, struct out *out, struct err *e)
{
    const struct gprof_options *o = &g->options;
    if (!open_image(g, e) || !read_file_map(g, e) || !read_functions(g, e))
        return false;
    if (o->format == 'p')
        return err_set(e, "%s: sorry, file format `prof' is not yet supported", o->whoami);
    if (!analyse(g, out, e))
        return false;

    unsigned styles = choose_styles(g);
    if ((styles & STYLE_FLAT) && !g->time.has_histogram)
        return err_set(e, "%s: gmon.out file is missing histogram", o->whoami);
    if ((styles & STYLE_GRAPH) && !g->input.has_arcs)
        return err_set(e, "%s: gmon.out file is missing call-graph data", o->whoami);
    if (o->inline_file_names)
        functions_locate(&g->functions, g->image);
    names_init(&g->names, &g->functions, o->traditional ? NULL : o->demangle, &g->arena);
    if (!print(g, styles, out))
        return err_set(e, "%s: not all annotated sources were written", o->whoami);
    return true;
}

static int run(const struct command *self, int argc, char **argv, struct out *out, struct err *e)
{
    (void)self;
    struct gprof g = {.rules = {.is_gnu = true}};
    g.selection.arena = &g.arena;
    int status = as_gprof_parse(argc, argv, &g.options, &g.selection, out, e);
    if (status == AS_GPROF_RUN)
        status = report(&g, out, e) ? 0 : GNU_FAILED;
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
    .details = "All options are GNU gprof's; `monarc gprof -h` lists them. Started under the name\n"
               "`gprof`, monarc does the same.\n",
    .is_lookalike = true,
    .run = run,
};
