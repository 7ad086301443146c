/* What is mapped in an address space, read and written through descriptors that stay open.
 *
 *     /proc/TID/mem, /proc/TID/maps   opened once a space, through a thread that lives: those of a
 *                                     process whose first thread has ended are empty, and those of
 *                                     one that gave up being dumped are refused
 *     /proc/TID/maps                  ─► ranges that can be read ─► no size is believed beyond them
 *                                     ─► code of files ─► files, by device, inode and change
 *
 * A file is looked for by its name, as we see it and as the process does, which may have another
 * root, and taken if it is the one that is mapped. Of each the place of two functions is kept, at
 * which breakpoints stand: one byte, put where memory holds what the file holds. A copy of a space
 * has its breakpoints as well, so nothing is said of who set one. */
#include "record/space.h"

#include "arch/arch.h"
#include "record/proc_threads.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

/* --- files ----------------------------------------------------------------------------------- */

/* The function's place, and its first bytes, which a breakpoint replaces. */
static void file_place(struct space_file *file, struct object *o, const struct object_symbol *s)
{
    static const char *const NAMES[SPACE_PLACES] = {"_dl_debug_state", "execve"};
    for (int i = 0; i < SPACE_PLACES; i++) {
        struct space_function *f = &file->places[i];
        struct bytes code = {0};
        if (!f->address && s->type == SYMBOL_FUNC && !strcmp(s->name, NAMES[i]))
            code = object_code(o, s->address, sizeof f->code);
        if (code.len != sizeof f->code)
            continue;
        f->address = s->address;
        memcpy(f->code, code.at, code.len);
    }
}

/* The file that is mapped: by the name that it has for us, or for the process. */
static bool file_find(pid_t tid, const struct proc_mapping *m, char *path, size_t room,
                      struct stat *file)
{
    snprintf(path, room, "%s", m->path);
    bool is_found = !stat(path, file);
    if (is_found && file->st_ino == m->inode)
        return true;
    /* Files of some file systems have two numbers; these have no device of their own. */
    bool may_be = is_found && !major(m->device);
    snprintf(path, room, "/proc/%d/root%s", (int)tid, m->path);
    if (!stat(path, file) && (file->st_ino == m->inode || may_be))
        return true;
    snprintf(path, room, "%s", m->path);
    return may_be && !stat(path, file);
}

/* The entry of a file that is mapped; NULL: it is not to be found under any of its names. One that
 * cannot be read has an entry, too, without code. */
static struct space_file *file_of(struct space_files *files, pid_t tid,
                                  const struct proc_mapping *m)
{
    char path[4400 + 32];
    struct stat st;
    bool is_new, keeps = false;
    if (!file_find(tid, m, path, sizeof path, &st))
        return NULL;
    uint64_t changed = (uint64_t)st.st_ctim.tv_sec * 1000000000 + (uint64_t)st.st_ctim.tv_nsec;
    uint32_t number = map_index(&files->numbers, (uint64_t)st.st_ino ^ (uint64_t)st.st_dev << 40,
                                changed, files->at.len, &is_new);
    if (!is_new)
        return files->at.at[number];
    struct space_file *file = calloc(1, sizeof *file);
    if (!file || !(file->path = strdup(m->path)))
        memory_exhausted(sizeof *file);
    vec_push(&files->at, file);
    struct object *o = object_open(path, NULL, NULL, NULL);
    if (o) {
        const struct object_facts *facts = object_facts(o);
        size_t len;
        const struct object_symbol *symbols = object_symbols(o, &len, NULL);
        for (size_t i = 0; i < facts->code_len; i++)
            vec_push(&file->code, facts->code[i]);
        for (size_t i = 0; i < len; i++)
            file_place(file, o, &symbols[i]);
        file->word = object_word(o);
    }
    if (files->read)
        file->facts = files->read(files->context, o, file->path, &keeps);
    if (!keeps)
        object_close(o);
    return file;
}

