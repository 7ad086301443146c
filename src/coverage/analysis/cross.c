/* The counts of two compilers for one source, and laws that counts obey.
 *
 * A coverage tool has no oracle, but two of them must agree; and where they do not, some counts
 * cannot be right by themselves (Yang et al., "Hunting for bugs in code coverage tools via
 * randomized differential testing", ICSE 2019):
 *
 *     x = 1;                  these follow each other in a block, and nothing between them
 *     y = 2;                  can be jumped to: equal counts
 *     f();                    may not return: what follows runs at most as often
 *     if (y)
 *     return y;  z = 3;       after a jump, nothing runs before the next label
 *
 * Which statements these are is read from the text, line by line, and only where that is safe: a
 * statement that is whole on its line, without braces or a label, after a line that ends one. So
 * what is not formatted that way is compared, but judged by no law. Linear. */
#include "coverage/analysis/cross.h"

#include "source/source.h"

#include <ctype.h>
#include <string.h>

/* --- the text --------------------------------------------------------------------------------- */

enum statement {
    OTHER,   /* cannot be judged */
    NOTHING, /* blank, or a comment */
    SIMPLE,  /* whole, without a call */
    CALLING, /* whole, with a call */
    JUMP,    /* return, break, continue, goto */
    CONTROL  /* if, switch: its condition is evaluated once when it is reached */
};

static bool begins_with(const char *at, const char *word)
{
    size_t len = strlen(word);
    return !strncmp(at, word, len) && !isalnum((unsigned char)at[len]) && at[len] != '_';
}

/* Whether the text calls something: a name before a parenthesis that is no keyword. */
static bool has_call(const char *at)
{
    for (const char *paren = strchr(at, '('); paren; paren = strchr(paren + 1, '(')) {
        const char *end = paren;
        while (end > at && end[-1] == ' ')
            end--;
        const char *name = end;
        while (name > at && (isalnum((unsigned char)name[-1]) || name[-1] == '_'))
            name--;
        if (name < end && !isdigit((unsigned char)*name) && !begins_with(name, "sizeof") &&
            !begins_with(name, "return"))
            return true;
    }
    return false;
}

enum { MOST_TEXT = 1 << 14 }; /* longer lines are not judged */

/* A line without comments that are whole on it and blanks around it; false: a comment goes on, or
 * the line is too long. */
static bool bare_text(struct bytes line, char text[MOST_TEXT])
{
    size_t len = 0;
    if (line.len >= MOST_TEXT)
        return false;
    for (size_t i = 0; i < line.len; i++) {
        const char *at = (const char *)line.at + i;
        bool is_slash = i + 1 < line.len && at[0] == '/';
        if (is_slash && at[1] == '/')
            break;
        if (is_slash && at[1] == '*') {
            const char *end = memmem(at + 2, line.len - i - 2, "*/", 2);
            if (!end)
                return false;
            i = (size_t)(end + 1 - (const char *)line.at);
        } else if (len || !isspace((unsigned char)*at)) {
            text[len++] = *at;
        }
    }
    while (len && isspace((unsigned char)text[len - 1]))
        len--;
    text[len] = '\0';
    return true;
}

/* The statement on a line. */
static enum statement statement_of(struct bytes line)
{
    char text[MOST_TEXT];
    if (!bare_text(line, text))
        return OTHER;
    size_t len = strlen(text), depth = 0;
    if (!len)
        return NOTHING;
    if (strpbrk(text, "{}\"'#\\") || begins_with(text, "case") || begins_with(text, "default") ||
        begins_with(text, "else") || begins_with(text, "for") || begins_with(text, "while") ||
        begins_with(text, "do"))
        return OTHER;
    if (begins_with(text, "if") || begins_with(text, "switch"))
        return CONTROL;
    for (size_t i = 0; i < len; i++) {
        depth += text[i] == '(';
        depth -= text[i] == ')' && depth;
        if ((text[i] == ';' && i + 1 < len) || (text[i] == ':' && !strchr(text, '?')))
            return OTHER;
    }
    if (text[len - 1] != ';' || depth)
        return OTHER;
    if (begins_with(text, "return") || begins_with(text, "break") ||
        begins_with(text, "continue") || begins_with(text, "goto"))
        return JUMP;
    return has_call(text) ? CALLING : SIMPLE;
}

/* Whether the line before ends a statement, so that the next one is no part of an `if`. */
static bool ends_statement(struct bytes line)
{
    char text[MOST_TEXT];
    bool is_whole = bare_text(line, text);
    return is_whole && *text && strchr(";{}", text[strlen(text) - 1]);
}

/* --- laws ------------------------------------------------------------------------------------- */

