/* What all native reports on a profile share: their head as text and JSON, the name of a function
 * with all that distinguishes it, the columns of other events, and an older measurement of the same
 * function.
 *
 * The head opens with the answer (analysis/answer.c). Then it says what figures are of: program and
 * profile, and with --verbose samples, what each stands for, calls; then, as notes, what cannot be
 * trusted: a program and profile that do not
 * belong together, too few samples, what counting calls cost. Decimals of times follow the rate, so
 * that one sample is never lost in rounding. A name is followed by its linkage name, file, object
 * and marks; where the row has too little room, the name itself gives way (names_within()).
 *
 *     4.000 s: 60 % in parse; 35 +- 5 % in main
 *     Program  ./a.out
 *     Profile  gmon.out
 *     Samples  400 of 0.01 seconds each: 4.000 seconds
 *              12 of them (3.00 %) in no function of the program
 *     Calls    10500 along 12 arcs
 *     Note     few samples: ...
 *
 *     parse {_ZN5parseEv} (a.cc) [libx.so] (inlined) [profiling overhead]
 *     name    linkage     file   object */
#include "profile/report/report_header.h"

#include "output/out.h"
#include "profile/analysis/diagnosis.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* What follows a function's name. */
struct name_parts {
    const char *shown, *linkage, *file, *object; /* the latter three: or NULL */
    bool is_profiler, is_inlined;
    size_t shown_bytes;
    int others; /* columns of the others */
};

static const char PROFILER_MARK[] = " [profiling overhead]", INLINED_MARK[] = " (inlined)";

/* File and object are there where the name alone would not identify the function: static functions
 * of one name, code of libraries. What was made up (is_made), such as [kernel], is no function of
 * an object. */
static struct name_parts head_name_parts_of(struct names *names, uint32_t function,
                                            const struct text_style *style)
{
    const struct function *f = &names->functions->at[function];
    struct name_parts p = {.shown = names_text(names, function),
                           .is_profiler = function_is_profiler(names->functions, function),
                           .is_inlined = f->is_inlined};
    p.shown_bytes = strlen(p.shown);
    if (style->names == NAME_LINKAGE_TOO && strcmp(p.shown, f->name))
        p.linkage = f->name;
    p.file = names_place(names, function);
    if (!f->is_made)
        p.object = function_object_label(names->functions, function);
    size_t len = p.object && *p.shown == '[' ? strlen(p.object) : 0;
    bool has_object = len && p.shown_bytes > len + 2 && p.shown[p.shown_bytes - 1] == ')' &&
                      !strncmp(p.shown + p.shown_bytes - 1 - len, p.object, len);
    if (has_object || function_name_is_wait(p.shown))
        p.object = NULL;
    else if (len && !strncmp(p.shown + 1, p.object, len) && p.shown[1 + len] == ']')
        p.object = NULL; /* "[kernel] faults and interrupts" names it already */
    p.others = (p.linkage ? (int)strlen(p.linkage) + 3 : 0) +
               (p.file ? (int)strlen(p.file) + 3 : 0) + (p.object ? (int)strlen(p.object) + 3 : 0) +
               (p.is_profiler ? (int)sizeof PROFILER_MARK - 1 : 0) +
               (p.is_inlined ? (int)sizeof INLINED_MARK - 1 : 0);
    return p;
}

/* Bytes of the name stand for columns: it is a guess for a layout. Too wide for names in UTF-8,
 * which costs a layout a few columns and no row its shape. */
int text_function_width(struct names *names, uint32_t function, const struct text_style *style)
{
    struct name_parts p = head_name_parts_of(names, function, style);
    return (int)p.shown_bytes + p.others;
}

/* Demangled as the names of the report are, though no table has it. */
void text_linkage_name(struct out *out, const struct names *names, const char *linkage_name)
{
    struct arena scratch = {0};
    char *shown = names->style ? demangle(linkage_name, names->style) : NULL;
    text_name(out, !shown ? linkage_name : names->brief ? names_short(shown, &scratch) : shown);
    free(shown);
    arena_deinit(&scratch);
}

