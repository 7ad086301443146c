/* monarc receive: files out of what an embedded target sent, or what a debugger fetched from it. */
#include "base/file.h"
#include "command/command.h"
#include "profile/format/frames.h"
#include "session/embedded_files.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    OPTION_FROM,
    OPTION_ELF,
    OPTION_OUTPUT,
    OPTION_BAUD,
    OPTION_TIMEOUT,
    OPTION_STREAM,
    OPTION_FORCE
};

static const struct option_row OPTIONS[] = {
    {0, "from", "FILE|TTY|-", "what to read (default: standard input)"},
    {0, "elf", "PROG", "refuse what another program than this recorded"},
    {'o', "output", "DIR", "where the files go; it is made if need be"},
    {0, "baud", "N", "speed of a serial line (default: 115200)"},
    {0, "timeout", "SECONDS", "give up when a serial line is silent for so long (default: never)"},
    {0, "stream", "ID", "of several sendings, this one (default: the last)"},
    {0, "force", NULL, "also if PROG is another program"},
};

enum { NAMED_GAPS = 5, MOST_SECONDS = 1000000 };

struct request {
    const char *from, *elf, *folder, *stream;
    uint64_t baud, timeout;
    bool is_forced;
};

static bool receive_take(void *request, int row, const char *value, struct err *e)
{
    struct request *r = request;
    switch (row) {
    case OPTION_FROM: r->from = value; return true;
    case OPTION_ELF: r->elf = value; return true;
    case OPTION_OUTPUT: r->folder = value; return true;
    case OPTION_BAUD: return option_number("--baud", value, 10000000, &r->baud, e);
    case OPTION_TIMEOUT: return option_number("--timeout", value, MOST_SECONDS, &r->timeout, e);
    case OPTION_STREAM: r->stream = value; return true;
    default: return r->is_forced = true;
    }
}

/* --- choosing and completing ----------------------------------------------------------------- */

static const struct frame_stream *receive_chosen(const struct frames *f, const struct request *r,
                                                 struct err *e)
{
    char id[16];
    for (size_t i = f->streams.len; i-- > 0;) {
        snprintf(id, sizeof id, "%08" PRIx32, f->streams.at[i].id);
        if (!r->stream || !strcmp(r->stream, id))
            return &f->streams.at[i];
    }
    err_set(e, "there is no stream '%s' in what was received", r->stream);
    return NULL;
}

/* Kept beside the files to come, for the rest. */
static const char *receive_partial_path(const struct request *r, struct arena *a)
{
    return arena_printf(a, "%s/frames.partial", r->folder);
}

static bool receive_keep_partial(const struct frame_stream *s, const struct request *r,
                                 struct arena *a, struct err *e)
{
    struct frame_bytes text = {0};
    if (mkdir(r->folder, 0777) && errno != EEXIST)
        return err_errno(e, r->folder, errno);
    frame_stream_text(s, &text);
    bool ok = file_replace(receive_partial_path(r, a), (struct bytes){text.at, text.len}, e);
    vec_free(&text);
    return ok;
}

static void receive_take_partial(struct frames *f, const struct request *r, struct arena *a)
{
    struct file_buffer b = {0};
    struct stat st;
    const char *path = receive_partial_path(r, a);
    if (!stat(path, &st) && file_read(path, &b, NULL))
        frames_feed(f, file_bytes(&b));
    file_buffer_deinit(&b);
}

static const char *receive_gap_text(const struct frame_gap *g, struct arena *a)
{
    const char *frames = g->last == UINT32_MAX
                             ? arena_printf(a, "all from frame %" PRIu32, g->first)
                         : g->first == g->last
                             ? arena_printf(a, "frame %" PRIu32, g->first)
                             : arena_printf(a, "frames %" PRIu32 " to %" PRIu32, g->first, g->last);
    if (g->end)
        return arena_printf(a, "%s (bytes %" PRIu32 " to %" PRIu32 ")", frames, g->offset,
                            g->end - 1);
    return arena_printf(a, "%s (from byte %" PRIu32 ")", frames, g->offset);
}

static bool receive_say_missing(const struct frame_stream *s, const struct frames *f,
                                const char *name, struct arena *a, struct err *e)
{
    struct frame_gap gaps[NAMED_GAPS];
    size_t n = frame_stream_gaps(s, gaps, NAMED_GAPS);
    const char *list = "";
    for (size_t i = 0; i < n && i < NAMED_GAPS; i++)
        list = arena_printf(a, "%s%s%s", list, i ? ", " : "", receive_gap_text(&gaps[i], a));
    if (n > NAMED_GAPS)
        list = arena_printf(a, "%s and %zu stretches more", list, n - NAMED_GAPS);
    const char *damaged =
        f->damaged ? arena_printf(a, "; %" PRIu64 " lines are damaged, the first is line %" PRIu64,
                                  f->damaged, f->first_damaged)
                   : "";
    return err_in(e, name,
                  "stream %08" PRIx32
                  " lacks %s%s; have it sent again (monarc_embedded_send_again) and "
                  "receive that into the same folder: what is there is kept",
                  s->id, list, damaged);
}

/* --- reading --------------------------------------------------------------------------------- */

/* What is known to have come: lines, and all bytes as they are. */
struct input {
    struct frames frames;
    VEC(uint8_t) all;
    const char *name;
};

/* The last stream is complete. */
static bool receive_is_done(const struct frames *f)
{
    return f->streams.len && frame_stream_is_complete(&f->streams.at[f->streams.len - 1]);
}

/* On the terminal alone: what is said of the run itself is an error or the report. */
static void receive_show_progress(const struct frames *f)
{
    const struct frame_stream *s = f->streams.len ? &f->streams.at[f->streams.len - 1] : NULL;
    if (s && isatty(STDERR_FILENO))
        dprintf(STDERR_FILENO, "\r%zu frames, %zu bytes", s->frames.len, s->data.len);
}

