/* Symbol tables of every machine at hand, against nm; and what nm does not tell. */
#include "cases.h"
#include "objfile/workshop.h"

#include <ctype.h>
#include <elf.h>
#include <inttypes.h>

static const char PROGRAM[] =
    "static int zero, one = 1;\n"
    "const int constant = 7;\n"
    "__attribute__((weak)) int weak_data = 3;\n"
    "_Thread_local int local_to_thread = 4;\n"
    "static __attribute__((noinline)) int hidden_away(int x) { return x + zero++ + one; }\n"
    "int exported(int x) { return hidden_away(x) + constant + weak_data; }\n"
    "__attribute__((weak)) int weak_one(int x) { return x; }\n"
    "int alias_of(int x) __attribute__((alias(\"exported\")));\n"
    "int weak_alias(int x) __attribute__((weak, alias(\"hidden_away\")));\n"
    "#ifdef IFUNC\n"
    "static int (*choose(void))(int) { return hidden_away; }\n"
    "int chosen(int x) __attribute__((ifunc(\"choose\")));\n"
    "#endif\n"
    "__asm__(\".text\\n.globl bare_label\\nbare_label:\\n.long 0\\nlocal_label:\\n.long 0\\n\");\n"
    "__asm__(\".globl absolute\\n.set absolute, 0x1234\\n\");\n"
    "int main(void) { return exported(weak_one(local_to_thread)) + weak_alias(1); }\n";

static const struct {
    const char *prefix, *flags;
    uint16_t machine;
    uint8_t word;
    bool is_big_endian;
} MACHINES[] = {
    {"x86_64-linux-gnu-", "-DIFUNC -fcommon", EM_X86_64, 8, false},
    {"i686-linux-gnu-", "-DIFUNC", EM_386, 4, false},
    {"aarch64-linux-gnu-", "-DIFUNC", EM_AARCH64, 8, false},
    {"arm-linux-gnueabihf-", "-mthumb", EM_ARM, 4, false},
    {"arm-linux-gnueabihf-", "-marm", EM_ARM, 4, false},
    {"s390x-linux-gnu-", "-DIFUNC", EM_S390, 8, true},
    {"riscv64-linux-gnu-", "", EM_RISCV, 8, false},
    {"powerpc64-linux-gnu-", "-mabi=elfv1", EM_PPC64, 8, true},
};

/* As `nm` prints it. Specification: bfd_decode_symclass() and decode_section_type() of GNU binutils
 * 2.40, as far as they depend on what object.h keeps: small data ('g', 's') counts as other
 * data. */
static char symbol_class(const struct object *o, const struct object_symbol *s)
{
    if (s->type == SYMBOL_COMMON)
        return 'C';
    if (s->type == SYMBOL_IFUNC)
        return 'i';
    if (s->binding == BIND_WEAK)
        return s->type == SYMBOL_OBJECT ? 'V' : 'W';
    if (s->binding == BIND_UNIQUE)
        return 'u';
    if (s->binding == BIND_OTHER)
        return '?';
    const struct object_section *in = object_section(o, s->section);
    char letter = 'n';
    if (!in)
        letter = 'a';
    else if (in->is_code)
        letter = 't';
    else if (in->is_alloc && in->has_bytes)
        letter = in->is_writable ? 'd' : 'r';
    else if (!in->has_bytes)
        letter = 'b';
    else if (!strncmp(in->name, ".debug", 6) || !strncmp(in->name, ".zdebug", 7))
        letter = 'N';
    else if (in->is_writable)
        letter = '?';
    return s->binding == BIND_GLOBAL ? (char)toupper((unsigned char)letter) : letter;
}

static char *our_list(struct object *o)
{
    size_t len;
    enum object_symbol_source source;
    const struct object_symbol *symbols = object_symbols(o, &len, &source);
    assert_int_equal(source, SYMBOLS_SYMTAB);
    char *text;
    size_t size;
    FILE *to = open_memstream(&text, &size);
    for (size_t i = 0; i < len; i++)
        if (!symbols[i].is_descriptor)
            fprintf(to, "%0*" PRIx64 " %c %s\n", 2 * object_word(o), symbols[i].address,
                    symbol_class(o, &symbols[i]), symbols[i].name);
    fclose(to);
    return text;
}

