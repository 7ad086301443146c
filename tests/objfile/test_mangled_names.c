/* Linkage names that are made of debug information, beside those of the symbols: without inlining,
 * each function has both. What is made has to be the symbol's name; what may be refused is listed.
 */
#include "cases.h"
#include "objfile/debug_info.h"
#include "objfile/workshop.h"

#include <fcntl.h>

/* Of each kind of scope, type and operator one, also such that come again as abbreviations. */
static const char SOURCE[] =
    "#include <istream>\n"
    "#include <ostream>\n"
    "#include <string>\n"
    "#include <vector>\n"
    "namespace {\n"
    "template <class T, int N> struct box { T v[N]; int get(int i) const { return v[i] + 1; }\n"
    "    void set(int i, T t) { v[i] = t; } box() { v[0] = T(); } ~box() { v[0] = T(); } };\n"
    "template <class... T> struct pack { int size(T... t) { return sizeof...(t); } };\n"
    "struct point { int x; bool operator<(const point &o) const { return x < o.x; }\n"
    "    operator int() const { return x + 1; } int &operator[](int) { return x; }\n"
    "    point operator-() { return {-x}; } point operator-(point o) { return {x - o.x}; }\n"
    "    int by(point *p) & { return p->x; } int by(point *p) && { return p->x; } };\n"
    "enum kind { one, two }; enum class other : char { a = 'a' };\n"
    "template <other o, long n, bool b> struct values { int f(values *v) { return v != 0; } };\n"
    "std::string text(const std::string &s, int n) { return s + std::to_string(n); }\n"
    "std::string abi(int n) { return std::to_string(n); }\n"
    "int lists(std::vector<int> &v, std::vector<long> *w, point p[3], const char *const "
    "*q)\n"
    "{ return v.size() + w->size() + p->x + **q; }\n"
    "int stream(std::ostream &o, std::basic_string<wchar_t> m) { return o.good() + m.size(); }\n"
    "int enums(kind k, other o, box<int, 3> &b, box<kind, 4> *c, const box<bool, 2> &&d)\n"
    "{ return k + (int)o + b.get(1) + c->get(0) + d.get(0); }\n"
    "int fn(int (*f)(int, const point *), unsigned char c, long double d, short s)\n"
    "{ return f(c, nullptr) + d + s; }\n"
    "int array(const char (&a)[6], int (*b)[4][5], const volatile int *v, char32_t u, void *const "
    "p,\n"
    "    const void *r, decltype(nullptr))\n"
    "{ return a[0] + (*b)[1][1] + *v + u + (p == r); }\n"
    "int dots(const char *f, ...) { return f[0]; }\n"
    "template <class T> int copy(T t) { return t + 1; }\n"
    "int lambda(int n) { auto l = [n](int i) { return i * n; }; return l(2) + l(3); }\n"
    "namespace in { struct deep { struct er { int a; static int st(er &e, deep *d)\n"
    "    { return e.a + (d != nullptr); } }; er e; };\n"
    "    inline namespace v1 { int inl(deep::er *e, deep::er &f) { return e->a + f.a; } } }\n"
    "typedef struct { int z; } unnamed; int named_late(unnamed *a) { return a->z; }\n"
    "union either { int a; float b; };\n"
    "float builtin(either x, size_t n, long long l, unsigned long long u, wchar_t w, signed char "
    "s)\n"
    "{ return x.b + n + l + u + w + s; }\n"
    "int member(int point::*p, point &o) { return o.*p; }\n"
    "int method(int (point::*q)(int) const) { return q != nullptr; } }\n"
    "static int plain(point *p, const point &) { return p->x; }\n"
    "static point operator+(const point &a, const point &b) { return {a.x + b.x}; }\n"
    "namespace named {\n"
    "static int st(int a, std::vector<point>::iterator it) { return a + it->x; }\n"
    "struct cls { int m() const { return 3; } };\n"
    "static int again(cls *c, cls &d, const cls *const e, cls **g, bool b, double x, float f)\n"
    "{ return c->m() + d.m() + (e != 0) + (g != 0) + b + x + f; } }\n"
    "static int cb(int a, const point *) { return a; }\n"
    "int main(int argc, char **argv) {\n"
    "    std::vector<int> v; std::vector<long> w; point p[3] = {}; box<int, 3> b;\n"
    "    box<kind, 4> c; box<bool, 2> d; int i4[4][5] = {}; either x{1}; unnamed a{1};\n"
    "    in::deep dp{}; std::vector<point> vp(3); named::cls cl; named::cls *pc = &cl;\n"
    "    values<other::a, -3, true> vs; pack<int, point *> pk; b.set(0, 2);\n"
    "    return vs.f(&vs) + pk.size(1, p) + text(\"a\", argc).size() + abi(argc).size() +\n"
    "        lists(v, &w, p, argv) + enums(one, other::a, b, &c, std::move(d)) +\n"
    "        fn(cb, 1, 2, 3) + array(\"hello\", &i4, i4[0], 2, p, p, nullptr) + dots(\"a\", 3) "
    "+\n"
    "        copy(3) + lambda(3) + in::inl(&dp.e, dp.e) + in::deep::er::st(dp.e, &dp) +\n"
    "        named_late(&a) + builtin(x, 1, 2, 3, 4, 5) + member(&point::x, *p) +\n"
    "        method(nullptr) + plain(p, *p) + (p[0] + p[1]).x + named::st(1, vp.begin()) +\n"
    "        named::again(pc, cl, pc, &pc, true, 1, 2) + (p[0] < p[1]) + (int)p[0] + p[0][1] +\n"
    "        (-p[0]).x + (p[0] - p[1]).x + p[0].by(p) + point(p[0]).by(p) +\n"
    "        stream(*(std::ostream *)argv, {});\n"
    "}\n";

