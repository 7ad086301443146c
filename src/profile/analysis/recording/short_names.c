/* Shortening of names as libiberty spells them. This is no parser of C++: it knows which brackets
 * belong together, where words begin, and what stands between two colons.
 *
 * First each bracket finds its partner. A `<` is one only where a template's arguments can begin,
 * and is given up when a closing bracket of another kind comes first: it was a comparison. Then the
 * name is copied from left to right, and what it does not need is left out. */
#include "profile/analysis/recording/short_names.h"

#include <string.h>

enum { NO_PARTNER = 0, DEEPEST = 2 }; /* levels of templates that are shown */

struct shortening {
    const char *name;
    size_t len;
    uint32_t *partner; /* per byte: of an opening bracket, its closing one; else NO_PARTNER */
    char *out;
    size_t out_len;
    bool has_parameters; /* keep them */
};

static bool is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '$' || (unsigned char)c >= 128;
}

static bool begins(const struct shortening *s, size_t at, size_t end, const char *text)
{
    size_t len = strlen(text);
    return len <= end - at && !memcmp(s->name + at, text, len);
}

static bool ends_in(const struct shortening *s, size_t start, size_t at, const char *text)
{
    size_t len = strlen(text);
    return len <= at - start && !memcmp(s->name + at - len, text, len);
}

static void put(struct shortening *s, const char *text, size_t len)
{
    memmove(s->out + s->out_len, text, len);
    s->out_len += len;
}

static void put_range(struct shortening *s, size_t from, size_t to)
{
    put(s, s->name + from, to - from);
}

/* --- brackets -------------------------------------------------------------------------------- */

static bool is_operator_word(const struct shortening *s, size_t at)
{
    return begins(s, at, s->len, "operator") && (!at || !is_word(s->name[at - 1])) &&
           (at + 8 == s->len || !is_word(s->name[at + 8]));
}

/* Length of the sign after the word `operator`; 0: a word follows, or a type. */
static size_t operator_sign(const struct shortening *s, size_t at)
{
    static const char *const SIGNS[] = {
        "<=>", "<<=", ">>=", "->*", "<<", ">>", "<=", ">=", "->", "()", "[]", "<", ">", ","};
    for (size_t i = 0; i < sizeof SIGNS / sizeof *SIGNS; i++)
        if (begins(s, at, s->len, SIGNS[i]))
            return strlen(SIGNS[i]);
    return strspn(s->name + at, "+-*/%^&|~!=");
}

/* Whether template arguments, or a path in Rust's angle brackets, can begin here. */
static bool can_open(const struct shortening *s, size_t at)
{
    char before = at ? s->name[at - 1] : ' ';
    if (is_word(before) || before == ']') /* of an ABI tag */
        return true;
    return strchr(" <([{,&:", before) != NULL;
}

static char closer_of(char open)
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
static bool close_bracket(struct shortening *s, size_t at, uint32_t *open)
{
    uint32_t top = *open;
    if (s->name[at] == '>' && (!top || s->name[top - 1] != '<'))
        return true; /* a comparison, or an arrow */
    while (top && s->name[top - 1] == '<' && s->name[at] != '>') {
        uint32_t around = s->partner[top - 1];
        s->partner[top - 1] = NO_PARTNER;
        top = around;
    }
    if (!top || closer_of(s->name[top - 1]) != s->name[at])
        return false;
    *open = s->partner[top - 1];
    s->partner[top - 1] = (uint32_t)at;
    return true;
}

static void open_bracket(struct shortening *s, size_t at, uint32_t *open)
{
    s->partner[at] = *open;
    *open = (uint32_t)at + 1;
}

static bool match_brackets(struct shortening *s)
{
    uint32_t open = 0; /* its place + 1 */
    for (size_t i = 0; i < s->len; i++) {
        char c = s->name[i];
        if (c == 'o' && is_operator_word(s, i)) {
            size_t sign = i + 8;
            i = sign + operator_sign(s, sign);
            if (i > sign && (s->name[sign] == '(' || s->name[sign] == '['))
                s->partner[sign] = (uint32_t)i - 1;
            if (s->name[i] == '<')
                open_bracket(s, i, &open);
            else
                i--;
        } else if (c == '-' && s->name[i + 1] == '>') {
            i++;
        } else if (c == '<' ? can_open(s, i) : closer_of(c) != 0) {
            open_bracket(s, i, &open);
        } else if (strchr(")]}>", c) && !close_bracket(s, i, &open)) {
            return false;
        }
    }
    return !open;
}

