/* monarc info, merge and convert: profile files, seen from outside.
 *
 * All three take every kind of file that holds measurements. A kind is a row of FILE_KINDS, at the
 * end: how it is recognised, described, summed and converted. The bytes say which it is; of a
 * command's operands the first does.
 *
 *     info     describes what a file holds; one that breaks off is described as far as it goes
 *     merge    sums files of one kind exactly: call sites stay apart, counts never wrap, and the
 *              program is not needed; the output keeps the format of the first input
 *     convert  writes another format, pointer size or byte order, and drops nothing on the way:
 *              what the target cannot hold is an error. With --program, counts of arcs become
 *              counts of blocks in that program
 *
 * An output is replaced only when it is complete, and may be one of the inputs. */
#include "cli/cli.h"
#include "base/path.h"
#include "coverage/format/format.h"
#include "coverage/format/llvm.h"
#include "coverage/report/coverage_report.h"
#include "profile/format/recording_file.h"
#include "profile/report/info.h"
#include "session/arcs_file.h"
#include "session/arcs_profile.h"
#include "session/imported.h"
#include "session/llvm_file.h"
#include "session/profiles.h"
#include "session/recorded.h"
#include "session/source_profiles.h"
#include "session/symbol_files.h"
#include "session/coverage.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct info_target;
struct merge_request;
struct convert_request;

/* Whose names --to takes for a kind of file; of the others each has its own. */
enum target { TARGET_PROFILE, TARGET_SOURCE, TARGET_LLVM };

/* A kind of file. The last two return an exit status, with an error for EXIT_BAD. */
struct file_kind {
    const char *page; /* docs/formats/PAGE.md; of a family the page of one format */
    enum target target;
    bool (*is_in)(struct bytes in);  /* whether these are its bytes, all of a file */
    bool (*is_at)(const char *path); /* NULL: it has no sums and no conversions of its own */
    bool (*describe)(const struct info_target *d, struct err *e); /* what is_in found */
    int (*merge)(struct merge_request *r, char *const *paths, size_t len, struct err *e);
    int (*convert)(struct convert_request *r, char *const *path, struct err *e);
};

/* The kind of the bytes, or NULL: a profile at most, whose formats are often without a magic. */
static const struct file_kind *kind_of_bytes(struct bytes in);

/* That of the file, for sums and conversions: a profile where it is none of the others. */
static const struct file_kind *kind_of_path(const char *path);

/* --- info ------------------------------------------------------------------------------------ */

/* No output but standard output: what is described stays untouched. */
struct info_request {
    struct profile_options read;
    struct print_options print;
};

/* One file or folder that is to be described, and where to. */
struct info_target {
    const struct info_request *request;
    const char *path;
    struct facts *facts;
    size_t *described; /* files before this one */
    struct file_buffer *buffer;
};

/* Where a file is described: an element of the array in JSON, a paragraph in text. */
static struct facts *info_element(const struct info_target *d)
{
    fact_text(d->facts, *d->described ? "\n" : "");
    facts_row(d->facts, d->described);
    return d->facts;
}

/* A file of arc profiling, whose bytes are in the buffer. The error of a file that breaks off is
 * part of its description, and the status; bytes stay the caller's. */
static bool info_describe_arcs(const struct info_target *d, struct err *e)
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
    arcs_facts(info_element(d), &info);
    notes_deinit(&f.notes);
    counters_deinit(&f.counters);
    file_buffer_deinit(&f.lines);
    return ok;
}

/* The same of a tracefile, or of another coverage tool's file. */
static bool info_describe_trace(const struct info_target *d, struct err *e)
{
    struct trace_file f = {0};
    e->line[0] = '\0';
    bool ok = trace_file_read(&f, file_bytes(d->buffer), d->path, e);
    struct trace_info info = {.name = d->path,
                              .format = f.format,
                              .title = f.title,
                              .size_bytes = d->buffer->len,
                              .error = ok ? NULL : e->line,
                              .found = &f.found};
    trace_facts(info_element(d), &info);
    tracefile_deinit(&f.found);
    return ok;
}

