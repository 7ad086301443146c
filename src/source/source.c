/* Source files: where they are, their lines, and the markers in them.
 *
 * Finding asks the file system about each candidate, in the order that the header describes. A text
 * is read whole; its lines are indexed in one pass, when the first is requested by number. Markers
 * are found by searching for the two stems that all of them have, and looking around each, so that
 * a file without any costs two runs of memmem(). Lines are counted only up to where one stands.
 *
 * What the system cannot look at is not taken for absent: reading it will say why. */

#include "source/source.h"

#include "base/arena.h"
#include "base/path.h"

#include <limits.h>
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* --- finding files ---------------------------------------------------------------------------- */

void source_search_deinit(struct source_search *s)
{
    vec_free(&s->dirs);
    vec_free(&s->maps);
}

void source_search_add(struct source_search *s, const char *directories)
{
    for (const char *at = directories;; at++) {
        size_t len = strcspn(at, ":");
        vec_push(&s->dirs, arena_copy(s->arena, at, len));
        at += len;
        if (!*at)
            return;
    }
}

bool source_search_map(struct source_search *s, const char *rule, struct err *e)
{
    struct path_map map;
    if (!path_map_parse(rule, s->arena, &map) || !strchr(rule, '=')[1])
        return err_set(e, "option '--path-map' needs FROM=TO, not '%s'", rule);
    vec_push(&s->maps, map);
    return true;
}

/* Whether a name can be opened, or cannot even be inspected. */
static bool is_there(const char *path)
{
    return access(path, R_OK) == 0 || errno_is_trouble(errno);
}

/* Likewise, of regular files alone. */
static bool is_file(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 ? S_ISREG(st.st_mode) : errno_is_trouble(errno);
}

const char *source_find_gnu(const struct source_search *s, const char *recorded)
{
    if (is_there(recorded))
        return recorded;
    const char *base = path_base_name(recorded);
    const char *names[] = {recorded[0] == '/' ? NULL : recorded, base > recorded ? base : NULL};
    for (size_t k = 0; k < 2; k++)
        for (size_t i = 0; names[k] && i < s->dirs.len; i++) {
            const char *path = arena_printf(s->arena, "%s/%s", s->dirs.at[i], names[k]);
            if (is_there(path))
                return path;
        }
    return NULL;
}

/* The last rule that fits holds, as with options elsewhere: so a later one can refine an earlier
 * one. */
const char *source_mapped(const struct source_search *s, const char *recorded, struct arena *a)
{
    const char *tidy = path_tidy(recorded, a);
    for (size_t i = s->maps.len; i-- > 0;) {
        const char *path = path_map_apply(&s->maps.at[i], recorded, a);
        path = path ? path : path_map_apply(&s->maps.at[i], tidy, a);
        if (path)
            return path_tidy(path, a);
    }
    return tidy;
}

/* Maps before the name itself: whoever gives one knows better than the debug information. */
const char *source_find(const struct source_search *s, const char *recorded)
{
    const char *path, *tidy = s->maps.len || s->dirs.len ? path_tidy(recorded, s->arena) : recorded;
    for (size_t i = s->maps.len; i-- > 0;)
        for (int k = 0; k < 2; k++) {
            path = path_map_apply(&s->maps.at[i], k ? tidy : recorded, s->arena);
            if (path && is_file(path))
                return path;
        }
    if (is_file(recorded))
        return recorded;
    for (size_t i = 0; i < s->dirs.len; i++) {
        const char *dir = *s->dirs.at[i] ? s->dirs.at[i] : ".";
        for (const char *name = tidy; name; name = strchr(name, '/')) {
            name += strspn(name, "/");
            path = arena_printf(s->arena, "%s/%s", dir, name);
            if (*name && is_file(path))
                return path;
        }
    }
    return NULL;
}

/* --- which may be published --------------------------------------------------------------------
 */

void source_folders_deinit(struct source_folders *f)
{
    vec_free(&f->roots);
}

bool source_folders_add(struct source_folders *f, const char *folder, struct err *e)
{
    char real[PATH_MAX];
    if (!realpath(*folder ? folder : ".", real))
        return !errno_is_trouble(errno) || err_errno(e, folder, errno);
    if (real[1])
        vec_push(&f->roots, arena_copy(f->arena, real, strlen(real)));
    return true;
}

