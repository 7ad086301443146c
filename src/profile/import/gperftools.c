/* The formats of gperftools, which pprof read before profile.proto: CPU profiles, heap profiles
 * (jemalloc's too) and contention profiles. Threads, Java's and Go's text forms are refused by
 * name.
 *
 *     CPU          words of the machine: 0, 3, 0, period in us, 0; then stacks: how often, how many
 *                  addresses, addresses, innermost first; 0, 1, 0 ends them. /proc/self/maps
 * follows heap         heap profile: 3: 262144 [8: 1024] @ heap_v2/524288 1: 1024 [2: 2048] @
 * 0x40bc12 0x40bd31      objects: bytes in use [allocated] MAPPED_LIBRARIES: and /proc/self/maps
 *     jemalloc     heap_v2/524288, then stacks: a line "@ 0x...", and "t*: 1: 1024 [0: 0]" below it
 *     contention   --- contention: with "cycles/second = N", "sampling period = N"
 *                  19490304 27 @ 0x40bc12 0x40bd31             cycles, how often
 *
 * Addresses become functions through the files that were mapped, by the collector of our own
 * recordings. Heap profiles of version 2 are samples of allocations: one of SIZE bytes was taken
 * with a probability of 1 - exp(-SIZE / RATE), by which numbers are divided, as pprof does.
 *
 * Refused: stacks that end beyond the file, and numbers whose sum exceeds 64 bits. Lines that are
 * none of this are counted as lost. Linear in the bytes; a stack has at most 4,096 frames.
 * Source: gperftools, docs/cpuprofile-fileformat.html and heapprofile.html; google/pprof,
 * profile/legacy_profile.go, for what its writers made of them. */
#include "profile/import/named_recording.h"

#include "base/path.h"
#include "record/collector.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

enum { MOST_FRAMES = 4096, PID = 1, MOST_EVENTS = 4 };

/* The beginnings of files, and messages about those that are not read. */
enum legacy_kind { LEGACY_NONE, LEGACY_CPU, LEGACY_HEAP, LEGACY_JEMALLOC, LEGACY_CONTENTION };

#define LOST_LINES "lines that are neither a stack, nor a setting, nor a mapping"
#define NO_MAPS    "the file does not say what was mapped where: its addresses have no names"

/* What was read so far. The stack in hand is `frames`, innermost first. */
struct legacy {
    const char *name;
    enum legacy_kind kind;
    struct cursor words; /* CPU: after the header */
    struct collector *collector;
    uint64_t frames[MOST_FRAMES];
    uint32_t len;
    bool is_cut, has_maps, has_all; /* has_all: allocations that were freed are included, too */
    uint64_t period;                /* CPU: ns; contention: one of so many was taken */
    double rate, cycles;            /* heap: bytes between samples; contention: a second's */
    uint64_t total[MOST_EVENTS];
    uint64_t odd_lines;
};

/* --- kinds ----------------------------------------------------------------------------------- */

/* The five words in front of a CPU profile, in any width and order; *java: the third is 1. */
static bool legacy_is_cpu(struct bytes in, struct cursor *words, uint64_t *period_us, bool *java)
{
    for (int form = 0; form < 4; form++) {
        struct cursor c = cursor_over(in, NULL);
        uint64_t word[5];
        c.word = form < 2 ? 8 : 4;
        c.big_endian = form % 2;
        for (int i = 0; i < 5; i++)
            word[i] = cursor_word(&c);
        if (c.failed || word[0] || word[1] != 3 || word[2] > 1 || !word[3] || word[4])
            continue;
        *words = c;
        *period_us = word[3];
        *java = word[2];
        return true;
    }
    return false;
}

/* The first line that says something, comments left out. */
static struct text_span legacy_first_line(struct bytes in)
{
    struct text_lines lines = text_lines_over(in);
    struct text_span line = {lines.at, lines.at};
    while (text_lines_take(&lines, &line)) {
        line = text_trimmed(line);
        if (line.at < line.end && *line.at != '#')
            break;
    }
    return line;
}