/* First by what the language allows to leave out, then without its middle. */
static void head_text_within(struct out *out, const char *name, bool is_instance, int room)
{
    struct arena scratch = {0};
    size_t len = strlen(name);
    if (room >= 0 && len <= (size_t)room) { /* a name has no more columns than bytes */
        text_name_n(out, name, len);
        return;
    }
    const char *fits = is_instance ? names_instance_within(name, room, &scratch)
                                   : names_within(name, room, &scratch);
    text_name_within(out, fits, strlen(fits), room);
    arena_deinit(&scratch);
}

void text_symbol_within(struct out *out, const char *name, int room)
{
    head_text_within(out, name, false, room);
}

void text_function_place(struct out *out, const char *source, const char *object, bool is_inlined)
{
    if (source) {
        out_str(out, " (");
        text_name(out, source);
        out_char(out, ')');
    }
    if (object)
        text_object(out, object);
    if (is_inlined)
        out_str(out, INLINED_MARK);
}

/* Only the name gives way: what follows it distinguishes two functions of one name. */
void text_function_behind(struct out *out, struct names *names, uint32_t function,
                          const struct text_style *style, int used)
{
    struct name_parts p = head_name_parts_of(names, function, style);
    /* Beside a library's name the row's width counts for more: its functions have short names. */
    enum { LEAST_ROOM = 10 };
    int room = style->width - used - p.others, of_object = p.object ? (int)strlen(p.object) + 3 : 0;
    /* A name that is cut to pieces says less than one without its library. */
    if (style->width && room < NAME_ROOM && (int)p.shown_bytes > room &&
        room + of_object > LEAST_ROOM) {
        room += of_object;
        p.object = NULL;
    }
    int least = p.object ? LEAST_ROOM : NAME_ROOM;
    room = room < least ? least : room;
    if (style->width)
        head_text_within(out, p.shown, names->is_instance && names->is_instance[function], room);
    else
        text_name(out, p.shown);
    if (p.linkage) {
        out_str(out, " {");
        text_name(out, p.linkage);
        out_char(out, '}');
    }
    text_function_place(out, p.file, p.object, p.is_inlined);
    if (p.is_profiler)
        out_str(out, PROFILER_MARK);
}

void text_function(struct out *out, struct names *names, uint32_t function,
                   const struct text_style *style)
{
    struct text_style whole = *style;
    whole.width = 0;
    text_function_behind(out, names, function, &whole, 0);
}

void text_none_passes(struct out *out, const char *what)
{
    out_prose(out);
    out_printf(out,
               "No %s to show: none that was measured passes --function, --mine, --ignore and "
               "--min-percent.\n",
               what);
    out_prose_end(out);
}

int text_share_decimals(const struct summary *s)
{
    enum { LEAST = 2, MOST = 4 };
    int decimals = text_error_decimals(100 * summary_error(s, s->samples / 2));
    return decimals < LEAST ? LEAST : decimals > MOST ? MOST : decimals;
}

void text_share(struct out *out, const struct summary *s, double samples)
{
    /* No column: nothing is below it that its point would have to meet. */
    int known = text_error_decimals(100 * summary_error(s, samples)), most = text_share_decimals(s);
    known = known < 1 ? 1 : known < most ? known : most;
    out_printf(out, "%.*f %%", known, 100 * summary_share(s, samples));
}

/* The one thing about +- that must be said: what it is the uncertainty of. */
void text_interval_legend(struct out *out, const struct summary *s)
{
    uint32_t runs = summary_runs(s);
    out_prose(out);
    if (runs > 1)
        out_printf(out,
                   "\n+-: half the 95 %% confidence interval of the mean run's self%% and self,\n"
                   "    from the spread of %" PRIu32 " runs; blank: below a tenth\n",
                   runs);
    else
        out_printf(out,
                   "\n+-: half the 95 %% interval of %sself%%, in points; blank: below a tenth\n",
                   s->run ? "this run's " : "");
    out_prose_end(out);
}

/* How many samples, of what, and how many of them are not the program's own. Samples in no function
 * are part of the sum; those `aside`, which an exact counter of calls took, are not. */
