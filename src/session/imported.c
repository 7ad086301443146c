/* Recognising and reading files of other profilers.
 *
 * The first 64 kB decide which format a file has (importer_of()): each format has its magic number
 * or its first words there, and text that no format knows is none of them. So it costs one read to
 * ask about an operand that is a program. The file is then read whole, by its format's reader.
 *
 * `perf record --threads` writes a folder: `data` has the header, the attributes and what tasks
 * did, data.0, data.1 and so on have the samples of one buffer each. They are one recording, and
 * the reader of perf.data merges the streams by time. A gap in the numbers means that a file is
 * missing, and is an error: its samples would be missing from every report without a word. */
#include "session/imported.h"

#include "base/file.h"
#include "base/path.h"
#include "profile/import/import.h"
#include "profile/import/perf.h"
#include "session/recorded.h"

#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FIRST_BYTES = 1 << 16 };

/* Whether a file begins as one that can be imported; not of folders, nor of what cannot be read.
 * Pipes are left alone: reading consumes them. */
static bool is_imported(const char *path)
{
    struct stat st;
    uint8_t *first;
    bool is_one = false;
    int fd = strcmp(path, "-") ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : -1;
    if (fd < 0)
        return false;
    if (!fstat(fd, &st) && S_ISREG(st.st_mode) && (first = malloc(FIRST_BYTES))) {
        ssize_t len = read(fd, first, FIRST_BYTES);
        is_one = len > 0 && importer_of(bytes_without_mark((struct bytes){first, (size_t)len}));
        free(first);
    }
    close(fd);
    return is_one;
}

bool is_recording(const char *path)
{
    return path_is_folder(path) || is_imported(path);
}

/* --- folders of 'perf record --threads' ------------------------------------------------------- */

bool is_perf_folder(const char *path)
{
    struct arena scratch = {0};
    const char *head = arena_printf(&scratch, "%s/data", path);
    const char *side = arena_printf(&scratch, "%s/monarc.side", path);
    bool is_one = path_is_folder(path) && access(side, F_OK) && is_imported(head);
    arena_deinit(&scratch);
    return is_one;
}

struct perf_folder {
    struct arena arena;
    VEC(struct file_map) files;
    VEC(struct perf_data_stream) streams;
};

/* How many files data.N there are, whatever their numbers. */
static size_t perf_folder_count(const char *path)
{
    size_t len = 0;
    DIR *folder = opendir(path);
    for (struct dirent *d; folder && (d = readdir(folder));) {
        const char *number = !strncmp(d->d_name, "data.", 5) ? d->d_name + 5 : "";
        len += *number && strspn(number, "0123456789") == strlen(number);
    }
    if (folder)
        closedir(folder);
    return len;
}

/* data.0, data.1 and so on: none is missing between them. */
static bool perf_folder_streams(struct perf_folder *f, const char *path, struct err *e)
{
    size_t len = perf_folder_count(path);
    if (!len)
        return err_in(e, path, "has no data.0: there are no samples in the folder");
    for (size_t i = 0; i < len; i++) {
        const char *name = arena_printf(&f->arena, "%s/data.%zu", path, i);
        struct file_map file = {0};
        bool ok = file_map(name, &file, e);
        vec_push(&f->files, file);
        if (!ok)
            return false;
        vec_push(&f->streams, (struct perf_data_stream){file_map_bytes(&file), name});
    }
    return true;
}

static bool perf_folder(const char *path, struct recording *out, struct err *e)
{
    struct perf_folder f = {0};
    struct file_map head = {0};
    const char *name = arena_printf(&f.arena, "%s/data", path);
    bool ok = file_map(name, &head, e) && perf_folder_streams(&f, path, e);
    struct perf_data_options o = {.streams = f.streams.at, .streams_len = f.streams.len};
    ok = ok && perf_data_read(file_map_bytes(&head), name, &o, out, NULL, e);
    file_map_deinit(&head);
    for (size_t i = 0; i < f.files.len; i++)
        file_map_deinit(&f.files.at[i]);
    vec_free(&f.files);
    vec_free(&f.streams);
    arena_deinit(&f.arena);
    return ok;
}

bool imported_read(const char *path, struct recording *out, struct err *e)
{
    if (is_perf_folder(path))
        return perf_folder(path, out, e);
    struct file_map file = {0};
    const char *name = strcmp(path, "-") ? path : "(standard input)";
    bool ok = file_map(path, &file, e);
    /* Offsets in messages are those after the mark, which no reader sees. */
    struct bytes bytes = bytes_without_mark(file_map_bytes(&file));
    const struct importer *importer = ok ? importer_of(bytes) : NULL;
    if (ok && !importer)
        ok = err_in(e, name, "is neither a recording nor a file of another profiler");
    ok = ok && importer->read(bytes, name, out, e);
    file_map_deinit(&file);
    return ok;
}