/* Profiles of clang and rustc, added up; the intact part of a file that breaks off is described. */
static bool info_describe_llvm(const struct info_target *d, struct err *e)
{
    struct llvm_reader reader = llvm_reader_over(file_bytes(d->buffer), d->path);
    reader.wants_names = reader.wants_values = true;
    struct llvm_profile profile = {0}, sum = {0};
    struct llvm_info info = {.name = d->path, .size_bytes = d->buffer->len, .sum = &sum};
    bool is_end = false, ok = true;
    e->line[0] = '\0';
    while (ok && !is_end) {
        ok = llvm_profile_next(&reader, &profile, &is_end, e);
        if (ok && !is_end) {
            llvm_profile_add(&sum, &profile);
            info.profiles++;
        }
    }
    info.error = ok ? NULL : e->line;
    llvm_facts(info_element(d), &info);
    llvm_profile_deinit(&profile);
    llvm_profile_deinit(&sum);
    return ok;
}

/* A bb file, which has the lines of a graph of gcc before 3.4: only the graph beside it shows what
 * they are lines of. */
static bool info_describe_bb(const struct info_target *d, struct err *e)
{
    struct arcs_file f = {0};
    struct arena scratch = {0};
    struct err why = {0};
    const char *graph = arcs_path_beside(d->path, "bbg", &scratch);
    bool ok = arcs_file_load(&f, graph, &why) ||
              err_set(e, "%s: has lines of a graph that is read with it: %s", d->path, why.line);
    struct arcs_info info = {.name = d->path,
                             .format = "bb",
                             .size_bytes = d->buffer->len,
                             .error = ok ? NULL : e->line,
                             .notes = &f.notes};
    arcs_facts(info_element(d), &info);
    arcs_file_deinit(&f);
    arena_deinit(&scratch);
    return ok;
}

/* A profile by source position, for a compiler; of a damaged one what was read is described. */
static bool info_describe_source(const struct info_target *d, struct err *e)
{
    struct source_profile p = {0};
    struct bytes in = file_bytes(d->buffer);
    const struct source_format *f = source_format_probe(in);
    e->line[0] = '\0';
    bool ok = f->read(in, d->path, &p, e);
    struct source_info info = {.name = d->path,
                               .format = f->name,
                               .title = f->title,
                               .size_bytes = in.len,
                               .version = afdo_version(in),
                               .error = ok ? NULL : e->line,
                               .found = &p};
    source_facts(info_element(d), &info);
    source_profile_deinit(&p);
    return ok;
}

/* A profile, or another kind if its bytes are not one, or one that breaks off; errors of a file
 * that is no known kind are the profile reader's, which knows most formats. If a format was named,
 * only that is tried. */
static bool info_describe_file(const struct info_target *d, struct err *e)
{
    struct profile p = {0};
    d->buffer->len = 0;
    bool ok = profile_load(&d->request->read, d->path, d->buffer, &p, e);
    const struct file_kind *other =
        ok || d->request->read.format ? NULL : kind_of_bytes(file_bytes(d->buffer));
    const struct format *format = p.word ? format_of(&p) : NULL;
    struct file_info file = {.name = d->path,
                             .size_bytes = d->buffer->len,
                             .format = format ? format->name : NULL,
                             .title = format ? format->title : NULL,
                             .error = ok ? NULL : e->line,
                             .found = &p};
    if (other)
        ok = other->describe(d, e);
    else
        file_facts(info_element(d), &file);
    profile_deinit(&p);
    return ok;
}

/* A folder that 'monarc run' made, or a file of another profiler, read as a recording. */
static bool info_describe_recording(const struct info_target *d, struct err *e)
{
    struct recording r = {0};
    struct profile_options read = d->request->read;
    read.progress = progress_start();
    progress_phase(read.progress, "reading the recording", 0);
    bool ok = recorded_read(d->path, &read, &r, e);
    progress_end(read.progress);
    if (ok)
        recording_facts(info_element(d), d->path, &r);
    recording_deinit(&r);
    return ok;
}

