/* Folded stacks: `main;work;leaf 1200`, a line each, outermost frame first, as flamegraph.pl,
 * inferno and many others write them.
 *
 * What the numbers count is not said: they are taken for samples. Lines mostly come sorted, so that
 * a stack begins as the one before: the frames that both have are not looked up again.
 *
 * As long as they are sorted by bytes, most others need not be looked up either. All stacks that
 * begin with `a;b;` stand together then, so a frame that is inside a stack, and is not in the one
 * before, is new:
 *
 *     main;work 3           `work` ends a stack: it goes into the table of nodes, since
 *     main;work(int);f 1    other lines may stand between it and
 *     main;work;g;h 2       the stacks that go on below it. `g` is in none: it is not put there
 *
 * The first line that is out of order, or has an empty frame, ends this: all nodes go into the
 * table, and each frame is looked up from then on, unless the whole stack was met before, as in
 * files that have a line for each sample.
 *
 * Numbers may have fractions, as some tools write percentages or milliseconds: then every weight is
 * kept in millionths, which is what the event is called, so that no total is taken for one of whole
 * numbers; a sample is nominally a million of them. Comments (`#`) are passed over.
 * Lines that are no stack with a number are counted as lost, unless they are half of what the
 * beginning has: then the file is something else.
 *
 * Refused: files with NUL bytes, numbers whose sum exceeds 64 bits, files of which no line is a
 * stack. Frames without a name (`a;;b`) are left out. Cost: linear in the bytes, twice if there
 * are fractions. */
#include "profile/import/named_recording.h"

#include <inttypes.h>

enum { FRACTION_DIGITS = 6, MILLION = 1000000 };

/* "12", or "12.5" in millionths; *has_fraction: there is one. Further digits are cut off. */
static bool folded_number(struct text_span text, uint64_t *value, bool *has_fraction)
{
    uint64_t fraction = 0;
    unsigned digits = 0;
    *has_fraction = false;
    if (!text_take_u64(&text, value) || text.at == text.end)
        return text.at == text.end;
    if (*text.at++ != '.' || __builtin_mul_overflow(*value, MILLION, value))
        return false;
    for (; text.at < text.end && *text.at >= '0' && *text.at <= '9'; text.at++)
        if (digits < FRACTION_DIGITS) {
            fraction = 10 * fraction + (uint64_t)(*text.at - '0');
            digits++;
        }
    for (; digits < FRACTION_DIGITS; digits++)
        fraction *= 10;
    *has_fraction = true;
    return text.at == text.end && !__builtin_add_overflow(*value, fraction, value);
}

/* "a;b 12" apart; false: it is no such line. */
static bool folded_split(struct text_span line, struct text_span *stack, uint64_t *count,
                         bool *has_fraction)
{
    struct text_span rest = line, number = text_take_last_word(&rest);
    *stack = rest;
    return rest.at < rest.end && folded_number(number, count, has_fraction);
}

static bool folded_is_comment(struct text_span line)
{
    return line.at == line.end || *line.at == '#';
}

/* Text of which most lines are such, and at least one has two frames; the last may be cut. Fifty
 * lines are enough. Two frames are asked for because a list of words with numbers behind them
 * has the same shape. */
bool folded_probe(struct bytes first)
{
    enum { ENOUGH = 50 };
    struct text_lines lines = text_lines_over(first);
    struct text_span line, stack;
    uint64_t count, taken = 0, odd = 0;
    bool has_frames = false, has_fraction;
    if (!text_is_text(first))
        return false;
    while (taken + odd < ENOUGH && text_lines_take(&lines, &line)) {
        bool is_last = lines.at == lines.end && taken;
        if (folded_is_comment(line))
            continue;
        if (!folded_split(line, &stack, &count, &has_fraction)) {
            odd += !is_last;
            continue;
        }
        has_frames |= memchr(stack.at, ';', text_len(stack)) != NULL;
        taken++;
    }
    return has_frames && odd < taken;
}

struct folded_frame {
    uint32_t node;
    size_t end; /* where its `;` stands in the stack */
};

/* The stack before this one: files are sorted, so that most of a stack is what the one before had.
 */
struct folded_before {
    struct text_span stack;
    bool is_unsorted;
    VEC(struct folded_frame) frames; /* all but the innermost */
    struct intern whole;             /* from then on: stacks, and */
    VEC(uint32_t) nodes;             /* the node of each */
};

/* From now on every frame is looked up. */
static void folded_give_up_order(struct folded_before *b, struct named_run *n)
{
    if (!b->is_unsorted)
        named_run_index(n);
    b->is_unsorted = true;
}

