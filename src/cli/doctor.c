/* monarc doctor: why is a profile empty or strange? Gathers what there is;
 * profile/analysis/symptoms.h judges. */
#include "profile/report/doctor.h"

#include "command/command.h"
#include "session/profiles.h"
#include "cli/view.h"
#include "profile/analysis/recording/diagnosis_run.h"

#include <dirent.h>
#include <string.h>
#include <sys/stat.h>

enum { OPTION_DEBUG_DIR = PROFILE_OPTIONS, OPTION_JSON, OPTION_COLOR, OPTION_NO_PAGER };

static const struct option_row OPTIONS[] = {
    PROFILE_OPTION_ROWS,
    {0, "debug-dir", "DIR", "look for separate debug files there, too"},
    {'j', "json", NULL, "print JSON; docs/schema/ has its schema"},
    {0, "color", "[auto|always|never]", "colour severities (default: on a terminal)"},
    {0, "no-pager", NULL, "do not page on a terminal"},
};

struct request {
    struct profile_options read;
    const char *debug_dir;
    bool is_json, no_pager;
    enum colour_when colour;
};

static bool take(void *request, int row, const char *value, struct err *e)
{
    struct request *r = request;
    switch (row) {
    case OPTION_DEBUG_DIR: r->debug_dir = value; return true;
    case OPTION_JSON: return r->is_json = true;
    case OPTION_COLOR: return parse_colour(value, &r->colour, e);
    case OPTION_NO_PAGER: return r->no_pager = true;
    default: return profile_option(&r->read, row, value, e);
    }
}

/* What patient and diagnosis point into. */
struct consultation {
    struct arena arena;
    struct patient patient;
    struct diagnosis diagnosis;
    struct functions functions;
    struct profile measured, sum; /* as in the file; equal records summed, as other commands do */
    struct attribution time;
    struct selection selection;
    struct graph graph;
    struct names names;
    struct summary summary;
    struct err object_error, profile_error;
};

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* gmon.out and gmon.out.PID, and what monarc's runtime writes: PROGRAM.monarc, PROGRAM.PID.monarc.
 */
static bool looks_like_profile(const char *name, const char *program)
{
    static const char suffix[] = ".monarc";
    size_t len = strlen(name), stem = strlen(program);
    if (!strncmp(name, "gmon.out", 8) || !strcmp(name, "gmon.sum"))
        return true;
    return len >= stem + sizeof suffix - 1 && !strncmp(name, program, stem) &&
           !strcmp(name + len - (sizeof suffix - 1), suffix);
}

static const char *find_candidates(const char *program, struct arena *a)
{
    enum { MOST = 5 };
    const char *found = NULL;
    DIR *here = opendir(".");
    struct dirent *entry;
    for (int n = 0; here && n < MOST && (entry = readdir(here));) {
        if (!looks_like_profile(entry->d_name, base_name(program)))
            continue;
        found = found ? arena_printf(a, "%s, %s", found, entry->d_name)
                      : arena_printf(a, "%s", entry->d_name);
        n++;
    }
    if (here)
        closedir(here);
    return found;
}

static void admit_program(struct consultation *c, const struct request *r)
{
    struct patient *p = &c->patient;
    p->object = object_open(p->program, &(struct object_options){.debug_dir = r->debug_dir}, NULL,
                            &c->object_error);
    p->object_error = c->object_error.line;
    if (!p->object)
        return;
    functions_native(&c->functions, p->object, &c->arena);
    p->functions = &c->functions;
    names_init(&c->names, &c->functions, "auto", &c->arena);
}

/* As the program says, or, where that makes no sense, as the bytes do. */
static bool read_profile(struct consultation *c, const struct request *r)
{
    struct file_buffer buffer = {0};
    struct profile_options hinted = r->read;
    struct object *o = c->patient.object;
    const char *path = c->patient.profile;
    if (o && !hinted.hint.word)
        hinted.hint.word = object_word(o);
    if (o && hinted.hint.order == ORDER_UNKNOWN)
        hinted.hint.order = object_is_big_endian(o) ? ORDER_BIG : ORDER_LITTLE;
    bool ok = profile_load(&hinted, path, &buffer, &c->measured, &c->profile_error);
    if (!ok && o && strcmp(path, "-")) {
        struct profile second = {0};
        struct err why;
        ok = profile_load(&r->read, path, &buffer, &second, &why);
        if (ok) {
            profile_deinit(&c->measured);
            c->measured = second;
        } else {
            profile_deinit(&second);
        }
    }
    file_buffer_deinit(&buffer);
    return ok;
}

static void admit_profile(struct consultation *c, const struct request *r)
{
    struct patient *p = &c->patient;
    struct stat st;
    bool is_file = strcmp(p->profile, "-") != 0;
    p->is_missing = is_file && stat(p->profile, &st) != 0;
    if (is_file && !p->is_missing)
        p->profile_changed = st.st_mtime;
    if (!read_profile(c, r))
        p->profile_error = c->profile_error.line;
    if (p->is_missing)
        p->candidates = find_candidates(p->program, &c->arena);
    else if (!p->profile_error || c->measured.word)
        p->measured = &c->measured;
}