/* --- types ----------------------------------------------------------------------------------- */

static size_t trim(const struct shortening *s, size_t start, size_t end)
{
    while (end > start && s->name[end - 1] == ' ')
        end--;
    return end;
}

/* The end of the argument that begins at `at`: a comma outside of brackets, or `end`. */
static size_t argument_end(const struct shortening *s, size_t at, size_t end)
{
    while (at < end && s->name[at] != ',')
        at = s->partner[at] ? s->partner[at] + 1 : at + 1;
    return at;
}

struct range {
    size_t start, end;
};

static bool is_same(const struct shortening *s, struct range l, struct range r)
{
    return l.end - l.start == r.end - r.start &&
           !memcmp(s->name + l.start, s->name + r.start, l.end - l.start);
}

/* Behind `std::` and the library's inline namespace; 0 if that is not what stands there. */
static size_t behind_std(const struct shortening *s, size_t at, size_t end)
{
    static const char *const SPACES[] = {"std::__cxx11::", "std::__1::", "std::"};
    for (size_t i = 0; i < sizeof SPACES / sizeof *SPACES; i++)
        if (begins(s, at, end, SPACES[i]))
            return at + strlen(SPACES[i]);
    return 0;
}

/* Whether an argument is what the standard library takes when none is given. */
static bool is_default(const struct shortening *s, struct range argument, struct range first)
{
    static const char *const NAMES[] = {"allocator<", "less<",        "hash<",
                                        "equal_to<",  "char_traits<", "default_delete<"};
    size_t name = behind_std(s, argument.start, argument.end);
    for (size_t i = 0; name && i < sizeof NAMES / sizeof *NAMES; i++) {
        size_t open = name + strlen(NAMES[i]);
        if (begins(s, name, argument.end, NAMES[i]) && s->partner[open - 1] == argument.end - 1)
            return !i || is_same(s, (struct range){open, trim(s, open, argument.end - 1)}, first);
    }
    return false;
}

/* The end of the last argument in [start, end) that is no default; `first` is always kept. */
static size_t kept_end(const struct shortening *s, size_t start, size_t end)
{
    struct range first = {start, 0};
    size_t kept = end;
    for (size_t at = start; at <= end;) {
        size_t comma = argument_end(s, at, end);
        struct range argument = {at, trim(s, at, comma)};
        if (at == start)
            first.end = argument.end;
        if (at == start || argument.end == at || !is_default(s, argument, first))
            kept = argument.end;
        at = comma + 1;
        while (at < end && s->name[at] == ' ')
            at++;
    }
    return kept;
}

/* Makes std::string of std::basic_string with the single argument char. */
static bool put_alias(struct shortening *s, size_t start, size_t end)
{
    static const char *const STREAMS[] = {
        "string",       "string_view",   "ostream",       "istream",   "iostream",
        "stringstream", "ostringstream", "istringstream", "stringbuf", "streambuf",
        "filebuf",      "ofstream",      "ifstream",      "fstream",   "ios"};
    bool is_wide = end - start == 7 && begins(s, start, end, "wchar_t");
    if (!is_wide && (end - start != 4 || !begins(s, start, end, "char")))
        return false;
    for (size_t i = 0; i < sizeof STREAMS / sizeof *STREAMS; i++) {
        size_t len = strlen(STREAMS[i]), all = len + strlen("std::basic_");
        char *at = s->out + s->out_len - all;
        if (s->out_len < all || memcmp(at, "std::basic_", 11) || memcmp(at + 11, STREAMS[i], len))
            continue;
        if (s->out_len > all && (is_word(at[-1]) || at[-1] == ':'))
            continue;
        s->out_len -= len + strlen("basic_");
        put(s, "w", is_wide);
        put(s, STREAMS[i], len);
        return true;
    }
    return false;
}

static void put_type(struct shortening *s, size_t at, size_t end, int level);

/* The arguments of a template, from the opening bracket to the closing one. The depth of calls is
 * that of templates, and these end at DEEPEST. */
