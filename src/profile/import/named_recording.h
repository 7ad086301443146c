/* Makes a run out of names: of other tools' data about functions without their code.
 *
 * Such an object is `is_listed`: its functions have addresses that stand for their names, the same
 * ones in every run, so that runs can be merged. Nothing is opened.
 *
 * An import begins a run, adds objects, frames and samples in whatever order its file has them,
 * and finishes it; only then is the run fit for recording_check(). Texts that are passed in are
 * copied unless it says otherwise: they may point into the file.
 *
 * What all imports of text share stands below: lines, words and numbers without copies, and the
 * fields of Protocol Buffers. */
#ifndef MONARC_PROFILE_IMPORT_NAMED_RECORDING_H
#define MONARC_PROFILE_IMPORT_NAMED_RECORDING_H

#include "base/bytes.h"
#include "base/err.h"
#include "base/map.h"
#include "profile/model/recording.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* A node and its hash; node 0 is a free slot. */
struct named_slot {
    uint32_t node, hash;
};

/* A line of a function that has an address of its own. */
struct named_line {
    uint32_t object, file, line;
    uint64_t function, address;
};

/* A function of an object, and its slot; NULL is a free one. */
struct named_name {
    uint32_t object;
    size_t len;
    char text[]; /* NUL-terminated */
};
struct named_slot_of_name {
    uint64_t address; /* in units of FUNCTION_BYTES */
    struct named_name *name;
};

/* A run in the making, and the tables by which its items are found again. Owns the tables; the run
 * is the caller's. */
struct named_run {
    struct recording *recording;
    struct intern paths;                   /* of objects, which stand in the run in this order */
    struct named_slot_of_name *name_slots; /* functions by object and address: open addressing */
    size_t name_mask;                      /* one less than there are slots */
    struct named_slot *node_slots; /* nodes by parent, object and address, of those that do not
                                    * follow their parent directly */
    size_t node_mask, node_used;   /* slots less one, and those in use */
    struct map thread_of;          /* pid, tid -> thread */
    struct map process_of;         /* pid -> process */
    struct map texts_lost;         /* hash of a loss's text -> its number */
    uint32_t cut;                  /* object, or RECORDING_NONE */
    uint64_t total;                /* of all weights */
    uint64_t room;                 /* bytes of a function */
    struct intern files;           /* of lines */
    struct map line_at;            /* object, address -> its number in `lines` */
    VEC(struct named_line) lines;
    VEC(char) key; /* of a function: name, NUL, file */
};

/* Begins with a root, in a zeroed run. Slices have a length of 1 ns: these files know no time.
 * With lines, functions have room for addresses of them. */
void named_run_begin(struct named_run *n, struct recording *out, bool has_lines);

/* Sorts symbols, finds the program of each process, adds up equal samples, and frees what the run
 * does not need. To be called after failure, too. */
void named_run_finish(struct named_run *n);

/* Objects by path, made when they are new; returns the number. The first is that of the program
 * unless threads say otherwise. */
uint32_t named_run_object(struct named_run *n, const char *path, size_t len);

/* The address that stands for a function: the same for equal names of one object. Adds a symbol if
 * the name is new. `len` is at least 1. */
uint64_t named_run_function(struct named_run *n, uint32_t object, const char *name, size_t len);

/* The same of a function of a file: functions of one name in several files are several. `file_len`
 * 0: it is not known. */
uint64_t named_run_function_in(struct named_run *n, uint32_t object, const char *name, size_t len,
                               const char *file, size_t file_len);

/* The address that stands for a line of a function; that of the function where there are too many.
 * For a run that began with lines. */
uint64_t named_run_line(struct named_run *n, uint32_t object, uint64_t function, const char *file,
                        size_t len, uint32_t line);

/* A frame within its caller's (RECORDING_ROOT: none); of a function without a name for `len` 0. */
uint32_t named_run_frame(struct named_run *n, uint32_t caller, uint32_t object, const char *name,
                         size_t len);

/* The same by the address that named_run_function() gave; 0 for a function without a name. Equal
 * frames below equal callers are one node. */
uint32_t named_run_node(struct named_run *n, uint32_t caller, uint32_t object, uint64_t address);

/* What stands outside of frames whose callers are not known. */
uint32_t named_run_cut(struct named_run *n, enum recording_cut why);

/* The event of that name, made with period 0 if it is new; returns its number. The first event is
 * the one that reports show. */
uint32_t named_run_event(struct named_run *n, const char *name, size_t len,
                         enum recording_event_unit unit);
/* The thread of those numbers, made with its process if it is new. Names are cut to what the kernel
 * keeps of them. */
uint32_t named_run_thread(struct named_run *n, uint32_t pid, uint32_t tid, const char *name,
                          size_t len);

/* The command of the first process, where it is known late. There must be a thread already. */
void named_run_name_process(struct named_run *n, const char *name, size_t len);

