/* RFC 4180. */
#include "output/csv.h"

#include <inttypes.h>
#include <math.h>

static void separate(struct csv *c)
{
    if (c->has_fields)
        out_char(c->out, ',');
    c->has_fields = true;
}

void csv_str(struct csv *c, const char *text)
{
    separate(c);
    if (!text)
        return;
    bool is_quoted = strpbrk(text, ",\"") != NULL;
    if (is_quoted)
        out_char(c->out, '"');
    for (; *text; text++) {
        bool is_control = (unsigned char)*text < ' ' || *text == 127;
        if (*text == '"')
            out_char(c->out, '"');
        out_char(c->out, is_control ? '?' : *text);
    }
    if (is_quoted)
        out_char(c->out, '"');
}

void csv_u64(struct csv *c, uint64_t value)
{
    separate(c);
    out_u64(c->out, value, 0);
}

void csv_double(struct csv *c, double value)
{
    separate(c);
    if (isfinite(value))
        out_shortest(c->out, value);
}

void csv_address(struct csv *c, uint64_t value)
{
    separate(c);
    out_printf(c->out, "0x%" PRIx64, value);
}

void csv_none(struct csv *c)
{
    separate(c);
}

void csv_end(struct csv *c)
{
    out_str(c->out, "\r\n");
    c->has_fields = false;
}

void csv_header(struct csv *c, const char *names)
{
    out_str(c->out, names);
    csv_end(c);
}
