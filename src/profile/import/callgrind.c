/* Callgrind's output format: costs of functions by line, and calls with their number and what they
 * cost ("Callgrind Format Specification" of Valgrind's manual).
 *
 * A run gets the costs of functions by line, and the numbers of calls. It has no place for what a
 * call cost, for jumps and parts of a run; these are named. Cycles are no matter: nothing is
 * followed.
 *
 *     events: Ir Dr              what the numbers of a line of costs are
 *     ob=(1) /bin/x              names: defined with a number once, then named by it
 *     fl=(1) x.c
 *     fn=(2) main
 *     16 400 20                  own costs: position, then one number an event
 *     fi=(2) x.h                 what follows is code of another file, inlined; fe= likewise
 *     +3 10 2                    three lines below the last one
 *     cfn=(3) work
 *     calls=50 32                the next line is what these calls cost
 *     16 9000
 *
 * A function's costs have no stack: each is a frame whose callers are not known. Parts of a file
 * and several threads in it are added up. Refused, with the line: a number that nothing defines,
 * more than 64 events, costs that are no numbers or come before a function. Linear in the bytes.
 */
#include "profile/import/named_recording.h"

#include <inttypes.h>

enum { MOST_EVENTS = 64 };

#define LOST_INCLUSIVE \
    "costs of calls with all below them: reports estimate them by numbers of calls"
#define LOST_JUMPS "jumps"

static const char UNKNOWN[] = "???", OUTSIDE[] = "[outside]";

/* "(12) name" stands for itself and defines 12; "(12)" is that name again. Objects, functions and
 * files have numbers of their own. */
enum callgrind_space { SPACE_OBJECTS, SPACE_FUNCTIONS, SPACE_FILES, SPACES };

/* A function: its object and the address that stands for it. */
struct callgrind_place {
    uint32_t object;
    uint64_t function;
};

/* A name, and where a function's number was defined, the file that it is in: numbers distinguish
 * functions of one name, and a name that is always spelled out is one function. */
struct callgrind_text {
    struct text_span text, file;
};

/* What the lines so far have said. Spans point into the file. */
struct callgrind_file {
    struct named_run n;
    const char *name;
    struct map texts[SPACES]; /* number -> index of `all` */
    VEC(struct callgrind_text) all;
    struct callgrind_text own_object, called_object, own_function, called_function;
    struct callgrind_text function_file, file, called_file; /* file: of the costs that follow */
    uint64_t line;          /* of the last costs; positions may be relative to it */
    uint32_t line_position; /* which of the positions is the line; `positions`: none */
    bool has_own, has_called_object, has_called_file;
    uint32_t events[MOST_EVENTS];
    uint32_t events_len, positions;
    bool is_call; /* the next line of costs is what calls cost */
    uint64_t calls;
};

static bool callgrind_bad(const struct callgrind_file *f, const struct text_lines *lines,
                          const char *what, struct err *e)
{
    return err_in(e, f->name, "line %" PRIu64 ": %s", lines->number, what);
}

/* Resolves a name, defining its number if it spells it out. `file`: of a function that is defined.
 * false: nothing defines the number. */
static bool callgrind_name(struct callgrind_file *f, enum callgrind_space space,
                           struct text_span text, struct text_span file, struct callgrind_text *out)
{
    uint64_t number;
    text = text_trimmed(text);
    *out = (struct callgrind_text){.text = text};
    if (text.at == text.end || *text.at != '(')
        return true;
    struct text_span rest = {text.at + 1, text.end};
    if (!text_take_u64(&rest, &number) || rest.at == rest.end || *rest.at != ')')
        return true; /* a name that begins so */
    rest.at++;
    rest = text_trimmed(rest);
    *out = (struct callgrind_text){rest, file};
    if (rest.at == rest.end) {
        const uint32_t *found = map_find(&f->texts[space], number, 0);
        if (found)
            *out = f->all.at[*found];
        return found != NULL;
    }
    map_set(&f->texts[space], number, 0, f->all.len);
    vec_push(&f->all, *out);
    return true;
}

