/* Demangling, as gprof prints names; facts for a diagnosis. */
#include "cases.h"
#include "objfile/workshop.h"

static void expect(const char *name, const char *style, const char *readable)
{
    char *got = demangle(name, style);
    if (!got != !readable)
        print_error("%s: %s\n", name, got ? got : "not demangled");
    if (readable) {
        assert_non_null(got);
        assert_string_equal(got, readable);
    } else {
        assert_null(got);
    }
    free(got);
}

CASE(test_demangle)
{
    expect("_ZN3foo3barEi", NULL, "foo::bar(int)");
    expect("_ZN3foo3barEi", "auto", "foo::bar(int)");
    expect("_ZN3foo3barEi", "gnu-v3", "foo::bar(int)");
    expect("_ZN3foo3barEi", "none", NULL);
    expect("_ZNK1A1fEPKc", NULL, "A::f(char const*) const");
    expect("_ZN1A1fEv.isra.0", NULL, "A::f() [clone .isra.0]");
    expect("_ZN4core3fmt9Formatter3pad17h0123456789abcdefE", NULL, "core::fmt::Formatter::pad");
    expect("_RNvCskwGfYPst2Cb_3foo16example_function", NULL, "foo::example_function");
    expect("_RNvCskwGfYPst2Cb_3foo16example_function", "rust", "foo::example_function");
    expect("_D3std5stdio4File5closeMFZv", NULL, "std.stdio.File.close()");
    expect("_D3std5stdio4File5closeMFZv", "dlang", "std.stdio.File.close()");
    expect("_Dimension", NULL, NULL);
    expect("ada__text_io__put_line", "gnat", "ada.text_io.put_line");
    expect("main", NULL, NULL);
    expect("main", "auto", NULL);
    expect("", NULL, NULL);
    expect("._ZN3foo3barEi", NULL, ".foo::bar(int)");
    expect("_Z3foov@@V1", NULL, "foo()@@V1");
    expect("_ZN3foo3barEi", "klingon", NULL);
}

/* Each part names the one before it twice: a kilobyte that would print as 2 to the 60th bytes. */
CASE(test_bombs)
{
    char cplus[2048] = "_Z1f1AIiiES_IS0_S0_E", rust[2048] = "_RINvC1a1fTuuE";
    for (int i = 1; i < 36; i++) {
        char digit = (char)(i < 10 ? '0' + i : 'A' + i - 10);
        size_t len = strlen(cplus);
        snprintf(cplus + len, sizeof cplus - len, "S_IS%c_S%c_E", digit, digit);
    }
    expect(cplus, NULL, NULL);
    expect(cplus, "gnu-v3", NULL);
    static const char DIGITS[] = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    for (size_t i = 0, at = 8; i < 60; i++) {
        size_t len = strlen(rust), here = len - 2;
        char reference[8];
        if (at - 1 < 62)
            snprintf(reference, sizeof reference, "B%c_", DIGITS[at - 1]);
        else
            snprintf(reference, sizeof reference, "B%c%c_", DIGITS[(at - 1) / 62],
                     DIGITS[(at - 1) % 62]);
        snprintf(rust + len, sizeof rust - len, "T%s%sE", reference, reference);
        at = here;
    }
    strcat(rust, "E");
    expect(rust, NULL, NULL);
    char d[2048] = "_D1a1fFDFiiZvDFQiQkZv";
    for (int i = 0; i < 60; i++)
        strcat(d, "DFQkQmZv");
    strcat(d, "Zv");
    expect(d, NULL, NULL);
}

CASE(test_styles)
{
    assert_true(demangle_style_known("auto"));
    assert_true(demangle_style_known("none"));
    assert_true(demangle_style_known("gnat"));
    assert_true(demangle_style_known("rust"));
    assert_false(demangle_style_known("klingon"));
    assert_false(demangle_style_known(""));
}

static void make(const char *flags)
{
    need("gcc");
    write_text(
        "p.c",
        "int f(void) { return 1; }\n#ifndef LIBRARY\nint main(void) { return 0; }\n#endif\n");
    assert_true(run("gcc %s -o p p.c", flags));
}

static bool needs_libc(const struct object_facts *f)
{
    for (size_t i = 0; i < f->needed_len; i++)
        if (!strcmp(f->needed[i], "libc.so.6"))
            return true;
    return false;
}

CASE(test_facts)
{
    make("-pie -fPIE");
    struct object *o = opened("p", NULL);
    const struct object_facts *f = object_facts(o);
    assert_true(f->is_pie && !f->is_shared_object && !f->is_stripped);
    assert_true(needs_libc(f));
    assert_non_null(strstr(f->interpreter, "ld-linux"));
    assert_non_null(strstr(f->compiler, "GCC"));
    assert_true(f->code_len == 1 && f->entry - f->code[0].address < f->code[0].size);
    assert_true(f->size_bytes > 1000 && f->changed > 1000000000);
    object_close(o);
}

CASE(test_other_facts)
{
    make("-no-pie -static -s");
    struct object *o = opened("p", NULL);
    const struct object_facts *f = object_facts(o);
    assert_true(!f->is_pie && !f->is_shared_object && f->is_stripped && !f->interpreter);
    assert_int_equal(f->needed_len, 0);
    object_close(o);

    make("-static-pie -fPIE");
    o = opened("p", NULL);
    assert_true(object_facts(o)->is_pie && !object_facts(o)->interpreter);
    object_close(o);

    make("-shared -fPIC -DLIBRARY -Wl,-soname,libp.so.1");
    o = opened("p", NULL);
    f = object_facts(o);
    assert_true(!f->is_pie && f->is_shared_object);
    assert_string_equal(f->soname, "libp.so.1");
    object_close(o);

    make("-c");
    o = opened("p", NULL);
    f = object_facts(o);
    assert_true(!f->is_pie && !f->is_shared_object && !f->code_len);
    assert_non_null(strstr(f->compiler, "GCC"));
    object_close(o);
}

int main(void)
{
    return run_cases(workshop_open, workshop_close);
}
