/* A report as one list of columns over rows, from which its JSON, CSV, Markdown and text come, and
 * the help that says what each column means.
 *
 * A column is stated once: its name in JSON and CSV, its heading in text, how text prints it, and
 * its meaning. A report fills an array of fields, one a column, for each row, and gives it to a
 * writer. A field holds the figure itself: text shows it with fewer digits, and shares as percent.
 *
 *     enum { NAME, SHARE, COLUMNS };
 *     static const struct column columns[COLUMNS] = {
 *         [NAME] = {"name", "demangled"},
 *         [SHARE] = {"share", "of all samples, 0 to 1", "self%", FORM_PERCENT},
 *     };
 *     struct field fields[COLUMNS] = {[NAME] = field_text(name), [SHARE] = field_double(share)};
 *     JSON_ROWS(&j, "rows", i, len) {
 *         ...
 *         columns_json(&j, columns, COLUMNS, fields);
 *     }
 *
 * JSON_ROWS (formats.h) also writes the lists beside the table, and those of a row. Tables of few
 * columns that stand beside a report's main one, as ranks' outliers, have no array of columns: text
 * prints such a row by one format, and their columns are in no help.
 */
#ifndef MONARC_OUTPUT_COLUMNS_H
#define MONARC_OUTPUT_COLUMNS_H

#include "output/formats.h"
#include "output/out.h"

enum { COLUMNS_MOST = 48 };

/* --- fields ------------------------------------------------------------------------------------
 */

enum field_kind {
    FIELD_ABSENT,  /* no member in JSON, an empty field elsewhere */
    FIELD_UNKNOWN, /* null in JSON, an empty field elsewhere */
    FIELD_TEXT,
    FIELD_U64,
    FIELD_I64,
    FIELD_DOUBLE,
    FIELD_BOOL,    /* true or false in JSON, 1 or 0 in CSV */
    FIELD_ADDRESS, /* 0x401000 */
};

struct field {
    enum field_kind kind;
    bool is_bad; /* text prints it red, if it has colours */
    union {
        const char *text; /* the report's, until the row is written */
        uint64_t u64;
        int64_t i64;
        double amount;
    };
    double error; /* of an amount: text shows no digit that it makes unsure; 0: it is exact */
};

/* NULL: unknown. */
static inline struct field field_text(const char *text)
{
    return (struct field){.kind = text ? FIELD_TEXT : FIELD_UNKNOWN, .text = text};
}

/* NULL: absent. */
static inline struct field field_text_if(const char *text)
{
    return (struct field){.kind = text ? FIELD_TEXT : FIELD_ABSENT, .text = text};
}

static inline struct field field_u64(uint64_t value)
{
    return (struct field){.kind = FIELD_U64, .u64 = value};
}

static inline struct field field_i64(int64_t value)
{
    return (struct field){.kind = FIELD_I64, .i64 = value};
}

static inline struct field field_double(double value)
{
    return (struct field){.kind = FIELD_DOUBLE, .amount = value};
}

/* What an error says of itself has as many digits as what it is the error of. */
static inline struct field field_about(double value, double error)
{
    return (struct field){.kind = FIELD_DOUBLE, .amount = value, .error = error};
}

static inline struct field field_bool(bool value)
{
    return (struct field){.kind = FIELD_BOOL, .u64 = value};
}

static inline struct field field_address(uint64_t value)
{
    return (struct field){.kind = FIELD_ADDRESS, .u64 = value};
}

/* `value` where it is known, else null. */
static inline struct field field_known(bool is_known, struct field value)
{
    return is_known ? value : (struct field){.kind = FIELD_UNKNOWN};
}

/* --- columns ---------------------------------------------------------------------------------- */

/* How text prints a field: in a field of the column's width, aligned to the right but for
 * FORM_LEFT, and blank where nothing is known. */
