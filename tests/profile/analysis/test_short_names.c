/* Short names of functions, a table of what libiberty makes of real symbols and of odd ones; names
 * are never longer than they were, and take no more time than their length allows. */
#include "cases.h"
#include "profile/analysis/names.h"

#include <string.h>
#include <time.h>

struct row {
    const char *name, *brief; /* NULL: the name itself */
};

static const struct row ROWS[] = {
    {"A::operator int ::operator()()zconst", "A::operator int ::operator()"},
    {"void (*foo<int>(int))(char)", "foo<int>"},
    {"void (*(*foo<int>())(int))(char)", "foo<int>"},
    {"int (&app::arr<int>(int))[3]", "app::arr<int>"},
    {"int (A::*get<int>())(char) const", "get<int>"},
    {"A::operator int (*)(int)()", "A::operator int (*)(int)"},
    {"A::operator int (*)(int)() const", "A::operator int (*)(int)"},
    {"A::operator void (B::*)(int)()::{lambda()#1}::operator()() const",
     "A::operator void (B::*)(int)::{lambda()#1}::operator()"},
    {"decltype (({parm#1})+({parm#2})) app::add<int, double>(int, double)",
     "app::add<int, double>"},
    {"decltype(auto) f<int>(int)", "f<int>"},
    {"foo(int) [clone .cold]", "foo [clone .cold]"},
    {"foo(int) [clone .isra.0] [clone .cold]", "foo [clone .isra.0] [clone .cold]"},
    {"core::fmt::Formatter::pad::h0123456789abcdef", "core::fmt::Formatter::pad"},
    {"<alloc::vec::Vec<T,A> as core::ops::drop::Drop>::drop::h0123456789abcdef",
     "<alloc::vec::Vec<T,A> as core::ops::drop::Drop>::drop"},
    {"<[T] as x::Y<dyn Fn(i32) -> i32>>::f", NULL},
    {"std::__1::basic_string<char, std::__1::char_traits<char>, std::__1::allocator<char> "
     ">::append(char const*)",
     "std::string::append"},
    {"void f<(1)<(2)>(int)", "f<(1)<(2)>"},
    {"std::map<int, a, std::less<void>, std::allocator<std::pair<int const, a> > >::find(int "
     "const&)",
     "std::map<int, a, std::less<void>>::find"},
    {"f(int)@@VERS_1", "f@@VERS_1"},
    {"void f<int>(int) requires C<int>", "f<int>"},
    {"a<b", NULL},
    {"a>b", NULL},
    {"a<b)>", NULL},
    {"f[abi:cxx11](int)", "f"},
    {"operator\"\" _x(char const*)", "operator\"\" _x"},
    {"bool operator< <int>(A<int> const&)", "operator< <int>"},
    {"A::operator->*<int>(int)", "A::operator->*<int>"},
    {"A::operator()(int) &&", "A::operator()"},
    {"core.stdc.f!(int).f(int)", "core.stdc.f!(int).f"},
    {"std::foo<std::allocator<int> >(int)", "std::foo<std::allocator<int>>"},
    {"unsigned long std::hash<foo>::operator()(foo) const", "std::hash<foo>::operator()"},
    {"std::basic_ostream<wchar_t, std::char_traits<wchar_t> >& std::endl<wchar_t, "
     "std::char_traits<wchar_t> >(std::basic_ostream<wchar_t, std::char_traits<wchar_t> >&)",
     "std::endl<wchar_t>"},
    {"f(int)::x", "f::x"},
    {"auto f<int>(int)::{lambda(auto:1)#1}::operator()<char>(char) const",
     "f<int>::{lambda(auto:1)#1}::operator()<char>"},
    {"A::B<&(A::operator<(A const&))>::f()", "A::B<&(A::operator<(A const&))>::f"},
    {"foo<char [3]>()", "foo<char [3]>"},
    {"foo<(char)40>(int)", "foo<(char)40>"},
    {"foo<(E)1, &f(int)>()", "foo<(E)1, &f(int)>"},
    {"non-virtual thunk to A::f(int)", "non-virtual thunk to A::f"},
    {"std::ostream& operator<< <int>(std::ostream&, V<int>)", "operator<< <int>"},
    {"vtable for std::vector<int, std::allocator<int> >", "vtable for std::vector<int>"},
    {"<T as core::convert::Into<U>>::into", NULL},
    {"foo::bar::{{closure}}::h0123456789abcdef", "foo::bar::{{closure}}"},
    {"operator new(unsigned long)", "operator new"},
    {"std::function<void (int)>::operator()(int) const", "std::function<void (int)>::operator()"},
    {"std::_Function_handler<void (int), main::{lambda(int)#1}>::_M_invoke(std::_Any_data const&, "
     "int&&)",
     "std::_Function_handler<void (int), main::{lambda(int)#1}>::_M_invoke"},
    {"std::unique_ptr<int [], std::default_delete<int []> >::get() const",
     "std::unique_ptr<int []>::get"},
    {"void std::__detail::_Compiler<std::__cxx11::regex_traits<char> "
     ">::_M_insert_any_matcher_posix<true, false>()",
     "std::__detail::_Compiler<std::regex_traits<char>>::_M_insert_any_matcher_posix<true, false>"},
    {"auto main::{lambda(int)#1}::operator()(int) "
     "const::{lambda(auto:1)#1}::operator()<double>(double) const",
     "main::{lambda(int)#1}::operator()::{lambda(auto:1)#1}::operator()<double>"},
    {"double (anonymous namespace)::Hidden::get<double>(double)",
     "(anonymous namespace)::Hidden::get<double>"},
    {"std::unordered_map<int, std::unique_ptr<app::V, std::default_delete<app::V> >, "
     "std::hash<int>, std::equal_to<int>, std::allocator<std::pair<int const, "
     "std::unique_ptr<app::V, std::default_delete<app::V> > > > >::operator[](int&&)",
     "std::unordered_map<int, std::unique_ptr<app::V>>::operator[]"},
    {"std::__detail::_MakeUniq<app::V>::__single_object std::make_unique<app::V>()",
     "std::make_unique<app::V>"},
    {"bool std::__invoke_impl<bool, std::__detail::_AnyMatcher<std::__cxx11::regex_traits<char>, "
     "true, true, false>&, char>(std::__invoke_other, "
     "std::__detail::_AnyMatcher<std::__cxx11::regex_traits<char>, true, true, false>&, char&&)",
     "std::__invoke_impl<bool, std::__detail::_AnyMatcher<std::regex_traits<...>, true, true, "
     "false>&, char>"},
    {"std::enable_if<__is_path_src<char [2]>, std::filesystem::__cxx11::path>::type& "
     "std::filesystem::__cxx11::path::operator/=<char [2]>(char const (&) [2])",
     "std::filesystem::path::operator/=<char [2]>"},
    {"std::function<bool "
     "(char)>::function<std::__detail::_AnyMatcher<std::__cxx11::regex_traits<char>, true, false, "
     "true>, void>(std::__detail::_AnyMatcher<std::__cxx11::regex_traits<char>, true, false, "
     "true>&&)",
     "std::function<bool (char)>::function<std::__detail::_AnyMatcher<std::regex_traits<...>, "
     "true, false, true>, void>"},
    {"std::stack<std::__detail::_StateSeq<std::__cxx11::regex_traits<char> >, "
     "std::deque<std::__detail::_StateSeq<std::__cxx11::regex_traits<char> >, "
     "std::allocator<std::__detail::_StateSeq<std::__cxx11::regex_traits<char> > > > >::~stack()",
     "std::stack<std::__detail::_StateSeq<std::regex_traits<...>>, "
     "std::deque<std::__detail::_StateSeq<...>>>::~stack"},
    {"std::pair<std::_Rb_tree_iterator<std::pair<unsigned int const, std::pair<llvm::Type*, "
     "llvm::SMLoc> > >, bool> std::_Rb_tree<unsigned int, std::pair<unsigned int const, "
     "std::pair<llvm::Type*, llvm::SMLoc> >, std::_Select1st<std::pair<unsigned int const, "
     "std::pair<llvm::Type*, llvm::SMLoc> > >, std::less<unsigned int>, "
     "std::allocator<std::pair<unsigned int const, std::pair<llvm::Type*, llvm::SMLoc> > > "
     ">::_M_emplace_unique<std::pair<unsigned int, std::pair<llvm::Type*, llvm::SMLoc> > "
     ">(std::pair<unsigned int, std::pair<llvm::Type*, llvm::SMLoc> >&&)@@LLVM_15",
     "std::_Rb_tree<unsigned int, std::pair<unsigned int const, std::pair<...>>, "
     "std::_Select1st<std::pair<...>>>::_M_emplace_unique<std::pair<unsigned int, "
     "std::pair<...>>>@@LLVM_15"},
    {"__gnu_cxx::__normal_iterator<char*, std::__cxx11::basic_string<char, std::char_traits<char>, "
     "std::allocator<char> > >::difference_type __gnu_cxx::operator-<char*, "
     "std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> > "
     ">(__gnu_cxx::__normal_iterator<char*, std::__cxx11::basic_string<char, "
     "std::char_traits<char>, std::allocator<char> > > const&, __gnu_cxx::__normal_iterator<char*, "
     "std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> > > const&)",
     "__gnu_cxx::operator-<char*, std::string>"},
    {"app::V::operator std::vector<int, std::allocator<int> >() const",
     "app::V::operator std::vector<int>"},
    {"bool app::V::operator<< <int>(int)", "app::V::operator<< <int>"},
    {"vtable for std::thread::_State_impl<std::thread::_Invoker<std::tuple<void "
     "(std::__future_base::_Async_state_impl<std::thread::_Invoker<std::tuple<main::{lambda()#4}> "
     ">, int>::*)(), "
     "std::__future_base::_Async_state_impl<std::thread::_Invoker<std::tuple<main::{lambda()#4}> "
     ">, int>*> > >",
     "vtable for std::thread::_State_impl<std::thread::_Invoker<std::tuple<...>>>"},
    {"guard variable for std::__detail::_AnyMatcher<std::__cxx11::regex_traits<char>, false, true, "
     "false>::operator()(char) const::__nul",
     "guard variable for std::__detail::_AnyMatcher<std::regex_traits<char>, false, true, "
     "false>::operator()::__nul"},
    {"llvm::rdf::DataFlowGraph::recordDefsForDF(std::map<unsigned int, "
     "std::set<llvm::rdf::RegisterRef, std::less<llvm::rdf::RegisterRef>, "
     "std::allocator<llvm::rdf::RegisterRef> >, std::less<unsigned int>, "
     "std::allocator<std::pair<unsigned int const, std::set<llvm::rdf::RegisterRef, "
     "std::less<llvm::rdf::RegisterRef>, std::allocator<llvm::rdf::RegisterRef> > > > >&, "
     "llvm::rdf::NodeAddr<llvm::rdf::BlockNode*>)@@LLVM_15",
     "llvm::rdf::DataFlowGraph::recordDefsForDF@@LLVM_15"},
};

