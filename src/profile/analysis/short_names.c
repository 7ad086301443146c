/* Short forms of names as libiberty spells them. This is not a parser of C++: it knows which
 * brackets belong together, where words begin, and what stands between two colons.
 *
 * First each bracket finds its partner. A `<` counts as one only where a template's arguments can
 * begin, and is given up when a closing bracket of another kind comes first: then it was a
 * comparison.
 *
 *     std::map<int, std::less<int> >::at(int const&) const
 *             ^--------------------^    ^----------^
 *     std::map<int>::at
 *
 * Then the name is copied from left to right, and what it does not need is left out: return type
 * and parameters, qualifiers, default arguments of the standard library's templates, inline
 * namespaces, ABI tags, Rust's hashes. What is deeper than two templates becomes `<...>`.
 *
 * What holds: the result is never longer than the name, and is the name where brackets do not
 * match. Linear in the length; recursion ends with the second template. */
#include "profile/analysis/names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NO_PARTNER = 0, DEEPEST = 2 }; /* levels of templates that are shown */

struct shortening {
    const char *name;
    size_t len;
    uint32_t *partner; /* per byte: of an opening bracket, its closing one; else NO_PARTNER */
    char *out;
    size_t out_len;
    bool has_parameters;  /* keep them */
    bool drops_arguments; /* of templates, all of them */
};

static bool short_is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '$' || (unsigned char)c >= 128;
}

static bool short_begins(const struct shortening *s, size_t at, size_t end, const char *text)
{
    size_t len = strlen(text);
    return len <= end - at && !memcmp(s->name + at, text, len);
}

static bool short_ends_in(const struct shortening *s, size_t start, size_t at, const char *text)
{
    size_t len = strlen(text);
    return len <= at - start && !memcmp(s->name + at - len, text, len);
}

static void short_put(struct shortening *s, const char *text, size_t len)
{
    memmove(s->out + s->out_len, text, len);
    s->out_len += len;
}

static void short_put_range(struct shortening *s, size_t from, size_t to)
{
    short_put(s, s->name + from, to - from);
}

/* --- brackets -------------------------------------------------------------------------------- */

static bool short_is_operator_word(const struct shortening *s, size_t at, size_t end)
{
    return short_begins(s, at, end, "operator") && (!at || !short_is_word(s->name[at - 1])) &&
           (at + 8 == s->len || !short_is_word(s->name[at + 8]));
}

/* Length of the sign before `end` that follows the word `operator`; 0: a word, a type or nothing.
 */
static size_t short_operator_sign(const struct shortening *s, size_t at, size_t end)
{
    static const char *const SIGNS[] = {
        "<=>", "<<=", ">>=", "->*", "<<", ">>", "<=", ">=", "->", "()", "[]", "<", ">", ","};
    for (size_t i = 0; i < sizeof SIGNS / sizeof *SIGNS; i++)
        if (short_begins(s, at, end, SIGNS[i]))
            return strlen(SIGNS[i]);
    size_t len = strspn(s->name + at, "+-*/%^&|~!=");
    return len < end - at ? len : end - at;
}

/* Whether template arguments, or a path in Rust's angle brackets, can begin here. */
static bool short_can_open(const struct shortening *s, size_t at)
{
    char before = at ? s->name[at - 1] : ' ';
    if (short_is_word(before) || before == ']') /* of an ABI tag */
        return true;
    return strchr(" <([{,&:", before) != NULL;
}

static char short_closer_of(char open)
{
    switch (open) {
    case '(': return ')';
    case '[': return ']';
    case '{': return '}';
    case '<': return '>';
    default: return 0;
    }
}

/* Takes the closing bracket at `at` off the stack of open ones, which lies in `partner` as a list:
 * an open bracket's entry is the one around it. False if nothing is open that it could close. */
static bool short_close_bracket(struct shortening *s, size_t at, uint32_t *open)
{
    uint32_t top = *open;
    if (s->name[at] == '>' && (!top || s->name[top - 1] != '<'))
        return true; /* a comparison, or an arrow */
    while (top && s->name[top - 1] == '<' && s->name[at] != '>') {
        uint32_t around = s->partner[top - 1];
        s->partner[top - 1] = NO_PARTNER;
        top = around;
    }
    if (!top || short_closer_of(s->name[top - 1]) != s->name[at])
        return false;
    *open = s->partner[top - 1];
    s->partner[top - 1] = (uint32_t)at;
    return true;
}