static void put_arguments(struct shortening *s, size_t open, int level)
{
    static const char more[] = "<...>";
    size_t close = s->partner[open], start = open + 1;
    size_t end = kept_end(s, start, trim(s, start, close));
    if (put_alias(s, start, end))
        return;
    if (level >= DEEPEST && end - start >= strlen(more) - 2) {
        put(s, more, strlen(more));
        return;
    }
    put(s, "<", 1);
    if (level >= DEEPEST)
        put_range(s, start, end);
    else
        put_type(s, start, end, level + 1);
    put(s, ">", 1);
}

/* How many bytes at `at` are of an ABI tag or an inline namespace of the standard library. */
static size_t noise_at(const struct shortening *s, size_t at, size_t end)
{
    static const char *const SPACES[] = {"__cxx11::", "__1::", "_V2::"};
    if (begins(s, at, end, "[abi:") && s->partner[at])
        return s->partner[at] + 1 - at;
    if (s->name[at] != '_' || !ends_in(s, 0, at, "::"))
        return 0;
    for (size_t i = 0; i < sizeof SPACES / sizeof *SPACES; i++)
        if (begins(s, at, end, SPACES[i]) && (!i || ends_in(s, 0, at, "std::")))
            return strlen(SPACES[i]);
    return 0;
}

/* Copies one byte, one operator's name or one template's arguments; returns where to go on. */
static size_t put_next(struct shortening *s, size_t at, size_t end, int level)
{
    size_t noise = noise_at(s, at, end);
    if (noise)
        return at + noise;
    if (s->name[at] == 'o' && is_operator_word(s, at)) {
        size_t sign = 8 + operator_sign(s, at + 8);
        put_range(s, at, at + sign);
        return at + sign;
    }
    if (s->name[at] == '<' && s->partner[at]) {
        put_arguments(s, at, level);
        return s->partner[at] + 1;
    }
    put_range(s, at, at + 1);
    return at + 1;
}

static void put_type(struct shortening *s, size_t at, size_t end, int level)
{
    while (at < end)
        at = put_next(s, at, end, level);
}

/* --- functions ------------------------------------------------------------------------------- */

/* What libiberty puts before the name of what is no function of the source. */
static size_t special_prefix(const struct shortening *s)
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
        if (begins(s, 0, s->len, PREFIXES[i]))
            return strlen(PREFIXES[i]);
    return 0;
}

/* Rust's legacy mangling ends names in ::h and 16 digits. */
static size_t without_hash(const struct shortening *s)
{
    enum { HASH = 19 };
    if (s->len <= HASH || memcmp(s->name + s->len - HASH, "::h", 3))
        return s->len;
    for (size_t i = s->len - HASH + 3; i < s->len; i++)
        if (!strchr("0123456789abcdef", s->name[i]))
            return s->len;
    return s->len - HASH;
}

static size_t skip_qualifiers(const struct shortening *s, size_t at, size_t end)
{
    static const char *const WORDS[] = {" const", " volatile", " restrict", " &&",
                                        " &",     " noexcept", "&&",        "&"};
    for (size_t i = 0; i < sizeof WORDS / sizeof *WORDS; i++)
        if (begins(s, at, end, WORDS[i])) {
            at += strlen(WORDS[i]);
            i = (size_t)-1;
        }
    return at;
}

static bool is_parameters(const struct shortening *s, size_t start, size_t at)
{
    if (begins(s, at, s->len, "(anonymous namespace)"))
        return false;
    return at > start && s->name[at - 1] != '!' && s->name[at - 1] != ' ' &&
           !ends_in(s, start, at, "decltype") && !ends_in(s, start, at, "::");
}

/* What may follow parameters: a function in this one, a clone, a version. The rest says under which
 * conditions it exists. */
static bool goes_on(const struct shortening *s, size_t at, size_t end)
{
    return begins(s, at, end, "::") || begins(s, at, end, " [clone ") ||
           begins(s, at, end, " (.") || begins(s, at, end, "@");
}

/* The end of the type after `operator `: where the parameters begin. A group in parentheses that
 * another one follows belongs to the type, a pointer to a function. */