/* --- head ------------------------------------------------------------------------------------ */

/* "Ir Dr Dw": the events of each line of costs, in this order. A later part of the file may say it
 * again; events of the same name are the same. */
static bool callgrind_events(struct callgrind_file *f, struct text_span list)
{
    f->events_len = 0;
    for (list = text_trimmed(list); list.at < list.end; list = text_trimmed(list)) {
        const char *end = list.at;
        while (end < list.end && *end != ' ' && *end != '\t')
            end++;
        if (f->events_len == MOST_EVENTS)
            return false;
        f->events[f->events_len++] =
            named_run_event(&f->n, list.at, (size_t)(end - list.at), RECORDING_UNIT_COUNT);
        f->n.recording->events.at[f->events[f->events_len - 1]].period = 1;
        list.at = end;
    }
    return f->events_len > 0;
}

/* A line of the head; *is_head says whether it is one. Fails if it is one and makes no sense. What
 * says how the program was run or repeats a sum is passed over. */
static bool callgrind_head(struct callgrind_file *f, struct text_span line, bool *is_head)
{
    static const char *const others[] = {"version:", "creator:", "pid:",    "thread:", "part:",
                                         "desc:",    "summary:", "totals:", "event:"};
    *is_head = true;
    if (text_begins(line, "events:"))
        return callgrind_events(f, (struct text_span){line.at + 7, line.end});
    if (text_begins(line, "positions:")) {
        struct text_span list = {line.at + 10, line.end};
        struct text_span word;
        uint32_t behind = UINT32_MAX; /* the line */
        f->positions = 0;
        while (word = text_take_last_word(&list), word.at < word.end) {
            behind = text_len(word) == 4 && text_begins(word, "line") ? f->positions : behind;
            f->positions++;
        }
        f->line_position = behind < f->positions ? f->positions - 1 - behind : f->positions;
        return f->positions > 0 && f->positions <= 3;
    }
    if (text_begins(line, "cmd:")) {
        /* The program is the object of that name. */
        struct text_span program = text_trimmed((struct text_span){line.at + 4, line.end});
        for (const char *c = program.at; c < program.end; c++)
            if (*c == ' ')
                program.end = c;
            else if (*c == '/')
                program.at = c + 1;
        named_run_name_process(&f->n, program.at, text_len(program));
        return true;
    }
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (text_begins(line, others[i]))
            return true;
    *is_head = false;
    return true;
}

/* --- costs ----------------------------------------------------------------------------------- */

/* "???" is no file. */
static size_t callgrind_file_len(struct text_span file)
{
    return text_len(file) == strlen(UNKNOWN) && text_begins(file, UNKNOWN) ? 0 : text_len(file);
}

static struct callgrind_place callgrind_place(struct callgrind_file *f, struct text_span object,
                                              const struct callgrind_text *function)
{
    struct callgrind_place p = {.object = named_run_object(&f->n, object.at, text_len(object))};
    p.function = named_run_function_in(&f->n, p.object, function->text.at, text_len(function->text),
                                       function->file.at, callgrind_file_len(function->file));
    return p;
}

/* Positions may be "+3", "-3" and "*" for the last one. The line is kept; addresses are not. */
static bool callgrind_take_positions(struct callgrind_file *f, struct text_span *s)
{
    for (uint32_t i = 0; i < f->positions; i++) {
        *s = text_trimmed(*s);
        if (s->at == s->end)
            return false;
        char sign = *s->at;
        uint64_t number = 0;
        s->at += i == f->line_position && (sign == '+' || sign == '-' || sign == '*');
        if (i == f->line_position && sign != '*' && !text_take_u64(s, &number))
            return false;
        if (i == f->line_position && sign != '*')
            f->line = sign == '+'   ? add_saturating(f->line, number)
                      : sign != '-' ? number
                                    : f->line - (number < f->line ? number : f->line);
        while (s->at < s->end && *s->at != ' ' && *s->at != '\t')
            s->at++;
    }
    return true;
}

