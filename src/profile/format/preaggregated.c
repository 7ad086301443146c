/* Pre-aggregated profiles, of which `perf2bolt --pa -p FILE` makes fdata: text, a line for each
 * branch, stretch of code or sample, by address.
 *
 *     E cycles:u                  the event, perhaps
 *     S 401156 7                  a sample: address, times
 *     B 401156 40114e 950 12      a branch: from, to, times, wrongly expected
 *     F 40114e 401156 949         code that ran straight on: from, to, times
 *     f 40114e 401156 3           the same, entered from elsewhere; r: by a return
 *     T 401156 40114e 401170 5    a branch, and how far the code after it ran: from, to, end,
 * times R 401156 40114e 401170 5    the same, and the branch is a return
 *
 * Addresses are hexadecimal and as linked, with `X:` before those of elsewhere, or the build-id and
 * a colon before those of another object. Equal lines are added up: one map knows places, another
 * one pairs of them, so that time and memory are the input's. Source:
 * bolt/include/bolt/Profile/DataAggregator.h of LLVM. */
#include "profile/format/bolt_text.h"
#include "profile/format/source_formats.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

void preaggregated_deinit(struct preaggregated *p)
{
    intern_deinit(&p->events);
    intern_deinit(&p->builds);
    vec_free(&p->places);
    vec_free(&p->lines);
    map_deinit(&p->place_of);
    map_deinit(&p->pair_of);
    map_deinit(&p->line_of);
}

/* ---- reading */

/* How many addresses a line of that kind has; 0: there is no such kind. */
static size_t places_of_kind(char kind)
{
    switch (kind) {
    case 'S': return 1;
    case 'B':
    case 'F':
    case 'f':
    case 'r': return 2;
    case 'T':
    case 'R': return 3;
    default: return 0;
    }
}

/* `X:0`, `40114e`, `1f3a...:40114e`. */
static bool take_place(struct preaggregated *p, struct bolt_text *t, uint32_t *number)
{
    struct preaggregated_place place = {.build = INTERN_NONE};
    struct bolt_text word;
    bool is_new;
    if (!bolt_take_word(t, &word))
        return false;
    const char *colon = memchr(word.at, ':', (size_t)(word.end - word.at));
    if (colon) {
        size_t len = (size_t)(colon - word.at);
        place.is_elsewhere = true;
        if (len != 1 || word.at[0] != 'X') {
            if (!len || memchr(word.at, 0, len))
                return false;
            place.build = intern(&p->builds, word.at, len);
        }
        word.at = colon + 1;
    }
    if (!bolt_take_number(&word, 16, &place.address) || word.at != word.end)
        return false;
    *number = map_index(&p->place_of, place.address, map_two(place.build, place.is_elsewhere),
                        p->places.len, &is_new);
    if (is_new)
        vec_push(&p->places, place);
    return true;
}

static bool take_line(struct preaggregated *p, struct bolt_text t)
{
    struct preaggregated_line line = {.kind = t.at < t.end ? *t.at : '\0'};
    struct bolt_text word;
    size_t places = places_of_kind(line.kind);
    bool is_new;
    if (!places || !bolt_take_word(&t, &word) || word.end - word.at != 1)
        return false;
    for (size_t i = 0; i < places; i++)
        if (!take_place(p, &t, &line.places[i]))
            return false;
    if (!bolt_take_number(&t, 10, &line.count) ||
        (line.kind == 'B' && !bolt_take_number(&t, 10, &line.missed)) || t.at != t.end)
        return false;
    uint32_t pair = *map_at(&p->pair_of, line.places[0], line.places[1], p->pairs, &is_new);
    p->pairs += is_new;
    uint32_t number =
        map_index(&p->line_of, pair, map_two(line.places[2], (unsigned char)line.kind),
                  p->lines.len, &is_new);
    if (is_new) {
        vec_push(&p->lines, line);
        return true;
    }
    struct preaggregated_line *into = &p->lines.at[number];
    into->count = add_saturating(into->count, line.count);
    into->missed = add_saturating(into->missed, line.missed);
    return true;
}

/* `E NAME`. */
static bool take_event(struct bolt_text t, struct bolt_text *name)
{
    struct bolt_text word;
    *name = t;
    if (!bolt_take_word(&t, &word) || word.end - word.at != 1 || *word.at != 'E')
        return false;
    *name = t;
    return t.at < t.end && !memchr(t.at, 0, (size_t)(t.end - t.at));
}

/* The first whole line that is no event, as `in` may be the beginning of a file. */
bool preaggregated_probe(struct bytes in)
{
    struct cursor c = cursor_over(in, NULL);
    struct preaggregated scratch = {0};
    struct bolt_text line, event;
    bool is_one = false;
    while (!is_one && cursor_left(&c) && memchr(c.at, '\n', cursor_left(&c)) &&
           bolt_next_line(&c, &line)) {
        is_one = take_line(&scratch, line);
        if (!is_one && !take_event(line, &event))
            break;
    }
    preaggregated_deinit(&scratch);
    return is_one;
}