CASE(test_table)
{
    struct arena a = {0};
    (void)state;
    for (size_t i = 0; i < sizeof ROWS / sizeof *ROWS; i++) {
        const char *brief = names_short(ROWS[i].name, &a);
        assert_string_equal(brief, ROWS[i].brief ? ROWS[i].brief : ROWS[i].name);
        if (!ROWS[i].brief)
            assert_ptr_equal(brief, ROWS[i].name);
    }
    arena_deinit(&a);
}

/* What a name loses, in the order in which it does: ever less room for one name. */
CASE(test_names_within)
{
    static const struct {
        const char *name;
        int room;
        const char *fits;
    } rows[] = {
        {"void app::Pool<int>::push(int const&)", 40, "void app::Pool<int>::push(int const&)"},
        {"void app::Pool<int>::push(int const&)", 36, "app::Pool<int>::push"},
        {"void app::Pool<int>::push(int const&)", 19, "app::Pool::push"},
        {"void app::Pool<int>::push(int const&)", 14, "...Pool::push"},
        {"void app::Pool<int>::push(int const&)", 12, "...push"},
        {"void app::Pool<int>::push(int const&)", 5, "push"}, /* without a sign, but whole */
        {"void app::Pool<int>::push(int const&)", 3, "push"},
        {"bool A<x>::operator()<int, int>(int, int) const", 24, "A::operator()"},
        {"(anonymous namespace)::read_all_lines()", 20, "...read_all_lines"},
        {"<alloc::Vec<T> as core::Iterator>::next", 38, "<alloc::Vec as core::Iterator>::next"},
        {"<alloc::Vec<T> as core::Iterator>::next", 30, "<Vec as Iterator>::next"},
        {"<alloc::Vec<T> as core::Iterator>::next", 22, "<Vec>::next"},
        {"<alloc::Vec<T> as core::Iterator>::next", 10, "...next"},
        {"<std::sys::sync::mutex::futex::Mutex>::lock", 33, "<Mutex>::lock"},
        {"<&mut a::String as b::Write>::write_str", 30, "<String as Write>::write_str"},
        {"<fn(a::B) -> c::D as core::ops::Fn>::call", 29, "<fn(a::B) -> c::D>::call"},
        {"a::cmp::<impl core::PartialEq<[U]> for [T]>::eq", 40, "a::cmp::<[T]>::eq"},
        {"a::cmp::<impl core::PartialEq<[U]> for [T]>::eq", 16, "...<[T]>::eq"},
        {"b::<impl b::Map<K,V>>::entry::{{closure}}", 35, "b::<b::Map>::entry::{{closure}}"},
        {"b::<impl a::<impl c::<impl d::<impl e>>>>::f", 30, "b::<a::<c>>::f"},
        {"A::operator std::vector<int>()", 20, "operator std::vector"},
        {"\303\244\303\266::\303\274\303\274\303\274\303\274\303\274", 9,
         "\303\244\303\266::\303\274\303\274\303\274\303\274\303\274"},
        {"a_very_long_name_in_c", 10, "a_very_long_name_in_c"}, /* the caller cuts it */
        {"[stack cut: deeper than a::b]", 10, "[stack..."},
        {"[kernel] faults and interrupts", 24, "[kernel] faults and i..."},
        {"[kernel] faults and interrupts", 5, "[kernel] faults and interrupts"},
        {"main::{lambda(int, int)#2}::operator()(int, int) const", 40,
         "main::{lambda(int, int)#2}::operator()"},
        {"main::{lambda(int, int)#2}::operator()(int, int) const", 20, "main::{lambda#2}"},
        {"a::W::run(b<c> const&)::{lambda(int)#1}::operator()(int) const", 20,
         "...run::{lambda#1}"},
        {"a::run()::{lambda(d)#1}::operator()(d)::{lambda()#2}::operator()() const", 40,
         "a::run::{lambda#1}::{lambda#2}"},
        {"main::{lambda#3}::operator()", 20, "main::{lambda#3}"},
        {"app::main::$_11::operator()(int) const", 22, "app::main::{lambda#12}"},
        {"core::iter::filter_fold::{{closure}}", 32, "...filter_fold::{{closure}}"},
        {"core::iter::filter_fold::{{closure}}", 20,
         "filter_fold::{{closure}}"}, /* not without it */
        {"core::iter::fold::<u64, core::A<u8>>::{closure#0}", 32, "core::iter::fold::{closure#0}"},
        {"<a::R as b::I>::fold::<u64>", 20, "<a::R as b::I>::fold"},
        {"[0xcb5040] (cc1plus)", 20, "[0xcb5040] (cc1plus)"},
        {"[0xcb5040] (cc1plus)", 19, "[0xcb5040]"},
        {"a>b::c(d", 3, "a>b::c(d"},
    };
    struct arena a = {0};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_string_equal(names_within(rows[i].name, rows[i].room, &a), rows[i].fits);
    arena_deinit(&a);
}