void space_files_deinit(struct space_files *files)
{
    for (size_t i = 0; i < files->at.len; i++) {
        free(files->at.at[i]->path);
        vec_free(&files->at.at[i]->code);
        free(files->at.at[i]);
    }
    vec_free(&files->at);
    map_deinit(&files->numbers);
}

/* How far the file's code is from where it was linked. */
static bool file_bias(const struct space_file *file, const struct proc_mapping *m, uint64_t *bias)
{
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE) - 1;
    for (size_t i = 0; i < file->code.len; i++) {
        const struct object_segment *s = &file->code.at[i];
        *bias = m->start - m->offset - (s->address - s->offset);
        if ((s->offset & ~page) == m->offset)
            return true;
    }
    return false;
}

/* --- spaces ---------------------------------------------------------------------------------- */

struct space *space_open(pid_t tid)
{
    char path[64];
    struct space *s = calloc(1, sizeof *s);
    if (!s)
        memory_exhausted(sizeof *s);
    snprintf(path, sizeof path, "/proc/%d/mem", (int)tid);
    s->memory = open(path, O_RDWR | O_CLOEXEC);
    snprintf(path, sizeof path, "/proc/%d/maps", (int)tid);
    s->maps = open(path, O_RDONLY | O_CLOEXEC);
    return s;
}

void space_close(struct space *s)
{
    if (s->memory >= 0)
        close(s->memory);
    if (s->maps >= 0)
        close(s->maps);
    vec_free(&s->images);
    vec_free(&s->ranges);
    free(s);
}

bool space_read(const struct space *s, uint64_t at, void *to, size_t len)
{
    return s->memory >= 0 && pread(s->memory, to, len, (off_t)at) == (ssize_t)len;
}

bool space_write(const struct space *s, uint64_t at, const void *bytes, size_t len)
{
    return s->memory >= 0 && pwrite(s->memory, bytes, len, (off_t)at) == (ssize_t)len;
}

/* The whole text of the list; the caller frees it. NULL: it cannot be read, or is empty. */
static char *maps_text(int fd)
{
    VEC(char) text = {0};
    ssize_t n = fd < 0 || lseek(fd, 0, SEEK_SET) < 0 ? -1 : 1;
    while (n > 0) {
        vec_reserve(&text, text.len + 65536);
        n = read(fd, text.at + text.len, 65535);
        text.len += n > 0 ? (size_t)n : 0;
    }
    if (!text.len) {
        vec_free(&text);
        return NULL;
    }
    text.at[text.len] = '\0';
    return text.at;
}

bool space_look(struct space *s, pid_t tid, struct space_files *files)
{
    char *text = maps_text(s->maps), *rest = text;
    if (!text)
        return false;
    s->images.len = s->ranges.len = 0;
    for (char *line; (line = strsep(&rest, "\n"));) {
        struct proc_mapping m;
        struct space_image image = {0};
        if (!proc_parse_mapping(line, &m))
            continue;
        image.is_private = m.rights[3] == 'p';
        if (m.rights[0] == 'r')
            vec_push(&s->ranges,
                     (struct space_range){m.start, m.end, image.is_private && m.rights[1] == 'w'});
        if (m.rights[2] != 'x' || *m.path != '/' || !(image.file = file_of(files, tid, &m)) ||
            !file_bias(image.file, &m, &image.bias))
            continue;
        image.start = m.start;
        image.end = m.end;
        vec_push(&s->images, image);
    }
    free(text);
    return true;
}

bool space_holds(const struct space *s, uint64_t at, uint64_t len, bool is_private)
{
    for (size_t i = 0; i < s->ranges.len && len; i++) {
        const struct space_range *r = &s->ranges.at[i];
        if (at < r->start || at >= r->end || (is_private && !r->is_private))
            continue;
        uint64_t here = r->end - at < len ? r->end - at : len;
        at += here;
        len -= here;
    }
    return !len;
}

