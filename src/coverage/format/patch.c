/* Hunks are read by their line counts, so that a removed line that looks like a
 * header is not taken for one.
 *
 *     --- a/old            the new name matters; /dev/null: the file is removed
 *     +++ b/new<TAB>date
 *     @@ -10,3 +10,4 @@ anything
 *      context
 *     -removed
 *     +added
 *     \ No newline at end of file
 *
 * Git quotes names with odd bytes as C strings. Combined diffs (@@@) have no
 * single old file and are refused.
 *
 * Counts of a hunk say where it ends, and a hunk that has more or fewer lines
 * is refused: a patch that was cut by a mailer must not pass as a shorter one.
 * Ranges of added lines of the new file, and of changed ones of the old, come
 * out ascending within a file. Linear; names are copied. */
#include "coverage/format/format.h"

#include <inttypes.h>
#include <string.h>

struct line {
    const char *at, *end;
};

/* State between lines. A hunk is open while `old_left` or `new_left` is above
 * 0. */
struct reading {
    struct patch *out;
    const char *name;
    uint64_t number;
    bool has_file, is_removed, has_any, is_after_diff;
    const char *old_name;        /* of the last `--- `; NULL: there was none, or of no file */
    uint64_t old_left, new_left; /* lines of the open hunk */
    uint32_t new_line, old_line;
    bool has_old; /* the open file is the last of old_files */
    struct err *e;
};

static bool patch_fail(struct reading *r, const char *what)
{
    return err_in(r->e, r->name, "line %" PRIu64 ": %s", r->number, what);
}

static bool patch_starts(struct line l, const char *word)
{
    size_t len = strlen(word);
    return (size_t)(l.end - l.at) >= len && !memcmp(l.at, word, len);
}

/* What a backslash stands for; advances over it. `*at` is after the backslash.
 * Up to three octal digits are a byte; unknown letters stand for themselves. */
static char patch_escaped(const char **at, const char *end)
{
    static const char NAMES[] = "abtnvfr\"\\", VALUES[] = "\a\b\t\n\v\f\r\"\\";
    char c = **at;
    if (c >= '0' && c <= '7') {
        unsigned value = 0;
        for (int i = 0; i < 3 && *at < end && **at >= '0' && **at <= '7'; i++)
            value = value * 8 + (unsigned)(*(*at)++ - '0');
        return (char)value;
    }
    ++*at;
    const char *known = c ? strchr(NAMES, c) : NULL;
    return known ? VALUES[known - NAMES] : c;
}

/* The result is never longer than what is quoted. A missing quote at the end is
 * forgiven. */
static char *patch_unquoted(struct reading *r, struct line l)
{
    char *text = arena_alloc_text(&r->out->arena, (size_t)(l.end - l.at) + 1);
    size_t len = 0;
    const char *at = l.at + 1;
    while (at < l.end && *at != '"') {
        char c = *at++;
        if (c == '\\' && at < l.end)
            c = patch_escaped(&at, l.end);
        text[len++] = c;
    }
    text[len] = 0;
    return text;
}

/* At most UINT32_MAX, without overflow on the way; `l` moves past the digits.
 */
static bool patch_number(struct line *l, uint64_t *out)
{
    uint64_t value = 0;
    const char *start = l->at;
    for (; l->at < l->end && *l->at >= '0' && *l->at <= '9' && value < UINT32_MAX; l->at++)
        value = value * 10 + (uint64_t)(*l->at - '0');
    *out = value;
    return l->at > start && value <= UINT32_MAX;
}

/* A tab ends the name: a date follows. `diff -r old .` names `./x.c`, and `diff -r ../old new`
 * folders above: no source's name has such parts. */
static const char *patch_file_name(struct reading *r, struct line l)
{
    const char *tab = memchr(l.at, '\t', (size_t)(l.end - l.at));
    const char *path = l.at < l.end && *l.at == '"'
                           ? patch_unquoted(r, l)
                           : arena_copy(&r->out->arena, l.at, (size_t)((tab ? tab : l.end) - l.at));
    for (size_t up = strspn(path, "."); up && up < 3 && path[up] == '/'; up = strspn(path, "."))
        path += up + strspn(path + up, "/");
    return path;
}

/* Whether a line outside of hunks begins one of another form: `*** 1,2 ****` of a context diff, or,
 * after `diff -r a/x b/x`, `2a3,4`. */
