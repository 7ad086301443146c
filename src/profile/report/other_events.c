/* Columns of other events and dimensions. */
#include "profile/report/other_events.h"

#include "output/text.h"

#include <string.h>

static int others_column(const struct other_measure *other)
{
    int width = (int)strlen(other->name) + 1;
    return width < 6 ? 6 : width;
}

int others_width(const struct other_measures *others)
{
    int width = 0;
    for (size_t i = 0; i < others->len; i++)
        width += 2 + others_column(&others->at[i]);
    return width;
}

void others_head(struct out *out, const struct other_measures *others)
{
    for (size_t i = 0; i < others->len; i++) {
        const struct other_measure *other = &others->at[i];
        out_spaces(out, 2 + (size_t)others_column(other) - strlen(other->name) - 1);
        text_name(out, other->name);
        out_char(out, '%');
    }
}

void others_summary(struct out *out, const struct other_measures *others)
{
    for (size_t i = 0; i < others->len; i++) {
        out_str(out, i ? ", " : "Beside   ");
        text_name(out, others->at[i].name);
        out_printf(out, ": %.6g samples", others->at[i].samples);
    }
    out_str(out, others->len ? "\n" : "");
}

void others_share(struct out *out, const struct other_measure *other, double samples)
{
    out_printf(out, "  %*.2f", others_column(other), 100 * other_share(other, samples));
}
