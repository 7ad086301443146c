/* From chains of waiting threads to a table of what was waited for.
 *
 * A chain's first step says who waits, where, and for what: it chooses the row. Its further steps
 * say what holders did, and become a tree below the row, in which steps with the same functions,
 * the same doing and the same thing waited for are one, whichever threads they were:
 *
 *     step 1   A at cache_get, waits for g_cache_lock      row g_cache_lock, waiter cache_get
 *     step 2     B at evict, in fsync                        tree: evict, waits in fsync
 *
 * Time stands at the last step of a chain and counts for all before it. Names distinguish variables
 * and files; the function that waits distinguishes everything else (a lock on the heap, an end of a
 * thread): the first one that is not of the C or C++ library.
 *
 * For a word that names no owner, the library's function on the stack gives the purpose: only
 * people need it. Cost: a walk up each stack that waited or held, once; a map for each step. */
#include "profile/analysis/recording/locks.h"

#include "base/path.h"
#include "objfile/object.h"
#include "profile/analysis/recording/locks_private.h"
#include "profile/analysis/recording/part_errors.h"
#include "profile/analysis/summary.h"

#include <stdlib.h>
#include <string.h>

/* Kinds as reports name them. Some are distinguished only by functions on the stack. */
static const struct {
    const char *name, *function; /* part of a library's function; NULL: by the resource's kind */
    uint32_t kind;
    bool is_lock, is_io;
    const char *unheld; /* why no holder is seen */
} KINDS[] = {
    {"condition variable", "cond", RECORDING_RESOURCE_FUTEX, false, false,
     "some thread will signal it"},
    {"condition variable", "cnd_", RECORDING_RESOURCE_FUTEX, false, false,
     "some thread will signal it"},
    {"semaphore", "sem_", RECORDING_RESOURCE_FUTEX, false, false, "some thread will post it"},
    {"barrier", "barrier", RECORDING_RESOURCE_FUTEX, false, false,
     "the other threads have not come to it yet"},
    {"join", "join", RECORDING_RESOURCE_FUTEX, false, false,
     "this C library does not keep the number of the thread where it is waited for"},
    {"futex", NULL, RECORDING_RESOURCE_FUTEX, true, false,
     "its word names no owner: locks of Rust, Go, C++20 and parking_lot, musl's plain mutexes and "
     "locks inside the C library do not"},
    {"mutex", NULL, RECORDING_RESOURCE_MUTEX, true, false,
     "it changed hands while it was inspected"},
    {"rwlock", NULL, RECORDING_RESOURCE_RWLOCK, true, false,
     "readers had it, whom the lock does not name"},
    {"PI mutex", NULL, RECORDING_RESOURCE_PI, true, false,
     "it changed hands while it was inspected"},
    {"join", NULL, RECORDING_RESOURCE_JOIN, false, false, "the thread was about to end"},
    {"child process", NULL, RECORDING_RESOURCE_CHILD, false, false,
     "any of several children would do"},
    {"file lock", NULL, RECORDING_RESOURCE_FILE_LOCK, true, true,
     "/proc/locks did not show who has it"},
    {"pipe", NULL, RECORDING_RESOURCE_PIPE, false, true,
     "no recorded process has the other end open"},
    {"socket", NULL, RECORDING_RESOURCE_SOCKET, false, true, NULL},
    {"file", NULL, RECORDING_RESOURCE_FILE, false, true, NULL},
    {"several descriptors", NULL, RECORDING_RESOURCE_SEVERAL, false, true, NULL},
    {"sleep", NULL, RECORDING_RESOURCE_SLEEP, false, false, NULL},
};

enum { KINDS_LEN = sizeof KINDS / sizeof *KINDS };

/* --- stacks ---------------------------------------------------------------------------------- */

/* "fsync" of "[waiting] fsync"; NULL: the node is code. */
static const char *locks_call(const struct locks_making *m, uint32_t node)
{
    const struct recording *r = m->in->recording;
    const struct call_frames *f = &m->in->frames->frames;
    uint32_t kind = r->objects.at[r->nodes.at[node].object].kind;
    if (kind != RECORDING_OBJECT_WAIT && kind != RECORDING_OBJECT_KERNEL)
        return NULL;
    uint32_t place = f->place[node];
    if (f->start[place] == f->start[place + 1])
        return "";
    const char *name = m->in->frames->functions.at[f->frame[f->start[place]]].name;
    const char *behind = strchr(name, ']');
    return behind && behind[1] == ' ' ? behind + 2 : behind && *name == '[' ? "" : name;
}

