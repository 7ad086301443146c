/* Reading profiles as GNU gprof does, and writing their sum (-s).
 *
 * Word size and byte order are the image's, never deduced: a file of another machine is nonsense,
 * in GNU's words. Histograms of the same range are summed whatever their rate; ranges that overlap
 * otherwise, another scale or another dimension end the command. Arcs and blocks are kept as they
 * came, file after file, since the order of the newest decides about the order in which the graph
 * is printed. What GNU would go on reading from uninitialised memory is an error here
 * (docs/compat.md).
 *
 * The sum is what was read and booked, as a profile again. As GNU gprof writes it, calls no longer
 * know their sites: each arc goes from the start of a line symbol to the start of a function, by
 * caller in the order of addresses, the newest of a caller first. Counts that do not fit their
 * field become several records, which readers add up. */
#include "gnu/gprof/gprof.h"

#include "base/file.h"
#include "base/map.h"
#include "base/sort.h"
#include "gnu/gprof/functions_gnu.h"
#include "profile/format/format.h"
#include "session/profiles.h"

#include <math.h>
#include <string.h>

enum { HEADER_BYTES = 20, GNU_VERSIONS = 2 };

/* The message for a file that could not be read to its end. In GNU's words, which differ by format:
 * only files with tags name themselves where bins end early. */
static bool explain(const char *whoami, const char *path, const struct format *format,
                    const struct profile *p, struct err *e)
{
    unsigned long long seen = p->failure.seen, of = p->failure.of;
    bool has_tags = format->id == PROFILE_GNU;
    switch (p->failure.what) {
    case READ_SHORT_HEADER: return err_set(e, "%s: file too short to be a gmon file", path);
    case READ_BAD_MAGIC: return err_set(e, "%s: file `%s' has bad magic cookie", whoami, path);
    case READ_BAD_VERSION:
        return err_set(e, "%s: file `%s' has unsupported version %llu", whoami, path, seen);
    case READ_BAD_TAG:
        return err_set(e, "%s: %s: found bad tag %llu (file corrupted?)", whoami, path, seen);
    case READ_SHORT_BINS:
        if (has_tags)
            return err_set(e, "%s: %s: unexpected EOF after reading %llu of %llu samples", whoami,
                           path, seen, of);
        return err_set(e, "%s: unexpected EOF after reading %llu/%llu bins", whoami, seen, of);
    default: return err_set(e, "%s: %s: unexpected end of file", whoami, path);
    }
}

/* -O, or the magic; without one, 4.4BSD's header has a version, the old one's has none. */
static const struct format *choose(const struct gprof_options *o, struct bytes in,
                                   const struct format_hint *hint)
{
    bool is_magic = in.len >= 4 && !memcmp(in.at, "gmon", 4);
    if (o->format == 'm' || (o->format == 'a' && is_magic))
        return format_named("gmon");
    if (o->format == '4')
        return format_named("bsd44");
    return format_named("bsd44")->probe(in, hint) ? format_named("bsd44") : format_named("bsd");
}

/* There are a few histograms at most: a list will do. */
static struct histogram *same_range(struct profile *all, const struct histogram *h)
{
    for (size_t i = 0; i < all->histograms.len; i++)
        if (all->histograms.at[i].low == h->low && all->histograms.at[i].high == h->high)
            return &all->histograms.at[i];
    return NULL;
}

/* Ranges are half open: those that only touch stand side by side. */
static bool overlaps_any(const struct profile *all, const struct histogram *h)
{
    for (size_t i = 0; i < all->histograms.len; i++)
        if (h->low < all->histograms.at[i].high && all->histograms.at[i].low < h->high)
            return true;
    return false;
}

/* Moves the histograms of one file into the sum. Checks come in GNU's order, as the first one that
 * fails has the message. Dimensions are compared in 15 bytes, the length of their field in the
 * file. */
