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

#include "base/arena.h"
#include "base/map.h"
#include "base/path.h"
#include "base/vec.h"
#include "objfile/object.h"
#include "profile/analysis/summary.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* The errors of the parts of a whole that were divided by looks or samples.
 *
 * What a look saw counts for all around it. An amount a that belongs to one part as a whole, by
 * chance, with probability p for that part, has the variance a^2 p (1 - p). p is what the part has
 * of the squares of all such amounts of the same thread, and the variance is summed as it was seen
 * (Cochran, Sampling Techniques, 1977, chapter 3):
 *
 *     sum over amounts of the part of a^2 (1 - p)^2  +  sum over all others of a^2 p^2
 *
 * To that comes what is known to be uncertain whatever p is. Amounts of different threads are drawn
 * apart from each other, and their variances add up; but threads that wait for one lock at the same
 * time share the looks at its holder, and an error is then the same for all of them: errors are
 * added up rather than their squares. That is too wide where they waited at different times, and
 * never too narrow. */

enum { NO_PART = UINT32_MAX };

struct part_error {
    uint32_t part, whole, thread;
    double fixed, drawn;
};

/* A zeroed one is empty. */
struct part_errors {
    VEC(struct part_error) all;
    VEC(double) drawn; /* by whole and thread */
    struct map of, drawn_of;
};

/* As part_errors_add(), for a part that has parts itself, to one of which it was added. */
static void part_errors_add_part(struct part_errors *e, uint32_t whole, uint32_t part,
                                 uint32_t thread, double fixed, double drawn)
{
    bool is_new;
    uint32_t at = map_index(&e->of, part, map_two(whole, thread), e->all.len, &is_new);
    if (is_new)
        vec_push(&e->all, ((struct part_error){part, whole, thread, 0, 0}));
    e->all.at[at].fixed += fixed;
    e->all.at[at].drawn += drawn;
}

/* Adds what was seen of a thread: `fixed` is variance; `drawn` is the squares of amounts of which
 * each was given to one part of the whole by chance. NO_PART: to no requested part. */
static void part_errors_add(struct part_errors *e, uint32_t whole, uint32_t part, uint32_t thread,
                            double fixed, double drawn)
{
    bool is_new;
    uint32_t all = map_index(&e->drawn_of, whole, thread, e->drawn.len, &is_new);
    if (is_new)
        vec_push(&e->drawn, 0.0);
    e->drawn.at[all] += drawn;
    if (part != NO_PART)
        part_errors_add_part(e, whole, part, thread, fixed, drawn);
}

/* Half the 95 % interval of each part, into out[0, len); 0: exact, or nothing is known. is_shared:
 * threads saw the same, so that their errors have one sign. */
static void part_errors_sum(const struct part_errors *e, bool is_shared, double *out, size_t len)
{
    static const double SURE = 1.96; /* standard deviations */
    for (size_t i = 0; i < len; i++)
        out[i] = 0;
    for (size_t i = 0; i < e->all.len; i++) {
        const struct part_error *one = &e->all.at[i];
        const uint32_t *found = map_find(&e->drawn_of, one->whole, one->thread);
        double all = found ? e->drawn.at[*found] : 0, p = all > 0 ? one->drawn / all : 0;
        double variance = one->fixed + one->drawn * (1 - p) * (1 - p) + (all - one->drawn) * p * p;
        out[one->part] += is_shared ? SURE * sqrt(variance) : SURE * SURE * variance;
    }
    for (size_t i = 0; i < len && !is_shared; i++)
        out[i] = sqrt(out[i]);
}

static void part_errors_deinit(struct part_errors *e)
{
    vec_free(&e->all);
    vec_free(&e->drawn);
    map_deinit(&e->of);
    map_deinit(&e->drawn_of);
    *e = (struct part_errors){0};
}

enum { NO_ROW = UINT32_MAX, SHORT_WAITS = UINT32_MAX - 1 };