/* Of a function with code: the symbols there, and the name that is made. */
struct comparison {
    struct object *object;
    struct mangler *mangler;
    char *made; /* all of them, each between blanks */
    size_t len;
};

static bool is_symbol_at(struct object *o, uint64_t address, const char *name)
{
    size_t len;
    const struct object_symbol *symbols = object_symbols(o, &len, NULL);
    for (size_t i = 0; i < len; i++)
        if (symbols[i].address == address && !strcmp(symbols[i].name, name))
            return true;
    return false;
}

static int compare_function(Dwarf_Die *die, void *context)
{
    struct comparison *c = context;
    Dwarf_Addr low;
    if (dwarf_lowpc(die, &low))
        return DWARF_CB_OK;
    const char *made = mangled_name(&c->mangler, die);
    if (!made)
        return DWARF_CB_OK;
    if (strcmp(dwarf_diename(die), "main") != 0 && !is_symbol_at(c->object, low, made)) {
        print_error("%s: made %s\n", dwarf_diename(die), made);
        fail();
    }
    size_t len = strlen(made);
    c->made = realloc(c->made, c->len + len + 3);
    assert_non_null(c->made);
    c->len += (size_t)sprintf(c->made + c->len, " %s ", made);
    return DWARF_CB_OK;
}

/* As g++ up to 14 writes it, or from 16 on: functions in anonymous namespaces have an L. */
static bool is_made(const char *made, const char *wanted)
{
    static const char ANONYMOUS[] = "12_GLOBAL__N_1";
    const char *behind = strstr(wanted, ANONYMOUS);
    char later[512];
    if (strstr(made, wanted) || !behind)
        return strstr(made, wanted) != NULL;
    behind += sizeof ANONYMOUS - 1;
    snprintf(later, sizeof later, "%.*sL%s", (int)(behind - wanted), wanted, behind);
    return strstr(made, later) != NULL;
}

