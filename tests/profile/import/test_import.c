/* The table of imports: each row has its page, seeds and fuzz target, and finds its own seeds. */
#include "base/file.h"
#include "cases.h"
#include "profile/import/import.h"
#include "seeds.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void path_of(char *into, size_t room, const char *folder, const char *name)
{
    snprintf(into, room, "%s/%s/%s", getenv("MONARC_SOURCE"), folder, name);
}

static void expect_mentioned(const char *file, const char *text)
{
    char path[4096];
    struct file_buffer b = {0};
    struct err e = {0};
    path_of(path, sizeof path, ".", file);
    assert_true(file_read(path, &b, &e));
    if (!memmem(b.at, b.len, text, strlen(text)))
        fail_msg("%s does not mention %s", file, text);
    file_buffer_deinit(&b);
}

/* Some seeds are for the reader alone: damaged ones. */
static void expect_own_seeds(const struct importer *importer)
{
    char folder[4096], path[8192];
    unsigned own = 0;
    snprintf(folder, sizeof folder, "%s/tests/corpus/%s", getenv("MONARC_SOURCE"), importer->name);
    DIR *directory = opendir(folder);
    assert_non_null(directory);
    for (struct dirent *entry; (entry = readdir(directory));) {
        struct file_buffer b = {0};
        struct err e = {0};
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        if (entry->d_name[0] == '.')
            continue;
        assert_true(file_read(path, &b, &e));
        const struct importer *found = importer_of(file_bytes(&b));
        if (found && found != importer)
            fail_msg("%s is taken for %s", path, found->title);
        own += found == importer;
        file_buffer_deinit(&b);
    }
    closedir(directory);
    assert_true(own > 0);
}

CASE(rows_are_complete)
{
    for (size_t i = 0; i < importers_len; i++) {
        char text[64];
        expect_own_seeds(&importers[i]);
        snprintf(text, sizeof text, "| %s |", importers[i].name);
        expect_mentioned("docs/import.md", text);
        snprintf(text, sizeof text, "'%s'", importers[i].name);
        expect_mentioned("tests/fuzz/meson.build", text);
    }
}

CASE(other_files_are_none)
{
    static const char *const others[] = {
        "",        "\n",         "int main(void)\n{\n    return 0;\n}\n",    "gmon\1\0\0\0",
        "\177ELF", "1 2\n3 4\n", "TN:\nSF:/src/a.c\nDA:1,1\nend_of_record\n"};
    (void)state;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        assert_null(importer_of((struct bytes){(const uint8_t *)others[i], strlen(others[i])}));
}

/* Stacks of short names look like fields of a message for a while. */
CASE(folded_stacks_are_nothing_else)
{
    enum { FILES = 3000, ROOM = 1 << 15 };
    struct draws d = draws_of("folded stacks");
    char *text = malloc(ROOM);
    (void)state;
    for (int i = 0; i < FILES; i++) {
        size_t len = (size_t)sprintf(text, "%c;%c 1\n", (int)('a' + draws_below(&d, 26)),
                                     (int)('A' + draws_below(&d, 26)));
        size_t end = draws_below(&d, 4) ? 200 : ROOM - 64;
        while (len < end) {
            for (uint64_t frames = 1 + draws_below(&d, 9); frames; frames--)
                len += (size_t)sprintf(text + len, "%c%s",
                                       (int)("aAgz"[draws_below(&d, 4)] + draws_below(&d, 8)),
                                       frames > 1 ? ";" : "");
            len += (size_t)sprintf(text + len, " %d\n", (int)draws_below(&d, 100));
        }
        const struct importer *found = importer_of((struct bytes){(const uint8_t *)text, len});
        if (!found || strcmp(found->name, "folded") != 0)
            fail_msg("%.80s... is taken for %s", text, found ? found->name : "nothing");
    }
    free(text);
}
