/* The frame of a perf.data file: header, attributes, features, and the stream of records, of which
 * those that perf itself has added are understood here, and the kernel's go to perf_replay.c in the
 * order of time.
 *
 *      header: magic "PERFILE2", sizes, sections of attributes, data and features
 *      record: u32 type, u16 misc, u16 size, payload, after it time, ids and CPU
 *
 * Three things stand between the bytes and the order of time, each a part of this file: -z packs
 * records as one zstd stream that is cut without regard to them; a pipe has features as records;
 * and the kernel's buffers, one a CPU, were emptied in rounds, so that a record is only sure to be
 * older than those of the round after next. Memory is that of two rounds.
 *
 * Refused: records that end beyond the file (for a pipe, a message says how much is left), packed
 * ones that are damaged or claim to be more than packing can do. Instruction traces (AUX) have no
 * room and are named. Source: tools/perf/Documentation/perf.data-file-format.txt of Linux.
 *
 *     a file      header | ids | attributes | records | sections of features
 *     a pipe      16 bytes of header | records, those of attributes and features among them
 *     a folder    one such file, and one of records alone for each thread of perf's
 *
 * A file whose recorder was killed has a header that says 0 bytes of records: they go to its
 * end. */
#include "profile/import/perf.h"

#include <elf.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>

/* Records of perf's own. Numbers from 64 on (PERF_RECORD_USER_TYPE_START) are not the kernel's;
 * those without a name here say nothing of a profile. */
enum perf_own_record {
    OWN_ATTR = 64,
    OWN_TRACING_DATA = 66,
    OWN_BUILD_ID = 67,
    OWN_FINISHED_ROUND = 68,
    OWN_AUXTRACE = 71,
    OWN_EVENT_UPDATE = 78,
    OWN_FEATURE = 80,
    OWN_COMPRESSED = 81,
    OWN_COMPRESSED2 = 83,
};

/* Bits of the header, each of a section after the data. */
enum perf_feature {
    FEATURE_BUILD_ID = 2,
    FEATURE_HOSTNAME = 3,
    FEATURE_OSRELEASE = 4,
    FEATURE_VERSION = 5,
    FEATURE_ARCH = 6,
    FEATURE_CPUS = 7,
    FEATURE_CMDLINE = 11,
    FEATURE_EVENT_DESC = 12,
    FEATURE_SAMPLE_TIME = 21,
    FEATURE_DIR_FORMAT = 24,
    FEATURES = 256
};

enum {
    PIPE_HEADER_BYTES = 16,
    HEADER_BYTES = 104,
    RECORD_HEADER_BYTES = 8,
    BUILD_ID_FIELD = 24,
    BUILD_ID_BYTES = 20,
    MISC_BUILD_ID_SIZE = 1 << 15
};

#define UNENDED "the recording was not ended properly: it was read as far as it goes"
#define LEFT    "bytes at the end that are not a whole record: a message, or the file is cut short"
#define UNKNOWN_ARCH \
    "the recording is of a machine that is not known, \"%s\": its stacks are not unwound"
#define TRACES "bytes of instruction traces (AUX), which are not read"
#define ALONE                                                                                     \
    "one file of a folder of 'perf record --threads': the samples are in its other files, which " \
    "are read if the folder is named"

/* One file being read. `in` and `name` are those of the stream that is read now. */
struct perf_file {
    struct bytes in;
    const char *name;
    bool big_endian, is_cut; /* is_cut: the header was never completed */
    bool is_of_folder;       /* the samples are in other files */
    bool is_unordered; /* streams are read one after the other: a round of one settles nothing */
    struct perf_replay replay;
    struct perf_rounds queue;
    struct perf_unpack unpack;
    uint16_t machine;         /* EM_..., 0: not said */
    const char *unknown_arch; /* the name of a machine that is not known; NULL: none */
    uint32_t cpus;
    uint64_t trace_bytes, bytes_left; /* bytes_left: of a pipe, after its last whole record */
    VEC(struct recording_text) texts;
};

