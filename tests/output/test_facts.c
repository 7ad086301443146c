/* A fact is said once: its piece of text with the value in it, and its member in JSON. */
#include "cases.h"
#include "output/facts.h"

#include <string.h>

static void expect(struct out *out, const char *wanted)
{
    out_char(out, 0);
    assert_string_equal(out->at, wanted);
    out->len = 0;
}

static void report(struct facts *w)
{
    fact(w, "name", field_text("a\x1b*"), "*: ");
    fact(w, "functions", field_u64(1), "* function~, ");
    fact(w, "blocks", field_u64(2), "* block~");
    fact(w, "why", field_text(NULL), " because of *");
    fact(w, "absent", field_text_if(NULL), " because of *");
    fact_nonzero(w, "damaged", 0, ", * damaged");
    fact_nonzero(w, "lost", 3, ", * lost");
    fact_ns(w, "length_ns", 1234567890, ", *3 s");
    fact(w, "share", field_double(12.345678), ", * or ");
    fact(w, NULL, field_double(12.345678), "*2 %");
    facts_begin(w, "at");
    fact(w, "low", field_address(0x401000), ", *");
    fact(w, "change", field_i64(-7), " *");
    fact(w, "silent", field_bool(true), NULL);
    facts_end(w);
    fact_text(w, "\n");
}

CASE(both_forms_have_the_facts)
{
    struct out out;
    out_init(&out, -1);
    report(&(struct facts){.out = &out});
    expect(&out, "a?*: 1 function, 2 blocks, 3 lost, 1.235 s, 12.3457 or 12.35 %, 0x401000 -7\n");
    struct json j = {.out = &out, .is_compact = true};
    json_begin(&j, '{');
    report(&(struct facts){.json = &j});
    json_end(&j);
    expect(&out, "{\"name\":\"a\\u001b*\",\"functions\":1,\"blocks\":2,\"why\":null,\"damaged\":0,"
                 "\"lost\":3,\"length_ns\":1234567890,\"share\":12.345678,"
                 "\"at\":{\"low\":\"0x401000\",\"change\":-7,\"silent\":true}}\n");
    out_deinit(&out);
}

static void list(struct facts *w, size_t len)
{
    FACT_ROWS(w, "rows", 2, i, len)
        fact(w, "number", field_u64(i), "*\n");
    size_t odd = facts_rows(w, "odd");
    for (size_t i = 0; i < len; i++)
        if (i % 2 && facts_row(w, &odd))
            fact(w, "number", field_u64(i), "odd *\n");
    facts_rows_end(w, 0, odd);
}

/* JSON has all rows. */
CASE(text_says_how_many_rows_it_leaves_out)
{
    struct out out;
    out_init(&out, -1);
    list(&(struct facts){.out = &out}, 3);
    expect(&out, "0\n1\n2\nodd 1\n");
    list(&(struct facts){.out = &out}, 2 * FACT_ROWS_MOST + 4);
    out_char(&out, 0);
    assert_non_null(strstr(out.at, "\n99\n  [104 more, not shown: --json]\nodd 1\n"));
    assert_non_null(strstr(out.at, "\nodd 199\n[2 more, not shown: --json]\n"));
    out.len = 0;
    for (size_t len = 0; len <= 3; len += 3) {
        struct json j = {.out = &out, .is_compact = true};
        json_begin(&j, '{');
        list(&(struct facts){.json = &j}, len);
        json_end(&j);
        expect(&out, len ? "{\"rows\":[{\"number\":0},{\"number\":1},{\"number\":2}],"
                           "\"odd\":[{\"number\":1}]}\n"
                         : "{\"rows\":[],\"odd\":[]}\n");
    }
    out_deinit(&out);
}