/* Every file is described, whatever was wrong with those before it; the first error is the one that
 * is reported, and makes the status. In JSON all are members of one array, so that the document is
 * whole even after errors. */
static int info_run(const struct command *self, int argc, char **argv, struct out *out,
                    struct err *e)
{
    char default_path[] = "gmon.out";
    char *default_paths[] = {default_path};
    struct info_request r = {0};
    struct operands operands;
    enum options_end end = options_read(self, argc, argv, &r, &operands, out, e);
    if (end != OPTIONS_READ)
        return end == OPTIONS_HELPED ? EXIT_FINE : EXIT_BAD;
    if (!operands.len)
        operands = (struct operands){default_paths, 1};
    struct json j = {.out = out};
    struct file_buffer buffer = {0};
    struct facts facts = {.out = r.print.format ? NULL : out, .json = r.print.format ? &j : NULL};
    struct info_target d = {&r, .facts = &facts, .buffer = &buffer};
    int status = EXIT_FINE;
    if (facts.json)
        json_document_begin(&j, NULL);
    size_t described = facts_rows(&facts, "files");
    d.described = &described;
    for (size_t i = 0; i < operands.len; i++) {
        struct err why = {0};
        d.path = operands.at[i];
        bool ok =
            is_recording(d.path) ? info_describe_recording(&d, &why) : info_describe_file(&d, &why);
        if (ok)
            continue;
        if (status == EXIT_FINE)
            *e = why;
        status = EXIT_BAD;
    }
    if (facts.json)
        facts_rows_end(&facts, 0, described), json_end(&j);
    file_buffer_deinit(&buffer);
    return status;
}

/* All options are those of reading: what to print is not chosen, as each kind has one report. */
static const struct option_group INFO_GROUPS[] = {
    GROUP(json_set, struct info_request, print),
    GROUP(read_set, struct info_request, read),
};
const struct command command_info = {
    .name = "info",
    .synopsis = "[OPTION...] [FILE|RECORDING...]",
    .summary = "Describe profile files: records, ranges, rates, totals, oddities",
    .groups = INFO_GROUPS,
    .groups_len = sizeof INFO_GROUPS / sizeof *INFO_GROUPS,
    .run = info_run,
};

/* --- merge ----------------------------------------------------------------------------------- */

/* `read` says how inputs are read, `to` what is written; NULL: as the first input is. */
struct merge_request {
    struct profile_options read;
    const char *output;
    const struct format *to;
    struct llvm_request llvm; /* of clang's and rustc's profiles */
    struct source_output source;
};

/* What --to names: formats of profiles, files of arcs, containers of LLVM's, profiles by source.
 * Names do not overlap, and whether it is one that the inputs can become is seen when they are. */
#define TO_FORMATS "gmon, gmon0, sprof, bsd44, bsd"
#define TO_ARCS    "gcno, gcda, bbg, da"
#define TO_LLVM    "profraw, profdata, proftext"
#define TO_SOURCES "afdo, llvm-sample, llvm-sample-binary"
#define LLVM_TEXT  "write profraw or profdata as this release of LLVM does: 11 to 23"

/* Names of containers and releases of LLVM would be ignored for a file of another kind, and the
 * output would not be what they say. */
static bool llvm_options_fit(const struct llvm_request *r, const struct file_kind *kind,
                             const char *path, struct err *e)
{
    return !((r->has_container || r->release) && kind->target == TARGET_PROFILE) ||
           err_in(e, path, "is not a profile of LLVM, which --to and --llvm require");
}