static void short_open_bracket(struct shortening *s, size_t at, uint32_t *open)
{
    s->partner[at] = *open;
    *open = (uint32_t)at + 1;
}

/* Finds the partner of each bracket; false: they do not match, and the name is left alone. */
static bool short_match_brackets(struct shortening *s)
{
    uint32_t open = 0; /* its place + 1 */
    for (size_t i = 0; i < s->len; i++) {
        char c = s->name[i];
        if (c == 'o' && short_is_operator_word(s, i, s->len)) {
            size_t sign = i + 8;
            i = sign + short_operator_sign(s, sign, s->len);
            if (i > sign && (s->name[sign] == '(' || s->name[sign] == '['))
                s->partner[sign] = (uint32_t)i - 1;
            if (s->name[i] == '<')
                short_open_bracket(s, i, &open);
            else
                i--;
        } else if (c == '-' && s->name[i + 1] == '>') {
            i++;
        } else if (c == '<' ? short_can_open(s, i) : short_closer_of(c) != 0) {
            short_open_bracket(s, i, &open);
        } else if (strchr(")]}>", c) && !short_close_bracket(s, i, &open)) {
            return false;
        }
    }
    return !open;
}

/* --- types ----------------------------------------------------------------------------------- */

static size_t short_trim(const struct shortening *s, size_t start, size_t end)
{
    while (end > start && s->name[end - 1] == ' ')
        end--;
    return end;
}

struct range {
    size_t start, end;
};

static bool short_is_same(const struct shortening *s, struct range l, struct range r)
{
    return l.end - l.start == r.end - r.start &&
           !memcmp(s->name + l.start, s->name + r.start, l.end - l.start);
}

/* The position after `std::` and the library's inline namespace; 0 if they are not there. */
static size_t short_behind_std(const struct shortening *s, size_t at, size_t end)
{
    static const char *const SPACES[] = {"std::__cxx11::", "std::__1::", "std::"};
    for (size_t i = 0; i < sizeof SPACES / sizeof *SPACES; i++)
        if (short_begins(s, at, end, SPACES[i]))
            return at + strlen(SPACES[i]);
    return 0;
}

/* Whether an argument is what the standard library takes when none is given. */
static bool short_is_default(const struct shortening *s, struct range argument, struct range first)
{
    static const char *const NAMES[] = {"allocator<", "less<",        "hash<",
                                        "equal_to<",  "char_traits<", "default_delete<"};
    size_t name = short_behind_std(s, argument.start, argument.end);
    for (size_t i = 0; name && i < sizeof NAMES / sizeof *NAMES; i++) {
        size_t open = name + strlen(NAMES[i]);
        if (short_begins(s, name, argument.end, NAMES[i]) &&
            s->partner[open - 1] == argument.end - 1)
            return !i || short_is_same(
                             s, (struct range){open, short_trim(s, open, argument.end - 1)}, first);
    }
    return false;
}

/* The end of the last argument in [start, end) that is no default; `first` is always kept. */
static size_t short_kept_end(const struct shortening *s, size_t start, size_t end)
{
    struct range first = {start, 0};
    size_t kept = end;
    for (size_t at = start; at <= end;) {
        /* The end of the argument that begins at `at`: a comma outside of brackets, or `end`. */
        size_t comma = at;
        while (comma < end && s->name[comma] != ',')
            comma = s->partner[comma] ? s->partner[comma] + 1 : comma + 1;
        struct range argument = {at, short_trim(s, at, comma)};
        if (at == start)
            first.end = argument.end;
        if (at == start || argument.end == at || !short_is_default(s, argument, first))
            kept = argument.end;
        at = comma + 1;
        while (at < end && s->name[at] == ' ')
            at++;
    }
    return kept;
}

