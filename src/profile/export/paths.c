/* Exports that are call paths alone: folded stacks, V8's .cpuprofile.
 *
 * Both have the exchange's tree of frames and the time of each path in it, none has room for calls.
 * A path that the model estimated from counted pairs, and that may never have run, is marked by a
 * frame of its own outside, EXPORT_MODEL_FRAME, since the formats have no place for remarks.
 *
 * Frames stand in preorder, parents before children. So one array by depth is all that is needed to
 * know the way to the current frame; nothing recurses, however deep the tree is. Cost is that of
 * what is written: the sum of all paths' lengths, but for .cpuprofile, which is linear.
 *
 * Folded stacks, one a line: `main;work;leaf 1200`. For flamegraph.pl, inferno, speedscope and many
 * more. */
#include "profile/export/exports.h"

#include "output/formats.h"

/* The text of the way to the current frame is kept, with where each frame on it ends. So a name is
 * copied once for a frame, not once for each path that it is on; it is checked, and rid of what
 * would end it or the line, once for a function. */
void folded_export(struct out *out, const struct exchange *x)
{
    struct arena scratch = {0};
    struct {
        size_t start, len; /* in `names`; 0: not there yet */
    } *name = arena_array(&scratch, x->functions.len, sizeof *name);
    struct out names;
    out_init(&names, -1);
    out_char(&names, ';');
    size_t *end = ARENA_NEW(&scratch, size_t, x->frames.len + 1);
    struct out way;
    out_init(&way, -1);
    if (x->has_estimates)
        out_str(&way, EXPORT_MODEL_FRAME);
    end[0] = way.len;
    for (uint32_t i = 1; i < x->frames.len; i++) {
        const struct exchange_frame *f = &x->frames.at[i];
        way.len = end[f->depth - 1];
        if (f->depth > 1 || x->has_estimates)
            out_char(&way, ';');
        if (!name[f->function].start) {
            name[f->function].start = names.len;
            text_name_without(&names, x->functions.at[f->function].name, ';', ':');
            name[f->function].len = names.len - name[f->function].start;
        }
        out_bytes(&way, names.at + name[f->function].start, name[f->function].len);
        end[f->depth] = way.len;
        if (!f->self)
            continue;
        out_bytes(out, way.at, way.len);
        out_char(out, ' ');
        out_u64(out, f->self, 0);
        out_char(out, '\n');
    }
    out_deinit(&way);
    out_deinit(&names);
    arena_deinit(&scratch);
}

/* ---- The .cpuprofile of V8's inspector protocol (Profiler.Profile): JSON for the performance
 * panels of Chrome and Edge, VS Code, speedscope, and Firefox' profiler.
 *
 * It is a tree of nodes and a sequence of samples, each in one node for so many microseconds. They
 * stand in no order of time, which a profile does not know. The next sample's delta gives the
 * length of a sample, so that one in `(idle)` ends the row.
 *
 * All samples last equally long: some readers, Firefox' profiler among them, count samples and do
 * not look at how long they are. So a path has as many as its share asks for. Their length is the
 * largest that divides all times, if that makes no more than MOST_SAMPLES; else times are rounded
 * to a length that does, each path passing on what it has too little or too much.
 *
 * Firefox' profiler takes a sample only if at least FIREFOX_MICROSECONDS have passed since the one
 * that it took last, and so never one at the start. The first therefore begins a length after it,
 * events that are no time are long enough to be taken, and few long samples are split: then
 * the one in `(idle)`, which it counts as well, is hardly seen. */

enum { ROOT = 1, IDLE = 2, MARK = 3, FIRST = 3 }; /* ids of nodes; frame i is FIRST + i */
enum { FIREFOX_MICROSECONDS = 500 };

/* Events that are no time stand as a microsecond each, or as a millisecond or a second if they are
 * few. */
static double microseconds(const struct exchange *x, uint64_t amount)
{
    if (!strcmp(x->unit, "nanoseconds"))
        return (double)amount / 1000;
    return (double)amount * (x->total < 1000 ? 1000000 : x->total < 1000000 ? 1000 : 1);
}

/* The frames directly below each frame, as lists. */
struct children {
    uint32_t *first, *next; /* 0: none */
};

/* Begins a node and its list of children; hitCount is derived from `samples` by who reads it. */
static void cpuprofile_node(struct json *j, uint32_t id, const struct exchange_function *f)
{
    json_begin(j, '{');
    json_pair_u64(j, "id", id);
    /* Lines and columns count from 0 here; -1 is not known. */
    json_key(j, "callFrame"), json_begin(j, '{');
    json_pair_str(j, "functionName", f->name);
    json_pair_str(j, "scriptId", "0");
    json_pair_str(j, "url", f->file ? f->file : "");
    json_key(j, "lineNumber"), json_i64(j, f->file && f->line ? (int64_t)f->line - 1 : -1);
    json_key(j, "columnNumber"), json_i64(j, f->file && f->line ? 0 : -1);
    json_end(j);
    json_pair_u64(j, "hitCount", 0);
    json_key(j, "children"), json_begin(j, '[');
}

