/* Objects compiled with clang --coverage, and the entry points their code calls.
 *
 * clang gives each object a function that hands out its counters by calling us, one call for the
 * file, two for each function. It is called once, when the object registers; from then on we know
 * where the counters are. Files are laid out as gcc's of the version they name (4.8, or 11 from
 * clang 21 on, in words) with the summary last and two zero words at the end. */
#include "dump.h"
#include "export.h"
#include "life.h"
#include "gcno_names.h"
#include "objects.h"
#include "report.h"

#include <errno.h>
#include <string.h>

struct clang_function {
    uint32_t ident, checksum, cfg_checksum, n;
    uint64_t *values;
};

struct clang_file {
    const char *filename;
    uint32_t version, stamp, n_functions, room;
    struct clang_function *functions;
};

GCOV_API void llvm_gcov_init(void (*write_out)(void), void (*reset)(void));
GCOV_API void llvm_gcda_start_file(const char *filename, uint32_t version, uint32_t stamp);
GCOV_API void llvm_gcda_emit_function(uint32_t ident, uint32_t checksum, uint32_t cfg_checksum);
GCOV_API void llvm_gcda_emit_arcs(uint32_t n, uint64_t *values);
GCOV_API void llvm_gcda_summary_info(void);
GCOV_API void llvm_gcda_end_file(void);
GCOV_API void llvm_writeout_files(void);
GCOV_API void llvm_reset_counters(void);

static const enum gcov_rule arcs_alone[GCOV_SLOTS] = {GCOV_RULE_ADD};
/* Words, arcs and short summaries, whatever else the gcc of the version has. */
static const struct gcov_dialect program_last = {.merge_functions = 1,
                                                 .summary = GCOV_SUMMARY_LAST_PROGRAM},
                                 object_last = {.merge_functions = 1,
                                                .summary = GCOV_SUMMARY_LAST_OBJECT};

/* What is being handed out. Constructors run one after the other. */
static struct clang_file *current;

static const struct gcov_dialect *form_dialect(const struct object *o)
{
    const struct gcov_dialect *gcc = dialect_of_word(o->clang->version);
    return gcc && gcc->summary == GCOV_SUMMARY_OBJECT ? &object_last : &program_last;
}

static struct form form_of(const struct object *o)
{
    return (struct form){form_dialect(o), arcs_alone};
}

static const char *filename(const struct object *o)
{
    return o->clang->filename;
}

static size_t bound(const struct object *o)
{
    size_t bytes = 64;
    for (uint32_t i = 0; i < o->clang->n_functions; i++)
        bytes += 28 + (size_t)o->clang->functions[i].n * 8;
    return bytes;
}

static void write_function(const struct clang_function *f, bool has_cfg, struct buffer *to)
{
    buffer_u32(to, GCOV_TAG_FUNCTION);
    buffer_u32(to, has_cfg ? 3 : 2);
    buffer_u32(to, f->ident);
    buffer_u32(to, f->checksum);
    if (has_cfg)
        buffer_u32(to, f->cfg_checksum);
    buffer_u32(to, GCOV_TAG_OF_SLOT(0));
    buffer_u32(to, f->n * 2);
    for (uint32_t i = 0; i < f->n; i++)
        buffer_u64(to, __atomic_load_n(&f->values[i], __ATOMIC_RELAXED));
}

static void image(const struct object *o, const struct totals *program, struct buffer *to)
{
    const struct clang_file *c = o->clang;
    bool is_object = form_dialect(o)->summary == GCOV_SUMMARY_LAST_OBJECT;
    const struct gcov_dialect *gcc = dialect_of_word(c->version);
    (void)program;
    buffer_u32(to, GCOV_MAGIC_COUNTERS);
    buffer_u32(to, c->version);
    buffer_u32(to, c->stamp);
    for (uint32_t i = 0; i < c->n_functions; i++)
        write_function(&c->functions[i], gcc && gcc->has_cfg_checksum, to);
    buffer_u32(to, is_object ? GCOV_TAG_OBJECT_SUMMARY : GCOV_TAG_PROGRAM_SUMMARY);
    buffer_u32(to, is_object ? 2 : 3);
    buffer_u32(to, is_object ? o->runs : 0);
    buffer_u32(to, 0);
    if (!is_object)
        buffer_u32(to, o->runs);
    buffer_u64(to, 0);
}