/* Drops the frames that the next stack does not begin with. */
static void folded_keep_same(struct folded_before *b, struct named_run *n, struct text_span next)
{
    size_t most = text_len(b->stack) < text_len(next) ? text_len(b->stack) : text_len(next);
    size_t same = 0;
    while (same < most && b->stack.at[same] == next.at[same])
        same++;
    while (b->frames.len && b->frames.at[b->frames.len - 1].end >= same)
        b->frames.len--;
    bool is_longer = same == text_len(b->stack);
    if (!is_longer &&
        (same == text_len(next) || (unsigned char)next.at[same] < (unsigned char)b->stack.at[same]))
        folded_give_up_order(b, n);
    b->stack = next;
}

/* Adds a stack: goes on below the last frame that it has in common with the one before. Offsets in
 * `b` count from the stack's start, and so hold for this one as far as both are the same. */
static bool folded_line(struct named_run *n, struct folded_before *b, struct text_span stack,
                        uint64_t weight, uint64_t samples)
{
    const char *start = stack.at;
    uint32_t object = 0, node = RECORDING_ROOT;
    bool is_new = false; /* and so are all frames below it */
    if (b->is_unsorted) {
        uint32_t whole = intern_kept(&b->whole, stack.at, text_len(stack));
        if (whole < b->nodes.len)
            return named_run_sample(n, 0, 0, b->nodes.at[whole], weight, samples);
    }
    bool is_kept = b->is_unsorted;
    folded_keep_same(b, n, stack);
    if (b->frames.len) {
        node = b->frames.at[b->frames.len - 1].node;
        stack.at += b->frames.at[b->frames.len - 1].end + 1;
    }
    while (stack.at <= stack.end) {
        const char *semicolon = memchr(stack.at, ';', text_len(stack));
        const char *end = semicolon ? semicolon : stack.end;
        size_t len = (size_t)(end - stack.at), nodes = n->recording->nodes.len;
        if (!len) {
            folded_give_up_order(b, n);
        } else if (is_new && semicolon && !b->is_unsorted) {
            node = named_run_new_frame(n, node, object, stack.at, len);
        } else {
            node = named_run_frame(n, node, object, stack.at, len);
            is_new = n->recording->nodes.len > nodes;
        }
        if (semicolon)
            vec_push(&b->frames, ((struct folded_frame){node, (size_t)(end - start)}));
        stack.at = end + 1;
    }
    if (is_kept)
        vec_push(&b->nodes, node);
    return named_run_sample(n, 0, 0, node, weight, samples);
}

/* Whether some line has a fraction: then all weights are millionths. */
static bool folded_has_fractions(struct bytes in)
{
    struct text_lines lines = text_lines_over(in);
    struct text_span line, stack;
    uint64_t count;
    bool has_fraction;
    while (memchr(lines.at, '.', (size_t)(lines.end - lines.at)) && text_lines_take(&lines, &line))
        if (!folded_is_comment(line) && folded_split(line, &stack, &count, &has_fraction) &&
            has_fraction)
            return true;
    return false;
}

/* How many samples a weight stands for; 0: as many as it says. */
static uint64_t folded_samples(uint64_t weight, uint64_t unit)
{
    if (unit == 1)
        return 0;
    return weight / unit ? weight / unit : 1;
}

bool folded_read(struct bytes in, const char *name, struct recording *out, struct err *e)
{
    struct named_run n;
    struct text_lines lines = text_lines_over(in);
    struct text_span line, stack;
    struct folded_before before = {0};
    struct err why = {0};
    uint64_t count, first_odd = 0;
    bool has_fraction, ok = text_is_text(in) || err_in(e, name, NO_TEXT);
    uint64_t unit = ok && folded_has_fractions(in) ? MILLION : 1;
    named_run_begin(&n, out);
    named_run_object(&n, name, strlen(name));
    const char *event = unit == 1 ? "samples" : "millionths";
    named_run_event(&n, event, strlen(event), RECORDING_UNIT_COUNT);
    out->events.at[0].period = unit;
    named_run_thread(&n, 0, 0, "", 0);
    while (ok && text_lines_take(&lines, &line)) {
        if (folded_is_comment(line))
            continue;
        if (!folded_split(line, &stack, &count, &has_fraction)) {
            first_odd = first_odd ? first_odd : lines.number;
            named_run_lose(&n, "lines that are not a stack followed by a number", 1);
            continue;
        }
        ok = has_fraction || !__builtin_mul_overflow(count, unit, &count);
        ok = (ok && folded_line(&n, &before, stack, count, folded_samples(count, unit))) ||
             err_in(e, name, NO_SUM);
    }
    if (ok && first_odd && !out->samples.len)
        ok = err_in(e, name, "line %" PRIu64 " is not a stack followed by a number", first_odd);
    named_run_finish(&n);
    vec_free(&before.frames);
    vec_free(&before.nodes);
    intern_deinit(&before.whole);
    return ok && (recording_check(out, &why) || err_in(e, name, "%s", why.line));
}
