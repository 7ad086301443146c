/* monarc sprof, or monarc started as sprof: what glibc's sprof prints of a profile that LD_PROFILE
 * left of a shared object, which it does not load.
 *
 * A profile of another object is refused. Where glibc's recorder adds up calls of neighbours, a
 * line on standard error says so; sprof is silent (docs/compat.md). */
#include "base/path.h"
#include "gnu/sprof/sprof_text.h"
#include "session/profiles.h"

#include <getopt.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

enum sprof_mode { SPROF_FLAT = 1, SPROF_GRAPH = 2, SPROF_PAIRS = 4 };

static const struct option_row OPTIONS[] = {
    {'c', "call-pairs", NULL, "print pairs of functions and the calls between them"},
    {'p', "flat-profile", NULL, "print samples and calls of each function"},
    {'q', "graph", NULL, "print each function with its callers and callees"},
    {'V', "version", NULL, "print the version"},
};

static const struct option LONG[] = {
    {"call-pairs", no_argument, NULL, 'c'}, {"flat-profile", no_argument, NULL, 'p'},
    {"graph", no_argument, NULL, 'q'},      {"help", no_argument, NULL, 'h'},
    {"version", no_argument, NULL, 'V'},    {0}};

static const char VERSION[] = "sprof (monarc) 2.36\n"
                              "monarc " MONARC_VERSION " stands in for it.\n"
                              "There is no warranty, to the extent permitted by law.\n";

static int parse(const struct command *self, int argc, char **argv, unsigned *mode, struct out *out)
{
    optind = 0;
    for (int code; (code = getopt_long(argc, argv, "cpq?V", LONG, NULL)) != -1;) {
        switch (code) {
        case 'c': *mode |= SPROF_PAIRS; break;
        case 'p': *mode |= SPROF_FLAT; break;
        case 'q': *mode |= SPROF_GRAPH; break;
        case 'V': out_str(out, VERSION); return EXIT_FINE;
        case 'h': command_help(self, out); return EXIT_FINE;
        default: return EXIT_DIFFERS;
        }
    }
    if (argc - optind >= 1 && argc - optind <= 2)
        return -1;
    command_help(self, out);
    return EXIT_DIFFERS;
}

/* LD_PROFILE names files after the object's soname, and leaves them in /var/tmp. */
static const char *default_profile(struct object *o, const char *path, struct arena *a)
{
    const char *soname = object_facts(o)->soname;
    return arena_printf(a, "%s.profile", soname ? soname : path_base_name(path));
}

static const char *found_profile(const char *name, struct arena *a)
{
    return strchr(name, '/') || !access(name, F_OK) ? name : arena_printf(a, "/var/tmp/%s", name);
}

/* The range is that of the object's code, in whole pages of the machine that wrote it. */
static bool is_of_object(struct object *o, const struct profile *p)
{
    const struct object_facts *facts = object_facts(o);
    const struct histogram *h = p->histograms.at;
    uint64_t low = UINT64_MAX, high = 0, page = 65536;
    for (size_t i = 0; i < facts->code_len; i++) {
        const struct object_segment *s = &facts->code[i];
        low = s->address < low ? s->address : low;
        high = s->address + s->size > high ? s->address + s->size : high;
    }
    return p->format == PROFILE_SPROF && p->histograms.len == 1 && low < high && h->low <= low &&
           low - h->low < page && h->high >= high && h->high - high < page;
}

static void print(struct out *out, const struct sprof_tables *t, unsigned mode)
{
    if (mode & SPROF_FLAT)
        sprof_print_flat(out, t);
    if (mode & SPROF_GRAPH)
        sprof_print_graph(out, t);
    if (mode & SPROF_PAIRS)
        sprof_print_pairs(out, t);
}

static void warn(const struct sprof_tables *t, struct out *complaints)
{
    const struct merged_calls *m = &t->merged;
    if (m->functions)
        out_printf(complaints,
                   "sprof: %" PRIu32 " function%s within %d bytes of one that was called from "
                   "outside: glibc adds such calls of '%s'%s to those of '%s'\n",
                   m->functions, m->functions == 1 ? " begins" : "s begin", MERGED_CALLS_BYTES,
                   t->symbols.at[m->first].named->name,
                   m->functions == 1 ? "" : ", the first of them,",
                   t->symbols.at[m->into].named->name);
}

static bool show(const char *path, const char *named, unsigned mode, struct out *out,
                 struct out *complaints, struct err *e)
{
    struct arena scratch = {0};
    struct profile p = {0};
    struct file_buffer b = {0};
    struct sprof_tables t = {0};
    struct object *o = object_open(path, NULL, NULL, e);
    bool ok = o != NULL;
    const char *profile = ok && !named ? default_profile(o, path, &scratch) : named;
    if (ok) {
        struct profile_options as_said = {0};
        struct profile_options options = profile_options_of(&as_said, o);
        profile = found_profile(profile, &scratch);
        ok = profile_load(&options, profile, &b, &p, e) &&
             (is_of_object(o, &p) ||
              err_set(e, "`%s' is no correct profile data file for `%s'", profile, path));
    }
    if (ok) {
        sprof_count(o, &p, &t);
        print(out, &t, mode ? mode : SPROF_FLAT | SPROF_GRAPH);
        warn(&t, complaints);
    }
    sprof_tables_deinit(&t);
    profile_deinit(&p);
    file_buffer_deinit(&b);
    object_close(o);
    arena_deinit(&scratch);
    return ok;
}

static int run(const struct command *self, int argc, char **argv, struct out *out, struct err *e)
{
    struct out complaints;
    unsigned mode = 0;
    out_init(&complaints, STDERR_FILENO);
    int status = parse(self, argc, argv, &mode, out);
    if (status < 0) {
        struct err why = {0};
        status = EXIT_FINE;
        if (!show(argv[optind], argv[optind + 1], mode, out, &complaints, &why)) {
            out_printf(&complaints, "sprof: %s\n", why.line);
            status = EXIT_DIFFERS;
        }
    }
    if (!out_finish(&complaints, "standard error", e))
        status = EXIT_BAD;
    out_deinit(&complaints);
    return status;
}

const struct command command_sprof = {
    .name = "sprof",
    .synopsis = "[OPTION...] SHOBJ [PROFDATA]",
    .summary = "Print a shared object's profile of LD_PROFILE, as glibc's sprof does",
    .is_lookalike = true,
    .options = OPTIONS,
    .options_len = sizeof OPTIONS / sizeof *OPTIONS,
    .run = run,
};