/* A row, and the steps below rows, while they are made. */
struct lock_making {
    struct lock row;
    uint32_t kind;  /* of locks.c's KINDS, or SHORT_WAITS */
    uint32_t first; /* step; 0: none */
};

/* Links are numbers, as the vector of steps moves when it grows. Step 0 is no step: its time is
 * that of all, and is not read. */
struct lock_step {
    struct lock_holder holder;
    uint32_t row, parent; /* parent 0: none */
    uint32_t first, next; /* children, and siblings, by time; 0: none */
};

/* A stack that read or wrote, and in which row. */
struct lock_transferring {
    struct lock_transfer transfer;
    uint32_t row;
};

/* Who ended waits, and for which row. */
struct lock_waking {
    struct lock_waker waker;
    uint32_t row;
};

/* A stack that waited, and for which row. */
struct lock_waiting {
    struct lock_waiter waiter;
    uint32_t row;
};

/* Maps lead from what makes things equal to their numbers: a row's kind and name, a step's
 * parent and stack, a waiter's row and stack. */
struct locks_making {
    const struct locks_input *in;
    struct arena *arena;
    VEC(struct lock_stack) stacks;
    VEC(struct lock_making) rows;
    VEC(struct lock_step) steps; /* [0] is none */
    VEC(struct lock_waiting) waiters;
    VEC(struct lock_transferring) transfers;
    VEC(struct lock_waking) wakers;
    VEC(struct lock_frame) frames; /* [0] is none */
    struct map frame_of;           /* caller and function -> frame */
    struct map same_stack;         /* innermost frame and call -> stack */
    uint32_t *twin;                /* resource -> how many of its name are before it */
    uint32_t *same;                /* resource -> one at the same place that says more, or itself */
    struct map stack_of;           /* node -> stack */
    struct map row_of, step_of, waiter_of, transfer_of;
    uint32_t deadlocks;
};

/* Whether a thread's waits and bytes in a stack are wanted; those of unknown threads always are. */
static inline bool locks_takes(const struct locks_input *in, uint32_t thread, uint32_t node)
{
    bool is_there = !in->nodes || (node != RECORDING_NONE && in->nodes[node]);
    return is_there &&
           (thread == RECORDING_NONE || !in->choice->threads || in->choice->threads[thread]);
}

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

/* The stack of a node, equal ones with equal numbers; RECORDING_NONE for the root. */
static uint32_t locks_stack(struct locks_making *m, uint32_t node)
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

/* Who waits, for people: the innermost function that is none of a library. Only if there is
 * none, the innermost at all: a row must have some name. */
static uint32_t locks_function(const struct locks_making *m, uint32_t stack)
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

static uint32_t locks_row_with(struct locks_making *m, uint32_t resource, uint32_t stack,
                               uint32_t thing)
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

/* The row of a resource that is waited for in a stack, or of all without a name there, in which
 * `thing` is one more. */
static uint32_t locks_row(struct locks_making *m, uint32_t resource, uint32_t stack)
{
    return locks_row_with(m, resource, stack, resource);
}

/* The waiter of a row in a stack, made if there is none: its number. */
static uint32_t locks_waiter(struct locks_making *m, uint32_t row, uint32_t stack)
{
    bool is_new;
    uint32_t waiter = map_index(&m->waiter_of, row, stack, m->waiters.len, &is_new);
    if (is_new)
        vec_push(&m->waiters, ((struct lock_waiting){{.stack = stack}, row}));
    return waiter;
}

/* Whether some thread ends waits for it that does not hold it, as far as was seen. */
static bool locks_is_signalled(const struct lock_making *of)
{
    static const char OTHER[] = "anon_inode:"; /* eventfd, epoll and the like are files to /proc */
    uint32_t kind = KINDS[of->kind].kind;
    bool is_other = kind == RECORDING_RESOURCE_FILE && of->row.name &&
                    !strncmp(of->row.name, OTHER, sizeof OTHER - 1);
    return (is_other || kind == RECORDING_RESOURCE_FUTEX || kind == RECORDING_RESOURCE_PIPE ||
            kind == RECORDING_RESOURCE_SOCKET || kind == RECORDING_RESOURCE_SEVERAL) &&
           2 * of->row.held_ns < of->row.ns;
}

