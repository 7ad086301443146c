/* Layout and colours of the flame picture.
 *
 * Colour says what code is: each kind has a hue, in four shades of which a function's name picks
 * one. The page has the same hues and shades (style.css). By share it says how much of all time a
 * function spent in itself: five steps of one hue, each darker than the one before, so that they
 * stay apart in grey and for people who cannot tell hues.
 *
 *     +--------------------------------> x: samples; WIDTH - 2 MARGIN pixels are `covered`
 *     |  |           all            |     what all outermost frames cover
 *     |  +--------------------------+
 *     |  |          main            |     depth 0
 *     |  +--+------+-+-----+-----+--+
 *     v     +------+ +-----+-----+        depth 1 and up: callees below their callers, or above
 *     y                    +-----+
 *
 * The picture is one <g> a frame with a rectangle, its tip and its label. The script finds frames
 * by the class `f`, what each covers by data-total, and what 100 % is by data-samples of the root:
 * names of classes and attributes are a contract between this file and flame.js. Frames narrower
 * than LEAST_VISIBLE pixels are left out; they still take their room. One pass over the frames,
 * with an array as long as the tree is deep. */
#include "profile/report/writers.h"

#include "output/out.h"

extern const char flame_script[];

/* Pixels of the user space of the picture, which scales as a whole. */
enum {
    WIDTH = 1200,
    MARGIN = 10,
    ROW = 18,
    HEAD = 78,
    OTHER_HEAD = 52, /* above the frames of another dimension */
    LONGEST_NAME = 500,
    STEPS = 5
};
#define FONT_PIXELS   12
#define CHARACTER     7.3 /* wide, of a monospaced font of that size */
#define LEAST_VISIBLE 0.05

static const struct flame_step {
    double least; /* share of all samples */
    const char *fill, *name;
} FLAME_STEPS[STEPS] = {
    {0, "#fdf0c0", "0 %"},     {0.01, "#fee08b", "1 %"},  {0.03, "#fdbb63", "3 %"},
    {0.10, "#f58a4b", "10 %"}, {0.25, "#dd6a4a", "25 %"},
};

enum { SHADES = 4 };

static const struct {
    const char *fill[SHADES], *name;
} FLAME_KINDS[CODE_KINDS] = {
    [CODE_PROGRAM] = {{"#f4b183", "#f7c19a", "#efa26f", "#f9cfae"}, "program"},
    [CODE_LIBRARY] = {{"#a9d3a0", "#bcdfb4", "#97c78d", "#cbe7c5"}, "libraries"},
    [CODE_KERNEL] = {{"#c3aee6", "#d1c1ec", "#b59bdf", "#dccff1"}, "kernel"},
    [CODE_GENERATED] = {{"#9fcbe8", "#b5d7ee", "#8bbfe2", "#c6e1f2"}, "generated"},
    [CODE_WAITING] = {{"#b9c4cf", "#c8d1da", "#abb8c5", "#d5dce3"}, "waiting"},
};

/* The classes: h is text of the head, t the title, f a frame, i an inlined one, b a button; `found`
 * is set by the script on what a search has found. */
static const char STYLE[] =
    "text{font-family:ui-monospace,'DejaVu Sans Mono',Menlo,Consolas,monospace;font-size:12px;"
    "fill:#111}"
    ".h{font-family:system-ui,'DejaVu Sans',Arial,sans-serif}"
    ".t{font-size:16px;font-weight:bold}"
    ".f rect{stroke:#6b5c3a;stroke-width:0.5}"
    ".f text{pointer-events:none}"
    ".i text{font-style:italic}"
    ".f:hover rect{stroke:#000;stroke-width:2}"
    ".found rect:first-of-type{fill:#74b3e8}"
    ".b{cursor:pointer;text-decoration:underline}"
    ".paper{fill:#fff}"
    /* In the dark: frames keep their colours and their text. */
    "@media (prefers-color-scheme:dark){.paper{fill:#17171b}.h{fill:#e8e8ee}}";

/* `scale` is 0 where there is nothing to draw, so that nothing is divided by it. */
struct flame_layout {
    const struct flame *flame;
    double scale;  /* pixels a sample */
    double top;    /* of the frames */
    double bottom; /* of the frames and the margin below */
    double height; /* of the whole picture */
};

