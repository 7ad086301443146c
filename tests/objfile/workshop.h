/* A temporary directory in which a test makes programs with the compilers of the system. */
#ifndef MONARC_TESTS_WORKSHOP_H
#define MONARC_TESTS_WORKSHOP_H

#include "cases.h"
#include "objfile/object.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

/* Group set-up: the test's current directory is the workshop from here on. */
static inline int workshop_open(void **state)
{
    static char dir[] = "/tmp/monarc-objfile.XXXXXX";
    *state = dir;
    return setenv("LC_ALL", "C", 1) || !mkdtemp(dir) || chdir(dir);
}

static inline int workshop_close(void **state)
{
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", (const char *)*state);
    return chdir("/") || system(command);
}

static inline bool PRINTF_LIKE(1, 2) run(const char *format, ...)
{
    char command[4096], whole[4200];
    va_list args;
    va_start(args, format);
    vsnprintf(command, sizeof command, format, args);
    va_end(args);
    snprintf(whole, sizeof whole, "{ %s; } >log 2>&1", command);
    return system(whole) == 0;
}

static inline bool have(const char *tool)
{
    return run("command -v %s", tool);
}

/* Skips the test, saying why, where a tool is missing. */
static inline void need(const char *tool)
{
    if (have(tool))
        return;
    SKIPPED("%s is not installed", tool);
}

/* What a command prints; free it. */
static inline char *PRINTF_LIKE(1, 2) output_of(const char *format, ...)
{
    char command[4096];
    va_list args;
    va_start(args, format);
    vsnprintf(command, sizeof command, format, args);
    va_end(args);
    FILE *from = popen(command, "r");
    assert_non_null(from);
    size_t len = 0, cap = 1 << 16;
    char *text = malloc(cap);
    assert_non_null(text);
    for (size_t n; (n = fread(text + len, 1, cap - len - 1, from)) > 0;) {
        len += n;
        if (cap - len < 2)
            text = realloc(text, cap *= 2);
        assert_non_null(text);
    }
    text[len] = '\0';
    pclose(from);
    return text;
}

static inline void write_text(const char *path, const char *text)
{
    FILE *to = fopen(path, "w");
    assert_non_null(to);
    assert_true(fputs(text, to) >= 0);
    assert_int_equal(fclose(to), 0);
}

static inline struct object *opened(const char *path, const struct object_options *options)
{
    struct err e = {0};
    struct object *o = object_open(path, options, NULL, &e);
    if (!o)
        print_error("%s\n", e.line);
    assert_non_null(o);
    return o;
}

/* The first symbol of that name, or NULL. */
static inline const struct object_symbol *symbol_named(struct object *o, const char *name)
{
    size_t len;
    const struct object_symbol *symbols = object_symbols(o, &len, NULL);
    for (size_t i = 0; i < len; i++)
        if (!strcmp(symbols[i].name, name))
            return &symbols[i];
    return NULL;
}

#endif
