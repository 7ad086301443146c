/* Reads the notes of an object and hands its counters to the da family. See gcno_names.h.
 *
 *     magic version stamp [checksum] [directory] [unexecuted]  { FUNCTION BLOCKS ARCS* ... }*
 *
 * Specification: docs/formats/gcno.md. Only notes of this machine's byte order are read. */
#include "gcno_names.h"
#include "../common/sys.h"
#include "file.h"
#include "names.h"
#include "report.h"

#include <fcntl.h>
#include <limits.h>
#include <string.h>

#define NOTES_MAX (256u << 20)

struct noted {
    struct coverage_info info;     /* arc_counts are a copy, made anew for each image */
    const struct family *compiler; /* whose object it is */
    const uint32_t *place;         /* of each function in the object */
    struct noted_native native;
};

bool noted_is_wanted(void)
{
    const char *format = names_variable("MONARC_COVER_FORMAT");
    return format && strcmp(format, "da") == 0;
}

/* ---- the notes, function by function */

struct notes {
    struct cursor in;
    const struct gcov_dialect *dialect;
};

/* The notes' entry for one. */
struct noted_function {
    uint32_t ident, lineno_checksum, cfg_checksum, blocks, graph;
    const char *name;
};

static size_t noted_unit(const struct notes *n)
{
    return n->dialect->has_byte_lengths ? 1 : 4;
}

static const char *noted_text(const struct notes *n, struct cursor *c)
{
    struct cursor text = cursor_part(c, (size_t)cursor_u32(c) * noted_unit(n));
    return text.size && !c->is_short && !text.at[text.size - 1] ? (const char *)text.at : NULL;
}

/* False if they are not of this object. From gcc 12 on a new stamp alone is no other code. */
static bool noted_open(struct notes *n, const struct noted_subject *o)
{
    uint32_t magic = cursor_u32(&n->in), version = cursor_u32(&n->in), stamp = cursor_u32(&n->in);
    n->dialect = o->dialect;
    if (n->dialect->has_byte_lengths)
        cursor_u32(&n->in);
    if (n->dialect->has_directory)
        noted_text(n, &n->in);
    if (n->dialect->has_columns)
        cursor_u32(&n->in);
    return !n->in.is_short && magic == GCOV_MAGIC_NOTES && version == o->version &&
           stamp == o->stamp;
}

static uint32_t noted_crc(uint32_t crc, uint32_t word)
{
    crc = ~crc ^ word;
    for (int i = 0; i < 32; i++)
        crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
    return ~crc;
}

/* With the exit as the last block, which is its place in bbg. */
static uint32_t noted_block(const struct notes *n, uint32_t block, uint32_t blocks)
{
    if (!n->dialect->has_exit_second || !block)
        return block;
    return block == 1 ? blocks - 1 : block - 1;
}

static void noted_arcs(const struct notes *n, struct cursor record, struct noted_function *f)
{
    uint32_t source = noted_block(n, cursor_u32(&record), f->blocks);
    while (cursor_left(&record) >= 8) {
        f->graph = noted_crc(f->graph, source);
        f->graph = noted_crc(f->graph, noted_block(n, cursor_u32(&record), f->blocks));
        f->graph = noted_crc(f->graph, cursor_u32(&record));
    }
}

/* The next function; false at the end, where in.is_short says that this is none. */
static bool noted_next(struct notes *n, struct noted_function *f)
{
    bool has_begun = false;
    *f = (struct noted_function){0};
    while (cursor_left(&n->in) >= 8 && !(has_begun && cursor_peek(&n->in) == GCOV_TAG_FUNCTION)) {
        uint32_t tag = cursor_u32(&n->in);
        struct cursor record = cursor_part(&n->in, (size_t)cursor_u32(&n->in) * noted_unit(n));
        if (tag == GCOV_TAG_FUNCTION) {
            has_begun = true;
            f->ident = cursor_u32(&record);
            f->lineno_checksum = cursor_u32(&record);
            f->cfg_checksum = n->dialect->has_cfg_checksum ? cursor_u32(&record) : 0;
            f->name = noted_text(n, &record);
        } else if (tag == GCOV_TAG_BLOCKS) {
            f->blocks = n->dialect->has_columns ? cursor_u32(&record) : (uint32_t)(record.size / 4);
            f->graph = noted_crc(0, f->blocks);
        } else if (tag == GCOV_TAG_ARCS) {
            noted_arcs(n, record, f);
        }
    }
    return has_begun && !n->in.is_short;
}

