/* A list of sentences. */
#include "coverage/analysis/problems.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void add(struct problems *p, enum problem_kind kind, const char *text)
{
    char *copy = arena_copy(&p->arena, text, strlen(text));
    for (char *c = copy; *c; c++)
        if ((unsigned char)*c < ' ' || *c == 127)
            *c = '?'; /* names of files may hold anything; a problem is one line */
    vec_push(&p->at, (struct problem){kind, copy});
    p->of_kind[kind]++;
}

void problem_add(struct problems *p, enum problem_kind kind, const char *format, ...)
{
    char *text = NULL;
    va_list arguments;
    va_start(arguments, format);
    if (vasprintf(&text, format, arguments) < 0)
        memory_exhausted(strlen(format));
    va_end(arguments);
    add(p, kind, text);
    free(text);
}

void problems_merge(struct problems *p, const struct problems *other)
{
    for (size_t i = 0; i < other->at.len; i++)
        add(p, other->at.at[i].kind, other->at.at[i].text);
}

static int compare(const void *left, const void *right)
{
    const struct problem *a = left, *b = right;
    return a->kind != b->kind ? (int)a->kind - (int)b->kind : strcmp(a->text, b->text);
}

void problems_sort(struct problems *p)
{
    if (p->at.len)
        qsort(p->at.at, p->at.len, sizeof *p->at.at, compare);
}

void problems_deinit(struct problems *p)
{
    vec_free(&p->at);
    arena_deinit(&p->arena);
}