/* Makes std::string of std::basic_string with the single argument char. */
static bool short_put_alias(struct shortening *s, size_t start, size_t end)
{
    static const char *const STREAMS[] = {
        "string",       "string_view",   "ostream",       "istream",   "iostream",
        "stringstream", "ostringstream", "istringstream", "stringbuf", "streambuf",
        "filebuf",      "ofstream",      "ifstream",      "fstream",   "ios"};
    bool is_wide = end - start == 7 && short_begins(s, start, end, "wchar_t");
    if (!is_wide && (end - start != 4 || !short_begins(s, start, end, "char")))
        return false;
    for (size_t i = 0; i < sizeof STREAMS / sizeof *STREAMS; i++) {
        size_t len = strlen(STREAMS[i]), all = len + strlen("std::basic_");
        char *at = s->out + s->out_len - all;
        if (s->out_len < all || memcmp(at, "std::basic_", 11) || memcmp(at + 11, STREAMS[i], len))
            continue;
        if (s->out_len > all && (short_is_word(at[-1]) || at[-1] == ':'))
            continue;
        s->out_len -= len + strlen("basic_");
        short_put(s, "w", is_wide);
        short_put(s, STREAMS[i], len);
        return true;
    }
    return false;
}

static void short_put_type(struct shortening *s, size_t at, size_t end, int level);

/* Rust's methods of `impl Trait for Type` have the whole of that in brackets as one component of
 * their path. Where arguments are dropped, the type stays: `slice::cmp::<[T]>::eq`. */
static void short_put_impl(struct shortening *s, size_t open, int level)
{
    size_t close = s->partner[open], start = open + strlen("<impl ");
    if (!short_ends_in(s, 0, open, "::"))
        return;
    if (level >= DEEPEST || !short_begins(s, open, close, "<impl ")) {
        s->out_len -= s->out_len >= 2 ? 2 : 0; /* `fold::<u64>`: the colons belong to the bracket */
        return;
    }
    for (size_t at = start; at < close; at = s->partner[at] ? s->partner[at] + 1 : at + 1)
        if (short_begins(s, at, close, " for ")) {
            start = at + strlen(" for ");
            break;
        }
    short_put(s, "<", 1);
    short_put_type(s, start, close, level + 1);
    short_put(s, ">", 1);
}

/* The arguments of a template, from the opening bracket to the closing one. The depth of calls is
 * that of templates, and these end at DEEPEST. */
static void short_put_arguments(struct shortening *s, size_t open, int level)
{
    static const char more[] = "<...>";
    size_t close = s->partner[open], start = open + 1;
    if (s->drops_arguments && s->out_len) { /* Rust's `<T as Trait>::call` begins with a bracket */
        short_put_impl(s, open, level);
        return;
    }
    size_t end = short_kept_end(s, start, short_trim(s, start, close));
    if (short_put_alias(s, start, end))
        return;
    if (level >= DEEPEST && end - start >= strlen(more) - 2) {
        short_put(s, more, strlen(more));
        return;
    }
    short_put(s, "<", 1);
    if (level >= DEEPEST)
        short_put_range(s, start, end);
    else
        short_put_type(s, start, end, level + 1);
    short_put(s, ">", 1);
}

/* How many bytes at `at` are of an ABI tag or an inline namespace of the standard library. */
static size_t short_noise_at(const struct shortening *s, size_t at, size_t end)
{
    static const char *const SPACES[] = {"__cxx11::", "__1::", "_V2::"};
    if (short_begins(s, at, end, "[abi:") && s->partner[at])
        return s->partner[at] + 1 - at;
    if (s->name[at] != '_' || !short_ends_in(s, 0, at, "::"))
        return 0;
    for (size_t i = 0; i < sizeof SPACES / sizeof *SPACES; i++)
        if (short_begins(s, at, end, SPACES[i]) && (!i || short_ends_in(s, 0, at, "std::")))
            return strlen(SPACES[i]);
    return 0;
}

/* Copies one byte, one operator's name or one template's arguments; returns where to go on. */
static size_t short_put_next(struct shortening *s, size_t at, size_t end, int level)
{
    size_t noise = short_noise_at(s, at, end);
    if (noise)
        return at + noise;
    if (s->name[at] == 'o' && short_is_operator_word(s, at, end)) {
        size_t sign = 8 + short_operator_sign(s, at + 8, end);
        short_put_range(s, at, at + sign);
        return at + sign;
    }
    if (s->name[at] == '<' && s->partner[at] && s->partner[at] < end) {
        short_put_arguments(s, at, level);
        return s->partner[at] + 1;
    }
    short_put_range(s, at, at + 1);
    return at + 1;
}

