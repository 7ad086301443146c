/* Facts, written one by one: nothing is kept, so that a report of any length needs no memory.
 *
 * Each call goes to JSON or to text; the piece of text is read from left to right, once. Texts of
 * values are shown as text_name() shows them, as they may come from files of unknown origin. */
#include "output/facts.h"

#include <inttypes.h>
#include <string.h>

/* Lists and objects of text have no brackets. */
void facts_begin(struct facts *w, const char *key)
{
    if (w->json)
        json_key(w->json, key), json_begin(w->json, '{');
}

void facts_end(struct facts *w)
{
    if (w->json)
        json_end(w->json);
}

size_t facts_rows(struct facts *w, const char *key)
{
    return w->json ? json_array_begin(w->json, key) : 0;
}

bool facts_row(struct facts *w, size_t *len)
{
    size_t number = (*len)++;
    if (w->json && number)
        json_end(w->json);
    if (w->json)
        json_begin(w->json, '{');
    return w->json || number < FACT_ROWS_MOST;
}

void facts_rows_end(struct facts *w, size_t indent, size_t len)
{
    if (w->json && len)
        json_end(w->json);
    if (w->json)
        json_end(w->json);
    else if (len > FACT_ROWS_MOST) {
        out_spaces(w->out, indent);
        text_more(w->out, len - FACT_ROWS_MOST, "", "--json");
    }
}

bool facts_row_next(struct facts *w, size_t indent, size_t i, size_t len)
{
    size_t number = i;
    if (i < len && facts_row(w, &number))
        return true;
    facts_rows_end(w, indent, len);
    return false;
}

void fact_text(struct facts *w, const char *text)
{
    if (w->out)
        out_str(w->out, text);
}

/* The value alone. */
static void put_value(struct out *out, const struct field *v, int decimals)
{
    switch (v->kind) {
    case FIELD_ABSENT:
    case FIELD_UNKNOWN: break;
    case FIELD_TEXT: text_name(out, v->text); break;
    case FIELD_U64:
    case FIELD_BOOL: out_u64(out, v->u64, 0); break;
    case FIELD_I64: out_printf(out, "%" PRIi64, v->i64); break;
    case FIELD_ADDRESS: out_printf(out, "0x%" PRIx64, v->u64); break;
    case FIELD_DOUBLE:
        out_printf(out, decimals < 0 ? "%.*g" : "%.*f", decimals < 0 ? 6 : decimals, v->amount);
        break;
    }
}

void fact(struct facts *w, const char *key, struct field value, const char *text)
{
    if (w->json && key)
        columns_json(w->json, &(struct column){.name = key}, 1, &value);
    if (!w->out || !text || value.kind == FIELD_ABSENT || value.kind == FIELD_UNKNOWN)
        return;
    for (const char *at = text; *at;) {
        size_t plain = strcspn(at, "*~");
        out_bytes(w->out, at, plain);
        at += plain;
        if (*at == '*') {
            bool has_decimals = at[1] >= '0' && at[1] <= '9';
            put_value(w->out, &value, has_decimals ? at[1] - '0' : -1);
            at += has_decimals;
        } else if (*at == '~')
            out_str(w->out, text_plural(value.u64));
        at += *at != '\0';
    }
}

void fact_nonzero(struct facts *w, const char *key, uint64_t value, const char *text)
{
    fact(w, key, field_u64(value), value ? text : NULL);
}

void fact_ns(struct facts *w, const char *key, uint64_t ns, const char *text)
{
    if (w->json)
        fact(w, key, field_u64(ns), NULL);
    else
        fact(w, key, field_double((double)ns / 1e9), text);
}