uint64_t space_size(const struct space *s)
{
    uint64_t size = 0;
    for (size_t i = 0; i < s->ranges.len; i++)
        size += s->ranges.at[i].end - s->ranges.at[i].start;
    return size;
}

/* --- breakpoints ----------------------------------------------------------------------------- */

/* NULL: breakpoints are not set on this machine. */
static const struct arch *breakpoint_arch(void)
{
    const struct arch *arch = arch_own();
    return arch && arch->breakpoint_len && arch->calls ? arch : NULL;
}

/* An address of a function in an image; 0: it is not there. */
static uint64_t image_place(const struct space_image *image, enum space_place place)
{
    const struct space_function *f = &image->file->places[place];
    uint64_t at = f->address + image->bias;
    return f->address && image->is_private && at >= image->start && at < image->end ? at : 0;
}

/* Where memory holds `from`, it gets `to`. */
static void breakpoints_replace(struct space *s, bool sets)
{
    const struct arch *arch = breakpoint_arch();
    uint8_t now[4];
    for (size_t i = 0; arch && i < s->images.len; i++)
        for (int k = 0; k < SPACE_PLACES; k++) {
            const uint8_t *code = s->images.at[i].file->places[k].code;
            uint64_t at = image_place(&s->images.at[i], (enum space_place)k);
            size_t len = arch->breakpoint_len;
            if (at && space_read(s, at, now, len) && memcmp(code, arch->breakpoint, len) &&
                !memcmp(now, sets ? code : arch->breakpoint, len))
                (void)space_write(s, at, sets ? arch->breakpoint : code, len);
        }
}

void space_set_breakpoints(struct space *s)
{
    breakpoints_replace(s, true);
}

void space_clear_breakpoints(struct space *s)
{
    breakpoints_replace(s, false);
}

const struct space_image *space_breakpoint(const struct space *s, uint64_t at,
                                           enum space_place *place)
{
    for (size_t i = 0; i < s->images.len; i++)
        for (int k = 0; k < SPACE_PLACES; k++)
            if (at && image_place(&s->images.at[i], (enum space_place)k) == at) {
                *place = (enum space_place)k;
                return &s->images.at[i];
            }
    return NULL;
}

/* The instructions that such functions begin with: a mark for jumps (endbr), a return, and
 * `mov $number, %eax`, which begins a system call. */
bool space_pass_breakpoint(struct space *s, const struct space_image *image, enum space_place place,
                           pid_t tid)
{
    static const uint8_t MARK[] = {0xf3, 0x0f, 0x1e};
    const struct arch *arch = breakpoint_arch();
    const struct space_function *f = &image->file->places[place];
    const uint8_t *code = f->code;
    if (!arch)
        return false;
    long pc = arch->calls->pc * (long)sizeof(long), sp = arch->calls->sp * (long)sizeof(long);
    long result = arch->calls->result * (long)sizeof(long);
    uint64_t at = f->address + image->bias, to = 0;
    uint32_t number;
    memcpy(&number, code + 1, sizeof number);
    if (!memcmp(code, MARK, sizeof MARK))
        return !ptrace(PTRACE_POKEUSER, tid, pc, at + 4);
    if (code[0] == 0xb8)
        return !ptrace(PTRACE_POKEUSER, tid, result, (uint64_t)number) &&
               !ptrace(PTRACE_POKEUSER, tid, pc, at + 5);
    errno = 0;
    uint64_t stack = (uint64_t)ptrace(PTRACE_PEEKUSER, tid, sp, 0);
    if ((code[0] == 0xc3 || (code[0] == 0xf3 && code[1] == 0xc3)) && !errno &&
        space_read(s, stack, &to, image->file->word))
        return !ptrace(PTRACE_POKEUSER, tid, pc, to) &&
               !ptrace(PTRACE_POKEUSER, tid, sp, stack + image->file->word);
    return space_write(s, at, code, arch->breakpoint_len) && !ptrace(PTRACE_POKEUSER, tid, pc, at);
}
