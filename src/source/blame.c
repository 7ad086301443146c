/* Line by line, in the order of the file:
 *
 *     <commit> <line then> <line now> [<lines that follow>]
 *     author Somebody         only where the commit is met for the first time, as are
 *     author-time 1668500000  all lines with a word in front
 *     <TAB>the text
 *
 * Texts are read in place; names of commits and authors are interned, as most lines share them.
 * Linear in the bytes. Refused, with the line: whatever does not have this form, and lines that are
 * not numbered from 1 on without a gap.
 */
#include "source/blame.h"

#include <inttypes.h>
#include <string.h>

/* A line, or what is left of it. */
struct blame_text {
    const char *at, *end;
};

/* The next line without its newline; false at the end of the text. */
static bool blame_next(struct bytes *in, struct blame_text *line)
{
    if (!in->len)
        return false;
    const uint8_t *newline = memchr(in->at, '\n', in->len);
    size_t len = newline ? (size_t)(newline - in->at) : in->len;
    *line = (struct blame_text){(const char *)in->at, (const char *)in->at + len};
    len += newline != NULL;
    *in = (struct bytes){in->at + len, in->len - len};
    return true;
}

/* Decimal digits from the front; false: there are none, or too many. */
static bool blame_number(struct blame_text *t, int64_t *number)
{
    const char *first = t->at;
    *number = 0;
    for (; t->at < t->end && *t->at >= '0' && *t->at <= '9'; t->at++) {
        if (*number > INT64_MAX / 10 - 1)
            return false;
        *number = *number * 10 + (*t->at - '0');
    }
    return t->at > first;
}

/* Takes a word from the front, if it is there. */
static bool blame_skip(struct blame_text *t, const char *word)
{
    size_t len = strlen(word);
    if ((size_t)(t->end - t->at) < len || memcmp(t->at, word, len))
        return false;
    t->at += len;
    return true;
}

/* The commit of the line that must come next. */
static bool blame_head(struct blame *b, struct blame_text t, uint32_t *commit)
{
    const char *first = t.at;
    int64_t then, now;
    while (t.at < t.end && *t.at != ' ')
        t.at++;
    const char *last = t.at;
    if (last == first || !blame_skip(&t, " ") || !blame_number(&t, &then) || !blame_skip(&t, " ") ||
        !blame_number(&t, &now) || (uint64_t)now != b->lines.len + 1)
        return false;
    *commit = intern(&b->names, first, (size_t)(last - first));
    if (*commit == b->commits.len)
        vec_push(&b->commits, (struct blame_commit){INTERN_NONE, 0});
    return true;
}

/* What else is said of a commit is passed over. */
static void blame_about(struct blame *b, struct blame_commit *commit, struct blame_text t)
{
    int64_t time;
    if (blame_skip(&t, "author "))
        commit->author = intern(&b->authors, t.at, (size_t)(t.end - t.at));
    else if (blame_skip(&t, "author-time ") && blame_number(&t, &time))
        commit->time = time;
}

bool blame_read(struct bytes in, const char *name, struct blame *out, struct err *e)
{
    struct blame_text t;
    uint32_t commit;
    while (blame_next(&in, &t)) {
        bool has_text = blame_head(out, t, &commit);
        while (has_text && (has_text = blame_next(&in, &t)) && (t.at == t.end || *t.at != '\t'))
            blame_about(out, &out->commits.at[commit], t);
        if (!has_text)
            return err_in(e, name, "line %zu: 'git blame --porcelain' does not print that",
                          out->lines.len + 1);
        vec_push(&out->lines, commit);
    }
    return true;
}

void blame_deinit(struct blame *b)
{
    intern_deinit(&b->authors);
    intern_deinit(&b->names);
    vec_free(&b->commits);
    vec_free(&b->lines);
}
