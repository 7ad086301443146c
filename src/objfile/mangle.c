/* The linkage names of C++ functions for which debug information has none.
 *
 * g++ writes DW_AT_linkage_name only for functions that other files can call. One in an anonymous
 * namespace, or a static one, has none, and once it is inlined everywhere it has no symbol either.
 * But g++ looks such functions up in a profile by that name. So the name is made again from the
 * entry, its parents and the types of its parameters, by the rules of the Itanium C++ ABI:
 *
 *     namespace { int clamp(int, const point &); }
 *
 *     _ZN 12_GLOBAL__N_1 5clamp E i RK NS_5pointE
 *         |              |        | |  `- S_: the first part that could be repeated, the namespace
 *         |              |        | `---- reference to const
 *         parents        itself   parameters
 *
 * What was written once and could come again is kept as its text without abbreviations, in the
 * order in which the ABI numbers it; equal texts are equal parts.
 *
 * Refused, so that no wrong name is made: function templates, whose names have the types of the
 * template and not those of the copy; what is local to a function, lambdas among it; classes that a
 * typedef names; pointers to member functions; literal operators. A static function of C linkage
 * cannot be told from one of C++, and gets the latter's name.
 *
 * Parents are found by one pass over a unit's types and namespaces, on the first question about it.
 * Specification: itanium-cxx-abi.github.io/cxx-abi/abi.html, "Mangling"; checked against the
 * symbols of builds without inlining. */
#include "objfile/debug_info.h"

#include <ctype.h>
#include <dwarf.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_PARENTS = 16, MOST_PARTS = 64, MOST_BYTES = 1000, MOST_NESTED = 24, MOST_HOPS = 16 };

struct mangler {
    struct arena arena;
    struct map parent_of; /* an entry's address -> in `parents` */
    struct map walked;    /* units, by the address of their first entry */
    struct map name_of;   /* a function's entry -> in `names` */
    VEC(Dwarf_Die) parents;
    VEC(const char *) names;
};

/* One name on its way. */
struct name {
    struct mangler *m;
    char text[MOST_BYTES + 1];
    size_t len;
    struct arena arena;
    const char *parts[MOST_PARTS]; /* what S_, S0_, ... stand for */
    size_t parts_len;
    int depth;
    bool is_plain; /* without abbreviations: a text by which parts are compared */
    bool is_refused;
};

void mangler_free(struct mangler *m)
{
    if (!m)
        return;
    map_deinit(&m->parent_of);
    map_deinit(&m->walked);
    map_deinit(&m->name_of);
    vec_free(&m->parents);
    vec_free(&m->names);
    arena_deinit(&m->arena);
    free(m);
}

/* ---- entries */

static bool entry_flag(Dwarf_Die *die, unsigned attribute)
{
    Dwarf_Attribute found;
    bool is_set = false;
    return dwarf_attr(die, attribute, &found) && !dwarf_formflag(&found, &is_set) && is_set;
}

/* The entry that an attribute leads to. */
static bool entry_linked(Dwarf_Die *die, unsigned attribute, Dwarf_Die *to)
{
    Dwarf_Attribute found;
    return dwarf_attr(die, attribute, &found) && dwarf_formref_die(&found, to);
}

static bool is_class(int tag)
{
    return tag == DW_TAG_class_type || tag == DW_TAG_structure_type || tag == DW_TAG_union_type;
}

static bool is_scope(int tag)
{
    return is_class(tag) || tag == DW_TAG_namespace || tag == DW_TAG_enumeration_type;
}