/* Whether the bytes have that text anywhere. */
static bool legacy_has(struct bytes in, const char *text)
{
    return in.len && memmem(in.at, in.len, text, strlen(text));
}

/* What is not read, by its name; NULL: it is read, or not one of these. */
static const char *legacy_refusal(struct bytes first)
{
    struct text_span line = legacy_first_line(first);
    struct cursor words;
    uint64_t period;
    bool java = false;
    struct bytes head = {first.at, first.len < 256 ? first.len : 256};
    if (legacy_is_cpu(first, &words, &period, &java) && java)
        return "a CPU profile of Java in gperftools' format";
    if (text_begins(line, "--- ") && legacy_has(head, "format = java"))
        return "a profile of Java in gperftools' format";
    if (text_begins(line, "--- threadz") || text_begins(line, "--- Thread "))
        return "a list of threads in gperftools' format (threadz)";
    const char *total = memmem(line.at, text_len(line), " profile: total ", 16);
    if (total && !memchr(line.at, ' ', (size_t)(total - line.at)))
        return "a Go profile as text (debug=1)";
    return NULL;
}

/* By the header's words or the first line. */
static enum legacy_kind legacy_kind_of(struct bytes first)
{
    struct text_span line = legacy_first_line(first);
    struct cursor words;
    uint64_t period;
    bool java;
    if (legacy_is_cpu(first, &words, &period, &java))
        return LEGACY_CPU;
    if (text_begins(line, "heap profile:"))
        return LEGACY_HEAP;
    if (text_begins(line, "heap_v2/"))
        return LEGACY_JEMALLOC;
    bool is_contention = text_begins(line, "--- contention") || text_begins(line, "--- mutex");
    return is_contention ? LEGACY_CONTENTION : LEGACY_NONE;
}

bool gperftools_probe(struct bytes first)
{
    return legacy_refusal(first) || legacy_kind_of(first) != LEGACY_NONE;
}

/* --- mappings -------------------------------------------------------------------------------- */

/* Takes hexadecimal digits from the front; false: none, or more than 64 bits. */
static bool legacy_take_hex(struct text_span *s, uint64_t *out)
{
    const char *start = s->at;
    *out = 0;
    for (; s->at < s->end; s->at++) {
        int digit = *s->at >= '0' && *s->at <= '9'   ? *s->at - '0'
                    : *s->at >= 'a' && *s->at <= 'f' ? *s->at - 'a' + 10
                                                     : -1;
        if (digit < 0)
            break;
        if (*out >> 60)
            return false;
        *out = *out << 4 | (unsigned)digit;
    }
    return s->at > start;
}

/* "55d0-55e0 r-xp 00001000 08:01 12345   /bin/x" of /proc/PID/maps; mappings without code are none.
 * The first one that has a file is the program's. */
static void legacy_take_mapping(struct legacy *l, struct text_span line)
{
    struct arena scratch = {0};
    struct collector_mapping m = {.pid = PID};
    line = text_trimmed(line);
    if (!legacy_take_hex(&line, &m.start) || line.at == line.end || *line.at++ != '-' ||
        !legacy_take_hex(&line, &m.end) || m.end <= m.start || text_len(line) < 6 ||
        *line.at++ != ' ')
        return;
    m.is_executable = line.at[2] == 'x';
    line.at += 5;
    if (!legacy_take_hex(&line, &m.offset))
        return;
    const char *path = memchr(line.at, '/', text_len(line)); /* after the device and inode */
    const char *bracket = memchr(line.at, '[', text_len(line));
    path = path ? path : bracket;
    if (!path || !m.is_executable)
        return;
    m.path = arena_copy(&scratch, path, (size_t)(line.end - path));
    if (!l->has_maps)
        collector_exec(l->collector, PID, path_base_name(m.path), 1);
    l->has_maps = true;
    collector_map(l->collector, &m, 1);
    arena_deinit(&scratch);
}

/* Mappings are at the end, and needed before the stacks. */
static bool legacy_begins_maps(struct text_span line)
{
    bool is_mark = text_begins(line, "MAPPED_LIBRARIES:") || text_begins(line, "---");
    return is_mark && (*line.at == 'M' || memmem(line.at, text_len(line), "emory map", 9));
}