static bool add_histograms(const char *whoami, struct profile *all, struct profile *file,
                           struct err *e)
{
    for (size_t i = 0; i < file->histograms.len; i++) {
        struct histogram *h = &file->histograms.at[i];
        if (all->histograms.len) {
            /* Whether `h` can stand beside the first histogram read. */
            if (strncmp(all->histograms.at[0].dimension, h->dimension, 15))
                return err_set(
                    e, "%s: dimension unit changed between histogram records, from '%s' to '%s'",
                    whoami, all->histograms.at[0].dimension, h->dimension);
            if (all->histograms.at[0].abbreviation != h->abbreviation)
                return err_set(e,
                               "%s: dimension abbreviation changed between histogram records, "
                               "from '%c' to '%c'",
                               whoami, all->histograms.at[0].abbreviation, h->abbreviation);
            if (fabs(gnu_scale(&all->histograms.at[0], false) - gnu_scale(h, false)) > 0.000001)
                return err_set(e, "%s: different scales in histogram records", whoami);
        }
        struct histogram *same = same_range(all, h);
        if (same) {
            histogram_add_all(same, h);
            continue;
        }
        if (overlaps_any(all, h))
            return err_set(e, "%s: overlapping histogram records", whoami);
        vec_push(&all->histograms, *h);
        *h = (struct histogram){0};
    }
    return true;
}

/* Appends the arcs of one file to those read before. The first file's arcs are taken over instead
 * of being copied, as it is usually the only one. */
static void add_arcs(struct profile *all, struct profile *file)
{
    if (!file->arcs.len)
        return;
    if (!all->arcs.len) {
        vec_free(&all->arcs);
        memcpy(&all->arcs, &file->arcs, sizeof all->arcs);
        memset(&file->arcs, 0, sizeof file->arcs);
        return;
    }
    vec_reserve(&all->arcs, all->arcs.len + file->arcs.len);
    memcpy(all->arcs.at + all->arcs.len, file->arcs.at, file->arcs.len * sizeof *file->arcs.at);
    all->arcs.len += file->arcs.len;
}

/* A BSD file has one histogram, always: if it is empty or upside down, that says something. */
static bool check_bsd(const char *whoami, const char *path, struct profile *file, struct err *e)
{
    struct histogram *h = file->histograms.len ? &file->histograms.at[0] : NULL;
    if (h && h->low > h->high)
        return err_set(e, "%s: file '%s' does not appear to be in gmon.out format", whoami, path);
    if (h && !h->bins)
        file->histogram_records = 0;
    return true;
}

/* GNU makes its symbols when the first arc or block is read, or all is: of the histograms, those
 * that were there by then decide about lines (has_sampled_lines). Records of equal range count
 * once. */
static void note_sampled(struct gprof_input *input, const struct profile *file, size_t before)
{
    size_t first = 0; /* histograms of this file before its first other record */
    size_t i = 0;
    while (i < file->runs.len && file->runs.at[i].kind == RECORD_HISTOGRAM)
        first = file->runs.at[i++].first + 1;
    if (input->has_symbols)
        return;
    input->has_symbols = i < file->runs.len;
    input->sampled = input->has_symbols && before + first < input->profile.histograms.len
                         ? before + first
                         : input->profile.histograms.len;
}

/* One file: read, checked, added, and with -i described. A failure leaves what was added before;
 * the command ends then. */
static bool add_file(const struct gprof_options *o, const struct format_hint *hint,
                     const char *path, struct gprof_input *input, struct file_buffer *buffer,
                     struct out *out, struct err *e)
{
    if (!file_read_if(path, format_may_be, buffer, e))
        return false;
    struct bytes in = file_bytes(buffer);
    if (in.len < HEADER_BYTES)
        return err_set(e, "%s: file too short to be a gmon file", path);

    const struct format *format = choose(o, in, hint);
    bool is_bsd = format->id != PROFILE_GNU;
    struct profile file = {0};
    struct err why;
    bool ok =
        format->read(in, path, hint, &file, &why) || explain(o->whoami, path, format, &file, e);
    size_t before = input->profile.histograms.len;
    ok = ok && (!is_bsd || check_bsd(o->whoami, path, &file, e)) &&
         add_histograms(o->whoami, &input->profile, &file, e);
    if (ok)
        note_sampled(input, &file, before);
    if (ok) {
        add_arcs(&input->profile, &file);
        input->profile.block_records += file.block_records;
        for (size_t i = 0; i < file.blocks.len; i++)
            vec_push(&input->profile.blocks, file.blocks.at[i]);
    }
    input->has_arcs |= is_bsd || file.arc_records;
    input->version = is_bsd ? input->version : file.version;
    if (ok && (o->styles & STYLE_INFO)) {
        unsigned long long histograms = file.histogram_records, arcs = file.arc_records,
                           blocks = file.block_records;
        out_printf(out, "File `%s' (version %u) contains:\n", path, input->version);
        out_printf(out, "\t%llu histogram record%s\n", histograms, text_plural(histograms));
        out_printf(out, "\t%llu call-graph record%s\n", arcs, text_plural(arcs));
        out_printf(out, "\t%llu basic-block count record%s\n", blocks, text_plural(blocks));
    }
    profile_deinit(&file);
    return ok;
}