static bool is_home(const char *folder)
{
    char real[PATH_MAX];
    const char *home = getenv("HOME");
    return home && realpath(home, real) && !strcmp(real, folder);
}

bool source_is_system(const char *path)
{
    static const char *const PLACES[] = {
        "/usr/include/",       "/usr/lib/",       "/usr/lib64/", "/usr/libexec/",
        "/usr/local/include/", "/usr/local/lib/", NULL};
    if (path_begins_with(path, PLACES))
        return true;
    /* A cross compiler's: /usr/TARGET/include/ */
    const char *slash = strncmp(path, "/usr/", 5) ? NULL : strchr(path + 5, '/');
    return slash && !strncmp(slash, "/include/", 9);
}

/* Rust's own library has the path of the machine that built it. */
bool source_is_foreign(const char *path)
{
    static const char *const TOOLCHAINS[] = {"/rustc/", "/rust/deps/", "/usr/local/go/",
                                             "/usr/share/go", NULL};
    static const char *const PACKAGES[] = {"cargo/registry/", "/.cargo/git/",    "/.rustup/",
                                           "/go/pkg/mod/",    "/site-packages/", "/node_modules/",
                                           "/.pyenv/"};
    for (size_t i = 0; i < sizeof PACKAGES / sizeof *PACKAGES; i++)
        if (strstr(path, PACKAGES[i]))
            return true;
    return path_begins_with(path, TOOLCHAINS) || source_is_system(path);
}

bool source_folders_have(const struct source_folders *f, const char *path)
{
    if (path_below(path, "/usr"))
        return true;
    for (size_t i = 0; i < f->roots.len; i++) {
        const char *rest = path_below(path, f->roots.at[i]);
        if (rest && *rest == '/' && !(strstr(rest, "/.") && is_home(f->roots.at[i])))
            return true;
    }
    return false;
}

/* --- lines ------------------------------------------------------------------------------------ */

bool source_text_read(struct source_text *t, const char *path, struct err *e)
{
    free(t->start);
    t->start = NULL;
    t->lines = 0;
    t->bytes = (struct bytes){0};
    if (!file_read_regular(path, &t->buffer, e))
        return false;
    t->changed = file_changed(path);
    t->bytes = file_bytes(&t->buffer);
    return true;
}

void source_text_deinit(struct source_text *t)
{
    file_buffer_deinit(&t->buffer);
    free(t->start);
    *t = (struct source_text){0};
}

/* Two passes, so that the table has the size that it needs. */
void source_text_index(struct source_text *t)
{
    if (t->start)
        return;
    struct bytes b = t->bytes;
    const uint8_t *end = b.at + b.len, *newline;
    t->lines = 0;
    for (const uint8_t *from = b.at; from < end; from = newline ? newline + 1 : end, t->lines++)
        newline = memchr(from, '\n', (size_t)(end - from));
    t->start = malloc((t->lines + 1) * sizeof *t->start);
    if (!t->start)
        memory_exhausted((t->lines + 1) * sizeof *t->start);
    size_t at = 0;
    for (size_t i = 0; i < t->lines; i++) {
        newline = memchr(b.at + at, '\n', b.len - at);
        t->start[i] = at;
        at = newline ? (size_t)(newline - b.at) + 1 : b.len;
    }
    t->start[t->lines] = b.len;
}

/* From the start of the line to the start of the next one, less what ends a line. */
struct bytes source_line(const struct source_text *t, uint64_t number)
{
    if (!number || number > t->lines)
        return (struct bytes){0};
    size_t from = t->start[number - 1], to = t->start[number];
    const uint8_t *at = t->bytes.at;
    if (to > from && at[to - 1] == '\n')
        to--;
    if (to > from && at[to - 1] == '\r')
        to--;
    return (struct bytes){at + from, to - from};
}

/* --- markers ---------------------------------------------------------------------------------- */

enum place { PLACE_LINE, PLACE_START, PLACE_STOP, PLACE_NONE };