/* ---- an object and its notes */

struct noted_work {
    struct notes notes;
    const struct object *object; /* as its compiler made it */
    uint32_t n_functions;
    struct noted *out;
    struct function_info *functions;
    struct noted_identity *identities;
    uint32_t *place;
    uint32_t present; /* functions of the object that no other object has */
};

static bool noted_is_same(const struct noted_function *f, const struct info_function *own)
{
    return f->ident == own->ident && f->lineno_checksum == own->lineno_checksum &&
           f->cfg_checksum == own->cfg_checksum;
}

/* Both mostly list their functions in one order, or in opposite orders. */
static bool noted_find(const struct noted_work *w, const struct noted_function *f, uint32_t *at,
                       struct info_function *own)
{
    for (uint32_t step = 0; step < w->n_functions; step++) {
        uint32_t before = (*at + w->n_functions - step) % w->n_functions;
        uint32_t after = (*at + 1 + step) % w->n_functions;
        for (int side = 0; side < 2; side++) {
            uint32_t i = side ? before : after;
            if (w->object->family->function(w->object, i, own) && noted_is_same(f, own)) {
                *at = i;
                return true;
            }
        }
    }
    return false;
}

static bool noted_names(struct noted_work *w)
{
    struct noted_function f;
    struct info_function own;
    uint32_t at = w->n_functions - 1, known = 0;
    while (noted_next(&w->notes, &f)) {
        if (!noted_find(w, &f, &at, &own))
            continue; /* not in this program */
        if (!f.name || known >= w->present)
            return false;
        w->functions[known] = (struct function_info){f.name, f.graph, own.arcs};
        w->identities[known] = (struct noted_identity){f.ident, f.lineno_checksum, f.cfg_checksum};
        w->place[known++] = at;
        w->out->info.n_arc_counts += own.arcs;
    }
    w->out->info.n_functions = known;
    return known == w->present && !w->notes.in.is_short;
}

static uint32_t noted_present(const struct object *o, uint32_t n_functions)
{
    struct info_function own;
    uint32_t n = 0;
    for (uint32_t i = 0; i < n_functions; i++)
        n += o->family->function(o, i, &own);
    return n;
}

/* x.gcda as x with another end, in memory that stays. */
static char *noted_path(const char *path, const char *end)
{
    size_t n = strlen(path), suffix = strlen(".gcda");
    if (n > suffix && strcmp(path + n - suffix, ".gcda") == 0)
        n -= suffix;
    char *to = objects_memory(n + strlen(end) + 1);
    if (to) {
        memcpy(to, path, n);
        strcpy(to + n, end);
    }
    return to;
}

/* All of a file, in memory that stays. */
static struct cursor noted_read(const char *path)
{
    struct cursor none = {0};
    struct file_status status;
    long fd = sys_open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK, 0);
    if (fd < 0)
        return none;
    bool is_fine = file_status((int)fd, &status) == 0 && status.size_bytes < NOTES_MAX;
    size_t used = 0, size = is_fine ? (size_t)status.size_bytes : 0;
    unsigned char *at = size ? sys_pages(size) : NULL;
    for (long r = 1; at && used < size && r > 0; used += r > 0 ? (size_t)r : 0)
        r = sys_read((int)fd, at + used, size - used);
    sys_close((int)fd);
    return at ? cursor_on(at, used) : none;
}