static const char MAGIC[8] = {'P', 'E', 'R', 'F', 'I', 'L', 'E', '2'};
static const char CIGAM[8] = {'2', 'E', 'L', 'I', 'F', 'R', 'E', 'P'};

bool perf_data_probe(struct bytes in)
{
    return in.len >= sizeof MAGIC && (!memcmp(in.at, MAGIC, 8) || !memcmp(in.at, CIGAM, 8));
}

static struct cursor perf_cursor(const struct perf_file *f, struct bytes b)
{
    struct cursor c = cursor_over(b, f->name);
    c.big_endian = f->big_endian;
    return c;
}

/* --- features -------------------------------------------------------------------------------- */

/* { u32 len; char text[len] }, filled up with NUL. */
static const char *perf_text(struct perf_file *f, struct cursor *in)
{
    uint32_t len = cursor_u32(in);
    const char *at = (const char *)cursor_take(in, len);
    return at ? arena_copy(&f->replay.arena, at, strnlen(at, len)) : "";
}

/* The machine as uname(2) names it. Without it, records are taken to be of this one. */
static void perf_take_arch(struct perf_file *f, const char *arch)
{
    if (!arch[0])
        return;
    f->replay.arch = arch_named(arch);
    if (f->replay.arch)
        f->machine = f->replay.arch->machines[0];
    else
        f->unknown_arch = arch;
}

/* { header; u32 pid; u8 id[20]; u8 len; u8 unused[3]; char path[] }: a record, or one of many in
 * the section of that name. */
static void perf_take_build_id(struct perf_file *f, struct bytes record)
{
    struct cursor in = perf_cursor(f, record);
    cursor_u32(&in);
    uint16_t misc = cursor_u16(&in);
    cursor_take(&in, 2 + 4);
    const uint8_t *id = cursor_take(&in, BUILD_ID_FIELD);
    size_t room = cursor_left(&in);
    const char *path = (const char *)in.at;
    if (in.failed || strnlen(path, room) == room)
        return;
    uint8_t len = misc & MISC_BUILD_ID_SIZE ? id[BUILD_ID_BYTES] : BUILD_ID_BYTES;
    if (len <= BUILD_ID_BYTES)
        perf_replay_build_id(&f->replay, path, (struct bytes){id, len});
}

static void perf_take_build_ids(struct perf_file *f, struct cursor in)
{
    while (cursor_left(&in) >= RECORD_HEADER_BYTES) {
        size_t size = bytes_u16(in.at + 6, f->big_endian);
        const uint8_t *at = size < RECORD_HEADER_BYTES ? NULL : cursor_take(&in, size);
        if (!at)
            return;
        perf_take_build_id(f, (struct bytes){at, size});
    }
}

static void perf_add_text(struct perf_file *f, const char *key, const char *value)
{
    if (*value)
        vec_push(&f->texts, (struct recording_text){key, value});
}

/* A section of that number, or the record with the same payload. All are optional; one that is
 * damaged reads as empty. */
static void perf_take_feature(struct perf_file *f, uint64_t feature, struct cursor in)
{
    switch (feature) {
    case FEATURE_BUILD_ID: perf_take_build_ids(f, in); break;
    case FEATURE_HOSTNAME: perf_add_text(f, "host", perf_text(f, &in)); break;
    case FEATURE_OSRELEASE:
        f->replay.kernel.release = perf_text(f, &in);
        perf_add_text(f, "kernel", f->replay.kernel.release);
        break;
    case FEATURE_VERSION: perf_add_text(f, "perf", perf_text(f, &in)); break;
    case FEATURE_ARCH: perf_take_arch(f, perf_text(f, &in)); break;
    case FEATURE_CPUS: f->cpus = cursor_u32(&in); break;
    case FEATURE_CMDLINE: {
        /* { u32 arguments; text... }: perf's own command line, of which 256 words are kept. */
        uint32_t len = cursor_u32(&in);
        const char *all = "";
        for (uint32_t i = 0; i < len && i < 256 && !in.failed; i++)
            all = arena_printf(&f->replay.arena, "%s%s%s", all, i ? " " : "", perf_text(f, &in));
        perf_add_text(f, "recorder", all);
        break;
    }
    case FEATURE_EVENT_DESC: perf_kinds_describe(&f->replay.kinds, in); break;
    case FEATURE_DIR_FORMAT: f->is_of_folder = true; break;
    case FEATURE_SAMPLE_TIME: f->replay.start_ns = cursor_u64(&in); break;
    default: break; /* what the machine was like */
    }
}

