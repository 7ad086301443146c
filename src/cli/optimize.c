/* monarc optimize: what was measured, as the file that a compiler, a linker or BOLT optimises with.
 *
 * This file has the command: one table says for each target whose file it is. Compilers get a
 * profile by source position or counters, BOLT the samples by function and offset
 * (optimize_profile.c), linkers an order of functions (optimize_order.c). With --build and --run,
 * optimize_build.c takes the last step as well.
 *
 * The exit status is 0 if the file was written; samples without a place are no failure, as there
 * are always some. */
#include "cli/optimize.h"

#include "session/imported.h"

/* The release of gcc decides on the version of its file; no user should have to know the latter. */
static const struct option_row OPTIMIZE_OPTIONS[] = {
    {0, "for", "gcc|clang|bolt|gcda|lld|gold|ld|mold|calls|names",
     "the tool that will read the file (required)", CHOOSES(struct optimize_request, target),
     .first = TARGET_GCC},
    {'o', "output", "FILE", "where to write it; - is standard output (default for linkers)",
     FILLS(struct optimize_request, output)},
    {0, "explain", NULL, "list functions and lines with their shares, and samples without a place",
     FILLS(struct optimize_request, explains)},
    {'n', "limit", "N", "with --explain: list N functions and N lines (default: 20)",
     FILLS(struct optimize_request, limit)},
    {0, "gcc", "RELEASE", "write the version that this gcc reads: 5 to 17 (default: PROGRAM's)",
     FILLS(struct optimize_request, gcc), .least = 5, .most = 17},
    {0, "against", "NOTES", "for gcda: notes of the build that will use it, a file or a folder",
     FILLS(struct optimize_request, against)},
    {0, "build", "COMMAND",
     "build with this command; {flags} is replaced by the compiler's options",
     FILLS(struct optimize_request, build)},
    {0, "run", "COMMAND", "measure and compare the builds with this command, PROGRAM and arguments",
     FILLS(struct optimize_request, run)},
    {0, "flags", "FLAGS", "options of both builds, in addition to -g (default: -O2)",
     FILLS(struct optimize_request, flags)},
    {0, "repeat", "N", "compare N runs of each build (default: 10)",
     FILLS(struct optimize_request, repeat), .least = 2, .most = 1000},
    {0, "object", "NAME",
     "for linkers: order this shared object of a recording, not the executable",
     FILLS(struct optimize_request, object)},
    {0, "cluster", "BYTES",
     "for linkers: the largest cluster (default: the best of 4096, 65536 and 2097152)",
     FILLS(struct optimize_request, cluster_bytes)},
    {0, "binary", NULL, "for clang: the extensible binary form, not text",
     FILLS(struct optimize_request, is_binary)},
};

/* Operands are a program, if the first is an ELF file, and what was measured; options that do not
 * fit the target are refused, not passed over. */
static int optimize_run(const struct command *self, int argc, char **argv, struct out *out,
                        struct err *e)
{
    enum { DEFAULT_LIMIT = 20 };
    struct optimize_request r = {.limit = DEFAULT_LIMIT, .flags = "-O2", .repeat = 10};
    struct operands operands;
    enum options_end end = options_read(self, argc, argv, &r, &operands, out, e);
    if (end != OPTIONS_READ)
        return end == OPTIONS_HELPED ? EXIT_FINE : EXIT_BAD;
    /* Mistakes of usage first, before anything is opened. */
    bool has_program = operands.len && is_program(operands.at[0]);
    int status = EXIT_BAD;
    r.source.program = has_program ? operands.at[0] : NULL;
    r.source.inputs = operands.at + has_program;
    r.source.inputs_len = operands.len - has_program;
    if (!r.target)
        err_set(e, "optimize needs --for NAME; see 'monarc optimize --help'");
    else if (r.build || r.run)
        status = operands.len ? (err_set(e, "--build and --run measure by themselves: no operands"),
                                 EXIT_BAD)
                              : optimize_build(&r, out, e);
    else if (!r.source.inputs_len && r.target < TARGET_LLD)
        err_set(e, "optimize needs a measurement: a recording, gmon.out, counters or coverage; "
                   "see 'monarc optimize --help'");
    else if (!r.output && !r.explains && !r.view.print.format && r.target < TARGET_LLD)
        err_set(e, "optimize needs -o FILE, or --explain; see 'monarc optimize --help'");
    else if (r.is_binary && r.target != TARGET_CLANG)
        err_set(e, "--binary works only with --for clang");
    else if (r.gcc && r.target != TARGET_GCC && r.target != TARGET_GCDA)
        err_set(e, "--gcc works only with --for gcc and --for gcda");
    else if (r.target >= TARGET_LLD && r.explains)
        err_set(
            e, "--explain is for profiles of compilers; what an order gains is on standard output");
    else if ((r.object || r.cluster_bytes) && r.target < TARGET_LLD)
        err_set(e, "--%s works only with an order of functions, such as --for lld",
                r.object ? "object" : "cluster");
    else if (r.against && r.target != TARGET_GCDA)
        err_set(e, "--against works only with --for gcda");
    else if (r.target == TARGET_GCDA)
        status = optimize_counters(&r, out, e) ? EXIT_FINE : EXIT_BAD;
    else if (r.target >= TARGET_LLD)
        status = optimize_order(&r, self, &operands, out, e);
    else if (optimize_profile(&r, out, e))
        status = EXIT_FINE;
    return status;
}

static const struct option_group OPTIMIZE_GROUPS[] = {
    GROUP(json_set, struct optimize_request, view.print),
    GROUP(part_set, struct optimize_request, view.session),
    FILE_GROUPS(struct optimize_request, view.session),
    GROUP(read_set, struct optimize_request, view.session.read),
};
const struct command command_optimize = {
    .name = "optimize",
    .synopsis = "--for WHO [OPTION...] [PROGRAM] INPUT... -o FILE",
    .summary = "Turn a measurement into a profile for a compiler or a linker",
    OPTIONS_OF(OPTIMIZE_OPTIONS, OPTIMIZE_GROUPS),
    .run = optimize_run,
};