static void head_text_samples(struct out *out, const struct summary *s)
{
    if (!s->has_samples) {
        out_str(out, "Samples  none: the profile has no histogram\n");
        return;
    }
    out_printf(out, "Samples  %.0f", s->samples);
    uint32_t runs = summary_runs(s);
    if (s->rate > 0) {
        if (runs > 1)
            out_printf(out, " in %" PRIu32 " runs,", runs);
        out_printf(out, " of %.6g ", runs / s->rate);
        text_name(out, s->dimension);
        out_printf(out, " each: %.*f ", summary_decimals(s), summary_time(s, s->samples));
        text_name(out, s->dimension);
        out_str(out, runs > 1 ? " a run" : "");
    } else {
        out_str(out, "; the sampling rate is unknown");
    }
    out_char(out, '\n');
    if (s->unattributed > 0)
        out_printf(out, "         %.6g of them (%.2f %%) in no function of the program\n",
                   s->unattributed, 100 * summary_share(s, s->unattributed));
    if (s->stacks && !s->run)
        out_printf(out, "         with call stacks: totals are measured, not modelled\n");
    bool is_aside = s->run && s->run->weights->aside > 0;
    if (s->profiler >= 0.5 && is_aside)
        out_printf(out, "         %.0f more %s, not included\n", s->profiler,
                   summary_profiler_text(s));
    else if (s->profiler > 0 && !is_aside)
        out_printf(out, "         %.6g of them (%.2f %%) in the profiler itself\n", s->profiler,
                   100 * summary_share(s, s->profiler));
}

/* Arcs, and calls that begin or end outside of what is known. What lies in no known function is
 * counted, so that calls add up. */
static void head_text_calls(struct out *out, const struct summary *s)
{
    if (!s->arcs)
        return;
    out_printf(out, "Calls    %" PRIu64 " along %" PRIu64 " arc%s\n", s->calls, s->arcs,
               text_plural(s->arcs));
    if (s->unknown_callers)
        out_printf(out, "         %" PRIu64 " of them from no function of the program\n",
                   s->unknown_callers);
    if (s->unknown_callees)
        out_printf(out, "         %" PRIu64 " of them to no function of the program\n",
                   s->unknown_callees);
}

/* What the user must know of the profile before any figure. On a terminal, a caveat is one line:
 * what it means; `doctor` has them whole. */
static void head_text_reasons(struct out *out, const struct summary *s)
{
    enum { LABEL = 9, MOST = 1, COUNT = 17 };
    bool is_brief = out->columns && !s->is_verbose;
    size_t shown = is_brief && s->notes_len > MOST ? MOST : s->notes_len;
    if (s->was_forced) {
        out_str(out, "Note     the profile does not match the program: ");
        text_name(out, s->mismatch);
        out_char(out, '\n');
    }
    for (size_t i = 0; i < shown; i++) {
        bool is_counted = i + 1 == shown && s->notes_len > shown;
        out_str(out, "Note     ");
        if (is_brief)
            text_clause(out, s->notes[i], LABEL + (is_counted ? COUNT : 0));
        else
            text_name(out, s->notes[i]);
        if (is_counted)
            out_printf(out, " (%zu more: doctor)", s->notes_len - shown);
        out_char(out, '\n');
    }
}

/* `effective` is the number of samples of equal weight that tell as much, where weights differ. Of
 * very few the notes of a recording have said it already. The cost of counting is said
 * where it is more than a sample and 2 % of the time, and the profile does not show it itself. */
void text_notes(struct out *out, const struct summary *s)
{
    head_text_reasons(out, s);
    double certain = s->effective > 0 ? s->effective : s->samples;
    double least = s->run ? VERY_FEW_SAMPLES : 0;
    if (s->has_samples && certain > 0 && certain >= least && certain < FEW_SAMPLES) {
        struct interval half = share_interval(certain / 2, certain);
        out_printf(out, "Note     few samples (%.0f): a share of 50 %% may be off by %.0f points\n",
                   s->taken > 0 ? s->taken : s->samples, 100 * interval_half(half));
    }
    double cost = summary_mcount_estimate(s);
    bool is_visible = s->rate > 0 && cost > 1 / s->rate; /* more than one sample */
    if (s->profiler == 0 && is_visible && cost > 0.02 * summary_time(s, s->samples))
        out_printf(out,
                   "Note     counting the calls took about %.*f seconds more, outside of these\n"
                   "         samples (an estimate: %d ns a call)\n",
                   summary_decimals(s), cost, MCOUNT_NANOSECONDS);
}