/* One buffer serves all files, one after the other; the sum of profiles is all that stays in
 * memory. */
bool gprof_read_profiles(const struct gprof_options *o, const struct object *image,
                         struct gprof_input *input, struct out *out, struct err *e)
{
    char gmon_out[] = "gmon.out", *default_paths[] = {gmon_out};
    char **paths = o->profiles_len ? o->profiles : default_paths;
    int len = o->profiles_len ? o->profiles_len : 1;
    /* Word size and byte order are the image's, never deduced. */
    struct format_hint hint =
        (struct format_hint){.bsd_header = BSD_HEADER,
                             .word = object_word(image),
                             .order = object_is_big_endian(image) ? ORDER_BIG : ORDER_LITTLE};
    struct file_buffer buffer = {0};
    bool ok = true;
    for (int i = 0; ok && i < len; i++)
        ok = add_file(o, &hint, paths[i], input, &buffer, out, e);
    file_buffer_deinit(&buffer);
    return ok;
}

/* By symbol, within one as they first came; those in no symbol are dropped. */
static void copy_blocks(struct profile *sum, const struct profile *p, const struct functions *f)
{
    struct arena scratch = {0};
    struct map place = {0}; /* of each address in sum->blocks */
    struct keyed *order = ARENA_NEW(&scratch, struct keyed, p->blocks.len);
    uint32_t len = 0;
    for (uint32_t i = 0; i < p->blocks.len; i++) {
        uint32_t symbol = functions_find(f, p->blocks.at[i].address);
        if (symbol != NO_FUNCTION)
            order[len++] = (struct keyed){symbol, i};
    }
    sort_keyed(order, len);
    for (uint32_t i = 0; i < len; i++) {
        const struct block *b = &p->blocks.at[order[i].item];
        bool is_new;
        uint32_t at = map_index(&place, b->address, 0, sum->blocks.len, &is_new);
        if (is_new)
            vec_push(&sum->blocks, *b);
        else
            sum->blocks.at[at].count = add_saturating(sum->blocks.at[at].count, b->count);
    }
    map_deinit(&place);
    arena_deinit(&scratch);
}

/* The format of the sum. Old BSD files cannot state another rate than 100 Hz, so such a profile is
 * written as 4.4BSD. */
static const struct format *choose_format(const struct gprof_options *o, const struct profile *sum)
{
    enum { USUAL_RATE = 100 };
    bool is_usual = sum->histograms.len && sum->histograms.at[0].rate == USUAL_RATE;
    if (o->format == '4' || (o->format == 'b' && !is_usual))
        return format_named("bsd44");
    return format_named(o->format == 'b' ? "bsd" : "gmon");
}

/* Histograms are borrowed from `p`; arcs and blocks are made for the sum, and freed here. */
bool gprof_write_sum(const struct gprof_options *o, const struct object *image,
                     const struct profile *p, const struct functions *f, const struct graph *g,
                     struct err *e)
{
    struct profile sum = {.format = PROFILE_GNU, .block_records = p->block_records};
    /* One rate holds for all. */
    for (size_t i = 0; i < p->histograms.len; i++) {
        vec_push(&sum.histograms, p->histograms.at[i]);
        sum.histograms.at[i].rate = p->histograms.at[0].rate;
    }
    if (g) {
        /* Calls that only the code shows (-c) were not measured. */
        vec_reserve(&sum.arcs, g->measured_len);
        for (uint32_t caller = 0; caller < g->functions->len; caller++)
            for (uint32_t i = g->callees.start[caller]; i < g->callees.start[caller + 1]; i++) {
                const struct graph_arc *arc = &g->arcs[g->callees.arc[i]];
                if (!graph_arc_is_static(g, arc))
                    vec_push(&sum.arcs, ((struct arc){.from = g->functions->at[caller].start,
                                                      .self = g->functions->at[arc->callee].start,
                                                      .count = arc->count}));
            }
    }
    copy_blocks(&sum, p, f);
    bool ok = profile_save(choose_format(o, &sum), &sum, object_word(image),
                           object_is_big_endian(image), "gmon.sum", e);
    vec_free(&sum.histograms); /* their counters are the profile's */
    profile_deinit(&sum);
    return ok;
}