/* ---- Waits that were over before they could be inspected, as most below 2 ms are.
 *
 * Switches show how long a thread was off its CPU, and samples in which call and stack; what it
 * waited for is unknown. What the samples of a stack have beyond the chains that began in it is a
 * row for the function that waits, or, of functions with next to nothing, in one row for all:
 *
 *     samples in  write < save    1.03 s
 *     chains from write < save    0.12 s, in 19 waits    row of the file
 *     short waits in save         0.91 s                 row without holders
 *
 * Chains last until the thread has a CPU again, and samples until it could have one. So this is the
 * least that there was. */

/* By their numbers' names, since each kind of machine has others: calls by which threads and
 * processes wait for each other or for a time. All others are those of files and devices. */
static bool short_is_of_threads(const char *call)
{
    static const char *const OF_THREADS[] = {
        "futex",         "futex_waitv",     "futex_wait",      "wait4", "waitid",
        "waitpid",       "nanosleep",       "clock_nanosleep", "pause", "flock",
        "rt_sigsuspend", "rt_sigtimedwait", "sigsuspend",      "semop", "semtimedop"};
    for (size_t i = 0; i < sizeof OF_THREADS / sizeof *OF_THREADS; i++)
        if (!strcmp(call, OF_THREADS[i]))
            return true;
    return false;
}

static bool short_is_wanted(const struct locks_making *m, uint32_t stack)
{
    const char *call = stack == RECORDING_NONE ? NULL : m->stacks.at[stack].call;
    return call && *call && short_is_of_threads(call) != m->in->is_io;
}

/* Time waited by stack, and of that what chains have not; both as sums, since neither alone says
 * which wait it was. *left: the same of all waiting, and of being ready, which chains may last for:
 * what of it chains have is taken away. */
static uint64_t *short_times(struct locks_making *m, struct arena *scratch, uint64_t *left)
{
    const struct recording *r = m->in->recording;
    for (size_t i = 0; i < r->samples.len; i++)
        if (recording_is_wait(r, r->samples.at[i].node))
            locks_stack(m, r->samples.at[i].node);
    for (size_t i = 0; i < r->links.len; i++)
        locks_stack(m, r->links.at[i].node);
    uint64_t *ns = ARENA_NEW(scratch, uint64_t, m->stacks.len + 1);
    for (size_t i = 0; i < r->samples.len; i++) {
        const struct recording_sample *s = &r->samples.at[i];
        uint64_t address = r->nodes.at[s->node].address;
        if (recording_is_wait(r, s->node) && locks_takes(m->in, s->thread, s->node) &&
            address != RECORDING_WAIT_READY && address != RECORDING_WAIT_UNKNOWN)
            ns[locks_stack(m, s->node)] += s->weight;
    }
    /* Links are in the order of the file: the time of a chain stands at its last one. */
    uint32_t *from = ARENA_NEW(scratch, uint32_t, r->links.len + 1);
    for (size_t i = 0; i < r->links.len; i++) {
        const struct recording_link *w = &r->links.at[i];
        bool is_first = w->parent == RECORDING_NONE;
        from[i] = !is_first                                ? from[w->parent]
                  : locks_takes(m->in, w->thread, w->node) ? locks_stack(m, w->node)
                                                           : RECORDING_NONE;
        if (from[i] == RECORDING_NONE)
            continue;
        ns[from[i]] -= w->ns < ns[from[i]] ? w->ns : ns[from[i]];
        *left -= w->ns < *left ? w->ns : *left;
    }
    return ns;
}

