/* The member "base" of rows and entries. */
#include "profile/report/base.h"

void base_json(struct json *j, const struct baseline *base, uint32_t function, bool has_self)
{
    const struct change *was = base ? baseline_change(base, function) : NULL;
    if (!base)
        return;
    json_key(j, "base");
    if (!was || was->old == NO_FUNCTION) {
        json_none(j);
        return;
    }
    json_begin(j, '{');
    json_pair_str(j, "linkage_name", base->old.ids.at[was->old].name);
    if (has_self)
        json_pair_double(j, "self_share", was->self.old);
    json_pair_double(j, "total_share", was->total.old);
    json_pair_double(j, "calls", was->old_calls);
    json_end(j);
}
