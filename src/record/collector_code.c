/* Names for code that no file has, from where the programs leave them: /tmp/perf-PID.map and
 * jitdumps, which jit_names.c reads (docs/formats/generated.md).
 *
 *     first sample in generated code    code_of(): its root, its number there, its users
 *     each new address of a node        collector_generated_at()
 *     a jitdump is mapped               collector_jitdump(): opened at once
 *     the process ends, or executes     collector_code_ends(): the names are read, all is closed
 *     the recording ends                collector_code_finish(): the rest is read, all is handed on
 *
 * Nothing is asked of the program. A process that has ended has no folder in /proc any more, so
 * what is found through it is kept from when it first has generated code; the names themselves are
 * read at the end of the process, when they are complete. Only addresses that were sampled get
 * names: what is kept is bounded by the tree of stacks, not by what the program generated.
 *
 * Others may write to /tmp as well: a map must belong to one of the users that the process was, to
 * us or to root. Of a file the first MOST_BYTES are read; at most MOST_OPEN files are held open. */
#include "record/collector_private.h"

#include "record/jit_names.h"
#include "record/proc_threads.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define MOST_BYTES ((size_t)256 << 20) /* of a file: it is in memory while it is read */
#define NOT_ALL_READ \
    "some names of generated code are missing: only the first 256 MB of a perf map are read"
#define REUSED                                                                          \
    "addresses of generated code had several functions, one after the other: each has " \
    "the name of its last one"

enum {
    MOST_OPEN = 128, /* files and roots of processes that are held open */
    MOST_DUMPS = 8,  /* of a process */
    MOST_PARENTS = 8,
    FIRST_BYTES = 1 << 16,
};

/* --- what is known of a process while it lives ----------------------------------------------- */

/* Its number in its own namespace, by which it calls its files, and who they may belong to. */
static void code_read_status(struct collected_code *code)
{
    char path[64], *line = NULL;
    size_t room = 0;
    snprintf(path, sizeof path, "/proc/%" PRIu32 "/status", code->pid);
    FILE *file = fopen(path, "re");
    while (file && getline(&line, &room, file) > 0) {
        const char *last = strrchr(line, '\t'); /* of NSpid: the innermost */
        unsigned *u = code->users;
        if (!strncmp(line, "NSpid:", 6) && last)
            code->pid = (uint32_t)strtoul(last, NULL, 10);
        else if (!strncmp(line, "Uid:", 4))
            code->has_users = sscanf(line + 4, "%u %u %u %u", &u[0], &u[1], &u[2], &u[3]) == 4;
    }
    free(line);
    if (file)
        fclose(file);
}

/* Not when either is not to be had: the process has ended, or is none of ours. */
static bool code_differs(const char *left, const char *right)
{
    struct stat l, r;
    return !stat(left, &l) && !stat(right, &r) && (l.st_dev != r.st_dev || l.st_ino != r.st_ino);
}

/* Opens the root of a process that does not see what we see: the folder in /proc ends with it, and
 * what is mounted for it alone ends with the last process that sees it. */
static void code_open_root(struct collector *c, struct collected_code *code)
{
    char root[64], space[64];
    pid_t living = proc_living((pid_t)code->pid);
    snprintf(root, sizeof root, "/proc/%d/root", (int)living);
    snprintf(space, sizeof space, "/proc/%d/ns/mnt", (int)living);
    code->is_elsewhere = code_differs(root, "/") || code_differs(space, "/proc/self/ns/mnt");
    if (!code->is_elsewhere || c->open_files >= MOST_OPEN)
        return;
    code->root = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
    code->mounts = open(space, O_RDONLY | O_CLOEXEC);
    c->open_files += (code->root >= 0) + (code->mounts >= 0);
}

/* What is kept of a process with generated code, begun on first use. */
static struct collected_code *code_of(struct collector *c, uint32_t process)
{
    struct collected_process *p = &c->inner.at[process];
    if (p->code)
        return p->code;
    p->code = calloc(1, sizeof *p->code);
    if (!p->code)
        memory_exhausted(sizeof *p->code);
    p->code->pid = c->processes.at[process].pid;
    p->code->root = p->code->mounts = -1;
    if (c->options.is_replayed) { /* who the process was is not known: what is ours or root's */
        for (size_t i = 0; i < 4; i++)
            p->code->users[i] = geteuid();
        p->code->has_users = true;
        return p->code;
    }
    code_open_root(c, p->code);
    code_read_status(p->code);
    return p->code;
}

uint32_t collector_generated(struct collector *c, uint32_t process)
{
    struct collected_process *p = &c->inner.at[process];
    if (p->generated == RECORDING_NONE) {
        p->generated = images_other(&c->images, RECORDING_OBJECT_GENERATED, process);
        code_of(c, process);
    }
    return p->generated;
}

void collector_generated_at(struct collector *c, uint32_t process, uint64_t address)
{
    vec_push(&code_of(c, process)->addresses, address);
}