/* The row of a function, or of all that have too little. */
static uint32_t short_row(struct locks_making *m, uint32_t function)
{
    bool is_new;
    uint32_t row =
        map_index(&m->row_of, map_two(SHORT_WAITS, false), function, m->rows.len, &is_new);
    if (is_new)
        vec_push(&m->rows,
                 ((struct lock_making){.kind = SHORT_WAITS,
                                       .row = {.kind = "short waits", .function = function}}));
    return row;
}

/* Rows for waits that were over before they could be inspected; `out` has the sums of all waits. */
static void locks_add_short_waits(struct locks_making *m, const struct locks *out)
{
    const double least_named = 0.01; /* of all that there are */
    struct arena scratch = {0};
    uint64_t left = out->waited_ns + out->ready_ns, *ns = short_times(m, &scratch, &left);
    size_t stacks = m->stacks.len;
    /* A damaged file may have chains that its samples do not know: no more than there is. */
    for (size_t i = 0; i < stacks; i++) {
        ns[i] = ns[i] < left ? ns[i] : left;
        left -= ns[i];
    }
    struct map function_of = {0};
    uint64_t *by_function = ARENA_NEW(&scratch, uint64_t, stacks + 1), all = 0;
    uint32_t *number = ARENA_NEW(&scratch, uint32_t, stacks + 1), functions = 0;
    for (uint32_t i = 0; i < stacks; i++) {
        bool is_new;
        if (!ns[i] || !short_is_wanted(m, i))
            continue;
        number[i] = map_index(&function_of, locks_function(m, i), 0, functions, &is_new);
        functions += is_new;
        by_function[number[i]] += ns[i];
        all += ns[i];
    }
    for (uint32_t i = 0; i < stacks; i++) {
        if (!ns[i] || !short_is_wanted(m, i))
            continue;
        bool is_named = (double)by_function[number[i]] >= least_named * (double)all;
        uint32_t row = short_row(m, is_named ? locks_function(m, i) : NO_FUNCTION);
        uint32_t waiter = locks_waiter(m, row, i);
        m->rows.at[row].row.ns += ns[i];
        m->waiters.at[waiter].waiter.ns += ns[i];
    }
    map_deinit(&function_of);
    arena_deinit(&scratch);
}

/* ---- Who ended waits, for what no thread holds: condition variables, semaphores, pipes, eventfd.
 *
 * The kernel reports who wakes a thread (record/perf/perf_wakes.c), but not what the wait was for;
 * chains know that, but not who ended it. They meet in the stack that waited:
 *
 *     chains from  cond_wait < consumer         row of the condition variable
 *     waits in     cond_wait < consumer         woken by thread 7, 40 times, 0.9 s
 *
 * A stack that waited for several things gives none of them wakers. Its short waits, which have a
 * row of their own, are included: so wakers may have more time than the row, and their shares of
 * each other are what counts. Rows whose holder was seen have no need of them.
 *
 * A waker has no stack. For people it is the function that its thread began with, and threads that
 * began with the same one are one waker. */

enum { SEVERAL_ROWS = UINT32_MAX - 1 };

/* By thread, the function in which it was most of its time, outermost; of threads that woke others
 * alone, since it takes a walk up their stacks. */