/* Where the compiler left them, or where counters go. */
static struct cursor noted_notes(const char *filename)
{
    static char prefixed[PATH_MAX];
    const char *path = noted_path(filename, ".gcno");
    struct cursor found = path ? noted_read(path) : (struct cursor){0};
    if (found.size || !path || !names_path(path, prefixed, sizeof prefixed))
        return found;
    return noted_read(prefixed);
}

/* ---- the family */

static const char *noted_filename(const struct object *o)
{
    return o->noted->info.filename;
}

static struct object noted_view(const struct object *o)
{
    return (struct object){.da = &o->noted->info, .native = &o->noted->native, .runs = o->runs};
}

static size_t noted_bound(const struct object *o)
{
    struct object view = noted_view(o);
    return da_family.bound(&view);
}

static void noted_count(const struct object *o)
{
    struct info_function f;
    gcov_type *counts = o->noted->info.arc_counts;
    for (long i = 0; i < o->noted->info.n_functions; i++) {
        if (!o->noted->compiler->function(o, o->noted->place[i], &f))
            continue;
        for (uint32_t k = 0; k < f.arcs; k++)
            *counts++ = (gcov_type)__atomic_load_n(&f.values[k], __ATOMIC_RELAXED);
    }
}

static void noted_image(const struct object *o, const struct totals *program, struct buffer *to)
{
    struct object view = noted_view(o);
    noted_count(o);
    da_family.image(&view, program, to);
}

static enum verdict noted_add(const struct object *o, struct cursor now, struct cursor old,
                              struct buffer *out, const char **why)
{
    struct object view = noted_view(o);
    return da_family.add(&view, now, old, out, why);
}

static enum verdict noted_subtract(const struct object *o, struct cursor now, struct cursor before,
                                   struct buffer *out)
{
    struct object view = noted_view(o);
    return da_family.subtract(&view, now, before, out);
}

static void noted_total(const struct object *o, struct totals *t)
{
    struct object view = noted_view(o);
    noted_count(o);
    da_family.total(&view, t);
}

static void noted_reset(const struct object *o)
{
    o->noted->compiler->reset(o);
}

static const struct family noted_family = {noted_filename, noted_bound, noted_image, noted_add,
                                           noted_subtract, noted_total, noted_reset};

static bool noted_fail(const struct noted_subject *s, const char *why)
{
    report(s->filename, why, NULL);
    return false;
}

bool noted_adopt(struct object *o, const struct noted_subject *s)
{
    const char phase = (char)(s->version & 0xff);
    struct noted_work w = {.object = o,
                           .n_functions = s->n_functions,
                           .notes.in = noted_notes(s->filename),
                           .present = noted_present(o, s->n_functions)};
    if (!w.notes.in.size)
        return noted_fail(
            s, "da needs the notes (.gcno) beside it, which cannot be read; writing gcda instead");
    w.out = objects_memory(sizeof *w.out);
    w.functions = objects_memory((w.present + 1) * sizeof *w.functions);
    w.identities = objects_memory((w.present + 1) * sizeof *w.identities);
    w.place = objects_memory((w.present + 1) * sizeof *w.place);
    if (!w.out || !w.functions || !w.identities || !w.place)
        return noted_fail(s, "no memory for da; writing gcda instead");
    *w.out =
        (struct noted){.compiler = o->family,
                       .place = w.place,
                       .native = {s->version, s->stamp, s->checksum, s->has_largest, w.identities}};
    if (!noted_open(&w.notes, s) || !noted_names(&w))
        return noted_fail(
            s, "the notes (.gcno) beside it are from another build; writing gcda instead");
    w.out->info.version = gcov_proposal_version(gcov_version_number(s->version),
                                                phase == 'e' || phase == 'p' ? phase : 'r');
    w.out->info.functions = w.functions;
    w.out->info.filename = noted_path(s->filename, ".da");
    w.out->info.arc_counts = objects_memory((w.out->info.n_arc_counts + 1) * sizeof(gcov_type));
    if (!w.out->info.filename || !w.out->info.arc_counts)
        return noted_fail(s, "no memory for da; writing gcda instead");
    o->noted = w.out;
    o->family = &noted_family;
    return true;
}
