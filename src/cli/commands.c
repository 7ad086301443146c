/* The table of commands, in the order in which --help lists them, and finding one in it.
 *
 * A name that is not in the table gets a suggestion: first what other profilers call the same thing
 * (`perf record`, `perf report`, `coverage report`), then the command with the fewest edits between
 * the two spellings, up to about a third of the letters. Both are found in one pass over a short
 * table.
 */
#include "command/command.h"

#include <stdint.h>
#include <string.h>

extern const struct command command_run;
extern const struct command command_flat;
extern const struct command command_lines;
extern const struct command command_graph;
extern const struct command command_annotate;
extern const struct command command_waits;
extern const struct command command_cover;
extern const struct command command_path;
extern const struct command command_diff;
extern const struct command command_ranks;
extern const struct command command_check;
extern const struct command command_store;
extern const struct command command_flame;
extern const struct command command_html;
extern const struct command command_tui;
extern const struct command command_export;
extern const struct command command_optimize;
extern const struct command command_doctor;
extern const struct command command_info;
extern const struct command command_receive;
extern const struct command command_recover;
extern const struct command command_symbols;
extern const struct command command_merge;
extern const struct command command_convert;
extern const struct command command_gprof;
extern const struct command command_gcov;
extern const struct command command_gcov_tool;
extern const struct command command_gcov_dump;
extern const struct command command_sprof;

/* clang-format off */
const struct command *const commands[] = {
    &command_run,
    &command_receive,
    &command_recover,
    &command_symbols,
    &command_flat,
    &command_graph,
    &command_lines,
    &command_annotate,
    &command_flame,
    &command_html,
    &command_tui,
    &command_doctor,
    &command_waits,
    &command_path,
    &command_cover,
    &command_diff,
    &command_check,
    &command_ranks,
    &command_store,
    &command_optimize,
    &command_info,
    &command_merge,
    &command_convert,
    &command_export,
    &command_gprof,
    &command_gcov,
    &command_gcov_tool,
    &command_gcov_dump,
    &command_sprof,
};

/* By what they are for; each group goes on to the first command of the next. */
static const struct {
    const struct command *first;
    const char *title;
} GROUPS[] = {
    {&command_run, "Record"},
    {&command_flat, "Look"},
    {&command_waits, "Wait"},
    {&command_cover, "Cover"},
    {&command_diff, "Compare"},
    {&command_optimize, "Optimise"},
    {&command_info, "Files"},
    {&command_gprof, "As GNU's"},
};
/* clang-format on */
const size_t commands_len = sizeof commands / sizeof *commands;

const char *command_group(const struct command *c)
{
    for (size_t i = 0; i < sizeof GROUPS / sizeof *GROUPS; i++)
        if (GROUPS[i].first == c)
            return GROUPS[i].title;
    return NULL;
}

/* Names are whole: an abbreviation that is unique today would not be so tomorrow. */
const struct command *command_find(const char *name)
{
    for (size_t i = 0; i < commands_len; i++)
        if (!strcmp(commands[i]->name, name))
            return commands[i];
    return NULL;
}

/* Levenshtein's distance: letters to be put in, taken out or replaced. Longer words than the table
 * has are not measured. O(length of a times length of b), in one row of the table: `diagonal` is
 * what row[k] was for the letter before. */
static size_t command_edits(const char *a, const char *b)
{
    enum { MOST = 16 };
    size_t row[MOST + 1], b_len = strlen(b);
    if (strlen(a) > MOST || b_len > MOST)
        return SIZE_MAX;
    for (size_t k = 0; k <= b_len; k++)
        row[k] = k;
    for (size_t i = 0; a[i]; i++) {
        size_t diagonal = row[0];
        row[0] = i + 1;
        for (size_t k = 0; k < b_len; k++) {
            size_t replaced = diagonal + (a[i] != b[k]);
            size_t least = row[k] < row[k + 1] ? row[k] + 1 : row[k + 1] + 1;
            diagonal = row[k + 1];
            row[k + 1] = replaced < least ? replaced : least;
        }
    }
    return row[b_len];
}

/* Commands that are an option of another one: scripts and old notes still call them. */
const char *command_replacement(const char *name)
{
    /* clang-format off */
    static const struct { const char *gone, *now; } REPLACED[] = {
        {"locks", "waits"}, {"io", "waits --files"}, {"what-if", "path --if"},
        {"order", "optimize --for lld"}, {"overlap", "diff"},
        {"counts", "lines --counts"},
    };
    /* clang-format on */
    for (size_t i = 0; i < sizeof REPLACED / sizeof *REPLACED; i++)
        if (!strcmp(name, REPLACED[i].gone))
            return REPLACED[i].now;
    return NULL;
}

/* Words of other tools first (perf, lcov), then spelling: up to a third of the letters may be
 * wrong. NULL: nothing is near. */
const char *command_suggestion(const char *name)
{
    /* clang-format off */
    static const struct { const char *theirs, *ours; } SYNONYMS[] = {
        {"record", "run"},      {"profile", "run"},   {"stat", "run"},      {"attach", "run"},
        {"report", "flat"},     {"show", "flat"},     {"top", "tui"},       {"ui", "tui"},
        {"view", "tui"},        {"coverage", "cover"}, {"callgraph", "graph"}, {"calls", "graph"},
        {"tree", "graph"},      {"flamegraph", "flame"}, {"svg", "flame"},  {"compare", "diff"},
        {"source", "annotate"}, {"list", "annotate"}, {"script", "export"}, {"web", "html"},
        {"sum", "merge"},       {"dump", "info"},     {"capture", "cover"},    {"lock", "waits"},
        {"contention", "waits"}, {"offcpu", "waits"}, {"off-cpu", "waits"},
    };
    /* clang-format on */
    const char *nearest = NULL;
    size_t least = (strlen(name) + 1) / 3 + 1;
    for (size_t i = 0; i < sizeof SYNONYMS / sizeof *SYNONYMS; i++)
        if (!strcmp(name, SYNONYMS[i].theirs))
            return SYNONYMS[i].ours;
    for (size_t i = 0; i < commands_len; i++) {
        size_t edits = command_edits(name, commands[i]->name);
        if (edits < least) {
            least = edits;
            nearest = commands[i]->name;
        }
    }
    return nearest;
}
