/* Shared by the files of the parser of events.
 *
 *     events.c        the text of a list: words, modifiers, terms, breakpoints; whether an event is
 * to be had, and why not events_sysfs.c  units and tracepoints, which the kernel describes in files
 *     events_list.c   the kernel's general events and cache events, by name; what is to be had here
 *
 * Words point into the user's text; what is kept is copied into an arena. */
#ifndef MONARC_RECORD_PERF_EVENTS_PRIVATE_H
#define MONARC_RECORD_PERF_EVENTS_PRIVATE_H

#include "record/perf/events.h"

#include <linux/perf_event.h>

/* A piece of the text that is parsed. */
struct event_word {
    const char *at;
    size_t len;
};

static inline bool event_word_is(struct event_word w, const char *text)
{
    return strlen(text) == w.len && !memcmp(w.at, text, w.len);
}

/* The word before the first of `ends` in *rest, which moves past it; *end is the character found,
 * or 0. */
struct event_word event_word_until(struct event_word *rest, const char *ends, char *end);

/* Whether a word can be the name of a file in the folders of events. */
bool event_word_is_name(struct event_word w);

/* A whole number, decimal or with 0x; false: it is none, or beyond 64 bits. */
bool event_number(struct event_word w, uint64_t *out);

/* --- general events: events_list.c ----------------------------------------------------------- */

/* Events of the kernel's own lists, of caches, and rNNN. */
bool event_general(struct event_word name, struct event_choice *c);
bool event_raw(struct event_word name, struct event_choice *c);

/* --- events of files: events_sysfs.c ---------------------------------------------------------- */

/* The content of a small file without its newline; else false with errno. */
enum { EVENT_FILE_BYTES = 4096 };
bool event_file(const char *path, char *text);

/* /sys/bus/event_source/devices/UNIT REST, below the root. */
char *event_unit_path(struct arena *a, const char *root, const char *unit, const char *rest);

/* Whether a unit of this name is there. */
bool event_has_unit(struct arena *a, const char *root, struct event_word unit);

/* Whether a file in a unit's `events` is an event, and not the scale of one. */
bool event_is_event_file(const char *name);

/* An event of a unit by its terms. For example `event=0x3c,umask=1`; the unit's type and formats
 * are read from its files. */
bool event_of_unit(struct arena *a, const char *root, struct event_word unit,
                   struct event_word terms, struct event_choice *c, struct err *e);

/* An event of any unit by its name alone: 1 found, 0 none, -1 with *e set. */
int event_of_any_unit(struct arena *a, const char *root, struct event_word name,
                      struct event_choice *c, struct err *e);

/* `period` and `name`, which any event takes; *is_taken says whether it was one of these. */
bool event_common_term(struct arena *a, struct event_word key, struct event_word value,
                       struct event_choice *c, bool *is_taken, struct err *e);

bool event_tracepoint(struct arena *a, const char *root, struct event_word group,
                      struct event_word name, struct event_choice *c, struct err *e);

/* The first folder of tracepoints that is there; NULL with errno. */
char *event_tracing_path(struct arena *a, const char *root);

#endif
