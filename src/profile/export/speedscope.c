/* speedscope's own JSON: https://www.speedscope.app/file-format-schema.json. One profile of kind
 * `sampled`: each path that has time is one sample with its weight; they stand in no order of time,
 * which a profile does not know. */
#include "output/json.h"
#include "profile/export/exports.h"

static void speedscope_frames(struct json *j, const struct exchange *x)
{
    json_key(j, "shared"), json_begin(j, '{');
    json_key(j, "frames"), json_begin(j, '[');
    for (size_t i = 0; i < x->functions.len; i++) {
        const struct exchange_function *f = &x->functions.at[i];
        json_begin(j, '{');
        json_pair_str(j, "name", f->name);
        if (f->file)
            json_pair_str(j, "file", f->file);
        if (f->file && f->line)
            json_pair_u64(j, "line", f->line);
        json_end(j);
    }
    json_end(j);
    json_end(j);
}

static void speedscope_samples(struct json *j, const struct exchange *x)
{
    struct arena scratch = {0};
    uint32_t *path = ARENA_NEW(&scratch, uint32_t, x->frames.len);
    json_key(j, "samples"), json_begin(j, '[');
    for (uint32_t i = 1; i < x->frames.len; i++) {
        const struct exchange_frame *f = &x->frames.at[i];
        path[f->depth] = f->function;
        if (!f->self)
            continue;
        json_begin(j, '[');
        for (uint32_t depth = 1; depth <= f->depth; depth++)
            json_u64(j, path[depth]);
        json_end(j);
    }
    json_end(j);
    json_key(j, "weights"), json_begin(j, '[');
    for (size_t i = 1; i < x->frames.len; i++)
        if (x->frames.at[i].self)
            json_u64(j, x->frames.at[i].self);
    json_end(j);
    arena_deinit(&scratch);
}

static void speedscope_profile(struct json *j, const struct exchange *x)
{
    struct arena scratch = {0};
    bool is_time = !strcmp(x->unit, "nanoseconds");
    json_key(j, "profiles"), json_begin(j, '[');
    json_begin(j, '{');
    json_pair_str(j, "type", "sampled");
    json_pair_str(j, "name",
                  arena_printf(&scratch, "%s, %s%s", x->summary->program, x->event,
                               x->has_estimates ? " (paths estimated by call counts)" : ""));
    json_pair_str(j, "unit", is_time ? "nanoseconds" : "none");
    json_pair_u64(j, "startValue", 0);
    json_pair_u64(j, "endValue", x->total);
    speedscope_samples(j, x);
    json_end(j);
    json_end(j);
    arena_deinit(&scratch);
}

void speedscope_export(struct out *out, const struct exchange *x)
{
    struct json j = {.out = out, .is_compact = true};
    json_begin(&j, '{');
    json_pair_str(&j, "$schema", "https://www.speedscope.app/file-format-schema.json");
    json_pair_str(&j, "exporter", "monarc " MONARC_VERSION);
    json_pair_str(&j, "name", x->summary->program);
    json_pair_u64(&j, "activeProfileIndex", 0);
    speedscope_frames(&j, x);
    speedscope_profile(&j, x);
    json_end(&j);
}
