/* What the commands share: sets of options, the way from arguments to a report, and printing one.
 *
 * A command on a profile puts a struct view_options into its request, lists VIEW_GROUPS of it, and
 * calls view_run() with what makes its report. The rest of this header is for commands that need
 * only parts of that. Sets of options for coverage come last.
 *
 *    argc, argv --> options_read() --> request --> session --> report() --> print_report() --> out
 *                   option tables      defaults     reads        a table      text, JSON, CSV
 *
 * Functions return an exit status of command.h (EXIT_FINE, EXIT_DIFFERS, EXIT_BAD) or a bool with
 * `e` set; main.c prints the error. Only `monarc run` has more to say on standard error, beside the
 * program that it runs. */
#ifndef MONARC_CLI_CLI_H
#define MONARC_CLI_CLI_H

#include "command/command.h"
#include "coverage/report/coverage_report.h"
#include "profile/analysis/compare/comparison.h"
#include "profile/analysis/tables.h"
#include "profile/report/report.h"
#include "profile/report/report_header.h"
#include "session/coverage.h"
#include "session/report_inputs.h"
#include "session/session.h"

/* --- terminal -------------------------------------------------------------------------------- */

enum colour_when { COLOUR_AUTO, COLOUR_ALWAYS, COLOUR_NEVER };

/* How a report is printed, apart from what it says. */
struct print_options {
    const char *format;     /* a name in profile/report/report.h; NULL: text */
    bool has_linkage_names; /* after demangled ones */
    bool is_wide;           /* all columns, whatever the width */
    bool no_pager;
    enum colour_when colour;
};

/* Text on its way to people. Colour and pager only where standard output is a terminal: colour
 * follows --color, NO_COLOR and TERM=dumb; the pager is MONARC_PAGER, PAGER or `less -FRX`, run by
 * /bin/sh; an empty one, or `cat`, means none. */
struct terminal {
    bool has_colour;
    pid_t pager; /* 0: none */
    int screen;  /* what `out` wrote to before */
};

/* COLUMNS, if it is set to a number; then the terminal's; 0: there is none. */
int terminal_columns(const struct out *out);

/* Starts the pager, if there is to be one: `out`, still empty, writes to it until terminal_end(),
 * which waits for the user to leave it. Leaving early is no error. On a terminal the head of the
 * report, which ends in the first empty line, folds at its width (out_prose()); in a pipe each
 * sentence is a line. */
void terminal_start(struct terminal *t, const struct print_options *o, struct out *out);
void terminal_end(struct terminal *t, struct out *out);

/* Prints the table of `in`, whose style is filled in. The format must be one of the table's. Writes
 * nothing but that to `out`. The width is the terminal's, or that which an `out` in memory brings,
 * at least 80 columns; 0, without a limit, if the report is wide. */
void print_report(enum report_table table, struct report_input *in, const struct print_options *o,
                  struct out *out);

/* --- reports on a profile -------------------------------------------------------------------- */

/* Options of all reports on a profile. Zeroed but for the command's own defaults; the filter owns
 * its patterns, and view_run() frees them. */
struct view_options {
    struct session_options session;
    struct view_rules rules;
    struct filter filter;
    struct print_options print;
    bool full_names;
    bool is_model; /* times along calls by gprof's model, not by recorded stacks */
};

/* What another command adds below a report that went well, from the session that the report is
 * of. */
struct view_addition {
    void (*write)(const struct session *s, void *context, struct out *out);
    void *context;
    int rows; /* of the terminal, that the report and what is below it are to fit; 0: any */
};

/* A command on a program and its profiles, from its arguments to its report. */
struct view_job {
    void *request;                /* what report() gets; has its defaults */
    struct view_options *options; /* of the request */
    bool (*report)(struct session *s, void *request, struct out *out, struct err *e);
    bool rows_are_lines;       /* what filters admit are lines, not functions */
    const char *const *output; /* of the request: the file that it may write; NULL: it never does */
    const struct view_addition *addition; /* or NULL */
};

/* Makes the newest profile here the one operand, where none was given; it points into `newest`. */
MUST_CHECK bool operands_newest(struct operands *operands, struct session_newest *newest,
                                const struct command *self, struct err *e);

/* Takes the arguments, opens, reports and closes; returns an exit status. The request stays the
 * caller's: lists in it are freed by the command. */
int view_run(const struct command *self, int argc, char **argv, const struct view_job *job,
             struct out *out, struct err *e);

/* `monarc flat` with an addition. */
int flat_run_adding(int argc, char **argv, const struct view_addition *addition, struct out *out,
                    struct err *e);

/* The second part of it, with the options read: for commands that have more than one such job. */
int view_show(const struct command *self, struct operands *operands, const struct view_job *job,
              struct out *out, struct err *e);

/* Whether names are to be shortened: text for people who did not ask for all of it. */
static inline bool view_has_short_names(const struct view_options *o)
{
    return !o->print.format && !o->full_names && !o->session.no_demangle;
}

/* Where functions with inlined code of others are one, names are demangled "auto" or not at all. */
static inline const char *view_demangler(const struct session_options *o)
{
    return o->no_demangle ? NULL : "auto";
}

