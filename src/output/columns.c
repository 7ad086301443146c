/* Tables: one list of columns, printed as JSON, CSV, text, Markdown and help.
 *
 * The fields of a row stand in an array by the numbers of their columns. JSON walks it in the order
 * of the columns; CSV through a list of numbers, made once from the heads that it prints; text and
 * Markdown through the columns that one report shows, whose widths come from its data. So all print
 * the same figures, and a column that is added to a table is in every form.
 *
 * Figures are never rounded or cut to make room: text leaves out whole columns, in an order that
 * the report gives, and says which. A row costs one pass over its columns (some 20); the number
 * formats are those of digits_fixed() and its like, without printf on the usual way. */
#include "output/columns.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

/* --- JSON and CSV ----------------------------------------------------------------------------- */

void columns_json(struct json *j, const struct column *columns, size_t len,
                  const struct field *fields)
{
    for (size_t i = 0; i < len; i++) {
        const struct field *c = &fields[i];
        if (!columns[i].name || c->kind == FIELD_ABSENT)
            continue;
        json_key(j, columns[i].name);
        switch (c->kind) {
        case FIELD_ABSENT:
        case FIELD_UNKNOWN: json_none(j); break;
        case FIELD_TEXT: json_str(j, c->text); break;
        case FIELD_U64: json_u64(j, c->u64); break;
        case FIELD_I64: json_i64(j, c->i64); break;
        case FIELD_DOUBLE: json_double(j, c->amount); break;
        case FIELD_BOOL: json_bool(j, c->u64); break;
        case FIELD_ADDRESS: json_address(j, c->u64); break;
        }
    }
}

void columns_json_row(struct json *j, const struct column *columns, size_t len,
                      const struct field *fields)
{
    json_begin(j, '{');
    columns_json(j, columns, len, fields);
    json_end(j);
}

void csv_columns_begin(struct csv_columns *c, struct out *out, const struct column *columns,
                       size_t len, const char *names)
{
    *c = (struct csv_columns){.csv = {.out = out}};
    while (*names) {
        size_t bytes = strcspn(names, ","), i = 0;
        while (i < len && (!columns[i].name || strncmp(columns[i].name, names, bytes) ||
                           columns[i].name[bytes]))
            i++;
        if (i < len && c->len < COLUMNS_MOST) {
            c->pick[c->len++] = (uint8_t)i;
            csv_str(&c->csv, columns[i].name);
        }
        names += bytes + (names[bytes] == ',');
    }
}

void csv_columns_fields(struct csv_columns *c, const struct field *fields)
{
    for (size_t i = 0; i < c->len; i++) {
        const struct field *field = &fields[c->pick[i]];
        switch (field->kind) {
        case FIELD_ABSENT:
        case FIELD_UNKNOWN: csv_none(&c->csv); break;
        case FIELD_TEXT: csv_str(&c->csv, field->text); break;
        case FIELD_U64:
        case FIELD_BOOL: csv_u64(&c->csv, field->u64); break;
        case FIELD_I64: csv_double(&c->csv, (double)field->i64); break;
        case FIELD_DOUBLE: csv_double(&c->csv, field->amount); break;
        case FIELD_ADDRESS: csv_address(&c->csv, field->u64); break;
        }
    }
}

/* A reader that goes by number of field must never see fewer: absent fields are empty ones. */
void csv_columns_row(struct csv_columns *c, const struct field *fields)
{
    csv_columns_fields(c, fields);
    csv_end(&c->csv);
}

/* --- text ------------------------------------------------------------------------------------- */

/* "self ?" with the unit's letter for `?`, or without the last word where there is no unit. */
static int heading_text(char *into, size_t size, const struct text_columns *t, size_t column)
{
    const char *heading = t->columns[column].heading;
    size_t len = strlen(heading);
    bool is_visible = t->unit > ' ' && t->unit <= '~';
    if (!len || heading[len - 1] != '?')
        return snprintf(into, size, "%s", heading);
    if (!t->unit)
        return snprintf(into, size, "%.*s", (int)len - 2, heading);
    return snprintf(into, size, "%.*s%c", (int)len - 1, heading, is_visible ? t->unit : '?');
}

static int shown_width(const struct text_columns *t)
{
    int width = 0;
    for (size_t i = 0; i < t->len; i++)
        if (t->shape[i].width)
            width += (width ? 2 - t->columns[i].is_close : 0) + t->shape[i].width;
    return width;
}

void text_column(struct text_columns *t, size_t column, int width, int decimals)
{
    char heading[32];
    int least = heading_text(heading, sizeof heading, t, column);
    t->shape[column].width = width > least ? width : least;
    t->shape[column].decimals = decimals;
    t->width = shown_width(t);
}

/* The first column has no gap before it. */
/* One column after the other goes, until what is left leaves the room. */
void text_columns_fit(struct text_columns *t, const uint8_t *order, size_t len, int besides,
                      int room)
{
    if (!t->style->width)
        return;
    for (size_t i = 0; i < len && t->style->width - t->width - besides < room; i++) {
        t->shape[order[i]].is_left_out = t->shape[order[i]].width > 0;
        t->shape[order[i]].width = 0;
        t->width = shown_width(t);
    }
}

/* In the order of the table, not in that in which they went. */
void text_columns_left_out(struct out *out, const struct text_columns *t)
{
    const char *before = "Left out to fit the width: ";
    for (size_t i = 0; i < t->len; i++) {
        char heading[32];
        if (!t->shape[i].is_left_out)
            continue;
        heading_text(heading, sizeof heading, t, i);
        out_printf(out, "%s%s", before, heading);
        before = ", ";
    }
    if (*before == ',')
        out_str(out, " (--wide shows all)\n");
}