/* `weight` also says how many samples that are, with `count` 0. false: the weights have no sum any
 * more. */
bool named_run_sample(struct named_run *n, uint32_t thread, uint32_t event, uint32_t node,
                      uint64_t weight, uint64_t count);

/* Calls from a line of one function to another function; `from_object` RECORDING_NONE for none. */
void named_run_calls(struct named_run *n, uint32_t from_object, uint64_t from, uint32_t object,
                     uint64_t self, uint64_t count);

/* What has no place in the run; sums up. The text lives as long as the program. */
void named_run_lose(struct named_run *n, const char *text, uint64_t count);

/* ---- Profiles that name functions: each is two functions of the table of imports (import.h).
 */

#define NO_TEXT "is not text: there is a NUL byte in it"
#define NO_SUM  "the numbers are too large to be added up"

bool folded_probe(struct bytes first);
MUST_CHECK bool folded_read(struct bytes in, const char *name, struct recording *out,
                            struct err *e);

bool perf_script_probe(struct bytes first);
MUST_CHECK bool perf_script_read(struct bytes in, const char *name, struct recording *out,
                                 struct err *e);

bool callgrind_probe(struct bytes first);
MUST_CHECK bool callgrind_read(struct bytes in, const char *name, struct recording *out,
                               struct err *e);

/* Has addresses in files, which it opens; gperftools_take() does not, if an option says so. */
bool gperftools_probe(struct bytes first);
MUST_CHECK bool gperftools_read(struct bytes in, const char *name, struct recording *out,
                                struct err *e);
MUST_CHECK bool gperftools_take(struct bytes in, const char *name, bool opens_no_files,
                                struct recording *out, struct err *e);

/* Likewise, of profiles without functions. */
bool pprof_probe(struct bytes first);
MUST_CHECK bool pprof_read(struct bytes in, const char *name, struct recording *out, struct err *e);
MUST_CHECK bool pprof_take(struct bytes in, const char *name, bool opens_no_files,
                           struct recording *out, struct err *e);

/* ---- A text file line by line, without copies. */

struct text_lines {
    const char *at, *end;
    uint64_t number; /* of the line that was taken last, from 1 */
};

/* [at, end), without the line's end. */
struct text_span {
    const char *at, *end;
};

/* Names end in NUL in memory: there must be none within. */
static inline bool text_is_text(struct bytes b)
{
    return !b.len || !memchr(b.at, 0, b.len);
}

/* Lines over bytes that may be empty, and NULL then. */
static inline struct text_lines text_lines_over(struct bytes b)
{
    const char *at = b.at ? (const char *)b.at : "";
    return (struct text_lines){at, at + b.len, 0};
}

/* Takes the next line, which may be empty; false at the end. A last line needs no newline, and a
 * line that ends in CR LF loses both. */
static inline bool text_lines_take(struct text_lines *t, struct text_span *out)
{
    if (t->at == t->end)
        return false;
    const char *newline = memchr(t->at, '\n', (size_t)(t->end - t->at));
    out->at = t->at;
    out->end = newline ? newline : t->end;
    t->at = newline ? newline + 1 : t->end;
    t->number++;
    if (out->end > out->at && out->end[-1] == '\r')
        out->end--;
    return true;
}

static inline size_t text_len(struct text_span s)
{
    return (size_t)(s.end - s.at);
}

/* Without blanks at either end. */
static inline struct text_span text_trimmed(struct text_span s)
{
    while (s.at < s.end && (*s.at == ' ' || *s.at == '\t'))
        s.at++;
    while (s.at < s.end && (s.end[-1] == ' ' || s.end[-1] == '\t'))
        s.end--;
    return s;
}

static inline bool text_begins(struct text_span s, const char *prefix)
{
    size_t len = strlen(prefix);
    return text_len(s) >= len && !memcmp(s.at, prefix, len);
}

/* Takes decimal digits from the front; false: there are none, or they are no 64-bit number. */
static inline bool text_take_u64(struct text_span *s, uint64_t *out)
{
    const char *start = s->at;
    uint64_t value = 0;
    for (; s->at < s->end && *s->at >= '0' && *s->at <= '9'; s->at++)
        if (__builtin_mul_overflow(value, 10, &value) ||
            __builtin_add_overflow(value, (uint64_t)(*s->at - '0'), &value))
            return false;
    *out = value;
    return s->at > start;
}

/* The last word, taken from the end; what stands in front of it loses its blanks. */
static inline struct text_span text_take_last_word(struct text_span *s)
{
    *s = text_trimmed(*s);
    const char *at = s->end;
    while (at > s->at && at[-1] != ' ' && at[-1] != '\t')
        at--;
    struct text_span word = {at, s->end};
    s->end = at;
    *s = text_trimmed(*s);
    return word;
}

#endif