/* --- records --------------------------------------------------------------------------------- */

static bool perf_records(struct perf_file *f, struct bytes in, struct perf_block *block,
                         size_t *taken, struct err *e);

static bool perf_replay_queued(void *context, struct bytes record)
{
    struct perf_file *f = context;
    perf_replay_record(&f->replay, record);
    return true;
}

static bool perf_unpacked_records(void *context, struct perf_block *block, size_t len,
                                  size_t *taken, struct err *e)
{
    return perf_records(context, (struct bytes){block->at, len}, block, taken, e);
}

/* *behind: bytes that follow the record and are not counted in its size. Records that are not
 * known are passed over, so that files of later versions of perf are read. */
static bool perf_take_own(struct perf_file *f, uint32_t type, struct bytes record, uint64_t *behind,
                          struct err *e)
{
    struct cursor in = perf_cursor(f, record);
    cursor_take(&in, RECORD_HEADER_BYTES);
    switch (type) {
    case OWN_ATTR: {
        /* Of a pipe: attributes come as records, before those they are needed for. */
        struct perf_event_kind kind;
        if (f->replay.collector)
            return true; /* too late to be anything of the stream */
        if (!perf_kind_read(&in, cursor_left(&in), &kind))
            return err_at(e, &in, "the attributes of an event are cut short");
        vec_push(&f->replay.kinds.all, kind);
        perf_kinds_add_ids(&f->replay.kinds, in, (uint32_t)f->replay.kinds.all.len - 1);
        return true;
    }
    case OWN_FEATURE: {
        uint64_t feature = cursor_u64(&in);
        perf_take_feature(f, feature, in);
        return true;
    }
    case OWN_EVENT_UPDATE: perf_kinds_update(&f->replay.kinds, in); return true;
    case OWN_BUILD_ID: perf_take_build_id(f, record); return true;
    case OWN_TRACING_DATA: *behind = ((uint64_t)cursor_u32(&in) + 7) & ~UINT64_C(7); return true;
    case OWN_AUXTRACE:
        *behind = cursor_u64(&in);
        f->trace_bytes += *behind;
        return true;
    case OWN_COMPRESSED:
    case OWN_COMPRESSED2: {
        /* A piece of the zstd stream; the newer kind of record says its length, as it is padded. */
        struct err why = {0};
        uint64_t len = type == OWN_COMPRESSED2 ? cursor_u64(&in) : cursor_left(&in);
        const uint8_t *at = cursor_take(&in, len);
        if (!at)
            return err_at(e, &in, "a packed record of %" PRIu64 " bytes is shorter than that", len);
        return perf_unpack(&f->unpack, (struct bytes){at, len}, perf_unpacked_records, f, &why) ||
               err_in(e, f->name, "%s", why.line);
    }
    case OWN_FINISHED_ROUND: return f->is_unordered || perf_rounds_round(&f->queue);
    default: return true;
    }
}