static uint32_t *wakers_functions(struct locks_making *m, struct arena *scratch)
{
    const struct recording *r = m->in->recording;
    uint32_t *function = ARENA_NEW(scratch, uint32_t, r->threads.len + 1);
    uint64_t *most = ARENA_NEW(scratch, uint64_t, r->threads.len + 1);
    bool *is_waker = ARENA_NEW(scratch, bool, r->threads.len + 1);
    struct map of = {0}; /* thread and function -> index in `ns` */
    VEC(uint64_t) ns = {0};
    for (size_t i = 0; i < r->threads.len; i++)
        function[i] = NO_FUNCTION;
    for (size_t i = 0; i < r->waits.len; i++)
        if (r->waits.at[i].woken >= RECORDING_WAKER_SOFT)
            is_waker[r->waits.at[i].waker] = true;
    for (size_t i = 0; i < r->samples.len; i++) {
        const struct recording_sample *s = &r->samples.at[i];
        uint32_t stack = is_waker[s->thread] ? locks_stack(m, s->node) : RECORDING_NONE;
        uint32_t frame = stack == RECORDING_NONE ? 0 : m->stacks.at[stack].frame;
        bool is_new;
        if (!frame)
            continue;
        /* Outside of it are the library's functions alone, which locks_stack() has left out. */
        while (m->frames.at[frame].caller)
            frame = m->frames.at[frame].caller;
        uint32_t began = m->frames.at[frame].function;
        uint32_t at = map_index(&of, s->thread, began, ns.len, &is_new);
        if (is_new)
            vec_push(&ns, 0);
        ns.at[at] += s->weight;
        if (ns.at[at] < most[s->thread])
            continue;
        most[s->thread] = ns.at[at];
        function[s->thread] = began;
    }
    map_deinit(&of);
    vec_free(&ns);
    return function;
}

static void locks_add_wakers(struct locks_making *m)
{
    const struct recording *r = m->in->recording;
    struct arena scratch = {0};
    struct map waker_of = {0}, seen = {0};
    bool has_wakers = false;
    for (size_t i = 0; i < r->waits.len; i++)
        has_wakers |= r->waits.at[i].woken != RECORDING_WAKER_UNKNOWN;
    if (!has_wakers)
        return;
    /* Stacks first: they are not known by number before. */
    for (size_t i = 0; i < r->waits.len; i++)
        if (r->waits.at[i].node != RECORDING_NONE)
            locks_stack(m, r->waits.at[i].node);
    uint32_t *function = wakers_functions(m, &scratch);
    uint32_t *row_of = ARENA_NEW(&scratch, uint32_t, m->stacks.len + 1);
    for (size_t i = 0; i < m->stacks.len; i++)
        row_of[i] = NO_ROW;
    for (size_t i = 0; i < m->waiters.len; i++) {
        const struct lock_waiting *w = &m->waiters.at[i];
        uint32_t *of = w->waiter.stack < m->stacks.len ? &row_of[w->waiter.stack] : NULL;
        if (of) /* the root has no stack */
            *of = *of == NO_ROW || *of == w->row ? w->row : SEVERAL_ROWS;
    }
    for (size_t i = 0; i < r->waits.len; i++) {
        const struct recording_wait *w = &r->waits.at[i];
        uint32_t stack = w->node == RECORDING_NONE ? RECORDING_NONE : locks_stack(m, w->node);
        uint32_t row = stack == RECORDING_NONE ? NO_ROW : row_of[stack];
        bool is_thread = w->woken >= RECORDING_WAKER_SOFT, is_new;
        if (row >= SEVERAL_ROWS || !locks_takes(m->in, w->thread, w->node) ||
            !locks_is_signalled(&m->rows.at[row]))
            continue;
        uint32_t began = is_thread ? function[w->waker] : NO_FUNCTION;
        /* Of what no function is known, each thread is one. */
        uint64_t who = !is_thread             ? 0
                       : began == NO_FUNCTION ? map_two(1, w->waker)
                                              : map_two(2, began);
        uint32_t waker = map_index(&waker_of, map_two(row, w->woken), who, m->wakers.len, &is_new);
        const struct recording_thread *t = is_thread ? &r->threads.at[w->waker] : NULL;
        if (is_new)
            vec_push(&m->wakers, ((struct lock_waking){{.woken = w->woken,
                                                        .function = began,
                                                        .tid = t ? t->tid : 0,
                                                        .thread = t ? t->name : NULL},
                                                       row}));
        struct lock_waker *of = &m->wakers.at[waker].waker;
        map_at(&seen, waker, w->waker, 0, &is_new);
        of->threads += is_thread && is_new;
        of->tid = t && of->tid == t->tid ? of->tid : 0;
        of->waits++;
        of->ns += w->length_ns;
    }
    map_deinit(&waker_of);
    map_deinit(&seen);
    arena_deinit(&scratch);
}