static void cpuprofile_node_end(struct json *j)
{
    json_end(j);
    json_end(j);
}

static void cpuprofile_children(struct json *j, const struct children *below, uint32_t frame)
{
    for (uint32_t i = below->first[frame]; i; i = below->next[i])
        json_u64(j, FIRST + i);
}

/* The root; what the sequence ends in; a mark around paths that may never have run. */
static void cpuprofile_outer_nodes(struct json *j, const struct exchange *x,
                                   const struct children *below)
{
    cpuprofile_node(j, ROOT, &(struct exchange_function){.name = "(root)"});
    json_u64(j, IDLE);
    if (x->has_estimates)
        json_u64(j, MARK);
    else
        cpuprofile_children(j, below, 0);
    cpuprofile_node_end(j);
    cpuprofile_node(j, IDLE, &(struct exchange_function){.name = "(idle)"});
    cpuprofile_node_end(j);
    if (!x->has_estimates)
        return;
    cpuprofile_node(j, MARK, &(struct exchange_function){.name = EXPORT_MODEL_FRAME});
    cpuprofile_children(j, below, 0);
    cpuprofile_node_end(j);
}

/* All nodes, flat; each lists the ids of its children. */
static void cpuprofile_nodes(struct json *j, const struct exchange *x)
{
    struct arena scratch = {0};
    /* One pass from the end: parents precede their children, so lists come out in order. */
    struct children below = {ARENA_NEW(&scratch, uint32_t, x->frames.len),
                             ARENA_NEW(&scratch, uint32_t, x->frames.len)};
    for (uint32_t i = (uint32_t)x->frames.len; i-- > 1;) {
        uint32_t parent = x->frames.at[i].parent;
        below.next[i] = below.first[parent];
        below.first[parent] = i;
    }
    json_key(j, "nodes"), json_begin(j, '[');
    cpuprofile_outer_nodes(j, x, &below);
    for (uint32_t i = 1; i < x->frames.len; i++) {
        cpuprofile_node(j, FIRST + i, &x->functions.at[x->frames.at[i].function]);
        cpuprofile_children(j, &below, i);
        cpuprofile_node_end(j);
    }
    json_end(j);
    arena_deinit(&scratch);
}

/* The greatest common divisor of all times, or what makes MOST_SAMPLES samples if that is more. */
static uint64_t cpuprofile_sample_length(const struct exchange *x)
{
    enum { MOST_SAMPLES = 100000 };
    uint64_t length = 0, total = 0;
    for (uint32_t i = 1; i < x->frames.len; i++) {
        uint64_t a = x->frames.at[i].self, b = length;
        total += a;
        while (b) {
            uint64_t rest = a % b;
            a = b;
            b = rest;
        }
        length = a;
    }
    uint64_t least = total / MOST_SAMPLES + 1;
    return length >= least ? length : least;
}

/* Into how many samples one of `length` is split: a power of ten, for deltas of few digits. */
static uint64_t cpuprofile_split(const struct exchange *x, uint64_t length)
{
    enum { FEWEST_SAMPLES = 1000 };
    uint64_t split = 1;
    while (length && x->total / length * split < FEWEST_SAMPLES &&
           microseconds(x, length) / (10 * (double)split) >= FIREFOX_MICROSECONDS)
        split *= 10;
    return split;
}

/* timeDeltas[i] is the time from sample i - 1 to sample i, the first from startTime. What a path
 * has too much or too little of for whole samples is carried over to the next one; half a length
 * at the start rounds to the nearest. */
static void cpuprofile_samples(struct json *j, const struct exchange *x)
{
    uint64_t length = cpuprofile_sample_length(x), left = length / 2, samples = 0;
    uint64_t split = cpuprofile_split(x, length);
    double delta = microseconds(x, length) / (double)split;
    json_key(j, "samples"), json_begin(j, '[');
    for (uint32_t i = 1; i < x->frames.len; i++)
        for (left += x->frames.at[i].self; left >= length && length; left -= length)
            for (uint64_t k = 0; k < split; k++, samples++)
                json_u64(j, FIRST + i);
    json_u64(j, IDLE);
    json_end(j);
    json_key(j, "timeDeltas"), json_begin(j, '[');
    for (uint64_t i = 0; i <= samples; i++)
        json_double(j, delta);
    json_end(j);
    json_pair_u64(j, "startTime", 0);
    json_pair_double(j, "endTime", (double)(samples + 1) * delta);
}

void cpuprofile_export(struct out *out, const struct exchange *x)
{
    struct json j = {.out = out, .is_compact = true};
    json_begin(&j, '{');
    cpuprofile_nodes(&j, x);
    cpuprofile_samples(&j, x);
    json_end(&j);
}
