/* Which entries of a split unit become functions, and what they stand in: the entries are written
 * down here, byte by byte. What stands in types outside of functions, or too deep, is none. */
#include "cases.h"
#include "objfile/debug_info.h"

#include <dwarf.h>
#include <stdio.h>
#include <string.h>

/* Kinds of entries by their numbers: tag, whether there are children, what they say. */
/* clang-format off */
#define PLACED DW_AT_name, DW_FORM_string, DW_AT_low_pc, DW_FORM_udata, DW_AT_high_pc, DW_FORM_udata
static const uint8_t KINDS[] = {
    1, DW_TAG_compile_unit, 1, 0, 0,
    2, DW_TAG_subprogram, 1, PLACED, 0, 0,
    3, DW_TAG_subprogram, 0, PLACED, 0, 0,
    4, DW_TAG_structure_type, 1, 0, 0,
    5, DW_TAG_structure_type, 1, DW_AT_sibling, DW_FORM_ref1, 0, 0,
    6, DW_TAG_lexical_block, 1, 0, 0,
    7, DW_TAG_subprogram, 1, 0, 0,
    0};
/* clang-format on */

/* F: a function of one byte, and what is in it up to END; L: one with nothing in it. A type of
 * TYPE_TO says where it ends. A declared function has no code. */
#define UNIT        "\1"
#define F(name, at) "\2" name "\0" at "\1"
#define L(name, at) "\3" name "\0" at "\1"
#define TYPE        "\4"
#define TYPE_TO(at) "\5" at
#define BLOCK       "\6"
#define DECLARED    "\7"
#define END         "\0"
#define UNKNOWN     "\x20"

#define BYTES(text) ((struct bytes){(const uint8_t *)(text), sizeof(text) - 1})

/* The functions in their order, each with the one that it stands in: "f g<f". */
static void expect(struct bytes info, const char *expected)
{
    const struct split_unit u = {.info = info,
                                 .abbrevs = {KINDS, sizeof KINDS},
                                 .version = 5,
                                 .offset_size = 4,
                                 .address_size = 8};
    struct scopes s;
    char told[200] = "";
    split_scopes_init(&s, &u);
    for (uint32_t i = 0; i < s.scopes.len; i++) {
        uint32_t parent = s.scopes.at[i].parent;
        size_t len = strlen(told);
        snprintf(told + len, sizeof told - len, "%s%s%s%s", i ? " " : "", scope_name(&s, i),
                 parent == NO_SCOPE ? "" : "<", parent == NO_SCOPE ? "" : scope_name(&s, parent));
        assert_int_equal(scopes_at(&s, s.scopes.at[i].low), i);
    }
    assert_string_equal(told, expected);
    scopes_deinit(&s);
}

CASE(test_functions_in_functions)
{
    expect(BYTES(UNIT F("f", "\1") L("g", "\3") BLOCK F("h", "\5") L("i", "\7")
                     END END L("j", "\11") END L("k", "\13") END),
           "f g<f h<f i<h j<f k");
    expect(BYTES(UNIT DECLARED L("g", "\1") END F("f", "\3") DECLARED L("h", "\5") END END END),
           "g f h<f");
}

/* Types have code in functions alone, and those may be without code themselves. */
CASE(test_types)
{
    expect(BYTES(UNIT TYPE L("h", "\1") END L("k", "\3") END), "k");
    expect(BYTES(UNIT F("f", "\1") TYPE L("g", "\3") END BLOCK TYPE L("h", "\5") END END END END),
           "f g<f h<f");
    expect(BYTES(UNIT DECLARED TYPE L("h", "\1") END END TYPE L("i", "\3") END END), "h");
    /* All that is in one, up to its end. */
    expect(BYTES(UNIT TYPE F("h", "\1") L("i", "\3") TYPE L("j", "\5") END END L("l", "\7")
                     TYPE L("m", "\11") END L("n", "\13") END F("k", "\15") L("o", "\17") END END),
           "k o<k");
}

/* What a type's end is known of is not looked at. An end that is not behind it is none. */
CASE(test_ends_that_are_said)
{
    expect(BYTES(UNIT TYPE_TO("\5") UNKNOWN END L("k", "\1") END), "k");
    expect(BYTES(UNIT TYPE_TO("\3") L("h", "\1") END L("k", "\3") END), "k");
    expect(BYTES(UNIT TYPE_TO("\1") L("h", "\1") END L("k", "\3") END), "k");
    expect(BYTES(UNIT L("f", "\1") TYPE UNKNOWN END L("k", "\3") END), "f"); /* damage is the end */
}

CASE(test_depth)
{
    enum { DEEPEST = 198 }; /* blocks around a function */
    static const char FUNCTION[] = L("f", "\1"), LAST[] = L("k", "\3") END;
    (void)state;
    for (size_t depth = DEEPEST - 1; depth < 3 * DEEPEST; depth++) {
        uint8_t bytes[8 * DEEPEST] = UNIT;
        memset(bytes + 1, *BLOCK, depth);
        memcpy(bytes + 1 + depth, FUNCTION, sizeof FUNCTION - 1);
        size_t end = 1 + depth + sizeof FUNCTION - 1 + depth; /* an END of each block */
        memcpy(bytes + end, LAST, sizeof LAST - 1);
        expect((struct bytes){bytes, end + sizeof LAST - 1}, depth > DEEPEST ? "k" : "f k");
    }
}
