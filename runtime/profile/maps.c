/* Reads /proc/self/maps. See maps.h, proc(5). */
#include "maps.h"
#include "../common/sys.h"
#include "../common/text.h"

struct mapping {
    uint64_t start, end, offset;
    const char *path; /* "" for none */
};

static uint64_t hexadecimal(const char **at)
{
    uint64_t n = 0;
    for (;; ++*at) {
        char c = **at;
        if (c >= '0' && c <= '9')
            n = n * 16 + (uint64_t)(c - '0');
        else if (c >= 'a' && c <= 'f')
            n = n * 16 + (uint64_t)(c - 'a' + 10);
        else
            return n;
    }
}

static const char *next_field(const char *at)
{
    while (*at && *at != ' ')
        at++;
    while (*at == ' ')
        at++;
    return at;
}

/* "start-end perms offset device inode path" */
static struct mapping take_line(const char *line)
{
    struct mapping m = {0};
    m.start = hexadecimal(&line);
    line += *line == '-';
    m.end = hexadecimal(&line);
    line = next_field(next_field(line));
    m.offset = hexadecimal(&line);
    m.path = next_field(next_field(next_field(line)));
    return m;
}

struct search {
    uint64_t address, start; /* of the latest mapping of a file's first bytes */
    char *path;              /* of that file */
    size_t path_bytes;
};

/* True at the line that decides. */
static bool look_at(struct search *s, const char *line, bool *is_found)
{
    struct mapping m = take_line(line);
    if (m.offset == 0 && m.path[0] == '/') {
        struct text t = text_in(s->path, s->path_bytes);
        text_add(&t, m.path);
        s->start = t.cut ? 0 : m.start;
    }
    *is_found = s->address >= m.start && s->address < m.end && s->start && m.path[0] == '/' &&
                text_equal(m.path, s->path);
    return s->address < m.end;
}

static void drop_deleted(char *path)
{
    static const char mark[] = " (deleted)";
    size_t n = text_length(path), k = sizeof mark - 1;
    if (n > k && text_equal(path + n - k, mark))
        path[n - k] = 0;
}

bool maps_find(uint64_t address, uint64_t *start, char *path, size_t path_bytes, char *buffer,
               size_t buffer_bytes)
{
    struct search s = {.address = address, .path = path, .path_bytes = path_bytes};
    bool is_decided = false, is_found = false;
    size_t used = 0;
    long n, fd = sys_open("/proc/self/maps", 0, 0);
    if (sys_failed(fd))
        return false;
    while (!is_decided && (n = sys_read((int)fd, buffer + used, buffer_bytes - used)) > 0) {
        size_t line = 0;
        used += (size_t)n;
        for (size_t i = 0; i < used && !is_decided; i++) {
            if (buffer[i] != '\n')
                continue;
            buffer[i] = 0;
            is_decided = look_at(&s, buffer + line, &is_found);
            line = i + 1;
        }
        used -= line;
        bytes_copy(buffer, buffer + line, used);
    }
    sys_close((int)fd);
    *start = s.start;
    drop_deleted(path);
    return is_found;
}
