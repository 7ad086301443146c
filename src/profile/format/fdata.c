/* BOLT's profiles, which `llvm-bolt -data=FILE` reads: text, a line for each branch, or, without
 * branch records, for each place that was sampled.
 *
 *     1 main 3fb 1 work 0 4 221     from, to, wrongly expected, times
 *     1 work 47 1 work 4a 0 90000   straight on is a line as well
 *     0 [unknown] 0 1 main 0 0 1    entered from elsewhere
 *     4 main 3fb 3 heap 12 9        memory that an instruction touched: no branches; kept as it is
 *
 *     no_lbr cycles                 first line: the others are samples
 *     1 main 3fb 7
 *
 * A place is its kind (0 no symbol, 1 a global one, 2 a local one, 3 to 5 the same of memory), a
 * name and a hexadecimal offset. A blank in a name has a backslash before it; names are kept with
 * it. Static functions are numbered, `often/2`. Equal places are one line: one map knows places,
 * another one pairs of them, so that time and memory are the input's. Source:
 * bolt/lib/Profile/DataReader.cpp of LLVM. */
#include "profile/format/bolt_text.h"
#include "profile/format/source_formats.h"

#include <inttypes.h>
#include <string.h>

void fdata_deinit(struct fdata *f)
{
    intern_deinit(&f->names);
    intern_deinit(&f->events);
    vec_free(&f->places);
    vec_free(&f->lines);
    map_deinit(&f->place_of);
    map_deinit(&f->line_of);
}

/* ---- reading */

enum { MEMORY = 3, KINDS = 6 };

bool bolt_take_word(struct bolt_text *t, struct bolt_text *word)
{
    word->at = t->at;
    while (t->at < t->end && (*t->at != ' ' || (t->at > word->at && t->at[-1] == '\\')))
        t->at++;
    word->end = t->at;
    t->at += t->at < t->end;
    return word->end > word->at;
}