/* --- stacks ---------------------------------------------------------------------------------- */

/* A handler may have seen the innermost frame both in the signal's context and on the stack. */
static void legacy_put_frame(struct legacy *l, uint64_t address)
{
    bool is_twice = l->len == 1 && l->frames[0] == address;
    if (is_twice)
        return;
    if (l->len < MOST_FRAMES)
        l->frames[l->len++] = address;
    else
        l->is_cut = true;
}

/* Books the stack under an event. false: the weights have no sum. */
static bool legacy_book(struct legacy *l, uint32_t event, uint64_t weight)
{
    if (__builtin_add_overflow(l->total[event], weight, &l->total[event]))
        return false;
    struct collector_chain chain = {.user = l->frames, .user_len = l->len, .is_cut = l->is_cut};
    if (weight)
        collector_sample(l->collector, &(struct collector_sample){.pid = PID,
                                                                  .tid = PID,
                                                                  .at_ns = 1,
                                                                  .weight = weight,
                                                                  .event = event,
                                                                  .syscall = -1,
                                                                  .chain = &chain});
    return true;
}

/* Adds events for a kind of profile; the first one is what reports show. */
static void legacy_add_events(struct legacy *l)
{
    struct collector *c = l->collector;
    if (l->kind == LEGACY_CPU) {
        collector_add_event(c, "cpu", RECORDING_UNIT_NS, l->period, false);
    } else if (l->kind == LEGACY_CONTENTION) {
        collector_add_event(c, "delay", RECORDING_UNIT_NS, 0, false);
        collector_add_event(c, "contentions", RECORDING_UNIT_COUNT, 0, false);
    } else {
        collector_add_event(c, "inuse_space", RECORDING_UNIT_BYTES, 0, false);
        collector_add_event(c, "inuse_objects", RECORDING_UNIT_COUNT, 0, false);
        if (l->has_all) {
            collector_add_event(c, "alloc_space", RECORDING_UNIT_BYTES, 0, false);
            collector_add_event(c, "alloc_objects", RECORDING_UNIT_COUNT, 0, false);
        }
    }
}

/* The stacks of a CPU profile: booked, or skipped for what follows them (`rest`). */
static bool legacy_cpu_stacks(struct legacy *l, struct cursor in, struct bytes *rest, struct err *e)
{
    for (;;) {
        uint64_t count = cursor_word(&in), len = cursor_word(&in), weight;
        if (in.failed || len > cursor_left(&in) / in.word)
            return err_at(e, &in, "a stack extends beyond the file");
        l->len = 0;
        l->is_cut = false;
        for (uint64_t i = 0; i < len; i++)
            legacy_put_frame(l, cursor_word(&in));
        if (!count && len == 1 && !l->frames[0])
            break;
        if (rest)
            continue;
        if (__builtin_mul_overflow(count, l->period, &weight) || !legacy_book(l, 0, weight))
            return err_in(e, l->name, NO_SUM);
    }
    if (rest)
        *rest = (struct bytes){in.at, cursor_left(&in)};
    return true;
}

/* "@ 0x40bc12 0x40bd31", up to the line's end. */
static bool legacy_take_stack(struct legacy *l, struct text_span s)
{
    s = text_trimmed(s);
    l->len = 0;
    l->is_cut = false;
    if (s.at == s.end || *s.at++ != '@')
        return false;
    for (s = text_trimmed(s); s.at < s.end; s = text_trimmed(s)) {
        uint64_t address;
        if (!text_begins(s, "0x"))
            return false;
        s.at += 2;
        if (!legacy_take_hex(&s, &address))
            return false;
        legacy_put_frame(l, address);
    }
    return true;
}

/* "3: 262144 [8: 1024]": four numbers, with anything between them. The rest is left. */
static bool legacy_take_numbers(struct text_span *s, uint64_t out[4])
{
    for (int i = 0; i < 4; i++) {
        while (s->at < s->end && strchr(" :[", *s->at))
            s->at++;
        if (!text_take_u64(s, &out[i]))
            return false;
    }
    while (s->at < s->end && (*s->at == ' ' || *s->at == ']'))
        s->at++;
    return true;
}

