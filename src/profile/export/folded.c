/* Folded stacks, one a line: `main;work;leaf 1200`. For flamegraph.pl, inferno, speedscope and many
 * more. The format has no place for remarks: paths of the model have a frame of their own outside,
 * which says so. */
#include "profile/export/exports.h"

/* Without what would end the name, or the line. */
static void folded_name(struct out *out, const char *name)
{
    for (; *name; name++)
        out_char(out, *name == ';' ? ':' : *name == '\n' || *name == '\r' ? ' ' : *name);
}

static void folded_line(struct out *out, const struct exchange *x, const uint32_t *path,
                        uint64_t self)
{
    const struct exchange_frame *f = &x->frames.at[path[0]];
    if (x->has_estimates)
        out_str(out, EXPORT_MODEL_FRAME ";");
    for (uint32_t depth = 1;; depth++) {
        f = &x->frames.at[path[depth]];
        folded_name(out, x->functions.at[f->function].name);
        if (!path[depth + 1])
            break;
        out_char(out, ';');
    }
    out_char(out, ' ');
    out_u64(out, self, 0);
    out_char(out, '\n');
}

void folded_export(struct out *out, const struct exchange *x)
{
    struct arena scratch = {0};
    uint32_t *path = ARENA_NEW(&scratch, uint32_t, x->frames.len + 2);
    for (uint32_t i = 1; i < x->frames.len; i++) {
        const struct exchange_frame *f = &x->frames.at[i];
        path[f->depth] = i;
        path[f->depth + 1] = 0;
        if (f->self)
            folded_line(out, x, path, f->self);
    }
    arena_deinit(&scratch);
}