static bool receive_read_line(struct input *in, const struct request *r, struct err *e)
{
    struct serial line;
    uint8_t bytes[4096];
    bool ok = serial_open(&line, r->from, (uint32_t)r->baud, (uint32_t)r->timeout, e);
    while (ok && !receive_is_done(&in->frames)) {
        size_t n = 0;
        ok = serial_read(&line, bytes, sizeof bytes, &n, e);
        if (!n)
            break;
        frames_feed(&in->frames, (struct bytes){bytes, n});
        receive_show_progress(&in->frames);
    }
    if (isatty(STDERR_FILENO))
        dprintf(STDERR_FILENO, "\n");
    serial_close(&line);
    return ok;
}

static bool receive_read_input(struct input *in, const struct request *r, struct err *e)
{
    struct file_buffer b = {0};
    if (serial_is_line(r->from))
        return receive_read_line(in, r, e);
    bool ok = file_read(r->from, &b, e);
    if (ok) {
        frames_feed(&in->frames, file_bytes(&b));
        vec_reserve(&in->all, b.len);
        if (b.len)
            memcpy(in->all.at, b.at, b.len);
        in->all.len = b.len;
    }
    file_buffer_deinit(&b);
    return ok;
}

/* --- all of it ------------------------------------------------------------------------------- */

static bool receive_write_stream(struct input *in, const struct request *r,
                                 const struct embedded_request *to, struct arena *a,
                                 struct out *out, struct err *e)
{
    struct frame_bytes bytes = {0};
    const struct frame_stream *s = receive_chosen(&in->frames, r, e);
    bool ok = s != NULL;
    if (ok && !frame_stream_is_complete(s))
        ok =
            receive_keep_partial(s, r, a, e) && receive_say_missing(s, &in->frames, in->name, a, e);
    ok = ok && frame_stream_bytes(s, in->name, &bytes, e) &&
         embedded_files_write((struct bytes){bytes.at, bytes.len}, in->name, to, out, e);
    if (ok)
        unlink(receive_partial_path(r, a));
    if (ok && in->frames.damaged)
        out_printf(out, "note: %" PRIu64 " damaged lines did not matter\n", in->frames.damaged);
    if (ok && in->frames.streams.len > 1)
        out_printf(out, "note: %zu sendings were seen, this is %08" PRIx32 "\n",
                   in->frames.streams.len, s->id);
    vec_free(&bytes);
    return ok;
}

static bool receive(const struct request *r, struct object *program, struct out *out, struct err *e)
{
    struct arena a = {0};
    struct input in = {.name = strcmp(r->from, "-") ? r->from : "(standard input)"};
    struct embedded_request to = {r->folder, program, r->is_forced};
    receive_take_partial(&in.frames, r, &a);
    bool ok = receive_read_input(&in, r, e);
    frames_finish(&in.frames);
    if (ok && in.frames.streams.len)
        ok = receive_write_stream(&in, r, &to, &a, out, e);
    else if (ok)
        ok = embedded_files_write((struct bytes){in.all.at, in.all.len}, in.name, &to, out, e);
    frames_deinit(&in.frames);
    vec_free(&in.all);
    arena_deinit(&a);
    return ok;
}

static int receive_run(const struct command *self, int argc, char **argv, struct out *out,
                       struct err *e)
{
    struct option_walk walk = options_start(self, argc - 1, argv + 1);
    struct request r = {.from = "-", .baud = 115200};
    int end = options_each(&walk, receive_take, &r, e);
    if (end == OPTION_HELP)
        return command_help(self, out), EXIT_FINE;
    if (end == OPTION_BAD)
        return EXIT_BAD;
    if (walk.operands || !r.folder) {
        err_set(e, "receive takes --from FILE and -o DIR; see 'monarc receive --help'");
        return EXIT_BAD;
    }
    struct object *program = NULL;
    if (r.elf && !(program = object_open(r.elf, NULL, NULL, e)))
        return EXIT_BAD;
    bool ok = receive(&r, program, out, e);
    if (program)
        object_close(program);
    return ok ? EXIT_FINE : EXIT_BAD;
}

const struct command command_receive = {
    .name = "receive",
    .next = "'monarc graph PROG DIR/gmon.out' shows the profile, 'monarc cover DIR' the coverage",
    .synopsis = "[--from FILE|TTY|-] [--elf PROG] -o DIR",
    .summary = "Make profiles and coverage of what an embedded target sent",
    .details =
        "Programs without an operating system record with runtime/embedded (docs/embedded.md).\n"
        "What leaves the target is one of these, told apart by its bytes: framed text on a\n"
        "console, between other output; the recorder's memory, alone or in a dump of all memory;\n"
        "a stream of coverage; gmon.out. Written are gmon.out in the target's byte order and\n"
        "pointer size, gmon.stack.out if stack depths were sampled, and gcda files below DIR "
        "under\n"
        "the names that the compiler gave them, with their gcno files if those are still there.\n"
        "\n"
        "From a serial line it reads until a recording is complete. Frames that are lost or\n"
        "damaged are named with numbers and offsets, and nothing is written but what came, as\n"
        "DIR/frames.partial: received once more into the same folder, the rest completes it.\n"
        "\n"
        "Examples:\n"
        "  monarc receive --from /dev/ttyACM0 --elf app.elf -o run1\n"
        "  monarc graph app.elf run1/gmon.out\n"
        "  monarc cover run1\n",
    .options = OPTIONS,
    .options_len = sizeof OPTIONS / sizeof *OPTIONS,
    .run = receive_run,
};