/* What tells instances apart stays, and is cut last. */
CASE(test_instances_within)
{
    static const struct {
        const char *name;
        int room;
        const char *fits;
    } rows[] = {
        {"bool app::Index<std::string, long>::add(long const&)", 35,
         "app::Index<std::string, long>::add"},
        {"bool app::Index<std::string, long>::add(long const&)", 28,
         "app::Index<string,long>::add"},
        {"bool app::Index<std::string, long>::add(long const&)", 26, "...Index<string,long>::add"},
        {"bool app::Index<std::string, long>::add(long const&)", 20, "Index<string,long>::add"},
        {"std::swap<a::b::X>(a::b::X&, a::b::X&)", 16, "std::swap<X>"},
        {"a::sort<a::main::{lambda(int)#2}>(int)", 24, "a::sort<{lambda#2}>"},
        {"<a::Vec<u8> as core::Clone>::clone", 24, "<Vec<u8> as Clone>::clone"},
        {"core::iter::fold::<u64, core::A<u8>>", 24, "...fold::<u64,A<u8>>"},
        {"x<y>", 4, "x<y>"},
    };
    struct arena a = {0};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_string_equal(names_instance_within(rows[i].name, rows[i].room, &a), rows[i].fits);
    arena_deinit(&a);
}

/* Functions that only template arguments distinguish, and others. */
CASE(test_instances_are_found)
{
    static const char *const LINKAGE[] = {
        "_ZN5IndexIilE3addERKi",      "_ZN5IndexIldE3addERKl",  "_Z4castIiET_c", "main",
        "sort<main::<lambda(int)> >", "sort<f::<lambda(int)> >"};
    static const bool IS_INSTANCE[] = {true, true, false, false, true, true};
    enum { LEN = sizeof LINKAGE / sizeof *LINKAGE };
    struct arena a = {0};
    struct function at[LEN] = {0};
    struct functions f = {.at = at, .len = LEN};
    struct names n;
    (void)state;
    for (size_t i = 0; i < LEN; i++)
        at[i].name = LINKAGE[i];
    names_init(&n, &f, "auto", &a);
    names_shorten(&n, NULL);
    for (size_t i = 0; i < LEN; i++)
        assert_int_equal(n.is_instance[i], IS_INSTANCE[i]);
    arena_deinit(&a);
}