/* Whether a linkage name is of a function in Rust's own libraries. The legacy mangling begins with
 * the crate's name and its length, or with an implementation's type (`_ZN59_$LT$std..`), of which
 * the crate is not looked for. Version 0 (RFC 2603) has what the path consists of first, each as a
 * letter, then the crate: `_RNvNtCs1234_3std4sync4lock`. */
static bool locks_is_rust_library(const char *name)
{
    static const char *const CRATES[] = {"3std", "4core", "5alloc"};
    const char *at = name;
    if (!strncmp(at, "_ZN", 3)) {
        at += 3;
    } else if (!strncmp(at, "_R", 2)) {
        for (at += 2; *at && *at != 'C';) {
            at += at[0] == 'N' && at[1] ? 2 : 1;
            if (at[0] == 's' && strchr("MX", at[-1])) /* which of several implementations */
                at += strcspn(at, "_") + (at[strcspn(at, "_")] != 0);
            else if (!strchr("NMXIC", at[0]))
                return false;
        }
        at += *at == 'C';
        at += *at == 's' ? strcspn(at, "_") : 0; /* which of several crates of the name */
        at += *at == '_';
    } else {
        return false;
    }
    for (size_t i = 0; i < sizeof CRATES / sizeof *CRATES; i++)
        if (!strncmp(at, CRATES[i], strlen(CRATES[i])))
            return true;
    return false;
}

/* Whether a function is the C, C++ or Rust library's, or stands for no code. Code of another
 * library that has no symbols is its own: its object says whose. What people call by name is what
 * they wrote; a lock of theirs is not in pthread_mutex_lock. Names of files are compared by their
 * beginnings, for versions follow: libc.so.6, libc-2.31.so, ld-linux-x86-64.so.2, and musl's
 * ld-musl. Statically linked programs have the library inside, hence names as well. */
static bool locks_is_library(const struct locks_making *m, uint32_t function)
{
    static const char *const LIBRARIES[] = {"libc.",  "libc-", "libpthread", "libstdc++", "ld-",
                                            "libgcc", "ld.",   "libc++",     NULL};
    const struct functions *f = &m->in->frames->functions;
    const char *label = function_object_label(f, function);
    const char *name = f->at[function].name;
    bool is_code = f->at[function].is_unwind_range ||
                   (!strncmp(name, "[no symbol] (", strlen("[no symbol] (")) &&
                    strcmp(name, "[no symbol] (vdso)") != 0);
    bool is_it = (f->at[function].is_made && !is_code) || !strcmp(name, "_start");
    is_it |= label && path_begins_with(label, LIBRARIES);
    return is_it || !strncmp(name, "pthread_", strlen("pthread_")) ||
           !strncmp(name, "__pthread_", strlen("__pthread_")) ||
           !strncmp(name, "_ZNSt", strlen("_ZNSt")) || locks_is_rust_library(name);
}

/* Leaves of a stack what people call by name: of the library's functions that are innermost the
 * one that was called, and none of those that are outermost. Of a stack that is all the
 * library's, what begins with an underscore goes as far as something else is left.
 *
 *     before  __futex_abstimed_wait < pthread_mutex_lock < cache_get < main < __libc_start_main
 *     after                           pthread_mutex_lock < cache_get < main */
static uint32_t locks_trim(const struct locks_making *m, uint32_t *functions, uint32_t len)
{
    const struct functions *f = &m->in->frames->functions;
    uint32_t first = 0, last = len, kept = 0;
    while (last > 0 && locks_is_library(m, functions[last - 1]))
        last--;
    bool is_all_library = !last;
    last = is_all_library ? len : last;
    while (!is_all_library && first + 1 < last && locks_is_library(m, functions[first + 1]) &&
           locks_is_library(m, functions[first]))
        first++;
    for (uint32_t i = 0; is_all_library && !first && i < len; i++)
        if (f->at[functions[i]].name[0] != '_' && !f->at[functions[i]].is_made)
            first = i;
    for (uint32_t i = first; i < last; i++) {
        bool is_nothing = f->at[functions[i]].is_made && locks_is_library(m, functions[i]);
        if (!is_nothing)
            functions[kept++] = functions[i];
    }
    return kept;
}

