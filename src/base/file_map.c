/* Mapping files. What cannot be mapped is read. */
#include "base/file_map.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LEAST_BYTES = 1 << 20 }; /* copying less is cheaper than the faults of a mapping */

static bool map_opened(int fd, struct file_map *m)
{
    struct stat st;
    if (fstat(fd, &st) || !S_ISREG(st.st_mode) || st.st_size < LEAST_BYTES)
        return false;
    void *at = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (at == MAP_FAILED)
        return false;
    m->mapping = at;
    m->len = (size_t)st.st_size;
    return true;
}

bool file_map(const char *path, struct file_map *m, struct err *e)
{
    int fd = strcmp(path, "-") ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY) : -1;
    bool is_mapped = fd >= 0 && map_opened(fd, m);
    if (fd >= 0)
        close(fd);
    return is_mapped || file_read(path, &m->buffer, e);
}

void file_map_deinit(struct file_map *m)
{
    if (m->mapping)
        munmap(m->mapping, m->len);
    file_buffer_deinit(&m->buffer);
    *m = (struct file_map){0};
}