/* `arcs` is NULL where files of arcs are not written. */
static bool take_target(const struct format **to, struct llvm_request *llvm,
                        struct source_output *source, enum arcs_kind *arcs, const char *option,
                        const char *value, struct err *e)
{
    if (arcs)
        *arcs = arcs_kind_named(value);
    llvm->has_container = llvm_container_named(value, &llvm->container);
    source->to = source_format_named(value);
    return llvm->has_container || source->to || (arcs && *arcs) ||
           parse_format(option, value, to, e) ||
           err_set(e,
                   "option '--to' takes one of " TO_FORMATS "%s, " TO_LLVM ", " TO_SOURCES
                   ", not '%s'",
                   arcs ? ", " TO_ARCS : "", value);
}

static bool merge_take_target(void *target, const struct option_row *row, const char *value,
                              struct err *e)
{
    struct merge_request *r = target;
    return take_target(&r->to, &r->llvm, &r->source, NULL, row->name, value, e);
}

/* Without -o there is no merge: a sum on a terminal is never wanted. */
static const struct option_row MERGE_OPTIONS[] = {
    {'o', "output", "FILE",
     "where to write the sum; may be one of the inputs; - is standard output",
     FILLS(struct merge_request, output)},
    {0, "to", "FORMAT",
     "write " TO_FORMATS "; " TO_LLVM "; " TO_SOURCES " (default: as the first input)",
     TAKEN_BY(merge_take_target)},
    {0, "llvm", "N", LLVM_TEXT, FILLS(struct merge_request, llvm.release)},
};

/* Into a folder that gets the sum as its recording, and has none: calls in folders within an old
 * one would be counted again. Sums are exact, and equal stacks are one node. Objects whose symbols
 * were in one recording have them in the sum. */
static int merge_recordings(struct merge_request *request, char *const *paths, size_t len,
                            struct err *e)
{
    struct arena scratch = {0};
    struct recording sum = {0};
    struct writer w = {0};
    const char *path = arena_printf(&scratch, "%s/monarc.side", request->output);
    bool ok = !request->to || err_set(e, "--to names formats of profiles, not of recordings");
    for (size_t i = 0; ok && i < len; i++)
        ok = is_recording(paths[i]) ||
             err_in(e, paths[i], "is not a recording; recordings are merged with recordings only");
    if (ok && access(path, F_OK) == 0)
        ok = err_in(e, request->output, "holds a recording already; name another folder");
    progress_phase(request->read.progress, "adding up recordings", 0);
    ok = ok && recorded_read_all(paths, len, &request->read, &sum, e);
    if (ok && mkdir(request->output, 0777) && (errno != EEXIST || !path_is_folder(request->output)))
        ok = err_errno(e, request->output, errno);
    if (ok) {
        recorded_join_symbols(&sum);
        recording_write(&w, &sum);
        ok = file_replace(path, (struct bytes){w.out.at, w.out.len}, e);
    }
    writer_deinit(&w);
    recording_deinit(&sum);
    arena_deinit(&scratch);
    return ok ? EXIT_FINE : EXIT_BAD;
}

/* Profiles by source position, into one of their own kind alone. What the target has no room for is
 * said, and changes the status. */
static int source_files_run(const struct source_output *target, bool is_other, char *const *paths,
                            size_t len, struct err *e)
{
    struct arena scratch = {0};
    const char *note = NULL;
    int status = EXIT_BAD;
    if (is_other)
        err_in(e, paths[0],
               "is a profile for a compiler or for BOLT: --to takes afdo, llvm-sample, "
               "llvm-sample-binary, fdata or preaggregated");
    else if (source_merge(target, paths, len, &note, &scratch, e))
        status = note ? EXIT_DIFFERS : EXIT_FINE;
    if (note)
        err_in(e, target->output, "%s", note);
    arena_deinit(&scratch);
    return status;
}

static int merge_source(struct merge_request *r, char *const *paths, size_t len, struct err *e)
{
    r->source.output = r->output;
    return source_files_run(&r->source, r->to || r->llvm.has_container, paths, len, e);
}

/* One sum, and one input at a time. */
static int merge_profiles(struct merge_request *r, char *const *paths, size_t len, struct err *e)
{
    struct profile sum = {0};
    bool ok = profiles_load(&r->read, paths, len, &sum, e);
    const struct format *format = ok && !r->to ? format_of(&sum) : r->to;
    ok = ok && profile_save(format, &sum, sum.word, sum.big_endian, r->output, e);
    profile_deinit(&sum);
    return ok ? EXIT_FINE : EXIT_BAD;
}