/* --- files ----------------------------------------------------------------------------------- */

/* As the process sees the path; symbolic links do not lead out of its root. A pipe does not keep
 * us, and is not taken. */
static int code_open(const struct collected_code *code, const char *path, struct stat *st)
{
    enum { FLAGS = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY };
    struct open_how how = {.flags = FLAGS, .resolve = RESOLVE_IN_ROOT};
    int fd = code->is_elsewhere ? (int)syscall(__NR_openat2, code->root, path, &how, sizeof how)
                                : open(path, FLAGS);
    if (fd >= 0 && (fstat(fd, st) || !S_ISREG(st->st_mode))) {
        close(fd);
        return -1;
    }
    return fd;
}

/* The file that the process has mapped, if it is there still. */
static int code_open_dump(const struct collected_code *code, const struct code_dump *dump)
{
    struct stat st;
    int fd = code_open(code, dump->path, &st);
    if (fd >= 0 && dump->inode && st.st_ino != dump->inode) {
        close(fd);
        return -1;
    }
    return fd;
}

/* Any user can make a file in /tmp; other users' files say nothing about the process. */
static bool code_is_its_own(const struct collected_code *code, const struct stat *st)
{
    bool is_own = !code->has_users || !st->st_uid || st->st_uid == geteuid();
    for (size_t i = 0; i < sizeof code->users / sizeof *code->users; i++)
        is_own |= st->st_uid == code->users[i];
    return is_own;
}

/* The whole of a file that may grow meanwhile, or its first MOST_BYTES. false: it is empty, or
 * cannot be read. out->at is the caller's to free, in either case. */
static bool code_read(struct collector *c, int fd, struct bytes *out)
{
    struct stat st;
    size_t cap = FIRST_BYTES, len = 0;
    ssize_t got;
    if (!fstat(fd, &st) && st.st_size > 0 && (uint64_t)st.st_size < MOST_BYTES)
        cap = (size_t)st.st_size + 1; /* one more shows the end */
    uint8_t *at = malloc(cap);
    while (at && (got = pread(fd, at + len, cap - len, (off_t)len)) != 0) {
        if (got < 0 && errno != EINTR)
            break;
        len += got > 0 ? (size_t)got : 0;
        if (len == MOST_BYTES)
            break;
        if (len == cap) {
            cap = 2 * cap < MOST_BYTES ? 2 * cap : MOST_BYTES;
            uint8_t *grown = realloc(at, cap);
            if (!grown)
                memory_exhausted(cap);
            at = grown;
        }
    }
    if (!at)
        memory_exhausted(cap);
    if (len == MOST_BYTES)
        collector_lose(c, RECORDING_LOST_OTHER, NOT_ALL_READ, 1, 0);
    *out = (struct bytes){at, len};
    return len;
}

/* /any/where/jit-PID.dump */
bool collector_is_jitdump(const char *path)
{
    static const char end[] = ".dump";
    const char *name = strrchr(path, '/');
    size_t len = strcspn(name ? name : "", " "); /* "... (deleted)" */
    return len > sizeof end && !strncmp(name, "/jit-", 5) &&
           !strncmp(name + len + 1 - sizeof end, end, sizeof end - 1);
}

/* Opened at once: it may be removed, or its folder out of reach, when it is to be read. */
void collector_jitdump(struct collector *c, uint32_t process, const struct collector_mapping *m)
{
    struct collected_code *code = code_of(c, process);
    for (size_t i = 0; i < code->dumps.len; i++)
        if (code->dumps.at[i].inode == m->inode && !strcmp(code->dumps.at[i].path, m->path))
            return;
    if (code->dumps.len >= MOST_DUMPS || c->options.opens_no_files)
        return;
    struct code_dump dump = {arena_copy(&c->arena, m->path, strlen(m->path)), m->inode, -1};
    if (c->open_files < MOST_OPEN)
        dump.fd = code_open_dump(code, &dump);
    c->open_files += dump.fd >= 0;
    vec_push(&code->dumps, dump);
}

/* --- names ----------------------------------------------------------------------------------- */

/* A file that is not a jitdump is reported: the program has mapped it as one. */
static void code_read_dump(struct collector *c, const struct collected_code *code,
                           const struct code_dump *dump, struct jit_names *names)
{
    struct err e = {{0}};
    struct bytes bytes = {0};
    int fd = dump->fd >= 0 ? dump->fd : code_open_dump(code, dump);
    if (fd >= 0 && code_read(c, fd, &bytes) && !jit_names_read_dump(names, bytes, code->pid, &e))
        collector_lose(c, RECORDING_LOST_OTHER, e.line, 1, 0);
    free((void *)bytes.at);
    if (fd >= 0 && fd != dump->fd)
        close(fd);
}

