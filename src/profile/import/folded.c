/* Folded stacks: `main;work;leaf 1200`, a line each, outermost frame first, as flamegraph.pl,
 * inferno and many others write them.
 *
 * What the numbers count is not said: they are taken for samples. Numbers may have fractions, as
 * some tools write percentages or milliseconds: then every weight is kept in millionths, which is
 * what the event is called, so that no total is taken for one of whole numbers; a sample is
 * nominally a million of them. Comments (`#`) are passed over. Lines that are no stack with a
 * number are counted as lost, unless they are half of what the beginning has: then the file is
 * something else.
 *
 * The file is read in pieces of whole lines, by a few threads. Whoever takes a piece turns names
 * into numbers of its own, which needs a look at every byte; then the pieces become nodes, in the
 * order of the file and by one thread at a time, so that the recording is the same however many
 * threads there were:
 *
 *     thread 1   parse 0 | nodes of 0 | parse 3 | nodes of 1, 2, 3 | ...
 *     thread 2   parse 1    | parse 2     | parse 4     | parse 5  | nodes of 4, 5
 *
 * Most of a line need not be read: of a stack that the thread met not long ago, all of it is known;
 * of another one the frames that the one before has, too, which are many where lines are sorted.
 *
 * Refused: files with NUL bytes, numbers whose sum exceeds 64 bits, files of which no line is a
 * stack. Frames without a name (`a;;b`) are left out. Cost: linear in the bytes. Besides the
 * recording, memory for each different name, and for a few pieces. */
#include "base/parallel.h"
#include "profile/import/named_recording.h"

#include <inttypes.h>
#include <pthread.h>

enum { FRACTION_DIGITS = 6, MILLION = 1000000 };

/* "e3" after a number: it is a thousand times as large. Some tools print large counts so, through a
 * function that is made for floating-point numbers. A negative power is not taken: such a number is
 * no count. */
static bool folded_take_exponent(struct text_span *number, uint64_t *count)
{
    uint64_t exponent;
    if (number->at == number->end || (*number->at != 'e' && *number->at != 'E'))
        return true;
    number->at++;
    number->at += number->at < number->end && *number->at == '+';
    if (!text_take_u64(number, &exponent))
        return false;
    for (; exponent && *count; exponent--)
        if (__builtin_mul_overflow(*count, 10, count))
            return false;
    return true;
}

/* "a;b 12" apart, or "a;b 12.5" in millionths: *has_fraction. Further digits are cut off. false: it
 * is no such line. */
static bool folded_split(struct text_span line, struct text_span *stack, uint64_t *count,
                         bool *has_fraction)
{
    struct text_span rest = line, number = text_take_last_word(&rest);
    uint64_t fraction = 0;
    unsigned digits = 0;
    *stack = rest;
    *has_fraction = false;
    if (rest.at == rest.end || !text_take_u64(&number, count))
        return false;
    if (number.at == number.end)
        return true;
    if (*number.at != '.')
        return folded_take_exponent(&number, count) && number.at == number.end;
    if (*number.at++ != '.' || __builtin_mul_overflow(*count, MILLION, count))
        return false;
    for (; number.at < number.end && *number.at >= '0' && *number.at <= '9'; number.at++)
        if (digits < FRACTION_DIGITS) {
            fraction = 10 * fraction + (uint64_t)(*number.at - '0');
            digits++;
        }
    for (; digits < FRACTION_DIGITS; digits++)
        fraction *= 10;
    *has_fraction = true;
    return !__builtin_add_overflow(*count, fraction, count) &&
           folded_take_exponent(&number, count) && number.at == number.end;
}

static bool folded_is_comment(struct text_span line)
{
    return line.at == line.end || *line.at == '#';
}

/* Text of which most lines are such, and at least one has two frames; the last may be cut. Fifty
 * lines are enough. Two frames are required because a list of words followed by numbers has the
 * same shape. */
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

/* Whether all lines of the beginning have two numbers, of an old run and a new one, as
 * difffolded.pl and inferno-diff-folded write them. A name may end in a number, but not all do. To
 * take the first number for a part of the name would make a function of each count, and to take
 * either one alone would be a profile that no user requested: so such a file is refused. */
