/* Writes gmon.out, and the memory as it is. include/monarc/gmon_out.h has the former's bytes. */
#include "control.h"

#include <monarc/gmon_out.h>

/* A writer with a few bytes of memory: records are gmon_put together and written at once. */
struct gmon_output {
    monarc_embedded_writer *write;
    void *context;
    uint32_t length;
    bool ok;
    unsigned char held[48];
};

static MONARC_QUIET void gmon_flush(struct gmon_output *o)
{
    if (o->length)
        o->ok = o->ok && o->write(o->context, o->held, o->length);
    o->length = 0;
}

static MONARC_QUIET void gmon_put(struct gmon_output *o, const void *bytes, uint32_t length)
{
    const unsigned char *at = bytes;
    while (length--) {
        if (o->length == sizeof o->held)
            gmon_flush(o);
        o->held[o->length++] = *at++;
        MONARC_BARRIER();
    }
}

static MONARC_QUIET void gmon_put_32(struct gmon_output *o, uint32_t value)
{
    gmon_put(o, &value, sizeof value);
}

static MONARC_QUIET void gmon_put_address(struct gmon_output *o, uintptr_t value)
{
#if defined(__arm__)
    value &= ~(uintptr_t)1;
#endif
    gmon_put(o, &value, sizeof value);
}

static MONARC_QUIET void gmon_put_tag(struct gmon_output *o, unsigned char tag)
{
    gmon_put(o, &tag, 1);
}

static MONARC_QUIET void gmon_put_histogram(struct gmon_output *o, const struct monarc_control *c,
                                            unsigned i)
{
    static const char seconds[GMON_OUT_DIMENSION_BYTES] = "seconds";
    static const char samples[GMON_OUT_DIMENSION_BYTES] = "samples";
    const struct monarc_head *h = c->head;
    const uint16_t *bins = c->bins;
    for (unsigned k = 0; k < i; k++)
        bins += monarc_window_bins(h, k);
    gmon_put_tag(o, GMON_OUT_TAG_HISTOGRAM);
    gmon_put_address(o, h->window[i].low);
    gmon_put_address(o, h->window[i].high);
    gmon_put_32(o, monarc_window_bins(h, i));
    /* Without a rate, samples are all that is known: no seconds are made of them. */
    uint32_t rate = h->word[MONARC_BLOB_RATE];
    gmon_put_32(o, rate ? rate : 1);
    gmon_put(o, rate ? seconds : samples, GMON_OUT_DIMENSION_BYTES);
    gmon_put(o, rate ? "s" : "n", 1);
    gmon_flush(o);
    o->ok = o->ok && o->write(o->context, bins, 2 * monarc_window_bins(h, i));
}

/* gprof's counts have 4 bytes; it sums arcs that are written several times. */
static MONARC_QUIET void gmon_put_arc(struct gmon_output *o, const struct monarc_arc *a)
{
    uintptr_t left = a->count;
    while (left) {
        uint32_t part = left < UINT32_MAX ? (uint32_t)left : UINT32_MAX;
        gmon_put_tag(o, GMON_OUT_TAG_ARC);
        gmon_put_address(o, a->from);
        gmon_put_address(o, a->self);
        gmon_put_32(o, part);
        left -= part;
    }
}

MONARC_QUIET bool monarc_embedded_write_gmon(monarc_embedded_writer *write, void *context)
{
    struct gmon_output o;
    if (!monarc_is_set_up(monarc_control))
        return false;
    struct monarc_pause was = monarc_pause();
    o.write = write;
    o.context = context;
    o.length = 0;
    o.ok = true;
    gmon_put(&o, GMON_OUT_MAGIC, 4);
    gmon_put_32(&o, GMON_OUT_VERSION_1);
    for (unsigned i = 0; i < 3; i++)
        gmon_put_32(&o, 0);
    for (unsigned core = 0; core < MONARC_CORES; core++) {
        const struct monarc_control *c = &monarc_control[core];
        for (unsigned i = 0; i < c->head->word[MONARC_BLOB_WINDOWS]; i++)
            gmon_put_histogram(&o, c, i);
        for (uint32_t i = 0; i < c->slots; i++)
            if (c->arcs[i].from > 1) /* 1: claimed by a call that is being counted */
                gmon_put_arc(&o, &c->arcs[i]);
    }
    gmon_flush(&o);
    monarc_resume(&was);
    return o.ok;
}

MONARC_QUIET bool monarc_embedded_write_memory(monarc_embedded_writer *write, void *context)
{
    bool ok = monarc_is_set_up(monarc_control);
    struct monarc_pause was = monarc_pause();
    for (unsigned core = 0; core < MONARC_CORES && ok; core++) {
        const struct monarc_head *h = monarc_control[core].head;
        ok = write(context, h, h->word[MONARC_BLOB_SIZE]);
    }
    monarc_resume(&was);
    return ok;
}