uint32_t locks_stack(struct locks_making *m, uint32_t node)
{
    const struct recording *r = m->in->recording;
    const struct call_frames *f = &m->in->frames->frames;
    VEC(uint32_t) functions = {0};
    bool is_new;
    if (node == RECORDING_ROOT)
        return RECORDING_NONE;
    uint32_t *found = map_at(&m->stack_of, node, 0, 0, &is_new);
    if (!is_new)
        return *found;
    const char *call = locks_call(m, node);
    for (uint32_t at = call ? r->nodes.at[node].parent : node; at; at = r->nodes.at[at].parent) {
        uint32_t place = f->place[at];
        for (uint32_t i = f->start[place + 1]; i-- > f->start[place];)
            vec_push(&functions, f->frame[i]);
    }
    uint32_t len = locks_trim(m, functions.at, (uint32_t)functions.len), frame = 0;
    for (uint32_t i = len; i-- > 0;) {
        uint32_t caller = frame;
        frame = map_index(&m->frame_of, caller, functions.at[i], m->frames.len, &is_new);
        if (is_new)
            vec_push(&m->frames, (struct lock_frame){functions.at[i], caller});
    }
    vec_free(&functions);
    /* The call helps to distinguish stacks; its name's address is the function's. */
    uint64_t key = call ? hash_bytes(call, strlen(call)) : 0;
    *found = map_index(&m->same_stack, frame, key, m->stacks.len, &is_new);
    if (is_new)
        vec_push(&m->stacks, (struct lock_stack){frame, len, call});
    return *found;
}

uint32_t locks_function(const struct locks_making *m, uint32_t stack)
{
    const struct lock_frame *frames = m->frames.at;
    const struct lock_stack *s = &m->stacks.at[stack];
    for (uint32_t at = s->frame; at; at = frames[at].caller)
        if (!locks_is_library(m, frames[at].function))
            return frames[at].function;
    return s->len ? frames[s->frame].function : NO_FUNCTION;
}

/* --- rows ------------------------------------------------------------------------------------ */

/* Which of KINDS a resource is that is waited for in a stack: only the library's own functions,
 * which are innermost, say what a word is for. */
static uint32_t locks_kind(const struct locks_making *m, uint32_t kind, uint32_t stack)
{
    const struct lock_frame *frames = m->frames.at;
    uint32_t innermost = stack == RECORDING_NONE ? 0 : m->stacks.at[stack].frame;
    for (uint32_t i = 0; i < KINDS_LEN; i++) {
        if (KINDS[i].kind != kind)
            continue;
        if (!KINDS[i].function)
            return i;
        for (uint32_t k = innermost; k && locks_is_library(m, frames[k].function);
             k = frames[k].caller)
            if (strstr(m->in->frames->functions.at[frames[k].function].name, KINDS[i].function))
                return i;
    }
    return 0;
}

/* Variables of C++ are mangled as functions are: _ZN5cache4lockE is cache::lock. */
static const char *locks_demangled(struct locks_making *m, const char *name)
{
    char *plain = m->in->demangle ? demangle(name, m->in->demangle) : NULL;
    const char *kept = plain ? arena_copy(m->arena, plain, strlen(plain)) : name;
    free(plain);
    return kept;
}

/* Numbers of pipes, sockets and processes are no names. */
static bool locks_has_name(const struct recording_resource *r)
{
    return r->name && r->kind != RECORDING_RESOURCE_PIPE && r->kind != RECORDING_RESOURCE_SOCKET &&
           r->kind != RECORDING_RESOURCE_CHILD;
}

/* The space of an address: a process's memory, or a file that several have. */
static uint64_t locks_space(const struct recording_resource *r)
{
    bool is_shared = r->process == RECORDING_NONE && r->name;
    return is_shared ? hash_bytes(r->name, strlen(r->name)) : r->process;
}

/* A lock that changed hands while it was inspected names no owner then, and is a mere word; another
 * look at the same place knew what it is. Of a lock for readers and writers there are two words
 * that are waited at, after its first two. */
static void locks_find_same(struct locks_making *m)
{
    enum { AT_READERS = 8, AT_WRITERS = 12 };
    const struct recording *r = m->in->recording;
    struct map at = {0};
    m->same = ARENA_NEW(m->arena, uint32_t, r->resources.len + 1);
    for (uint32_t i = 0; i < r->resources.len; i++) {
        const struct recording_resource *one = &r->resources.at[i];
        m->same[i] = i;
        if (one->kind == RECORDING_RESOURCE_FUTEX || one->kind > RECORDING_RESOURCE_JOIN)
            continue;
        bool is_rwlock = one->kind == RECORDING_RESOURCE_RWLOCK;
        uint64_t space = locks_space(one);
        map_set(&at, space, one->address + (is_rwlock ? AT_READERS : 0), i);
        if (is_rwlock)
            map_set(&at, space, one->address + AT_WRITERS, i);
    }
    for (uint32_t i = 0; i < r->resources.len; i++) {
        const struct recording_resource *one = &r->resources.at[i];
        uint64_t space = locks_space(one);
        const uint32_t *found =
            one->kind == RECORDING_RESOURCE_FUTEX ? map_find(&at, space, one->address) : NULL;
        m->same[i] = found ? *found : i;
    }
    map_deinit(&at);
}