static bool folded_is_difference(struct bytes all)
{
    enum { ENOUGH = 50 };
    struct text_lines lines = text_lines_over(all);
    struct text_span line, stack, inner;
    uint64_t count, taken = 0;
    bool has_fraction;
    while (taken < ENOUGH && text_lines_take(&lines, &line)) {
        if (folded_is_comment(line) || !folded_split(line, &stack, &count, &has_fraction))
            continue;
        if (!folded_split(stack, &inner, &count, &has_fraction) || inner.end[-1] == ';')
            return false;
        taken++;
    }
    return taken > 1;
}

/* --- a piece: lines to numbers of names ------------------------------------------------------ */

enum {
    PIECE_BYTES = 256 << 10,
    MOST_WORKERS = 4, /* nodes are made by one at a time: more would wait for it */
    SEEN = 1 << 14,   /* stacks that a worker remembers; a power of two */
    NO_NAME = 0       /* of a frame; names count from 1 */
};

/* A line. The stack's first `kept` frames are those of the new stack before it in its piece. */
struct folded_line {
    uint64_t number;
    size_t kept, frames; /* frames: further ones, in the piece's list */
    uint32_t seen;       /* where the worker remembers the stack */
    bool is_seen;        /* it was there already: no frames */
    bool has_fraction;   /* the number is in millionths */
};

struct folded_piece {
    struct text_lines text;
    struct folded_worker *worker;
    VEC(struct folded_line) lines;
    VEC(uint32_t) frames;         /* the worker's numbers of their names */
    VEC(struct text_span) names;  /* that the worker has not met before */
    uint64_t odd, first_odd, all; /* lines: that are no stacks; the first one's number; all */
    bool is_text, is_ready;
};

/* Where a name stands in `words`, and a part of its hash; `at` 0 is a free slot. */
struct folded_slot {
    uint32_t hash, at;
};

/* What one thread knows of names and stacks, of which the recording knows others. The last two are
 * for whoever makes the nodes. */
struct folded_worker {
    struct folded_slot *slots;
    size_t mask;
    VEC(uint64_t) words; /* for each name its length, its number, its text */
    uint32_t names;
    VEC(size_t) ends;       /* of the stack before: where the `;` of its frames stand */
    struct text_span *seen; /* stacks by hash; the latest stays */
    uint32_t *seen_node;
    VEC(uint64_t) addresses; /* of the functions, by number of name */
};

/* Eight bytes, or as many as there are up to the file's end. */
static inline uint64_t folded_word(const char *at, const char *limit)
{
    uint64_t word = 0;
    size_t left = (size_t)(limit - at);
    if (left >= 8)
        memcpy(&word, at, 8);
    else
        memcpy(&word, at, left);
    return word;
}

static inline uint64_t folded_mix(uint64_t hash, uint64_t word)
{
    hash = (hash ^ word) * 0xff51afd7ed558ccdu;
    return hash ^ hash >> 32;
}

/* Where the name at `at` ends, which is at `end` at the latest, and its hash. Eight bytes at a
 * time: the lowest of the high bits in `found` is that of the first `;` in a word. */
static inline const char *folded_name_end(const char *at, const char *end, const char *limit,
                                          uint32_t *hash)
{
    const uint64_t ones = UINT64_C(0x0101010101010101);
    uint64_t h = 0;
    for (;; at += 8) {
        uint64_t word = folded_word(at, limit), apart = word ^ ones * ';';
        uint64_t found = (apart - ones) & ~apart & ones << 7;
        size_t len = found ? (size_t)__builtin_ctzll(found) / 8 : 8;
        if (len > (size_t)(end - at))
            len = (size_t)(end - at);
        if (len == 8) {
            h = folded_mix(h, word);
            continue;
        }
        h = folded_mix(h, word & ((UINT64_C(1) << 8 * len) - 1));
        *hash = (uint32_t)(h >> 8);
        return at + len;
    }
}

