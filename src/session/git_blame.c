/* One process a file, whose output is read to its end. */
#include "session/git_blame.h"

#include "base/path.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

struct git_output {
    VEC(uint8_t) bytes;
};

static pid_t git_start(char *folder, char *file, int output)
{
    char git[] = "git", c[] = "-C", option[] = "-c", monitor[] = "core.fsmonitor=false";
    char command[] = "blame", how[] = "--porcelain", end[] = "--";
    char *arguments[] = {git, option, monitor, c, folder, command, how, end, file, NULL};
    posix_spawn_file_actions_t actions;
    pid_t pid = 0;
    if (posix_spawn_file_actions_init(&actions))
        return 0;
    if (posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0) ||
        posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO) ||
        posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0) ||
        posix_spawnp(&pid, git, &actions, NULL, arguments, environ))
        pid = 0;
    posix_spawn_file_actions_destroy(&actions);
    return pid;
}

static void git_read_all(int input, struct git_output *out)
{
    uint8_t block[16384];
    for (ssize_t len; (len = read(input, block, sizeof block)) > 0 || (len < 0 && errno == EINTR);)
        for (ssize_t i = 0; i < len; i++)
            vec_push(&out->bytes, block[i]);
}

/* Whether git said all that there is. */
static bool git_run(char *folder, char *file, struct git_output *out)
{
    int ends[2], status = -1;
    if (pipe2(ends, O_CLOEXEC))
        return false;
    pid_t pid = git_start(folder, file, ends[1]);
    close(ends[1]);
    if (pid)
        git_read_all(ends[0], out);
    close(ends[0]);
    while (pid && waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    return pid && !status;
}

bool git_blame(const char *path, struct blame *out, struct err *e)
{
    struct arena scratch = {0};
    struct git_output said = {0};
    const char *base = path_base_name(path);
    char *folder = base > path ? arena_copy(&scratch, path, (size_t)(base - path))
                               : arena_copy(&scratch, ".", 1);
    char *file = arena_copy(&scratch, base, strlen(base));
    bool ok = git_run(folder, file, &said) &&
              blame_read((struct bytes){said.bytes.at, said.bytes.len}, path, out, e);
    if (!ok) {
        blame_deinit(out);
        *out = (struct blame){0};
        err_in(e, path, "git does not know who wrote it");
    }
    vec_free(&said.bytes);
    arena_deinit(&scratch);
    return ok;
}
