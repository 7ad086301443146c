/* monarc info: what profile files hold. A file that breaks off is described as far as it goes. */
#include "session/profiles.h"

#include "session/arcs_file.h"
#include "command/command.h"
#include "session/imported.h"
#include "session/recorded.h"
#include "session/coverage.h"
#include "coverage/report/arcs_info.h"
#include "profile/report/info.h"
#include "profile/report/recording_info.h"

enum { OPTION_JSON = PROFILE_OPTIONS, OPTIONS_LEN };

static const struct option_row OPTIONS[] = {
    PROFILE_OPTION_ROWS,
    {0, "json", NULL, "print JSON (docs/schema/info.schema.json)"},
};
OPTION_ROWS_MATCH(OPTIONS, OPTIONS_LEN);

struct request {
    struct profile_options read;
    bool is_json;
};

static bool info_take(void *request, int row, const char *value, struct err *e)
{
    struct request *r = request;
    if (row == OPTION_JSON)
        return r->is_json = true;
    return profile_option(&r->read, row, value, e);
}

/* One file or folder that is to be described, and where to. */
struct describing {
    const struct request *request;
    const char *path;
    struct out *out;
    struct json *json; /* NULL: text is wanted */
    struct file_buffer *buffer;
    bool is_first;
};

/* A recording, of which the reports want a name as well. */
struct named_recording {
    const char *folder;
    const struct recording *recording;
};

/* How each kind of file is written: a row says it in text and in JSON. */
struct info_writer {
    void (*text)(struct out *out, const void *found, bool is_first);
    void (*json)(struct json *j, const void *found);
};

#define INFO_WRITER(kind, type, text_of, json_of)                                     \
    static void info_##kind##_text(struct out *out, const void *found, bool is_first) \
    {                                                                                 \
        const type *f = found;                                                        \
        text_of;                                                                      \
    }                                                                                 \
    static void info_##kind##_json(struct json *j, const void *found)                 \
    {                                                                                 \
        const type *f = found;                                                        \
        json_of;                                                                      \
    }                                                                                 \
    static const struct info_writer info_of_##kind = {info_##kind##_text, info_##kind##_json};
INFO_WRITER(profile, struct file_info, info_text(out, f, is_first), info_json(j, f))
INFO_WRITER(arcs, struct arcs_info, arcs_info_text(out, f, is_first), arcs_info_json(j, f))
INFO_WRITER(trace, struct trace_info, trace_info_text(out, f, is_first), trace_info_json(j, f))
INFO_WRITER(recording, struct named_recording,
            recording_info_text(out, f->folder, f->recording, is_first),
            recording_info_json(j, f->folder, f->recording))
#undef INFO_WRITER

static void info_write(const struct describing *d, const struct info_writer *kind,
                       const void *found)
{
    if (d->json)
        kind->json(d->json, found);
    else
        kind->text(d->out, found, d->is_first);
}

/* A file of arc profiling, whose bytes are in the buffer. */
static bool info_describe_arcs(const struct describing *d, struct err *e)
{
    struct arcs_file f = {.buffer = *d->buffer};
    e->line[0] = '\0';
    bool ok = arcs_file_read(&f, d->path, e);
    struct arcs_info info = {.name = d->path,
                             .format = arcs_kind_name(f.kind),
                             .size_bytes = d->buffer->len,
                             .error = ok ? NULL : e->line,
                             .notes = f.is_notes ? &f.notes : NULL,
                             .counters = f.is_notes ? NULL : &f.counters};
    info_write(d, &info_of_arcs, &info);
    notes_deinit(&f.notes);
    counters_deinit(&f.counters);
    file_buffer_deinit(&f.lines);
    return ok;
}

/* The same of a tracefile, or of another coverage tool's file; *is_one: it is one. */
static bool info_describe_trace(const struct describing *d, bool *is_one, struct err *e)
{
    struct trace_file f = {0};
    struct err why = {0};
    bool ok = trace_file_read(&f, file_bytes(d->buffer), d->path, is_one, &why);
    struct trace_info info = {.name = d->path,
                              .format = f.format,
                              .title = f.title,
                              .size_bytes = d->buffer->len,
                              .error = ok ? NULL : why.line,
                              .found = &f.found};
    if (*is_one) {
        info_write(d, &info_of_trace, &info);
        *e = why;
    }
    tracefile_deinit(&f.found);
    return ok;
}