/* What the process has from those it was forked from comes first: what it says itself is newer. */
static void code_read_all(struct collector *c, uint32_t process, struct jit_names *names)
{
    const struct collected_code *own = c->inner.at[process].code;
    uint32_t line[MOST_PARENTS] = {process}, len = 1;
    while (len < MOST_PARENTS && c->inner.at[line[len - 1]].forked_from != RECORDING_NONE) {
        line[len] = c->inner.at[line[len - 1]].forked_from;
        len++;
    }
    while (len-- > 0) {
        const struct collected_code *code = c->inner.at[line[len]].code;
        char map_path[64]; /* as runtimes write it for perf, by their own number */
        struct stat st;
        struct bytes map = {0};
        snprintf(map_path, sizeof map_path, "/tmp/perf-%" PRIu32 ".map",
                 code ? code->pid : c->processes.at[line[len]].pid);
        int fd = code_open(own, map_path, &st);
        if (fd >= 0 && code_is_its_own(own, &st) && code_read(c, fd, &map))
            jit_names_read_map(names, map);
        free((void *)map.at);
        if (fd >= 0)
            close(fd);
        for (size_t i = 0; code && i < code->dumps.len; i++)
            code_read_dump(c, own, &code->dumps.at[i], names);
    }
}

static int addresses_order(const void *left, const void *right)
{
    uint64_t l = *(const uint64_t *)left, r = *(const uint64_t *)right;
    return (l > r) - (l < r);
}

size_t collector_sort_addresses(uint64_t *at, size_t len)
{
    size_t kept = 0;
    if (len)
        qsort(at, len, sizeof *at, addresses_order);
    for (size_t i = 0; i < len; i++)
        if (!i || at[i] != at[kept - 1])
            at[kept++] = at[i];
    return kept;
}

/* Takes the names of what was sampled from where the program leaves them; they replace those that
 * were read earlier. */
static void code_name(struct collector *c, uint32_t process)
{
    struct collected_code *code = c->inner.at[process].code;
    if (!code || !code->addresses.len || c->options.opens_no_files)
        return;
    struct jit_names names;
    code->addresses.len = collector_sort_addresses(code->addresses.at, code->addresses.len);
    code->named = code->addresses.len;
    jit_names_init(&names, code->addresses.at, (uint32_t)code->addresses.len);
    code_read_all(c, process, &names);
    if (!names.sources) { /* what was read earlier stays */
        jit_names_deinit(&names);
        return;
    }
    struct jit_pieces pieces = {0};
    jit_names_place(&names, &pieces);
    code->symbols.len = 0;
    code->reused = pieces.reused;
    for (size_t i = 0; i < pieces.all.len; i++) {
        const struct jit_piece *p = &pieces.all.at[i];
        vec_push(&code->symbols, (struct recording_symbol){
                                     c->inner.at[process].generated, p->start, p->end - p->start,
                                     arena_copy(&c->arena, p->name, strlen(p->name))});
    }
    vec_free(&pieces.all);
    jit_names_deinit(&names);
}

static void code_close(struct collector *c, int *fd)
{
    if (*fd < 0)
        return;
    close(*fd);
    *fd = -1;
    c->open_files--;
}

static void code_close_all(struct collector *c, struct collected_code *code)
{
    for (size_t i = 0; i < code->dumps.len; i++)
        code_close(c, &code->dumps.at[i].fd);
    code_close(c, &code->root);
    code_close(c, &code->mounts);
}

void collector_code_ends(struct collector *c, uint32_t process)
{
    code_name(c, process);
    if (c->inner.at[process].code)
        code_close_all(c, c->inner.at[process].code);
}

void collector_code_goes_on(struct collector *c, uint32_t process)
{
    if (c->inner.at[process].code)
        c->inner.at[process].code->named = 0;
}

void collector_code_finish(struct collector *c, struct recording *out)
{
    uint64_t reused = 0;
    for (uint32_t i = 0; i < c->processes.len; i++) {
        struct collected_code *code = c->inner.at[i].code;
        if (!code)
            continue;
        if (collector_goes_on(c, i) || code->named < code->addresses.len)
            code_name(c, i);
        for (size_t k = 0; k < code->symbols.len; k++) {
            struct recording_symbol s = code->symbols.at[k];
            s.name = arena_copy(&out->arena, s.name, strlen(s.name));
            vec_push(&out->symbols, s);
        }
        reused += code->reused;
    }
    if (reused)
        vec_push(&out->losses,
                 (struct recording_loss){RECORDING_LOST_OTHER, reused, 0,
                                         arena_copy(&out->arena, REUSED, strlen(REUSED))});
}

void collector_code_free(struct collector *c, uint32_t process)
{
    struct collected_code *code = c->inner.at[process].code;
    if (!code)
        return;
    code_close_all(c, code);
    vec_free(&code->addresses);
    vec_free(&code->symbols);
    vec_free(&code->dumps);
    free(code);
    c->inner.at[process].code = NULL;
}