/* Where a variable is, or which file it is. Both words of a condition variable are one. */
static uint64_t locks_word(const struct recording_resource *r)
{
    enum { WORDS_BYTES = 8 };
    return r->kind <= RECORDING_RESOURCE_JOIN ? r->address / WORDS_BYTES : r->address;
}

/* Two variables or files of one name are two, and numbered in the order of addresses (of files:
 * inodes). A variable is the same in another process if it has the same place within a page, which
 * does not depend on where its object was loaded, and as many of that place are before it. */
static void locks_number_names(struct locks_making *m)
{
    enum { PAGE_WORDS = 512 };
    const struct recording *r = m->in->recording;
    struct keyed *order = ARENA_NEW(m->arena, struct keyed, r->resources.len + 1);
    struct map last = {0};    /* name and process -> the one before */
    struct map placed = {0};  /* what has a name, process and place -> how many there are */
    struct map numbers = {0}; /* name, and 0 -> how many there are; what it is by then -> which */
    size_t len = 0;
    m->twin = ARENA_NEW(m->arena, uint32_t, r->resources.len + 1);
    for (uint32_t i = 0; i < r->resources.len; i++)
        if (locks_has_name(&r->resources.at[i]))
            order[len++] = (struct keyed){locks_word(&r->resources.at[i]), i};
    sort_keyed(order, len);
    for (size_t i = 0; i < len; i++) {
        uint32_t item = order[i].item;
        const struct recording_resource *one = &r->resources.at[item];
        bool is_memory = one->kind <= RECORDING_RESOURCE_JOIN, is_new;
        uint64_t what[] = {hash_bytes(one->name, strlen(one->name)),
                           is_memory ? order[i].key % PAGE_WORDS : order[i].key, one->process};
        uint32_t *before = map_at(&last, what[0], one->process, item, &is_new);
        bool is_same = !is_new && locks_word(&r->resources.at[*before]) == order[i].key;
        if (is_same) {
            m->twin[item] = m->twin[*before];
        } else {
            what[2] = (*map_at(&placed, hash_bytes(what, sizeof what), 0, 0, NULL))++;
            uint32_t next = *map_at(&numbers, what[0], 0, 0, NULL);
            m->twin[item] = *map_at(&numbers, hash_bytes(what, sizeof what), 1, next, &is_new);
            *map_at(&numbers, what[0], 0, 0, NULL) += is_new;
        }
        *before = item;
    }
    map_deinit(&last);
    map_deinit(&placed);
    map_deinit(&numbers);
}

/* What a resource is that is waited for in a stack. Memory may have been used for something else
 * before: the library's functions have precedence. */
static uint32_t locks_resource(const struct locks_making *m, uint32_t resource, uint32_t stack)
{
    const struct recording *r = m->in->recording;
    uint32_t same = m->same[resource];
    bool is_told = KINDS[locks_kind(m, r->resources.at[resource].kind, stack)].function != NULL;
    return is_told && r->resources.at[same].kind != RECORDING_RESOURCE_JOIN ? resource : same;
}

uint32_t locks_row_with(struct locks_making *m, uint32_t resource, uint32_t stack, uint32_t thing)
{
    static const struct recording_resource closed = {.kind = RECORDING_RESOURCE_FILE};
    bool is_known = resource != RECORDING_NONE; /* else its descriptor had been closed */
    bool is_itself = thing == resource;
    resource = is_known ? locks_resource(m, resource, stack) : resource;
    const struct recording_resource *r =
        is_known ? &m->in->recording->resources.at[resource] : &closed;
    uint32_t kind = locks_kind(m, r->kind, stack), function = NO_FUNCTION;
    bool is_new, is_named = locks_has_name(r);
    bool is_memory = r->kind <= RECORDING_RESOURCE_JOIN;
    bool is_shared = is_memory && r->process == RECORDING_NONE;
    if (!is_named && stack != RECORDING_NONE)
        function = locks_function(m, stack);
    /* Hashes of 64 bits stand for names: two of one file have the same one with a chance of next
     * to nothing. In memory that is shared, the name is the mapping's, and the address within it
     * distinguishes locks. */
    uint32_t twin = is_named && !is_shared ? m->twin[resource] : 0;
    uint64_t key = is_named ? hash_bytes(r->name, strlen(r->name)) + (is_shared ? r->address : twin)
                            : function;
    uint32_t row = map_index(&m->row_of, map_two(kind, is_named), key, m->rows.len, &is_new);
    if (is_new) {
        const char *name = is_named ? locks_demangled(m, r->name) : NULL;
        if (name && is_shared)
            name = arena_printf(m->arena, "%s+0x%llx", name, (unsigned long long)r->address);
        vec_push(&m->rows, ((struct lock_making){.kind = kind,
                                                 .row = {.kind = KINDS[kind].name,
                                                         .name = name,
                                                         .twin = twin,
                                                         .function = function,
                                                         .is_lock = KINDS[kind].is_lock,
                                                         .is_shared = is_shared}}));
    }
    /* Each thing counts once in its row. */
    map_at(&m->row_of, map_two(UINT32_MAX, row), is_itself ? resource : thing, 0, &is_new);
    m->rows.at[row].row.objects += is_new;
    return row;
}