static void short_put_type(struct shortening *s, size_t at, size_t end, int level)
{
    while (at < end)
        at = short_put_next(s, at, end, level);
}

/* --- functions ------------------------------------------------------------------------------- */

/* What libiberty puts before the name of what is no function of the source. */
static size_t short_special_prefix(const struct shortening *s)
{
    static const char *const PREFIXES[] = {"non-virtual thunk to ",
                                           "virtual thunk to ",
                                           "covariant return thunk to ",
                                           "guard variable for ",
                                           "TLS init function for ",
                                           "TLS wrapper function for ",
                                           "hidden alias for ",
                                           "transaction clone for ",
                                           "non-transaction clone for ",
                                           "initializer for module ",
                                           "vtable for ",
                                           "typeinfo for ",
                                           "typeinfo name for ",
                                           "VTT for ",
                                           "construction vtable for "};
    for (size_t i = 0; i < sizeof PREFIXES / sizeof *PREFIXES; i++)
        if (short_begins(s, 0, s->len, PREFIXES[i]))
            return strlen(PREFIXES[i]);
    return 0;
}

/* Rust's legacy mangling ends names in ::h and 16 digits. */
static size_t short_without_hash(const struct shortening *s)
{
    enum { HASH = 19 };
    if (s->len <= HASH || memcmp(s->name + s->len - HASH, "::h", 3))
        return s->len;
    for (size_t i = s->len - HASH + 3; i < s->len; i++)
        if (!strchr("0123456789abcdef", s->name[i]))
            return s->len;
    return s->len - HASH;
}

/* Skips what may follow parameters and is no part of the name. */
static size_t short_skip_qualifiers(const struct shortening *s, size_t at, size_t end)
{
    static const char *const WORDS[] = {" const", " volatile", " restrict", " &&",
                                        " &",     " noexcept", "&&",        "&"};
    for (size_t i = 0; i < sizeof WORDS / sizeof *WORDS; i++)
        if (short_begins(s, at, end, WORDS[i])) {
            at += strlen(WORDS[i]);
            i = (size_t)-1;
        }
    return at;
}

static bool short_is_parameters(const struct shortening *s, size_t start, size_t at)
{
    if (short_begins(s, at, s->len, "(anonymous namespace)"))
        return false;
    return at > start && s->name[at - 1] != '!' && s->name[at - 1] != ' ' &&
           !short_ends_in(s, start, at, "decltype") && !short_ends_in(s, start, at, "::");
}

/* What may follow parameters: a function in this one, a clone, a version. The rest says under which
 * conditions it exists. */
static bool short_goes_on(const struct shortening *s, size_t at, size_t end)
{
    return short_begins(s, at, end, "::") || short_begins(s, at, end, " [clone ") ||
           short_begins(s, at, end, " (.") || short_begins(s, at, end, "@");
}

/* The end of the type after `operator `: where the parameters begin. A group in parentheses that
 * another one follows belongs to the type, a pointer to a function. */
static size_t short_conversion_end(const struct shortening *s, size_t at, size_t end)
{
    while (at < end) {
        uint32_t close = s->partner[at];
        if (s->name[at] == '(' && (close + 1 >= end || s->name[close + 1] != '(') &&
            !short_begins(s, at, end, "(anonymous namespace)"))
            return at;
        at = close ? close + 1 : at + 1;
    }
    return end;
}

/* `operator` and what belongs to it up to template arguments or parameters. */
static size_t short_put_operator(struct shortening *s, size_t at, size_t end)
{
    size_t name = at + 8 + short_operator_sign(s, at + 8, end);
    if (name == at + 8 && name < end && (s->name[name] == ' ' || s->name[name] == '"')) {
        name = short_conversion_end(s, name, end);
        short_put_range(s, at, at + 8);
        short_put_type(s, at + 8, name, 1);
        return name;
    }
    short_put_range(s, at, name);
    if (short_begins(s, name, end, " <")) /* libiberty keeps `operator<` and `<int>` apart */
        short_put_range(s, name, name + 1), name++;
    return name;
}

