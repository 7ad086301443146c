/* The names gcov looks for and writes: notes and counters of an argument, sources, reports. */
#ifndef MONARC_GNU_GCOV_GCOV_NAMES_H
#define MONARC_GNU_GCOV_GCOV_NAMES_H

#include "base/arena.h"
#include "gnu/gcov/as_gcov.h"

/* The argument, or with -o what that says, without its extension: "x.gcno" is beside it. */
char *gcov_stem(const struct gcov_options *o, const char *argument, struct arena *a);

/* A path without "." and, where no link is in between, without "dir/..". Asks the file system. */
char *gcov_canonical(const char *path, struct arena *a);

/* The report's file for a source: "x.c.gcov" by default. */
char *gcov_report_name(const struct gcov_options *o, const char *argument, const char *source,
                       struct arena *a);

/* The JSON document's file for an argument: "x.gcov.json.gz" by default. */
char *gcov_json_name(const struct gcov_options *o, const char *argument, struct arena *a);

#endif