static void total(const struct object *o, struct totals *t)
{
    (void)o, (void)t;
}

static void reset(const struct object *o)
{
    for (uint32_t i = 0; i < o->clang->n_functions; i++)
        memset(o->clang->functions[i].values, 0, o->clang->functions[i].n * sizeof(uint64_t));
}

static bool function(const struct object *o, uint32_t i, struct info_function *to)
{
    const struct clang_function *f = &o->clang->functions[i];
    const struct gcov_dialect *gcc = dialect_of_word(o->clang->version);
    *to = (struct info_function){f->ident, f->checksum,
                                 gcc && gcc->has_cfg_checksum ? f->cfg_checksum : 0, f->n,
                                 (const int64_t *)f->values};
    return true;
}

const struct family clang_family = {
    filename, bound, image,   objects_add_gcda, objects_subtract_gcda,
    total,    reset, form_of, function};

/* As da, if requested; otherwise, or if it fails, the object stays as it is. */
static void adopt(struct object *o)
{
    const struct noted_subject subject = {.filename = o->clang->filename,
                                          .dialect = dialect_of_word(o->clang->version),
                                          .version = o->clang->version,
                                          .stamp = o->clang->stamp,
                                          .n_functions = o->clang->n_functions};
    if (noted_is_wanted() && subject.dialect)
        (void)noted_adopt(o, &subject);
}

void llvm_gcda_start_file(const char *filename, uint32_t version, uint32_t stamp)
{
    current = objects_memory(sizeof *current);
    if (!current) {
        report_lost(filename, -ENOMEM);
        return;
    }
    *current = (struct clang_file){.filename = filename, .version = version, .stamp = stamp};
}

void llvm_gcda_emit_function(uint32_t ident, uint32_t checksum, uint32_t cfg_checksum)
{
    struct clang_file *c = current;
    if (c && c->n_functions == c->room) {
        uint32_t room = c->room ? c->room * 2 : 16;
        struct clang_function *more = objects_memory(room * sizeof *more);
        if (!more) {
            report_lost(c->filename, -ENOMEM);
            current = c = NULL;
        } else if (c->n_functions)
            memcpy(more, c->functions, c->n_functions * sizeof *more);
        if (c) {
            c->functions = more;
            c->room = room;
        }
    }
    if (c)
        c->functions[c->n_functions++] =
            (struct clang_function){ident, checksum, cfg_checksum, 0, NULL};
}

void llvm_gcda_emit_arcs(uint32_t n, uint64_t *values)
{
    if (current && current->n_functions > 0) {
        current->functions[current->n_functions - 1].n = n;
        current->functions[current->n_functions - 1].values = values;
    }
}

void llvm_gcda_summary_info(void)
{
}

void llvm_gcda_end_file(void)
{
    struct object o = {.family = &clang_family, .clang = current};
    if (current && current->n_functions > 0) {
        adopt(&o);
        objects_add(&o);
    }
    current = NULL;
}

void llvm_gcov_init(void (*write_out)(void), void (*reset_counters)(void))
{
    uint64_t mask;
    (void)reset_counters;
    life_begin();
    objects_lock(&mask);
    write_out();
    objects_unlock(&mask);
    life_library();
}

/* Before and after a call of exec, which our exec sees to: what was written is not written again.
 */
void llvm_writeout_files(void)
{
    dump(DUMP_MORE);
}

void llvm_reset_counters(void)
{
}
