/* Folded stacks: `main;work;leaf 1200`, a line each, outermost frame first, as flamegraph.pl,
 * inferno and many others write them.
 *
 * What the numbers count is not said: they are taken for samples. Lines mostly come sorted, so that
 * a stack begins as the one before: the frames that both have are not looked up again, and time
 * goes with the frames that differ. A line without number at its end is refused, since half of a
 * file of them would be something else. */
#include "profile/import/named_recording.h"

#include <inttypes.h>

/* "a;b 12" apart; false: it is no such line. */
static bool folded_split(struct text_span line, struct text_span *stack, uint64_t *count)
{
    struct text_span rest = line, number = text_take_last_word(&rest);
    if (rest.at == rest.end || !text_take_u64(&number, count) || number.at != number.end)
        return false;
    *stack = rest;
    return true;
}

/* Text of which every line is one, and at least one has two frames; the last may be cut. */
bool folded_probe(struct bytes first)
{
    enum { ENOUGH = 50 };
    struct text_lines lines = text_lines_over(first);
    struct text_span line, stack;
    uint64_t count, taken = 0;
    bool has_frames = false;
    if (!text_is_text(first))
        return false;
    while (taken < ENOUGH && text_lines_take(&lines, &line)) {
        bool is_last = lines.at == lines.end && taken;
        if (line.at == line.end || is_last)
            continue;
        if (!folded_split(line, &stack, &count))
            return false;
        has_frames |= memchr(stack.at, ';', text_len(stack)) != NULL;
        taken++;
    }
    return has_frames;
}

struct folded_frame {
    uint32_t node;
    size_t end; /* where its `;` stands in the stack */
};

/* The stack before this one: files are sorted, so that most of a stack is what the one before had.
 */
struct folded_before {
    struct text_span stack;
    VEC(struct folded_frame) frames; /* all but the innermost */
};

/* Drops the frames that the next stack does not begin with. */
static void folded_keep_same(struct folded_before *b, struct text_span next)
{
    size_t most = text_len(b->stack) < text_len(next) ? text_len(b->stack) : text_len(next);
    size_t same = 0;
    while (same < most && b->stack.at[same] == next.at[same])
        same++;
    while (b->frames.len && b->frames.at[b->frames.len - 1].end >= same)
        b->frames.len--;
    b->stack = next;
}

static bool folded_line(struct named_run *n, struct folded_before *b, struct text_span stack,
                        uint64_t count)
{
    const char *start = stack.at;
    uint32_t object = 0, node = RECORDING_ROOT;
    folded_keep_same(b, stack);
    if (b->frames.len) {
        node = b->frames.at[b->frames.len - 1].node;
        stack.at += b->frames.at[b->frames.len - 1].end + 1;
    }
    while (stack.at <= stack.end) {
        const char *semicolon = memchr(stack.at, ';', text_len(stack));
        const char *end = semicolon ? semicolon : stack.end;
        if (end > stack.at)
            node = named_run_frame(n, node, object, stack.at, (size_t)(end - stack.at));
        if (semicolon)
            vec_push(&b->frames, ((struct folded_frame){node, (size_t)(end - start)}));
        stack.at = end + 1;
    }
    return named_run_sample(n, 0, 0, node, count, 0);
}

bool folded_read(struct bytes in, const char *name, struct recording *out, struct err *e)
{
    struct named_run n;
    struct text_lines lines = text_lines_over(in);
    struct text_span line, stack;
    struct folded_before before = {0};
    struct err why = {0};
    uint64_t count;
    bool ok = text_is_text(in) || err_in(e, name, NO_TEXT);
    named_run_begin(&n, out);
    named_run_object(&n, name, strlen(name));
    named_run_event(&n, "samples", 7, RECORDING_UNIT_COUNT);
    out->events.at[0].period = 1;
    named_run_thread(&n, 0, 0, "", 0);
    while (ok && text_lines_take(&lines, &line)) {
        if (line.at == line.end)
            continue;
        ok = folded_split(line, &stack, &count) ||
             err_in(e, name, "line %" PRIu64 " is not a stack followed by a number", lines.number);
        ok = ok && (folded_line(&n, &before, stack, count) || err_in(e, name, NO_SUM));
    }
    named_run_finish(&n);
    vec_free(&before.frames);
    return ok && (recording_check(out, &why) || err_in(e, name, "%s", why.line));
}