/* Takes whole records; what is left of the last one, if it is not whole, is not in *taken. */
static bool perf_records(struct perf_file *f, struct bytes bytes, struct perf_block *block,
                         size_t *taken, struct err *e)
{
    struct cursor in = perf_cursor(f, bytes);
    while (cursor_left(&in) >= RECORD_HEADER_BYTES) {
        uint32_t type = bytes_u32(in.at, f->big_endian);
        size_t size = bytes_u16(in.at + 6, f->big_endian);
        uint64_t behind = 0;
        bool is_packed_in_packed = block && (type == OWN_COMPRESSED || type == OWN_COMPRESSED2);
        if (size < RECORD_HEADER_BYTES || is_packed_in_packed)
            return err_at(e, &in, "a record claims a size of %zu bytes and type %" PRIu32, size,
                          type);
        if (size > cursor_left(&in))
            break;
        struct bytes record = {in.at, size};
        if (type < OWN_ATTR) {
            /* A record of the kernel's: waits for its turn by time. One without a time is taken at
             * once. A time of 0 or of all ones says nothing, as in perf itself. */
            uint32_t kind = perf_kinds_of(&f->replay.kinds, record, f->big_endian);
            uint64_t time = kind == RECORDING_NONE || kind >= f->replay.kinds.all.len
                                ? 0
                                : perf_kind_time(&f->replay.kinds.all.at[kind], record);
            if (time && time != UINT64_MAX)
                perf_rounds_put(&f->queue, time, record, block);
            else
                perf_replay_record(&f->replay, record);
        } else if (!perf_take_own(f, type, record, &behind, e))
            return false;
        if (behind > cursor_left(&in) - size)
            break;
        cursor_take(&in, size + behind);
    }
    *taken = cursor_offset(&in);
    return true;
}

/* --- the file -------------------------------------------------------------------------------- */

struct perf_section {
    uint64_t offset, size;
};

/* { u64 offset; u64 size }: where something lies in the file. */
static struct perf_section perf_section(struct cursor *in)
{
    struct perf_section s;
    s.offset = cursor_u64(in);
    s.size = cursor_u64(in);
    return s;
}

static bool perf_is_within(const struct perf_file *f, const struct perf_section *s)
{
    return s->offset <= f->in.len && s->size <= f->in.len - s->offset;
}

/* Over the section's bytes; empty if it does not lie within the file. */
static struct cursor perf_section_cursor(const struct perf_file *f, const struct perf_section *s)
{
    return perf_cursor(f, perf_is_within(f, s) ? (struct bytes){f->in.at + s->offset, s->size}
                                               : (struct bytes){0});
}

/* { attr; section of ids }, each of `each` bytes. */
static bool perf_read_attributes(struct perf_file *f, const struct perf_section *all, uint64_t each,
                                 struct err *e)
{
    struct cursor in = perf_section_cursor(f, all);
    enum { SECTION_BYTES = 16 };
    if (!perf_is_within(f, all) || each < SECTION_BYTES || all->size / each > UINT16_MAX)
        return err_at(e, &in, "the header places %" PRIu64 " bytes of attributes at %" PRIu64,
                      all->size, all->offset);
    while (cursor_left(&in) >= each) {
        struct perf_event_kind kind;
        struct cursor one = perf_cursor(f, (struct bytes){cursor_take(&in, each), each});
        struct cursor behind = one;
        if (!perf_kind_read(&one, each - SECTION_BYTES, &kind))
            return err_at(e, &in, "the attributes of an event are cut short");
        cursor_take(&behind, each - SECTION_BYTES);
        struct perf_section ids = perf_section(&behind);
        vec_push(&f->replay.kinds.all, kind);
        perf_kinds_add_ids(&f->replay.kinds, perf_section_cursor(f, &ids),
                           (uint32_t)f->replay.kinds.all.len - 1);
    }
    return true;
}

/* Sections of features follow the data, in the order of their bits. The bits are in words of the
 * machine that wrote them. */
static void perf_read_features(struct perf_file *f, const uint8_t *bits, uint64_t at)
{
    struct perf_section table = {at, at <= f->in.len ? f->in.len - at : 0};
    struct cursor in = perf_section_cursor(f, &table);
    for (unsigned i = 0; i < FEATURES; i++) {
        if (!(bytes_u64(bits + (size_t)i / 64 * 8, f->big_endian) >> i % 64 & 1))
            continue;
        struct perf_section s = perf_section(&in);
        if (in.failed)
            return;
        perf_take_feature(f, i, perf_section_cursor(f, &s));
    }
}

