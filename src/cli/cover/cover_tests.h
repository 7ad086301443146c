/* `monarc cover --by-test` and its kind: answers about tests instead of a report on coverage. */
#ifndef MONARC_CLI_COVER_COVER_TESTS_H
#define MONARC_CLI_COVER_COVER_TESTS_H

#include "cli/cover/cover_options.h"

/* Opens, answers and closes; an exit status. */
int cover_tests(const struct cover_options *o, struct out *out, struct err *e);

#endif
