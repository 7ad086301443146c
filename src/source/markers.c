/* A search for the two stems that all markers have, and a look around each. */
#include "source/markers.h"

#include <stdbool.h>
#include <string.h>

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

struct search {
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

static void take(struct search *s, size_t word)
{
    uint32_t what = WORDS[word].what, *open = &s->open[what];
    if (WORDS[word].place == PLACE_LINE) {
        vec_push(&s->out->ranges, (struct marker){s->number, s->number, what});
    } else if (WORDS[word].place == PLACE_START) {
        *open = *open ? *open : s->number;
    } else if (*open) {
        vec_push(&s->out->ranges, (struct marker){*open, s->number, what});
        *open = 0;
    } else if (!s->out->stray) {
        s->out->stray = s->number;
    }
}

static void count_lines(struct search *s, const char *up_to)
{
    while ((s->line = memchr(s->line, '\n', (size_t)(up_to - s->line)))) {
        s->line++;
        s->number++;
    }
    s->line = up_to;
}

/* Looks at a stem found at `at`; `after` is behind it. */
static void look(struct search *s, const char *at, const char *after)
{
    if (!ends_with(s->start, at, "LCOV") && !ends_with(s->start, at, "GCOVR") &&
        !ends_with(s->start, at, "GCOV"))
        return;
    for (size_t i = 0; i < WORDS_LEN; i++) {
        size_t len = strlen(WORDS[i].text);
        if ((size_t)(s->end - after) >= len && !memcmp(after, WORDS[i].text, len)) {
            count_lines(s, at);
            take(s, i);
            return;
        }
    }
}

static int compare(const void *left, const void *right)
{
    const struct marker *a = left, *b = right;
    return a->first < b->first ? -1 : a->first > b->first;
}

void markers_find(struct bytes source, struct markers *out)
{
    const char *at = (const char *)source.at;
    if (!source.len)
        return;
    struct search s = {.start = at, .end = at + source.len, .line = at, .number = 1, .out = out};
    const char *next[2];
    for (int i = 0; i < 2; i++)
        next[i] = memmem(at, source.len, STEMS[i], strlen(STEMS[i]));
    while (next[0] || next[1]) {
        int i = !next[0] || (next[1] && next[1] < next[0]);
        const char *after = next[i] + strlen(STEMS[i]);
        look(&s, next[i], after);
        next[i] = memmem(after, (size_t)(s.end - after), STEMS[i], strlen(STEMS[i]));
    }
    for (uint32_t what = 0; what <= MARKER_FUNCTION; what++) {
        if (!s.open[what])
            continue;
        out->unclosed = out->unclosed ? out->unclosed : s.open[what];
        vec_push(&out->ranges, (struct marker){s.open[what], UINT32_MAX, what});
    }
    if (out->ranges.len)
        qsort(out->ranges.at, out->ranges.len, sizeof *out->ranges.at, compare);
}

void markers_deinit(struct markers *m)
{
    vec_free(&m->ranges);
}
