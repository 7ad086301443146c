/* Where a counter file goes. See names.h. */
#include "names.h"
#include "../common/sys.h"
#include "../common/text.h"

#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

const char *names_variable(const char *name)
{
    size_t n = strlen(name);
    if (getauxval(AT_SECURE)) /* set-user-ID: its user is not to choose files */
        return NULL;
    for (char **v = environ; v && *v; v++)
        if (strncmp(*v, name, n) == 0 && (*v)[n] == '=')
            return *v + n + 1;
    return NULL;
}

static void add_part(struct text *t, const char *from, size_t n)
{
    char c[2] = {0};
    for (size_t i = 0; i < n; i++) {
        c[0] = from[i];
        text_add(t, c);
    }
}

/* %q{NAME}: a variable of the environment. Returns what follows it. */
static const char *add_variable(struct text *t, const char *at)
{
    char name[256];
    const char *end = strchr(at + 3, '}');
    size_t n = end ? (size_t)(end - at - 3) : sizeof name;
    if (n >= sizeof name) {
        add_part(t, at, 2);
        return at + 2;
    }
    memcpy(name, at + 3, n);
    name[n] = 0;
    const char *value = names_variable(name);
    text_add(t, value ? value : "");
    return end + 1;
}

static void add_expanded(struct text *t, const char *from)
{
    while (*from) {
        if (from[0] == '%' && from[1] == 'p') {
            text_add_number(t, (uint64_t)sys_pid());
            from += 2;
        } else if (from[0] == '%' && from[1] == 'q' && from[2] == '{') {
            from = add_variable(t, from);
        } else {
            size_t n = 1 + strcspn(from + 1, "%");
            add_part(t, from, n);
            from += n;
        }
    }
}

/* Leaves out the first `strip` parts of an absolute path; the last part always stays. */
static const char *stripped(const char *path, uint64_t strip)
{
    const char *from = path;
    for (const char *s = path + 1; *path == '/' && *s && strip > 0; s++) {
        if (*s == '/') {
            from = s;
            strip--;
        }
    }
    return from;
}

bool names_path(const char *filename, char *to, size_t size)
{
    const char *prefix = names_variable("GCOV_PREFIX");
    const char *strip_text = names_variable("GCOV_PREFIX_STRIP");
    uint64_t strip = text_number(strip_text, 0);
    struct text t = text_in(to, size);
    size_t n = prefix ? strlen(prefix) : 0;
    while (n > 0 && prefix[n - 1] == '/')
        n--;
    if (strip && n == 0) {
        prefix = ".";
        n = 1;
    }
    if (n > 0) {
        add_part(&t, prefix, n);
        filename = stripped(filename, strip);
        if (*filename != '/')
            text_add(&t, "/");
    }
    add_expanded(&t, filename);
    return !t.cut;
}
