/* Options that several commands have, each once.
 *
 * A set is a list of rows that fill one struct; a command names the sets that it wants and where in
 * its request their structs lie (command.h). Two commands that list a set therefore have the same
 * options, in the same words, with the same limits, and an option that is added here appears in all
 * of them, in their manual pages and in the completions.
 *
 * Three names mean the same everywhere: --format names what is written, --profile-format what is
 * read, and --json is short for --format json.
 *
 * Sets are small where commands differ in what they can make use of: an option that a command
 * would ignore is not offered by it. Those about coverage are in cover.c. */
#include "cli/cli.h"

#define SET(TITLE, ROWS)                           \
    {                                              \
        TITLE, ROWS, sizeof(ROWS) / sizeof *(ROWS) \
    }

/* --- what is read ---------------------------------------------------------------------------- */

/* Into a byte, without a default: 4 or 8. */
bool take_word(void *target, const struct option_row *row, const char *value, struct err *e)
{
    return parse_word(row->name, value, (uint8_t *)((char *)target + row->offset), e);
}

/* The name of a dialect in which profiles are read, in place of looking at the bytes. */
static bool take_read_format(void *target, const struct option_row *row, const char *value,
                             struct err *e)
{
    return parse_read_format(row->name, value, target, e);
}

/* gmon.out says neither its pointer size nor its byte order: both are deduced from the bytes, and
 * these options are for files where that fails. */
static const struct option_row READ[] = {
    {0, "word", "32|64", "pointer size of the profiled machine (default: deduced)",
     TAKEN_BY(take_word), .offset = offsetof(struct profile_options, hint.word)},
    {0, "endian", "little|big", "its byte order (default: deduced)",
     CHOOSES(struct profile_options, hint.order), .first = ORDER_LITTLE},
    {'O', "profile-format", "gmon|gmon0|sprof|bsd44|bsd|bsd-alpha", "read the files as this format",
     TAKEN_BY(take_read_format)},
    {0, "dimension", "NAME", "which one to report, of a file with several (seconds, cache-misses)",
     FILLS(struct profile_options, dimension)},
};
const struct option_set read_set = SET("Profiles of other machines, and files with several", READ);

/* Sets of one option fill a variable of its type. */
struct one_text {
    const char *value;
};
struct one_flag {
    bool value;
};
struct one_list {
    struct option_list value;
};

static const struct option_row DEBUG_DIR[] = {
    {0, "debug-dir", "DIR", "also look for separate debug files in DIR",
     FILLS(struct one_text, value)},
};
const struct option_set debug_dir_set = SET("Files of the program", DEBUG_DIR);

static const struct option_row SYMBOLS[] = {
    {0, "symbols", "PATH", "take names for a recording from the files in PATH",
     FILLS(struct one_text, value)},
};
const struct option_set symbols_set = SET("Files of the program", SYMBOLS);

static const struct option_row FORCE[] = {
    {0, "force", NULL, "go on even if program and profile do not belong together",
     FILLS(struct one_flag, value)},
};
const struct option_set force_set = SET("Files of the program", FORCE);

/* FROM=TO; maps are kept in the order of the options. */
bool take_path_map(void *target, const struct option_row *row, const char *value, struct err *e)
{
    return source_search_map((void *)((char *)target + row->offset), value, e);
}

static const struct option_row PATH_MAP[] = {
    PATH_MAP_ROW(0),
};
const struct option_set path_map_set = SET("Sources", PATH_MAP);

static const struct option_row BASE[] = {
    {0, "base", "OLD", "compare with an older profile, recording or coverage (may be repeated)",
     FILLS(struct one_list, value)},
};
const struct option_set base_set = SET("Comparison", BASE);

/* --- which part ------------------------------------------------------------------------------ */

/* Keys have no '=' in them, values may. */
static bool take_label(void *target, const struct option_row *row, const char *value, struct err *e)
{
    struct session_options *o = target;
    const char *equals = strchr(value, '=');
    if (!equals || equals == value)
        return err_set(e, "option '--%s' takes KEY=VALUE, not '%s'", row->name, value);
    if (o->recorded.labels_len >= RECORDED_MOST_LABELS)
        return err_set(e, "option '--%s' may be given %d times", row->name, RECORDED_MOST_LABELS);
    o->recorded.labels[o->recorded.labels_len++] = value;
    return true;
}