bool bolt_take_number(struct bolt_text *t, unsigned base, uint64_t *value)
{
    struct bolt_text w;
    *value = 0;
    if (!bolt_take_word(t, &w))
        return false;
    for (; w.at < w.end; w.at++) {
        unsigned c = (unsigned char)*w.at;
        unsigned digit = c >= '0' && c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10;
        bool is_digit = (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z');
        if (!is_digit || digit >= base || __builtin_mul_overflow(*value, base, value) ||
            __builtin_add_overflow(*value, digit, value))
            return false;
    }
    return true;
}

static bool take_place(struct fdata *f, struct bolt_text *t, uint32_t *place)
{
    struct fdata_place p;
    struct bolt_text name;
    uint64_t kind;
    bool is_new;
    if (!bolt_take_number(t, 10, &kind) || kind >= KINDS || !bolt_take_word(t, &name) ||
        !bolt_take_number(t, 16, &p.offset) || memchr(name.at, 0, (size_t)(name.end - name.at)))
        return false;
    p.kind = (uint32_t)kind;
    p.name = intern(&f->names, name.at, (size_t)(name.end - name.at));
    *place = map_index(&f->place_of, map_two(p.kind, p.name), p.offset, f->places.len, &is_new);
    if (is_new)
        vec_push(&f->places, p);
    return true;
}

/* Adds to the line of the same places. */
static void add_line(struct fdata *f, uint32_t from, uint32_t to, uint64_t missed, uint64_t count)
{
    bool is_new;
    uint32_t line = map_index(&f->line_of, from, to, f->lines.len, &is_new);
    if (is_new)
        vec_push(&f->lines, (struct fdata_line){from, to, 0, 0});
    struct fdata_line *into = &f->lines.at[line];
    into->missed = add_saturating(into->missed, missed);
    into->count = add_saturating(into->count, count);
}

/* `no_lbr EVENT...`, `boltedcollection`: false for another line. */
static bool take_head(struct fdata_head *h, struct bolt_text t, struct intern *events)
{
    static const char SAMPLES[] = "no_lbr", BOLTED[] = "boltedcollection";
    struct bolt_text w;
    if (!bolt_take_word(&t, &w))
        return false;
    size_t len = (size_t)(w.end - w.at);
    bool is_bolted = len == sizeof BOLTED - 1 && !memcmp(w.at, BOLTED, len);
    bool is_samples = len == sizeof SAMPLES - 1 && !memcmp(w.at, SAMPLES, len);
    h->is_bolted |= is_bolted;
    h->is_samples |= is_samples;
    while (is_samples && events && bolt_take_word(&t, &w) &&
           !memchr(w.at, 0, (size_t)(w.end - w.at)))
        intern(events, w.at, (size_t)(w.end - w.at));
    return is_bolted || is_samples;
}

static bool take_body(struct fdata *f, struct bolt_text t)
{
    uint32_t from, to = FDATA_NONE;
    uint64_t missed = 0, count;
    if (!take_place(f, &t, &from))
        return false;
    bool is_memory = f->places.at[from].kind >= MEMORY;
    if ((!f->head.is_samples || is_memory) && !take_place(f, &t, &to))
        return false;
    if (!f->head.is_samples && !is_memory && !bolt_take_number(&t, 10, &missed))
        return false;
    if (!bolt_take_number(&t, 10, &count) || t.at != t.end)
        return false;
    add_line(f, from, to, missed, count);
    return true;
}

bool bolt_next_line(struct cursor *c, struct bolt_text *line)
{
    if (!cursor_left(c))
        return false;
    const uint8_t *newline = memchr(c->at, '\n', cursor_left(c));
    line->at = (const char *)c->at;
    line->end = newline ? (const char *)newline : (const char *)c->end;
    cursor_take(c, (size_t)(line->end - line->at) + (newline != NULL));
    return true;
}

bool fdata_probe(struct bytes in)
{
    struct cursor c = cursor_over(in, NULL);
    struct fdata scratch = {0};
    struct bolt_text line;
    /* A whole first line, as `in` may be the beginning of a file. */
    bool is_one = memchr(in.at ? in.at : (const uint8_t *)"", '\n', in.len) &&
                  bolt_next_line(&c, &line) &&
                  (take_head(&scratch.head, line, NULL) || take_body(&scratch, line));
    fdata_deinit(&scratch);
    return is_one;
}

bool fdata_read(struct bytes in, const char *name, struct fdata *f, struct err *e)
{
    struct cursor c = cursor_over(in, name);
    struct bolt_text line;
    struct fdata_head head = {0};
    size_t number = 1;
    struct cursor ahead = c;
    while (bolt_next_line(&ahead, &line) && take_head(&head, line, &f->events)) {
        c = ahead;
        number++;
    }
    if (f->has_head &&
        (f->head.is_samples != head.is_samples || f->head.is_bolted != head.is_bolted))
        return err_in(e, name, "has %s, and other inputs have not: BOLT takes only one of them",
                      f->head.is_samples != head.is_samples
                          ? head.is_samples ? "samples without branches" : "branches"
                      : head.is_bolted ? "a profile of a program that BOLT made"
                                       : "a profile of a program as it was linked");
    f->head = head;
    f->has_head = true;
    for (; bolt_next_line(&c, &line); number++)
        if (line.at < line.end && !take_body(f, line))
            return err_in(e, name, "line %zu: expected %s", number,
                          head.is_samples ? "KIND NAME OFFSET SAMPLES"
                                          : "KIND NAME OFFSET KIND NAME OFFSET MISSED TIMES");
    return true;
}

/* ---- writing */

static int by_place(uint32_t left, uint32_t right, const struct fdata *f)
{
    if (left == right || left == FDATA_NONE || right == FDATA_NONE)
        return (left > right) - (left < right);
    const struct fdata_place *a = &f->places.at[left], *b = &f->places.at[right];
    int names = strcmp(f->names.texts.at[a->name], f->names.texts.at[b->name]);
    if (names)
        return names;
    if (a->offset != b->offset)
        return a->offset < b->offset ? -1 : 1;
    return (a->kind > b->kind) - (a->kind < b->kind);
}

static int by_ends(const void *left, const void *right, void *context)
{
    const struct fdata *f = context;
    const struct fdata_line *a = &f->lines.at[*(const uint32_t *)left],
                            *b = &f->lines.at[*(const uint32_t *)right];
    int from = by_place(a->from, b->from, f);
    return from ? from : by_place(a->to, b->to, f);
}

static void put_place(struct writer *w, const struct fdata *f, uint32_t place)
{
    const struct fdata_place *p = &f->places.at[place];
    writer_printf(w, "%" PRIu32 " %s %" PRIx64 " ", p->kind, f->names.texts.at[p->name], p->offset);
}

/* By name and offset, so that equal profiles give equal files. */
void fdata_write(struct writer *w, const struct fdata *f)
{
    struct arena scratch = {0};
    uint32_t *order = ARENA_NEW(&scratch, uint32_t, f->lines.len + 1);
    for (uint32_t i = 0; i < f->lines.len; i++)
        order[i] = i;
    qsort_r(order, f->lines.len, sizeof *order, by_ends, (void *)f);
    if (f->head.is_bolted)
        writer_printf(w, "boltedcollection\n");
    if (f->head.is_samples) {
        writer_printf(w, "no_lbr");
        for (size_t i = 0; i < f->events.texts.len; i++)
            writer_printf(w, " %s", f->events.texts.at[i]);
        writer_printf(w, "\n");
    }
    for (size_t i = 0; i < f->lines.len; i++) {
        const struct fdata_line *l = &f->lines.at[order[i]];
        put_place(w, f, l->from);
        if (l->to != FDATA_NONE)
            put_place(w, f, l->to);
        if (!f->head.is_samples && f->places.at[l->from].kind < MEMORY)
            writer_printf(w, "%" PRIu64 " ", l->missed);
        writer_printf(w, "%" PRIu64 "\n", l->count);
    }
    arena_deinit(&scratch);
}

/* ---- as functions and places in them, for who compares */

/* A line is a position: its offset stands for the line of source, and where it leads, as a hash,
 * for the block. A call has a target. */
bool fdata_read_positions(struct bytes in, const char *name, struct source_profile *p,
                          struct err *e)
{
    struct fdata f = {0};
    bool ok = fdata_read(in, name, &f, e);
    for (size_t i = 0; ok && i < f.lines.len; i++) {
        const struct fdata_line *l = &f.lines.at[i];
        const struct fdata_place *from = &f.places.at[l->from];
        const struct fdata_place *to = l->to == FDATA_NONE ? NULL : &f.places.at[l->to];
        const char *text = f.names.texts.at[from->name];
        bool is_entry =
            to && to->kind && to->kind < MEMORY && !to->offset && to->name != from->name;
        uint32_t instance;
        if (is_entry) {
            const char *entered = f.names.texts.at[to->name];
            instance = source_profile_instance(p, NO_INSTANCE, (struct source_offset){0}, entered,
                                               strlen(entered));
            source_profile_add_head(p, instance, l->count);
        }
        if (!from->kind || from->kind >= MEMORY)
            continue;
        struct source_offset at = {(uint32_t)from->offset, 0};
        if (to)
            at.discriminator = (uint32_t)(hash_bytes(f.names.texts.at[to->name],
                                                     strlen(f.names.texts.at[to->name])) *
                                              31 +
                                          to->offset);
        instance =
            source_profile_instance(p, NO_INSTANCE, (struct source_offset){0}, text, strlen(text));
        uint32_t position = source_profile_position(p, instance, at);
        source_profile_add_count(p, position, l->count);
        if (is_entry)
            source_profile_add_target(p, position, f.names.texts.at[to->name],
                                      strlen(f.names.texts.at[to->name]), l->count);
    }
    fdata_deinit(&f);
    return ok;
}