/* They do not become profiles without a program: the reader of profiles says what they are not. */
static int merge_arcs(struct merge_request *r, char *const *paths, size_t len, struct err *e)
{
    struct arcs_request arcs = {.output = r->output, .progress = r->read.progress};
    if (r->to)
        return merge_profiles(r, paths, len, e);
    return arcs_merge(&arcs, paths, len, e) ? EXIT_FINE : EXIT_BAD;
}

/* Reading and summing are done by several threads. */
static int merge_llvm(struct merge_request *r, char *const *paths, size_t len, struct err *e)
{
    r->llvm.output = r->output;
    return r->to ? merge_profiles(r, paths, len, e) : llvm_merge(&r->llvm, paths, len, e);
}

/* A new file may be read by those alone who may read all that it is made of. */
static void hide_as_inputs(char *const *paths, size_t len)
{
    mode_t hidden = umask(0);
    for (size_t i = 0; i < len; i++) {
        struct stat st;
        if (!stat(paths[i], &st))
            hidden |= ~st.st_mode & (S_IRGRP | S_IROTH);
    }
    hidden |= hidden & S_IRGRP ? S_IXGRP : 0;
    hidden |= hidden & S_IROTH ? S_IXOTH : 0;
    umask(hidden);
}

/* Inputs are read before the output is begun, so that it may be one of them. Kinds do not mix. */
static int merge_files(struct merge_request *r, char *const *paths, size_t len, struct err *e)
{
    const struct file_kind *kind = kind_of_path(paths[0]);
    hide_as_inputs(paths, len);
    if (r->source.to && kind->target != TARGET_SOURCE)
        err_in(e, paths[0], "is not a profile by source position, which --to %s needs",
               r->source.to->name);
    else if (llvm_options_fit(&r->llvm, kind, paths[0], e))
        return kind->merge(r, paths, len, e);
    return EXIT_BAD;
}

static int merge_run(const struct command *self, int argc, char **argv, struct out *out,
                     struct err *e)
{
    struct merge_request r = {0};
    struct operands operands;
    enum options_end end = options_read(self, argc, argv, &r, &operands, out, e);
    if (end != OPTIONS_READ)
        return end == OPTIONS_HELPED ? EXIT_FINE : EXIT_BAD;
    if (!r.output || !operands.len) {
        err_set(e, "merge needs -o FILE and at least one input; see 'monarc merge --help'");
        return EXIT_BAD;
    }
    struct llvm_inputs inputs = {0};
    int status = EXIT_BAD;
    bool ok = llvm_inputs_find(operands.at, operands.len, r.output, &inputs, e);
    r.read.progress = r.llvm.progress = progress_start();
    if (ok)
        status = merge_files(&r, inputs.at.at, inputs.at.len, e);
    progress_end(r.read.progress);
    if (status != EXIT_BAD)
        output_say(r.output, out);
    if (status != EXIT_BAD && inputs.left_out.len) {
        struct err said = *e;
        err_set(e, "%s%s" COVERAGE_LEFT_OUT "%s", said.line, *said.line ? "; " : "",
                inputs.left_out.at[0], COVERAGE_AND_MORE(inputs.left_out.len));
    }
    llvm_inputs_deinit(&inputs);
    return status;
}

static const struct option_group MERGE_GROUPS[] = {
    GROUP(read_set, struct merge_request, read),
};
const struct command command_merge = {
    .name = "merge",
    .synopsis = "[OPTION...] -o OUTPUT INPUT...",
    .summary = "Sum profiles of several runs into one file",
    OPTIONS_OF(MERGE_OPTIONS, MERGE_GROUPS),
    .run = merge_run,
};

/* --- convert --------------------------------------------------------------------------------- */