static void folded_grow(struct folded_worker *w)
{
    size_t before = w->slots ? w->mask + 1 : 0, slots = before ? 2 * before : 1024;
    if (w->names < before / 2)
        return;
    struct folded_slot *old = w->slots;
    w->slots = memory_zeroed(slots, sizeof *w->slots);
    w->mask = slots - 1;
    memory_prefer_large_pages(w->slots, slots * sizeof *w->slots);
    for (size_t i = 0; i < before; i++) {
        size_t k = old[i].hash & w->mask;
        while (old[i].at && w->slots[k].at)
            k = (k + 1) & w->mask;
        if (old[i].at)
            w->slots[k] = old[i];
    }
    memory_free(old);
}

/* The worker's number of a name, which the piece reports if it is new. */
static inline uint32_t folded_name(struct folded_worker *w, struct folded_piece *p,
                                   const char *name, size_t len, uint32_t hash)
{
    size_t i = hash & w->mask;
    for (; w->slots[i].at; i = (i + 1) & w->mask) {
        const uint64_t *there = &w->words.at[w->slots[i].at];
        if (w->slots[i].hash == hash && there[0] == len && !memcmp(&there[2], name, len))
            return (uint32_t)there[1];
    }
    size_t at = w->words.len ? w->words.len : 1, words = 2 + (len + 7) / 8;
    vec_reserve(&w->words, at + words);
    w->words.len = at + words;
    w->words.at[at] = len;
    w->words.at[at + 1] = ++w->names;
    memcpy(&w->words.at[at + 2], name, len);
    w->slots[i] = (struct folded_slot){hash, map_value(at)};
    vec_push(&p->names, (struct text_span){name, name + len});
    folded_grow(w);
    return w->names;
}

/* Adds a stack to its piece; `before` is the last one of the piece that was new. Where a stack is
 * remembered it is compared: a few of its bytes are hash enough. */
static void folded_stack(struct folded_piece *p, struct text_span *before, struct text_span stack,
                         const char *limit, struct folded_line line)
{
    struct folded_worker *w = p->worker;
    enum { PROBES = 8 };
    size_t len = text_len(stack), same = 0, frames = p->frames.len;
    uint64_t place = folded_mix(len, folded_word(stack.end - (len < 8 ? len : 8), stack.end));
    for (size_t i = 0, step = len / PROBES; i < PROBES && step; i++)
        place = folded_mix(place, folded_word(stack.at + i * step, stack.end));
    line.seen = place & (SEEN - 1);
    struct text_span *seen = &w->seen[line.seen];
    line.is_seen = text_len(*seen) == len && !memcmp(seen->at, stack.at, len);
    if (line.is_seen) {
        vec_push(&p->lines, line);
        return;
    }
    size_t most = text_len(*before) < len ? text_len(*before) : len;
    while (same + 8 <= most && !memcmp(before->at + same, stack.at + same, 8))
        same += 8;
    while (same < most && before->at[same] == stack.at[same])
        same++;
    while (w->ends.len && w->ends.at[w->ends.len - 1] >= same)
        w->ends.len--;
    line.kept = w->ends.len;
    const char *at = stack.at + (line.kept ? w->ends.at[line.kept - 1] + 1 : 0);
    for (;;) {
        uint32_t hash;
        const char *end = folded_name_end(at, stack.end, limit, &hash);
        vec_push(&p->frames, end > at ? folded_name(w, p, at, (size_t)(end - at), hash) : NO_NAME);
        if (end == stack.end)
            break;
        vec_push(&w->ends, (size_t)(end - stack.at));
        at = end + 1;
    }
    line.frames = p->frames.len - frames;
    vec_push(&p->lines, line);
    *before = *seen = stack;
}

static void folded_parse(struct folded_piece *p, const char *limit)
{
    struct text_span line, stack, before = {p->text.at, p->text.at};
    p->worker->ends.len = p->lines.len = p->frames.len = p->names.len = 0;
    p->odd = p->first_odd = 0;
    p->is_text = !memchr(p->text.at, 0, (size_t)(p->text.end - p->text.at));
    while (p->is_text && text_lines_take(&p->text, &line)) {
        struct folded_line found = {0};
        if (folded_is_comment(line))
            continue;
        if (folded_split(line, &stack, &found.number, &found.has_fraction)) {
            folded_stack(p, &before, stack, limit, found);
            continue;
        }
        p->first_odd = p->odd++ ? p->first_odd : p->text.number;
    }
    p->all = p->text.number;
}

