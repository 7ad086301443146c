/* The command line of a recorded program, without the secrets that it may hold.
 *
 * A recording is sent to others: in reports, on a page, to a store of profiles. Command lines hold
 * passwords and tokens although they should not, since every user of the machine can read them. So
 * three kinds of values are written as "***":
 *
 *     --db-password=VALUE, TOKEN=VALUE    a name that tells a secret, and its value behind a `=`
 *     --db-password VALUE                 an option of that kind, and the argument behind it
 *     scheme://user:VALUE@host            the password of a URL
 *
 * A name tells a secret if one of the words below is in it, in either case. That is a guess, on the
 * safe side: --token-count 5 is hidden as well, and a secret without such a name is not. Who has
 * others than these leaves all arguments out (monarc run --no-arguments). */
#include "record/arguments.h"

#include <string.h>
#include <strings.h>

static const char HIDDEN[] = "***";

static bool tells_secret(const char *name, size_t len)
{
    static const char *const WORDS[] = {"password", "passwd",      "passphrase", "secret",
                                        "token",    "credential",  "apikey",     "api-key",
                                        "api_key",  "private-key", "private_key"};
    for (size_t i = 0; i < sizeof WORDS / sizeof *WORDS; i++)
        for (size_t at = 0, word = strlen(WORDS[i]); at + word <= len; at++)
            if (!strncasecmp(name + at, WORDS[i], word))
                return true;
    return false;
}

const char *argument_without_secrets(const char *argument, const char *before, struct arena *a)
{
    const char *value = strchr(argument, '=');
    if (value && tells_secret(argument, (size_t)(value - argument)))
        return arena_printf(a, "%.*s=%s", (int)(value - argument), argument, HIDDEN);
    if (before && *before == '-' && !strchr(before, '=') && *argument != '-' &&
        tells_secret(before, strlen(before)))
        return HIDDEN;
    const char *user = strstr(argument, "://");
    size_t host = user ? strcspn(user + 3, "/?#") : 0;
    const char *at = user ? memrchr(user + 3, '@', host) : NULL;
    const char *password = at ? memchr(user + 3, ':', (size_t)(at - user - 3)) : NULL;
    if (password)
        return arena_printf(a, "%.*s:%s%s", (int)(password - argument), argument, HIDDEN, at);
    return arena_copy(a, argument, strlen(argument));
}