static bool is_in_opd(const struct object *o, uint64_t address)
{
    size_t len;
    const struct object_section *sections = object_sections(o, &len);
    for (size_t i = 0; i < len; i++)
        if (!strcmp(sections[i].name, ".opd"))
            return address - sections[i].address < sections[i].size;
    return false;
}

/* Descriptors stand in .opd for nm, so they are compared apart. */
static char *nm_list(const struct object *o, const char *prefix)
{
    char *all = output_of("%snm -p --special-syms p | grep -v ' [Uwv] '", prefix);
    char *text, *rest = all, *line;
    size_t size;
    FILE *to = open_memstream(&text, &size);
    while ((line = strsep(&rest, "\n")) && *line)
        if (!is_in_opd(o, strtoull(line, NULL, 16)))
            fprintf(to, "%s\n", line);
    fclose(to);
    free(all);
    return text;
}

static void compare_with_nm(struct object *o, const char *prefix)
{
    char *theirs = nm_list(o, prefix), *ours = our_list(o);
    assert_string_equal(ours, theirs);
    free(ours);
    free(theirs);
}

enum { FEW = 3 };

/* One machine of a few, or the others. */
static void compare_machines(bool is_few)
{
    write_text("p.c", PROGRAM);
    size_t tried = 0;
    for (size_t i = 0; i < sizeof MACHINES / sizeof MACHINES[0]; i++) {
        if ((i % FEW == 0) != is_few)
            continue;
        const char *prefix = MACHINES[i].prefix;
        if (!run("command -v %sgcc", prefix)) {
            print_message("# %sgcc is not installed\n", prefix);
            continue;
        }
        assert_true(run("%sgcc %s -O1 -o p p.c", prefix, MACHINES[i].flags));
        struct object *o = opened("p", NULL);
        assert_int_equal(object_machine(o), MACHINES[i].machine);
        assert_int_equal(object_word(o), MACHINES[i].word);
        assert_int_equal(object_is_big_endian(o), MACHINES[i].is_big_endian);
        compare_with_nm(o, prefix);
        object_close(o);
        tried++;
    }
    if (!tried)
        SKIPPED("none of the compilers is installed");
}

CASE(test_as_nm)
{
    compare_machines(true);
}

CASE(test_as_nm_slow)
{
    compare_machines(false);
}

CASE(test_kinds)
{
    need("x86_64-linux-gnu-gcc");
    write_text("p.c", PROGRAM);
    assert_true(run("x86_64-linux-gnu-gcc -DIFUNC -O1 -o p p.c"));
    struct object *o = opened("p", NULL);
    const struct object_symbol *exported = symbol_named(o, "exported");
    const struct object_symbol *alias = symbol_named(o, "alias_of");
    const struct object_symbol *weak = symbol_named(o, "weak_alias");
    const struct object_symbol *hidden = symbol_named(o, "hidden_away");
    const struct object_symbol *label = symbol_named(o, "bare_label");
    const struct object_symbol *local = symbol_named(o, "local_label");
    assert_int_equal(exported->address, alias->address);
    assert_int_equal(exported->type, SYMBOL_FUNC);
    assert_int_equal(exported->binding, BIND_GLOBAL);
    assert_true(exported->size > 0);
    assert_true(object_section(o, exported->section)->is_code);
    assert_string_equal(object_section(o, exported->section)->name, ".text");
    assert_int_equal(weak->binding, BIND_WEAK);
    assert_int_equal(weak->address, hidden->address);
    assert_int_equal(hidden->binding, BIND_LOCAL);
    assert_int_equal(label->type, SYMBOL_NOTYPE);
    assert_int_equal(local->address, label->address + 4);
    assert_int_equal(symbol_named(o, "chosen")->type, SYMBOL_IFUNC);
    assert_int_equal(symbol_named(o, "local_to_thread")->type, SYMBOL_TLS);
    assert_int_equal(symbol_named(o, "absolute")->section, 0);
    assert_int_equal(symbol_named(o, "absolute")->address, 0x1234);
    assert_null(symbol_named(o, "p.c"));
    assert_false(object_section(o, symbol_named(o, "zero")->section)->has_bytes);
    assert_true(object_mentions(o, "main") && object_mentions(o, "__libc_start_main"));
    assert_false(object_mentions(o, "mcount"));
    object_close(o);
}