/* Notes the parent of all that stands in the unit's namespaces and classes. */
static void walk_unit(struct mangler *m, Dwarf_Die unit)
{
    Dwarf_Die path[MOST_PARENTS];
    size_t depth = 0;
    bool is_new;
    map_at(&m->walked, map_pointer(unit.addr), 0, 1, &is_new);
    if (!is_new || dwarf_child(&unit, &path[0]))
        return;
    vec_push(&m->parents, unit);
    uint32_t parents[MOST_PARENTS] = {map_value(m->parents.len - 1)};
    for (;;) {
        Dwarf_Die *here = &path[depth];
        int tag = dwarf_tag(here);
        if (is_scope(tag) || tag == DW_TAG_subprogram)
            map_set(&m->parent_of, map_pointer(here->addr), 0, parents[depth]);
        bool has_members = is_class(tag) || tag == DW_TAG_namespace;
        if (has_members && depth + 1 < MOST_PARENTS && !dwarf_child(here, &path[depth + 1])) {
            vec_push(&m->parents, *here);
            parents[++depth] = map_value(m->parents.len - 1);
            continue;
        }
        while (dwarf_siblingof(&path[depth], &path[depth]))
            if (!depth--)
                return;
    }
}

/* False where it is not in a namespace, a class or the unit itself. */
static bool parent_of(struct mangler *m, Dwarf_Die *die, Dwarf_Die *parent)
{
    Dwarf_Die unit;
    if (!dwarf_diecu(die, &unit, NULL, NULL))
        return false;
    walk_unit(m, unit);
    const uint32_t *found = map_find(&m->parent_of, map_pointer(die->addr), 0);
    if (found)
        *parent = m->parents.at[*found];
    return found;
}

static bool is_namespace_std(struct mangler *m, Dwarf_Die *die)
{
    Dwarf_Die parent;
    const char *name = dwarf_tag(die) == DW_TAG_namespace ? dwarf_diename(die) : NULL;
    return name && !strcmp(name, "std") && parent_of(m, die, &parent) &&
           !is_scope(dwarf_tag(&parent));
}

/* ---- texts */

static void put(struct name *n, const char *text)
{
    size_t len = strlen(text);
    if (len > MOST_BYTES - n->len) {
        n->is_refused = true;
        return;
    }
    memcpy(n->text + n->len, text, len + 1);
    n->len += len;
}

/* Length and text; of a template without its arguments, which in names of classes begin at `<`. */
static void put_source_name(struct name *n, const char *text)
{
    size_t len = text ? strcspn(text, "<") : 0;
    n->is_refused |= !len;
    put(n, arena_printf(&n->arena, "%zu%.*s", len, (int)len, len ? text : ""));
}

/* What was written since `from`, as a text of its own, taken away again. */
static const char *take(struct name *n, size_t from)
{
    const char *text = arena_copy(&n->arena, n->text + from, n->len - from);
    n->len = from;
    n->text[from] = '\0';
    return text;
}

