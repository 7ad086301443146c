/* One line a problem. See report.h. Called under the library's lock. */
#include "report.h"
#include "../common/sys.h"
#include "../common/text.h"
#include "names.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>

#define REASONS 4

static struct reason {
    long error;
    unsigned files;
    char first[PATH_MAX];
} reasons[REASONS];

static bool reported;

static const char *words_for(long error)
{
    switch (-error) {
    case EACCES: return "permission denied";
    case EPERM: return "operation not permitted";
    case EROFS: return "read-only file system";
    case ENOSPC: return "no space left on the disk";
    case EDQUOT: return "disk quota exceeded";
    case EFBIG: return "file size limit";
    case ENOENT: return "no such folder";
    case ENOTDIR: return "a part of the path is not a folder";
    case EISDIR: return "it is a folder";
    case ENAMETOOLONG: return "the path is too long";
    case EMFILE:
    case ENFILE: return "too many open files";
    case EBUSY: return "other processes keep changing it";
    case EEXIST: return "the name of its .part or .lock file is taken by something else";
    case ENOMEM: return "out of memory";
    case EIO: return "input/output error";
    case EINVAL: return "not a regular file";
    case ELOOP: return "too many symbolic links";
    default: return NULL;
    }
}

/* A pipe without a reader, or that is full, must not stop the program: standard error then. */
static void write_line(struct text *t)
{
    const char *file = names_variable("GCOV_ERROR_FILE");
    long fd = -1, r = -1;
    text_add(t, "\n");
    if (file && *file)
        fd = sys_open(file, O_WRONLY | O_CREAT | O_APPEND | O_NONBLOCK, 0666);
    if (fd >= 0) {
        r = sys_write_quietly((int)fd, t->at, t->used);
        sys_close((int)fd);
    }
    if (r != 0)
        sys_write_quietly(2, t->at, t->used);
    reported = true;
}

/* Too large for the stack of a signal handler. */
static char line[PATH_MAX + 512];

static struct text begin_line(const char *path)
{
    struct text t = text_in(line, sizeof line - 2);
    text_add(&t, "libmonarc_cover: ");
    text_add(&t, path);
    text_add(&t, ": ");
    return t;
}

void report(const char *path, const char *text, const char *detail)
{
    struct text t = begin_line(path);
    text_add(&t, text);
    text_add(&t, detail ? " " : "");
    text_add(&t, detail ? detail : "");
    write_line(&t);
}

void report_lost(const char *path, long error)
{
    int i = 0;
    while (i < REASONS - 1 && reasons[i].files && reasons[i].error != error)
        i++;
    if (reasons[i].files++ == 0) {
        struct text t = text_in(reasons[i].first, sizeof reasons[i].first);
        reasons[i].error = error;
        text_add(&t, path);
    }
}

static void report_reason(struct reason *r)
{
    struct text t = begin_line(r->first);
    const char *words = words_for(r->error);
    text_add(&t, words ? words : "error ");
    if (!words)
        text_add_number(&t, (uint64_t)-r->error);
    if (r->files > 1) {
        text_add(&t, ", and ");
        text_add_number(&t, r->files - 1);
        text_add(&t, " more files");
    }
    text_add(&t, "; the counts of this run are lost, existing files are unchanged");
    write_line(&t);
}

void report_lost_files(void)
{
    for (int i = 0; i < REASONS; i++) {
        if (reasons[i].files)
            report_reason(&reasons[i]);
        reasons[i].files = 0;
    }
}

bool report_any(void)
{
    return reported;
}
