/* glibc's profiles of one shared object (LD_PROFILE), read and written. The bytes:
 * docs/formats/sprof.md.
 *
 * One histogram over the object's text, then arcs whose addresses count from its start. The file is
 * made in full size when the object is loaded, so most of it is zeros after the last arc. A caller
 * outside the object is recorded as 0 and stays 0 here.
 *
 *     "gmon" | u32 0x1ffff | 12 bytes of 0
 *     u32 0 | word low, high | u32 bins, rate | dimension | u16 counters
 *     u32 1 | u32 n | n times {word from, word self, u32 count} | zeros
 *
 * Tags are 4 bytes here, not one as in GNU's files, and each kind of record occurs once. Refused:
 * other tags, and fewer arcs than are claimed; of writing, arcs that leave the text, since the file
 * does not know other objects. Source: glibc elf/dl-profile.c, elf/sprof.c. */
#include "profile/format/records.h"
#include "monarc/gmon_out.h"

#include <inttypes.h>

static const struct arc_layout ARC = {0};

/* Takes a tag of 4 bytes, which must be the one that is due. */
static bool read_tag(struct reading *r, uint32_t wanted)
{
    struct cursor where = r->in;
    uint32_t tag = cursor_u32(&r->in);
    if (r->in.failed)
        return reading_fail(r, &where, READ_SHORT_HEADER, cursor_left(&where), 4,
                            "the file ends before the tag of a record");
    return tag == wanted || reading_fail(r, &where, READ_BAD_TAG, tag, wanted,
                                         "a record has tag %" PRIu32 ", not %" PRIu32, tag, wanted);
}

static bool is_zero(const struct cursor *in)
{
    for (const uint8_t *at = in->at; at < in->end; at++)
        if (*at)
            return false;
    return true;
}

/* As many arcs as are claimed must be there; what follows is room for more. */
static bool read_arcs(struct reading *r)
{
    struct cursor where = r->in;
    uint32_t claimed = cursor_u32(&r->in);
    if (r->in.failed)
        return reading_fail(r, &where, READ_SHORT_ARC, 0, 0, "the file ends before its arcs");
    size_t found = reading_arcs(r, ARC, claimed);
    return found == claimed ||
           reading_fail(r, &r->in, READ_SHORT_ARC, found, claimed,
                        "the file claims %" PRIu32 " arcs and ends after %zu", claimed, found);
}

/* Addresses of arcs are written relative to where the histogram begins. */
static bool read_histogram(struct reading *r, const struct cursor *where)
{
    struct cursor low = r->in;
    if (r->out)
        r->arc_base = cursor_word(&low);
    return reading_histogram(r, where);
}

/* What follows the arcs is room that was never used, hence zeros. Something else is no reason to
 * refuse them: it is odd, and counted in trailing_bytes. */
static bool walk(struct reading *r)
{
    struct cursor where = r->in;
    if (!read_tag(r, GMON_OUT_TAG_HISTOGRAM) || !read_histogram(r, &where) ||
        !read_tag(r, GMON_OUT_TAG_ARC) || !read_arcs(r))
        return false;
    if (is_zero(&r->in))
        return true;
    r->odd++;
    if (r->out)
        r->out->trailing_bytes = cursor_left(&r->in);
    return true;
}

static bool probe(struct bytes in, const struct format_hint *hint)
{
    uint32_t version;
    enum byte_order order;
    return gmon_version(in, hint, &version, &order) && version == GMON_OUT_VERSION_SHARED;
}

static bool read(struct bytes in, const char *name, const struct format_hint *hint,
                 struct profile *out, struct err *e)
{
    struct cursor at = cursor_over(in, name);
    enum byte_order order;
    out->format = PROFILE_SPROF;
    return gmon_open(&at, hint, true, &order, out, e) && reading_run(at, order, hint, walk, out, e);
}

/* --- writing --------------------------------------------------------------------------------- */

static bool is_inside(const struct histogram *text, uint64_t address)
{
    return address >= text->low && address < text->high;
}

/* A caller at the very start would be taken for one outside. */
static bool arcs_fit(const struct profile *p, struct err *e)
{
    const struct histogram *text = &p->histograms.at[0];
    for (size_t i = 0; i < p->arcs.len; i++) {
        const struct arc *arc = &p->arcs.at[i];
        if (!is_inside(text, arc->self) ||
            (arc->from && (!is_inside(text, arc->from) || arc->from == text->low)))
            return err_set(e,
                           "an sprof file cannot hold the arc 0x%" PRIx64 " -> 0x%" PRIx64
                           ", which leaves the object's text 0x%" PRIx64 "-0x%" PRIx64,
                           arc->from, arc->self, text->low, text->high);
    }
    return true;
}

/* Number and size of everything is known before the first byte is written: arcs whose count exceeds
 * 32 bits are several records, and are counted so. */
static bool write(struct writer *w, const struct profile *p, struct err *e)
{
    static const struct writing_limits LIMITS = {.name = "an sprof file",
                                                 .has_one_histogram = true,
                                                 .has_dimension = true,
                                                 .has_rate = true};
    if (!writing_fits(p, w->word, &LIMITS, e) || !arcs_fit(p, e))
        return false;
    uint64_t records = writing_arc_records(p, ARC, w->word);
    if (records > UINT32_MAX)
        return err_set(e, "%s cannot hold %" PRIu64 " arcs", LIMITS.name, records);
    const struct histogram *text = &p->histograms.at[0];
    gmon_write_header(w, GMON_OUT_VERSION_SHARED);
    writer_u32(w, GMON_OUT_TAG_HISTOGRAM);
    writing_histogram_header(w, text);
    writing_counters(w, text, 0, 2);
    writer_u32(w, GMON_OUT_TAG_ARC);
    writer_u32(w, (uint32_t)records);
    writing_arcs(w, p, ARC, text->low);
    return true;
}

const struct format format_sprof = {
    .name = "sprof",
    .title = "glibc shared-object profile",
    .id = PROFILE_SPROF,
    .probe = probe,
    .read = read,
    .write = write,
};