/* What follows LCOV_EXCL_ and its kind; the longest that fits. */
static const struct {
    const char *text;
    uint8_t place;
    uint8_t what;
} WORDS[] = {
    {"EXCEPTION_BR_LINE", PLACE_LINE, MARKER_EXCEPTIONS},
    {"EXCEPTION_BR_START", PLACE_START, MARKER_EXCEPTIONS},
    {"EXCEPTION_BR_STOP", PLACE_STOP, MARKER_EXCEPTIONS},
    {"BR_LINE", PLACE_LINE, MARKER_BRANCHES},
    {"BR_START", PLACE_START, MARKER_BRANCHES},
    {"BR_STOP", PLACE_STOP, MARKER_BRANCHES},
    {"LINE", PLACE_LINE, MARKER_CODE},
    {"START", PLACE_START, MARKER_CODE},
    {"STOP", PLACE_STOP, MARKER_CODE},
    {"END", PLACE_STOP, MARKER_CODE},
    {"FUNCTION", PLACE_LINE, MARKER_FUNCTION},
};
enum { WORDS_LEN = sizeof WORDS / sizeof *WORDS };

static const char STEMS[2][sizeof "_UNREACHABLE_"] = {"_EXCL_", "_UNREACHABLE_"};

/* A search through one file. */
struct marker_search {
    const char *start, *end, *line; /* line: up to where newlines were counted */
    uint32_t number;                /* of that line */
    uint32_t open[MARKER_FUNCTION + 1];
    struct markers *out;
};

static bool ends_with(const char *start, const char *end, const char *word)
{
    size_t len = strlen(word);
    return (size_t)(end - start) >= len && !memcmp(end - len, word, len);
}

/* Looks at a stem found at `at`; `after` is the position after it. */
static void look_around(struct marker_search *s, const char *at, const char *after)
{
    if (!ends_with(s->start, at, "LCOV") && !ends_with(s->start, at, "GCOVR") &&
        !ends_with(s->start, at, "GCOV"))
        return;
    for (size_t i = 0; i < WORDS_LEN; i++) {
        size_t len = strlen(WORDS[i].text);
        if ((size_t)(s->end - after) >= len && !memcmp(after, WORDS[i].text, len)) {
            while ((s->line = memchr(s->line, '\n', (size_t)(at - s->line)))) {
                s->line++;
                s->number++;
            }
            s->line = at;
            /* A marker, on the line that was counted up to. */
            uint32_t what = WORDS[i].what, *open = &s->open[what];
            if (WORDS[i].place == PLACE_LINE) {
                vec_push(&s->out->ranges, (struct marker){s->number, s->number, what});
            } else if (WORDS[i].place == PLACE_START) {
                *open = *open ? *open : s->number;
            } else if (*open) {
                vec_push(&s->out->ranges, (struct marker){*open, s->number, what});
                *open = 0;
            } else if (!s->out->stray) {
                s->out->stray = s->number;
            }
            return;
        }
    }
}

static int by_first_line(const void *left, const void *right)
{
    const struct marker *a = left, *b = right;
    return a->first < b->first ? -1 : a->first > b->first;
}

/* Both stems are searched for at once: the one that comes first is read, in the order of the file,
 * so that lines are counted once. */
void markers_find(struct bytes source, struct markers *out)
{
    const char *at = (const char *)source.at;
    if (!source.len)
        return;
    struct marker_search s = {
        .start = at, .end = at + source.len, .line = at, .number = 1, .out = out};
    const char *next[2];
    for (int i = 0; i < 2; i++)
        next[i] = memmem(at, source.len, STEMS[i], strlen(STEMS[i]));
    while (next[0] || next[1]) {
        int i = !next[0] || (next[1] && next[1] < next[0]);
        const char *after = next[i] + strlen(STEMS[i]);
        look_around(&s, next[i], after);
        next[i] = memmem(after, (size_t)(s.end - after), STEMS[i], strlen(STEMS[i]));
    }
    for (uint32_t what = 0; what <= MARKER_FUNCTION; what++) {
        if (!s.open[what])
            continue;
        out->unclosed = out->unclosed ? out->unclosed : s.open[what];
        vec_push(&out->ranges, (struct marker){s.open[what], UINT32_MAX, what});
    }
    if (out->ranges.len)
        qsort(out->ranges.at, out->ranges.len, sizeof *out->ranges.at, by_first_line);
}

void markers_deinit(struct markers *m)
{
    vec_free(&m->ranges);
}

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

/* A line, or the rest of it. */
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