/* Units in which only some types are written, and such with DWARF 4, alike. */
CASE(test_names_are_those_of_symbols)
{
    static const char *const OPTIONS[] = {"-gdwarf-5", "-gdwarf-4",
                                          "-gdwarf-4 -fdebug-types-section", "-std=c++11",
                                          "-D_GLIBCXX_USE_CXX11_ABI=0"};
    static const char *const WANTED[] = {
        " _ZN12_GLOBAL__N_13boxIiLi3EE3setEii ",
        " _ZNK12_GLOBAL__N_13boxINS_4kindELi4EE3getEi ",
        " _ZN12_GLOBAL__N_14packIJiPNS_5pointEEE4sizeEiS2_ ",
        " _ZN12_GLOBAL__N_16valuesILNS_5otherE97ELln3ELb1EE1fEPS2_ ",
        " _ZNK12_GLOBAL__N_15pointcviEv ",
        " _ZN12_GLOBAL__N_15pointmiES0_ ",
        " _ZNO12_GLOBAL__N_15point2byEPS0_ ",
        " _ZN12_GLOBAL__N_12fnEPFiiPKNS_5pointEEhes ",
        " _ZN12_GLOBAL__N_15arrayERA6_KcPA4_A5_iPVKiDiPvPKvDn ",
        (" _ZN12_GLOBAL__N_15enumsENS_4kindENS_5otherERNS_3boxIiLi3EEEPNS2_IS0_Li4EEEOKNS2_"
         "IbLi2EEE "),
        " _ZN12_GLOBAL__N_16memberEMNS_5pointEiRS0_ ",
        " _ZN12_GLOBAL__N_12in4deep2er2stERS2_PS1_ ",
        " _ZN12_GLOBAL__N_14dotsEPKcz ",
        " _ZL5plainPN12_GLOBAL__N_15pointERKS0_ ",
        " _ZplRKN12_GLOBAL__N_15pointES2_ ",
        " _ZN5namedL5againEPNS_3clsERS0_PKS0_PS1_bdf ",
    };
    /* These have types of the library, of which type units leave parts out. */
    static const char *const OF_LIBRARY[] = {
        "5listsERSt6vectorIiSaIiEEPS0_IlSaIlEEPNS_5pointEPKPKc",
        "6streamERSoNSt7__cxx1112basic_stringIwSt11char_traitsIwESaIwEEE",
    };
    need("g++");
    write_text("t.cc", SOURCE);
    for (size_t i = 0; i < sizeof OPTIONS / sizeof *OPTIONS; i++) {
        bool is_other = strstr(OPTIONS[i], "types") || strstr(OPTIONS[i], "ABI");
        if (!run("g++ -O0 -g %s -o t t.cc", OPTIONS[i]))
            fail_msg("%s", output_of("cat log"));
        struct comparison c = {.object = opened("t", NULL)};
        int fd = open("t", O_RDONLY);
        Dwarf *dwarf = dwarf_begin(fd, DWARF_C_READ);
        assert_non_null(dwarf);
        Dwarf_Off next = 0, at;
        size_t header;
        Dwarf_Die unit;
        for (at = 0; !dwarf_nextcu(dwarf, at, &next, &header, NULL, NULL, NULL); at = next)
            if (dwarf_offdie(dwarf, at + header, &unit))
                dwarf_getfuncs(&unit, compare_function, &c, 0);
        for (size_t k = 0; k < sizeof WANTED / sizeof *WANTED; k++)
            if (!is_made(c.made, WANTED[k]) && !is_other)
                fail_msg("%s: not made: %s", OPTIONS[i], WANTED[k]);
        for (size_t k = 0; k < sizeof OF_LIBRARY / sizeof *OF_LIBRARY; k++)
            if (!strstr(c.made, OF_LIBRARY[k]) && !is_other)
                fail_msg("%s: not made: %s", OPTIONS[i], OF_LIBRARY[k]);
        /* What cannot be told is left alone. */
        assert_null(strstr(c.made, "4copyI"));
        assert_null(strstr(c.made, "10named_late"));
        assert_null(strstr(c.made, "6method"));
        mangler_free(c.mangler);
        dwarf_end(dwarf);
        close(fd);
        object_close(c.object);
        free(c.made);
    }
}

int main(void)
{
    return run_cases(workshop_open, workshop_close);
}