/* Frames that stand for several are grey: what is hot among them is not known. */
static const char *flame_fill(const struct flame *f, const struct flame_frame *frame)
{
    if (frame->is_small || frame->is_chain)
        return "#e4e4e4";
    if (!f->is_by_share) {
        const unsigned factor = 31, low_bits = 8; /* as shadeOf() in the page's flame.js */
        uint32_t hash = 0;
        for (const char *c = frame->name; *c; c++)
            hash = factor * hash + (unsigned char)*c;
        return FLAME_KINDS[frame->kind].fill[(hash >> low_bits) % SHADES];
    }
    size_t step = STEPS - 1;
    double share = summary_share(f->summary, frame->self);
    while (step && share < FLAME_STEPS[step].least)
        step--;
    return FLAME_STEPS[step].fill;
}

/* Seconds with decimals; what is counted (cycles, bytes, ...) whole. */
static void flame_put_amount(struct out *out, const struct summary *s, double samples)
{
    bool is_time = s->rate > 0 && !strcmp(s->dimension, "seconds");
    if (is_time) {
        out_fixed(out, summary_time(s, samples), 0, 3);
        out_str(out, " s");
    } else if (s->rate > 0) {
        out_printf(out, "%.0f ", summary_time(s, samples));
        svg_str(out, s->dimension);
    } else {
        out_printf(out, "%.0f samples", samples);
    }
}

/* Inlined code is said to be that: it is no call. */
static void flame_put_name(struct out *out, const struct flame_frame *frame)
{
    svg_text_within(out, frame->name, strlen(frame->name), LONGEST_NAME);
    if (frame->is_inlined)
        out_str(out, " (inlined)");
}

/* What stands in a tip; its first line is what is searched. */
static void flame_put_tip(struct out *out, const struct flame *f, const struct flame_frame *frame)
{
    const double percent = 100;
    out_str(out, "<title>");
    flame_put_name(out, frame);
    out_str(out, "\ntotal ");
    out_fixed(out, percent * summary_share(f->summary, frame->total), 0, 2);
    out_str(out, " %, ");
    flame_put_amount(out, f->summary, frame->total);
    if (!frame->is_small) {
        out_str(out, "\nself ");
        out_fixed(out, percent * summary_share(f->summary, frame->self), 0, 2);
        out_str(out, " %, ");
        flame_put_amount(out, f->summary, frame->self);
    }
    if (frame->is_estimate)
        out_str(out, "\n"
                     "estimated from call counts: this path was not observed");
    out_str(out, "</title>");
}

/* As high as a row. What it is for, and its label, are put around it by the caller. */
static void flame_put_box(struct out *out, double x, double y, double w, const char *fill)
{
    out_str(out, "<rect");
    svg_length(out, "x", x);
    svg_length(out, "y", y);
    svg_length(out, "width", w);
    out_printf(out, " height=\"%d\" fill=\"%s\"/>", ROW, fill);
}

/* A label that has no room for a character is empty but present: the script fills it when the frame
 * is zoomed, and finds it as the group's text. CHARACTER is a guess, since fonts differ; the script
 * has the same. */
static void flame_put_label(struct out *out, const struct flame_frame *frame, double x, double y,
                            double w)
{
    int room = (int)((w - 6) / CHARACTER);
    out_str(out, "<text");
    svg_length(out, "x", x + 3);
    svg_length(out, "y", y + 13);
    out_char(out, '>');
    if (room > 0) {
        struct arena scratch = {0};
        const char *name = frame->name, *call = strstr(name, "] ");
        if ((frame->kind == CODE_KERNEL || frame->kind == CODE_WAITING) && name[0] == '[' && call &&
            strlen(name) > (size_t)room)
            name = call + 2; /* the colour says the rest */
        const char *fits =
            frame->is_small || frame->is_chain ? name : names_within(name, room, &scratch);
        svg_text_within(out, fits, strlen(fits), room);
        arena_deinit(&scratch);
    }
    out_str(out, "</text>");
}

/* `from`: samples to the left of the frame; `level`: rows below it. An estimate has a second box
 * with hatching over the first, so that its colour shows through. */
static void flame_put_frame(struct out *out, const struct flame_layout *l,
                            const struct flame_frame *frame, double from, uint32_t level)
{
    double x = MARGIN + from * l->scale, w = frame->total * l->scale;
    double y = l->flame->grows_up ? l->bottom - MARGIN - ROW * (double)(level + 1)
                                  : l->top + ROW * (double)level;
    out_printf(out, "<g class=\"f%s\" data-total=\"",
               frame->is_small     ? " small"
               : frame->is_inlined ? " i"
                                   : "");
    out_shortest(out, frame->total);
    out_str(out, "\" data-self=\"");
    out_shortest(out, frame->self);
    out_str(out, "\">");
    flame_put_tip(out, l->flame, frame);
    flame_put_box(out, x, y, w, flame_fill(l->flame, frame));
    if (frame->is_estimate)
        flame_put_box(out, x, y, w, "url(#estimate)");
    flame_put_label(out, frame, x, y, w);
    out_str(out, "</g>\n");
}

