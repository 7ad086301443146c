/* Claims the output folder.
 *
 * Without MONARC_OUT: PROGRAM.monarc in the working directory of the start, or, when that exists,
 * PROGRAM.PID.monarc, PROGRAM.PID.2.monarc and so on. With MONARC_OUT: that folder, unless a
 * recording is in it already; then OUT/PID, OUT/PID.2. A rank of a parallel job records into
 * rank.N in OUT or PROGRAM.monarc, or rank.N.2 and so on. A forked child records into PID inside
 * its first ancestor's folder. mkdir and O_EXCL decide, so two processes never share a folder, on
 * network file systems neither. Under a monitor always OUT/PID, in a folder that is there. */
#include "folder.h"
#include "../common/sys.h"
#include "../common/text.h"
#include "process.h"

#include <fcntl.h>

#define TRIES 1000

/* The folder of the first process of this line; a forked child finds it here. */
static char root[PATH_MAX];

bool folder_path(const char *folder, const char *name, char *to)
{
    struct text t = text_in(to, PATH_MAX);
    text_add(&t, folder);
    text_add(&t, "/");
    text_add(&t, name);
    return !t.cut;
}

/* Creates the live file in p->folder; that is what makes the folder ours. */
static bool claim(struct process *p, long *fd)
{
    if (!folder_path(p->folder, "monarc.live", p->path) ||
        !folder_path(p->folder, "monarc.side", p->other))
        return false;
    *fd = sys_open(p->path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, 0600);
    if (sys_failed(*fd))
        return false;
    if (!sys_exists(p->other))
        return true;
    sys_close((int)*fd);
    sys_unlink(p->path);
    return false;
}

/* p->folder = "<stem>[.PID][.try]<suffix>" */
static bool name_folder(struct process *p, const char *stem, bool with_pid, int try,
                        const char *suffix)
{
    struct text t = text_in(p->folder, sizeof p->folder);
    text_add(&t, stem);
    if (with_pid) {
        text_add(&t, t.used && t.at[t.used - 1] == '/' ? "" : ".");
        text_add_number(&t, (uint64_t)p->pid);
    }
    if (try > 1) {
        text_add(&t, ".");
        text_add_number(&t, (uint64_t)try);
    }
    text_add(&t, suffix);
    return !t.cut;
}

/* Makes the first folder of a numbered series that does not exist yet, and claims it. */
static bool make_numbered(struct process *p, const char *stem, bool with_pid, const char *suffix,
                          long *fd)
{
    for (int try = 1; try < TRIES; try++) {
        if (!name_folder(p, stem, with_pid, try, suffix))
            return false;
        long made = sys_mkdir(p->folder, FOLDER_MODE);
        if (made == 0)
            return claim(p, fd);
        if (made != -17 /* EEXIST */)
            return false;
    }
    return false;
}

static bool claim_inside(struct process *p, const char *folder, long *fd)
{
    return folder_path(folder, "", p->stem) && make_numbered(p, p->stem, true, "", fd);
}

/* p->stem = "<working directory>/<program>" */
static bool name_after_program(struct process *p)
{
    if (sys_failed(SYS3(SYS_getcwd, p->stem, sizeof p->stem, 0)))
        return false;
    struct text t = {p->stem, text_length(p->stem), sizeof p->stem, false};
    text_add(&t, "/");
    text_add(&t, text_base(p->exe));
    return !t.cut;
}

static bool claim_default(struct process *p, long *fd)
{
    if (!name_after_program(p) || !name_folder(p, p->stem, false, 1, ".monarc"))
        return false;
    if (sys_mkdir(p->folder, FOLDER_MODE) == 0)
        return claim(p, fd);
    return make_numbered(p, p->stem, true, ".monarc", fd);
}

/* All ranks of a job share the folder around theirs, on whatever machines they are. */
static bool claim_rank(struct process *p, long *fd)
{
    struct text t = text_in(p->folder, sizeof p->folder);
    if (config.out[0])
        text_add(&t, config.out);
    else if (!name_after_program(p) || !name_folder(p, p->stem, false, 1, ".monarc"))
        return false;
    sys_mkdir(p->folder, FOLDER_MODE);
    struct text stem = text_in(p->stem, sizeof p->stem);
    text_add(&stem, p->folder);
    text_add(&stem, "/rank.");
    text_add(&stem, config.rank);
    return !t.cut && !stem.cut && make_numbered(p, p->stem, false, "", fd);
}

bool folder_claim(struct process *p, long *fd)
{
    if (config.classic)
        return false;
    if (config.monitored)
        return config.out[0] && claim_inside(p, config.out, fd);
    if (root[0])
        return claim_inside(p, root, fd);
    bool ours;
    if (config.rank[0]) {
        ours = claim_rank(p, fd);
        bytes_copy(root, p->folder, ours ? sizeof root : 0);
    } else if (config.out[0]) {
        struct text t = text_in(p->folder, sizeof p->folder);
        text_add(&t, config.out);
        sys_mkdir(p->folder, FOLDER_MODE);
        ours = claim(p, fd) || claim_inside(p, config.out, fd);
        bytes_copy(root, config.out, sizeof root);
    } else {
        ours = claim_default(p, fd);
        bytes_copy(root, p->folder, ours ? sizeof root : 0);
    }
    return ours;
}