/* A side's line, or NULL. Lines ascend. */
static const struct result_line *line_of(const struct coverage_result *r,
                                         const struct result_source *s, uint32_t number)
{
    uint32_t at = result_line_from(r, s, number);
    bool is_there = at < s->first_line + s->lines && r->lines.at[at].line == number;
    return is_there && r->lines.at[at].state != RESULT_UNKNOWN ? &r->lines.at[at] : NULL;
}

/* The previous or next line of text that is not blank; 0: none. */
static uint32_t neighbour(const struct source_text *t, uint32_t number, int step)
{
    for (uint32_t n = number + (uint32_t)step; n && source_line(t, n).at; n += (uint32_t)step)
        if (statement_of(source_line(t, n)) != NOTHING)
            return n;
    return 0;
}

/* The law of two lines that follow each other in the text. */
static enum cross_law law_of(const struct source_text *t, uint32_t first, uint32_t second)
{
    enum statement a = statement_of(source_line(t, first));
    enum statement b = statement_of(source_line(t, second));
    uint32_t before = neighbour(t, first, -1);
    if (!before || !ends_statement(source_line(t, before)) || b == OTHER || b == NOTHING)
        return CROSS_NONE;
    return a == SIMPLE    ? CROSS_BLOCK
           : a == CALLING ? CROSS_CALL
           : a == JUMP    ? CROSS_JUMP
                          : CROSS_NONE;
}

/* Whether a side breaks the law of two neighbours. */
static bool is_broken(const struct coverage_result *r, const struct result_source *s,
                      const struct source_text *t, uint32_t first, uint32_t second,
                      struct cross_breach *out)
{
    const struct result_line *a = line_of(r, s, first), *b = line_of(r, s, second);
    enum cross_law law = first && second && a && b ? law_of(t, first, second) : CROSS_NONE;
    bool holds = law == CROSS_NONE || (law == CROSS_BLOCK && a->count == b->count) ||
                 (law == CROSS_CALL && a->count >= b->count) || (law == CROSS_JUMP && !b->count);
    if (!holds)
        *out = (struct cross_breach){law, first, second, a->count, b->count};
    return !holds;
}

/* A line is judged with the one before and the one after it. */
static void judge(const struct coverage_result *const r[2], const struct result_source *const s[2],
                  const struct source_text *t, struct cross_line *line)
{
    uint32_t before = neighbour(t, line->line, -1), behind = neighbour(t, line->line, 1);
    for (int side = 0; side < 2; side++)
        if (!is_broken(r[side], s[side], t, before, line->line, &line->breach[side]))
            (void)is_broken(r[side], s[side], t, line->line, behind, &line->breach[side]);
}

/* --- all -------------------------------------------------------------------------------------- */

static void compare_source(const struct coverage_result *const r[2],
                           const struct result_source *const s[2], uint32_t number,
                           struct cross *out)
{
    struct source_text text = {0};
    struct err why = {0};
    bool has_text = s[0]->file && source_text_read(&text, s[0]->file, &why);
    out->sources++;
    out->unread += !has_text;
    if (!has_text && !out->trouble.system)
        out->trouble = why;
    if (has_text)
        source_text_index(&text);
    for (uint32_t i = 0; i < s[0]->lines; i++) {
        const struct result_line *a = &r[0]->lines.at[s[0]->first_line + i];
        const struct result_line *b = line_of(r[1], s[1], a->line);
        if (a->state == RESULT_UNKNOWN)
            continue;
        out->alone[0] += !b;
        out->compared += b != NULL;
        if (!b || a->count == b->count)
            continue;
        struct cross_line line = {number, a->line, {a->count, b->count}, {{0}}};
        if (has_text)
            judge(r, s, &text, &line);
        vec_push(&out->lines, line);
    }
    for (uint32_t i = 0; i < s[1]->lines; i++)
        out->alone[1] += !line_of(r[0], s[0], r[1]->lines.at[s[1]->first_line + i].line);
    source_text_deinit(&text);
}

/* Sources are in the order of their names in both. */
void cross_make(const struct coverage_result *a, const struct coverage_result *b, struct cross *out)
{
    const struct coverage_result *const r[2] = {a, b};
    struct intern names = {0};
    VEC(uint32_t) of = {0};
    for (uint32_t i = 0; i < b->sources.len; i++) {
        const char *path = b->sources.at[i].whole;
        if (intern(&names, path, strlen(path)) == of.len)
            vec_push(&of, i);
    }
    for (uint32_t i = 0; i < a->sources.len; i++) {
        const char *path = a->sources.at[i].whole;
        uint32_t number = intern(&names, path, strlen(path));
        if (number >= of.len)
            continue;
        const struct result_source *const s[2] = {&a->sources.at[i], &b->sources.at[of.at[number]]};
        compare_source(r, s, i, out);
    }
    intern_deinit(&names);
    vec_free(&of);
}

void cross_deinit(struct cross *c)
{
    vec_free(&c->lines);
}
