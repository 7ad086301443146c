/* From the text of a list of events to choices. The text is read once from left to right; what a
 * name is, the general events decide first, then units, then tracepoints.
 *
 *     event     = NAME[:MODIFIERS] | GROUP:NAME[:MODIFIERS] | WHAT/TERMS/[:][MODIFIERS]
 *               | mem:ADDRESS[/LENGTH][:ACCESS][:MODIFIERS]
 *     TERMS     = KEY[=VALUE] {, KEY[=VALUE]}
 *     MODIFIERS = u, k, p in any order
 *
 * The grammar is that of perf record (tools/perf/Documentation/perf-list.txt of Linux) without
 * groups in braces. Each error names the event in its list and says what would be right. */
#include "record/perf/events.h"

#include "record/perf/events_private.h"

#include <ctype.h>

/* --- words ----------------------------------------------------------------------------------- */

struct event_word event_word_until(struct event_word *rest, const char *ends, char *end)
{
    struct event_word w = {rest->at, 0};
    while (w.len < rest->len && !strchr(ends, w.at[w.len]))
        w.len++;
    *end = w.len < rest->len ? w.at[w.len] : '\0';
    *rest = (struct event_word){w.at + w.len + (*end != '\0'), rest->len - w.len - (*end != '\0')};
    return w;
}

bool event_word_is_name(struct event_word w)
{
    enum { LONGEST = 255 };
    if (!w.len || w.len > LONGEST || w.at[0] == '.')
        return false;
    for (size_t i = 0; i < w.len; i++)
        if (!isalnum((unsigned char)w.at[i]) && !strchr("_-.@+#", w.at[i]))
            return false;
    return true;
}

bool event_number(struct event_word w, uint64_t *out)
{
    uint64_t base = w.len > 2 && w.at[0] == '0' && (w.at[1] | 32) == 'x' ? 16 : 10;
    *out = 0;
    for (size_t i = base == 16 ? 2 : 0; i < w.len; i++) {
        int c = tolower((unsigned char)w.at[i]);
        uint64_t digit = c >= '0' && c <= '9'   ? (uint64_t)(c - '0')
                         : c >= 'a' && c <= 'f' ? (uint64_t)(c - 'a' + 10)
                                                : base;
        if (digit >= base || __builtin_mul_overflow(*out, base, out) ||
            __builtin_add_overflow(*out, digit, out))
            return false;
    }
    return w.len > 0;
}

/* --- parts of an event ----------------------------------------------------------------------- */

/* `uk` is the same as neither. Asking for user code alone of an event that is the kernel's alone is
 * refused later, when the event is known. */
static bool events_modifiers(struct event_word text, struct event_choice *c, struct err *e)
{
    bool user = false, kernel = false;
    for (size_t i = 0; i < text.len; i++)
        switch (text.at[i]) {
        case 'u': user = true; break;
        case 'k': kernel = true; break;
        case 'p': c->precise++; break;
        default:
            return err_set(e,
                           "\":%.*s\" is none of :u (user code), :k (kernel), :p to :ppp "
                           "(precise)",
                           (int)text.len, text.at);
        }
    if (!text.len || c->precise > 3)
        return err_set(e, "what stands after \":\" is one or more of u, k, p (at most three p)");
    if (user != kernel) {
        c->user_only |= user;
        c->kernel_only |= kernel;
    }
    if (c->user_only && c->kernel_only)
        return err_set(e, "that leaves neither user code nor the kernel");
    return true;
}