/* --- nodes, piece by piece ------------------------------------------------------------------- */

/* The file on its way into the recording. Below `lock` is what threads share; `is_making` says that
 * one of them uses what follows it. */
struct folded_file {
    const char *limit; /* the file's end */
    pthread_mutex_t lock;
    pthread_cond_t is_made; /* there is room for a further piece */
    const char *next;       /* where the next piece begins */
    uint64_t taken, made;   /* pieces */
    bool is_making, is_refused;
    struct folded_worker *workers;
    struct folded_piece *pieces; /* by number: a ring */
    size_t room;

    struct named_run *run;
    VEC(uint32_t) path; /* the nodes of a stack, the outermost first */
    uint64_t unit;      /* what weights count: 1, or MILLION of them are one */
    uint64_t odd, first_odd, lines;
};

/* A line's weight is that many samples. At the first fraction all weights become millionths, also
 * those that there are; each is at least one sample then. */
static bool folded_sample(struct folded_file *f, uint32_t node, const struct folded_line *line)
{
    struct recording *r = f->run->recording;
    uint64_t weight = line->number, samples = 0;
    if (line->has_fraction && f->unit == 1) {
        f->unit = MILLION;
        if (__builtin_mul_overflow(f->run->total, MILLION, &f->run->total))
            return false;
        for (size_t i = 0; i < r->samples.len; i++) {
            r->samples.at[i].weight *= MILLION;
            r->samples.at[i].count += !r->samples.at[i].count;
        }
    }
    if (!line->has_fraction && __builtin_mul_overflow(weight, f->unit, &weight))
        return false;
    if (f->unit != 1)
        samples = weight / f->unit ? weight / f->unit : 1;
    return named_run_sample(f->run, 0, 0, node, weight, samples);
}

/* Adds what a piece has to the recording. Names get their functions in the order in which the file
 * has them. false: the weights have no sum any more. */
static bool folded_make_nodes(struct folded_file *f, const struct folded_piece *p)
{
    struct folded_worker *w = p->worker;
    const uint32_t *frame = p->frames.at;
    if (!w->addresses.len)
        vec_push(&w->addresses, 0); /* NO_NAME */
    for (size_t i = 0; i < p->names.len; i++)
        vec_push(&w->addresses,
                 named_run_function(f->run, 0, p->names.at[i].at, text_len(p->names.at[i])));
    for (size_t i = 0; i < p->lines.len; i++) {
        const struct folded_line *line = &p->lines.at[i];
        uint32_t node = line->kept ? f->path.at[line->kept - 1] : RECORDING_ROOT;
        vec_reserve(&f->path, line->kept + line->frames);
        for (size_t k = 0; k < line->frames; k++, frame++) {
            if (*frame != NO_NAME)
                node = named_run_node(f->run, node, 0, w->addresses.at[*frame]);
            f->path.at[line->kept + k] = node;
        }
        if (line->is_seen)
            node = w->seen_node[line->seen];
        w->seen_node[line->seen] = node;
        if (!folded_sample(f, node, line))
            return false;
    }
    f->first_odd = f->first_odd || !p->odd ? f->first_odd : f->lines + p->first_odd;
    f->odd += p->odd;
    f->lines += p->all;
    return true;
}

/* One turn of a thread: takes the next piece, which ends with a line, parses it, and makes nodes of
 * all pieces that are ready, in their order, unless another thread does. The piece that is to be
 * made next has always been taken by a thread that does not wait. */
