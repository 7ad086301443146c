/* libFuzzer: lists of events. What parses has a name, one unit, and a period or a frequency, and
 * a second reading gives the same. */
#include "record/perf/events.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static bool is_same(const struct event_choice *l, const struct event_choice *r)
{
    return l->type == r->type && l->config == r->config && l->config1 == r->config1 &&
           l->config2 == r->config2 && l->bp_type == r->bp_type && l->period == r->period &&
           l->user_only == r->user_only && l->kernel_only == r->kernel_only;
}

static void check(const struct event_choice *c)
{
    if (!c->name || (c->period == 0) == (c->frequency == 0) || (c->user_only && c->kernel_only) ||
        c->precise > 3 || c->is_clock != (c->unit == RECORDING_UNIT_NS))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    struct event_list all = {0}, again = {0};
    char *text = malloc(len + 1);
    if (!text)
        abort();
    memcpy(text, data, len);
    text[len] = '\0';
    bool is_fine = events_parse(text, "", 1000, &all, NULL);
    for (size_t i = 0; i < all.choices.len; i++)
        check(&all.choices.at[i]);
    bool is_repeated = is_fine && events_parse(text, "", 1000, &again, NULL);
    if (is_repeated != is_fine || (is_fine && again.choices.len != all.choices.len))
        abort();
    for (size_t i = 0; is_fine && i < all.choices.len; i++)
        if (!is_same(&all.choices.at[i], &again.choices.at[i]))
            abort();
    events_deinit(&all);
    events_deinit(&again);
    free(text);
    return 0;
}