static bool patch_is_other_form(const struct reading *r, struct line l)
{
    size_t len = (size_t)(l.end - l.at);
    const char *at = l.at + 4;
    if (len > 9 && patch_starts(l, "*** ") && !memcmp(l.end - 5, " ****", 5)) {
        while (at < l.end - 5 && ((*at >= '0' && *at <= '9') || *at == ','))
            at++;
        return at == l.end - 5;
    }
    struct line from = l;
    uint64_t number;
    if (!r->is_after_diff || !patch_number(&from, &number))
        return false;
    if (from.at < l.end && *from.at == ',' && (from.at++, !patch_number(&from, &number)))
        return false;
    return from.at < l.end && strchr("acd", *from.at) && (from.at++, patch_number(&from, &number));
}

/* Letters of sides are those of git: a, b, and with diff.mnemonicPrefix i, w, c
 * and o. */
static bool patch_has_side(const char *path, const char *letters)
{
    return path[0] && strchr(letters, path[0]) && path[1] == '/';
}

/* The name without its first folder, if that is the name of a side: `b/`, or
 * another than that of the old name when the rest is the same, as in
 * `prog.orig/x.c` and `prog/x.c` of quilt. What both names begin with is a
 * folder, whatever it is called. */
static const char *patch_without_side(const struct reading *r, const char *path)
{
    const char *old = r->old_name ? r->old_name : "", *slash = strchr(path, '/');
    const char *old_slash = strchr(old, '/');
    bool is_same = patch_has_side(old, "abiwco") && old[0] == path[0];
    bool is_reversed = patch_has_side(old, "biwco") && patch_has_side(path, "ao");
    if ((patch_has_side(path, "biwc") || is_reversed) && !is_same)
        return path + 2;
    if (!slash || !old_slash || slash == path || old_slash == old || strcmp(old_slash, slash))
        return path;
    bool is_other = old_slash - old != slash - path || memcmp(old, path, (size_t)(slash - path));
    return is_other ? slash + 1 : path;
}

/* Its folder is a side's if the new name's first one is: `new` is without it
 * then. */
static void patch_take_old_file(struct reading *r, const char *new, const char *whole)
{
    const char *path = r->old_name, *slash = path ? strchr(path, '/') : NULL;
    r->has_old = path != NULL;
    if (!r->has_old)
        return;
    bool is_same = patch_has_side(whole, "abiwco") && whole[0] == path[0];
    bool has_side = patch_has_side(path, "abiwco") && (!is_same || new != whole);
    bool is_cut = new != whole &&slash && !strcmp(slash + 1, new);
    vec_push(&r->out->old_files,
             (struct patch_old_file){.path = has_side ? path + 2
                                             : is_cut ? slash + 1
                                                      : path,
                                     .whole_path = path,
                                     .first_range = (uint32_t)r->out->old_ranges.len});
}

/* "start" or "start,len" after a sign. */
static bool patch_span(struct line *l, char sign, uint64_t *start, uint64_t *len)
{
    while (l->at < l->end && *l->at == ' ')
        l->at++;
    if (l->at == l->end || *l->at++ != sign || !patch_number(l, start))
        return false;
    *len = 1;
    if (l->at < l->end && *l->at == ',') {
        l->at++;
        return patch_number(l, len);
    }
    return true;
}

/* A hunk of no old lines names the one before them, hence the step. */
static bool patch_hunk(struct reading *r, struct line l)
{
    uint64_t old_start, new_start;
    if (patch_starts(l, "@@@"))
        return patch_fail(r,
                          "this is a combined diff of a merge; make one against a single parent");
    l.at += 2;
    if (!patch_span(&l, '-', &old_start, &r->old_left) ||
        !patch_span(&l, '+', &new_start, &r->new_left))
        return patch_fail(r, "a hunk begins that is not like @@ -1,2 +3,4 @@");
    if (!r->has_file)
        return patch_fail(r, "a hunk without a file; '+++ NAME' should be before it");
    r->new_line = (uint32_t)new_start;
    r->old_line = (uint32_t)old_start + !r->old_left; /* of none it is the one before */
    return true;
}

/* Lines that follow each other make one range. */
static void patch_add_line(struct reading *r, struct line l)
{
    struct patch *p = r->out;
    struct patch_file *f = p->files.len ? &p->files.at[p->files.len - 1] : NULL;
    if (!f || r->is_removed)
        return;
    struct patch_range *last = f->ranges ? &p->ranges.at[p->ranges.len - 1] : NULL;
    size_t len = (size_t)(l.end - l.at) - 1; /* without the sign */
    len -= len && l.end[-1] == '\r';
    f->added++;
    if (last && (uint64_t)last->first + last->lines == r->new_line) {
        last->lines++;
        last->text = patch_text_add(last->text, l.at + 1, len);
        return;
    }
    vec_push(&p->ranges, (struct patch_range){r->new_line, 1, patch_text_add(0, l.at + 1, len)});
    f->ranges++;
}

