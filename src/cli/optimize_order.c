/* monarc optimize for linkers: the order of functions.
 *
 * An order is a layout (profile/analysis) of one object, written in the linker's words: of a
 * recording the executable unless another is named, else PROGRAM. Unlike profiles for compilers it
 * takes counted calls, so it opens a session of its own with the options that were read.
 *
 *     session -> graph, stacks -> layout, its gain -> the order's file, and the gain on standard
 *                                                     output
 *
 * Functions are named, not placed: what the linker does with an order is its own affair. */
#include "base/path.h"
#include "cli/optimize.h"
#include "profile/report/report.h"
#include "session/imported.h"

#include <string.h>

/* By target, from TARGET_LLD on: the others are made elsewhere. */
static const enum layout_format FORMATS[] = {
    [TARGET_LLD] = LAYOUT_LLD,   [TARGET_GOLD] = LAYOUT_GOLD,   [TARGET_LD] = LAYOUT_LD,
    [TARGET_MOLD] = LAYOUT_MOLD, [TARGET_CALLS] = LAYOUT_CALLS, [TARGET_NAMES] = LAYOUT_NAMES,
};

/* Of a recording, the executable or the object that was named: by its path, or the part after the
 * last slash. Without a file there is no order: names and sizes of functions come from it. */
static bool order_find_object(const struct session *s, const struct optimize_request *r,
                              struct layout_rules *rules, struct err *e)
{
    const struct space *space = &s->recorded.space;
    if (!s->folder && r->object)
        return err_set(e, "--object is for recordings; name the shared object as PROGRAM instead");
    if (!s->folder) {
        rules->file = s->object;
        return true;
    }
    /* The first that fits: a path is whole or its last part, so that the path distinguishes two
     * libraries of one name. */
    for (uint32_t i = 0; i < space->len; i++) {
        const char *path = space_object_name(space, i);
        if (r->object ? strcmp(path, r->object) && strcmp(path_base_name(path), r->object)
                      : i != space->main)
            continue;
        rules->object = i;
        rules->file = space->objects[i].file;
        return rules->file || err_in(e, s->folder, "%s ran, but its file cannot be read", path);
    }
    return err_in(e, s->folder, "has no object '%s'", r->object ? r->object : "of the program");
}

/* What an output_writer is given: the order, what it brings, and whose words to write it in. */
struct order_written {
    const struct layout *layout;
    const struct layout_gain *gain;
    enum layout_format format;
};

/* An output_writer. */
static bool order_write(void *context, struct out *out, struct err *e)
{
    const struct order_written *w = context;
    (void)e;
    layout_file(out, w->layout, w->gain, w->format);
    return true;
}

/* With -o the order goes to the file, and standard output says what it should bring; without,
 * the order is standard output, and what it brings stands in its comments. */
static bool order_report(struct session *s, void *request, struct out *out, struct err *e)
{
    const struct optimize_request *r = request;
    enum layout_format format = FORMATS[r->target];
    struct layout order;
    struct layout_gain gain = {0};
    struct layout_rules rules = {.cluster_bytes = r->cluster_bytes};
    if (!order_find_object(s, r, &rules, e))
        return false;
    rules.stacks = s->folder ? &s->recorded.stacks : NULL;
    /* A profile has counted calls of its own; only a recording may lack them. */
    layout_make(&order, &gain, &s->functions, &s->graph, &rules, &s->arena);
    if (!s->folder)
        layout_gain_others(&gain, &order, &s->summary.others, &s->arena);
    if (!order.len)
        return err_set(e, "%s: no function that could be moved was sampled or called",
                       object_path(rules.file));
    if (format == LAYOUT_CALLS && !order.calls_len)
        return err_set(
            e, "%s: lld's ordering needs calls between functions, and this profile has none",
            object_path(rules.file));
    /* JSON is the report itself: without a file it takes the order's place on standard output. */
    bool has_file = r->output && strcmp(r->output, "-");
    struct order_written written = {&order, &gain, format};
    if ((has_file || !r->view.print.format) &&
        !(session_is_read(s, e) && output_to(r->output, order_write, &written, out, e)))
        return false;
    struct report_input in = {.names = &s->names,
                              .summary = &s->summary,
                              .layout = &order,
                              .gain = &gain,
                              .layout_path = r->output};
    if (has_file || r->view.print.format)
        print_report(REPORT_LAYOUT, &in, &r->view.print, out);
    return true;
}

/* Pieces (.cold, .part) are functions of their own here: the linker places them apart. A recording
 * knows which program ran, so that one beside it, which other targets take, has no use. */
int optimize_order(struct optimize_request *r, const struct command *self,
                   struct operands *operands, struct out *out, struct err *e)
{
    struct operand_mix mix = operand_mix_of(operands->at, operands->len);
    bool has_recording = false;
    for (size_t i = 0; i < operands->len; i++) /* folders may be of counters */
        has_recording |=
            is_recording(operands->at[i]) && !operand_is_of_coverage(&mix, operands->at[i]);
    if (has_recording && is_program(operands->at[0]))
        *operands = (struct operands){operands->at + 1, operands->len - 1};
    struct session_options *o = &r->view.session;
    o->takes_counters = o->wants_files = o->keeps_pieces = true;
    o->others = OTHERS_SELF;
    struct view_job job = {r, &r->view, order_report, .output = &r->output};
    return view_show(self, operands, &job, out, e);
}
