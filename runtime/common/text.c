/* Bytes and strings without libc. See text.h. */
#include "text.h"

void bytes_copy(void *to, const void *from, size_t n)
{
    char *t = to;
    const char *f = from;
    for (size_t i = 0; i < n; i++)
        t[i] = f[i];
}

void bytes_zero(void *to, size_t n)
{
    volatile char *t = to;
    for (size_t i = 0; i < n; i++)
        t[i] = 0;
}

size_t text_length(const char *s)
{
    size_t n = 0;
    while (s[n])
        n++;
    return n;
}

bool text_equal(const char *a, const char *b)
{
    while (*a && *a == *b)
        a++, b++;
    return *a == *b;
}

bool text_starts(const char *s, const char *prefix)
{
    while (*prefix)
        if (*s++ != *prefix++)
            return false;
    return true;
}

const char *text_base(const char *path)
{
    const char *base = path;
    for (; *path; path++)
        if (*path == '/')
            base = path + 1;
    return base;
}

uint64_t text_number(const char *s, uint64_t otherwise)
{
    uint64_t n = 0;
    if (!s || !*s)
        return otherwise;
    for (; *s; s++) {
        if (*s < '0' || *s > '9' || n > UINT64_MAX / 10 - 1)
            return otherwise;
        n = n * 10 + (uint64_t)(*s - '0');
    }
    return n;
}

struct text text_in(char *buffer, size_t size)
{
    buffer[0] = 0;
    return (struct text){.at = buffer, .used = 0, .size = size, .cut = false};
}

void text_add(struct text *t, const char *s)
{
    for (; *s; s++) {
        if (t->used + 1 >= t->size) {
            t->cut = true;
            return;
        }
        t->at[t->used++] = *s;
        t->at[t->used] = 0;
    }
}

void text_add_number(struct text *t, uint64_t n)
{
    char digits[21];
    int i = 20;
    digits[i] = 0;
    do
        digits[--i] = (char)('0' + n % 10);
    while (n /= 10);
    text_add(t, digits + i);
}