uint32_t locks_row(struct locks_making *m, uint32_t resource, uint32_t stack)
{
    return locks_row_with(m, resource, stack, resource);
}

uint32_t locks_waiter(struct locks_making *m, uint32_t row, uint32_t stack)
{
    bool is_new;
    uint32_t waiter = map_index(&m->waiter_of, row, stack, m->waiters.len, &is_new);
    if (is_new)
        vec_push(&m->waiters, ((struct lock_waiting){{.stack = stack}, row}));
    return waiter;
}

/* --- steps ----------------------------------------------------------------------------------- */

/* The text for what a holder waits for: name or kind. Of what has no path the call says it all. */
static const char *locks_awaited(struct locks_making *m, uint32_t resource, uint32_t stack)
{
    if (resource == RECORDING_NONE ||
        m->in->recording->resources.at[resource].kind == RECORDING_RESOURCE_SLEEP)
        return NULL;
    resource = locks_resource(m, resource, stack);
    const struct recording_resource *r = &m->in->recording->resources.at[resource];
    const char *kind = KINDS[locks_kind(m, r->kind, stack)].name, *anonymous = "anon_inode:";
    if (r->name && !strncmp(r->name, anonymous, strlen(anonymous)))
        return NULL;
    return locks_has_name(r) ? arena_printf(m->arena, "%s %s", kind, locks_demangled(m, r->name))
                             : kind;
}

/* The step below a row, or below another step, for one of a chain. Thread and number stay as
 * long as all that were merged agree; the first that differs clears them, for good. `what * 31`
 * keeps a step that waits for something apart from one with the same stack that does not. */
static uint32_t locks_step(struct locks_making *m, uint32_t row, uint32_t parent,
                           const struct recording_link *w)
{
    const struct recording *r = m->in->recording;
    uint32_t stack = locks_stack(m, w->node);
    const char *awaited = locks_awaited(m, w->resource, stack);
    uint64_t what = awaited ? hash_bytes(awaited, strlen(awaited)) : 0;
    const struct recording_thread *t =
        w->thread == RECORDING_NONE ? NULL : &r->threads.at[w->thread];
    bool is_new;
    uint32_t step = map_index(&m->step_of, map_two(row, parent),
                              map_two(stack, w->doing) ^ what * 31, m->steps.len, &is_new);
    if (is_new)
        vec_push(&m->steps,
                 ((struct lock_step){
                     .row = row,
                     .parent = parent,
                     .holder = {.depth = parent ? m->steps.at[parent].holder.depth + 1 : 0,
                                .stack = stack,
                                .doing = w->doing,
                                .tid = t ? t->tid : 0,
                                .thread = t ? t->name : NULL,
                                .waits_for = awaited}}));
    struct lock_holder *h = &m->steps.at[step].holder;
    h->tid = t && h->tid == t->tid ? h->tid : 0;
    h->thread = t && h->thread && !strcmp(h->thread, t->name) ? h->thread : NULL;
    return step;
}

/* A step's error stands in its links; draws count for all steps before, as time does. */
static void locks_add_error(struct part_errors *errors, const struct locks_making *m, uint32_t row,
                            uint32_t step, uint32_t thread, const struct recording_link *w)
{
    part_errors_add(errors, row, step ? step : NO_PART, thread, (double)w->error,
                    (double)w->single);
    /* The whole has it already. */
    for (uint32_t at = step ? m->steps.at[step].parent : 0; at; at = m->steps.at[at].parent)
        part_errors_add_part(errors, row, at, thread, 0, (double)w->single);
}

/* Errors are of us^2. */
static void locks_sum_errors(struct locks_making *m, struct part_errors *errors)
{
    struct arena scratch = {0};
    const double ns = 1000;
    double *widths = ARENA_NEW(&scratch, double, m->steps.len);
    part_errors_sum(errors, true, widths, m->steps.len);
    for (size_t i = 1; i < m->steps.len; i++)
        m->steps.at[i].holder.error_ns = ns * widths[i];
    arena_deinit(&scratch);
    part_errors_deinit(errors);
}