/* Records of the section of data, or up to the file's end if the header was never completed. */
static bool perf_read_data(struct perf_file *f, struct perf_section data, struct err *e)
{
    struct cursor in = perf_cursor(f, f->in);
    size_t taken;
    if (!data.size && data.offset <= f->in.len) { /* perf completes the header at its end */
        data.size = f->in.len - data.offset;
        f->is_cut = true;
    }
    if (!perf_is_within(f, &data)) {
        cursor_take(&in, data.offset <= f->in.len ? data.offset : f->in.len);
        return err_at(e, &in, "the header claims %" PRIu64 " bytes of records, %zu remain",
                      data.size, cursor_left(&in));
    }
    struct bytes records = {f->in.at + data.offset, data.size};
    if (!perf_records(f, records, NULL, &taken, e))
        return false;
    cursor_take(&in, data.offset + taken);
    return taken == data.size || f->is_cut ||
           err_at(e, &in, "a record extends beyond the records' %" PRIu64 " bytes", data.size);
}

/* Header, attributes, features, then records: features name the machine and the files' build-ids,
 * which records are read by. A pipe has all of that as records. */
static bool perf_read_file(struct perf_file *f, struct err *e)
{
    struct cursor in = perf_cursor(f, f->in);
    cursor_take(&in, sizeof MAGIC);
    uint64_t size = cursor_u64(&in);
    if (!in.failed && size == PIPE_HEADER_BYTES) {
        size_t taken;
        struct bytes records = {f->in.at + PIPE_HEADER_BYTES, f->in.len - PIPE_HEADER_BYTES};
        if (!perf_records(f, records, NULL, &taken, e))
            return false;
        f->bytes_left = records.len - taken;
        return taken || !records.len || err_at(e, &in, "the first record is cut short");
    }
    uint64_t each = cursor_u64(&in);
    struct perf_section attributes = perf_section(&in), data = perf_section(&in);
    perf_section(&in); /* names of events, of old */
    const uint8_t *bits = cursor_take(&in, FEATURES / 8);
    if (in.failed || size < HEADER_BYTES)
        return err_at(e, &in, "the header is cut short");
    if (!perf_read_attributes(f, &attributes, each, e))
        return false;
    if (data.size && perf_is_within(f, &data))
        perf_read_features(f, bits, data.offset + data.size);
    return perf_read_data(f, data, e);
}

/* One more file of a folder: records and nothing else. Rounds of one settle nothing for the others,
 * so that all wait for the end. */
static bool perf_read_stream(struct perf_file *f, const struct perf_data_stream *s, struct err *e)
{
    size_t taken;
    f->in = s->records;
    f->name = s->name;
    perf_unpack_deinit(&f->unpack); /* each has its own */
    f->unpack = (struct perf_unpack){0};
    if (!perf_records(f, s->records, NULL, &taken, e))
        return false;
    struct cursor in = perf_cursor(f, s->records);
    cursor_take(&in, taken);
    return taken == s->records.len || err_at(e, &in, "the last record is cut short");
}

/* Facts of the file, and what of it could not be read, as texts and losses of the run. */
static void perf_describe(struct perf_file *f, struct recording *out)
{
    out->machine = f->machine;
    out->cpus = f->cpus;
    for (size_t i = 0; i < f->texts.len; i++) {
        struct recording_text t = f->texts.at[i];
        vec_push(&out->texts, (struct recording_text){arena_printf(&out->arena, "%s", t.key),
                                                      arena_printf(&out->arena, "%s", t.value)});
    }
    if (f->is_cut)
        vec_push(&out->losses, (struct recording_loss){RECORDING_LOST_OTHER, 1, 0, UNENDED});
    if (f->bytes_left)
        vec_push(&out->losses,
                 (struct recording_loss){RECORDING_LOST_OTHER, f->bytes_left, 0, LEFT});
    if (f->is_of_folder && !f->is_unordered)
        vec_push(&out->losses, (struct recording_loss){RECORDING_LOST_OTHER, 1, 0, ALONE});
    if (f->unknown_arch)
        vec_push(&out->losses,
                 (struct recording_loss){RECORDING_LOST_OTHER, 1, 0,
                                         arena_printf(&out->arena, UNKNOWN_ARCH, f->unknown_arch)});
    if (f->trace_bytes)
        vec_push(&out->losses,
                 (struct recording_loss){RECORDING_LOST_OTHER, f->trace_bytes, 0, TRACES});
}