/* The address of the current line in the current function. */
static uint64_t callgrind_line_of(struct callgrind_file *f, struct callgrind_place p)
{
    bool has_line = f->line_position < f->positions && f->line <= UINT32_MAX;
    return named_run_line(&f->n, p.object, p.function, f->file.text.at,
                          callgrind_file_len(f->file.text), has_line ? (uint32_t)f->line : 0);
}

/* "16 400 20" of the function that is current. Events that a line leaves out at its end are 0;
 * those of 0 make no sample. */
static bool callgrind_own_costs(struct callgrind_file *f, struct text_span costs)
{
    struct callgrind_place p = callgrind_place(f, f->own_object.text, &f->own_function);
    uint32_t node = named_run_node(&f->n, named_run_cut(&f->n, RECORDING_CUT_NO_STACK), p.object,
                                   callgrind_line_of(f, p));
    for (uint32_t i = 0; i < f->events_len; i++) {
        uint64_t cost;
        costs = text_trimmed(costs);
        if (costs.at == costs.end)
            break;
        if (!text_take_u64(&costs, &cost) ||
            (cost && !named_run_sample(&f->n, 0, f->events[i], node, cost, 0)))
            return false;
    }
    costs = text_trimmed(costs);
    return costs.at == costs.end;
}

static bool callgrind_costs(struct callgrind_file *f, struct text_span line)
{
    if (!f->has_own || !f->events_len || !callgrind_take_positions(f, &line))
        return false;
    if (!f->is_call)
        return callgrind_own_costs(f, line);
    /* Our own export has costs from unknown callers as calls of this name, which nothing counted.
     */
    if (text_len(f->own_function.text) == strlen(OUTSIDE) &&
        text_begins(f->own_function.text, OUTSIDE)) {
        f->is_call = f->has_called_object = f->has_called_file = false;
        return true;
    }
    /* A call from the current function to the one that cfn named, in cob's object or the current
     * one. What it cost is known with all below it, which a run has no place for. */
    struct callgrind_place from = callgrind_place(f, f->own_object.text, &f->own_function);
    struct text_span object = f->has_called_object ? f->called_object.text : f->own_object.text;
    struct callgrind_place to = callgrind_place(f, object, &f->called_function);
    named_run_calls(&f->n, from.object, callgrind_line_of(f, from), to.object, to.function,
                    f->calls);
    named_run_lose(&f->n, LOST_INCLUSIVE, 1);
    f->is_call = f->has_called_object = f->has_called_file = false;
    return true;
}

/* --- all lines ------------------------------------------------------------------------------- */

/* The name of a function; what our own export adds to that of inlined code is no part of it. */
static bool callgrind_function(struct callgrind_file *f, struct text_span value,
                               struct text_span file, struct callgrind_text *out)
{
    static const char INLINED[] = " [inlined]";
    size_t end = sizeof INLINED - 1;
    bool ok = callgrind_name(f, SPACE_FUNCTIONS, value, file, out);
    if (text_len(out->text) > end && !memcmp(out->text.end - end, INLINED, end))
        out->text.end -= end;
    return ok;
}

/* "ob=...": *is_key says whether the line is of this kind. A function's file is named before it
 * (fl), once for all that follow, and another where code of it is inlined (fi, fe); what is called
 * is in the current one, unless another is named (cfi, cfl). */