void text_columns_head(struct out *out, const struct text_columns *t)
{
    bool is_first = true;
    for (size_t i = 0; i < t->len; i++) {
        char heading[32];
        if (!t->shape[i].width)
            continue;
        out_spaces(out, is_first ? 0 : 2 - t->columns[i].is_close);
        is_first = false;
        heading_text(heading, sizeof heading, t, i);
        out_printf(out, t->columns[i].form == FORM_LEFT ? "%-*s" : "%*s", t->shape[i].width,
                   heading);
    }
}

/* A field in its field. `width` 0: as wide as it is. */
static void put_field(struct out *out, const struct column *column, const struct field *c,
                      int width, int decimals)
{
    double percent = 100 * (c->kind == FIELD_DOUBLE ? c->amount : 0);
    bool is_number = c->kind == FIELD_U64 || c->kind == FIELD_DOUBLE;
    bool is_zero = c->kind == FIELD_U64 ? !c->u64 : c->kind == FIELD_DOUBLE && c->amount == 0;
    if (c->kind == FIELD_ABSENT || c->kind == FIELD_UNKNOWN ||
        (column->form == FORM_NONZERO && is_number && is_zero))
        out_spaces(out, (size_t)width);
    else if (c->kind == FIELD_TEXT) {
        size_t len = strlen(c->text), blanks = len < (size_t)width ? (size_t)width - len : 0;
        out_spaces(out, column->form == FORM_LEFT ? 0 : blanks);
        text_name_n(out, c->text, len);
        out_spaces(out, column->form == FORM_LEFT ? blanks : 0);
    } else if (c->kind == FIELD_ADDRESS)
        out_printf(out, "%#*" PRIx64, width, c->u64);
    else if (c->kind == FIELD_I64)
        out_printf(out, "%*" PRIi64, width, c->i64);
    else if (c->kind != FIELD_DOUBLE)
        out_u64(out, c->u64, width);
    else if (column->form == FORM_PERCENT || column->form == FORM_HEAT)
        text_known_share(out, c->amount, c->error, width, decimals);
    else if (column->form == FORM_POINTS)
        text_known_change(out, percent, fmin(100 * c->error, 3.5), width, decimals, "");
    else if (column->form == FORM_SIGNED)
        out_printf(out, "%+*.*f", width, decimals, c->amount);
    else
        text_known(out, c->amount, c->error, width, decimals);
}

void text_columns_row(struct out *out, const struct text_columns *t, const struct field *fields,
                      bool is_hot)
{
    bool is_first = true;
    for (size_t i = 0; i < t->len; i++) {
        const struct column *column = &t->columns[i];
        if (!t->shape[i].width)
            continue;
        if (!is_first)
            out_spaces(out, 2 - column->is_close);
        is_first = false;
        bool is_red = fields[i].is_bad && t->style->has_colour;
        bool has_heat = is_hot && column->form == FORM_HEAT && fields[i].kind == FIELD_DOUBLE;
        if (is_red)
            out_str(out, "\033[31m");
        if (has_heat)
            text_heat_on(out, t->style, fields[i].amount);
        put_field(out, column, &fields[i], t->shape[i].width, t->shape[i].decimals);
        if (has_heat)
            text_heat_off(out, t->style, fields[i].amount);
        if (is_red)
            out_str(out, "\033[0m");
    }
}

/* --- Markdown --------------------------------------------------------------------------------- */

/* --- what columns mean ------------------------------------------------------------------------ */

/* Text broken at spaces, after `used` columns of the line. */
static void put_wrapped(struct out *out, const char *text, size_t indent)
{
    enum { WIDTH = 78 };
    for (size_t column = indent; *text;) {
        size_t word = strcspn(text, " ");
        if (column > indent && column + 1 + word > WIDTH) {
            out_char(out, '\n');
            out_spaces(out, indent);
            column = indent;
        } else if (column > indent) {
            out_char(out, ' ');
            column++;
        }
        out_bytes(out, text, word);
        column += word;
        text += word + (text[word] == ' ');
    }
}

/* A heading without the unit's place. */
static int bare_heading(const char *heading)
{
    size_t len = strlen(heading);
    return (int)(len > 2 && heading[len - 1] == '?' ? len - 2 : len);
}

void columns_help(struct out *out, const struct column_table *t, bool of_text)
{
    enum { INDENT = 2, GAP = 2 };
    const size_t width = of_text ? 10 : 24;
    for (size_t i = 0; i < t->len; i++) {
        const struct column *c = &t->columns[i];
        char label[64];
        int len, bare = c->heading ? bare_heading(c->heading) : 0;
        if (!c->meaning || (of_text && !c->heading))
            continue;
        if (bare && c->name && !of_text && strcmp(c->heading, c->name))
            len = snprintf(label, sizeof label, "%.*s (%s)", bare, c->heading, c->name);
        else
            len = snprintf(label, sizeof label, "%.*s", bare ? bare : (int)strlen(c->name),
                           bare ? c->heading : c->name);
        out_printf(out, "%*s%-*s", INDENT, "", (int)width, label);
        if ((size_t)len > width) {
            out_char(out, '\n');
            out_spaces(out, INDENT + width);
        }
        out_spaces(out, GAP);
        put_wrapped(out, c->meaning, INDENT + width + GAP);
        out_char(out, '\n');
    }
}

void columns_list(struct out *out, const char *command, const struct column_table *t)
{
    for (size_t i = 0; i < t->len; i++) {
        const struct column *c = &t->columns[i];
        const char *heading = c->heading ? c->heading : "";
        out_printf(out, "%s\t%s\t%s\t%s\t%.*s\t%s\n", command, t->schema, t->rows,
                   c->name ? c->name : "", bare_heading(heading), heading,
                   c->meaning ? c->meaning : "");
    }
}