/* Fills a zeroed *b: the values of --base beside a session that was opened with `o`. Profiles are
 * of the same program unless another one is named first. baseline_deinit() after failure, too. `s`
 * must outlive *b. */
MUST_CHECK bool view_open_base(struct baseline *b, const struct option_list *names,
                               struct session *s, const struct session_options *o, struct err *e);

/* Writes a file in place of `path` in one step, or leaves what is there: `write` fills `out` and
 * may fail. "-" is standard output. NULL is standard output, too. `context` is what `write`
 * gets. */
typedef bool output_writer(void *context, struct out *out, struct err *e);
MUST_CHECK bool output_to(const char *path, output_writer *write, void *context,
                          struct out *standard, struct err *e);

/* Says which file was written, "report.html, 418 kB"; nothing of "-", pipes and devices. NULL is
 * standard error, for commands that have a report of their own on standard output. */
void output_say(const char *path, struct out *out);

/* Both: for commands whose only output is a file. */
MUST_CHECK bool output_file(const char *path, output_writer *write, void *context,
                            struct out *standard, struct err *e);

/* --- reports on source lines ----------------------------------------------------------------- */

/* The same for reports on source lines; see source_run(). */
struct source_options {
    struct sources_options sources;
    struct print_options print;
    bool full_names;
};

/* A command on source lines, from its arguments to its report. */
struct source_job {
    void *request;                                              /* what the functions get */
    struct source_options *options;                             /* of the request */
    void (*prepare)(void *request, struct source_input *input); /* before opening; may be NULL */
    bool (*report)(struct sources *s, void *request, struct out *out, struct err *e);
};
int source_run(const struct command *self, int argc, char **argv, const struct source_job *job,
               struct out *out, struct err *e);

/* The second part of it, with the options read. `s` is zeroed but for what reading them left in it,
 * and closed here. */
int source_show(const struct command *self, struct operands *operands, const struct source_job *job,
                struct sources *s, struct out *out, struct err *e);

/* --- sets of options ------------------------------------------------------------------------- */

/* Each with the struct that it fills. Rows have offsets from the start of that struct; GROUP() says
 * where it lies in the request. */
/* Options that commands have among their own, in one wording; FIELD of TYPE is what they fill. */
/* clang-format off */
#define FORMAT_ROW(WORDS, TYPE, FIELD) \
    {0, "format", WORDS, "output format (default: text)", NAMES_WORD(TYPE, FIELD)}
#define JSON_TEXT "the same as --format json; docs/schema/ has its schema"
#define JSON_ROW(TYPE, FIELD) {'j', "json", NULL, JSON_TEXT, FILLS_WITH(TYPE, FIELD, REPORT_JSON)}
#define CSV_ROW(TYPE, FIELD) \
    {'c', "csv", NULL, "the same as --format csv: comma-separated values (RFC 4180)", \
     FILLS_WITH(TYPE, FIELD, REPORT_CSV)}
#define HOSTS_ROW(TYPE, FIELD) \
    {0, "no-inlines", NULL, "inlined code is part of the function that it is in", FILLS(TYPE, FIELD)}
#define NO_FRAMES_ROW(TYPE, FIELD) \
    {0, "no-inlines", NULL, "give inlined functions no frames of their own", FILLS(TYPE, FIELD)}
#define DEMANGLE_ROW(TYPE, FIELD) \
    {0, "no-demangle", NULL, "show linkage names as they are", FILLS(TYPE, FIELD)}
#define PATH_MAP_ROW(OFFSET) /* of a struct source_search */ \
    {0, "path-map", "FROM=TO", "sources recorded below FROM are below TO (may be repeated)", \
     TAKEN_BY(take_path_map), .offset = (OFFSET)}
#define NOISE_TEXT "two runs of one program may differ by P percent (default: 15)"
/* clang-format on */

extern const struct option_set read_set, /* struct profile_options: files of other machines */
    debug_dir_set,                       /* const char * */
    symbols_set,                         /* const char * */
    force_set,                           /* bool */
    part_set,                            /* struct session_options: which part of a recording */
    stacks_set,                          /* struct stack_edits: what stacks are shown without */
    filter_set,                          /* struct view_options: which functions */
    rows_set,                            /* struct view_rules: order and number of rows */
    demangle_set,                        /* bool: names are left as they are */
    full_names_set,                      /* bool */
    names_set,                           /* struct view_options */
    wide_set,                            /* bool */
    verbose_set,                         /* bool */
    json_set,                            /* struct print_options: text or JSON */
    table_format_set,                    /* struct print_options: text, JSON or CSV */
    terminal_set,                        /* struct print_options: colour and pager */
    path_map_set,                        /* struct source_search */
    base_set,                            /* struct option_list: values of --base */
    source_set;                          /* struct sources_options: which file, which function */

#define GROUP(SET, TYPE, FIELD)       \
    {                                 \
        &(SET), offsetof(TYPE, FIELD) \
    }