/* By row, then time, then the thread's number: those of a row become one stretch. */
static int wakers_by_time(const void *left, const void *right)
{
    const struct lock_waking *l = left, *r = right;
    if (l->row != r->row)
        return l->row < r->row ? -1 : 1;
    if (l->waker.ns != r->waker.ns)
        return l->waker.ns < r->waker.ns ? 1 : -1;
    return (l->waker.tid > r->waker.tid) - (l->waker.tid < r->waker.tid);
}

/* Rows of which nothing is known but that waits ended have no wakers. */
static void locks_give_wakers(struct locks_making *m)
{
    struct lock_waker *kept = ARENA_NEW(m->arena, struct lock_waker, m->wakers.len + 1);
    if (m->wakers.len)
        qsort(m->wakers.at, m->wakers.len, sizeof *m->wakers.at, wakers_by_time);
    for (size_t i = 0, next; i < m->wakers.len; i = next) {
        struct lock *row = &m->rows.at[m->wakers.at[i].row].row;
        bool is_known = false;
        for (next = i; next < m->wakers.len && m->wakers.at[next].row == m->wakers.at[i].row;
             next++) {
            kept[next] = m->wakers.at[next].waker;
            is_known |= kept[next].woken != RECORDING_WAKER_UNKNOWN;
        }
        row->wakers = kept + i;
        row->wakers_len = is_known ? next - i : 0;
    }
    vec_free(&m->wakers);
}

/* ---- What was read from files and written to them, as rows and stacks of the table of files.
 *
 * The recorder has shared out the growth of each thread's account among the calls that it saw
 * (record/waits/waits_io.c). Here they are added up by file and stack, with the error of drawing.
 */

/* A call that was seen stands for those beside it that were not: of many small files a few are seen
 * once or twice each, with the bytes of all. */
enum { CALLS_TO_BE_NAMED = 5 };

/* The row of what was transferred; `seen`: the calls of each row of a named thing. */
static uint32_t locks_transfer_row(struct locks_making *m, const struct recording_transfer *t,
                                   uint32_t stack, const uint64_t *seen)
{
    uint32_t row = locks_row(m, t->resource, stack);
    bool is_file = t->resource != RECORDING_NONE &&
                   m->in->recording->resources.at[t->resource].kind == RECORDING_RESOURCE_FILE;
    if (!is_file || !m->rows.at[row].row.name || seen[row] >= CALLS_TO_BE_NAMED)
        return row;
    row = locks_row_with(m, RECORDING_NONE, stack, t->resource);
    m->rows.at[row].row.is_seldom = true;
    return row;
}

/* By row. There are no more rows than there were and one for each of these. */
static uint64_t *locks_seen_calls(struct locks_making *m, struct arena *scratch)
{
    const struct recording *r = m->in->recording;
    uint64_t *seen = ARENA_NEW(scratch, uint64_t, m->rows.len + r->transfers.len + 1);
    for (size_t i = 0; i < r->transfers.len; i++) {
        const struct recording_transfer *t = &r->transfers.at[i];
        if (locks_takes(m->in, t->thread, t->node))
            seen[locks_row(m, t->resource, locks_stack(m, t->node))] += t->calls;
    }
    return seen;
}

/* Wholes are the two directions, and what samples stand for is drawn. Each stack gets the variance
 * of one sample more: where it begins and ends may lie between samples. */
static void locks_add_transfer_error(struct part_errors *errors, uint32_t row,
                                     const struct recording_transfer *t)
{
    double drawn = (double)t->squares, one = t->calls ? drawn / (double)t->calls : 0;
    part_errors_add(&errors[t->is_write], 0, row, t->thread, one, drawn);
}