/* Times are in seconds from the start of the recording; `has_from` and `has_to` distinguish 0 from
 * nothing. */
static const struct option_row PART[] = {
    {'e', "event", "NAME", "use this event (default: the first one)",
     FILLS(struct session_options, recorded.event)},
    {0, "process", "PID", "only this process", FILLS(struct session_options, recorded.pid),
     .least = 1, .is_once = true},
    {0, "program", "NAME", "only processes that ran this program",
     FILLS(struct session_options, recorded.program), .is_once = true},
    {0, "thread", "TID|NAME", "only threads with that number or name",
     FILLS(struct session_options, recorded.named_thread), .is_once = true},
    {0, "label", "KEY=VALUE", "only samples with that label (may be repeated)",
     TAKEN_BY(take_label)},
    {0, "by-label", "KEY",
     "each value of a label separately: a table in flat, else outermost frames",
     FILLS(struct session_options, recorded.by_label)},
    {0, "from", "T", "only what happened later than T seconds after the start",
     FILLS(struct session_options, recorded.from),
     ALSO_SETS(struct session_options, recorded.has_from)},
    {0, "to", "T", "only what happened earlier than T seconds after the start",
     FILLS(struct session_options, recorded.to),
     ALSO_SETS(struct session_options, recorded.has_to)},
    {0, "phase", "NAME", "only this phase or region", FILLS(struct session_options, recorded.phase),
     .is_once = true},
    {0, "latency", NULL, "divide each sample by the number of threads that ran then: wall time",
     FILLS(struct session_options, recorded.has_latency)},
};
const struct option_set part_set = SET("Which part of a recording", PART);

/* The three fill one filter: what matches a --function or --select, if there are any, and no
 * --ignore. */
bool take_function(void *target, const struct option_row *row, const char *value, struct err *e)
{
    (void)row;
    return filter_add_name(&((struct view_options *)target)->filter, value, false, e);
}

static bool take_ignore(void *target, const struct option_row *row, const char *value,
                        struct err *e)
{
    (void)row;
    return filter_add_name(&((struct view_options *)target)->filter, value, true, e);
}

bool take_place(void *target, const struct option_row *row, const char *value, struct err *e)
{
    (void)row;
    return filter_add_place(&((struct view_options *)target)->filter, value, e);
}

/* Kept as patterns until the names are known: what they match is not in the tree. */
static bool take_dropped_function(void *target, const struct option_row *row, const char *value,
                                  struct err *e)
{
    (void)row;
    return filter_add_name(&((struct stack_edits *)target)->functions, value, false, e);
}

/* By the last part of the path, as reports name objects; any name is taken until it is known which
 * objects there are. */
static bool take_dropped_object(void *target, const struct option_row *row, const char *value,
                                struct err *e)
{
    (void)row, (void)e;
    vec_push(&((struct stack_edits *)target)->objects, path_base_name(value));
    return true;
}

static const struct option_row STACKS[] = {
    {0, "fold-recursion", NULL, "show a recursive function once in each stack",
     FILLS(struct stack_edits, folds_recursion)},
    {0, "drop-function", "NAME",
     "leave out this function, or those of /REGEX/; their time goes to their callers (may be "
     "repeated)",
     TAKEN_BY(take_dropped_function)},
    {0, "drop-object", "NAME",
     "the same for all functions of a library or program (may be repeated)",
     TAKEN_BY(take_dropped_object)},
};
const struct option_set stacks_set = SET("Recorded stacks", STACKS);

/* Names are as profile/analysis/names.h describes what people type. */
static const struct option_row FILTER[] = {
    {'m', "min-percent", "P", "leave out what has less than P percent of all samples",
     FILLS(struct view_options, rules.min_percent)},
    {'f', "function", "NAME", "show only this function, or those of /REGEX/ (may be repeated)",
     TAKEN_BY(take_function)},
    {'i', "ignore", "NAME", "leave out this function, or those of /REGEX/ (may be repeated)",
     TAKEN_BY(take_ignore)},
    {0, "select", "PLACE", "show only what is in FILE, FILE:LINE or FILE:FUNCTION",
     TAKEN_BY(take_place)},
    {0, "mine", NULL, "show only the project's own code, not libraries, kernel and waits",
     FILLS(struct view_options, filter.only_own)},
};
const struct option_set filter_set = SET("Which functions", FILTER);