/* Where names come from: of a struct session_options in a request. */
#define FILE_GROUPS(TYPE, SESSION)                                                            \
    GROUP(debug_dir_set, TYPE, SESSION.debug_dir), GROUP(symbols_set, TYPE, SESSION.symbols), \
        GROUP(force_set, TYPE, SESSION.is_forced)

/* The operands of a command on one profile; `BESIDES` follows its files. */
#define SYNOPSIS_OF_VIEW(BESIDES) "[OPTION...] [PROGRAM [PROFILE...]" BESIDES " | RECORDING]"

/* What every table of functions or lines has: of a struct view_options in a request. */
#define VIEW_GROUPS(TYPE, VIEW)                                                                   \
    GROUP(rows_set, TYPE, VIEW.rules), GROUP(filter_set, TYPE, VIEW),                             \
        GROUP(part_set, TYPE, VIEW.session), GROUP(demangle_set, TYPE, VIEW.session.no_demangle), \
        GROUP(full_names_set, TYPE, VIEW.full_names), GROUP(names_set, TYPE, VIEW),               \
        FILE_GROUPS(TYPE, VIEW.session), GROUP(wide_set, TYPE, VIEW.print.is_wide),               \
        GROUP(verbose_set, TYPE, VIEW.session.is_verbose), GROUP(terminal_set, TYPE, VIEW.print), \
        GROUP(read_set, TYPE, VIEW.session.read)

/* Of a struct source_options in a request. */
#define SOURCE_GROUPS(TYPE, SOURCE)                                                                \
    GROUP(source_set, TYPE, SOURCE.sources), GROUP(part_set, TYPE, SOURCE.sources.session),        \
        GROUP(demangle_set, TYPE, SOURCE.sources.session.no_demangle),                             \
        GROUP(full_names_set, TYPE, SOURCE.full_names), FILE_GROUPS(TYPE, SOURCE.sources.session), \
        GROUP(terminal_set, TYPE, SOURCE.print),                                                   \
        GROUP(read_set, TYPE, SOURCE.sources.session.read)

/* Rows that fill a struct filter, for commands with words of their own for them. */
option_taker take_function, take_place, take_path_map;

/* --word and --endian of what is read or written: 4 or 8 bytes, and a byte order. */
option_taker take_word;

/* --- manual pages and completions ------------------------------------------------------------ */

/* monarc --generate, which the build calls:
 *
 *     commands        the names of all commands, one a line
 *     man [COMMAND]   monarc-COMMAND.1 or monarc.1, in man(7) macros
 *     bash|zsh|fish   a completion script
 *
 * argv[0] is what follows --generate. Returns an exit status. */
int generate(int argc, char **argv, struct out *out, struct err *e);

/* --- coverage --------------------------------------------------------------------------------
 *
 * Options about coverage, for `monarc cover` and for commands that show it beside a profile: html,
 * tui, diff and check. */

enum cover_gate_of {
    GATE_LINE,
    GATE_BRANCH,
    GATE_FUNCTION,
    GATE_REGION,
    GATE_CONDITION,
    GATE_DIFF,
    GATES
};

/* A report in a format, and the file that it goes to. Of one format there is one output at most. */
struct cover_output {
    const struct coverage_format *format;
    const char *path; /* "-": standard output */
};

/* `arena` owns what options made (absolute paths, maps); vectors of the session are freed by
 * cover_options_deinit(). */
struct cover_options {
    struct coverage_options session;
    struct source_search search; /* directories and maps */
    struct coverage_style style;
    struct print_options print;
    struct arena arena;
    VEC(struct cover_output) outputs;
    bool has_gate[GATES];
    double gates[GATES]; /* least percentages */
    const char *test;
    bool crosses; /* operands are of two compilers */
    bool by_test; /* or one of these two */
    const char *tests_of, *tests_for;
    bool is_quiet, keeps_linkage_names;
    struct option_list functions; /* that text is about; none: all */
};

/* Sets of options that fill a struct cover_options: where sources are, which count, what must have
 * run. */
extern const struct option_set cover_places_set, cover_scope_set, cover_gates_set;
#define COVER_GROUPS(TYPE, COVER) \
    GROUP(cover_places_set, TYPE, COVER), GROUP(cover_scope_set, TYPE, COVER)

/* A zeroed *o gets its defaults before options are taken; what follows from them, and from the
 * environment, is filled in afterwards. deinit() in any case. The same options may be opened for
 * two sides one after the other, with other paths. */
void cover_options_init(struct cover_options *o);

/* Where a value NAME[=FILE] wants its report, "-" without a file; NULL with *e: FILE is empty. */
const char *format_path(const struct option_row *row, const char *value, size_t *name_len,
                        struct err *e);

/* false: both paths name one file, so that one report would replace the other. */
MUST_CHECK bool outputs_differ(const char *path, const char *other, struct err *e);
MUST_CHECK bool cover_options_finish(struct cover_options *o, struct err *e);
void cover_options_deinit(struct cover_options *o);

/* The results of requested gates; returns their number. A gate counts what is unknown as not
 * covered. */
size_t cover_gates(const struct cover_options *o, const struct coverage_session *s,
                   struct coverage_gate gates[GATES]);

#endif
