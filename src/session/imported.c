/* Telling files of other profilers from programs and profiles, and reading them. */
#include "session/imported.h"

#include "base/file_map.h"
#include "profile/import/import.h"
#include "session/recorded.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FIRST_BYTES = 1 << 16 };

/* Pipes are left alone: what is read of them is gone. */
bool is_imported(const char *path)
{
    struct stat st;
    uint8_t *first;
    bool is_one = false;
    int fd = strcmp(path, "-") ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : -1;
    if (fd < 0)
        return false;
    if (!fstat(fd, &st) && S_ISREG(st.st_mode) && (first = malloc(FIRST_BYTES))) {
        ssize_t len = read(fd, first, FIRST_BYTES);
        is_one = len > 0 && importer_of((struct bytes){first, (size_t)len});
        free(first);
    }
    close(fd);
    return is_one;
}

bool is_recording(const char *path)
{
    return is_folder(path) || is_imported(path);
}

bool imported_read(const char *path, struct run *out, struct err *e)
{
    struct file_map file = {0};
    const char *name = strcmp(path, "-") ? path : "(standard input)";
    bool ok = file_map(path, &file, e);
    struct bytes bytes = file_map_bytes(&file);
    const struct importer *importer = ok ? importer_of(bytes) : NULL;
    if (ok && !importer)
        ok = err_in(e, name, "is neither a recording nor a file of another profiler");
    ok = ok && importer->read(bytes, name, out, e);
    file_map_deinit(&file);
    return ok;
}