static uint32_t locks_set_of(uint32_t *set, uint32_t one)
{
    while (set[one] != one)
        one = set[one] = set[set[one]];
    return one;
}

/* Threads that wait for each other in a circle are one deadlock, whichever of them a chain begins
 * with, and in however many runs: sets of rows and of the threads on their chains. Of a set, the
 * rows that a thread of the circle itself waits for are the deadlock; others only wait for it.
 * Parents precede their children: one pass from the end finds what is above a circle. */
static void locks_find_deadlocks(struct locks_making *m, const uint32_t *row,
                                 const uint32_t *thread)
{
    const struct recording *r = m->in->recording;
    struct arena scratch = {0};
    uint32_t threads = (uint32_t)r->threads.len, len = threads + (uint32_t)m->rows.len;
    uint32_t *set = ARENA_NEW(&scratch, uint32_t, len + 1);
    uint32_t *number = ARENA_NEW(&scratch, uint32_t, len + 1);
    bool *is_above = ARENA_NEW(&scratch, bool, r->links.len + 1);
    bool *waits = ARENA_NEW(&scratch, bool, len + 1), *is_in = ARENA_NEW(&scratch, bool, len + 1);
    bool *has_rows = ARENA_NEW(&scratch, bool, len + 1);
    for (uint32_t i = 0; i < len; i++)
        set[i] = i;
    for (size_t i = r->links.len; i-- > 0;) {
        const struct recording_link *w = &r->links.at[i];
        bool is_circle = w->doing == RECORDING_DOING_CIRCLE;
        is_above[i] |= is_circle;
        if (!is_above[i] || row[i] == NO_ROW)
            continue;
        uint32_t at = threads + row[i];
        waits[at] = true;
        if (w->thread != RECORDING_NONE) {
            set[locks_set_of(set, w->thread)] = locks_set_of(set, at);
            is_in[at] |= is_circle && thread[i] == w->thread;
        }
        if (w->parent != RECORDING_NONE)
            is_above[w->parent] = true;
    }
    for (uint32_t at = threads; at < len; at++)
        has_rows[locks_set_of(set, at)] |= is_in[at];
    for (uint32_t at = threads; at < len; at++) {
        uint32_t of = locks_set_of(set, at);
        if (!waits[at] || (has_rows[of] && !is_in[at]))
            continue;
        number[of] = number[of] ? number[of] : ++m->deadlocks;
        m->rows.at[at - threads].row.deadlock = number[of];
    }
    arena_deinit(&scratch);
}

/* A link follows its parent in the file, so that one pass is enough: row, waiter and step of the
 * parent are known. Pipes and file locks are in both reports, since they are files that threads
 * wait for each other by. What was not chosen has NO_ROW, and so has all below it. */
static void locks_add_chains(struct locks_making *m)
{
    const struct recording *r = m->in->recording;
    struct arena scratch = {0};
    uint32_t *row = ARENA_NEW(&scratch, uint32_t, r->links.len + 1);
    uint32_t *waiter = ARENA_NEW(&scratch, uint32_t, r->links.len + 1);
    uint32_t *step = ARENA_NEW(&scratch, uint32_t, r->links.len + 1);
    uint32_t *thread = ARENA_NEW(&scratch, uint32_t, r->links.len + 1); /* that waits */
    struct part_errors errors = {0};
    for (size_t i = 0; i < r->links.len; i++) {
        const struct recording_link *w = &r->links.at[i];
        bool is_first = w->parent == RECORDING_NONE;
        bool is_chosen =
            is_first ? locks_takes(m->in, w->thread, w->node) : row[w->parent] != NO_ROW;
        row[i] = NO_ROW;
        thread[i] = is_first ? w->thread : thread[w->parent];
        if (is_first && is_chosen) {
            uint32_t stack = locks_stack(m, w->node);
            uint32_t kind = locks_kind(m, r->resources.at[w->resource].kind, stack);
            bool is_both = r->resources.at[w->resource].kind == RECORDING_RESOURCE_PIPE ||
                           r->resources.at[w->resource].kind == RECORDING_RESOURCE_FILE_LOCK;
            if (KINDS[kind].is_io != m->in->is_io && !is_both)
                continue;
            row[i] = locks_row(m, w->resource, stack);
            waiter[i] = locks_waiter(m, row[i], stack);
        } else if (is_chosen) {
            row[i] = row[w->parent];
            waiter[i] = waiter[w->parent];
            step[i] = locks_step(m, row[i], step[w->parent], w);
        }
        if (row[i] == NO_ROW)
            continue;
        struct lock *of = &m->rows.at[row[i]].row;
        of->ns += w->ns;
        of->waits += w->waits;
        of->held_ns += step[i] ? w->ns : 0;
        m->waiters.at[waiter[i]].waiter.ns += w->ns;
        m->waiters.at[waiter[i]].waiter.waits += w->waits;
        m->steps.at[step[i]].holder.ns += step[i] ? w->ns : 0;
        locks_add_error(&errors, m, row[i], step[i], thread[i], w);
    }
    locks_sum_errors(m, &errors);
    locks_find_deadlocks(m, row, thread);
    for (size_t i = m->steps.len; i-- > 1;) /* time counts for all steps before, too */
        m->steps.at[m->steps.at[i].parent].holder.ns += m->steps.at[i].holder.ns;
    arena_deinit(&scratch);
}