static void analyse(struct consultation *c)
{
    struct patient *p = &c->patient;
    const struct profile *sum = &c->sum;
    if (!p->object || !p->measured)
        return;
    if (!profile_merge(&c->sum, p->measured, NULL))
        sum = p->measured;
    c->selection.arena = &c->arena;
    selection_resolve(&c->selection, &c->functions, p->object);
    attribute_native(&c->time, sum, &c->functions, &c->arena);
    graph_build(&c->graph, &c->functions, sum, &c->time, &c->selection,
                (struct graph_rules){.is_gnu = false}, &c->arena);
    c->summary =
        (struct summary){.program = p->program, .profiles = &p->profile, .profiles_len = 1};
    summary_count(&c->summary, sum, &c->time, &c->graph);
    p->time = &c->time;
    p->graph = &c->graph;
    p->summary = &c->summary;
}

static void print(const struct diagnosis *d, const struct patient *p, const struct request *r,
                  struct out *out)
{
    if (r->is_json) {
        doctor_json(out, d, p);
        return;
    }
    struct terminal terminal;
    terminal_start(&terminal, r->colour, r->no_pager, out);
    doctor_text(out, d, p, &(struct text_style){.has_colour = terminal.has_colour});
    terminal_end(&terminal, out);
}

static int status_of(const struct diagnosis *d)
{
    enum severity worst = SEVERITY_NOTE;
    diagnosis_worst(d, &worst);
    return worst == SEVERITY_ERROR     ? EXIT_BAD
           : worst == SEVERITY_WARNING ? EXIT_DIFFERS
                                       : EXIT_FINE;
}

static int consult(const char *program, const char *profile, const struct request *r,
                   struct out *out)
{
    struct consultation c = {.patient = {.program = program, .profile = profile}};
    admit_program(&c, r);
    admit_profile(&c, r);
    analyse(&c);
    diagnose(&c.diagnosis, &c.patient, &c.names, &c.arena);
    print(&c.diagnosis, &c.patient, r, out);
    int status = status_of(&c.diagnosis);
    diagnosis_deinit(&c.diagnosis);
    profile_deinit(&c.measured);
    profile_deinit(&c.sum);
    if (c.patient.object)
        object_close(c.patient.object);
    arena_deinit(&c.arena);
    return status;
}

/* Opened as the reports open it, but whatever its files are by now. */
static int consult_recording(char *folder, const struct request *r, struct out *out)
{
    char *folders[] = {folder};
    struct view_options o = {.read = r->read,
                             .debug_dir = r->debug_dir,
                             .is_forced = true,
                             .is_recording = true,
                             .program = folder,
                             .profiles = folders,
                             .profiles_len = 1};
    struct view v = {0};
    struct diagnosis d = {0};
    struct err why = {0};
    struct patient p = {.program = folder, .profile = folder};
    if (view_open(&v, &o, &why)) {
        const struct recorded *from = &v.recorded;
        p.program = v.summary.program;
        p.summary = &v.summary;
        diagnose_run(&d,
                     &(struct run_patient){&from->space, &v.functions, &from->weights,
                                           &from->stacks, &from->summary},
                     &v.arena);
    } else {
        diagnose_unreadable(&d, why.line);
    }
    print(&d, &p, r, out);
    int status = status_of(&d);
    diagnosis_deinit(&d);
    view_close(&v, &o);
    return status;
}

static int run(const struct command *self, int argc, char **argv, struct out *out, struct err *e)
{
    struct option_walk walk = options_start(self, argc - 1, argv + 1);
    struct request r = {0};
    int end = options_each(&walk, take, &r, e);
    if (end == OPTION_HELP)
        return command_help(self, out), EXIT_FINE;
    if (end == OPTION_BAD)
        return EXIT_BAD;
    if (walk.operands < 1 || walk.operands > 2 || (walk.operands == 2 && is_folder(walk.argv[0]))) {
        err_set(e, "doctor takes a PROGRAM and perhaps a PROFILE; see 'monarc doctor --help'");
        return EXIT_BAD;
    }
    if (is_folder(walk.argv[0]))
        return consult_recording(walk.argv[0], &r, out);
    return consult(walk.argv[0], walk.operands == 2 ? walk.argv[1] : "gmon.out", &r, out);
}

const struct command command_doctor = {
    .name = "doctor",
    .synopsis = "[OPTION...] PROGRAM [PROFILE] | RECORDING",
    .summary = "Say why a profile is empty or strange, and what to do about it",
    .details =
        "PROFILE is gmon.out unless named; - is standard input. It need not exist: doctor then\n"
        "says why it may not, and which files nearby may be meant. Of a recording, the folder "
        "that\n"
        "'monarc run' leaves, it says what to doubt: time that is in no sample, processes that\n"
        "were not seen, stacks that are not whole, code without symbols, files that are not the\n"
        "recorded ones, samples that were lost or are too few.\n"
        "\n"
        "Each finding has a severity, the evidence, a remedy and, in brackets, a name for\n"
        "scripts. Errors: the profile cannot be used. Warnings: it misleads. Notes: good to\n"
        "know. Recognised are, among others: a program not compiled or not linked with -pg,\n"
        "stripped, or not the one that was run; load addresses of a position-independent\n"
        "program; files that are missing, cut off or older than the program; a clock that\n"
        "stood still; full or wrapped counters; samples outside of the program's functions; too\n"
        "few samples to tell, with the confidence interval; and time that mcount itself took.\n"
        "\n"
        "The exit status is 0 if there is nothing but notes, 1 with warnings, 2 with errors.\n"
        "\n"
        "Examples:\n"
        "  monarc doctor ./prog\n"
        "  monarc doctor --json ./prog gmon.out | jq '.findings[].name'\n",
    .options = OPTIONS,
    .options_len = sizeof OPTIONS / sizeof *OPTIONS,
    .run = run,
};