bool perf_data_read(struct bytes in, const char *name, const struct perf_data_options *o,
                    struct recording *out, struct perf_data_counts *counts, struct err *e)
{
    struct perf_file f = {.in = in, .name = name, .is_unordered = o->streams_len > 0};
    struct err why = {0};
    f.big_endian = in.len >= 8 && !memcmp(in.at, CIGAM, 8);
    f.replay.kinds.names = &f.replay.arena;
    f.replay.opens_no_files = o->opens_no_files;
    f.replay.arch = f.big_endian ? NULL : arch_own();
    f.queue.take = perf_replay_queued;
    f.queue.context = &f;
    bool ok = perf_data_probe(in) || err_in(e, name, "is not a perf.data file");
    ok = ok && perf_read_file(&f, e);
    for (size_t i = 0; ok && i < o->streams_len; i++)
        ok = perf_read_stream(&f, &o->streams[i], e);
    ok = ok && perf_rounds_end(&f.queue);
    if (ok) {
        perf_replay_finish(&f.replay, out);
        perf_describe(&f, out);
        ok = recording_check(out, &why) || err_in(e, name, "%s", why.line);
    }
    if (counts)
        *counts = (struct perf_data_counts){f.replay.samples, f.replay.taken};
    vec_free(&f.texts);
    perf_unpack_deinit(&f.unpack);
    perf_rounds_deinit(&f.queue);
    perf_replay_deinit(&f.replay);
    return ok;
}

/* ---- Unpacking with libzstd. What a piece unpacks to is bounded, because a few kilobytes of zstd
 * can stand for gigabytes. Without libzstd such files are refused.
 *
 *     piece  -> [left over | unpacked ...]      one block, of which whole records are taken;
 *                            what is left of the last one is copied to the front of the next block
 */

#ifdef HAVE_ZSTD

#include <string.h>
#include <zstd.h>

enum { MOST_RATIO = 1032, OUT_BYTES = 1 << 18, SLACK_BYTES = 1 << 20 };

void perf_unpack_deinit(struct perf_unpack *u)
{
    ZSTD_freeDStream(u->stream);
    vec_free(&u->left_over);
}

/* Room after the left-over bytes, which come first. */
static struct perf_block *unpack_block(const struct perf_unpack *u)
{
    struct perf_block *block = malloc(sizeof *block);
    if (!block || !(block->at = malloc(u->left_over.len + OUT_BYTES)))
        memory_exhausted(u->left_over.len + OUT_BYTES);
    block->users = 1;
    if (u->left_over.len)
        memcpy(block->at, u->left_over.at, u->left_over.len);
    return block;
}

/* Unpacks at most OUT_BYTES and hands over what is whole. *is_full: there may be more without
 * further input. The first megabyte is free, then the limit is what deflate's best would be. */
static bool unpack_step(struct perf_unpack *u, ZSTD_inBuffer *in, bool *is_full,
                        perf_unpacked *take, void *context, struct err *e)
{
    struct perf_block *block = unpack_block(u);
    size_t start = u->left_over.len, taken = 0;
    ZSTD_outBuffer out = {block->at, start + OUT_BYTES, start};
    size_t status = ZSTD_decompressStream(u->stream, &out, in);
    bool ok = !ZSTD_isError(status) ||
              err_set(e, "packed records are damaged: %s", ZSTD_getErrorName(status));
    u->unpacked += out.pos - start;
    if (ok && u->unpacked > SLACK_BYTES && u->unpacked / MOST_RATIO > u->packed)
        ok = err_set(e, "packed records claim to be more than %d times their size", MOST_RATIO);
    *is_full = out.pos == out.size;
    ok = ok && take(context, block, out.pos, &taken, e);
    if (ok) {
        /* Keeps the beginning of a record for the next block. */
        size_t len = out.pos - taken;
        u->left_over.len = 0;
        vec_reserve(&u->left_over, len + 1);
        memcpy(u->left_over.at, block->at + taken, len);
        u->left_over.len = len;
    }
    perf_block_release(block);
    return ok;
}