/* What is no profile, or one that breaks off; *is_one: it is of a kind with arcs or lines. */
static bool info_describe_coverage(const struct describing *d, bool *is_one, struct err *e)
{
    *is_one = arcs_kind_of(file_bytes(d->buffer)) != 0;
    return *is_one ? info_describe_arcs(d, e) : info_describe_trace(d, is_one, e);
}

static bool info_describe_file(const struct describing *d, struct err *e)
{
    struct profile p = {0};
    d->buffer->len = 0;
    bool is_other = false;
    bool ok = profile_load(&d->request->read, d->path, d->buffer, &p, e);
    if (!ok && !d->request->read.format)
        ok = info_describe_coverage(d, &is_other, e) && is_other;
    const struct format *format = p.word ? format_of(&p) : NULL;
    struct file_info file = {.name = d->path,
                             .size_bytes = d->buffer->len,
                             .format = format ? format->name : NULL,
                             .title = format ? format->title : NULL,
                             .error = ok ? NULL : e->line,
                             .found = &p};
    if (!is_other)
        info_write(d, &info_of_profile, &file);
    profile_deinit(&p);
    return ok;
}

static bool info_describe_recording(const struct describing *d, struct err *e)
{
    struct recording r = {0};
    struct profile_options read = d->request->read;
    read.progress = progress_start();
    progress_phase(read.progress, "reading the recording", 0);
    bool ok = recorded_read(d->path, &read, &r, e);
    progress_end(read.progress);
    if (ok)
        info_write(d, &info_of_recording, &(struct named_recording){d->path, &r});
    recording_deinit(&r);
    return ok;
}

static bool info_describe(const struct describing *d, struct err *e)
{
    return is_recording(d->path) ? info_describe_recording(d, e) : info_describe_file(d, e);
}

static int info_describe_all(const struct request *request, char *const *paths, int len,
                             struct out *out, struct err *e)
{
    struct json j = {.out = out};
    struct file_buffer buffer = {0};
    struct describing d = {request, .out = out, .json = request->is_json ? &j : NULL,
                           .buffer = &buffer};
    int status = EXIT_FINE;
    if (d.json) {
        json_document_begin(&j, NULL);
        json_key(&j, "files"), json_begin(&j, '[');
    }
    for (int i = 0; i < len; i++) {
        struct err why = {0};
        d.path = paths[i];
        d.is_first = i == 0;
        if (info_describe(&d, &why))
            continue;
        if (status == EXIT_FINE)
            *e = why;
        status = EXIT_BAD;
    }
    if (d.json)
        json_end(&j), json_end(&j);
    file_buffer_deinit(&buffer);
    return status;
}

static int info_run(const struct command *self, int argc, char **argv, struct out *out,
                    struct err *e)
{
    char default_path[] = "gmon.out";
    char *default_paths[] = {default_path};
    struct option_walk walk = options_start(self, argc - 1, argv + 1);
    struct request request = {0};
    int end = options_each(&walk, info_take, &request, e);
    if (end == OPTION_HELP)
        return command_help(self, out), EXIT_FINE;
    if (end == OPTION_BAD)
        return EXIT_BAD;
    bool has_paths = walk.operands > 0;
    return info_describe_all(&request, has_paths ? walk.argv : default_paths,
                             has_paths ? walk.operands : 1, out, e);
}

const struct command command_info = {
    .name = "info",
    .next = "'monarc flat' shows where the time of a profile went, 'monarc doctor' what is wrong "
            "with it",
    .synopsis = "[OPTION...] [FILE|RECORDING...]",
    .summary = "Say what profile files hold: records, ranges, rates, totals, oddities",
    .details =
        "FILE is gmon.out unless named; - is standard input. Of a folder that 'monarc run' leaves\n"
        "it tells the processes, their objects, threads, marks and losses. The exit status is 2 if "
        "a "
        "file\n"
        "could not be read to its end; what came before is described all the same.\n"
        "perf.data and files of other profilers are recordings, too (docs/import.md).\n"
        "gcno, gcda, bbg and da files (arc profiling) of every version are described too, and\n"
        "tracefiles of lcov, JSON of gcovr and llvm-cov, and Cobertura XML.\n",
    .options = OPTIONS,
    .rare_options = PROFILE_OPTIONS,
    .options_len = sizeof OPTIONS / sizeof *OPTIONS,
    .run = info_run,
};