static bool callgrind_key(struct callgrind_file *f, struct text_span line, bool *is_key)
{
    const char *equal = memchr(line.at, '=', text_len(line));
    struct text_span key = {line.at, equal ? equal : line.at}, none = {line.at, line.at};
    struct text_span value = {equal ? equal + 1 : line.end, line.end};
    *is_key = true;
    if (text_len(key) == 2 && text_begins(key, "ob"))
        return callgrind_name(f, SPACE_OBJECTS, value, none, &f->own_object);
    if (text_len(key) == 3 && text_begins(key, "cob"))
        return f->has_called_object =
                   callgrind_name(f, SPACE_OBJECTS, value, none, &f->called_object);
    if (text_len(key) == 2 && text_begins(key, "fn")) {
        f->file = f->function_file;
        return f->has_own = callgrind_function(f, value, f->file.text, &f->own_function);
    }
    if (text_len(key) == 3 && text_begins(key, "cfn"))
        return callgrind_function(f, value, f->has_called_file ? f->called_file.text : f->file.text,
                                  &f->called_function);
    if (text_len(key) == 2 && text_begins(key, "fl")) {
        bool ok = callgrind_name(f, SPACE_FILES, value, none, &f->function_file);
        f->file = f->function_file;
        return ok;
    }
    if (text_len(key) == 2 && (text_begins(key, "fi") || text_begins(key, "fe")))
        return callgrind_name(f, SPACE_FILES, value, none, &f->file);
    if (text_len(key) == 3 && (text_begins(key, "cfi") || text_begins(key, "cfl")))
        return f->has_called_file = callgrind_name(f, SPACE_FILES, value, none, &f->called_file);
    if (text_len(key) == 5 && text_begins(key, "calls"))
        return f->is_call = text_take_u64(&value, &f->calls);
    if (text_begins(key, "jump") || text_begins(key, "jcnd")) {
        named_run_lose(&f->n, LOST_JUMPS, 1);
        return true;
    }
    *is_key = equal && (text_len(key) == 2 || text_len(key) == 3);
    return true;
}

/* Head, key, or costs: each is asked in turn whether the line is its own. */
static bool callgrind_line(struct callgrind_file *f, struct text_lines *lines,
                           struct text_span line, struct err *e)
{
    bool is_it;
    line = text_trimmed(line);
    if (line.at == line.end || *line.at == '#')
        return true;
    if (!callgrind_head(f, line, &is_it))
        return callgrind_bad(f, lines, "events or positions that make no sense", e);
    if (is_it)
        return true;
    if (!callgrind_key(f, line, &is_it))
        return callgrind_bad(f, lines, "an undefined or invalid number of a name", e);
    if (is_it)
        return true;
    return callgrind_costs(f, line) || callgrind_bad(f, lines, "is not a line of costs", e);
}

/* By the comment that new versions write, or by `events:` in a head of nothing but keywords and
 * comments. */
bool callgrind_probe(struct bytes first)
{
    struct text_lines lines = text_lines_over(first);
    struct text_span line;
    if (!text_is_text(first))
        return false;
    while (text_lines_take(&lines, &line) && lines.number < 50) {
        if (text_begins(line, "# callgrind format") || text_begins(line, "events:"))
            return true;
        bool is_head =
            line.at == line.end || *line.at == '#' || memchr(line.at, ':', text_len(line));
        if (!is_head)
            return false;
    }
    return false;
}

bool callgrind_read(struct bytes in, const char *name, struct recording *out, struct err *e)
{
    struct callgrind_file f = {.name = name, .positions = 1};
    struct text_lines lines = text_lines_over(in);
    struct text_span line;
    struct err why = {0};
    bool ok = text_is_text(in) || err_in(e, name, NO_TEXT);
    named_run_begin(&f.n, out, true);
    f.own_object.text = f.own_object.file = (struct text_span){UNKNOWN, UNKNOWN + strlen(UNKNOWN)};
    f.own_function = f.called_function = f.called_object = f.own_object;
    f.function_file = f.file = f.called_file = f.own_object;
    named_run_thread(&f.n, 0, 0, "", 0);
    while (ok && text_lines_take(&lines, &line))
        ok = callgrind_line(&f, &lines, line, e);
    named_run_finish(&f.n);
    for (int i = 0; i < SPACES; i++)
        map_deinit(&f.texts[i]);
    vec_free(&f.all);
    return ok && (recording_check(out, &why) || err_in(e, name, "%s", why.line));
}
