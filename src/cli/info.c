/* monarc info: what profile files hold. A file that breaks off is described as far as it goes. */
#include "session/profiles.h"

#include "session/arcs_file.h"
#include "command/command.h"
#include "session/imported.h"
#include "session/recorded.h"
#include "session/trace_file.h"
#include "coverage/report/arcs_info.h"
#include "coverage/report/trace_info.h"
#include "profile/report/info.h"
#include "profile/report/recording.h"
#include "profile/report/run_info.h"

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

/* A file of arc profiling, whose bytes are in the buffer. */
static bool info_describe_arcs(const struct request *request, const char *path, bool is_first,
                               const struct file_buffer *buffer, struct json *j, struct out *out,
                               struct err *e)
{
    struct arcs_file f = {.buffer = *buffer};
    e->line[0] = '\0';
    bool ok = arcs_file_read(&f, path, e);
    struct arcs_info info = {.name = path,
                             .format = arcs_kind_name(f.kind),
                             .size_bytes = buffer->len,
                             .error = ok ? NULL : e->line,
                             .notes = f.is_notes ? &f.notes : NULL,
                             .counters = f.is_notes ? NULL : &f.counters};
    if (request->is_json)
        arcs_info_json(j, &info);
    else
        arcs_info_text(out, &info, is_first);
    notes_deinit(&f.notes);
    counters_deinit(&f.counters);
    file_buffer_deinit(&f.lines);
    return ok;
}

/* The same of a tracefile, or of another coverage tool's file; *is_one: it is one. */
static bool info_describe_trace(const struct request *request, const char *path, bool is_first,
                                struct bytes bytes, bool *is_one, struct json *j, struct out *out,
                                struct err *e)
{
    struct trace_file f = {0};
    struct err why = {0};
    bool ok = trace_file_read(&f, bytes, path, is_one, &why);
    struct trace_info info = {.name = path,
                              .format = f.format,
                              .title = f.title,
                              .size_bytes = bytes.len,
                              .error = ok ? NULL : why.line,
                              .found = &f.found};
    if (*is_one && request->is_json)
        trace_info_json(j, &info);
    else if (*is_one)
        trace_info_text(out, &info, is_first);
    if (*is_one)
        *e = why;
    tracefile_deinit(&f.found);
    return ok;
}

/* `j` is open, or has no output if text is wanted. */
static bool info_describe(const struct request *request, const char *path, bool is_first,
                          struct file_buffer *buffer, struct json *j, struct out *out,
                          struct err *e)
{
    struct profile p = {0};
    buffer->len = 0;
    bool ok = profile_load(&request->read, path, buffer, &p, e);
    if (!ok && !request->read.format && arcs_kind_of(file_bytes(buffer))) {
        profile_deinit(&p);
        return info_describe_arcs(request, path, is_first, buffer, j, out, e);
    }
    if (!ok && !request->read.format) {
        bool is_one, is_whole = info_describe_trace(request, path, is_first, file_bytes(buffer),
                                                    &is_one, j, out, e);
        if (is_one) {
            profile_deinit(&p);
            return is_whole;
        }
    }
    const struct format *format = p.word ? format_of(&p) : NULL;
    struct file_info file = {.name = path,
                             .size_bytes = buffer->len,
                             .format = format ? format->name : NULL,
                             .title = format ? format->title : NULL,
                             .error = ok ? NULL : e->line,
                             .found = &p};
    if (request->is_json)
        info_json(j, &file);
    else
        info_text(out, &file, is_first);
    profile_deinit(&p);
    return ok;
}

static bool info_describe_recording(const struct request *request, const char *folder,
                                    bool is_first, struct json *j, struct out *out, struct err *e)
{
    struct recording r = {0};
    bool ok = recorded_read_sidecar(folder, &r, e);
    if (ok && request->is_json)
        recording_json_report(j, folder, &r);
    else if (ok)
        recording_text_report(out, folder, &r, is_first);
    recording_deinit(&r);
    return ok;
}

static bool info_describe_run(const struct request *request, const char *folder, bool is_first,
                              struct json *j, struct out *out, struct err *e)
{
    struct run r = {0};
    struct profile_options read = request->read;
    read.progress = progress_start();
    progress_phase(read.progress, "reading the recording", 0);
    bool ok = recorded_read(folder, &read, &r, e);
    progress_end(read.progress);
    if (ok && request->is_json)
        run_info_json(j, folder, &r);
    else if (ok)
        run_info_text(out, folder, &r, is_first);
    run_deinit(&r);
    return ok;
}

static bool info_describe_recorded(const struct request *request, const char *folder, bool is_first,
                                   struct json *j, struct out *out, struct err *e)
{
    return !is_folder(folder) || recorded_is_run(folder)
               ? info_describe_run(request, folder, is_first, j, out, e)
               : info_describe_recording(request, folder, is_first, j, out, e);
}

static int info_describe_all(const struct request *request, char *const *paths, int len,
                             struct out *out, struct err *e)
{
    struct json j = {.out = out};
    struct file_buffer buffer = {0};
    int status = EXIT_FINE;
    if (request->is_json) {
        json_document_begin(&j, NULL);
        json_key(&j, "files"), json_begin(&j, '[');
    }
    for (int i = 0; i < len; i++) {
        struct err why = {0};
        if (is_recording(paths[i])
                ? info_describe_recorded(request, paths[i], i == 0, &j, out, &why)
                : info_describe(request, paths[i], i == 0, &buffer, &j, out, &why))
            continue;
        if (status == EXIT_FINE)
            *e = why;
        status = EXIT_BAD;
    }
    if (request->is_json)
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