static void folded_turn(size_t i, unsigned worker, void *context)
{
    struct folded_file *f = context;
    (void)i;
    pthread_mutex_lock(&f->lock);
    while (f->next < f->limit && f->taken - f->made >= f->room)
        pthread_cond_wait(&f->is_made, &f->lock);
    if (f->next == f->limit) {
        pthread_mutex_unlock(&f->lock);
        return;
    }
    struct folded_piece *p = &f->pieces[f->taken++ % f->room];
    size_t left = (size_t)(f->limit - f->next);
    const char *newline =
        left > PIECE_BYTES ? memchr(f->next + PIECE_BYTES, '\n', left - PIECE_BYTES) : NULL;
    p->text = (struct text_lines){f->next, newline ? newline + 1 : f->limit, 0};
    p->worker = &f->workers[worker];
    f->next = p->text.end;
    pthread_mutex_unlock(&f->lock);
    folded_parse(p, f->limit);
    pthread_mutex_lock(&f->lock);
    p->is_ready = true;
    while (!f->is_refused && !f->is_making && (p = &f->pieces[f->made % f->room])->is_ready) {
        f->is_making = true;
        pthread_mutex_unlock(&f->lock);
        bool ok = p->is_text && folded_make_nodes(f, p);
        pthread_mutex_lock(&f->lock);
        p->is_ready = f->is_making = false;
        f->is_refused = !ok;
        f->next = ok ? f->next : f->limit;
        f->made++;
        pthread_cond_broadcast(&f->is_made);
    }
    pthread_mutex_unlock(&f->lock);
}

/* There is no other reason to stop than NUL bytes, wherever they are, and the sum. */
bool folded_read(struct bytes in, const char *name, struct recording *out, struct err *e)
{
    struct named_run n;
    struct text_lines lines = text_lines_over(in);
    struct folded_file f = {.limit = lines.end,
                            .lock = PTHREAD_MUTEX_INITIALIZER,
                            .is_made = PTHREAD_COND_INITIALIZER,
                            .next = lines.at,
                            .run = &n,
                            .unit = 1};
    size_t turns = in.len / PIECE_BYTES + 1;
    unsigned workers = parallel_workers(turns, 0);
    workers = workers < MOST_WORKERS ? workers : MOST_WORKERS;
    struct arena scratch = {0};
    struct err why = {0};
    if (folded_is_difference(in))
        return err_in(e, name,
                      "has two counts in each line, of two runs: 'monarc flat --base' "
                      "compares the folded stacks of one run with those of another");
    named_run_begin(&n, out, false);
    named_run_object(&n, name, strlen(name));
    named_run_event(&n, "samples", strlen("samples"), RECORDING_UNIT_COUNT);
    named_run_thread(&n, 0, 0, "", 0);
    f.room = 4 * workers;
    f.workers = ARENA_NEW(&scratch, struct folded_worker, workers);
    f.pieces = ARENA_NEW(&scratch, struct folded_piece, f.room);
    for (unsigned i = 0; i < workers; i++) {
        f.workers[i].seen = ARENA_NEW(&scratch, struct text_span, SEEN);
        f.workers[i].seen_node = ARENA_NEW(&scratch, uint32_t, SEEN);
        folded_grow(&f.workers[i]);
    }
    parallel_for_workers(turns, workers, folded_turn, &f);
    for (unsigned i = 0; i < workers; i++) {
        memory_free(f.workers[i].slots);
        vec_free(&f.workers[i].words);
        vec_free(&f.workers[i].ends);
        vec_free(&f.workers[i].addresses);
    }
    for (size_t i = 0; i < f.room; i++) {
        vec_free(&f.pieces[i].lines);
        vec_free(&f.pieces[i].frames);
        vec_free(&f.pieces[i].names);
    }
    vec_free(&f.path);
    arena_deinit(&scratch);
    bool ok = !f.is_refused || err_in(e, name, text_is_text(in) ? NO_SUM : NO_TEXT);
    if (f.unit != 1)
        out->events.at[0].name = "millionths";
    out->events.at[0].period = f.unit;
    if (f.odd)
        named_run_lose(&n, "lines that are not a stack followed by a number", f.odd);
    if (ok && f.first_odd && !out->samples.len)
        ok = err_in(e, name, "line %" PRIu64 " is not a stack followed by a number", f.first_odd);
    named_run_finish(&n);
    return ok && (recording_check(out, &why) || err_in(e, name, "%s", why.line));
}
