/* See recorder_merge.h. */
#include "recorder_merge.h"

#include "../../../runtime/coverage/dialect.h"
#include "../../../runtime/coverage/merge.h"

#include <stdio.h>

__attribute__((visibility("default"))) size_t recorder_merge(uint32_t version, const uint8_t *now,
                                                             size_t now_bytes, const uint8_t *old,
                                                             size_t old_bytes, uint8_t *out,
                                                             size_t room)
{
    const struct gcov_dialect *d = dialect_in_memory(version);
    enum gcov_rule rules[GCOV_SLOTS];
    const char *why = NULL;
    struct buffer to = {.at = out, .size = room};
    if (!d)
        return 0;
    for (size_t i = 0; i < GCOV_SLOTS; i++)
        rules[i] = gcov_rule_of(d->kinds[i], d);
    struct form form = {d, rules};
    if (gcda_add(&form, cursor_on(now, now_bytes), cursor_on(old, old_bytes), &to, &why)) {
        printf("# the recorder refuses: %s\n", why ? why : "no room");
        return 0;
    }
    return to.used;
}
