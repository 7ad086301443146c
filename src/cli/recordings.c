/* monarc receive, recover and symbols: recordings that are not complete yet.
 *
 *     receive   makes files of what an embedded target sent, or a debugger fetched from it. Frames
 *               that are missing are named, and what came is kept beside the files to come
 *               (frames.partial), so that sending again completes it
 *     recover   finishes the recording of a program that was killed: the file it counted into
 *               outlives it, and is turned into the profiles and the sidecar that it would have
 *               written. The sidecar comes last, as it says that all is there
 *     symbols   adds names and lines that could not be known when the recording was made
 *
 * None of them loses what is there: a file is replaced when its successor is complete, and
 * monarc.live is removed after all that was made of it was written. */
#include "base/file.h"
#include "base/path.h"
#include "cli/cli.h"
#include "profile/format/embedded.h"
#include "profile/format/recording_file.h"
#include "session/embedded_files.h"
#include "session/recorded.h"
#include "session/recording_folder.h"
#include "session/symbol_files.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* --- receive --------------------------------------------------------------------------------- */

enum { NAMED_GAPS = 5, MOST_SECONDS = 1000000, MOST_BAUD = 10000000 };

/* `baud` in bits per second, `timeout` in seconds, 0: never. `stream` is an ID of eight hexadecimal
 * digits. */
struct receive_request {
    const char *from, *elf, *folder, *stream;
    uint64_t baud, timeout;
    bool is_forced;
};

/* The type of the file identifies a serial line; --baud and --timeout matter to it alone. */
static const struct option_row RECEIVE_OPTIONS[] = {
    {0, "from", "FILE|TTY|-", "what to read (default: standard input)",
     FILLS(struct receive_request, from)},
    {0, "elf", "PROG", "refuse data recorded by another program",
     FILLS(struct receive_request, elf)},
    {'o', "output", "DIR", "folder for the files; created if it does not exist",
     FILLS(struct receive_request, folder)},
    {0, "baud", "N", "speed of a serial line (default: 115200)",
     FILLS(struct receive_request, baud), .most = MOST_BAUD},
    {0, "timeout", "SECONDS", "give up when a serial line is silent for so long (default: never)",
     FILLS(struct receive_request, timeout), .most = MOST_SECONDS},
    {0, "stream", "ID", "which of several transmissions (default: the last)",
     FILLS(struct receive_request, stream)},
    {0, "force", NULL, "even if PROG is another program", FILLS(struct receive_request, is_forced)},
};

/* The last stream, or the one that was named, looked for from the end: an ID may come again
 * after a reset. */
static const struct frame_stream *receive_chosen(const struct frames *f,
                                                 const struct receive_request *r, struct err *e)
{
    char id[16];
    for (size_t i = f->streams.len; i-- > 0;) {
        snprintf(id, sizeof id, "%08" PRIx32, f->streams.at[i].id);
        if (!r->stream || !strcmp(r->stream, id))
            return &f->streams.at[i];
    }
    err_set(e, "the received data has no stream '%s'", r->stream);
    return NULL;
}

/* Kept beside the files to come, for the rest. */
static const char *receive_partial_path(const struct receive_request *r, struct arena *a)
{
    return arena_printf(a, "%s/frames.partial", r->folder);
}

/* "frames 3 to 7 (bytes 1536 to 4095)": numbers for the target, offsets for people who look at
 * its memory. */
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

/* One line with the first gaps, the number of others, and what to do. Always false, as that is an
 * error. */
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

/* What is known to have come: lines, and all bytes as they are. */
struct received {
    struct frames frames;
    VEC(uint8_t) all;
    const char *name;
};

/* Reads a serial line until the last stream is complete; otherwise it would wait forever for a
 * target that has nothing more to say. Progress goes to a terminal alone. */
static bool receive_read_line(struct received *in, const struct receive_request *r, struct err *e)
{
    struct serial line;
    uint8_t bytes[4096];
    bool ok = serial_open(&line, r->from, (uint32_t)r->baud, (uint32_t)r->timeout, e);
    bool is_done = false; /* the last stream is complete */
    while (ok && !is_done) {
        size_t n = 0;
        ok = serial_read(&line, bytes, sizeof bytes, &n, e);
        if (!n)
            break;
        frames_feed(&in->frames, (struct bytes){bytes, n});
        size_t len = in->frames.streams.len;
        const struct frame_stream *last = len ? &in->frames.streams.at[len - 1] : NULL;
        is_done = last && frame_stream_is_complete(last);
        if (last && isatty(STDERR_FILENO))
            dprintf(STDERR_FILENO, "\r%zu frames, %zu bytes", last->frames.len, last->data.len);
    }
    if (isatty(STDERR_FILENO))
        dprintf(STDERR_FILENO, "\n");
    serial_close(&line);
    return ok;
}