/* A line's text; git may be set to store lines that end with CR LF without the CR. */
static struct bytes blame_line_text(const char *at, const char *end)
{
    return (struct bytes){(const uint8_t *)at, (size_t)(end - at) - (end > at && end[-1] == '\r')};
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
            return err_in(e, name, "line %zu: this is not output of 'git blame --porcelain'",
                          out->lines.len + 1);
        vec_push(&out->lines, commit);
        vec_push(&out->texts, blame_line_text(t.at + 1, t.end));
    }
    return true;
}

/* Equal lines at both ends are the same lines. Between them the longest common subsequence decides,
 * in a table of a byte for each pair of lines; pairs beyond MATCH_PAIRS_MAX are not compared, and
 * none of those lines is matched. */
enum { MATCH_PAIRS_MAX = 16 << 20 };

static bool blame_is_same(const struct bytes *a, const struct bytes *b)
{
    return a->len == b->len && (!a->len || !memcmp(a->at, b->at, a->len));
}

/* Sets match[i], of the m lines of `now`, to the line of `then` that it is; others stay. */
static void blame_match_middle(const struct bytes *then, size_t n, const struct bytes *now,
                               size_t m, uint32_t first, uint32_t *match)
{
    if (n > MATCH_PAIRS_MAX / m)
        return;
    struct arena scratch = {0};
    enum { SAME, SKIP_THEN, SKIP_NOW };
    uint8_t *step = ARENA_NEW(&scratch, uint8_t, n * m);
    uint32_t *longest = ARENA_NEW(&scratch, uint32_t, m + 1); /* of then[i...] and now[k...] */
    for (size_t i = n; i-- > 0;) {
        uint32_t diagonal = 0; /* longest[k + 1] of then[i + 1...] */
        for (size_t k = m; k-- > 0;) {
            uint32_t below = longest[k];
            if (blame_is_same(&then[i], &now[k])) {
                step[i * m + k] = SAME;
                longest[k] = diagonal + 1;
            } else {
                step[i * m + k] = below >= longest[k + 1] ? SKIP_THEN : SKIP_NOW;
                longest[k] = below >= longest[k + 1] ? below : longest[k + 1];
            }
            diagonal = below;
        }
    }
    for (size_t i = 0, k = 0; i < n && k < m;) {
        uint8_t how = step[i * m + k];
        if (how == SAME)
            match[k] = first + (uint32_t)i;
        i += how != SKIP_NOW;
        k += how != SKIP_THEN;
    }
    arena_deinit(&scratch);
}

void blame_match(struct blame *b, struct bytes source)
{
    VEC(struct bytes) now = {0};
    VEC(uint32_t) match = {0};
    struct blame_text t;
    while (blame_next(&source, &t)) {
        vec_push(&now, blame_line_text(t.at, t.end));
        vec_push(&match, UINT32_MAX);
    }
    size_t n = b->texts.len, m = now.len, head = 0, tail = 0, least = n < m ? n : m;
    while (head < least && blame_is_same(&b->texts.at[head], &now.at[head])) {
        match.at[head] = (uint32_t)head;
        head++;
    }
    while (tail < least - head &&
           blame_is_same(&b->texts.at[n - 1 - tail], &now.at[m - 1 - tail])) {
        match.at[m - 1 - tail] = (uint32_t)(n - 1 - tail);
        tail++;
    }
    if (m > head + tail && n > head + tail)
        blame_match_middle(b->texts.at + head, n - head - tail, now.at + head, m - head - tail,
                           (uint32_t)head, match.at + head);
    uint32_t nobody = (uint32_t)b->commits.len;
    vec_push(&b->commits, (struct blame_commit){INTERN_NONE, 0});
    for (size_t k = 0; k < m; k++)
        match.at[k] = match.at[k] == UINT32_MAX ? nobody : b->lines.at[match.at[k]];
    b->lines.len = 0;
    for (size_t k = 0; k < m; k++)
        vec_push(&b->lines, match.at[k]);
    vec_free(&b->texts);
    vec_free(&now);
    vec_free(&match);
}

void blame_deinit(struct blame *b)
{
    intern_deinit(&b->authors);
    intern_deinit(&b->names);
    vec_free(&b->commits);
    vec_free(&b->lines);
    vec_free(&b->texts);
}