/* By the probability that allocations of this mean size are sampled. */
static double legacy_heap_factor(const struct legacy *l, uint64_t objects, uint64_t bytes)
{
    double mean = objects ? (double)bytes / (double)objects : 0;
    return l->rate > 1 && mean > 0 ? 1 / (1 - exp(-mean / l->rate)) : 1;
}

/* What is in use, and what was allocated in all if the file has it. */
static bool legacy_book_heap(struct legacy *l, const uint64_t number[4])
{
    for (uint32_t i = 0; i < (l->has_all ? 4U : 2U); i += 2) {
        double factor = legacy_heap_factor(l, number[i], number[i + 1]);
        double objects = (double)number[i] * factor, bytes = (double)number[i + 1] * factor;
        if (bytes > 0x1p62 || objects > 0x1p62 || !legacy_book(l, i, (uint64_t)bytes) ||
            !legacy_book(l, i + 1, (uint64_t)objects))
            return false;
    }
    return true;
}

/* "cycles/second = 3201000000", "sampling period = 100"; others are not needed. */
static bool legacy_take_setting(struct legacy *l, struct text_span line)
{
    const char *sign = memchr(line.at, '=', text_len(line));
    uint64_t number;
    if (!sign)
        return false;
    struct text_span value = text_trimmed((struct text_span){sign + 1, line.end});
    if (text_begins(line, "cycles/second") && text_take_u64(&value, &number))
        l->cycles = (double)number;
    else if (text_begins(line, "sampling period") && text_take_u64(&value, &number))
        l->period = number;
    return true;
}

/* "19490304 27 @ 0x40bc12": cycles and how often, of those that were taken. */
static bool legacy_book_contention(struct legacy *l, const uint64_t number[2])
{
    double period = l->period ? (double)l->period : 1;
    double ns = (double)number[0] * period * (l->cycles > 0 ? 1e9 / l->cycles : 1);
    uint64_t times = 0;
    return ns < 0x1p62 && !__builtin_mul_overflow(number[1], (uint64_t)period, &times) &&
           legacy_book(l, 0, (uint64_t)ns) && legacy_book(l, 1, times);
}

/* One line of text after the first. *is_odd: it is not of the format. */
static bool legacy_take_line(struct legacy *l, struct text_span line, bool *is_odd)
{
    uint64_t number[4] = {0};
    *is_odd = false;
    if (l->kind == LEGACY_CONTENTION) {
        struct text_span rest = line;
        bool is_stack = text_take_u64(&rest, &number[0]);
        rest = text_trimmed(rest);
        is_stack = is_stack && text_take_u64(&rest, &number[1]) && legacy_take_stack(l, rest);
        *is_odd = !is_stack && !legacy_take_setting(l, line);
        return !is_stack || legacy_book_contention(l, number);
    }
    if (l->kind == LEGACY_JEMALLOC) {
        if (*line.at == '@') {
            *is_odd = !legacy_take_stack(l, line);
        } else if (text_begins(line, "t*:") && l->len) {
            line.at += 3;
            *is_odd = !legacy_take_numbers(&line, number);
            return *is_odd || legacy_book_heap(l, number);
        } else
            *is_odd = *line.at != 't'; /* of single threads, or of all stacks together */
        return true;
    }
    *is_odd = !legacy_take_numbers(&line, number) || !legacy_take_stack(l, line);
    return *is_odd || legacy_book_heap(l, number);
}

/* "heap profile: 3: 262144 [8: 1024] @ heap_v2/524288": rate, and whether freed memory is included.
 */
static void legacy_heap_head(struct legacy *l, struct text_span line)
{
    uint64_t number[4] = {0}, rate = 0;
    struct text_span word = line;
    word.at = memchr(line.at, ':', text_len(line)) ? memchr(line.at, ':', text_len(line)) : line.at;
    if (l->kind == LEGACY_HEAP && legacy_take_numbers(&word, number))
        l->has_all = (number[2] && number[2] != number[0]) || (number[3] && number[3] != number[1]);
    const char *slash = memchr(line.at, '/', text_len(line));
    struct text_span behind = {slash ? slash + 1 : line.end, line.end};
    if (!text_take_u64(&behind, &rate))
        return;
    bool is_of_go = slash - line.at >= 6 && !memcmp(slash - 6, "@ heap", 6); /* twice the mean */
    l->rate = (double)rate / (is_of_go ? 2 : 1);
}