/* --- the table ------------------------------------------------------------------------------- */

/* Locks first, then by time; names make the order of equal ones the same each time. */
static int locks_by_time(const void *left, const void *right)
{
    const struct lock *l = left, *r = right;
    if (l->is_lock != r->is_lock)
        return l->is_lock ? -1 : 1;
    if (l->ns != r->ns)
        return l->ns < r->ns ? 1 : -1;
    if (l->read + l->written != r->read + r->written)
        return l->read + l->written < r->read + r->written ? 1 : -1;
    return strcmp(l->name ? l->name : "", r->name ? r->name : "");
}

/* By row first: those of a row become one stretch of the array, to which the row points. */
static int locks_waiters_by_time(const void *left, const void *right)
{
    const struct lock_waiting *l = left, *r = right;
    if (l->row != r->row)
        return l->row < r->row ? -1 : 1;
    if (l->waiter.ns != r->waiter.ns)
        return l->waiter.ns < r->waiter.ns ? 1 : -1;
    if (l->waiter.waits != r->waiter.waits)
        return l->waiter.waits < r->waiter.waits ? 1 : -1;
    return (l->waiter.stack > r->waiter.stack) - (l->waiter.stack < r->waiter.stack);
}

/* Ascending, as they are put in front of their lists one by one: the last one ends up first. */
static int locks_steps_by_time(const void *left, const void *right, void *context)
{
    const struct lock_step *steps = context;
    const struct lock_step *l = &steps[*(const uint32_t *)left];
    const struct lock_step *r = &steps[*(const uint32_t *)right];
    return l->holder.ns != r->holder.ns ? (l->holder.ns < r->holder.ns ? -1 : 1)
                                        : (l < r) - (l > r);
}

/* Links steps below their parents, the most time first: they are put in front, least first. */
static void locks_link_steps(struct locks_making *m)
{
    struct arena scratch = {0};
    size_t len = m->steps.len;
    uint32_t *order = ARENA_NEW(&scratch, uint32_t, len);
    for (uint32_t i = 1; i < len; i++)
        order[i] = i;
    qsort_r(order + 1, len - 1, sizeof *order, locks_steps_by_time, m->steps.at);
    for (size_t i = 1; i < len; i++) {
        struct lock_step *s = &m->steps.at[order[i]];
        uint32_t *first = s->parent ? &m->steps.at[s->parent].first : &m->rows.at[s->row].first;
        s->next = *first;
        *first = order[i];
    }
    arena_deinit(&scratch);
}

/* The steps of a row, depth first. Without recursion: down to the first child, else on to the
 * next of the nearest step that has one. */
static void locks_holders(struct locks_making *m, struct lock_making *of)
{
    VEC(struct lock_holder) list = {0};
    for (uint32_t at = of->first; at;) {
        vec_push(&list, m->steps.at[at].holder);
        uint32_t next = m->steps.at[at].first;
        for (; at && !next; at = m->steps.at[at].parent)
            next = m->steps.at[at].next;
        at = next;
    }
    struct lock_holder *kept = ARENA_NEW(m->arena, struct lock_holder, list.len + 1);
    if (list.len)
        memcpy(kept, list.at, list.len * sizeof *kept);
    of->row.holders = kept;
    of->row.holders_len = list.len;
    vec_free(&list);
}

/* All waiting of the chosen threads, and the part that was not inspected. Being ready is no
 * waiting, but the waits of chains last until the thread runs, so what it was ready for after them
 * is in both. */
static void locks_sum_waits(struct locks *out, const struct locks_input *in)
{
    const struct recording *r = in->recording;
    for (size_t i = 0; i < r->samples.len; i++) {
        const struct recording_sample *s = &r->samples.at[i];
        uint64_t address = r->nodes.at[s->node].address;
        if (!locks_takes(in, s->thread, s->node) || !recording_is_wait(r, s->node))
            continue;
        if (address == RECORDING_WAIT_READY) {
            out->ready_ns += s->weight;
            continue;
        }
        out->has_waits = true;
        out->waited_ns += s->weight;
        out->unseen_ns += address == RECORDING_WAIT_UNKNOWN ? s->weight : 0;
    }
}