/* 0 and NULL mean "as it was" in all fields about the target. */
struct convert_request {
    struct profile_options read;
    const char *output;
    const struct format *to;
    uint8_t to_word;
    enum byte_order to_order;
    struct arcs_request arcs;           /* from files of arcs to files of arcs */
    struct arcs_profile_request blocks; /* from files of arcs to a profile */
    struct llvm_request llvm;           /* of clang's and rustc's profiles */
    struct source_output source;
    struct arena arena;
};

static bool convert_take_target(void *target, const struct option_row *row, const char *value,
                                struct err *e)
{
    struct convert_request *r = target;
    return take_target(&r->to, &r->llvm, &r->source, &r->arcs.to, row->name, value, e);
}

/* "12" is the release that Debian has of gcc 12, "12.2" that one. */
static bool convert_take_version(void *target, const struct option_row *row, const char *value,
                                 struct err *e)
{
    struct convert_request *r = target;
    unsigned major, minor = 0;
    int end = 0, parts = sscanf(value, "%2u%n.%1u%n", &major, &end, &minor, &end);
    if (parts >= 1 && !value[end])
        r->source.version = afdo_version_of_gcc(major);
    if (parts >= 1 && !value[end])
        r->arcs.version =
            parts == 1 ? arcs_version_word_of_major(major) : arcs_version_word(major, minor);
    return r->arcs.version ||
           err_set(e, "option '--%s' takes a version such as 4.9 or 12.2, not '%s'", row->name,
                   value);
}

/* Three groups: what is written, what is done to files of arcs, and what --program needs. */
static const struct option_row CONVERT_OPTIONS[] = {
    {'o', "output", "FILE", "where to write the result; - is standard output",
     FILLS(struct convert_request, output)},
    {0, "to", "FORMAT",
     "write " TO_FORMATS "; " TO_ARCS "; " TO_LLVM "; " TO_SOURCES " (default: as it was)",
     TAKEN_BY(convert_take_target)},
    {0, "to-word", "32|64", "write 32- or 64-bit pointers (default: as it was)",
     TAKEN_BY(take_word), .offset = offsetof(struct convert_request, to_word)},
    {0, "to-endian", "little|big", "write this byte order (default: as it was)",
     CHOOSES(struct convert_request, to_order), .first = ORDER_LITTLE},
    {0, "notes", "FILE",
     "the notes that go with the counters; with --program also a folder of them (default: beside "
     "the counters)",
     FILLS(struct convert_request, arcs.notes)},
    {0, "gcc", "VERSION", "write gcno or gcda as this gcc does: 4.9, 9.2, 14.2; 12 is 12.2",
     TAKEN_BY(convert_take_version)},
    {0, "llvm", "N", LLVM_TEXT, FILLS(struct convert_request, llvm.release)},
    {0, "arcs-only", NULL, "leave out all counters but those of arcs: values, conditions, paths",
     FILLS(struct convert_request, arcs.is_arcs_only)},
    {0, "repair", NULL, "change a gcda that lost updates as little as makes it consistent",
     FILLS(struct convert_request, arcs.is_repaired)},
    {0, "program", "PROGRAM",
     "write the counts of gcda, da or folders of gcda as block counts of this program (--to gmon)",
     FILLS(struct convert_request, blocks.program)},
    {0, "calls", NULL, "with --program: add how often functions were called, by unknown callers",
     FILLS(struct convert_request, blocks.adds_calls)},
};

/* Counters of arcs into block counts of a program. Options of profiles are refused rather than
 * ignored: the inputs are none. Returns an exit status. */
