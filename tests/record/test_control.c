/* The ring of control records: eight writing processes and a reader, killed writers, a full ring,
 * and a program that writes whatever it likes into the file. */
#include "cases.h"
#include "record/control.h"
#include "runtime/profile/control.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { WRITERS = 8, EACH = 20000 };

struct place {
    char folder[64], path[128];
    struct control *reader;
    struct control_ring ring;
};

static int begin(void **state)
{
    struct place *p = calloc(1, sizeof *p);
    struct err e = {{0}};
    strcpy(p->folder, "/tmp/monarc-control-XXXXXX");
    assert_non_null(mkdtemp(p->folder));
    snprintf(p->path, sizeof p->path, "%s/control", p->folder);
    p->reader = control_create(p->path, &e);
    assert_non_null(p->reader);
    assert_int_equal(control_map(&p->ring, p->path), CONTROL_MAPPED);
    *state = p;
    return 0;
}

static int end(void **state)
{
    struct place *p = *state;
    control_free(p->reader);
    assert_int_equal(control_map(&p->ring, p->path), CONTROL_MISSING);
    rmdir(p->folder);
    free(p);
    return 0;
}

static uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static struct monarc_control_record *slot(struct place *p, uint64_t number)
{
    char *records = (char *)p->ring.header + MONARC_CONTROL_HEADER_BYTES;
    return (void *)(records + number % p->ring.capacity * MONARC_CONTROL_RECORD_BYTES);
}

static void put(struct place *p, const char *text)
{
    assert_true(control_put(&p->ring, MONARC_CONTROL_PHASE, 5, 6, 7, text));
}

CASE_WITH(test_record_arrives, begin, end)
{
    struct place *p = *state;
    struct control_record r;
    char longest[1000];
    memset(longest, 'x', sizeof longest);
    longest[sizeof longest - 1] = '\0';
    assert_false(control_next(p->reader, 1, &r));
    put(p, "init");
    put(p, longest);
    assert_true(control_next(p->reader, 1, &r));
    assert_int_equal(r.kind, MONARC_CONTROL_PHASE);
    assert_true(r.at_ns == 5 && r.pid == 6 && r.tid == 7);
    assert_string_equal(r.text, "init");
    assert_true(control_next(p->reader, 1, &r));
    assert_int_equal(strlen(r.text), MONARC_CONTROL_TEXT_BYTES - 1);
    assert_false(control_next(p->reader, 1, &r));
    assert_int_equal(control_lost(p->reader), 0);
}

/* Each record's text says who wrote it and which it is; all come once, in each writer's order. */
static void write_all(struct place *p, unsigned who)
{
    char text[MONARC_CONTROL_TEXT_BYTES];
    for (unsigned i = 0; i < EACH; i++) {
        int n = snprintf(text, sizeof text, "%u %u ", who, i);
        memset(text + n, 'a' + (int)(i % 26), 400);
        text[n + 400] = '\0';
        while (!control_put(&p->ring, MONARC_CONTROL_PHASE, i, who, i, text))
            usleep(100);
    }
    _exit(0);
}

static void take(const struct control_record *r, unsigned seen[WRITERS])
{
    unsigned who = WRITERS, number = 0;
    int n = 0;
    assert_int_equal(sscanf(r->text, "%u %u %n", &who, &number, &n), 2);
    assert_true(who < WRITERS && who == r->pid && number == r->tid && number == r->at_ns);
    assert_int_equal(number, seen[who]++);
    for (const char *c = r->text + n; *c; c++)
        assert_int_equal(*c, 'a' + (int)(number % 26));
}

CASE_WITH(test_eight_writers, begin, end)
{
    struct place *p = *state;
    struct control_record r;
    unsigned seen[WRITERS] = {0}, running = WRITERS;
    for (unsigned i = 0; i < WRITERS; i++)
        if (fork() == 0)
            write_all(p, i);
    while (running) {
        if (control_next(p->reader, now_ns(), &r))
            take(&r, seen);
        else if (waitpid(-1, NULL, WNOHANG) > 0)
            running--;
    }
    while (control_next(p->reader, now_ns(), &r))
        take(&r, seen);
    for (unsigned i = 0; i < WRITERS; i++)
        assert_int_equal(seen[i], EACH);
}