/* Errors are of kB^2. Programs of known truth scatter by half as much again as drawing explains
 * (bench/wall-time); why is not known. What was transferred in all is: a row has no more than that
 * and no less than nothing. */
static void locks_sum_transfer_errors(struct locks_making *m, struct part_errors *errors,
                                      const uint64_t all[2])
{
    struct arena scratch = {0};
    const double kilo = 1000, uneven = 1.5;
    double *widths = ARENA_NEW(&scratch, double, m->rows.len + 1);
    for (int is_write = 0; is_write < 2; is_write++) {
        part_errors_sum(&errors[is_write], false, widths, m->rows.len);
        for (size_t i = 0; i < m->rows.len; i++) {
            struct lock *of = &m->rows.at[i].row;
            uint64_t bytes = is_write ? of->written : of->read, others = all[is_write] - bytes;
            double farthest = (double)(bytes > others ? bytes : others);
            double error = kilo * uneven * widths[i];
            *(is_write ? &of->written_error : &of->read_error) =
                error < farthest ? error : farthest;
        }
        part_errors_deinit(&errors[is_write]);
    }
    arena_deinit(&scratch);
}

static void locks_add_transfers(struct locks_making *m, struct locks *out)
{
    const struct recording *r = m->in->recording;
    struct arena scratch = {0};
    const uint64_t *seen = locks_seen_calls(m, &scratch);
    struct part_errors errors[2] = {0};
    for (size_t i = 0; i < r->transferred.len; i++) {
        const struct recording_transferred *all = &r->transferred.at[i];
        out->has_total = true;
        out->total.read += all->read;
        out->total.written += all->written;
        out->total.read_calls += all->read_calls;
        out->total.write_calls += all->write_calls;
        out->total.disk_read += all->disk_read;
        out->total.disk_written += all->disk_written;
    }
    for (size_t i = 0; i < r->transfers.len; i++) {
        const struct recording_transfer *t = &r->transfers.at[i];
        bool is_new;
        if (!locks_takes(m->in, t->thread, t->node))
            continue;
        uint32_t stack = locks_stack(m, t->node), row = locks_transfer_row(m, t, stack, seen);
        uint32_t at =
            map_index(&m->transfer_of, map_two(row, t->is_write), stack, m->transfers.len, &is_new);
        if (is_new)
            vec_push(&m->transfers,
                     ((struct lock_transferring){{.stack = stack, .is_write = t->is_write}, row}));
        struct lock_transfer *one = &m->transfers.at[at].transfer;
        struct lock *of = &m->rows.at[row].row;
        one->calls += t->calls;
        one->bytes += t->bytes;
        one->disk_bytes += t->disk_bytes;
        *(t->is_write ? &of->written : &of->read) += t->bytes;
        *(t->is_write ? &of->disk_written : &of->disk_read) += t->disk_bytes;
        *(t->is_write ? &out->placed_written : &out->placed_read) += t->bytes;
        locks_add_transfer_error(errors, row, t);
    }
    locks_sum_transfer_errors(m, errors, (uint64_t[]){out->placed_read, out->placed_written});
    arena_deinit(&scratch);
}

/* By row first, as waiters are. */
static int locks_transfers_by_bytes(const void *left, const void *right)
{
    const struct lock_transferring *l = left, *r = right;
    if (l->row != r->row)
        return l->row < r->row ? -1 : 1;
    if (l->transfer.bytes != r->transfer.bytes)
        return l->transfer.bytes < r->transfer.bytes ? 1 : -1;
    if (l->transfer.is_write != r->transfer.is_write)
        return l->transfer.is_write ? 1 : -1;
    return (l->transfer.stack > r->transfer.stack) - (l->transfer.stack < r->transfer.stack);
}

static void locks_sort_transfers(struct locks_making *m)
{
    if (m->transfers.len)
        qsort(m->transfers.at, m->transfers.len, sizeof *m->transfers.at, locks_transfers_by_bytes);
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