bool perf_unpack(struct perf_unpack *u, struct bytes piece, perf_unpacked *take, void *context,
                 struct err *e)
{
    ZSTD_inBuffer in = {piece.at, piece.len, 0};
    bool is_full = false, ok = true;
    if (!u->stream && !(u->stream = ZSTD_createDStream()))
        memory_exhausted(1);
    u->packed += piece.len;
    while (ok && (in.pos < in.size || is_full))
        ok = unpack_step(u, &in, &is_full, take, context, e);
    return ok;
}

#else

void perf_unpack_deinit(struct perf_unpack *u)
{
    vec_free(&u->left_over);
}

bool perf_unpack(struct perf_unpack *u, struct bytes piece, perf_unpacked *take, void *context,
                 struct err *e)
{
    (void)u, (void)piece, (void)take, (void)context;
    return err_set(e, "its records are packed with zstd, which this monarc was built without");
}

#endif

/* ---- Sorting records round by round. */

void perf_block_release(struct perf_block *b)
{
    if (!b || --b->users)
        return;
    free(b->at);
    free(b);
}

void perf_rounds_deinit(struct perf_rounds *q)
{
    for (size_t i = 0; i < q->all.len; i++)
        perf_block_release(q->all.at[i].block);
    vec_free(&q->order);
    vec_free(&q->all);
}

void perf_rounds_put(struct perf_rounds *q, uint64_t time, struct bytes record,
                     struct perf_block *block)
{
    if (block)
        block->users++;
    vec_push(&q->order, (struct keyed){time, (uint32_t)q->all.len});
    vec_push(&q->all, (struct perf_queued){record, block});
    q->latest = time > q->latest ? time : q->latest;
}

/* What is left moves to the front, in the order in which it came. Order of arrival decides
 * between equal times, since the sort is stable. */
static void queue_keep(struct perf_rounds *q, size_t first)
{
    VEC(struct perf_queued) kept = {0};
    for (size_t i = first; i < q->order.len; i++) {
        vec_push(&kept, q->all.at[q->order.at[i].item]);
        q->order.at[i - first] = (struct keyed){q->order.at[i].key, (uint32_t)(i - first)};
    }
    q->order.len -= first;
    vec_free(&q->all);
    q->all.at = kept.at;
    q->all.len = kept.len;
    q->all.cap = kept.cap;
    q->kept = kept.len;
}

/* Hands over all up to a time, in the order of time; stops early on request. */
static bool queue_give(struct perf_rounds *q, uint64_t until)
{
    bool goes_on = true;
    size_t i = 0;
    sort_keyed(q->order.at, q->order.len);
    for (; goes_on && i < q->order.len && q->order.at[i].key <= until; i++) {
        struct perf_queued *one = &q->all.at[q->order.at[i].item];
        goes_on = q->take(q->context, one->record);
        perf_block_release(one->block);
        one->block = NULL;
    }
    queue_keep(q, i);
    return goes_on;
}

/* The first round settles nothing. Sorting waits until what came since is more than what stayed, so
 * that the work stays n log n however short the rounds are. */
bool perf_rounds_round(struct perf_rounds *q)
{
    uint64_t until = q->settled;
    q->settled = q->latest;
    bool is_worth_it = q->all.len > 2 * q->kept; /* what stays is sorted and moved each time */
    return !until || !is_worth_it || queue_give(q, until);
}

bool perf_rounds_end(struct perf_rounds *q)
{
    return queue_give(q, UINT64_MAX);
}