CASE_WITH(test_full_ring_drops_and_counts, begin, end)
{
    struct place *p = *state;
    struct control_record r;
    for (uint32_t i = 0; i < p->ring.capacity; i++)
        put(p, "fits");
    assert_false(control_put(&p->ring, MONARC_CONTROL_PHASE, 0, 0, 0, "does not"));
    assert_int_equal(control_lost(p->reader), 1);
    assert_true(control_next(p->reader, 1, &r));
    put(p, "fits again");
    for (uint32_t i = 1; i < p->ring.capacity; i++)
        assert_true(control_next(p->reader, 1, &r));
    assert_true(control_next(p->reader, 1, &r));
    assert_string_equal(r.text, "fits again");
}

/* A writer that took a number and was killed. */
CASE_WITH(test_killed_writer, begin, end)
{
    struct place *p = *state;
    struct control_record r;
    put(p, "before");
    uint64_t taken = p->ring.header->next++;
    put(p, "behind");
    assert_true(control_next(p->reader, 1000, &r));
    assert_false(control_next(p->reader, 2000, &r));
    assert_false(control_next(p->reader, 2000 + 199999999, &r));
    assert_true(control_next(p->reader, 2000 + 200000000, &r));
    assert_string_equal(r.text, "behind");
    assert_int_equal(control_lost(p->reader), 1);
    /* Nobody uses the place again, and a writer that comes back cannot publish. */
    assert_int_equal(slot(p, taken)->state, MONARC_CONTROL_ABANDONED);
    for (uint32_t i = 0; i < 3 * p->ring.capacity; i++) {
        put(p, "round");
        assert_true(control_next(p->reader, 1, &r));
        assert_string_equal(r.text, "round");
    }
    assert_int_equal(slot(p, taken)->state, MONARC_CONTROL_ABANDONED);
}

CASE_WITH(test_end_waits_for_nobody, begin, end)
{
    struct place *p = *state;
    struct control_record r;
    p->ring.header->next++;
    put(p, "last");
    assert_true(control_next_at_end(p->reader, &r));
    assert_string_equal(r.text, "last");
    assert_false(control_next_at_end(p->reader, &r));
}

CASE_WITH(test_damaged_ring, begin, end)
{
    struct place *p = *state;
    struct control_record r;
    put(p, "good");
    p->ring.header->capacity = UINT32_MAX;
    p->ring.header->read = 1u << 30;
    assert_true(control_next(p->reader, 1, &r));
    put(p, "unended");
    struct monarc_control_record *s = slot(p, 1);
    memset(s->text, 'z', sizeof s->text);
    assert_true(control_next(p->reader, 1, &r));
    assert_int_equal(strlen(r.text), MONARC_CONTROL_TEXT_BYTES - 1);
    put(p, "of no kind");
    slot(p, 2)->kind = 77;
    assert_false(control_next(p->reader, 1, &r));
    p->ring.header->next = UINT64_MAX;
    assert_false(control_next(p->reader, 1, &r));
    assert_false(control_next_at_end(p->reader, &r));
}

CASE_WITH(test_unusable_files, begin, end)
{
    struct place *p = *state;
    struct control_ring ring = {0};
    char path[160];
    struct err e = {{0}};
    assert_null(control_create(p->path, &e)); /* it is there already */
    assert_non_null(strstr(e.line, p->path));
    snprintf(path, sizeof path, "%s/short", p->folder);
    FILE *f = fopen(path, "w");
    fwrite(p->ring.header, 1, MONARC_CONTROL_HEADER_BYTES, f);
    fclose(f);
    assert_int_equal(control_map(&ring, path), CONTROL_UNUSABLE);
    assert_int_equal(control_map(&ring, p->folder), CONTROL_UNUSABLE);
    assert_false(control_put(&ring, MONARC_CONTROL_PHASE, 0, 0, 0, ""));
    unlink(path);
}
