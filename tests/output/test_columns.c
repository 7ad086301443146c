/* One list of columns, four forms: the same figures in each, what is unknown, what is left out. */
#include "cases.h"
#include "output/columns.h"

#include <stdlib.h>

enum { NAME, SHARE, CHANGE, TIME, CALLS, SEEN, AT, COLUMNS };
static const struct column columns[COLUMNS] = {
    [NAME] = {"name", "of the function", "function", FORM_LEFT},
    [SHARE] = {"share",
               "of all samples, 0 to 1, which is said at such length that it needs a "
               "second line of the help",
               "self%", FORM_HEAT},
    [CHANGE] = {NULL, "points more", "change", FORM_POINTS, true},
    [TIME] = {"time", "in seconds", "self ?", FORM_NUMBER},
    [CALLS] = {"calls", NULL, "calls", FORM_NONZERO},
    [SEEN] = {"is_seen", "whether it is"},
    [AT] = {"address", "as linked"},
};
static const struct column_table table = {"flat", "flat", "rows", columns, COLUMNS};

static const struct field rows[2][COLUMNS] = {
    {{FIELD_TEXT, .text = "a,\x1b|b"},
     {FIELD_DOUBLE, .amount = 0.256},
     {FIELD_DOUBLE, .amount = -0.015},
     {FIELD_DOUBLE, .amount = 2.5},
     {FIELD_U64, .u64 = 12},
     {FIELD_BOOL, .u64 = 1},
     {FIELD_ADDRESS, .u64 = 0x4000}},
    {{FIELD_TEXT, .text = "g"}, [TIME] = {FIELD_UNKNOWN}, [CALLS] = {FIELD_U64, .u64 = 0}},
};

static void expect(struct out *out, const char *wanted)
{
    out_char(out, 0);
    assert_string_equal(out->at, wanted);
    out->len = 0;
}

CASE(absent_is_no_member_and_unknown_is_null)
{
    struct out out;
    out_init(&out, -1);
    struct json j = {.out = &out, .is_compact = true};
    json_begin(&j, '[');
    for (int i = 0; i < 2; i++)
        columns_json_row(&j, columns, COLUMNS, rows[i]);
    json_end(&j);
    expect(&out, "[{\"name\":\"a,\\u001b|b\",\"share\":0.256,\"time\":2.5,\"calls\":12,"
                 "\"is_seen\":true,\"address\":\"0x4000\"},"
                 "{\"name\":\"g\",\"time\":null,\"calls\":0}]\n");
    out_deinit(&out);
}

CASE(csv_has_its_own_order)
{
    struct out out;
    struct csv_columns c;
    out_init(&out, -1);
    csv_columns_begin(&c, &out, columns, COLUMNS, "calls,name,is_seen,time,address");
    csv_str(&c.csv, "more");
    csv_end(&c.csv);
    csv_columns_fields(&c, rows[0]);
    csv_u64(&c.csv, 7);
    csv_end(&c.csv);
    csv_columns_row(&c, rows[1]);
    expect(&out, "calls,name,is_seen,time,address,more\r\n12,\"a,?|b\",1,2.5,0x4000,7\r\n"
                 "0,g,,,\r\n");
    out_deinit(&out);
}

static struct text_columns shown(const struct text_style *style, char unit)
{
    struct text_columns t = {.columns = columns, .len = COLUMNS, .style = style, .unit = unit};
    text_column(&t, NAME, 3, 0);
    text_column(&t, SHARE, 6, 2);
    text_column(&t, CHANGE, 0, 2);
    text_column(&t, TIME, 0, 3);
    text_column(&t, CALLS, 3, 0);
    return t;
}

CASE(text_is_as_wide_as_its_heads)
{
    struct out out;
    struct text_style style = {.has_colour = true};
    struct text_columns t = shown(&style, 's');
    out_init(&out, -1);
    assert_int_equal(t.width, 8 + 2 + 6 + 1 + 6 + 2 + 6 + 2 + 5);
    text_columns_head(&out, &t);
    expect(&out, "function   self% change  self s  calls");
    text_columns_row(&out, &t, rows[0], true);
    expect(&out, "a,?|b     \033[1;31m 25.60\033[0m  -1.50   2.500     12");
    text_columns_row(&out, &t, rows[1], false);
    expect(&out, "g                                     ");
    t.unit = 0;
    text_columns_head(&out, &t);
    expect(&out, "function   self% change    self  calls");
    out_deinit(&out);
}

CASE(columns_go_in_the_given_order)
{
    static const uint8_t ORDER[] = {SEEN, CALLS, TIME, SHARE};
    struct out out;
    struct text_style style = {.width = 40};
    struct text_columns t = shown(&style, 's');
    out_init(&out, -1);
    text_columns_fit(&t, ORDER, sizeof ORDER, 2, 0); /* 38 are there already */
    text_columns_left_out(&out, &t);
    expect(&out, "");
    text_columns_fit(&t, ORDER, sizeof ORDER, 2, 8);
    text_columns_left_out(&out, &t);
    expect(&out, "Left out to fit the width: self s, calls (--wide shows all)\n");
    text_columns_head(&out, &t);
    expect(&out, "function   self% change");
    out_deinit(&out);
}

CASE(meanings_stand_once)
{
    struct out out;
    out_init(&out, -1);
    columns_help(&out, &table, false);
    expect(&out, "  function (name)           of the function\n"
                 "  self% (share)             of all samples, 0 to 1, which is said at such\n"
                 "                            length that it needs a second line of the help\n"
                 "  change                    points more\n"
                 "  self (time)               in seconds\n"
                 "  is_seen                   whether it is\n"
                 "  address                   as linked\n");
    columns_help(&out, &table, true);
    expect(&out, "  function    of the function\n"
                 "  self%       of all samples, 0 to 1, which is said at such length that it\n"
                 "              needs a second line of the help\n"
                 "  change      points more\n"
                 "  self        in seconds\n");
    columns_list(&out, "flat",
                 &(struct column_table){"Columns", "flat", "rows", columns + TIME, 2});
    expect(&out, "flat\tflat\trows\ttime\tself\tin seconds\nflat\tflat\trows\tcalls\tcalls\t\n");
    out_deinit(&out);
}
