/* Records of the sidecar, as bytes, and their place in the live file. See notes.h. */
#include "notes.h"
#include "../common/sys.h"
#include "../common/text.h"
#include "live.h"

#include <wire/arguments.h>
#include <wire/launchers.h>
#include <wire/sidecar.h>
#include <sys/utsname.h>

#define COMMAND_BYTES 8192

/* "key NUL value NUL" pairs; survives a fork, as the command line does. */
static char command[COMMAND_BYTES];
static size_t command_used;

/* Variables that say which part of a parallel job this process is; NULL where a launcher has none.
 */
static const char *const environment_of_interest[] = {
#define LAUNCHER_ROW(name, rank, size, other_size, local, other_local, needs) \
    rank, size, other_size, local, other_local, needs,
    MONARC_LAUNCHERS(LAUNCHER_ROW)
#undef LAUNCHER_ROW
        "SLURM_JOB_ID",
    "OMP_NUM_THREADS",
    "HOSTNAME",
    "LD_PRELOAD",
};

static void command_add(const char *key, const char *value)
{
    size_t k = text_length(key) + 1, v = text_length(value) + 1;
    if (command_used + k + v > COMMAND_BYTES)
        return;
    bytes_copy(command + command_used, key, k);
    bytes_copy(command + command_used + k, value, v);
    command_used += k + v;
}

/* With "***" in place of what is probably a secret. */
static void add_argument(const char *argument, const char *before)
{
    static char hidden[COMMAND_BYTES / 2 + sizeof MONARC_HIDDEN];
    struct monarc_secret s = monarc_secret_of(argument, before);
    if (s.is_one) {
        struct text t = text_in(hidden, sizeof hidden);
        bytes_copy(hidden, argument, s.from);
        t.used = s.from;
        text_add(&t, MONARC_HIDDEN);
        text_add(&t, argument + s.from + s.len);
    }
    command_add("argument", s.is_one ? hidden : argument);
}

static void add_arguments(void)
{
    static char line[COMMAND_BYTES / 2];
    long fd = sys_open("/proc/self/cmdline", 0, 0);
    if (sys_failed(fd))
        return;
    long n = sys_read((int)fd, line, sizeof line - 1);
    sys_close((int)fd);
    n = n > 0 ? (long)monarc_arguments_length(line, (size_t)n) : 0;
    const char *before = NULL;
    for (long i = 0; i < n && (!before || config.arguments); i += (long)text_length(line + i) + 1) {
        add_argument(line + i, before);
        before = line + i;
    }
}

void notes_read_command(void)
{
    static char directory[PATH_MAX];
    command_used = 0;
    if (!sys_failed(SYS3(SYS_getcwd, directory, sizeof directory, 0)))
        command_add("directory", directory);
    struct utsname machine;
    if (config.rank[0] && !sys_failed(SYS3(SYS_uname, &machine, 0, 0)))
        command_add("host", machine.nodename);
    for (size_t i = 0; i < sizeof environment_of_interest / sizeof *environment_of_interest; i++) {
        const char *name = environment_of_interest[i], *value = name ? config_variable(name) : NULL;
        bool is_noted = false; /* launchers share some */
        for (size_t k = 0; value && k < i; k++)
            is_noted |= environment_of_interest[k] && text_equal(environment_of_interest[k], name);
        if (value && !is_noted) {
            command_add("environment", name);
            command_add("value", value);
        }
    }
    add_arguments();
}

size_t notes_command(size_t at, const char **pair)
{
    if (at >= command_used)
        return 0;
    size_t k = text_length(command + at) + 1;
    *pair = command + at;
    return k + text_length(command + at + k) + 1;
}

/* In p->record; returns its size. */
uint32_t notes_lost(struct process *p, uint32_t reason)
{
    static const char *const texts[] = {
#define LOST_TEXT(name, text) text,
        LOST_ROWS(LOST_TEXT)
#undef LOST_TEXT
    };
    uint32_t head[2] = {reason, 0}, n = (uint32_t)text_length(texts[reason]) + 1;
    bytes_copy(p->record, head, sizeof head);
    bytes_copy(p->record + 8, &p->lost[reason], sizeof p->lost[reason]);
    bytes_copy(p->record + 16, texts[reason], n);
    return 16 + n;
}