CASE(test_names_that_are_not_mangled)
{
    static const char *const rows[][2] = {
        {"__physics_MOD_step", "physics::step"},
        {"__physics_MOD_step._omp_fn.0", "physics::step [omp 0]"},
        {"__a_MOD_b_MOD_c", "a::b_MOD_c"},
        {"step_._omp_fn.12", "step_ [omp 12]"},
        {"main._omp_fn.1", "main [omp 1]"},
        {"read@@GLIBC_2.2.5", "read"},
        {"JS:*render /usr/my app/app.js:2:16", "render app.js:2:16"},
        {"LazyCompile:~get size /usr/app.js:2:16", "get size app.js:2:16"},
        {"JS:~ file:///usr/app.mjs:1:1", "(anonymous) app.mjs:1:1"},
        {"JS:^emit node:internal/a:466:44", "emit node:internal/a:466:44"},
        {"JS:*f a.js:1:2", "f a.js:1:2"},
        {"JS:*f", NULL},
        {"JS:*f a.js:1", NULL},
        {"JS:", NULL},
        {"main", NULL},
        {"__MOD_step", NULL},
        {"__a_MOD_", NULL},
        {"_a_MOD_b", NULL},
        {"main._omp_fn.", NULL},
        {"main._omp_fn.0.cold", NULL},
        {"._omp_fn.0", NULL},
        {"@x", NULL},
        {"", NULL},
    };
    struct arena a = {0};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *brief = names_short_plain(rows[i][0], &a);
        assert_int_equal(!brief, !rows[i][1]);
        if (brief)
            assert_string_equal(brief, rows[i][1]);
    }
    assert_string_equal(names_short("f(int) [clone ._omp_fn.3]", &a), "f [omp 3]");
    assert_string_equal(names_short("render app.js:2:16", &a), "render app.js:2:16");
    assert_string_equal(names_within("render app.js:2:16", 9, &a), "render app.js:2:16");
    assert_string_equal(names_within("JS:*f /usr/app.js:2:16", 9, &a), "JS:*f /usr/app.js:2:16");
    arena_deinit(&a);
}