/* S_, S0_ to S9_, SA_ to SZ_: a number of base 36, one less. */
static bool put_part(struct name *n, const char *key)
{
    static const char DIGITS[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    for (size_t i = 0; i < n->parts_len && !n->is_plain; i++)
        if (!strcmp(n->parts[i], key)) {
            char number[3] = "";
            if (i > 36)
                number[0] = DIGITS[(i - 1) / 36], number[1] = DIGITS[(i - 1) % 36];
            else if (i)
                number[0] = DIGITS[i - 1];
            put(n, arena_printf(&n->arena, "S%s_", number));
            return true;
        }
    return false;
}

static void add_part(struct name *n, const char *key)
{
    if (n->is_plain)
        return;
    if (n->parts_len < MOST_PARTS)
        n->parts[n->parts_len++] = key;
    else
        n->is_refused = true;
}

/* Writes a part of an entry: `first` and `qualifiers` say which. */
typedef void part_writer(struct name *n, Dwarf_Die *die, int first, const char *qualifiers);

/* A part that may come again: as what stands for it, if it was there before, else in full. Its text
 * without abbreviations, which tells that, is made once for each part, and not within another. */
static void put_repeatable(struct name *n, part_writer *write, Dwarf_Die *die, int first,
                           const char *qualifiers)
{
    const char *key = NULL;
    if (!n->is_plain) {
        size_t from = n->len;
        n->is_plain = true;
        write(n, die, first, qualifiers);
        n->is_plain = false;
        key = take(n, from);
        if (put_part(n, key))
            return;
    }
    write(n, die, first, qualifiers);
    if (key)
        add_part(n, key);
}

/* ---- scopes and types */

static void put_type(struct name *n, Dwarf_Die *die, bool is_parameter);
static void put_scope(struct name *n, Dwarf_Die *die, bool is_inside, bool is_bare);

/* The text of a scope by which it is compared; bare: of a template without its arguments. */
static const char *scope_key(struct name *n, Dwarf_Die *die, bool is_bare)
{
    size_t from = n->len;
    bool was_plain = n->is_plain;
    n->is_plain = true;
    put_scope(n, die, false, is_bare);
    n->is_plain = was_plain;
    return take(n, from);
}

static bool is_template_argument(int tag)
{
    return tag == DW_TAG_template_type_parameter || tag == DW_TAG_template_value_parameter ||
           tag == DW_TAG_GNU_template_parameter_pack || tag == DW_TAG_GNU_template_template_param;
}

/* The type that an entry, or its declaration, names; void where it names none. */
static void put_type_of(struct name *n, Dwarf_Die *die, bool is_parameter)
{
    Dwarf_Attribute found;
    Dwarf_Die type;
    if (dwarf_attr_integrate(die, DW_AT_type, &found) && dwarf_formref_die(&found, &type))
        put_type(n, &type, is_parameter);
    else
        put(n, "v");
}

/* g++ calls a type of the language by one of its names always. */
static void put_base_type(struct name *n, const char *name, size_t len)
{
    static const char *const CODES[][2] = {
        {"int", "i"},
        {"char", "c"},
        {"bool", "b"},
        {"unsigned int", "j"},
        {"unsigned char", "h"},
        {"signed char", "a"},
        {"short int", "s"},
        {"short unsigned int", "t"},
        {"long int", "l"},
        {"long unsigned int", "m"},
        {"long long int", "x"},
        {"long long unsigned int", "y"},
        {"__int128", "n"},
        {"__int128 unsigned", "o"},
        {"float", "f"},
        {"double", "d"},
        {"long double", "e"},
        {"__float128", "g"},
        {"wchar_t", "w"},
        {"char8_t", "Du"},
        {"char16_t", "Ds"},
        {"char32_t", "Di"},
        {"decltype(nullptr)", "Dn"},
    };
    for (size_t i = 0; i < sizeof CODES / sizeof *CODES; i++)
        if (strlen(CODES[i][0]) == len && !memcmp(name, CODES[i][0], len)) {
            put(n, CODES[i][1]);
            return;
        }
    n->is_refused = true;
}

/* A number or an enumerator: L, its type, the digits, E. */
static void put_value(struct name *n, Dwarf_Die *die)
{
    Dwarf_Attribute found;
    Dwarf_Sword below = 0;
    Dwarf_Word value = 0;
    put(n, "L");
    put_type_of(n, die, true);
    /* Whether there is a sign, the form says. */
    if (!dwarf_attr(die, DW_AT_const_value, &found) ||
        (dwarf_whatform(&found) == DW_FORM_sdata ? dwarf_formsdata(&found, &below)
                                                 : dwarf_formudata(&found, &value)))
        n->is_refused = true;
    value = below > 0 ? (Dwarf_Word)below : value;
    put(n, below < 0 ? arena_printf(&n->arena, "n%" PRIu64 "E", -(uint64_t)below)
                     : arena_printf(&n->arena, "%" PRIu64 "E", value));
}

/* How many arguments a name lists, from its `<` on. */
static size_t listed_arguments(const char *open)
{
    size_t depth = 1, commas = 0;
    bool has_some = false;
    for (const char *at = open + 1; *at && depth; at++) {
        if (strchr("<([{", *at))
            depth++;
        else if (strchr(">)]}", *at))
            depth--;
        else if (*at == ',' && depth == 1)
            commas++;
        has_some |= depth && *at != ' ';
    }
    return has_some ? commas + 1 : 0;
}

/* The arguments of a template's copy, which stand among its members; of std::allocator<int> the
 * name alone has them, and g++ 16 leaves out those of parameters without a name: refused. Returns
 * how many. */
static size_t put_arguments(struct name *n, Dwarf_Die *die, const char *begin)
{
    Dwarf_Die child;
    size_t len = 0;
    const char *name = dwarf_diename(die), *open = name ? strchr(name, '<') : NULL;
    put(n, begin);
    size_t from = n->len;
    for (bool is_one = !dwarf_child(die, &child); is_one; is_one = !dwarf_siblingof(&child, &child))
        switch (dwarf_tag(&child)) {
        case DW_TAG_template_type_parameter:
            put_type_of(n, &child, false);
            len++;
            break;
        case DW_TAG_template_value_parameter:
            put_value(n, &child);
            len++;
            break;
        case DW_TAG_GNU_template_template_param: n->is_refused = true; break;
        case DW_TAG_GNU_template_parameter_pack:
            if (++n->depth < MOST_NESTED)
                len += put_arguments(n, &child, "J");
            else
                n->is_refused = true;
            n->depth--;
            break;
        default: break;
        }
    if (n->len == from && open)
        put_base_type(n, open + 1, strcspn(open + 1, ">"));
    else if (open && len != listed_arguments(open))
        n->is_refused = true;
    put(n, "E");
    return len;
}

/* Whether it is the copy of a template, of which the name tells. Lambdas and classes without a name
 * are called by descriptions in these brackets. */
static bool is_template_copy(struct name *n, Dwarf_Die *die)
{
    const char *name = is_class(dwarf_tag(die)) ? dwarf_diename(die) : NULL;
    n->is_refused |= name && name[0] == '<';
    return name && strchr(name, '<');
}

/* Its own name alone. */
static void put_own_name(struct name *n, Dwarf_Die *die)
{
    const char *name = dwarf_diename(die);
    if (!name && dwarf_tag(die) == DW_TAG_namespace)
        put(n, "12_GLOBAL__N_1");
    else
        put_source_name(n, name);
}

/* A namespace or a class. Inside of N and E, or with them where it has a parent that takes them;
 * bare: without template arguments, as it is before they are written.
 *
 *     put_scope(a::b<int>)       N 1a 1b I i E E      parts: 1a, N1a1bE, N1a1bIiEE
 *     the same, inside             1a 1b I i E                                      */
static void put_scope(struct name *n, Dwarf_Die *die, bool is_inside, bool is_bare)
{
    static const char *const KNOWN[][2] = {{"allocator<", "Sa"}, {"basic_string<", "Sb"}};
    static const char *const KNOWN_COPIES[][2] = {
        {"SbIcSt11char_traitsIcESaIcEE", "Ss"},
        {"St13basic_istreamIcSt11char_traitsIcEE", "Si"},
        {"St13basic_ostreamIcSt11char_traitsIcEE", "So"},
        {"St14basic_iostreamIcSt11char_traitsIcEE", "Sd"},
    };
    Dwarf_Die parent;
    if (++n->depth > MOST_NESTED || n->is_refused || !parent_of(n->m, die, &parent)) {
        n->is_refused = true;
        n->depth--;
        return;
    }
    bool has_arguments = !is_bare && is_template_copy(n, die);
    bool has_parent = is_scope(dwarf_tag(&parent)), is_in_std = is_namespace_std(n->m, &parent);
    if (is_namespace_std(n->m, die)) {
        put(n, "St");
        n->depth--;
        return;
    }
    const char *key = n->is_plain ? NULL : scope_key(n, die, is_bare);
    const char *known = NULL, *own = dwarf_diename(die);
    for (size_t i = 0; key && i < sizeof KNOWN_COPIES / sizeof *KNOWN_COPIES; i++)
        known = !strcmp(key, KNOWN_COPIES[i][0]) ? KNOWN_COPIES[i][1] : known;
    for (size_t i = 0; is_in_std && own && !has_arguments && i < sizeof KNOWN / sizeof *KNOWN; i++)
        known = !strncmp(own, KNOWN[i][0], strlen(KNOWN[i][0])) ? KNOWN[i][1] : known;
    if (known || (key && put_part(n, key))) {
        put(n, known ? known : "");
        n->depth--;
        return;
    }
    bool is_nested = !is_inside && has_parent && !is_in_std;
    if (is_nested)
        put(n, "N");
    if (has_arguments) {
        put_scope(n, die, is_nested || is_inside, true);
        put_arguments(n, die, "I");
    } else {
        if (has_parent)
            put_scope(n, &parent, true, false);
        put_own_name(n, die);
    }
    if (is_nested)
        put(n, "E");
    if (key)
        add_part(n, key);
    n->depth--;
}

/* The types of parameters, and the dots; none is void. `this` is left out. */
static void put_parameters(struct name *n, Dwarf_Die *function)
{
    Dwarf_Die child;
    size_t from = n->len;
    for (bool is_one = !dwarf_child(function, &child); is_one;
         is_one = !dwarf_siblingof(&child, &child))
        if (dwarf_tag(&child) == DW_TAG_unspecified_parameters)
            put(n, "z");
        else if (dwarf_tag(&child) == DW_TAG_formal_parameter &&
                 !entry_flag(&child, DW_AT_artificial))
            put_type_of(n, &child, true);
    if (n->len == from)
        put(n, "v");
}

/* The length of an array's dimension; false: none is said, or it is computed. */
static bool dimension_length(Dwarf_Die *dimension, uint64_t *length)
{
    Dwarf_Attribute found;
    Dwarf_Word bound;
    if (dwarf_attr(dimension, DW_AT_count, &found) && !dwarf_formudata(&found, &bound))
        return *length = bound, true;
    if (dwarf_attr(dimension, DW_AT_upper_bound, &found) && !dwarf_formudata(&found, &bound))
        return *length = bound + 1, true;
    return false;
}

/* Of an array. */
static void put_element(struct name *n, Dwarf_Die *die, int first, const char *qualifiers)
{
    (void)first;
    put(n, qualifiers);
    put_type_of(n, die, false);
}

/* Of an array of arrays, from dimension `first` on: each is a type of its own. Qualifiers are the
 * elements'. */
static void put_array(struct name *n, Dwarf_Die *die, int first, const char *qualifiers)
{
    Dwarf_Die child;
    int dimension = -1;
    uint64_t length = 0;
    bool has_length = false;
    for (bool is_one = !dwarf_child(die, &child); is_one; is_one = !dwarf_siblingof(&child, &child))
        if (dwarf_tag(&child) == DW_TAG_subrange_type && ++dimension == first)
            has_length = dimension_length(&child, &length);
    if (++n->depth > MOST_NESTED)
        n->is_refused = true;
    if (dimension >= first)
        put(n, has_length ? arena_printf(&n->arena, "A%" PRIu64 "_", length) : "A_");
    if (dimension > first && !n->is_refused)
        put_repeatable(n, put_array, die, first + 1, qualifiers);
    else if (*qualifiers && !n->is_refused)
        put_repeatable(n, put_element, die, 0, qualifiers);
    else
        put_type_of(n, die, false);
    n->depth--;
}

/* The part of a type behind its qualifiers that is no class: pointers and the like, functions. */
static void put_compound(struct name *n, Dwarf_Die *die, int first, const char *qualifiers)
{
    Dwarf_Die of;
    switch (dwarf_tag(die)) {
    case DW_TAG_pointer_type: put(n, "P"), put_type_of(n, die, false); break;
    case DW_TAG_reference_type: put(n, "R"), put_type_of(n, die, false); break;
    case DW_TAG_rvalue_reference_type: put(n, "O"), put_type_of(n, die, false); break;
    case DW_TAG_array_type: put_array(n, die, first, qualifiers); break;
    case DW_TAG_subroutine_type:
        put(n, "F"), put_type_of(n, die, true), put_parameters(n, die), put(n, "E");
        break;
    case DW_TAG_ptr_to_member_type:
        n->is_refused |= !entry_linked(die, DW_AT_containing_type, &of);
        if (!n->is_refused)
            put(n, "M"), put_type(n, &of, false);
        n->is_refused |=
            !entry_linked(die, DW_AT_type, &of) || dwarf_tag(&of) == DW_TAG_subroutine_type;
        if (!n->is_refused)
            put_type(n, &of, false);
        break;
    default: n->is_refused = true;
    }
}

/* Without the qualifiers that stand before it, which parameters leave out. */
static void put_unqualified(struct name *n, Dwarf_Die *die, const char *qualifiers)
{
    int tag = dwarf_tag(die);
    if (tag == DW_TAG_base_type || tag == DW_TAG_unspecified_type) {
        const char *name = dwarf_diename(die);
        put_base_type(n, name ? name : "", name ? strlen(name) : 0);
        return;
    }
    if (is_scope(tag) && tag != DW_TAG_namespace) {
        put_scope(n, die, false, false);
        return;
    }
    put_repeatable(n, put_compound, die, 0, qualifiers);
}

/* Void where there is no entry. */
static void put_qualified(struct name *n, Dwarf_Die *die, int first, const char *qualifiers)
{
    (void)first;
    put(n, qualifiers);
    if (die)
        put_unqualified(n, die, "");
    else
        put(n, "v");
}

static void put_type(struct name *n, Dwarf_Die *die, bool is_parameter)
{
    Dwarf_Die at = *die;
    bool is_const = false, is_volatile = false, is_restrict = false, is_void = false;
    if (++n->depth > MOST_NESTED || n->is_refused) {
        n->is_refused = true;
        n->depth--;
        return;
    }
    for (int hops = 0; hops < MOST_HOPS; hops++) {
        int tag = dwarf_tag(&at);
        is_const |= tag == DW_TAG_const_type;
        is_volatile |= tag == DW_TAG_volatile_type;
        is_restrict |= tag == DW_TAG_restrict_type;
        if (tag != DW_TAG_const_type && tag != DW_TAG_volatile_type &&
            tag != DW_TAG_restrict_type && tag != DW_TAG_typedef)
            break;
        if ((is_void = !entry_linked(&at, DW_AT_type, &at)))
            break;
    }
    char qualifiers[4] = "";
    size_t len = 0;
    if (is_restrict && !is_parameter)
        qualifiers[len++] = 'r';
    if (is_volatile && !is_parameter)
        qualifiers[len++] = 'V';
    if (is_const && !is_parameter)
        qualifiers[len++] = 'K';
    qualifiers[len] = '\0';
    Dwarf_Die *of = is_void ? NULL : &at;
    if (of && dwarf_tag(of) == DW_TAG_array_type)
        put_unqualified(n, of, qualifiers);
    else if (len)
        put_repeatable(n, put_qualified, of, 0, qualifiers);
    else
        put_qualified(n, of, 0, "");
    n->depth--;
}

/* ---- functions */

/* The object that a member function is called for: false where it has none. */
static bool object_type(Dwarf_Die *function, Dwarf_Die *class)
{
    Dwarf_Die child, pointer;
    for (bool is_one = !dwarf_child(function, &child); is_one;
         is_one = !dwarf_siblingof(&child, &child))
        if (dwarf_tag(&child) == DW_TAG_formal_parameter) {
            if (!entry_flag(&child, DW_AT_artificial) ||
                !entry_linked(&child, DW_AT_type, &pointer))
                return false;
            /* The pointer itself is const where the function is defined. */
            if (dwarf_tag(&pointer) == DW_TAG_const_type &&
                !entry_linked(&pointer, DW_AT_type, &pointer))
                return false;
            return dwarf_tag(&pointer) == DW_TAG_pointer_type &&
                   entry_linked(&pointer, DW_AT_type, class);
        }
    return false;
}

/* Of `operator+`, by how many operands it has. */
static bool put_operator(struct name *n, const char *text, size_t operands, Dwarf_Die *function)
{
    static const struct {
        const char *text, *one, *two;
    } CODES[] = {
        {"+", "ps", "pl"},       {"-", "ng", "mi"},       {"*", "de", "ml"},
        {"&", "ad", "an"},       {"/", NULL, "dv"},       {"%", NULL, "rm"},
        {"|", NULL, "or"},       {"^", NULL, "eo"},       {"~", "co", NULL},
        {"=", NULL, "aS"},       {"+=", NULL, "pL"},      {"-=", NULL, "mI"},
        {"*=", NULL, "mL"},      {"/=", NULL, "dV"},      {"%=", NULL, "rM"},
        {"&=", NULL, "aN"},      {"|=", NULL, "oR"},      {"^=", NULL, "eO"},
        {"<<", NULL, "ls"},      {">>", NULL, "rs"},      {"<<=", NULL, "lS"},
        {">>=", NULL, "rS"},     {"==", NULL, "eq"},      {"!=", NULL, "ne"},
        {"<", NULL, "lt"},       {">", NULL, "gt"},       {"<=", NULL, "le"},
        {">=", NULL, "ge"},      {"<=>", NULL, "ss"},     {"!", "nt", NULL},
        {"&&", NULL, "aa"},      {"||", NULL, "oo"},      {"++", "pp", "pp"},
        {"--", "mm", "mm"},      {",", NULL, "cm"},       {"->*", NULL, "pm"},
        {"->", "pt", NULL},      {"[]", NULL, "ix"},      {" new", "nw", "nw"},
        {" new []", "na", "na"}, {" delete", "dl", "dl"}, {" delete []", "da", "da"},
    };
    if (!strcmp(text, "()"))
        return put(n, "cl"), true;
    for (size_t i = 0; i < sizeof CODES / sizeof *CODES; i++)
        if (!strcmp(text, CODES[i].text)) {
            const char *code = operands == 1 ? CODES[i].one : CODES[i].two;
            n->is_refused |= !code;
            return put(n, code ? code : ""), true;
        }
    /* A conversion is named by the type that it leads to; literals are refused. */
    n->is_refused |= text[0] != ' ';
    put(n, "cv");
    put_type_of(n, function, false);
    return true;
}

/* Constructors and destructors have several; of those g++ inlines the one of base objects. */
static void put_function_name(struct name *n, Dwarf_Die *function, Dwarf_Die *parent,
                              bool is_member, bool is_static)
{
    Dwarf_Attribute integrated;
    const char *own = dwarf_attr_integrate(function, DW_AT_name, &integrated)
                          ? dwarf_formstring(&integrated)
                          : NULL;
    size_t operands = is_member;
    Dwarf_Die child;
    for (bool is_one = !dwarf_child(function, &child); is_one;
         is_one = !dwarf_siblingof(&child, &child)) {
        n->is_refused |= is_template_argument(dwarf_tag(&child));
        operands +=
            dwarf_tag(&child) == DW_TAG_formal_parameter && !entry_flag(&child, DW_AT_artificial);
    }
    bool is_in_class = is_class(dwarf_tag(parent));
    const char *class = is_in_class ? dwarf_diename(parent) : NULL;
    size_t class_len = class ? strcspn(class, "<") : 0;
    enum { PREFIX = sizeof "operator" - 1 };
    if (!own)
        n->is_refused = true;
    else if (is_member && class_len && !strncmp(own, class, class_len) && !own[class_len])
        put(n, "C2");
    else if (is_member && own[0] == '~')
        put(n, "D2");
    else if (!strncmp(own, "operator", PREFIX) && !isalnum((unsigned char)own[PREFIX]) &&
             own[PREFIX] != '_' && own[PREFIX])
        put_operator(n, own + PREFIX, operands, function);
    else {
        n->is_refused |= strchr(own, '<') != NULL;
        put(n, is_static ? "L" : "");
        put_source_name(n, own);
    }
}

/* Functions of the file's own have an L before the name; those in anonymous namespaces only from
 * g++ 16 on (14 has none, 15 was not tried). */
static bool is_in_anonymous(struct mangler *m, Dwarf_Die scope)
{
    for (int hops = 0; hops < MOST_PARENTS && is_scope(dwarf_tag(&scope)); hops++) {
        if (dwarf_tag(&scope) == DW_TAG_namespace && !dwarf_diename(&scope))
            return true;
        if (!parent_of(m, &scope, &scope))
            return false;
    }
    return false;
}

/* `function` has the parameters; where it stands, its declaration says, if it has one. */
static const char *make_name(struct mangler *m, Dwarf_Die *function, unsigned version)
{
    struct name n = {.m = m};
    Dwarf_Die parent, class, declared = *function;
    entry_linked(function, DW_AT_specification, &declared);
    if (!parent_of(m, &declared, &parent))
        return NULL;
    bool has_parent = is_scope(dwarf_tag(&parent)), is_in_std = is_namespace_std(m, &parent);
    bool is_in_class = is_class(dwarf_tag(&parent));
    bool is_member = is_in_class && object_type(function, &class);
    bool is_static = !is_in_class && (version >= 16 || !is_in_anonymous(m, parent)) &&
                     !entry_flag(function, DW_AT_external) &&
                     !entry_flag(&declared, DW_AT_external);
    put(&n, "_Z");
    if (has_parent && !is_in_std) {
        put(&n, "N");
        put(&n, is_member && dwarf_tag(&class) == DW_TAG_const_type ? "K" : "");
        put(&n, entry_flag(&declared, DW_AT_reference) ? "R" : "");
        put(&n, entry_flag(&declared, DW_AT_rvalue_reference) ? "O" : "");
        put_scope(&n, &parent, true, false);
    } else if (is_in_std) {
        put(&n, "St");
    }
    put_function_name(&n, function, &parent, is_member, is_static);
    put(&n, has_parent && !is_in_std ? "E" : "");
    put_parameters(&n, function);
    const char *made = n.is_refused ? NULL : arena_copy(&m->arena, n.text, n.len);
    arena_deinit(&n.arena);
    return made;
}

/* The major version of the g++ that compiled it; 0: it was another compiler. */
static unsigned gnu_cxx_version(Dwarf_Die *die)
{
    Dwarf_Die unit;
    Dwarf_Attribute found;
    const char *producer =
        dwarf_diecu(die, &unit, NULL, NULL) && dwarf_attr(&unit, DW_AT_producer, &found)
            ? dwarf_formstring(&found)
            : NULL;
    if (!producer || strncmp(producer, "GNU C++", strlen("GNU C++")) != 0)
        return 0;
    const char *version = strchr(producer + strlen("GNU C++"), ' '); /* behind the standard */
    unsigned long number = version ? strtoul(version, NULL, 10) : 0;
    return number > 0 && number < 1000 ? (unsigned)number : 1;
}

const char *mangled_name(struct mangler **made, const Dwarf_Die *instance)
{
    Dwarf_Die function = *instance;
    bool is_new;
    /* From the inlined copy to what it is one of. */
    for (int hops = 0; hops < MOST_HOPS; hops++)
        if (!entry_linked(&function, DW_AT_abstract_origin, &function))
            break;
    if (!*made && !(*made = calloc(1, sizeof **made)))
        memory_exhausted(sizeof **made);
    struct mangler *m = *made;
    uint32_t number = map_index(&m->name_of, map_pointer(function.addr), 0, m->names.len, &is_new);
    unsigned version = is_new ? gnu_cxx_version(&function) : 0;
    if (is_new)
        vec_push(&m->names, version ? make_name(m, &function, version) : NULL);
    return m->names.at[number];
}