/* A row for each reason, counted in place from now on: nothing needs to be written later, which may
 * be the very thing that cannot be done. */
static void note_losses(struct process *p)
{
    for (uint32_t i = 0; i < LOST_REASONS; i++) {
        char *note = live_note(p, MONARC_SIDE_LOST, p->record, notes_lost(p, i));
        __atomic_store_n(&p->live_lost[i], note ? (uint64_t *)(void *)(note + 8) : NULL,
                         __ATOMIC_RELEASE);
    }
}

void notes_put_all(struct process *p)
{
    note_losses(p);
    const char *pair;
    for (size_t at = 0, n; (n = notes_command(at, &pair)) > 0; at += n)
        live_note(p, MONARC_SIDE_TEXT, pair, (uint32_t)n);
    for (struct object *o = objects; o; o = o->next)
        notes_put_object(p, o);
}

const char *notes_gmon_name(struct process *p, const struct object *o)
{
    struct text t = text_in(p->other, sizeof p->other);
    if (o->is_main) {
        text_add(&t, "gmon.out");
        return p->other;
    }
    for (const struct object *q = objects; q; q = q->next)
        if (!q->gone && object_same(q, o) && q->id < o->id)
            o = q;
    text_add(&t, o->path[0] ? text_base(o->path) : "vdso");
    for (const struct object *q = objects; q; q = q->next)
        if (q->id < o->id && !q->gone && !object_same(q, o) &&
            text_equal(text_base(q->path), text_base(o->path))) {
            text_add(&t, ".");
            text_add_number(&t, o->id);
            break;
        }
    text_add(&t, ".gmon");
    return p->other;
}

struct object_record {
    uint32_t id, flags; /* 1 main, 2 unloaded */
    uint64_t start, end, bias, text_low, text_high;
    uint32_t build_id_size, zero;
    unsigned char build_id[MOST_BUILD_ID];
    /* then the path and the name of its gmon.out, each ended by NUL */
};

/* Builds the record in p->record; returns its size. */
uint32_t notes_object(struct process *p, const struct object *o)
{
    struct object_record r = {
        .id = o->id,
        .flags = (o->is_main ? 1u : 0) | (o->retired ? 2u : 0),
        .start = o->start,
        .end = o->end,
        .bias = o->bias,
        .text_low = o->text_low,
        .text_high = o->text_high,
        .build_id_size = o->build_id_size,
    };
    bytes_copy(r.build_id, o->build_id, sizeof r.build_id);
    bytes_copy(p->record, &r, sizeof r);
    struct text t = text_in(p->record + sizeof r, PATH_MAX);
    text_add(&t, o->path);
    size_t n = sizeof r + t.used + 1;
    t = text_in(p->record + n, sizeof p->record - n);
    text_add(&t, notes_gmon_name(p, o));
    return (uint32_t)(n + t.used + 1);
}

/* A reader passes over a tag that it does not know, so that a record which is being rewritten, or
 * stands for nothing just now, is simply not there. */
#define TAG_VOID 0x64696f76u

static uint32_t *note_tag(const struct object *o)
{
    return (uint32_t *)(void *)(o->note - 8);
}

/* Where the record has its place already, in this process's file, it is rewritten there. */
void notes_put_object(struct process *p, struct object *o)
{
    if (!config.live || !p->folder[0])
        return;
    bool is_noted = o->note && o->noted_by == p->pid;
    if (is_noted)
        __atomic_store_n(note_tag(o), TAG_VOID, __ATOMIC_RELEASE);
    if (o->gone)
        return;
    uint32_t bytes = notes_object(p, o);
    if (is_noted && bytes == o->note_bytes) {
        bytes_copy(o->note, p->record, bytes);
        __atomic_store_n(note_tag(o), MONARC_SIDE_OBJECT, __ATOMIC_RELEASE);
        return;
    }
    o->note = live_note(p, MONARC_SIDE_OBJECT, p->record, bytes);
    o->note_bytes = bytes;
    o->noted_by = p->pid;
}
