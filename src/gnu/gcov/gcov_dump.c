/* monarc gcov-dump, or monarc started as gcov-dump: the records of gcno and gcda files, as
 * gcov-dump 12 prints them.
 *
 * Files of other versions are printed in their own layout, as their own gcov-dump does. A file that
 * breaks off is printed up to its last whole record, then said to be broken; GNU's goes on with
 * zeros (docs/compat.md). */
#include "gnu/gcov/gcov_dump.h"

#include "base/file.h"
#include "command/command.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const struct option_row OPTIONS[] = {
    {'l', "long", NULL, "dump the contents of records too"},
    {'p', "positions", NULL, "print the offset of each record"},
    {'r', "raw", NULL, "print the counters of a record on one line"},
    {'v', "version", NULL, "print the version"},
};

static const struct option LONG[] = {
    {"help", no_argument, NULL, 'h'}, {"version", no_argument, NULL, 'v'},
    {"long", no_argument, NULL, 'l'}, {"positions", no_argument, NULL, 'p'},
    {"raw", no_argument, NULL, 'r'},  {0}};

static const char VERSION[] = "gcov-dump (monarc) 12.2.0\n"
                              "monarc " MONARC_VERSION " stands in for it.\n"
                              "There is no warranty, to the extent permitted by law.\n\n";

static int parse(int argc, char **argv, const struct command *self, struct gcov_dump *d)
{
    optind = 0;
    for (int code; (code = getopt_long(argc, argv, "hlprvw", LONG, NULL)) != -1;) {
        switch (code) {
        case 'h': command_help(self, d->out); return EXIT_FINE;
        case 'v': out_str(d->out, VERSION); return EXIT_FINE;
        case 'l': d->is_long = true; break;
        case 'p': d->has_positions = true; break;
        case 'r': d->is_raw = true; break;
        default: out_printf(d->complaints, "unknown flag `%c'\n", code);
        }
    }
    return -1;
}

static bool dump(struct gcov_dump *d, const char *path, struct file_buffer *b)
{
    struct err e = {0};
    if (access(path, R_OK) && !errno_is_trouble(errno)) {
        out_printf(d->complaints, "%s:cannot open\n", path);
        return true;
    }
    b->len = 0;
    struct stat st;
    bool is_folder = !stat(path, &st) && S_ISDIR(st.st_mode);
    if (!is_folder && !file_read_if(path, gcov_dump_is_file, b, &e)) {
        out_printf(d->complaints, "%s\n", e.line);
        return false;
    }
    if (is_folder || !gcov_dump_is_file(file_bytes(b))) {
        out_printf(d->out, "%s:not a gcov file\n", path);
        return true;
    }
    if (gcov_dump_print(d, path, file_bytes(b), &e))
        return true;
    out_printf(d->complaints, "%s\n", e.line);
    return false;
}

static int run(const struct command *self, int argc, char **argv, struct out *out, struct err *e)
{
    struct out complaints;
    struct file_buffer b = {0};
    out_init(&complaints, STDERR_FILENO);
    struct gcov_dump d = {.out = out, .complaints = &complaints};
    int status = parse(argc, argv, self, &d);
    if (status < 0) {
        status = EXIT_FINE;
        for (int i = optind; i < argc; i++)
            if (!dump(&d, argv[i], &b))
                status = EXIT_DIFFERS;
    }
    file_buffer_deinit(&b);
    if (!out_finish(&complaints, "standard error", e))
        status = EXIT_BAD;
    out_deinit(&complaints);
    return status;
}

const struct command command_gcov_dump = {
    .name = "gcov-dump",
    .synopsis = "[OPTION...] FILE...",
    .summary = "Print the records of gcno and gcda files, as gcov-dump 12 does",
    .is_lookalike = true,
    .options = OPTIONS,
    .options_len = sizeof OPTIONS / sizeof *OPTIONS,
    .run = run,
};