static size_t conversion_end(const struct shortening *s, size_t at, size_t end)
{
    while (at < end) {
        uint32_t close = s->partner[at];
        if (s->name[at] == '(' && (close + 1 >= end || s->name[close + 1] != '(') &&
            !begins(s, at, end, "(anonymous namespace)"))
            return at;
        at = close ? close + 1 : at + 1;
    }
    return end;
}

/* `operator` and what belongs to it up to template arguments or parameters. */
static size_t put_operator(struct shortening *s, size_t at, size_t end)
{
    size_t name = at + 8 + operator_sign(s, at + 8);
    if (name == at + 8 && name < end && (s->name[name] == ' ' || s->name[name] == '"')) {
        name = conversion_end(s, name, end);
        put_range(s, at, at + 8);
        put_type(s, at + 8, name, 1);
        return name;
    }
    put_range(s, at, name);
    if (begins(s, name, end, " <")) /* libiberty keeps `operator<` and `<int>` apart */
        put_range(s, name, name + 1), name++;
    return name;
}

/* The name in `(*NAME(PARAMETERS))(...)`, the group at `at`; empty if it is none of these. */
static struct range declared(const struct shortening *s, size_t start, size_t at)
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
static struct range inside_declarator(const struct shortening *s, struct range name)
{
    enum { MOST = 4 };
    for (int i = 0; i < MOST; i++) {
        struct range inner = {0};
        for (size_t at = name.start; at < name.end && inner.start >= inner.end;) {
            if (s->name[at] == '(' && s->partner[at])
                inner = declared(s, name.start, at);
            at = s->partner[at] ? s->partner[at] + 1 : at + 1;
        }
        if (inner.start >= inner.end)
            return name;
        name = inner;
    }
    return name;
}

static void put_function(struct shortening *s, struct range name, size_t kept)
{
    for (size_t at = name.start; at < name.end;) {
        char c = s->name[at];
        if (c == 'o' && is_operator_word(s, at)) {
            at = put_operator(s, at, name.end);
        } else if (c == '(' && is_parameters(s, name.start, at)) {
            size_t from = at;
            at = skip_qualifiers(s, s->partner[at] + 1, name.end);
            if (s->has_parameters)
                put_type(s, from, at, 1);
            if (!goes_on(s, at, name.end))
                return;
        } else if (begins(s, at, name.end, " [clone ") || begins(s, at, name.end, " (.") ||
                   c == '@') {
            put_range(s, at, name.end);
            return;
        } else if (c == ' ') { /* what stood so far was the type */
            s->out_len = kept;
            at++;
        } else if (c == '{' || c == '(' || c == '[') {
            size_t after = s->partner[at] + 1;
            if (!noise_at(s, at, name.end))
                put_type(s, at, after, 1);
            at = after;
        } else {
            at = put_next(s, at, name.end, 0);
        }
    }
}

static const char *shorten(const char *demangled, bool has_parameters, struct arena *a)
{
    enum { USUAL = 1024 };
    uint32_t usual_partner[USUAL];
    char usual_out[USUAL];
    struct arena scratch = {0};
    struct shortening s = {
        .name = demangled, .len = strlen(demangled), .has_parameters = has_parameters};
    const char *result = demangled;
    if (s.len > UINT32_MAX / 2 || !strpbrk(demangled, "<([: ") || demangled[0] == '[')
        return demangled;
    s.partner = usual_partner;
    s.out = usual_out;
    if (s.len >= USUAL) {
        s.partner = ARENA_NEW(&scratch, uint32_t, s.len + 1);
        s.out = arena_alloc(&scratch, s.len + 1);
    }
    memset(s.partner, 0, (s.len + 1) * sizeof *s.partner);
    if (match_brackets(&s)) {
        size_t prefix = special_prefix(&s);
        s.len = without_hash(&s);
        put_range(&s, 0, prefix);
        put_function(&s, inside_declarator(&s, (struct range){prefix, s.len}), prefix);
        bool is_changed = demangled[s.out_len] || memcmp(s.out, demangled, s.out_len);
        if (s.out_len > prefix && is_changed)
            result = arena_copy(a, s.out, s.out_len);
    }
    arena_deinit(&scratch);
    return result;
}

const char *names_short(const char *demangled, struct arena *a)
{
    return shorten(demangled, false, a);
}

const char *names_short_call(const char *demangled, struct arena *a)
{
    return shorten(demangled, true, a);
}