void text_files(struct out *out, const struct summary *s)
{
    enum { WORDS = 9 + 4 }; /* "Profile  " and " of " */
    const char *command = s->run && *s->run->command ? s->run->command : s->program;
    size_t used = WORDS + strlen(s->profiles[0]) + (command ? strlen(command) : 0);
    if (command && s->profiles_len == 1 && used <= (size_t)out->columns) { /* on a terminal */
        out_str(out, "Profile  ");
        text_name(out, s->profiles[0]);
        out_str(out, " of ");
        text_name(out, command);
        out_char(out, '\n');
        return;
    }
    out_str(out, "Program  ");
    if (s->run)
        recording_command_text(out, s->run);
    else
        text_name(out, s->program);
    out_str(out, "\nProfile  ");
    text_name(out, s->profiles[0]);
    if (s->profiles_len > 1)
        out_printf(out, " and %zu more", s->profiles_len - 1);
    out_char(out, '\n');
}

/* A recording knows its command and when it ran; a profile file is known by two names. */
static void head_text_subject(struct out *out, const struct summary *s)
{
    if (s->run) {
        recording_head_text(out, s->run, s->profiles, s->profiles_len);
    } else {
        text_files(out, s);
    }
}

/* Which rule inlined code follows, where it makes a difference or was requested. */
static void head_text_inlined(struct out *out, const struct summary *s)
{
    if (s->has_hosts)
        out_str(out, "Inlines  part of the functions that they are in\n");
    else if (s->inlined)
        out_printf(out,
                   "Inlines  %" PRIu32 " inlined function%s named; --no-inlines: part of those "
                   "they are in\n",
                   s->inlined, s->inlined == 1 ? " is" : "s are");
}

/* A line for what was measured besides: what it is called and how much there is. With --latency,
 * the line on parallelism has the CPU time that stands beside. */
static void head_text_others(struct out *out, const struct summary *s)
{
    const struct other_measures *others = &s->others;
    if (!others->len || (s->run && s->run->parallelism))
        return;
    for (size_t i = 0; i < others->len; i++) {
        out_str(out, i ? ", " : "Beside   ");
        text_name(out, others->at[i].name);
        out_printf(out, ": %.0f samples", others->at[i].samples);
    }
    out_char(out, '\n');
}

/* In two lines of a usual terminal: what comes last is least, and goes first. */
static void head_text_answer(struct out *out, const char *answer)
{
    enum { LINES = 2, RAGGED = 12, USUAL = 76 }; /* folding leaves columns empty */
    static const char *const PARTS[] = {", called by ", "; "};
    size_t len = strlen(answer), columns = out->columns > USUAL ? (size_t)out->columns : USUAL;
    while (out->columns && len > LINES * columns - RAGGED) {
        size_t cut = 0;
        for (size_t i = 0; i < sizeof PARTS / sizeof *PARTS; i++)
            for (size_t at = len - 1; at > cut; at--)
                if (!strncmp(answer + at, PARTS[i], strlen(PARTS[i])))
                    cut = at;
        if (!cut)
            break;
        len = cut;
    }
    text_name_n(out, answer, len);
}

/* The answer, then what was measured and what of it cannot be trusted. */
void text_summary(struct out *out, const struct summary *s)
{
    if (s->answer) {
        head_text_answer(out, s->answer);
        out_char(out, '\n');
    }
    head_text_subject(out, s);
    if (s->is_verbose)
        head_text_samples(out, s);
    head_text_others(out, s);
    if (s->run && s->is_verbose)
        recording_account_text(out, s->run);
    else if (s->run)
        recording_caveats_text(out, s->run);
    if (s->is_verbose || s->has_hosts)
        head_text_inlined(out, s);
    if (s->is_verbose)
        head_text_calls(out, s);
}