/* Every beginning of every name, which has brackets open wherever it stops. */
CASE(test_cut_names)
{
    struct arena a = {0};
    (void)state;
    for (size_t i = 0; i < sizeof ROWS / sizeof *ROWS; i++)
        for (size_t len = 0; len < strlen(ROWS[i].name); len++) {
            const char *cut = arena_copy(&a, ROWS[i].name, len), *brief = names_short(cut, &a);
            assert_true(strlen(brief) <= len);
            assert_true(strlen(names_within(cut, 8, &a)) <= len);
            assert_true(strlen(names_instance_within(cut, 8, &a)) <= len);
        }
    arena_deinit(&a);
}

/* Pieces that open, close, nest, and look like the beginning of something, many of each
 * and of each pair. */
CASE(test_hostile_names)
{
    static const char *const PIECES[] = {"<",
                                         "(",
                                         "a<",
                                         "(*",
                                         "operator",
                                         "operator ",
                                         "std::less<",
                                         "a<b,",
                                         "(a",
                                         "{",
                                         ")(",
                                         "> ",
                                         "std::__cxx11::",
                                         " const",
                                         "a()::",
                                         "operator<",
                                         "std::allocator<a>,",
                                         "{lambda(",
                                         "::$_1"};
    enum { LEN = 1 << 16, KINDS = sizeof PIECES / sizeof *PIECES };
    struct arena a = {0};
    char *name = arena_alloc(&a, LEN + 64);
    clock_t start = clock();
    (void)state;
    for (size_t k = 0; k < KINDS * KINDS; k++) {
        const char *first = PIECES[k / KINDS], *second = PIECES[k % KINDS];
        char *end = name;
        while (end < name + LEN)
            end = stpcpy(stpcpy(end, first), second);
        assert_true(strlen(names_short(name, &a)) <= strlen(name));
        assert_true(strlen(names_within(name, 8, &a)) <= strlen(name));
        assert_true(strlen(names_instance_within(name, 8, &a)) <= strlen(name));
        char closers[3] = {strchr(first, '<') ? '>' : ')', strchr(second, '<') ? '>' : ')', 0};
        end = name + (end - name) / 2;
        *end = '\0';
        for (size_t i = 0; i + 2 < LEN / 2; i += 2)
            end = stpcpy(end, closers);
        assert_true(strlen(names_short(name, &a)) <= strlen(name));
    }
    assert_true(clock() - start < 60 * CLOCKS_PER_SEC); /* far more than it takes */
    arena_deinit(&a);
}