/* --- around the frames ----------------------------------------------------------------------- */

/* `top`: the base line of the text.
 *
 * What is in no frame is said in words: a picture can only show what it has. Less than 0.005 %
 * would be printed as 0.00 and is not. */
static void flame_put_note(struct out *out, const struct flame *f, double top)
{
    const double percent = 100, least = 0.00005;
    out_printf(out, "<text class=\"h\" x=\"%d\" y=\"%.0f\">", MARGIN, top);
    flame_put_amount(out, f->summary, f->summary->samples);
    out_str(out, f->is_model ? " measured. Calls were counted, not stacks: hatched paths are "
                               "estimated from call counts."
                             : " recorded. Paths are recorded stacks.");
    double missing = summary_share(f->summary, f->summary->samples - f->covered);
    if (missing > least) {
        out_char(out, ' ');
        out_fixed(out, percent * missing, 0, 2);
        out_str(out, f->is_model ? " % is in no function." : " % has no stack.");
    }
    out_str(out, "</text>\n");
}

/* Of the legend: a box in the colour, and what it stands for. */
static void flame_put_swatch(struct out *out, int x, const char *fill, const char *name)
{
    enum { BOX = 14 };
    out_printf(out,
               "<rect x=\"%d\" y=\"55\" width=\"%d\" height=\"%d\" fill=\"%s\" "
               "stroke=\"#777\"/><text class=\"h\" x=\"%d\" y=\"66\">%s</text>\n",
               x, BOX, BOX, fill, x + BOX + 4, name);
}

/* Colours, and the mark of whichever kind of frame this picture may have: hatching in a model's,
 * italics in one of recorded stacks. */
static void flame_put_legend(struct out *out, const struct flame *f)
{
    enum { LEFT = 120, STEP = 62, KIND = 92, BOX = 14 };
    int x = MARGIN;
    if (f->is_by_share) {
        out_printf(out, "<text class=\"h\" x=\"%d\" y=\"66\">Self time, from</text>\n", MARGIN);
        x = LEFT;
        for (int i = 0; i < STEPS; i++, x += STEP)
            flame_put_swatch(out, x, FLAME_STEPS[i].fill, FLAME_STEPS[i].name);
    } else {
        bool has[CODE_KINDS] = {false};
        for (size_t i = 0; i < f->len; i++)
            has[f->frames[i].kind] |= !f->frames[i].is_small;
        for (int i = 0; i < CODE_KINDS; i++)
            if (has[i]) {
                flame_put_swatch(out, x, FLAME_KINDS[i].fill[0], FLAME_KINDS[i].name);
                x += KIND;
            }
    }
    x += 8;
    if (f->is_model) {
        out_printf(out,
                   "<rect x=\"%d\" y=\"55\" width=\"28\" height=\"%d\" fill=\"url(#estimate)\" "
                   "stroke=\"#777\"/><text class=\"h\" x=\"%d\" y=\"66\">estimated</text>\n",
                   x, BOX, x + 32);
        return;
    }
    out_printf(out, "<text class=\"h\" x=\"%d\" y=\"66\" font-style=\"italic\">inlined</text>\n",
               x);
}

/* All up to the frames. The elements with the ids found, reset and search are empty or hidden until
 * the script fills or shows them: on paper or as an <img> nothing would answer a click. */
static void flame_put_head(struct out *out, const struct flame_layout *l)
{
    const struct flame *f = l->flame;
    enum { TITLE_ROOM = 95 };
    out_printf(out,
               "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
               "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%.0f\" "
               "viewBox=\"0 0 %d %.0f\" data-samples=\"",
               WIDTH, l->height, WIDTH, l->height);
    out_shortest(out, f->summary->samples);
    out_str(out, f->grows_up ? "\" data-up=\"\">\n<title>" : "\">\n<title>");
    svg_text_within(out, f->title, strlen(f->title), LONGEST_NAME);
    out_printf(out,
               "</title>\n<style>%s</style>\n<defs><pattern id=\"estimate\" width=\"6\" "
               "height=\"6\" patternUnits=\"userSpaceOnUse\" patternTransform=\"rotate(45)\">"
               "<line x1=\"0\" y1=\"0\" x2=\"0\" y2=\"6\" stroke=\"#000\" stroke-opacity=\"0.25\" "
               "stroke-width=\"2\"/></pattern></defs>\n"
               "<rect class=\"paper\" width=\"100%%\" height=\"100%%\"/>\n"
               "<text class=\"h t\" x=\"%d\" y=\"24\">",
               STYLE, MARGIN);
    svg_text_within(out, f->title, strlen(f->title), TITLE_ROOM);
    out_str(out, "</text>\n");
    flame_put_note(out, f, 44);
    flame_put_legend(out, f);
    out_printf(out,
               "<text class=\"h\" id=\"found\" x=\"%d\" y=\"66\" text-anchor=\"end\"></text>\n"
               "<text class=\"h b\" id=\"reset\" x=\"%d\" y=\"24\" text-anchor=\"end\" "
               "style=\"display:none\">Reset zoom</text>\n"
               "<text class=\"h b\" id=\"search\" x=\"%d\" y=\"24\" text-anchor=\"end\" "
               "style=\"display:none\">Search</text>\n",
               WIDTH - MARGIN, WIDTH - MARGIN - 70, WIDTH - MARGIN);
}