void text_summary_brief(struct out *out, const struct summary *s)
{
    text_summary(out, s);
    head_text_reasons(out, s);
}

/* Columns of other events and dimensions. */

/* As wide as its heading, and wide enough for 100.00. */
static int others_column(const struct other_measure *other)
{
    int width = (int)strlen(other->name) + 1;
    return width < 6 ? 6 : width;
}

int others_width(const struct other_measures *others)
{
    int width = 0;
    for (size_t i = 0; i < others->len; i++)
        width += 2 + others_column(&others->at[i]);
    return width;
}

/* The name of the event and `%`, flush right above its column. */
void others_head(struct out *out, const struct other_measures *others)
{
    for (size_t i = 0; i < others->len; i++) {
        const struct other_measure *other = &others->at[i];
        out_spaces(out, 2 + (size_t)others_column(other) - strlen(other->name) - 1);
        text_name(out, other->name);
        out_char(out, '%');
    }
}

void others_share(struct out *out, const struct other_measure *other, double samples)
{
    double half = interval_half(share_interval(samples, other->samples));
    out_str(out, "  ");
    text_known_share(out, other_share(other, samples), half, others_column(other), 2);
}

/* What all native JSON reports on a profile begin with, and what the tables share. */

/* Object and source are absent where they add nothing, the others always there. */
void function_fields(struct field *fields, struct names *names, uint32_t function)
{
    fields[FUNCTION_NAME] = field_text(names_get(names, function));
    fields[FUNCTION_LINKAGE] = field_text(names->functions->at[function].name);
    fields[FUNCTION_ADDRESS] = field_address(function_link_address(names->functions, function));
    fields[FUNCTION_OBJECT] = field_text_if(function_object_label(names->functions, function));
    fields[FUNCTION_SOURCE] = field_text_if(names_file(names, function));
}

void json_pair_function(struct json *j, struct names *names, uint32_t function)
{
    static const struct column columns[] = {COLUMNS_OF_FUNCTION(0)};
    struct field fields[FUNCTION_FIELDS];
    function_fields(fields, names, function);
    columns_json(j, columns, FUNCTION_FIELDS, fields);
}

/* The same facts as text_summary(), whole. The document stays open: the caller appends its own
 * members and ends it. */
void json_report_begin(struct json *j, const char *report, const struct summary *s)
{
    json_document_begin(j, report);
    json_pair_str(j, "program", s->program);
    JSON_ITEMS(j, "profiles", i, s->profiles_len)
        json_str(j, s->profiles[i]);
    json_key(j, "summary"), json_begin(j, '{');
    json_pair_bool(j, "has_samples", s->has_samples);
    json_pair_double(j, "samples", s->samples);
    json_pair_double(j, "samples_per_unit", s->rate);
    json_pair_str(j, "dimension", s->dimension);
    json_key(j, "abbreviation"); /* empty: the dimension has none */
    json_str_n(j, &s->abbreviation, s->abbreviation ? 1 : 0);
    json_pair_double(j, "unattributed_samples", s->unattributed);
    json_pair_double(j, "profiler_samples", s->profiler);
    if (s->sharing) {
        json_pair_double(j, "shared_samples", s->sharing->samples);
        json_pair_u64(j, "separating_bin_bytes", s->sharing->separating_bytes);
    }
    if (s->stacks)
        json_pair_double(j, "stack_samples", s->stacks->samples);
    json_pair_u64(j, "arcs", s->arcs);
    json_pair_u64(j, "calls", s->calls);
    json_pair_u64(j, "calls_from_unknown", s->unknown_callers);
    json_pair_u64(j, "calls_to_unknown", s->unknown_callees);
    if (s->run)
        json_pair_str(j, "inlined", s->has_hosts ? "in_hosts" : s->inlined ? "named" : "none");
    json_pair_str(j, "mismatch", s->mismatch);
    if (s->run)
        recording_head_json(j, s->run);
    if (s->notes_len) {
        JSON_ITEMS(j, "notes", i, s->notes_len)
            json_str(j, s->notes[i]);
    }
    json_end(j);
}

