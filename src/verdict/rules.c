/* Rules: what a build must fulfil, parsed from options and files.
 *
 *     max-calls-growth  /^parse_/=5%+100calls    # a limit is a sum of terms with units
 *     max-time-growth   10%+1%cpu
 *
 * Functions are named as everywhere (profile/analysis/names.h), and an expression is compiled when
 * the rule is added: a rule with a mistake never becomes part of the list. Of the rules of one kind
 * the last one whose name fits counts, so that exceptions follow what they are exceptions from; a
 * search goes backwards through the few there are. Units that a kind of rule does not know are
 * refused by name.
 *
 *     limit   term { + term }       term   number unit       5%+100calls: 5 % of the old, and 100
 *     file    { NAME VALUE | # comment | empty line }
 *
 * What a rule allows is old * limit / 100 + absolute + whole * of_whole / 100. Numbers are decimal
 * and finite; what is negative is refused. */
#include "verdict/verdict.h"

#include "base/path.h"
#include "profile/analysis/compare/significance.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const rule_names[RULE_KINDS] = {
    [RULE_CPU] = "max-cpu-growth",       [RULE_ELAPSED] = "max-elapsed-growth",
    [RULE_MEMORY] = "max-memory-growth", [RULE_TIME] = "max-time-growth",
    [RULE_CALLS] = "max-calls-growth",   [RULE_SELF] = "max-share-growth",
    [RULE_TOTAL] = "max-total-growth",   [RULE_COVERAGE] = "max-coverage-fall"};

/* Settings that hold where nothing else is said. */
void rules_init(struct rules *r)
{
    *r = (struct rules){
        .confidence = CHANGE_CONFIDENCE, .noise = NOISE_OF_RUNS, .least_samples = 100};
}

void rules_deinit(struct rules *r)
{
    for (size_t i = 0; i < r->all.len; i++)
        if (r->all.at[i].pattern.text)
            name_pattern_deinit(&r->all.at[i].pattern);
    vec_free(&r->all);
    arena_deinit(&r->arena);
}

static bool refuse_number(const char *name, const char *value, struct err *e)
{
    return err_set(e, "'%s' takes a number of at least 0, not '%s'", name, value);
}

/* Not negative, finite, and nothing after it. */
static bool parse_number(const char *name, const char *value, double *out, struct err *e)
{
    char *end;
    double number = strtod(value, &end);
    if (end == value || *end || !isfinite(number) || number < 0)
        return refuse_number(name, value, e);
    *out = number;
    return true;
}

/* What a term of a limit is worth in the rule's unit. A term goes to one of three parts of a rule:
 * relative to the old amount, to that of the whole, or absolute. */
struct limit_unit {
    const char *name;
    unsigned kinds; /* rules that know it, as bits */
    double factor;
    bool is_relative, is_of_whole;
};

#define KIND(k) (1u << (k))
#define TIMES   (KIND(RULE_CPU) | KIND(RULE_ELAPSED) | KIND(RULE_TIME))

/* Which kinds of rules know which unit: a rule on calls in megabytes is a mistake, and is named as
 * one. */
static const struct limit_unit UNITS[] = {
    {"", ~0u, 1, true, false},
    {"%", ~0u, 1, true, false},
    {"%cpu", KIND(RULE_TIME), 1, false, true},
    {"s", TIMES, 1, false, false},
    {"ms", TIMES, 1e-3, false, false},
    {"us", TIMES, 1e-6, false, false},
    {"B", KIND(RULE_MEMORY), 1, false, false},
    {"kB", KIND(RULE_MEMORY), 1e3, false, false},
    {"MB", KIND(RULE_MEMORY), 1e6, false, false},
    {"GB", KIND(RULE_MEMORY), 1e9, false, false},
    {"calls", KIND(RULE_CALLS), 1, false, false},
};

/* An empty unit is percent, as of old. */
static const struct limit_unit *find_unit(enum rule_kind kind, const char *name, size_t len)
{
    for (size_t i = 0; i < sizeof UNITS / sizeof *UNITS; i++)
        if (UNITS[i].kinds & KIND(kind) && strlen(UNITS[i].name) == len &&
            !memcmp(UNITS[i].name, name, len))
            return &UNITS[i];
    return NULL;
}

/* NUMBER UNIT, then + and more of them; each term goes to what it is a part of. Terms of one part
 * add up. */
static bool parse_limit(struct rule *rule, const char *value, struct err *e)
{
    for (const char *at = value;; at++) {
        char *end;
        double number = strtod(at, &end);
        size_t len = strcspn(end, "+");
        const struct limit_unit *unit = find_unit(rule->kind, end, len);
        if (end == at || !isfinite(number) || number < 0)
            return refuse_number(rule_names[rule->kind], value, e);
        if (!unit)
            return err_set(e, "'%s' does not take '%.*s' as a unit", rule_names[rule->kind],
                           (int)len, end);
        *(unit->is_relative   ? &rule->limit
          : unit->is_of_whole ? &rule->of_whole
                              : &rule->absolute) += number * unit->factor;
        at = end + len;
        if (!*at)
            return true;
    }
}