/* The name in `(*NAME(PARAMETERS))(...)`, the group at `at`; empty if it is none of these. */
static struct range short_declared(const struct shortening *s, size_t start, size_t at)
{
    struct range inner = {at + 1, s->partner[at]};
    char after = s->name[inner.end + 1];
    if ((at > start && s->name[at - 1] != ' ') || (after != '(' && after != '['))
        return (struct range){0};
    while (inner.start < inner.end && s->name[inner.start] != '*' && s->name[inner.start] != '&')
        inner.start = s->partner[inner.start] ? s->partner[inner.start] + 1 : inner.start + 1;
    while (inner.start < inner.end && strchr("*& ", s->name[inner.start]))
        inner.start++;
    return inner;
}

/* Functions that return pointers to functions stand inside of the type: void (*f(int))(char). */
static struct range short_inside_declarator(const struct shortening *s, struct range name)
{
    enum { MOST = 4 };
    for (int i = 0; i < MOST; i++) {
        struct range inner = {0};
        for (size_t at = name.start; at < name.end && inner.start >= inner.end;) {
            if (s->name[at] == '(' && s->partner[at])
                inner = short_declared(s, name.start, at);
            at = s->partner[at] ? s->partner[at] + 1 : at + 1;
        }
        if (inner.start >= inner.end)
            return name;
        name = inner;
    }
    return name;
}

/* Copies a function's name. What preceded a space outside of brackets was its return type, and is
 * taken back; `kept` bytes of a prefix stay. */
static void short_put_function(struct shortening *s, struct range name, size_t kept)
{
    for (size_t at = name.start; at < name.end;) {
        char c = s->name[at];
        if (c == 'o' && short_is_operator_word(s, at, name.end)) {
            at = short_put_operator(s, at, name.end);
        } else if (c == '(' && short_is_parameters(s, name.start, at)) {
            size_t from = at;
            at = short_skip_qualifiers(s, s->partner[at] + 1, name.end);
            if (s->has_parameters)
                short_put_type(s, from, at, 1);
            if (!short_goes_on(s, at, name.end))
                return;
        } else if (short_begins(s, at, name.end, " [clone ._omp_fn.")) { /* GCC's parallel region */
            short_put(s, " [omp ", strlen(" [omp "));
            short_put_range(s, at + strlen(" [clone ._omp_fn."), name.end);
            return;
        } else if (short_begins(s, at, name.end, " [clone ") ||
                   short_begins(s, at, name.end, " (.") || c == '@') {
            short_put_range(s, at, name.end);
            return;
        } else if (c == ' ') { /* what stood so far was the type */
            s->out_len = kept;
            at++;
        } else if (c == '{' || c == '(' || c == '[') {
            size_t after = s->partner[at] + 1;
            if (!short_noise_at(s, at, name.end))
                short_put_type(s, at, after, 1);
            at = after;
        } else {
            at = short_put_next(s, at, name.end, 0);
        }
    }
}

/* Where `:LINE:COLUMN` begins, which names of JavaScript and no others end in; else `len`. */
static size_t short_place(const char *name, size_t len)
{
    size_t at = len;
    for (int k = 0; k < 2; k++) {
        size_t end = at;
        while (at > 0 && name[at - 1] >= '0' && name[at - 1] <= '9')
            at--;
        if (at == end || !at || name[--at] != ':')
            return len;
    }
    return at;
}

/* Names of usual length are shortened on the stack: a report has 10^5 of them. */
static const char *short_shorten(const char *demangled, bool has_parameters, bool drops_arguments,
                                 struct arena *a)
{
    enum { USUAL = 1024 };
    uint32_t usual_partner[USUAL];
    char usual_out[USUAL];
    struct arena scratch = {0};
    struct shortening s = {.name = demangled,
                           .len = strlen(demangled),
                           .has_parameters = has_parameters,
                           .drops_arguments = drops_arguments};
    const char *result = demangled;
    if (s.len > UINT32_MAX / 2 || !strpbrk(demangled, "<([: ") || demangled[0] == '[' ||
        short_place(demangled, s.len) < s.len)
        return demangled;
    s.partner = usual_partner;
    s.out = usual_out;
    if (s.len >= USUAL) {
        s.partner = ARENA_NEW(&scratch, uint32_t, s.len + 1);
        s.out = arena_alloc(&scratch, s.len + 1);
    }
    memset(s.partner, 0, (s.len + 1) * sizeof *s.partner);
    if (short_match_brackets(&s)) {
        size_t prefix = short_special_prefix(&s);
        s.len = short_without_hash(&s);
        short_put_range(&s, 0, prefix);
        short_put_function(&s, short_inside_declarator(&s, (struct range){prefix, s.len}), prefix);
        bool is_changed = demangled[s.out_len] || memcmp(s.out, demangled, s.out_len);
        if (s.out_len > prefix && is_changed)
            result = arena_copy(a, s.out, s.out_len);
    }
    arena_deinit(&scratch);
    return result;
}