/* Behind `mem:`, ADDRESS[/LENGTH][:ACCESS][:MODIFIERS]. */
static bool events_breakpoint(struct event_word text, struct event_choice *c, struct err *e)
{
    enum { ANY_DATA = 3, CODE = 4 }; /* of HW_BREAKPOINT_R, _W and _X: bits 0 to 2 */
    char end, next = '\0';
    struct event_word length = {0}, address = event_word_until(&text, "/:", &end);
    if (end == '/')
        length = event_word_until(&text, ":", &end);
    struct event_word rest = text, access = event_word_until(&rest, ":", &next);
    c->type = PERF_TYPE_BREAKPOINT;
    for (size_t i = 0; end && i < access.len && strchr("rwx", access.at[i]); i++)
        c->bp_type |= 1u << (strchr("rwx", access.at[i]) - "rwx");
    if (c->bp_type) {
        text = rest;
        end = next;
    }
    c->bp_type = c->bp_type ? c->bp_type : ANY_DATA;
    c->config2 = c->bp_type == CODE ? sizeof(long) : 4;
    if (!event_number(address, &c->config1))
        return err_set(e, "mem: takes an address, as in mem:0x601040/4:w");
    if (length.at && (!event_number(length, &c->config2) || !c->config2 || c->config2 > 8))
        return err_set(e, "a breakpoint's length is 1 to 8 bytes");
    return !end || events_modifiers(text, c, e);
}

/* Terms that any event takes. */
static bool events_terms(struct arena *a, struct event_word terms, struct event_choice *c,
                         struct err *e)
{
    char end;
    do {
        bool is_taken;
        struct event_word value = event_word_until(&terms, ",", &end);
        struct event_word key = event_word_until(&value, "=", &(char){0});
        if (!event_common_term(a, key, value, c, &is_taken, e))
            return false;
        if (!is_taken)
            return err_set(e, "between the slashes stand period=N and name=NAME, or terms of a "
                              "unit of this machine");
    } while (end);
    return true;
}

/* --- one event ------------------------------------------------------------------------------- */

/* EVENTS_WRONG: the name means something, but not one event; *e says what. */
enum events_found { EVENTS_FOUND, EVENTS_NONE, EVENTS_WRONG };

/* An event that is a name alone. */
static enum events_found events_simple(struct arena *a, const char *root, struct event_word name,
                                       struct event_choice *c, struct err *e)
{
    if (event_general(name, c))
        return EVENTS_FOUND;
    int found = event_of_any_unit(a, root, name, c, e);
    if (found)
        return found > 0 ? EVENTS_FOUND : EVENTS_WRONG;
    return event_raw(name, c) ? EVENTS_FOUND : EVENTS_NONE;
}

/* A name with a dot is mostly a vendor's, for which another way is to be told. */
static bool events_unknown(struct event_word name, struct err *e)
{
    bool is_vendors = memchr(name.at, '.', name.len) != NULL;
    return err_set(e, is_vendors ? "it is not among this machine's events; a vendor's event is "
                                   "had by its code: r1a8, or cpu/event=0xa8,umask=1/"
                                 : "it is not among this machine's events, which "
                                   "`monarc run --list-events` lists");
}

/* NAME[:MODIFIERS], GROUP:NAME[:MODIFIERS] */
static bool events_plain(struct arena *a, const char *root, struct event_word text,
                         struct event_choice *c, struct err *e)
{
    char end;
    struct event_word name = event_word_until(&text, ":", &end);
    enum events_found found = events_simple(a, root, name, c, e);
    if (found == EVENTS_WRONG)
        return false;
    if (found == EVENTS_NONE) {
        if (!end)
            return events_unknown(name, e);
        struct event_word event = event_word_until(&text, ":", &end);
        if (!event_tracepoint(a, root, name, event, c, e))
            return false;
    }
    return !end || events_modifiers(text, c, e);
}

