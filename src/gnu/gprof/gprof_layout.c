/* GNU gprof's orderings: linkage names or files, one a line. */
#include "gnu/gprof/gprof_text.h"

void gprof_layout(const struct gnu_layout *t, struct out *out)
{
    for (size_t i = 0; i < t->len; i++) {
        out_str(out, t->names[i]);
        out_char(out, '\n');
    }
}