bool preaggregated_read(struct bytes in, const char *name, struct preaggregated *p, struct err *e)
{
    struct cursor c = cursor_over(in, name);
    struct bolt_text line, event;
    for (size_t number = 1; bolt_next_line(&c, &line); number++)
        if (take_event(line, &event))
            intern(&p->events, event.at, (size_t)(event.end - event.at));
        else if (line.at < line.end && !take_line(p, line))
            return err_in(e, name,
                          "line %zu: expected S ADDRESS COUNT, B FROM TO COUNT MISSED, F, f or r "
                          "FROM TO COUNT, or T or R FROM TO END COUNT",
                          number);
    return true;
}

/* ---- writing */

static int by_line(const void *left, const void *right, void *context)
{
    const struct preaggregated *p = context;
    const struct preaggregated_line *a = &p->lines.at[*(const uint32_t *)left],
                                    *b = &p->lines.at[*(const uint32_t *)right];
    if (a->kind != b->kind)
        return a->kind < b->kind ? -1 : 1;
    for (size_t i = 0; i < places_of_kind(a->kind); i++) {
        const struct preaggregated_place *x = &p->places.at[a->places[i]],
                                         *y = &p->places.at[b->places[i]];
        if (x->address != y->address)
            return x->address < y->address ? -1 : 1;
        if (x->is_elsewhere != y->is_elsewhere)
            return x->is_elsewhere ? 1 : -1;
        if (x->build != y->build)
            return x->build == INTERN_NONE   ? -1
                   : y->build == INTERN_NONE ? 1
                                             : strcmp(intern_text(&p->builds, x->build),
                                                      intern_text(&p->builds, y->build));
    }
    return 0;
}

/* By kind and address, so that equal profiles give equal files. */
void preaggregated_write(struct writer *w, const struct preaggregated *p)
{
    struct arena scratch = {0};
    uint32_t *order = ARENA_NEW(&scratch, uint32_t, p->lines.len + 1);
    for (uint32_t i = 0; i < p->lines.len; i++)
        order[i] = i;
    qsort_r(order, p->lines.len, sizeof *order, by_line, (void *)p);
    for (size_t i = 0; i < p->events.texts.len; i++)
        writer_printf(w, "E %s\n", intern_text(&p->events, (uint32_t)i));
    for (size_t i = 0; i < p->lines.len; i++) {
        const struct preaggregated_line *l = &p->lines.at[order[i]];
        writer_printf(w, "%c", l->kind);
        for (size_t k = 0; k < places_of_kind(l->kind); k++) {
            const struct preaggregated_place *at = &p->places.at[l->places[k]];
            writer_printf(w, " %s%s%" PRIx64,
                          at->build != INTERN_NONE ? intern_text(&p->builds, at->build)
                          : at->is_elsewhere       ? "X"
                                                   : "",
                          at->is_elsewhere ? ":" : "", at->address);
        }
        writer_printf(w, " %" PRIu64, l->count);
        if (l->kind == 'B')
            writer_printf(w, " %" PRIu64, l->missed);
        writer_printf(w, "\n");
    }
    arena_deinit(&scratch);
}

/* ---- for who compares */

/* All addresses are one function's, as the file knows no functions. A line is a position: its first
 * address stands for the line of source, and the others and the kind, as a hash, for the block. */
bool preaggregated_read_positions(struct bytes in, const char *name, struct source_profile *p,
                                  struct err *e)
{
    static const char FUNCTION[] = "[by address]";
    struct preaggregated all = {.pairs = 0};
    bool ok = preaggregated_read(in, name, &all, e);
    uint32_t instance = ok && all.lines.len
                            ? source_profile_instance(p, NO_INSTANCE, (struct source_offset){0},
                                                      FUNCTION, sizeof FUNCTION - 1)
                            : 0;
    for (size_t i = 0; ok && i < all.lines.len; i++) {
        const struct preaggregated_line *l = &all.lines.at[i];
        uint64_t others[2 * PREAGGREGATED_PLACES + 1] = {(unsigned char)l->kind};
        for (size_t k = 0; k < places_of_kind(l->kind); k++) {
            const struct preaggregated_place *at = &all.places.at[l->places[k]];
            others[2 * k + 1] = at->address;
            others[2 * k + 2] = at->build == INTERN_NONE
                                    ? at->is_elsewhere
                                    : hash_bytes(intern_text(&all.builds, at->build),
                                                 all.builds.lengths.at[at->build]);
        }
        uint64_t first = all.places.at[l->places[0]].address;
        struct source_offset at = {(uint32_t)first, (uint32_t)hash_bytes(others, sizeof others)};
        source_profile_add_count(p, source_profile_position(p, instance, at), l->count);
    }
    preaggregated_deinit(&all);
    return ok;
}