/* WHAT/TERMS/[MODIFIERS] or WHAT/TERMS/:MODIFIERS, where what is a unit or an event by its name. */
static bool events_with_terms(struct arena *a, const char *root, struct event_word text,
                              struct event_choice *c, struct err *e)
{
    char end;
    struct event_word name = event_word_until(&text, "/", &end);
    struct event_word terms = event_word_until(&text, "/", &end);
    if (!end)
        return err_set(e, "terms stand between two slashes, as in cpu/event=0x3c,umask=1/");
    if (event_has_unit(a, root, name)) {
        if (!event_of_unit(a, root, name, terms, c, e))
            return false;
    } else if (!events_plain(a, root, name, c, e) || !events_terms(a, terms, c, e)) {
        return false;
    }
    if (!text.len)
        return true;
    if (text.at[0] == ':')
        text = (struct event_word){text.at + 1, text.len - 1};
    return events_modifiers(text, c, e);
}

/* By its first characters, or by a slash, the form of an event is known before its name is. */
static bool events_one(struct arena *a, const char *root, struct event_word text,
                       struct event_choice *c, struct err *e)
{
    static const char mem[] = "mem:";
    if (text.len >= strlen(mem) && !memcmp(text.at, mem, strlen(mem))) {
        struct event_word rest = {text.at + strlen(mem), text.len - strlen(mem)};
        return events_breakpoint(rest, c, e);
    }
    if (memchr(text.at, '/', text.len))
        return events_with_terms(a, root, text, c, e);
    return events_plain(a, root, text, c, e);
}

/* --- the list -------------------------------------------------------------------------------- */

/* The text of the first event in *rest: commas between slashes belong to it. */
static struct event_word events_next(struct event_word *rest, char *end)
{
    bool is_address = rest->len > 4 && !memcmp(rest->at, "mem:", 4), is_inside = false;
    struct event_word w = {rest->at, 0};
    for (; w.len < rest->len && (is_inside || w.at[w.len] != ','); w.len++)
        is_inside ^= w.at[w.len] == '/' && !is_address;
    *end = w.len < rest->len ? ',' : '\0';
    *rest = (struct event_word){w.at + w.len + (*end != '\0'), rest->len - w.len - (*end != '\0')};
    return w;
}

/* What follows from type and code; see the head of events.h for the periods. */
static bool events_complete(struct event_choice *c, uint32_t rate, struct err *e)
{
    bool is_software = c->type == PERF_TYPE_SOFTWARE;
    c->is_clock = is_software && c->config <= PERF_COUNT_SW_TASK_CLOCK;
    c->unit = c->is_clock ? RECORDING_UNIT_NS : RECORDING_UNIT_COUNT;
    rate = rate ? rate : 1;
    if (!c->period && c->is_clock)
        c->period = UINT64_C(1000000000) / rate;
    else if (!c->period)
        c->frequency = rate;
    if (is_software && c->in_kernel && c->user_only)
        return err_set(e, "it happens in the kernel alone: with :u none would be counted");
    return true;
}

/* The name to show is what `name=` gives, else the event's own text, modifiers included. */
bool events_parse(const char *list, const char *root, uint32_t rate, struct event_list *out,
                  struct err *e)
{
    struct event_word rest = {list, strlen(list)};
    struct arena scratch = {0};
    struct err why = {0};
    bool is_fine = true;
    char end;
    do {
        struct event_choice c = {0};
        struct event_word text = events_next(&rest, &end);
        is_fine =
            text.len ? events_one(&scratch, root, text, &c, &why) && events_complete(&c, rate, &why)
                     : err_set(&why, "a name is missing in the list");
        if (!is_fine)
            err_set(e, "event \"%.*s\": %s", (int)(text.len ? text.len : strlen(list)),
                    text.len ? text.at : list, why.line);
        struct event_word name = {c.name, c.name ? strlen(c.name) : 0};
        name = name.at ? name : text;
        c.name = arena_copy(&out->arena, name.at, name.len);
        if (is_fine)
            vec_push(&out->choices, c);
    } while (is_fine && end);
    arena_deinit(&scratch);
    return is_fine;
}

void events_deinit(struct event_list *l)
{
    vec_free(&l->choices);
    arena_deinit(&l->arena);
    *l = (struct event_list){0};
}