/* The last `=` divides: a name may have some, a limit has none. */
bool rules_add(struct rules *r, enum rule_kind kind, const char *value, struct err *e)
{
    const char *equals = strrchr(value, '=');
    struct rule rule = {.kind = kind};
    rule.text = arena_printf(&r->arena, "%s", equals ? equals + 1 : value);
    if (!parse_limit(&rule, rule.text, e))
        return false;
    const char *name = equals ? arena_copy(&r->arena, value, (size_t)(equals - value)) : NULL;
    /* An expression without its slashes would be a name that nothing has, and a gate that never
     * fails: what no name has makes one. */
    size_t len = name ? strlen(name) : 0;
    if (len && name[0] != '/' && !strstr(name, "operator") &&
        (name[0] == '^' || name[len - 1] == '$' || strpbrk(name, "|\\") || strstr(name, ".*") ||
         strstr(name, ".+")))
        name = arena_printf(&r->arena, "/%s/", name);
    if (name && !name_pattern_read(&rule.pattern, name, e))
        return false;
    r->is_asked[kind] = true;
    vec_push(&r->all, rule);
    return true;
}

/* Settings and rules have one way in, so that a file can say all that options can. */
bool rules_set(struct rules *r, const char *name, const char *value, struct err *e)
{
    if (!strcmp(name, "min-samples"))
        return parse_number(name, value, &r->least_samples, e);
    if (!strcmp(name, "noise")) {
        if (!parse_number(name, value, &r->noise, e))
            return false;
        r->noise /= 100;
        return true;
    }
    if (!strcmp(name, "confidence")) {
        double percent = 0;
        if (!parse_number(name, value, &percent, e))
            return false;
        r->confidence = percent / 100;
        return percent < 100 || err_set(e, "'confidence' needs less than 100, not '%s'", value);
    }
    for (int kind = 0; kind < RULE_KINDS; kind++)
        if (!strcmp(name, rule_names[kind]))
            return rules_add(r, (enum rule_kind)kind, value, e);
    return err_set(e, "unknown rule '%s'", name);
}

/* NAME VALUE of a line that may be written over; blanks around both go. */
static bool read_line(struct rules *r, char *line, struct err *e)
{
    static const char SPACES[] = " \t\r";
    char *name = line + strspn(line, SPACES);
    if (!*name || *name == '#')
        return true;
    char *value = name + strcspn(name, SPACES);
    if (*value)
        *value++ = '\0';
    value += strspn(value, SPACES);
    for (char *end = value + strlen(value); end > value && strchr(SPACES, end[-1]);)
        *--end = '\0';
    return *value ? rules_set(r, name, value, e) : err_set(e, "'%s' needs a value", name);
}

/* The first line with a mistake ends the reading and is named by its number. Rules of the lines
 * before it stay. */
bool rules_read(struct rules *r, struct bytes text, const char *file, struct err *e)
{
    size_t number = 0;
    for (size_t at = 0, end; at < text.len; at = end + 1) {
        const uint8_t *newline = memchr(text.at + at, '\n', text.len - at);
        end = newline ? (size_t)(newline - text.at) : text.len;
        char *line = arena_copy(&r->arena, (const char *)text.at + at, end - at);
        struct err why = {0};
        number++;
        if (!read_line(r, line, &why))
            return err_in(e, file, "line %zu: %s", number, why.line);
    }
    return true;
}

/* No rule was given: limits that a change of noise does not reach. */
void rules_default(struct rules *r)
{
    static const struct rule DEFAULTS[] = {
        {.kind = RULE_CPU, .limit = 2, .text = "2%"},
        {.kind = RULE_ELAPSED, .limit = 5, .text = "5%"},
        {.kind = RULE_MEMORY, .limit = 10, .absolute = 1e6, .text = "10%+1MB"},
        {.kind = RULE_TIME, .limit = 10, .of_whole = 1, .text = "10%+1%cpu"},
        {.kind = RULE_CALLS, .limit = 2, .text = "2"},
        {.kind = RULE_COVERAGE, .text = "0"}};
    if (r->all.len)
        return;
    for (size_t i = 0; i < sizeof DEFAULTS / sizeof *DEFAULTS; i++)
        vec_push(&r->all, DEFAULTS[i]);
}

/* From the last one backwards: exceptions follow what they are exceptions from. What has no linkage
 * name is a source, which is named by the end of its path. */
const struct rule *rules_find(const struct rules *r, enum rule_kind kind, const char *name,
                              const char *linkage)
{
    for (size_t i = r->all.len; i-- > 0;) {
        const struct rule *rule = &r->all.at[i];
        const struct name_pattern *p = &rule->pattern;
        if (rule->kind == kind &&
            (!p->text ||
             (linkage || p->is_expression ? name_pattern_matches(p, name, linkage ? linkage : name)
                                          : path_ends_in(name, p->text))))
            return rule;
    }
    return NULL;
}