static int convert_to_blocks(struct convert_request *request, char *const *paths, size_t len,
                             struct err *e)
{
    struct arcs_profile_request *blocks = &request->blocks;
    if (request->arcs.to || !request->to || request->arcs.version || request->arcs.is_arcs_only ||
        request->llvm.release) {
        err_set(
            e,
            "--program needs --to gmon, and cannot be combined with --gcc, --llvm or --arcs-only");
        return EXIT_BAD;
    }
    if (request->read.hint.word || request->read.hint.order || request->read.format) {
        err_set(
            e,
            "--word, --endian and --profile-format are for profiles; --to-word and --to-endian say "
            "what is written");
        return EXIT_BAD;
    }
    blocks->output = request->output;
    blocks->to = request->to;
    blocks->notes = request->arcs.notes;
    blocks->repairs = request->arcs.is_repaired;
    blocks->word = request->to_word;
    blocks->order = request->to_order;
    return arcs_profile(blocks, paths, len, e);
}

static int convert_source(struct convert_request *r, char *const *path, struct err *e)
{
    r->source.output = r->output;
    return source_files_run(&r->source, r->to || r->llvm.has_container || r->arcs.to, path, 1, e);
}

/* Files of arcs only become a profile in a program, where their lines have addresses. */
static int convert_arcs(struct convert_request *r, char *const *path, struct err *e)
{
    r->arcs.output = r->output;
    r->arcs.byte_order = (uint8_t)r->to_order;
    bool ok = !r->to ? arcs_convert(&r->arcs, *path, e)
                     : err_in(e, *path,
                              "counts arcs; to become %s they need --program PROGRAM, in which "
                              "their lines have addresses",
                              r->to->name);
    return ok ? EXIT_FINE : EXIT_BAD;
}

/* What is asked of files of arcs is theirs to refuse. */
static int convert_profile(struct convert_request *r, char *const *path, struct err *e)
{
    if (r->arcs.to || r->arcs.version || r->arcs.is_repaired)
        return convert_arcs(r, path, e);
    struct file_buffer buffer = {0};
    struct profile p = {0};
    bool ok = profile_load(&r->read, *path, &buffer, &p, e);
    file_buffer_deinit(&buffer);
    if (ok) {
        const struct format *to = r->to ? r->to : format_of(&p);
        uint8_t word = r->to_word ? r->to_word : p.word;
        bool big_endian = r->to_order ? r->to_order == ORDER_BIG : p.big_endian;
        ok = profile_save(to, &p, word, big_endian, r->output, e);
    }
    profile_deinit(&p);
    return ok ? EXIT_FINE : EXIT_BAD;
}

/* A profile of clang or rustc: its container, version, pointer size and byte order may change. The
 * conversion is a sum of one file, so that functions which a raw file has twice, from two objects
 * of one build-id, are one in the result. An exit status. */
static int convert_llvm(struct convert_request *r, char *const *path, struct err *e)
{
    if (r->to)
        err_in(e, *path,
               "counts lines of sources; to become %s they need --program PROGRAM, in which they "
               "have addresses",
               r->to->name);
    else if (r->arcs.to || r->arcs.version || r->arcs.is_repaired || r->arcs.is_arcs_only)
        err_in(e, *path, "is a profile of LLVM, which does not become a file of gcc's");
    else {
        r->llvm.output = r->output;
        r->llvm.word = r->to_word;
        r->llvm.byte_order = (uint8_t)r->to_order;
        return llvm_merge(&r->llvm, path, 1, e);
    }
    return EXIT_BAD;
}

/* --- the kinds ------------------------------------------------------------------------------- */

static bool source_is_in(struct bytes in)
{
    return source_format_probe(in) != NULL;
}

static bool arcs_are_in(struct bytes in)
{
    return arcs_kind_of(in) != ARCS_NONE;
}

static bool arcs_are_at(const char *path)
{
    return arcs_kind_of_path(path) != ARCS_NONE;
}

/* In the order in which they are asked for: what has a magic or words of its own, and last
 * profiles, which are what is none of the others. Recordings are folders, or files that
 * profile/import knows. */