/* The sort that a report has by itself is its own affair: has_sort says that the user has chosen
 * one. */
static const struct option_row ROWS[] = {
    {'s', "sort", "self|total|calls|name", "order of the rows", CHOOSES(struct view_rules, sort),
     ALSO_SETS(struct view_rules, has_sort)},
    {'n', "limit", "N", "show the first N rows", FILLS(struct view_rules, limit)},
    {'a', "all", NULL, "also show rows without time, calls or changes",
     FILLS(struct view_rules, shows_all)},
};
const struct option_set rows_set = SET("Which rows", ROWS);

/* As --file and --function do together. */
static bool take_source_place(void *target, const struct option_row *row, const char *value,
                              struct err *e)
{
    struct sources_options *o = target;
    struct filter_place p;
    if (!filter_place_parse(&p, value, o->search.arena, e))
        return false;
    o->file = p.file;
    o->function = p.function;
    return !p.line ||
           err_set(e, "option '--%s' takes FILE or FILE:FUNCTION here, not a line", row->name);
}

/* --select is --file and --function in one word, as the filter of functions spells it. */
static const struct option_row SOURCE[] = {
    {'f', "function", "NAME",
     "only code of this function, or those of /REGEX/, and what was inlined there",
     FILLS(struct sources_options, function)},
    {'F', "file", "FILE", "only lines of this file; the end of its path is enough",
     FILLS(struct sources_options, file)},
    {0, "select", "PLACE", "only what is in FILE or FILE:FUNCTION", TAKEN_BY(take_source_place)},
    {0, "mine", NULL, "only lines of the project's own code, not of libraries",
     FILLS(struct sources_options, only_own)},
};
const struct option_set source_set = SET("Which lines", SOURCE);

/* --- names ----------------------------------------------------------------------------------- */

/* Three steps from the name in the file to the one that is shown: demangled, made distinct,
 * shortened. Each has an option that stops there or adds to it. */
static const struct option_row DEMANGLE[] = {
    DEMANGLE_ROW(struct one_flag, value),
};
const struct option_set demangle_set = SET("Names", DEMANGLE);

static const struct option_row FULL_NAMES[] = {
    {0, "full-names", NULL, "show C++ names in full: parameters, default template arguments, ...",
     FILLS(struct one_flag, value)},
};
const struct option_set full_names_set = SET("Names", FULL_NAMES);

static const struct option_row NAMES[] = {
    {0, "linkage-names", NULL, "show linkage names after demangled ones",
     FILLS(struct view_options, print.has_linkage_names)},
    {0, "pieces", NULL, "show .cold and .part pieces as functions of their own",
     FILLS(struct view_options, session.keeps_pieces)},
};
const struct option_set names_set = SET("Names", NAMES);

/* --- how it is printed ----------------------------------------------------------------------- */

/* Reports without a table have no CSV. */
static const struct option_row JSON[] = {
    FORMAT_ROW("text|json", struct print_options, format),
    JSON_ROW(struct print_options, format),
};
const struct option_set json_set = SET("How it is printed", JSON);

static const struct option_row TABLE_FORMAT[] = {
    FORMAT_ROW("text|json|csv", struct print_options, format),
    JSON_ROW(struct print_options, format),
    CSV_ROW(struct print_options, format),
};
const struct option_set table_format_set = SET("How it is printed", TABLE_FORMAT);

/* A width applies to text alone: other formats have all columns. */
static const struct option_row WIDE[] = {
    {'w', "wide", NULL,
     "show all columns and full names (default: the main ones, as wide as the screen)",
     FILLS(struct one_flag, value)},
};
const struct option_set wide_set = SET("How it is printed", WIDE);

static const struct option_row VERBOSE[] = {
    {'v', "verbose", NULL, "say how it was measured, too: samples, losses, cost",
     FILLS(struct one_flag, value)},
};
const struct option_set verbose_set = SET("How it is printed", VERBOSE);

/* `--color` alone is `--color=always`; the value follows an equals sign, since it may be absent. */
static const struct option_row TERMINAL[] = {
    {0, "color", "[auto|always|never]", "use colour (default: on a terminal)",
     CHOOSES(struct print_options, colour), .absent = COLOUR_ALWAYS},
    {0, "no-pager", NULL, "do not page on a terminal", FILLS(struct print_options, no_pager)},
};
const struct option_set terminal_set = SET("How it is printed", TERMINAL);
