/* Which arguments are written into a recording as they are, and which without their values. */
#include "record/arguments.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static void secrets_are_hidden(void **state)
{
    static const struct {
        const char *before, *argument, *recorded;
    } CASES[] = {
        {NULL, "--password=hunter2", "--password=***"},
        {NULL, "--db-Password=a=b", "--db-Password=***"},
        {"env", "GITHUB_TOKEN=abc", "GITHUB_TOKEN=***"},
        {NULL, "-DAPI_KEY=1", "-DAPI_KEY=***"},
        {"--api-key", "abc", "***"},
        {"-passwd", "abc", "***"},
        {"curl", "redis://me:hunter2@host/a:b@c", "redis://me:***@host/a:b@c"},
        {"curl", "redis://me:a@b@host", "redis://me:***@host"},
        /* A command line as an argument: all from the first secret on. */
        {"-c", "curl --token hunter2 x; true", "curl --token ***"},
        {"-c", "A=1 API_TOKEN=hunter2 ./x", "A=1 API_TOKEN=***"},
        {"-c", "psql 'postgres://me:hunter2@host/x' -c y", "psql 'postgres://me:***"},
        {"--password", "my pass phrase", "***"},
        {NULL, "--password=my pass phrase", "--password=***"},
        {"-c", "make -j2 all", "make -j2 all"},
        {NULL, "://", "://"},
        /* Not secrets. */
        {"--password", "--verbose", "--verbose"},
        {"--password=x", "file", "file"},
        {"password", "file", "file"},
        {NULL, "--out=password", "--out=password"},
        {"curl", "redis://host:80/a@b", "redis://host:80/a@b"},
        {"curl", "redis://me@host/x:y", "redis://me@host/x:y"},
        {NULL, "", ""},
        {"--token", "", "***"},
        {NULL, "=", "="},
    };
    struct arena a = {0};
    (void)state;
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++)
        assert_string_equal(argument_without_secrets(CASES[i].argument, CASES[i].before, &a),
                            CASES[i].recorded);
    arena_deinit(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(secrets_are_hidden)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