CASE(test_thumb)
{
    need("arm-linux-gnueabihf-gcc");
    write_text("p.c", PROGRAM);
    assert_true(run("arm-linux-gnueabihf-gcc -mthumb -O1 -o p p.c"));
    struct object *o = opened("p", NULL);
    assert_int_equal(symbol_named(o, "exported")->address & 1, 0);
    char *odd = output_of("arm-linux-gnueabihf-readelf -sW p | grep 'exported$' | cut -c9-16");
    assert_int_equal(strtoull(odd, NULL, 16), symbol_named(o, "exported")->address + 1);
    assert_true(symbol_named(o, "$t")->is_mapping);
    assert_false(symbol_named(o, "local_label")->is_mapping);
    free(odd);
    object_close(o);
}

CASE(test_mapping)
{
    need("riscv64-linux-gnu-gcc");
    write_text("p.c", PROGRAM);
    assert_true(run("riscv64-linux-gnu-gcc -c -O1 -o p.o p.c"));
    struct object *o = opened("p.o", NULL);
    size_t len, mapping = 0;
    const struct object_symbol *symbols = object_symbols(o, &len, NULL);
    for (size_t i = 0; i < len; i++) {
        if (symbols[i].type != SYMBOL_NOTYPE)
            continue;
        assert_int_equal(symbols[i].is_mapping,
                         symbols[i].name[0] == '$' || !strncmp(symbols[i].name, ".L", 2));
        mapping += symbols[i].is_mapping;
    }
    assert_true(mapping > 0);
    object_close(o);
}

/* The code a descriptor leads to is what `nm --synthetic` calls by the name with a dot. */
CASE(test_descriptors)
{
    need("powerpc64-linux-gnu-gcc");
    write_text("p.c", PROGRAM);
    assert_true(run("powerpc64-linux-gnu-gcc -mabi=elfv1 -O1 -o p p.c"));
    struct object *o = opened("p", NULL);
    char *synthetic = output_of("powerpc64-linux-gnu-nm --synthetic p");
    size_t len, descriptors = 0;
    const struct object_symbol *symbols = object_symbols(o, &len, NULL);
    for (size_t i = 0; i < len; i++) {
        const struct object_symbol *s = &symbols[i];
        if (!s->is_descriptor)
            continue;
        char line[256];
        snprintf(line, sizeof line, "%016" PRIx64 " %c .%s\n", s->address, symbol_class(o, s),
                 s->name);
        /* weak ones keep their letter there; aliases share one synthetic name */
        if (s->binding == BIND_GLOBAL && strcmp(s->name, "alias_of"))
            assert_non_null(strstr(synthetic, line));
        assert_true(object_section(o, s->section)->is_code);
        descriptors++;
    }
    assert_true(descriptors >= 5);
    assert_true(symbol_named(o, "exported")->is_descriptor);
    free(synthetic);
    object_close(o);
}

CASE(test_many_sections_slow)
{
    need("gcc");
    assert_true(
        run("for i in $(seq 66000); do echo \".section .text.f$i,\\\"ax\\\"; f$i: .byte 0\"; "
            "done > many.s; gcc -c many.s"));
    struct object *o = opened("many.o", NULL);
    const struct object_symbol *last = symbol_named(o, "f66000");
    assert_string_equal(object_section(o, last->section)->name, ".text.f66000");
    assert_int_equal(symbol_class(o, last), 't');
    object_close(o);
}

int main(void)
{
    return run_cases(workshop_open, workshop_close);
}