/* All lines after the first, up to the mappings. */
static bool legacy_text(struct legacy *l, struct bytes in, struct err *e)
{
    struct text_lines lines = text_lines_over(in);
    struct text_span line;
    bool is_first = true, is_odd = false;
    while (text_lines_take(&lines, &line)) {
        if (!is_first && legacy_begins_maps(line))
            break;
        line = text_trimmed(line);
        if (line.at == line.end || *line.at == '#')
            continue;
        if (!is_first && !legacy_take_line(l, line, &is_odd))
            return err_in(e, l->name, "line %" PRIu64 ": " NO_SUM, lines.number);
        l->odd_lines += !is_first && is_odd;
        is_first = false;
    }
    return true;
}

/* --- the file -------------------------------------------------------------------------------- */

bool gperftools_take(struct bytes in, const char *name, bool opens_no_files, struct recording *out,
                     struct err *e)
{
    struct legacy *l = memory_zeroed(1, sizeof *l);
    const char *refusal = legacy_refusal(in);
    struct bytes maps = in;
    struct err why = {0};
    uint64_t period_us = 0;
    bool java;
    l->name = name;
    l->kind = legacy_kind_of(in);
    bool ok = refusal ? err_in(e, name, "is %s, which is not read", refusal)
                      : l->kind != LEGACY_NONE || err_in(e, name, "is not a file of gperftools");
    if (ok && l->kind == LEGACY_CPU) {
        ok = legacy_is_cpu(in, &l->words, &period_us, &java) &&
             (!__builtin_mul_overflow(period_us, 1000, &l->period) || err_in(e, name, NO_SUM));
        l->words.name = name;
        ok = ok && legacy_cpu_stacks(l, l->words, &maps, e);
    } else if (ok) {
        ok = text_is_text(in) || err_in(e, name, NO_TEXT);
        legacy_heap_head(l, legacy_first_line(in));
    }
    if (ok) {
        l->collector = collector_new(&(struct collector_options){
            .start_ns = 1, .is_replayed = true, .opens_no_files = opens_no_files});
        legacy_add_events(l);
        bool all = l->kind == LEGACY_CPU;
        struct text_lines lines = text_lines_over(maps);
        struct text_span line;
        while (text_lines_take(&lines, &line)) {
            all |= legacy_begins_maps(line);
            if (all)
                legacy_take_mapping(l, line);
        }
        if (!l->has_maps)
            collector_exec(l->collector, PID, path_base_name(name), 1);
        ok =
            l->kind == LEGACY_CPU ? legacy_cpu_stacks(l, l->words, NULL, e) : legacy_text(l, in, e);
    }
    if (ok) {
        if (!l->has_maps)
            collector_lose(l->collector, RECORDING_LOST_OTHER, NO_MAPS, 1, 0);
        if (l->odd_lines)
            collector_lose(l->collector, RECORDING_LOST_OTHER, LOST_LINES, l->odd_lines, 0);
        collector_finish(l->collector, 1, out);
        /* Of CPU profiles a sample is a period; the collector has seen each stack once. */
        for (size_t i = 0; i < out->samples.len; i++) {
            uint64_t count = l->kind == LEGACY_CPU          ? out->samples.at[i].weight / l->period
                             : out->samples.at[i].event % 2 ? out->samples.at[i].weight
                                                            : out->samples.at[i].count;
            out->samples.at[i].count = count < UINT32_MAX ? (uint32_t)count : UINT32_MAX;
        }
        ok = recording_check(out, &why) || err_in(e, name, "%s", why.line);
    }
    collector_free(l->collector);
    memory_free(l);
    return ok;
}

bool gperftools_read(struct bytes in, const char *name, struct recording *out, struct err *e)
{
    return gperftools_take(in, name, false, out, e);
}
