/* Which part of a command line is not recorded, as it is probably a secret: the one rule of
 * `monarc run` (src/record/arguments.c, which says why) and of the recorder inside a program
 * (runtime/profile/notes.c), which has no libc to ask. Not installed. */
#ifndef MONARC_ARGUMENTS_H
#define MONARC_ARGUMENTS_H

#include <stdbool.h>
#include <stddef.h>

#define MONARC_HIDDEN "***"

/* Of a command line as /proc has it, each argument with its NUL: its length without empty arguments
 * at the end. A program that writes a title over its arguments, as redis-server does
 * (setproctitle), leaves the rest of them empty. One that is all empty has one. */
static inline size_t monarc_arguments_length(const char *line, size_t len)
{
    while (len > 1 && !line[len - 1] && !line[len - 2])
        len--;
    return len;
}

/* A part of an argument, from its start. */
struct monarc_secret {
    size_t from, len;
    bool is_one; /* false: there is none */
};

static inline char monarc_secret_lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

/* Whether one of the words is in a name, in either case. */
static inline bool monarc_tells_secret(const char *name, size_t len)
{
    static const char WORDS[][16] = {"password", "passwd",      "passphrase", "secret",
                                     "token",    "credential",  "apikey",     "api-key",
                                     "api_key",  "private-key", "private_key"};
    for (size_t i = 0; i < sizeof WORDS / sizeof *WORDS; i++)
        for (size_t at = 0; at < len; at++) {
            size_t k = 0;
            while (WORDS[i][k] && at + k < len && monarc_secret_lower(name[at + k]) == WORDS[i][k])
                k++;
            if (!WORDS[i][k])
                return true;
        }
    return false;
}

/* Where a character is from there on, or `end`. */
static inline size_t monarc_secret_find(const char *text, size_t from, size_t end, char wanted)
{
    while (from < end && text[from] != wanted)
        from++;
    return from;
}

/* Of the first `len` characters of an argument, without regard to spaces in them. */
static inline struct monarc_secret monarc_secret_within(const char *argument, size_t len,
                                                        const char *before, size_t before_len)
{
    size_t value = monarc_secret_find(argument, 0, len, '=');
    if (value < len && monarc_tells_secret(argument, value)) /* NAME=VALUE */
        return (struct monarc_secret){value + 1, len - value - 1, true};
    if (before_len && before[0] == '-' && (!len || argument[0] != '-') && /* --NAME VALUE */
        monarc_secret_find(before, 0, before_len, '=') == before_len &&
        monarc_tells_secret(before, before_len))
        return (struct monarc_secret){0, len, true};
    size_t user = 0; /* scheme://user:VALUE@host */
    while (user + 2 < len &&
           !(argument[user] == ':' && argument[user + 1] == '/' && argument[user + 2] == '/'))
        user++;
    if (user + 2 >= len)
        return (struct monarc_secret){0, 0, false};
    user += 3;
    size_t host = 0, password = 0;
    for (size_t i = user; i < len && argument[i] != '/' && argument[i] != '?' && argument[i] != '#';
         i++) {
        if (argument[i] == ':' && !password)
            password = i + 1;
        if (argument[i] == '@')
            host = i;
    }
    if (!password || password > host)
        return (struct monarc_secret){0, 0, false};
    return (struct monarc_secret){password, host - password, true};
}

static inline bool monarc_secret_parts(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\'' || c == '"' || c == ';';
}

/* The part of an argument that is written as MONARC_HIDDEN. `before`: the argument in front of it,
 * or NULL. Of an argument that is a command line itself, as `sh -c` takes it, that is all from the
 * first secret on. */
static inline struct monarc_secret monarc_secret_of(const char *argument, const char *before)
{
    size_t len = 0, before_len = 0, start = 0, last = 0, last_len = 0;
    while (argument[len])
        len++;
    while (before && before[before_len])
        before_len++;
    for (size_t at = 0; at <= len; at++) {
        if (at < len && !monarc_secret_parts(argument[at]))
            continue;
        if (at == len && !start)
            break; /* one word */
        struct monarc_secret s =
            monarc_secret_within(argument + start, at - start, argument + last, last_len);
        if (s.is_one && at > start)
            return (struct monarc_secret){start + s.from, len - start - s.from, true};
        if (at > start)
            last = start, last_len = at - start;
        start = at + 1;
    }
    return monarc_secret_within(argument, len, before, before_len);
}

#endif