/* What is put in where something was removed belongs to that. */
static void patch_change_old_line(struct reading *r, bool is_removed)
{
    struct patch *p = r->out;
    if (!r->has_old)
        return;
    struct patch_old_file *f = &p->old_files.at[p->old_files.len - 1];
    struct patch_old_range *last = f->ranges ? &p->old_ranges.at[p->old_ranges.len - 1] : NULL;
    bool is_next = last && (uint64_t)last->first + last->lines == r->old_line;
    if (is_next) {
        last->lines += is_removed;
        return;
    }
    vec_push(&p->old_ranges, (struct patch_old_range){r->old_line, is_removed});
    f->ranges++;
}

/* One line of a hunk. Every line counts on the sides that have it: ` ` both,
 * `-` old, `+` new. */
static bool patch_body(struct reading *r, struct line l)
{
    char kind = l.at < l.end ? *l.at : ' '; /* mailers cut the space of an empty line */
    if (kind == '\\')
        return true;
    if (kind != '+' && kind != '-' && kind != ' ' && kind != '\r')
        return patch_fail(r, "a hunk ends before its last line");
    if ((kind != '+' && !r->old_left) || (kind != '-' && !r->new_left))
        return patch_fail(r, "a hunk has more lines than it says");
    if (kind == '+')
        patch_add_line(r, l);
    if (kind == '+' || kind == '-')
        patch_change_old_line(r, kind == '-');
    r->old_left -= kind != '+';
    r->new_left -= kind != '-';
    r->new_line += kind != '-';
    r->old_line += kind != '+';
    return true;
}

/* Outside of hunks only names and heads of hunks matter; all other text is
 * passed over. */
static bool patch_step(struct reading *r, struct line l)
{
    if (r->old_left || r->new_left)
        return patch_body(r, l);
    if (patch_is_other_form(r, l))
        return patch_fail(r, "is not a unified diff; make one with 'git diff' or 'diff -u'");
    r->is_after_diff = patch_starts(l, "diff ");
    if (patch_starts(l, "+++ ")) {
        l.at += 4;
        const char *path = patch_file_name(r, l);
        const char *without = patch_without_side(r, path);
        patch_take_old_file(r, without, path);
        r->has_file = r->has_any = true;
        r->is_removed = !strcmp(path, "/dev/null");
        if (!(r->is_removed)) {
            vec_push(&r->out->files,
                     (struct patch_file){.path = without,
                                         .whole_path = path,
                                         .first_range = (uint32_t)r->out->ranges.len});
        }
    } else if (patch_starts(l, "@@")) {
        return patch_hunk(r, l);
    } else if (patch_starts(l, "diff ") || patch_starts(l, "--- ") || patch_starts(l, "Index: ")) {
        r->has_any = true; /* also of a file that only changes its mode */
        r->has_file = false;
        r->old_name = NULL;
        if (patch_starts(l, "--- "))
            r->old_name = patch_file_name(r, (struct line){l.at + 4, l.end});
        if (r->old_name && (!strcmp(r->old_name, "/dev/null") || !*r->old_name))
            r->old_name = NULL;
    }
    return true;
}

/* Carriage returns are cut off heads alone: in a hunk they may be what changed.
 */
bool patch_read(struct bytes in, const char *name, struct patch *out, struct err *e)
{
    struct reading r = {.out = out, .name = name, .e = e};
    const char *at = in.len ? (const char *)in.at : "", *end = at + in.len;
    bool has_text = false;
    while (at < end) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        struct line l = {at, newline ? newline : end};
        at = newline ? newline + 1 : end;
        bool in_hunk = r.old_left || r.new_left;
        if (!in_hunk && l.end > l.at && l.end[-1] == '\r')
            l.end--;
        has_text |= l.end > l.at;
        r.number++;
        if (!patch_step(&r, l))
            return false;
    }
    if (r.old_left || r.new_left)
        return patch_fail(&r, "the patch ends within a hunk");
    if (has_text && !r.has_any)
        return err_in(e, name, "is not a unified diff; make one with 'git diff' or 'diff -u'");
    return true;
}