static const struct file_kind FILE_KINDS[] = {
    {"recording", TARGET_PROFILE, NULL, is_recording, NULL, merge_recordings, convert_profile},
    {"source-profiles", TARGET_SOURCE, source_is_in, is_source_profile, info_describe_source,
     merge_source, convert_source},
    {"gcda", TARGET_PROFILE, arcs_are_in, arcs_are_at, info_describe_arcs, merge_arcs,
     convert_arcs},
    {"llvm-coverage", TARGET_LLVM, llvm_profile_probe, is_llvm_profile, info_describe_llvm,
     merge_llvm, convert_llvm},
    {"lcov", TARGET_PROFILE, trace_file_is, NULL, info_describe_trace, NULL, NULL},
    {"bb", TARGET_PROFILE, bb_lines_probe, NULL, info_describe_bb, NULL, NULL},
    {"gmon", TARGET_PROFILE, NULL, NULL, NULL, merge_profiles, convert_profile},
};
enum { FILE_KINDS_LEN = sizeof FILE_KINDS / sizeof *FILE_KINDS };

static const struct file_kind *kind_of_bytes(struct bytes in)
{
    for (size_t i = 0; i < FILE_KINDS_LEN; i++)
        if (FILE_KINDS[i].is_in && FILE_KINDS[i].is_in(in))
            return &FILE_KINDS[i];
    return NULL;
}

static const struct file_kind *kind_of_path(const char *path)
{
    for (size_t i = 0; i < FILE_KINDS_LEN; i++)
        if (FILE_KINDS[i].is_at && FILE_KINDS[i].is_at(path))
            return &FILE_KINDS[i];
    return &FILE_KINDS[FILE_KINDS_LEN - 1];
}

/* One file, into the same kind of file in another form. */
static int convert_file(struct convert_request *r, char *const *path, struct err *e)
{
    const struct file_kind *kind = kind_of_path(*path);
    if (r->source.to && kind->target != TARGET_SOURCE)
        err_in(e, *path, "becomes %s only for a program, whose code it is about: monarc optimize",
               r->source.to->name);
    else if (llvm_options_fit(&r->llvm, kind, *path, e))
        return kind->convert(r, path, e);
    return EXIT_BAD;
}

/* One input, but with --program any number, which are added up. */
static int convert_run(const struct command *self, int argc, char **argv, struct out *out,
                       struct err *e)
{
    struct convert_request r = {0};
    struct operands operands;
    r.blocks.maps.arena = &r.arena;
    enum options_end end = options_read(self, argc, argv, &r, &operands, out, e);
    int status = end == OPTIONS_HELPED ? EXIT_FINE : EXIT_BAD;
    bool is_many = r.blocks.program != NULL; /* inputs, added up as blocks of a program */
    bool has_blocks = r.blocks.adds_calls || r.blocks.maps.maps.len || r.blocks.debug_dir;
    if (end == OPTIONS_READ)
        hide_as_inputs(operands.at, operands.len);
    if (end == OPTIONS_READ && (!r.output || operands.len < 1 || (operands.len > 1 && !is_many)))
        err_set(e, "convert needs -o FILE and one input; see 'monarc convert --help'");
    else if (end == OPTIONS_READ && is_many)
        status = convert_to_blocks(&r, operands.at, operands.len, e);
    else if (end == OPTIONS_READ && has_blocks)
        err_set(e, "--calls, --path-map and --debug-dir need --program");
    else if (end == OPTIONS_READ)
        status = convert_file(&r, operands.at, e);
    if (end == OPTIONS_READ && status != EXIT_BAD)
        output_say(r.output, out);
    source_search_deinit(&r.blocks.maps);
    arena_deinit(&r.arena);
    return status;
}

static const struct option_group CONVERT_GROUPS[] = {
    GROUP(debug_dir_set, struct convert_request, blocks.debug_dir),
    GROUP(path_map_set, struct convert_request, blocks.maps),
    GROUP(read_set, struct convert_request, read),
};
const struct command command_convert = {
    .name = "convert",
    .synopsis = "[OPTION...] -o OUTPUT INPUT | --to gmon --program PROGRAM -o OUTPUT INPUT...",
    .summary = "Write a profile in another format, pointer size or byte order",
    OPTIONS_OF(CONVERT_OPTIONS, CONVERT_GROUPS),
    .run = convert_run,
};
