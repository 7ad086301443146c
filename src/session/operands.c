/* What an operand of a command is, by its name and its first bytes. */
#include "session/operands.h"

#include "base/path.h"
#include "session/recorded.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

bool is_program(const char *path)
{
    char magic[4];
    int fd = is_folder(path) ? -1 : open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return false;
    bool is_elf = read(fd, magic, sizeof magic) == sizeof magic && !memcmp(magic, "\177ELF", 4);
    close(fd);
    return is_elf;
}

static bool has_recording(const char *folder)
{
    struct arena scratch = {0};
    size_t len;
    char **runs = recorded_runs(folder, &scratch, &len);
    bool has_one = !access(arena_printf(&scratch, "%s/monarc.side", runs[0]), F_OK);
    arena_deinit(&scratch);
    return has_one;
}

bool is_coverage_operand(const char *name)
{
    static const char *const SUFFIXES[] = {".gcno", ".gcda", ".bbg",  ".bb",
                                           ".da",   ".info", ".json", ".xml"};
    if (is_folder(name))
        return !has_recording(name) && !path_has_suffix(name, ".monarc");
    for (size_t i = 0; i < sizeof SUFFIXES / sizeof *SUFFIXES; i++)
        if (path_has_suffix(name, SUFFIXES[i]))
            return true;
    return false;
}