enum column_form {
    FORM_NONE,    /* not at all */
    FORM_NUMBER,  /* counts and amounts, the latter with the decimals of text_column() */
    FORM_NONZERO, /* the same, and blank for 0 */
    FORM_SIGNED,  /* an amount with its sign */
    FORM_PERCENT, /* a share, 0 to 1, as percent */
    FORM_HEAT,    /* the same, coloured in rows that are hot */
    FORM_POINTS,  /* the difference of two shares, as percent with its sign */
    FORM_TEXT,
    FORM_LEFT
};

struct column {
    const char *name;    /* in JSON and CSV; NULL: for people only */
    const char *meaning; /* a sentence without capital and full stop; NULL: the name says it */
    const char *heading; /* of text; a `?` in it is the letter of the unit. NULL: not in text */
    enum column_form form;
    bool is_close; /* one space is between it and the column before, not two */
};

/* Members of the object that is open in `j`, in the order of the columns. */
void columns_json(struct json *j, const struct column *columns, size_t len,
                  const struct field *fields);

/* The same as an object of its own. */
void columns_json_row(struct json *j, const struct column *columns, size_t len,
                      const struct field *fields);

/* CSV has some of the columns in an order of its own, which its readers rely on. */
struct csv_columns {
    struct csv csv;
    uint8_t pick[COLUMNS_MOST];
    size_t len;
};

/* Begins the line of heads: `names` are those of columns, with commas between; the caller may add
 * others by csv_str(), and ends the line with csv_end(). A name that no column has is left out:
 * both are constants, and a golden of the head holds them together. */
void csv_columns_begin(struct csv_columns *c, struct out *out, const struct column *columns,
                       size_t len, const char *names);

/* The fields of a line; the caller may add others, and ends it. */
void csv_columns_fields(struct csv_columns *c, const struct field *fields);

/* The same with the line's end. */
void csv_columns_row(struct csv_columns *c, const struct field *fields);

/* --- text ------------------------------------------------------------------------------------- */

/* Columns of text with the widths that the data of one report need. Columns that have not been
 * shown by text_column() are left away. */
struct text_columns {
    const struct column *columns;
    size_t len;
    const struct text_style *style;
    char unit; /* of times: the dimension's letter; 0: times are samples, headings have no unit */
    struct {
        int width, decimals; /* width 0: not shown */
        bool is_left_out;    /* for want of room */
    } shape[COLUMNS_MOST];
    int width; /* of all that are shown, gaps included */
};

/* Shows a column: as wide as its heading and `width` at least. */
void text_column(struct text_columns *t, size_t column, int width, int decimals);

/* Leaves out columns in `order` until `room` columns are left of the style's width, if it has one;
 * `besides`: what is printed beside the table's own columns. */
void text_columns_fit(struct text_columns *t, const uint8_t *order, size_t len, int besides,
                      int room);

/* A line that names them, or nothing. */
void text_columns_left_out(struct out *out, const struct text_columns *t);

/* Neither ends its line. `is_hot`: shares of the row are coloured. */
void text_columns_head(struct out *out, const struct text_columns *t);
void text_columns_row(struct out *out, const struct text_columns *t, const struct field *fields,
                      bool is_hot);

/* --- what columns mean ------------------------------------------------------------------------ */

/* The table of one kind of row, for help, manual pages and schemas. */
struct column_table {
    const char *title;  /* above its columns in help: "Columns" */
    const char *schema; /* of its JSON, in docs/schema: "shares" */
    const char *rows;   /* the array there that holds them: "rows" */
    const struct column *columns;
    size_t len;
};

/* A line a column: heading and name, then its meaning, wrapped at 78 columns. `of_text`: only those
 * that text shows, by their headings. */
void columns_help(struct out *out, const struct column_table *t, bool of_text);

/* Lines "command<TAB>schema<TAB>rows<TAB>name<TAB>heading<TAB>meaning", for programs that make
 * documents. */
void columns_list(struct out *out, const char *command, const struct column_table *t);

#endif