/* The member "base" of rows and entries. */

/* null: the base did not know the function. */
void base_json(struct json *j, const struct baseline *base, uint32_t function, bool has_self)
{
    const struct change *was = base ? baseline_change(base, function) : NULL;
    if (!base)
        return;
    json_key(j, "base");
    if (!was || was->old == NO_FUNCTION) {
        json_none(j);
        return;
    }
    json_begin(j, '{');
    json_pair_str(j, "linkage_name", base->old.ids.at[was->old].name);
    if (has_self)
        json_pair_double(j, "self_share", was->self.old);
    json_pair_double(j, "total_share", was->total.old);
    json_pair_double(j, "calls", was->old_calls);
    json_end(j);
}

/* --- commands -------------------------------------------------------------------------------- */

/* Is the word, which looks like a source, the value of the option before it? -MD of cc1 takes a
 * file of dependencies, that of gcc nothing. */
static bool command_is_value(const char *before, const char *word, size_t len)
{
    /* Each between two spaces, as the option stands in the command. */
    static const char OPTIONS[] =
        " -MF -MT -MQ -o -D -U -I -L -T -include -imacros -isystem -iquote -idirafter -dumpbase "
        "-dumpbase-ext -dumpdir -auxbase -auxbase-strip -main-file-name -imultiarch -iprefix ";
    size_t n = strcspn(before, " ") + 1;
    for (const char *at = OPTIONS; (at = strchr(at, ' ')) && at[1]; at++)
        if (*before && !strncmp(at + 1, before, n))
            return true;
    return (!strncmp(before, "-MD ", 4) || !strncmp(before, "-MMD ", 5)) && len > 2 &&
           !memcmp(word + len - 2, ".d", 2);
}

/* Words are separated by blanks alone, as the recording has the command's arguments. The general
 * rule for what is no source: what follows an option without a `=` may be its value, and is no
 * file. Sources are worth more: only the options above are known to take one.
 *
 *     cc1plus -quiet -MD os.cc.d -D_GNU_SOURCE src/os.cc -o /tmp/x.s     src/os.cc
 *     ld -plugin x.so -o out/libz.so crti.o a.o                          out/libz.so
 *     ar cr libz.a a.o                                                   libz.a */
static const char *command_telling_word(const char *command, size_t *len)
{
    static const char *const SOURCES[] = {".c",  ".cc", ".cpp", ".cxx", ".C",   ".f", ".f90",
                                          ".rs", ".S",  ".go",  ".m",   ".adb", ".d", ".java"};
    const char *output = NULL, *file = NULL, *before = "";
    size_t output_len = 0, file_len = 0;
    const char *word = command + strcspn(command, " ");
    while (*(word += strspn(word, " "))) {
        size_t n = strcspn(word, " "), dot = n;
        bool may_be_value = *before == '-' && !memchr(before, '=', strcspn(before, " "));
        while (dot > 0 && word[dot - 1] != '.' && word[dot - 1] != '/')
            dot--;
        bool has_ending = dot > 1 && word[dot - 1] == '.' && *word != '-';
        for (size_t i = 0; i < sizeof SOURCES / sizeof *SOURCES && has_ending; i++)
            if (strlen(SOURCES[i]) == n - dot + 1 &&
                !memcmp(SOURCES[i], word + dot - 1, n - dot + 1) &&
                !command_is_value(before, word, n)) {
                *len = n;
                return word;
            }
        if (!strncmp(before, "-o ", 3)) {
            output = word;
            output_len = n;
        } else if (has_ending && !may_be_value && !file) {
            file = word;
            file_len = n;
        }
        before = word;
        word += n;
    }
    *len = output ? output_len : file_len;
    return output ? output : file;
}

const char *command_telling_name(const char *command, size_t *len)
{
    size_t whole = 0, from;
    const char *word = command_telling_word(command, &whole);
    for (from = word ? whole : 0; from > 0 && word[from - 1] != '/';)
        from--;
    *len = whole - from;
    return word && *len ? word + from : NULL;
}