const char *names_short(const char *demangled, struct arena *a)
{
    return short_shorten(demangled, false, false, a);
}

const char *names_short_call(const char *demangled, struct arena *a)
{
    return short_shorten(demangled, true, false, a);
}

/* --- a place of limited width ------------------------------------------------------------------
 */

static int short_columns(const char *name)
{
    int columns = 0;
    for (; *name; name++)
        columns += ((unsigned char)*name & 0xc0) != 0x80;
    return columns;
}

/* The position after the first `::` outside of brackets; NULL: this is the last component. What
 * follows the word `operator` belongs to one, whatever its sign. */
static const char *short_next_component(const char *name)
{
    int depth = 0;
    for (const char *at = name; *at; at++) {
        if (*at == 'o' && !strncmp(at, "operator", 8) && (at == name || !short_is_word(at[-1])) &&
            !short_is_word(at[8]))
            return NULL;
        bool is_arrow = *at == '>' && at > name && at[-1] == '-';
        depth += (strchr("([{<", *at) != NULL) - (strchr(")]}>", *at) != NULL && !is_arrow);
        if (!depth && at[0] == ':' && at[1] == ':' && at[2])
            return at + 2;
    }
    return NULL;
}

/* A path without the modules that it begins with, and a type without what makes a reference of it.
 */
static struct range short_last_component(const char *name, struct range path)
{
    size_t last = path.start;
    int depth = 0;
    for (size_t at = path.start; at + 2 < path.end; at++) {
        depth += (strchr("([{<", name[at]) != NULL) - (strchr(")]}>", name[at]) != NULL);
        if (depth < 0) /* an arrow: the type of a function */
            return path;
        if (!depth && name[at] == ':' && name[at + 1] == ':')
            last = at + 2;
    }
    return (struct range){last, path.end};
}

/* Rust's `<a::b::Type as c::Trait>::call` is `<Type as Trait>::call`, or with less room
 * `<Type>::call`; other names stay. */
static const char *short_without_modules(const char *name, int room, struct arena *a)
{
    static const char by[] = " as ";
    size_t close = 1, as = 0;
    int depth = 1;
    if (name[0] != '<')
        return name;
    for (; name[close]; close++) {
        bool is_arrow = name[close] == '>' && name[close - 1] == '-';
        depth += (strchr("([{<", name[close]) != NULL) - (strchr(")]}>", name[close]) && !is_arrow);
        if (!depth)
            break;
        if (depth == 1 && !as && !strncmp(name + close, by, sizeof by - 1))
            as = close;
    }
    if (!name[close])
        return name;
    struct range type = short_last_component(name, (struct range){1, as ? as : close});
    struct range trait = {0};
    if (as)
        trait = short_last_component(name, (struct range){as + sizeof by - 1, close});
    const char *fits = arena_printf(a, "<%.*s%s%.*s%s", (int)(type.end - type.start),
                                    name + type.start, as ? by : "", (int)(trait.end - trait.start),
                                    name + trait.start, name + close);
    if (!as || short_columns(fits) <= room)
        return fits;
    return arena_printf(a, "<%.*s%s", (int)(type.end - type.start), name + type.start,
                        name + close);
}

/* The lambda of a function is named by its number there, as only that tells it from others:
 * `main::{lambda(int)#2}::operator()` is `main::{lambda#2}`. Clang counts from 0, in `$_1`. */