bool locks_is_signalled(const struct lock_making *of)
{
    static const char OTHER[] = "anon_inode:"; /* eventfd, epoll and the like are files to /proc */
    uint32_t kind = KINDS[of->kind].kind;
    bool is_other = kind == RECORDING_RESOURCE_FILE && of->row.name &&
                    !strncmp(of->row.name, OTHER, sizeof OTHER - 1);
    return (is_other || kind == RECORDING_RESOURCE_FUTEX || kind == RECORDING_RESOURCE_PIPE ||
            kind == RECORDING_RESOURCE_SOCKET || kind == RECORDING_RESOURCE_SEVERAL) &&
           2 * of->row.held_ns < of->row.ns;
}

/* All that stays is copied into the arena, and the vectors are freed. Rows are sorted last:
 * `waiters` and `holders` are pointers, and move with them. */
void locks_make(struct locks *out, const struct locks_input *in, struct arena *a)
{
    struct locks_making m = {.in = in, .arena = a};
    *out = (struct locks){.summary = in->summary,
                          .names = in->names,
                          .is_io = in->is_io,
                          .has_waits = recording_covers_waits(in->recording)};
    vec_push(&m.steps, ((struct lock_step){0}));
    vec_push(&m.frames, ((struct lock_frame){NO_FUNCTION, 0}));
    locks_sum_waits(out, in);
    locks_find_same(&m);
    locks_number_names(&m);
    locks_add_chains(&m);
    locks_add_wakers(&m);
    locks_add_short_waits(&m, out);
    if (in->is_io)
        locks_add_transfers(&m, out);
    locks_link_steps(&m);
    struct lock *rows = ARENA_NEW(a, struct lock, m.rows.len + 1);
    struct lock_waiter *waiters = ARENA_NEW(a, struct lock_waiter, m.waiters.len + 1);
    size_t waiter = 0, transfer = 0;
    struct lock_transfer *transfers = ARENA_NEW(a, struct lock_transfer, m.transfers.len + 1);
    locks_sort_transfers(&m);
    locks_give_wakers(&m);
    if (m.waiters.len)
        qsort(m.waiters.at, m.waiters.len, sizeof *m.waiters.at, locks_waiters_by_time);
    for (uint32_t i = 0; i < m.rows.len; i++) {
        struct lock_making *of = &m.rows.at[i];
        bool has_holders = of->kind != SHORT_WAITS && of->row.held_ns < of->row.ns;
        of->row.unheld = has_holders ? KINDS[of->kind].unheld : NULL;
        locks_holders(&m, of);
        out->seen_ns += of->row.ns;
        of->row.waiters = waiters + waiter;
        for (; waiter < m.waiters.len && m.waiters.at[waiter].row == i; waiter++) {
            waiters[waiter] = m.waiters.at[waiter].waiter;
            of->row.waiters_len += waiters[waiter].ns || waiters[waiter].waits;
        }
        of->row.transfers = transfers + transfer;
        for (; transfer < m.transfers.len && m.transfers.at[transfer].row == i; transfer++) {
            transfers[transfer] = m.transfers.at[transfer].transfer;
            of->row.transfers_len += transfers[transfer].bytes > 0;
        }
        if (of->row.waiters_len ||
            of->row.transfers_len) /* others were over before they could be inspected */
            rows[out->len++] = of->row;
    }
    if (out->len)
        qsort(rows, out->len, sizeof *rows, locks_by_time);
    out->rows = rows;
    out->deadlocks = m.deadlocks;
    struct lock_stack *stacks = ARENA_NEW(a, struct lock_stack, m.stacks.len + 1);
    if (m.stacks.len)
        memcpy(stacks, m.stacks.at, m.stacks.len * sizeof *stacks);
    out->stacks = stacks;
    struct lock_frame *frames = ARENA_NEW(a, struct lock_frame, m.frames.len);
    memcpy(frames, m.frames.at, m.frames.len * sizeof *frames);
    out->frames = frames;
    vec_free(&m.stacks);
    vec_free(&m.frames);
    vec_free(&m.rows);
    vec_free(&m.steps);
    vec_free(&m.waiters);
    map_deinit(&m.frame_of);
    map_deinit(&m.same_stack);
    vec_free(&m.transfers);
    map_deinit(&m.transfer_of);
    map_deinit(&m.stack_of);
    map_deinit(&m.row_of);
    map_deinit(&m.step_of);
    map_deinit(&m.waiter_of);
}
