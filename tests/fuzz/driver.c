/* Runs a fuzz target over the files of directories, without libFuzzer: `fuzz_NAME DIRECTORY...`.
 * Each file is also tried cut short at every byte and with single fields overwritten; with
 * DRIVER_STEP, at one byte of so many. MONARC_PART=quick takes one of QUICK_PLACES of these
 * places, which is no multiple of a field's width, =slow the others (tests/parts.py). */
#include "base/file.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#ifndef DRIVER_STEP
#define DRIVER_STEP 1
#endif
#ifndef QUICK_PLACES
#define QUICK_PLACES 11
#endif

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The next place after `at` that this part of a run takes. */
static size_t next_place(size_t at)
{
    const char *part = getenv("MONARC_PART");
    at += DRIVER_STEP;
    if (part && !strcmp(part, "quick"))
        return at + (QUICK_PLACES - 1) * DRIVER_STEP;
    if (part && !strcmp(part, "slow") && at / DRIVER_STEP % QUICK_PLACES == 0)
        return at + DRIVER_STEP;
    return at;
}

/* In a block of its own, so that a sanitizer sees a read beyond it. */
static void try(const uint8_t *data, size_t size)
{
    uint8_t *copy = malloc(size ? size : 1);
    if (!copy)
        abort();
    memcpy(copy, data, size);
    LLVMFuzzerTestOneInput(copy, size);
    free(copy);
}

/* A field of `width` bytes at `at` becomes 0, 1 in either order, and all ones. */
static void try_field(uint8_t *data, size_t size, size_t at, size_t width)
{
    uint8_t was[8];
    memcpy(was, data + at, width);
    for (unsigned value = 0; value < 4; value++) {
        memset(data + at, value == 3 ? 0xff : 0, width);
        if (value == 1)
            data[at] = 1;
        if (value == 2)
            data[at + width - 1] = 1;
        try(data, size);
    }
    memcpy(data + at, was, width);
}

static void try_file(const char *path)
{
    enum { FIELDS_END = 150 };
    struct file_buffer b = {0};
    struct err e = {0};
    if (!file_read(path, &b, &e)) {
        fprintf(stderr, "%s\n", e.line);
        exit(1);
    }
    for (size_t len = 0; len < b.len; len = next_place(len))
        try(b.at, len);
    try(b.at, b.len);
    for (size_t width = 1; width <= 8; width *= 2)
        for (size_t at = 0; at + width <= b.len && at < FIELDS_END; at = next_place(at))
            try_field(b.at, b.len, at, width);
    file_buffer_deinit(&b);
}

int main(int argc, char **argv)
{
    int files = 0;
    for (int i = 1; i < argc; i++) {
        DIR *directory = opendir(argv[i]);
        for (struct dirent *entry; directory && (entry = readdir(directory));) {
            char path[4096];
            struct stat st;
            snprintf(path, sizeof path, "%s/%s", argv[i], entry->d_name);
            if (stat(path, &st) || !S_ISREG(st.st_mode))
                continue;
            try_file(path);
            files++;
        }
        if (directory)
            closedir(directory);
    }
    printf("%d files\n", files);
    return files ? 0 : 1;
}