static const char *short_lambdas(const char *name, struct arena *a)
{
    enum { MOST_PARAMETERS = 4096 };
    static const char open[] = "{lambda(", plain[] = "{lambda#", call[] = "::operator()";
    const char *lambda = strstr(name, "{lambda"), *clang = strstr(name, "::$_");
    char *fits = arena_copy(a, name, strlen(name)), *to = fits;
    if (!lambda && !clang)
        return name;
    while (*name) {
        bool is_clang = !strncmp(name, "::$_", 4);
        const char *number = is_clang ? name + 4 : NULL;
        if (!strncmp(name, plain, sizeof plain - 1)) {
            number = name + sizeof plain - 1;
        } else if (!strncmp(name, open, sizeof open - 1)) {
            const char *at = name + sizeof open - 1, *last = at + MOST_PARAMETERS;
            for (int depth = 1; *at && depth && at < last; at++)
                depth += (*at == '(') - (*at == ')');
            number = *at == '#' ? at + 1 : NULL;
        }
        size_t digits = number ? strspn(number, "0123456789") : 0;
        const char *end = digits ? number + digits : name;
        if (!digits || digits > 9 ||
            (is_clang ? strncmp(end, call, sizeof call - 1) != 0 : *end != '}')) {
            *to++ = *name++;
            continue;
        }
        to += sprintf(to, is_clang ? "::{lambda#%lu}" : "{lambda#%lu}",
                      strtoul(number, NULL, 10) + is_clang);
        name = end + !is_clang;
        name += strncmp(name, call, sizeof call - 1) ? 0 : sizeof call - 1;
    }
    *to = '\0';
    return fits;
}

/* Arguments without the namespaces of their types, and without blanks behind commas. */
static const char *short_arguments(const char *name, struct arena *a)
{
    char *fits = arena_copy(a, name, strlen(name)), *to = fits, *word = fits;
    int depth = 0;
    for (const char *at = name; *at; at++) {
        bool is_arrow = *at == '>' && at > name && at[-1] == '-';
        depth += (*at == '<') - (*at == '>' && !is_arrow && depth);
        if (depth && at[0] == ':' && at[1] == ':' && to > word) {
            to = word;
            at++;
        } else if (!(depth && *at == ' ' && at > name && at[-1] == ',')) {
            *to++ = *at;
            word = short_is_word(*at) ? word : to;
        }
    }
    *to = '\0';
    return fits;
}

/* Without outer namespaces and classes, as far as is needed. A closure stays with its function, and
 * with `keeps_arguments` so do all arguments. */
static const char *short_without_outer(const char *fits, int room, bool keeps_arguments,
                                       struct arena *a)
{
    static const char gap[] = "...";
    int columns = short_columns(fits) + (int)sizeof gap - 1;
    for (const char *next; (next = short_next_component(fits)) != NULL && *next != '{';) {
        bool has_arguments = *next == '<' || memchr(fits, '<', (size_t)(next - fits));
        if (keeps_arguments && (has_arguments || !strchr(next, '<')))
            break;
        for (; fits < next; fits++)
            columns -= ((unsigned char)*fits & 0xc0) != 0x80;
        if (columns <= room)
            return arena_printf(a, "%s%s", gap, fits);
    }
    return fits;
}

/* The beginning of `[kernel] faults and interrupts`, and the address of a function without a symbol
 * without its file: words are read from the front. */
static const char *short_bracketed(const char *name, int room, struct arena *a)
{
    enum { GAP = 3, LEAST = 6 };
    size_t len = strcspn(name, "]"), end = 0;
    if (!strncmp(name, "[0x", 3) && name[len])
        return arena_copy(a, name, len + 1);
    if (room < LEAST)
        return name;
    for (int columns = 0; name[end]; end++) {
        columns += ((unsigned char)name[end] & 0xc0) != 0x80;
        if (columns > room - GAP)
            break;
    }
    while (end && name[end - 1] == ' ')
        end--;
    return arena_printf(a, "%.*s...", (int)end, name);
}

/* The end of a method's name says what it does, the rest what it is instantiated for. */
const char *names_within(const char *name, int room, struct arena *a)
{
    if (short_columns(name) <= room)
        return name;
    if (name[0] == '[')
        return short_bracketed(name, room, a);
    const char *fits = short_shorten(name, false, false, a);
    if (short_columns(fits) > room)
        fits = short_lambdas(fits, a);
    if (short_columns(fits) > room)
        fits = short_lambdas(short_shorten(name, false, true, a), a);
    if (short_columns(fits) > room)
        fits = short_without_modules(fits, room, a);
    return short_columns(fits) <= room ? fits : short_without_outer(fits, room, false, a);
}