/* Ends of paths are as long as they must be within a group, and no longer. */
CASE(test_places)
{
    static const uint64_t GROUP[] = {1, 1, 1, 1, 2, 2, 2, 3, 3};
    static const char *const PATHS[] = {"/p/net/util.c", "/p/disk/util.c", "/p/net/util.c",
                                        "/p/main.c",     "/p/util.c",      NULL,
                                        "/p/main.c",     "a/b/c.c",        "/x/a/b/c.c"};
    static const char *const ENDS[] = {"net/util.c", "disk/util.c", "net/util.c",
                                       "main.c",     "util.c",      NULL,
                                       "main.c",     "a/b/c.c",     "x/a/b/c.c"};
    enum { LEN = sizeof PATHS / sizeof *PATHS };
    const char *ends[LEN];
    (void)state;
    paths_tell_apart(GROUP, PATHS, LEN, ends);
    for (size_t i = 0; i < LEN; i++)
        if (ENDS[i])
            assert_string_equal(ends[i], ENDS[i]);
        else
            assert_null(ends[i]);
}

/* Functions by their linkage names: those that only the parameters tell apart keep them, those that
 * only the type tells apart keep all. */
CASE(test_equal_short_names)
{
    static const char *const LINKAGE[] = {"_Z3geti",
                                          "_Z3getd",
                                          "_Z3setSt6vectorIiSaIiEE",
                                          "_Z4castIiET_c",
                                          "put",
                                          "_Z3putv",
                                          "_Z3getc",
                                          "_Z3seti",
                                          "_ZN1a4castIiEEiv",
                                          "_ZN1a4castIiEEvv",
                                          "_Z5storeSt6vectorIiSaIiEE",
                                          "_Z5storei"};
    static const char *const SHOWN[] = {"get(int)",
                                        "get(double)",
                                        "set",
                                        "cast<int>",
                                        "put",
                                        "put()",
                                        "get",
                                        NULL,
                                        "int a::cast<int>()",
                                        "void a::cast<int>()",
                                        "store(std::vector<int>)",
                                        "store(int)"};
    enum { LEN = sizeof LINKAGE / sizeof *LINKAGE };
    struct arena a = {0};
    struct function at[LEN] = {0};
    struct functions f = {.at = at, .len = LEN};
    struct names n;
    bool is_shown[LEN];
    (void)state;
    for (size_t i = 0; i < LEN; i++) {
        at[i].name = LINKAGE[i];
        is_shown[i] = SHOWN[i] && strcmp(SHOWN[i], "get");
    }
    names_init(&n, &f, "auto", &a);
    names_shorten(&n, is_shown);
    for (uint32_t i = 0; i < LEN; i++)
        if (is_shown[i])
            assert_string_equal(names_text(&n, i), SHOWN[i]);
        else
            assert_ptr_equal(names_text(&n, i), names_get(&n, i));
    arena_deinit(&a);
}