/* Of a file both are kept, frames and all bytes: what has no frames may be the recorder's memory
 * or a stream as it is. */
static bool receive_read_input(struct received *in, const struct receive_request *r, struct err *e)
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

/* A complete stream becomes files, and kept parts of earlier transmissions are removed. An
 * incomplete one is kept.
 *
 *    frames -> stream -> complete?  yes: files, frames.partial is removed
 *                                   no:  frames.partial, an error that names the gaps */
static bool receive_write_stream(struct received *in, const struct receive_request *r,
                                 const struct embedded_request *to, struct arena *a,
                                 struct out *out, struct err *e)
{
    struct frame_bytes bytes = {0};
    const struct frame_stream *s = receive_chosen(&in->frames, r, e);
    bool ok = s != NULL;
    if (ok && !frame_stream_is_complete(s)) {
        struct frame_bytes text = {0};
        ok = !mkdir(r->folder, 0777) || errno == EEXIST || err_errno(e, r->folder, errno);
        frame_stream_text(s, &text);
        ok = ok && file_replace(receive_partial_path(r, a), (struct bytes){text.at, text.len}, e) &&
             receive_say_missing(s, &in->frames, in->name, a, e);
        vec_free(&text);
    }
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

/* Frames if there are any, otherwise the bytes as they are. */
static bool receive(const struct receive_request *r, struct object *program, struct out *out,
                    struct err *e)
{
    struct arena a = {0};
    struct received in = {.name = strcmp(r->from, "-") ? r->from : "(standard input)"};
    struct embedded_request to = {r->folder, program, r->is_forced};
    /* What an earlier transmission left. */
    struct file_buffer partial = {0};
    const char *path = receive_partial_path(r, &a);
    if (!access(path, F_OK) && file_read(path, &partial, NULL))
        frames_feed(&in.frames, file_bytes(&partial));
    file_buffer_deinit(&partial);
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

/* With --elf what was received must be of that program, unless --force says otherwise. */
static int receive_run(const struct command *self, int argc, char **argv, struct out *out,
                       struct err *e)
{
    struct receive_request r = {.from = "-", .baud = 115200};
    struct operands operands;
    struct object *program = NULL;
    enum options_end end = options_read(self, argc, argv, &r, &operands, out, e);
    if (end != OPTIONS_READ)
        return end == OPTIONS_HELPED ? EXIT_FINE : EXIT_BAD;
    if (operands.len || !r.folder) {
        err_set(e, "receive takes --from FILE and -o DIR; see 'monarc receive --help'");
        return EXIT_BAD;
    }
    if (r.elf && !(program = object_open(r.elf, NULL, NULL, e)))
        return EXIT_BAD;
    bool ok = receive(&r, program, out, e);
    if (program)
        object_close(program);
    return ok ? EXIT_FINE : EXIT_BAD;
}

const struct command command_receive = {
    .name = "receive",
    .synopsis = "[--from FILE|TTY|-] [--elf PROG] -o DIR",
    .summary = "Make profiles and coverage from the data that an embedded target sent",
    .options = RECEIVE_OPTIONS,
    .options_len = sizeof RECEIVE_OPTIONS / sizeof *RECEIVE_OPTIONS,
    .run = receive_run,
};

/* --- recover --------------------------------------------------------------------------------- */

/* Whether to take the tables of a process that seems to be alive. */
struct recover_request {
    bool is_forced;
};

static const struct option_row RECOVER_OPTIONS[] = {
    {0, "force", NULL, "even if the program seems to be running still",
     FILLS(struct recover_request, is_forced)},
};

/* A process of that number with that program: it may be another run of it, which --force is for. */
static bool recover_still_runs(const struct live_tables *t)
{
    char link[64], path[PATH_MAX];
    const char *executable = live_executable(t);
    snprintf(link, sizeof link, "/proc/%" PRIu32 "/exe", t->process.pid);
    ssize_t len = readlink(link, path, sizeof path - 1);
    if (len < 0 || !executable)
        return false;
    path[len] = '\0';
    return !strcmp(path, executable);
}

/* The sidecar last, as the recorder does: it says that all is there. */
static bool recover_write_files(const struct live_tables *t, const char *folder, struct arena *a,
                                struct err *e)
{
    bool ok = true;
    for (size_t i = 0; ok && i < t->objects.list.len; i++) {
        const char *name = t->objects.list.at[i].gmon;
        struct profile p = {0};
        if (!*name || strchr(name, '/'))
            return err_in(e, folder, "the live tables name '%s' as a file of this folder", name);
        if (live_profile(t, i, &p))
            ok = profile_save(format_named("gmon"), &p, t->word, t->big_endian,
                              arena_printf(a, "%s/%s", folder, name), e);
        profile_deinit(&p);
    }
    struct writer w = {.word = 8};
    live_sidecar(t, &w);
    ok = ok && file_replace(arena_printf(a, "%s/monarc.side", folder),
                            (struct bytes){w.out.at, w.out.len}, e);
    writer_deinit(&w);
    return ok;
}

/* The tables must be there and the process gone, unless --force takes what there is: a program
 * that still runs would write over what is made here. */
static bool recover(const char *folder, bool is_forced, struct out *out, struct err *e)
{
    struct arena a = {0};
    struct file_buffer buffer = {0};
    struct live_tables t = {0};
    const char *path = arena_printf(&a, "%s/monarc.live", folder);
    bool ok = file_read_regular(path, &buffer, e) && live_read(file_bytes(&buffer), path, &t, e);
    if (ok && !t.has_tables)
        ok = err_in(
            e, path,
            "holds no table: counts were only in memory, or another program truncated the file");
    if (ok && !is_forced && recover_still_runs(&t))
        ok = err_in(e, folder,
                    "process %" PRIu32 " still runs and will write its recording "
                    "(--force recovers what is there)",
                    t.process.pid);
    if (ok) {
        live_finish(&t);
        ok = recover_write_files(&t, folder, &a, e);
    }
    if (ok && unlink(path) == 0)
        out_printf(out, "%s: recovered %" PRIu64 " samples and calls along %zu arcs\n", folder,
                   t.process.samples, t.arcs.len);
    live_deinit(&t);
    file_buffer_deinit(&buffer);
    arena_deinit(&a);
    return ok;
}

/* A folder that is no run's is that of one process, and goes straight to recover().
 *
 * What a run that was killed left: its own recording, if that was complete and only its name was
 * missing; otherwise the calls that recorders inside its processes counted. What the run itself had
 * sampled was in its memory. */
static bool recover_run_folder(const char *path, bool is_forced, struct out *out, struct err *e)
{
    struct arena a = {0};
    struct recording_folder f;
    size_t len, recovered = 0;
    bool ok = recording_folder_adopt(&f, path, &a, e);
    if (ok && f.name != f.working)
        out_printf(out, "%s: was complete; it is called %s now\n", path, f.name);
    char **processes = ok ? recorded_processes(f.name, &a, &len, e) : NULL;
    ok = ok && processes;
    for (size_t i = 0; ok && i < len; i++) {
        if (access(arena_printf(&a, "%s/monarc.live", processes[i]), F_OK))
            continue;
        ok = recover(processes[i], is_forced, out, e);
        recovered++;
    }
    bool is_complete = ok && f.name == f.working && !recovered &&
                       access(arena_printf(&a, "%s/monarc.live", path), F_OK) &&
                       !access(arena_printf(&a, "%s/monarc.side", path), F_OK);
    if (is_complete)
        out_printf(out, "%s: is complete\n", path);
    else if (ok && f.name == f.working && !recovered)
        ok = recover(path, is_forced, out, e); /* which says what is missing */
    arena_deinit(&a);
    return ok;
}

/* Of the folder of a parallel job, the ranks that are not complete. */
static bool recover_operand(char *path, bool is_forced, struct out *out, struct err *e)
{
    struct arena a = {0};
    size_t len;
    char **ranks = recorded_ranks(path, &a, &len);
    bool ok = true, is_job = strcmp(ranks[len - 1], path) != 0;
    for (size_t i = 0; ok && i < len; i++)
        if (!is_job || !access(arena_printf(&a, "%s/monarc.live", ranks[i]), F_OK))
            ok = recover_run_folder(ranks[i], is_forced, out, e);
    arena_deinit(&a);
    return ok;
}

/* The first recording that cannot be recovered ends the command; those before it are complete. */
static int recover_run(const struct command *self, int argc, char **argv, struct out *out,
                       struct err *e)
{
    struct recover_request r = {0};
    struct operands operands;
    enum options_end end = options_read(self, argc, argv, &r, &operands, out, e);
    if (end != OPTIONS_READ)
        return end == OPTIONS_HELPED ? EXIT_FINE : EXIT_BAD;
    if (!operands.len)
        err_set(e, "recover needs the folder of a RECORDING; see 'monarc recover --help'");
    for (size_t i = 0; i < operands.len; i++)
        if (!recover_operand(operands.at[i], r.is_forced, out, e))
            return EXIT_BAD;
    return operands.len ? EXIT_FINE : EXIT_BAD;
}

const struct command command_recover = {
    .name = "recover",
    .synopsis = "[OPTION...] RECORDING...",
    .summary = "Complete the recording of a program that was killed",
    .options = RECOVER_OPTIONS,
    .options_len = sizeof RECOVER_OPTIONS / sizeof *RECOVER_OPTIONS,
    .run = recover_run,
};

/* --- symbols --------------------------------------------------------------------------------- */

/* Nothing is fetched from a network unless requested. */
static const struct option_row SYMBOLS_OPTIONS[] = {
    {0, "from", "PATH", "take files with the recorded build-ids from this folder, or this file",
     FILLS(struct symbol_files_options, from)},
    {0, "debuginfod", NULL, "ask the servers in DEBUGINFOD_URLS for missing files",
     FILLS(struct symbol_files_options, asks_debuginfod)},
};

/* What was added to a recording, what is still missing, and what the server said. */
static void symbols_tell(const char *folder, const struct recorded_symbols *s,
                         struct symbol_files *files, struct out *out)
{
    const char *trouble = symbol_files_trouble(files);
    out_printf(out, "%s: ", folder);
    if (s->added)
        out_printf(out, "symbols of %zu of %zu objects added; %zu bytes of them are inside now",
                   s->added, s->objects, s->bytes);
    else
        out_printf(out, "nothing was added: %s",
                   s->without ? "no file with more symbols was found" : "no names are missing");
    if (s->without)
        out_printf(out, "; %zu still have none: %s", s->without, path_base_name(s->first_without));
    if (s->unread.line[0])
        out_printf(out, "; not all was read: %s", s->unread.line);
    if (trouble)
        out_printf(out, "; the server's last refusal: %s", trouble);
    out_char(out, '\n');
}

/* Status 1: there are objects without symbols still. */
static int symbols_complete(const char *folder, struct symbol_files *files, struct out *out,
                            struct err *e)
{
    struct profile_options read = {0};
    struct recording r = {0};
    struct recorded_symbols s = {0};
    bool ok = recorded_read_alone(folder, &r, e);
    ok = ok && recorded_complete(&r, folder, &read, files, 0, &s, e);
    /* Half of the names would pass for all of them. What may not be read will not be the next time.
     */
    if (ok && errno_is_trouble(s.unread.system)) {
        *e = s.unread;
        ok = false;
    }
    ok = ok && (!s.added || recorded_write(folder, &r, e));
    if (ok)
        symbols_tell(folder, &s, files, out);
    recording_deinit(&r);
    return !ok ? EXIT_BAD : s.without || s.unread.system ? EXIT_DIFFERS : EXIT_FINE;
}

/* The worst status of all recordings is the command's, and only the first error is reported: one
 * damaged recording of a fleet does not keep the others without names. */
static int symbols_run(const struct command *self, int argc, char **argv, struct out *out,
                       struct err *e)
{
    struct symbol_files_options options = {0};
    struct operands operands;
    int status = EXIT_FINE;
    enum options_end end = options_read(self, argc, argv, &options, &operands, out, e);
    if (end != OPTIONS_READ)
        return end == OPTIONS_HELPED ? EXIT_FINE : EXIT_BAD;
    if (!operands.len) {
        err_set(e, "symbols needs a RECORDING; see 'monarc symbols --help'");
        return EXIT_BAD;
    }
    struct symbol_files *files = symbol_files_new(&options, e);
    if (!files)
        return EXIT_BAD;
    struct arena scratch = {0};
    for (size_t i = 0; i < operands.len; i++) {
        size_t len;
        char **runs = recorded_below(operands.at[i], &scratch, &len);
        for (size_t k = 0; k < len; k++) {
            struct err why = {0};
            int own = symbols_complete(runs[k], files, out, &why);
            if (own == EXIT_BAD && status != EXIT_BAD)
                *e = why;
            status = own > status ? own : status;
        }
    }
    arena_deinit(&scratch);
    symbol_files_free(files);
    return status;
}

static const struct option_group SYMBOLS_GROUPS[] = {
    GROUP(debug_dir_set, struct symbol_files_options, debug_dir),
};
const struct command command_symbols = {
    .name = "symbols",
    .synopsis = "[OPTION...] RECORDING|DIR...",
    .summary = "Put names and lines of functions into recordings that lack them",
    OPTIONS_OF(SYMBOLS_OPTIONS, SYMBOLS_GROUPS),
    .run = symbols_run,
};