const char *names_instance_within(const char *name, int room, struct arena *a)
{
    if (short_columns(name) <= room)
        return name;
    const char *fits = short_shorten(name, false, false, a);
    if (short_columns(fits) > room)
        fits = short_lambdas(fits, a);
    if (short_columns(fits) > room)
        fits = short_arguments(fits, a);
    return short_columns(fits) <= room ? fits : short_without_outer(fits, room, true, a);
}

const char *names_bare(const char *name, struct arena *a)
{
    return short_lambdas(short_shorten(name, false, true, a), a);
}

/* Of V8's names, as `JS:*render /usr/app.js:2:16`: kind, mark of the compiler, name, place. Names
 * may have a space (`get x`), and so may folders. */
static bool short_split_script(const char *name, struct range *function, size_t *file)
{
    static const char *const KINDS[] = {"JS:", "LazyCompile:", "Function:", "Script:", "Eval:"};
    static const char *const PLACES[] = {" /", " file:", " node:", " "};
    size_t from = 0;
    const char *path = NULL;
    if (!strchr("JLFSE", name[0])) /* nearly all */
        return false;
    for (size_t i = 0; i < sizeof KINDS / sizeof *KINDS && !from; i++)
        if (!strncmp(name, KINDS[i], strlen(KINDS[i])))
            from = strlen(KINDS[i]);
    if (!from || !name[short_place(name, strlen(name))])
        return false;
    from += name[from] && strchr("*~^+", name[from]) != NULL;
    for (size_t i = 0; i < sizeof PLACES / sizeof *PLACES && !path; i++)
        path = strstr(name + from, PLACES[i]);
    if (!path)
        return false;
    *function = (struct range){from, (size_t)(path - name)};
    *file = (size_t)(path - name) + 1;
    const char *slash = strrchr(path, '/');
    if (slash && strncmp(path, " node:", 6))
        *file = (size_t)(slash - name) + 1;
    return true;
}

bool names_script_function(const char *name, const char **function, size_t *len)
{
    struct range r;
    size_t file;
    if (!short_split_script(name, &r, &file))
        return false;
    *function = name + r.start;
    *len = r.end - r.start;
    return *len > 0;
}

/* gfortran's `__physics_MOD_step` is procedure step of module physics. GCC takes the body of a
 * parallel region out of its function, as `step._omp_fn.0`. What follows `@` is a version, which is
 * the linker's business. */
const char *names_short_plain(const char *name, struct arena *a)
{
    static const char module_mark[] = "_MOD_", outlined_mark[] = "._omp_fn.";
    size_t len = strlen(name), file;
    struct range script;
    if (short_split_script(name, &script, &file))
        return arena_printf(
            a, "%.*s %s", script.end > script.start ? (int)(script.end - script.start) : 11,
            script.end > script.start ? name + script.start : "(anonymous)", name + file);
    const char *version = strchr(name, '@');
    if (version && version > name)
        len = (size_t)(version - name);
    const char *mark = name[0] == '_' && name[1] == '_' ? strstr(name + 2, module_mark) : NULL;
    const char *outlined = strstr(name, outlined_mark);
    if (mark == name + 2 || (mark && mark + sizeof module_mark - 1 >= name + len))
        mark = NULL;
    const char *end = name + len, *first = mark ? name + 2 : name;
    const char *procedure = mark ? mark + sizeof module_mark - 1 : name;
    const char *number = outlined ? outlined + sizeof outlined_mark - 1 : end;
    if (number >= end || outlined == procedure || number + strspn(number, "0123456789") != end)
        outlined = NULL;
    const char *stop = outlined ? outlined : end;
    if (outlined && mark && stop > procedure && stop[-1] == '_') /* gfortran's mark of externals */
        stop--;
    if (!mark && !outlined)
        return version && version > name ? arena_copy(a, name, len) : NULL;
    return arena_printf(a, "%.*s%s%.*s%s%.*s%s", mark ? (int)(mark - first) : 0, first,
                        mark ? "::" : "", (int)(stop - procedure), procedure,
                        outlined ? " [omp " : "", outlined ? (int)(end - number) : 0, number,
                        outlined ? "]" : "");
}