/* A frame begins where the one below it does, after those of its level that are there already.
 * `next.at[d]` is where the next frame of depth d begins. A frame cuts the array after its own
 * depth and appends its own left edge: its children begin there. */
static void flame_put_frames(struct out *out, const struct flame_layout *l)
{
    const struct flame *f = l->flame;
    VEC(double) next = {0}; /* per level: where its next frame begins */
    struct flame_frame all = {.name = "all", .total = f->covered, .is_small = true};
    flame_put_frame(out, l, &all, 0, 0);
    vec_push(&next, 0);
    for (size_t i = 0; i < f->len; i++) {
        const struct flame_frame *frame = &f->frames[i];
        next.len = frame->depth + 1;
        double from = next.at[frame->depth];
        next.at[frame->depth] += frame->total;
        vec_push(&next, from);
        if (frame->total * l->scale >= LEAST_VISIBLE)
            flame_put_frame(out, l, frame, from, frame->depth + 1);
    }
    vec_free(&next);
}

/* Rows of frames, with one above the highest for the root's. */
static double flame_height(const struct flame *f)
{
    uint32_t levels = 1;
    for (size_t i = 0; i < f->len; i++)
        levels = f->frames[i].depth + 2 > levels ? f->frames[i].depth + 2 : levels;
    return MARGIN + ROW * (double)levels;
}

/* The frames of one dimension, which end where `bottom` says, or why there are none. */
static void flame_put_picture(struct out *out, struct flame_layout *l, const struct flame *f)
{
    l->flame = f;
    l->scale = f->covered > 0 ? (WIDTH - 2 * MARGIN) / f->covered : 0;
    if (f->covered > 0)
        flame_put_frames(out, l);
    else
        out_printf(out, "<text class=\"h\" x=\"%d\" y=\"%.0f\">%s</text>\n", MARGIN,
                   l->bottom - MARGIN, "Nothing to draw: no samples.");
}

/* Another dimension below what is drawn so far: its name, what was measured, its frames. The script
 * zooms and searches in each by itself, and finds its samples and name at the group around it. */
static void flame_put_other(struct out *out, struct flame_layout *l, const struct flame *f)
{
    double top = l->bottom;
    l->top = top + OTHER_HEAD;
    l->bottom = l->top + flame_height(f);
    out_str(out, "<g data-samples=\"");
    out_shortest(out, f->summary->samples);
    out_str(out, "\" data-name=\"");
    svg_str(out, f->title);
    out_printf(out, "\"><text class=\"h t\" x=\"%d\" y=\"%.0f\">", MARGIN, top + 18);
    svg_str(out, f->title);
    out_str(out, "</text>\n");
    flame_put_note(out, f, top + 38);
    flame_put_picture(out, l, f);
    out_str(out, "</g>\n");
}

/* One pass for the height, one for the frames. Names are escaped by svg_text_within(), and the
 * script stands in CDATA, so that no name of a symbol ends an element. */
void flame_svg(struct out *out, const struct report_input *in)
{
    const struct flame *f = in->flame;
    struct flame_layout l = {.flame = f, .top = HEAD, .bottom = HEAD + flame_height(f)};
    l.height = l.bottom;
    for (size_t i = 0; i < f->others_len; i++)
        l.height += OTHER_HEAD + flame_height(&f->others[i]);
    flame_put_head(out, &l);
    flame_put_picture(out, &l, f);
    for (size_t i = 0; i < f->others_len; i++)
        flame_put_other(out, &l, &f->others[i]);
    out_str(out, "<script><![CDATA[\n");
    out_str(out, flame_script);
    out_str(out, "]]></script>\n</svg>\n");
}
